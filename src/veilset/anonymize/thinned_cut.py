"""Coarser names first, then single occurrences: what `generalize` and `top-down` do with ``partial=True``.

A name is given everywhere or nowhere, as ever. But what still breaks the promise under these names leaves only the
transactions in which it does harm, so names need not become as coarse as when it leaves all.

Which names to give is searched for. From several starts, a name is split into those right below it, or names are merged
into the one above them, as long as more is kept *in the end*, after single occurrences are gone: every step is judged
by the method that deletes them. How many steps are judged is counted, not timed, so that a run is repeatable.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from veilset.anonymize.weights import HEAVIEST
from veilset.errors import Infeasible, InvalidArgument, said
from veilset.limits import Limits
from veilset.release import Attempt, Release
from veilset.transactions import Transactions

Cut = frozenset[int]
"""Nodes, none above another; public items below none of them are suppressed."""

Thinning = Callable[[Transactions, Mapping[str, float], Collection[str]], npt.NDArray[np.bool_]]
"""Which occurrences of recoded data may stay, with the weights of its items, and those that must survive."""

_UNITS = 10**6  # of a weight


@dataclass(frozen=True)
class Thinned:
    """What is left of the original under the names of a cut.

    *kept* is a mask over its occurrences, *saved* what is kept in units of weight, and *loss* the average loss.
    """

    cut: Cut
    kept: npt.NDArray[np.bool_] = field(repr=False)
    saved: int
    loss: float


@dataclass(frozen=True)
class Names:
    """What can stand for the public items of data: nodes of a taxonomy, by number.

    Parameters
    ----------
    data : Transactions
    above : mapping
        The nodes above each, the nearest first. Every public item is a node that has none below it.
    label : callable
        What a release calls a node.
    weight : sequence of int
        What losing each item of the data costs.
    keep : frozenset of str
        Items that must survive, under their own name or a coarser one.
    """

    data: Transactions
    above: Mapping[int, tuple[int, ...]]
    label: Callable[[int], str]
    weight: Sequence[int]
    keep: frozenset[str]

    @cached_property
    def below(self) -> dict[int, list[int]]:
        """The nodes right below each group."""
        found: dict[int, list[int]] = {}
        for node in sorted(self.above):
            if self.above[node]:
                found.setdefault(self.above[node][0], []).append(node)
        return found

    @cached_property
    def items(self) -> dict[int, list[int]]:
        """The codes of the items below each node."""
        leaves = [node for node in sorted(self.above) if node not in self.below]
        found: dict[int, list[int]] = {node: [] for node in self.above}
        for leaf, code in zip(leaves, self.data.codes(list(map(self.label, leaves))).tolist(), strict=True):
            for node in (leaf, *self.above[leaf]):
                found[node].append(code)
        return found

    def recoding(self, cut: Collection[int]) -> dict[str, str]:
        """Items to the names of the groups that stand for them."""
        names = self.data.names
        return {
            names[code]: self.label(node) for node in sorted(cut) if node in self.below for code in self.items[node]
        }

    def uncovered(self, cut: Collection[int]) -> tuple[str, ...]:
        """The public items that nothing stands for."""
        there = {self.data.names[code] for node in cut for code in self.items[node]}
        return tuple(name for name in self.data.public if name not in there)

    def completed(self, cut: Collection[int]) -> Cut:
        """The same, and every other public item as itself."""
        missing = set(self.data.codes(self.uncovered(cut)).tolist())
        leaves = (node for node in self.above if node not in self.below)
        return frozenset([*cut, *(leaf for leaf in leaves if self.items[leaf][0] in missing)])

    def levels(self) -> Iterator[Cut]:
        """The items, then all groups right above them, and so on to the coarsest."""
        deepest = max(map(len, self.above.values()), default=0)
        for depth in range(deepest, -1, -1):
            yield frozenset(
                node
                for node, above in self.above.items()
                if len(above) == depth or (len(above) < depth and node not in self.below)
            )

    def thinned(self, cut: Cut, method: Thinning) -> Thinned:
        """Give the names of a cut, then delete single occurrences."""
        data, says = self.data, self._says(cut)
        recoding, gone = self.recoding(cut), self.uncovered(cut)
        named = data.without(gone).renamed(recoding)
        weigh = dict.fromkeys(named.names, 0)
        for code, name in enumerate(data.names):
            if (now := recoding.get(name, name)) in weigh:
                weigh[now] += int(self.weight[code]) * says[code]
        most = max([1, *weigh.values()])
        weights = {name: weight * HEAVIEST / most for name, weight in weigh.items()}
        stays = {recoding.get(item, item) for item in self.keep}
        kept = self._in_original(named, method(named, weights, stays), recoding)
        left = np.bincount(data.items[kept], minlength=len(data.names))
        told = sum(there * say for there, say in zip(left.tolist(), says, strict=True))
        everything = len(data.items) * max(1, len(data.public))
        loss = float(Fraction(everything - told, everything)) if everything else 0.0
        return Thinned(cut, kept, self.saved(cut, left), loss)

    def saved(self, cut: Cut, left: npt.NDArray[np.int64]) -> int:
        """What is kept if so many occurrences of each item are left, under the names of a cut, in units of weight."""
        rows = zip(self.weight, self._says(cut), left.tolist(), self.data.supports.tolist(), strict=True)
        return sum(int(weight) * _UNITS * say * there // support for weight, say, there, support in rows)

    def _says(self, cut: Cut) -> list[int]:
        """How much the name of each item says: all public items, less those that the name might mean."""
        unsure = np.zeros(len(self.data.names), dtype=np.int64)
        for node in cut:
            if node in self.below:
                unsure[self.items[node]] = len(self.items[node])
        says: list[int] = (max(1, len(self.data.public)) - unsure).tolist()
        return says

    def _in_original(
        self, named: Transactions, kept: npt.NDArray[np.bool_], recoding: Mapping[str, str]
    ) -> npt.NDArray[np.bool_]:
        """The occurrences of the original whose name is kept in their transaction."""
        data, width = self.data, max(1, len(named.names))
        number = {name: code for code, name in enumerate(named.names)}
        code_of = np.array([number.get(recoding.get(name, name), -1) for name in data.names], dtype=np.int64)
        rows = np.repeat(np.arange(len(data)), data.lengths)
        left = (np.repeat(np.arange(len(named)), named.lengths) * width + named.items)[kept]
        codes = code_of[data.items]
        return (codes >= 0) & np.isin(rows * width + codes, left)

    def moved(self, cut: Cut, node: int) -> Cut | None:
        """The cut with a group split if it is there, or else with what is below it merged; None: something is above."""
        if node in cut:
            return frozenset([*(cut - {node}), *self.below[node]])
        if not cut.isdisjoint(self.above[node]):
            return None
        return frozenset([*(other for other in cut if node not in self.above[other]), node])


@dataclass(frozen=True)
class Outcome:
    """What a method does to the data: the cut, its names, what is gone everywhere, what is left, and how it came to it.

    *kept* is None if no single occurrences were looked at.
    """

    cut: Cut
    recoding: Mapping[str, str]
    suppressed: tuple[str, ...]
    data: Transactions
    kept: npt.NDArray[np.bool_] | None
    attempts: tuple[Attempt, ...]
    saved: int = 0


def check_partial(partial: bool, truthful: bool) -> None:
    """Raise if an option is given that says nothing."""
    if not (partial or truthful):
        raise InvalidArgument(
            f"{said('truthful', False)} is about single occurrences, and none are deleted.",
            f"Leave it out, or add {said('partial', True)}.",
        )


def mask(release: Release) -> npt.NDArray[np.bool_]:
    """Which occurrences of its data a method for single ones has kept."""
    assert release.kept is not None  # noqa: S101 - that is what it decides
    return release.kept


def then_partial(
    names: Names,
    start: Cut,
    quick: Thinning,
    whole: Thinning | None = None,
    *,
    work: int,
    attempts: tuple[Attempt, ...],
    limits: Limits,
) -> Outcome:
    """Search for the names that keep most with the *quick* method, then delete single occurrences by the *whole* one.

    If there is one.

    *work* is how many occurrences the search may look at; 0: the start is what an earlier search found.
    """
    started = time.perf_counter()
    found, note = names.thinned(start, quick), ""
    if work:
        found, note = _searched(names, found, quick, work, limits.part(1 / 2))
    if whole is not None:
        found = max(found, names.thinned(found.cut, whole), key=lambda one: one.saved)
    if work:
        last = Attempt("then single occurrences", found.loss, time.perf_counter() - started, note, "chosen")
        attempts = (*(replace(one, state="not chosen") if one.won else one for one in attempts), last)
    left = names.data.thinned(found.kept)
    named = names.recoding(found.cut)
    there = {named.get(item, item) for item in left.names}
    gone = tuple(item for item in names.data.names if named.get(item, item) not in there)
    recoding = {item: name for item, name in named.items() if name in there}
    data = left.renamed({item: name for item, name in recoding.items() if item in set(left.names)})
    return Outcome(found.cut, recoding, gone, data, found.kept, attempts, found.saved)


def _searched(names: Names, best: Thinned, method: Thinning, work: int, limits: Limits) -> tuple[Thinned, str]:
    """The best that was found, never worse than the start; and what ended the search early, if anything did."""
    tries = max(1, work // max(1, len(names.data.items)))
    starts, groups = [names.completed(best.cut), *names.levels()], sorted(names.below)
    tried = at = since = 0
    while starts or since < len(groups):
        limits.step("Searching for names", tried, tries)
        if tried >= tries or limits.seconds_left() <= 0:
            return best, f"stopped at the {'work' if tried >= tries else 'time'} limit"
        if starts:
            cut: Cut | None = starts.pop(0)
        else:
            cut = names.moved(best.cut, groups[at % len(groups)])
            at, since = at + 1, since + 1
        if cut is None:
            continue
        tried += 1
        try:
            found = names.thinned(cut, method)
        except Infeasible:  # an item that must survive cannot under these names
            continue
        if found.saved > best.saved:
            best, since = found, 0
    return best, ""
