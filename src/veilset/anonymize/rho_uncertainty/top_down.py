"""``top-down`` (Cao et al. 2010 §5): public items are generalized along a taxonomy, and some items are suppressed.

TDControl itself is in `td_control`. What is returned is the best of several strategies, each with what need not have
gone put back (`choice`): TDControl; TDControl that suppresses sensitive items only; removing all sensitive items; and
splitting from the top, where each split is judged by the cheapest repair instead of SuppressControl. So it never loses
more than removing all sensitive items.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial as given_to

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
from veilset.anonymize.rho_uncertainty.partial import partial as deleting_occurrences
from veilset.anonymize.rho_uncertainty.task import Found, Task
from veilset.anonymize.rho_uncertainty.td_control import td_control
from veilset.anonymize.taxonomies import check_name_leaves_from, listed_under
from veilset.anonymize.thinned_cut import Names, check_partial, mask, then_partial
from veilset.errors import InvalidArgument, said
from veilset.limits import Limits
from veilset.models import RhoUncertainty
from veilset.release import Release
from veilset.transactions import Taxonomy, Transactions, taxonomy_of

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
    given = None if taxonomy is None else taxonomy_of(taxonomy)
    if given is None and chosen is None and name_leaves_from is None:  # recipes name it, unless they are older
        name_leaves_from = RARE
    least = name_leaves_from or 0
    tree = Taxonomy.by_fan_out(data, _FAN_OUT, min_support=least) if given is None and data.public else given
    task = Task.of(data, promise, tree, weights=weights, sensitive_weight=sensitive_weight, keep=keep, limits=limits)
    sensitive_only = given_to(_td_control, task, only_sensitive=True)
    # The cheapest first: what a time limit leaves is never worse than removing all sensitive items.
    strategies = [
        ("start without sensitive items", lambda _: Found(task.without_sensitive)),
        ("TDControl", lambda bounded: _useful(task, _td_control(task, bounded))),
        ("TDControl, suppressing sensitive items only", lambda bounded: _useful(task, sensitive_only(bounded))),
        ("splits with repair", lambda _: Found(_top(task))),
    ]
    made = task.answer(
        "top-down",
        strategies,
        given_to(_td_control, task),
        as_published=as_published,
        exchange=exchange,
        chosen=chosen,
        listed_from=least,
        name_leaves_from=name_leaves_from,
        taxonomy=None if given is None else given.to_paths(),
        partial=partial or None,
        truthful=None if truthful else False,
    )
    return _thinned(task, made, truthful=truthful, search=chosen is None) if partial else made


def _thinned(task: Task, made: Release, *, truthful: bool, search: bool) -> Release:
    """Once single occurrences are gone under names that keep most; or what was made, if that keeps more."""
    tree, data = task.hierarchy, task.data

    def kept(named: Transactions, weights: Mapping[str, float], keep: Collection[str]) -> npt.NDArray[np.bool_]:
        return mask(
            deleting_occurrences(named, task.promise, weights=weights, keep=keep, truthful=truthful, limits=task.limits)
        )

    public = {entry: above for entry, above in tree.above.items() if not tree.sensitive[entry]}
    names = Names(data, public, tree.label, task.weight.tolist(), task.keep)
    chosen = made.options["chosen"]
    assert isinstance(chosen, tuple)  # noqa: S101 - the task has written it
    entries = task.named(chosen)
    start = frozenset(entry for entry in entries if entry in public)
    if not search and len(start) < len(entries):  # sensitive items were kept everywhere: that was better
        return made
    done = then_partial(names, start, kept, work=_WORK if search else 0, attempts=made.attempts, limits=task.limits)
    if search and names.saved(start, made.survivors()) > done.saved:
        return replace(made, attempts=(*made.attempts, replace(done.attempts[-1], state="not chosen")))
    groups = {tree.label(entry): tree.stands_for(entry) for entry in done.cut if len(tree.items[entry]) > 1}
    return replace(
        made,
        custodian_data=done.data,
        options={**made.options, "chosen": tuple(tree.label(entry) for entry in sorted(done.cut))},
        suppressed=done.suppressed,
        generalized=done.recoding,
        stands_for=listed_under(groups, data, made.listed_from),
        kept=done.kept,
        undecided=(),
        attempts=done.attempts,
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
