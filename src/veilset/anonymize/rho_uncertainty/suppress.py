"""``suppress`` (Cao et al. 2010 §4): SuppressControl, and what it need not have suppressed put back.

The algorithm itself is in ``native/rules/suppress.cpp``. By itself it often loses more than removing all sensitive
items would (as the paper finds, too), so that is tried as well, and the better one is taken.
"""

from __future__ import annotations

import numpy as np

from veilset.anonymize.options import AsPublished, Chosen, Exchange, Items, SensitiveWeight, WeightsOption
from veilset.anonymize.rho_uncertainty.found import Found
from veilset.anonymize.rho_uncertainty.rules import conceal
from veilset.anonymize.rho_uncertainty.search import Plan, answered, without_sensitive
from veilset.anonymize.rho_uncertainty.task import Task
from veilset.engines import Work
from veilset.limits import Limits
from veilset.models import RhoUncertainty
from veilset.release import Release
from veilset.transactions import Transactions


def suppress(
    data: Transactions,
    promise: RhoUncertainty,
    /,
    *,
    weights: WeightsOption = None,
    sensitive_weight: SensitiveWeight = 1,
    keep: Items = (),
    as_published: AsPublished = False,
    exchange: Exchange = True,
    chosen: Chosen = None,
    limits: Limits,
) -> Release:
    """Suppress items, public or sensitive, until no sensitive rule is too sure.

    Examples
    --------
    >>> from veilset import RhoUncertainty, Transactions, anonymize
    >>> rows = [["a1", "b1", "b2", "α", "γ"], ["a1", "a2", "b2"], ["a2", "b2"], ["a2", "γ"], ["a1", "b2", "α", "γ"]]
    >>> data = Transactions.from_lists(rows, sensitive=["α", "γ"])
    >>> anonymize(data, RhoUncertainty(rho=0.7), method="suppress", as_published=True).suppressed
    ('b1', 'α')
    """
    task = Task.of(data, promise, None, weights=weights, sensitive_weight=sensitive_weight, keep=keep, limits=limits)
    return answered(task, "suppress", SUPPRESS, as_published=as_published, exchange=exchange, chosen=chosen)


def _suppress_control(task: Task, rows: Work, limits: Limits) -> Found:
    tree = task.hierarchy
    concealed = conceal(
        tree.rows(rows, limits),
        task.promise.rho,
        sensitive=tree.sensitive,
        cost=tree.cost,
        fixed=tree.marks(task.must_stay),
        population=task.population,
        limits=limits,
    )
    if concealed.stuck:
        raise tree.stuck(concealed.stuck)
    gone = np.array(concealed.chosen, dtype=np.int64)
    kept = np.setdiff1d(np.array(sorted(tree.above)), gone).tolist()
    return Found(kept, concealed.undecided)


SUPPRESS = Plan(
    [("SuppressControl", _suppress_control), ("start without sensitive items", without_sensitive)], _suppress_control
)
