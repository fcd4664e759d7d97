"""``generalize``: public items are recoded to groups of a taxonomy, and what still breaks the promise is suppressed.

The promise is about the recoded items: what an attacker may know, and what the auditor counts, are the names in the
release; who knows up to p items of the original knows up to p of these names. Recoding is global, so that no false
itemset appears: an item has one name in all transactions. What is minimised is the average loss (Cao et al. 2010 §3.2):
1 for each occurrence that is suppressed, |leaves(g)| / |public items| for one that is recoded to the group g. Sensitive
items are left as they are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from veilset.anonymize.coherence.auto import best_of_all
from veilset.anonymize.coherence.cut import improved
from veilset.anonymize.coherence.nodes import Nodes
from veilset.anonymize.coherence.partial import partial as deleting_occurrences
from veilset.anonymize.coherence.partial import quick_partial
from veilset.anonymize.coherence.task import Task
from veilset.anonymize.options import Chosen, Items, NameLeavesFrom, Partial, TaxonomyOption, Truthful
from veilset.anonymize.taxonomies import check_name_leaves_from, listed_under
from veilset.anonymize.thinned_cut import Names, Outcome, Thinning, check_partial, mask, then_partial
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
    tree = _taxonomy(taxonomy)
    notes = tree.check(data)
    wanted = keep if isinstance(keep, str) else tuple(keep)
    try:
        task = Task.of(data, promise, keep=wanted, limits=limits)
        as_they_are = task.keep
    except Infeasible:  # what must stay cannot as it is, but perhaps under coarser names
        task = replace(Task.of(data, promise, limits=limits), keep=frozenset(wanted))
        as_they_are = frozenset()
    nodes = Nodes(task, tree.pruned(data))
    cut, attempts = _searched(nodes, task, as_they_are) if chosen is None else (nodes.named(chosen), ())
    if partial:
        done = _thinned(nodes, cut, attempts, truthful=truthful, search=chosen is None)
    else:
        gone = tuple(item for item in data.public if nodes.kept_as(item, cut) is None)
        done = Outcome(cut, nodes.recoding(cut), gone, data.without(gone).renamed(nodes.recoding(cut)), None, attempts)
    if lost := task.keep.intersection(done.suppressed):
        raise InvalidArgument(
            f"{min(lost)!r} must be kept, but is not among the chosen names.", "Remove it from the list."
        )
    return Release(
        original=data,
        custodian_data=done.data,
        promise=promise,
        method="generalize",
        options=task.options(
            taxonomy=tree.to_paths(),
            name_leaves_from=name_leaves_from,
            partial=partial or None,
            truthful=None if truthful else False,
            chosen=tuple(nodes.name(node) for node in sorted(done.cut)),
        ),
        suppressed=done.suppressed,
        generalized=done.recoding,
        stands_for=listed_under(nodes.stand_for(done.cut), data, name_leaves_from or 0),
        listed_from=name_leaves_from or 0,
        kept=done.kept,
        notes=notes,
        attempts=done.attempts,
    )


def _thinned(
    nodes: Nodes, start: frozenset[int], attempts: tuple[Attempt, ...], *, truthful: bool, search: bool
) -> Outcome:
    """From a cut that keeps the promise to one that keeps more, once single occurrences are gone."""
    task = nodes.task
    data = task.original

    def by(method: Callable[..., Release]) -> Thinning:
        def kept(named: Transactions, weights: Mapping[str, float], keep: Collection[str]) -> npt.NDArray[np.bool_]:
            public = {name: weights[name] for name in named.public}
            made = method(named, task.promise, weights=public, keep=keep, truthful=truthful, limits=task.limits)
            return mask(made)

        return kept

    weight = (data.supports * (data.is_sensitive == 0)).tolist()
    names = Names(data, nodes.above, nodes.name, weight, task.keep)
    steps = (by(quick_partial), by(deleting_occurrences))
    return then_partial(names, start, *steps, work=_WORK if search else 0, attempts=attempts, limits=task.limits)


def _searched(nodes: Nodes, task: Task, as_they_are: frozenset[str]) -> tuple[frozenset[int], tuple[Attempt, ...]]:
    """The best cut that was found, and what each start reached."""
    started = time.perf_counter()
    alone = _without_moles(nodes, replace(task, keep=as_they_are), {})
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
    anew = _without_moles(nodes, task, nodes.recoding(cut))
    if nodes.total(anew) > nodes.total(cut):
        since = time.perf_counter()
        cut = improved(nodes, anew, what="Searching for a better cut")
        best = len(attempts)
        attempts.append(Attempt("from the best so far", nodes.average_loss(cut), time.perf_counter() - since))
    attempts[best] = replace(attempts[best], state="chosen")
    return cut, tuple(attempts)


def _without_moles(nodes: Nodes, task: Task, recoding: Mapping[str, str]) -> frozenset[int]:
    """What suppression alone keeps of the recoded data, as nodes."""
    kept_names = {recoding.get(item, item) for item in task.keep}
    recoded = Task.of(task.original.renamed(recoding), task.promise, keep=kept_names, limits=task.limits)
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
