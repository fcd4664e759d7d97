"""``generalize``: public items are recoded to groups of a taxonomy, and what still breaks the promise is suppressed.

The promise is about the recoded items: what an attacker may know, and what the auditor counts, are the names in the
release; who knows up to p items of the original knows up to p of these names. Recoding is global, so that no false
itemset appears: an item has one name in all transactions. What is minimised is the average loss (Cao et al. 2010 §3.2):
1 for each occurrence that is suppressed, |leaves(g)| / |public items| for one that is recoded to the group g. Sensitive
items are left as they are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from veilset.anonymize.coherence.auto import best_of_all
from veilset.anonymize.coherence.cut import improved
from veilset.anonymize.coherence.nodes import Nodes
from veilset.anonymize.coherence.partial import partial as deleting_occurrences
from veilset.anonymize.coherence.partial import quick_partial
from veilset.anonymize.coherence.task import Task
from veilset.anonymize.options import Chosen, Items, NameLeavesFrom, Partial, TaxonomyOption, Truthful
from veilset.anonymize.taxonomies import check_name_leaves_from, listed_under
from veilset.anonymize.thinned_cut import Names, Outcome, check_partial, deleting, then_partial
from veilset.errors import Infeasible, InvalidArgument, said
from veilset.limits import Limits
from veilset.models import Coherence
from veilset.release import Attempt, Release
from veilset.transactions import Taxonomy, TaxonomyLike, Transactions, taxonomy_of

_WORK = 10**7  # occurrences looked at while names are searched for that single occurrences go from; half a minute


def generalize(
    data: Transactions,
    promise: Coherence,
    /,
    *,
    taxonomy: TaxonomyOption = None,
    name_leaves_from: NameLeavesFrom = None,
    keep: Items = (),
    partial: Partial = False,
    truthful: Truthful = True,
    chosen: Chosen = None,
    limits: Limits,
) -> Release:
    """Recode along *taxonomy* and suppress what remains; never worse, by average loss, than suppression alone.

    Nothing that is suppressed could return by itself, as an item or under the name of a group. With *partial*, what
    remains leaves only the transactions in which it does harm, and names are finer: never worse than without.

    Parameters
    ----------
    taxonomy : Taxonomy, mapping or path
        With every public item among its leaves; sensitive ones are left out of it. A group that would stand for all
        public items is not used.

    Examples
    --------
    >>> data = Transactions.from_lists([["ale", "bun"], ["ale", "bun"], ["rum", "bun"], ["rum"], ["fig"]])
    >>> shelves = {"ale": ["drinks"], "rum": ["drinks"], "bun": ["food"], "fig": ["food"]}
    >>> release = generalize(data, Coherence(k=3, p=2), taxonomy=shelves, limits=Limits())
    >>> release.custodian_data.to_lists()
    [['bun', 'drinks'], ['bun', 'drinks'], ['bun', 'drinks'], ['drinks'], []]
    """
    check_name_leaves_from(name_leaves_from)
    check_partial(partial, truthful)

    def task_of(recoding: Mapping[str, str], keep: Collection[str]) -> Task:
        return Task.of(data.renamed(recoding) if recoding else data, promise, keep=keep, limits=limits)

    found = best_cut(data, task_of, taxonomy, keep, chosen)
    nodes, cut = found.nodes, found.cut
    if partial:
        done = _thinned(nodes, cut, found.attempts, truthful=truthful, search=chosen is None)
    else:
        gone, recoding = nodes.uncovered(cut), nodes.recoding(cut)
        done = Outcome(cut, recoding, gone, data.without(gone).renamed(recoding), None, found.attempts)
    account = found.account(
        done.cut, done.suppressed, name_leaves_from, partial=partial or None, truthful=None if truthful else False
    )
    return Release(
        original=data,
        custodian_data=done.data,
        promise=promise,
        method="generalize",
        suppressed=done.suppressed,
        generalized=done.recoding,
        kept=done.kept,
        attempts=done.attempts,
        **account,
    )


TaskOf: TypeAlias = Callable[[Mapping[str, str], Collection[str]], Task]
"""The task for the data with items recoded to other names, of which some must stay."""


@dataclass(frozen=True)
class Found:
    """The names to give, and how they were found."""

    nodes: Nodes
    taxonomy: Taxonomy
    notes: tuple[str, ...]
    """What in the taxonomy plays no part."""
    cut: frozenset[int]
    attempts: tuple[Attempt, ...]

    def account(
        self, cut: frozenset[int], suppressed: Collection[str], name_leaves_from: int | None, **options: object
    ) -> dict[str, Any]:
        """What a release says of a cut, wherever its data lies."""
        nodes, task = self.nodes, self.nodes.task
        if lost := task.keep.intersection(suppressed):
            raise InvalidArgument(
                f"{min(lost)!r} must be kept, but is not among the chosen names.", "Remove it from the list."
            )
        return {
            "options": task.options(
                taxonomy=self.taxonomy.to_paths(),
                name_leaves_from=name_leaves_from,
                **options,
                chosen=tuple(nodes.name(node) for node in sorted(cut)),
            ),
            "stands_for": listed_under(
                nodes.stand_for(cut), task.data.names, task.miner.supports, name_leaves_from or 0
            ),
            "listed_from": name_leaves_from or 0,
            "notes": self.notes,
        }


def best_cut(
    data: Transactions,
    task_of: TaskOf,
    taxonomy: TaxonomyLike | None,
    keep: Iterable[str],
    chosen: Iterable[str] | None,
) -> Found:
    """The best cut that a search finds, or the one that an earlier run chose; *data* need only have names and roles."""
    tree = _taxonomy(taxonomy)
    notes = tree.check(data)
    wanted = keep if isinstance(keep, str) else tuple(keep)
    try:
        task = task_of({}, wanted)
        as_they_are = task.keep
    except Infeasible:  # what must stay cannot as it is, but perhaps under coarser names
        task = replace(task_of({}, ()), keep=frozenset(wanted))
        as_they_are = frozenset()
    nodes = Nodes(task, tree.pruned(data))
    if chosen is not None:
        return Found(nodes, tree, notes, nodes.named(chosen), ())
    return Found(nodes, tree, notes, *_searched(nodes, as_they_are, task_of))


def _thinned(
    nodes: Nodes, start: frozenset[int], attempts: tuple[Attempt, ...], *, truthful: bool, search: bool
) -> Outcome:
    """From a cut that keeps the promise to one that keeps more, once single occurrences are gone."""
    task = nodes.task
    data = task.original

    weight = (data.supports * (data.is_sensitive == 0)).tolist()
    names = Names(data, nodes.above, nodes.name, weight, task.keep)
    steps = [
        deleting(one, task.promise, truthful=truthful, limits=task.limits, only_public=True)
        for one in (quick_partial, deleting_occurrences)
    ]
    return then_partial(names, start, *steps, work=_WORK if search else 0, attempts=attempts, limits=task.limits)


def _searched(nodes: Nodes, as_they_are: frozenset[str], task_of: TaskOf) -> tuple[frozenset[int], tuple[Attempt, ...]]:
    """The best cut that was found, and what each start reached."""
    task, started = nodes.task, time.perf_counter()
    alone = _without_moles(nodes, task_of({}, as_they_are))
    attempts = [Attempt("suppression alone", nodes.average_loss(alone), time.perf_counter() - started)]
    found = []
    for start, kept in (("from the top", frozenset[int]()), ("from the items", alone)):
        since = time.perf_counter()
        found.append(improved(nodes, kept, what=f"Searching for a cut {start}"))
        attempts.append(Attempt(start, nodes.average_loss(found[-1]), time.perf_counter() - since))
    cut = max(found, key=nodes.total)
    best = 1 + found.index(cut)
    if lost := next((item for item in task.data.in_order(task.keep) if nodes.kept_as(item, cut) is None), None):
        raise Infeasible(
            f"No cut was found that keeps every required item: {lost!r} is lost.",
            "Remove one of these items from the list, or choose a smaller k or p or a larger h.",
        )
    recoding = nodes.recoding(cut)
    anew = _without_moles(nodes, task_of(recoding, {recoding.get(item, item) for item in task.keep}))
    if nodes.total(anew) > nodes.total(cut):
        since = time.perf_counter()
        cut = improved(nodes, anew, what="Searching for a better cut")
        best = len(attempts)
        attempts.append(Attempt("from the best so far", nodes.average_loss(cut), time.perf_counter() - since))
    attempts[best] = replace(attempts[best], state="chosen")
    return cut, tuple(attempts)


def _without_moles(nodes: Nodes, recoded: Task) -> frozenset[int]:
    """What suppression alone keeps of recoded data, as nodes."""
    node_of = {nodes.name(node): node for node in nodes.weight}
    weight = [nodes.weight[node_of[name]] if name in node_of else 0 for name in recoded.data.names]
    gone = set(best_of_all(replace(recoded, weight=np.array(weight, dtype=np.int64)))[0])
    return frozenset(node_of[name] for name in recoded.data.public if name not in gone)


def _taxonomy(given: TaxonomyLike | None) -> Taxonomy:
    if given is None:
        raise InvalidArgument(
            "generalize needs a taxonomy.",
            f"Set {said('taxonomy')}, for example to a CSV file with a header: an item, then its groups.",
        )
    return taxonomy_of(given)
