"""Pattern hiding as Lee, Chang and Chen (2004) write it: slow, and short enough to be checked by reading.

D is a list of rows, each a frozenset of item names; S is a dictionary of its entries that are not zero. Every sum is
taken over all items of a row, every support over all rows. Nothing of Veilset is imported, so that its mistakes cannot
be shared.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations

Row = frozenset[str]
Patterns = Iterable[Iterable[str]]
Matrix = dict[tuple[str, str], int]


def as_patterns(patterns: Patterns) -> set[Row]:
    """P_h and ~P_h are sets of sets: a pattern that is listed twice counts once."""
    return {frozenset(pattern) for pattern in patterns}


def matrix(
    items_in_order: Sequence[str], hidden: Patterns, keep: Patterns, kind: str, spare_shared_pairs: bool = False
) -> Matrix:
    """S of HF (§3.1) or of NHF and HPCME (§3.2): entry (i, j) says what holding i does to j.

    What the text leaves open, or says otherwise than its figures:

    - HF takes every pair inside a hidden pattern (Figure 4), NHF only those that no kept pattern contains (Figure 5);
      `spare_shared_pairs` makes HF do that, too.
    - Equal numbers of kept patterns: the victim is the item that comes first in `items_in_order`.
    """
    hidden, keep = as_patterns(hidden), as_patterns(keep)
    entries = {(i, i): 1 for i in items_in_order}
    for i, j in combinations(items_in_order, 2):
        sensitive = any({i, j} <= pattern for pattern in hidden)
        shared = any({i, j} <= pattern for pattern in keep)
        if sensitive and not (shared and (kind == "nhf" or spare_shared_pairs)):
            in_keep = {item: sum(item in pattern for pattern in keep) for item in (i, j)}
            victim, other = (j, i) if in_keep[j] < in_keep[i] else (i, j)
            entries[other, victim] = -1
        elif kind == "nhf" and shared and not sensitive:
            entries[i, j] = entries[j, i] = 1
    return entries


def product(
    rows: Sequence[Row], s: Mapping[tuple[str, str], int], keep_conditional: Callable[[int, str], bool]
) -> list[Row]:
    """D' = D · S under the multiplication of §2.2.1, with the conditional rule of HPCME (§3.3).

    `keep_conditional` is asked, with a row and an item of it, where the sum says that the item stays although the row
    holds some k with S_kj = -1. (The text says: although there is such a k at all. Then items would go from rows
    without a single sensitive pair, and p_r = 0 would not be HF.) Always yes is HF's and NHF's product.
    """
    released = []
    for t, row in enumerate(rows):
        left = set()
        for j in row:
            held = [s.get((k, j), 0) for k in row]
            if sum(held) >= 1 and (-1 not in held or keep_conditional(t, j)):
                left.add(j)
        released.append(frozenset(left))
    return released


def hidden_first(
    rows: Sequence[Row], order: Sequence[str], hidden: Patterns, keep: Patterns, spare: bool = False
) -> list[Row]:
    return product(rows, matrix(order, hidden, keep, "hf", spare), lambda t, j: True)


def non_hidden_first(rows: Sequence[Row], order: Sequence[str], hidden: Patterns, keep: Patterns) -> list[Row]:
    return product(rows, matrix(order, hidden, keep, "nhf"), lambda t, j: True)


def support(rows: Collection[Row], pattern: Iterable[str]) -> int:
    return sum(row.issuperset(pattern) for row in rows)


def subpatterns(pattern: Iterable[str]) -> set[Row]:
    """All parts but the empty one, the pattern itself included."""
    items = list(pattern)
    return {frozenset(part) for size in range(1, len(items) + 1) for part in combinations(items, size)}


def maximal_keep(rows: Sequence[Row], hidden: Patterns, least: int) -> set[Row]:
    """~P_h where it is not given: the maximal ones among the frequent itemsets that contain no hidden pattern."""
    hidden = as_patterns(hidden)
    found = {
        part
        for part in set().union(*map(subpatterns, rows))
        if support(rows, part) >= least and not any(part.issuperset(pattern) for pattern in hidden)
    }
    return {part for part in found if not any(part < other for other in found)}


def accuracy(after: Sequence[Row], hidden: Patterns, keep: Patterns, least: int) -> Fraction:
    """Error 1 of §4.1: the share of hidden patterns no part of which is found, unless it is part of a kept one."""
    hidden, keep = as_patterns(hidden), as_patterns(keep)

    def found(pattern: Row) -> bool:
        return any(
            support(after, part) >= least and not any(part <= kept for kept in keep) for part in subpatterns(pattern)
        )

    return Fraction(sum(not found(pattern) for pattern in hidden), len(hidden))


def wrongness(after: Sequence[Row], keep: Patterns, least: int) -> Fraction:
    """Error 2 of §4.1: the share of kept patterns, all of them frequent before, that are not found any more."""
    keep = as_patterns(keep)
    return Fraction(sum(support(after, pattern) < least for pattern in keep), max(1, len(keep)))


def overlap(hidden: Patterns, keep: Patterns) -> Fraction:
    """The share of all items of patterns that are in hidden and in kept ones."""
    left, right = set().union(*as_patterns(hidden)), set().union(*as_patterns(keep))
    return Fraction(len(left & right), len(left | right))
