"""``top-down`` (Cao et al. 2010 §5): public items are generalized along a taxonomy, and some items are suppressed.

TDControl itself is in `td_control`. What is returned is the best of several strategies, each with what need not have
gone put back (`choice`): TDControl; TDControl that suppresses sensitive items only; removing all sensitive items; and
splitting from the top, where each split is judged by the cheapest repair instead of SuppressControl. So it never loses
more than removing all sensitive items.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from veilset.anonymize.options import (
    RARE,
    AsPublished,
    Chosen,
    Exchange,
    Items,
    NameLeavesFrom,
    SensitiveWeight,
    TaxonomyOption,
    WeightsOption,
)
from veilset.anonymize.rho_uncertainty.task import Found, Task
from veilset.anonymize.rho_uncertainty.td_control import td_control
from veilset.anonymize.taxonomies import check_name_leaves_from
from veilset.limits import Limits
from veilset.models import RhoUncertainty
from veilset.release import Release
from veilset.transactions import Taxonomy, Transactions, taxonomy_of

_FAN_OUT = 4  # of the paper's experiments


def top_down(
    data: Transactions,
    promise: RhoUncertainty,
    /,
    *,
    taxonomy: TaxonomyOption = None,
    name_leaves_from: NameLeavesFrom = None,
    weights: WeightsOption = None,
    sensitive_weight: SensitiveWeight = 1,
    keep: Items = (),
    as_published: AsPublished = False,
    exchange: Exchange = True,
    chosen: Chosen = None,
    limits: Limits,
) -> Release:
    """Generalize along *taxonomy* and suppress what remains, so that the average loss is small.

    Parameters
    ----------
    taxonomy : Taxonomy, mapping or path
        With every public item among its leaves; sensitive ones are left out of it. None: groups of four neighbours in
        the order of the vocabulary, groups of four such groups, and so on. Such a tree is made from the data: no group
        is named after an item that fewer than *name_leaves_from* transactions have.

    Examples
    --------
    >>> from veilset import RhoUncertainty, Transactions, anonymize
    >>> rows = [["a1", "b1", "b2", "α", "γ"], ["a1", "a2", "b2"], ["a2", "b2"], ["a2", "γ"], ["a1", "b2", "α", "γ"]]
    >>> data = Transactions.from_lists(rows, sensitive=["α", "γ"])
    >>> tree = {"a1": ["A"], "a2": ["A"], "b1": ["B"], "b2": ["B"]}
    >>> anonymize(data, RhoUncertainty(rho=0.7), taxonomy=tree, as_published=True).suppressed
    ('b1', 'α')
    """
    check_name_leaves_from(name_leaves_from)
    given = None if taxonomy is None else taxonomy_of(taxonomy)
    if given is None and chosen is None and name_leaves_from is None:  # recipes name it, unless they are older
        name_leaves_from = RARE
    least = name_leaves_from or 0
    tree = Taxonomy.by_fan_out(data, _FAN_OUT, min_support=least) if given is None and data.public else given
    task = Task.of(data, promise, tree, weights=weights, sensitive_weight=sensitive_weight, keep=keep, limits=limits)
    sensitive_only = partial(_td_control, task, only_sensitive=True)
    # The cheapest first: what a time limit leaves is never worse than removing all sensitive items.
    strategies = [
        ("start without sensitive items", lambda _: Found(task.without_sensitive)),
        ("TDControl", lambda bounded: _useful(task, _td_control(task, bounded))),
        ("TDControl, suppressing sensitive items only", lambda bounded: _useful(task, sensitive_only(bounded))),
        ("splits with repair", lambda _: Found(_top(task))),
    ]
    return task.answer(
        "top-down",
        strategies,
        partial(_td_control, task),
        as_published=as_published,
        exchange=exchange,
        chosen=chosen,
        listed_from=least,
        name_leaves_from=name_leaves_from,
        taxonomy=None if given is None else given.to_paths(),
    )


def _td_control(task: Task, limits: Limits, *, only_sensitive: bool = False) -> Found:
    tree = task.hierarchy
    cut = td_control(tree, task.promise, keep=task.must_stay, only_sensitive=only_sensitive, limits=limits)
    sensitive = np.setdiff1d(np.flatnonzero(tree.sensitive), cut.suppressed).tolist()
    return Found([*cut.nodes, *sensitive], cut.undecided)


def _useful(task: Task, found: Found) -> Found:
    """Without ALL, which says nothing and may stand in the way of what does."""
    return Found([entry for entry in found.kept if entry in task.hierarchy.above], found.undecided)


def _top(task: Task) -> list[int]:
    """The coarsest nodes that say something; nothing sensitive, so that there is no rule."""
    tree = task.hierarchy
    return [entry for entry, above in tree.above.items() if not above and not tree.sensitive[entry]]
