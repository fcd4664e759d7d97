"""The non-sensitive patterns ~P_h: those that a user names, or those that the data has.

Of the itemsets that reach min_support and contain no hidden pattern, the maximal ones: all others are parts of these.
Each of them is a maximal frequent itemset M, or one without some items, of which every hidden pattern inside M loses
one and none is left out without need (a minimal hitting set).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise

import numpy as np

from veilset.anonymize.hiding.counts import Counts
from veilset.errors import BudgetExceeded, InvalidArgument, said
from veilset.limits import Limits
from veilset.mining import Itemsets
from veilset.transactions import Transactions

_TASK = "Searching for the patterns to keep"
_ADVICE = f"give {said('keep_patterns')}, or hide from a higher {said('min_support')}."
_MOST = 10_000  # patterns to keep inside one frequent itemset: they can double with each hidden pattern


def patterns_to_keep(counts: Counts, patterns: Iterable[Iterable[str]], hidden: Itemsets | None) -> Itemsets:
    """The patterns that a user names; none may hold one of *hidden*, which could not be hidden then."""
    if isinstance(patterns, str) or not isinstance(patterns, Iterable):
        raise InvalidArgument(f"{said('keep_patterns')} is {patterns!r}.", "Give a list of lists of items.")
    named = []
    for number, pattern in enumerate(patterns, start=1):
        if isinstance(pattern, str) or not isinstance(pattern, Iterable):
            raise InvalidArgument(f"Pattern {number} to keep is {pattern!r}.", f"Give a list of items: [{pattern!r}].")
        named.append(counts.names.in_order(pattern))
        if not named[-1]:
            raise InvalidArgument(f"Pattern {number} to keep has no items.", "Name at least one.")
    named = list(dict.fromkeys(named))
    kept = [(frozenset(pattern), pattern) for pattern in named]
    for secret, _ in hidden or ():
        counts.limits.check_time(_TASK, _ADVICE)
        if wrong := next((pattern for items, pattern in kept if items.issuperset(secret)), None):
            raise InvalidArgument(
                f"The pattern {', '.join(wrong)} must be kept, but contains {', '.join(secret)}, which must be hidden.",
                "Remove one of them from its list.",
            )
    return _counted(counts, itemsets_of(counts.names, named))


def itemsets_of(data: Transactions, named: Sequence[tuple[str, ...]]) -> Itemsets:
    """These itemsets, whose items are in vocabulary order; their supports are not counted."""
    offsets = np.concatenate([[0], np.cumsum([len(items) for items in named])]).astype(np.int64)
    codes = data.codes(item for items in named for item in items).astype(np.int32)
    return Itemsets(data.names, offsets, codes, np.zeros(len(named), dtype=np.int64))


def _counted(counts: Counts, itemsets: Itemsets) -> Itemsets:
    return Itemsets(itemsets.names, itemsets.offsets, itemsets.items, counts.of(itemsets))


def patterns_to_spare(counts: Counts, hidden: Itemsets, least: int) -> Itemsets:
    """The maximal ones among the itemsets that *least* transactions hold and that contain no hidden pattern."""
    maximal, names = counts.maximal(least), counts.names
    secrets = [frozenset(codes) for codes in _codes(hidden)]
    holders = _holders(maximal, {item for secret in secrets for item in secret})
    inside: dict[int, list[frozenset[int]]] = {}
    for secret in secrets:
        for number in set.intersection(*(holders[item] for item in secret)):
            inside.setdefault(number, []).append(secret)
    if not inside:
        return maximal
    untouched = np.ones(len(maximal), dtype=bool)
    untouched[list(inside)] = False
    whole = maximal[untouched]
    pieces = {
        frozenset(codes) - hit
        for number, codes in zip(sorted(inside), _codes(maximal[np.array(sorted(inside))]), strict=True)
        for hit in _hitting_sets(inside[number], counts.limits)
    }
    parts = sorted(map(sorted, _largest(pieces - {frozenset()}, whole, counts.limits)))
    named = [tuple(names.names[code] for code in codes) for codes in parts]
    return Itemsets.joined(whole, _counted(counts, itemsets_of(names, named)))


def _codes(itemsets: Itemsets) -> list[list[int]]:
    codes, ends = itemsets.items.tolist(), itemsets.offsets.tolist()
    return [codes[first:last] for first, last in pairwise(ends)]


def _holders(itemsets: Itemsets, items: Collection[int]) -> dict[int, set[int]]:
    """For each of these items, which itemsets hold it."""
    wanted = np.zeros(len(itemsets.names), dtype=bool)
    wanted[list(items)] = True
    places = np.flatnonzero(wanted[itemsets.items])
    found: dict[int, set[int]] = {item: set() for item in items}
    which = np.searchsorted(itemsets.offsets, places, side="right") - 1
    for item, number in zip(itemsets.items[places].tolist(), which.tolist(), strict=True):
        found[item].add(number)
    return found


def _hitting_sets(sets: Collection[frozenset[int]], limits: Limits) -> set[frozenset[int]]:
    """The minimal sets of items of which each of *sets* holds one (Berge's multiplication)."""
    found = {frozenset[int]()}
    for each in sets:
        limits.check_time(_TASK, _ADVICE)
        if len(found) > _MOST:
            raise BudgetExceeded(
                f"{_TASK} stopped: {len(sets):,} hidden patterns are inside one frequent itemset, which leaves more "
                f"than {_MOST:,} ways to avoid them all.",
                _ADVICE.capitalize(),
            )
        fine = {hit for hit in found if hit & each}
        longer = {hit | {item} for hit in found - fine for item in each}
        found = fine | {hit for hit in longer if not any(other <= hit for other in fine)}
        found = {hit for hit in found if not any(hit - {item} in found for item in hit)}
    return found


def _largest(pieces: set[frozenset[int]], whole: Itemsets, limits: Limits) -> list[frozenset[int]]:
    """Those that are part of no other piece, and of no whole itemset."""
    items = {item for piece in pieces for item in piece}
    holders = _holders(whole, items)
    listed = sorted(pieces, key=len, reverse=True)
    for number, piece in enumerate(listed, start=len(whole)):
        for item in piece:
            holders[item].add(number)
    kept = []
    for number, piece in enumerate(listed, start=len(whole)):
        limits.check_time(_TASK, _ADVICE)
        rarest_first = sorted((holders[item] for item in piece), key=len)
        if rarest_first[0].intersection(*rarest_first[1:]) == {number}:
            kept.append(piece)
    return kept
