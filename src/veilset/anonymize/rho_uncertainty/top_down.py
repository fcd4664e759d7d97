"""``top-down`` (Cao et al. 2010 §5): public items are generalized along a taxonomy, and some items are suppressed.

TDControl itself is in `td_control`. What is returned is the best of several strategies, each with what need not have
gone put back (`choice`): TDControl; TDControl that suppresses sensitive items only; removing all sensitive items; and
splitting from the top, where each split is judged by the cheapest repair instead of SuppressControl. So it never loses
more than removing all sensitive items.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial as given_to
from typing import Any

import numpy as np
import numpy.typing as npt

from veilset.anonymize.options import (
    RARE,
    AsPublished,
    Chosen,
    Exchange,
    Items,
    NameLeavesFrom,
    Partial,
    SensitiveWeight,
    TaxonomyOption,
    Truthful,
    WeightsOption,
)
from veilset.anonymize.rho_uncertainty.found import Found
from veilset.anonymize.rho_uncertainty.partial import partial as deleting_occurrences
from veilset.anonymize.rho_uncertainty.partial import quick_partial
from veilset.anonymize.rho_uncertainty.search import Plan, answered, without_sensitive
from veilset.anonymize.rho_uncertainty.task import Task
from veilset.anonymize.rho_uncertainty.td_control import td_control
from veilset.anonymize.taxonomies import check_name_leaves_from, listed_under
from veilset.anonymize.thinned_cut import Names, check_partial, deleting, then_partial
from veilset.engines import Work
from veilset.errors import InvalidArgument, said
from veilset.limits import Limits
from veilset.models import RhoUncertainty
from veilset.release import Release
from veilset.transactions import Taxonomy, TaxonomyLike, Transactions, taxonomy_of

_FAN_OUT = 4  # of the paper's experiments
_WORK = 10**6  # occurrences looked at while names are searched for that single occurrences go from; a minute


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
    partial: Partial = False,
    truthful: Truthful = True,
    chosen: Chosen = None,
    limits: Limits,
) -> Release:
    """Generalize along *taxonomy* and suppress what remains, so that the average loss is small.

    With *partial*, sensitive items leave only the transactions in which they do harm, public ones stay, and names are
    chosen for that: never worse than without.

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
    check_partial(partial, truthful)
    if partial and as_published:
        raise InvalidArgument(
            f"{said('as_published', True)} runs the published algorithm, which deletes no single occurrences.",
            f"Leave it or {said('partial', True)} out.",
        )
    grown = Grown.of(data, data.supports, taxonomy, name_leaves_from, named=chosen is not None)
    task = Task.of(
        data, promise, grown.tree, weights=weights, sensitive_weight=sensitive_weight, keep=keep, limits=limits
    )
    made = answered(
        task,
        "top-down",
        TOP_DOWN,
        as_published=as_published,
        exchange=exchange,
        chosen=chosen,
        **grown.options,
        partial=partial or None,
        truthful=None if truthful else False,
    )
    return _thinned(task, made, truthful=truthful, search=chosen is None) if partial else made


@dataclass(frozen=True)
class Grown:
    """The tree to generalize along, and what a release says of it."""

    tree: Taxonomy | None
    options: dict[str, Any]

    @classmethod
    def of(
        cls,
        data: Transactions,
        supports: npt.NDArray[np.int64],
        taxonomy: TaxonomyLike | None,
        name_leaves_from: int | None,
        *,
        named: bool,
    ) -> Grown:
        """The tree that is given, or one by fan-out; *data* need only have names and roles."""
        given = None if taxonomy is None else taxonomy_of(taxonomy)
        if given is None and not named and name_leaves_from is None:  # recipes name it, unless they are older
            name_leaves_from = RARE
        least = name_leaves_from or 0
        tree = given
        if given is None and data.public:
            rare = {data.names[code] for code in np.flatnonzero(supports < least).tolist()}
            tree = Taxonomy.of_neighbours(data.public, _FAN_OUT, rare)
        paths = None if given is None else given.to_paths()
        return cls(tree, {"listed_from": least, "name_leaves_from": name_leaves_from, "taxonomy": paths})


def _thinned(task: Task, made: Release, *, truthful: bool, search: bool) -> Release:
    """Once single occurrences are gone under names that keep most; or what was made, if that keeps more."""
    tree, data = task.hierarchy, task.data

    public = {entry: above for entry, above in tree.above.items() if not tree.sensitive[entry]}
    names = Names(data, public, tree.label, task.weight.tolist(), task.keep)
    chosen = made.options["chosen"]
    assert isinstance(chosen, tuple)  # noqa: S101 - the task has written it
    entries = task.named(chosen)
    start = frozenset(entry for entry in entries if entry in public)
    if not search and len(start) < len(entries):  # sensitive items were kept everywhere: that was better
        return made
    steps = [
        deleting(one, task.promise, truthful=truthful, limits=task.limits)
        for one in (quick_partial, deleting_occurrences)
    ]
    work = _WORK if search else 0
    done = then_partial(names, start, *steps, work=work, attempts=made.attempts, limits=task.limits)
    if search and names.saved(start, made.survivors()) > done.saved:
        return replace(made, attempts=(*made.attempts, replace(done.attempts[-1], state="not chosen")))
    groups = {tree.label(entry): tree.stands_for(entry) for entry in done.cut if len(tree.items[entry]) > 1}
    return replace(
        made,
        custodian_data=done.data,
        options={**made.options, "chosen": tuple(tree.label(entry) for entry in sorted(done.cut))},
        suppressed=done.suppressed,
        generalized=done.recoding,
        stands_for=listed_under(groups, data.names, task.supports, made.listed_from),
        kept=done.kept,
        undecided=(),
        attempts=done.attempts,
    )


def _td_control(task: Task, data: Work, limits: Limits, *, only_sensitive: bool = False) -> Found:
    tree = task.hierarchy
    rows = tree.rows(data, limits)
    cut = td_control(tree, rows, task.promise, keep=task.must_stay, only_sensitive=only_sensitive, limits=limits)
    sensitive = np.setdiff1d(np.flatnonzero(tree.sensitive), cut.suppressed).tolist()
    return Found([*cut.nodes, *sensitive], cut.undecided)


def _useful_td_control(task: Task, data: Work, limits: Limits, *, only_sensitive: bool = False) -> Found:
    """Without ALL, which says nothing and may stand in the way of what does."""
    found = _td_control(task, data, limits, only_sensitive=only_sensitive)
    return Found([entry for entry in found.kept if entry in task.hierarchy.above], found.undecided)


def _top(task: Task, _: Work, __: Limits) -> Found:
    """The coarsest nodes that say something; nothing sensitive, so that there is no rule."""
    tree = task.hierarchy
    return Found([entry for entry, above in tree.above.items() if not above and not tree.sensitive[entry]])


# The cheapest first: what a time limit leaves is never worse than removing all sensitive items.
TOP_DOWN = Plan(
    [
        ("start without sensitive items", without_sensitive),
        ("TDControl", _useful_td_control),
        ("TDControl, suppressing sensitive items only", given_to(_useful_td_control, only_sensitive=True)),
        ("splits with repair", _top),
    ],
    _td_control,
)
