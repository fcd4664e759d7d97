"""Brute force, straight from the definitions. Imports nothing of Veilset, so that it cannot share its mistakes.

Rows are any iterables of hashable items; everything here is exponential and meant for small data.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import erfc, sqrt
from typing import TypeAlias

Row: TypeAlias = frozenset[str]


def support(rows: Collection[Row], itemset: Iterable[str]) -> int:
    """Sup(X): the number of transactions that contain X."""
    wanted = set(itemset)
    return sum(wanted <= row for row in rows)


def _confidence(rows: Collection[Row], itemset: Iterable[str], sensitive: Collection[str]) -> Fraction:
    """The largest Sup(X + s) / Sup(X) over all sensitive s."""
    x = frozenset(itemset)
    held = support(rows, x)
    if held == 0:
        return Fraction(0)
    return max((Fraction(support(rows, x | {s}), held) for s in sensitive), default=Fraction(0))


def breach_probability(rows: Collection[Row], itemset: Iterable[str], sensitive: Collection[str]) -> Fraction:
    """BPr(X): the largest confidence over all subsets of X, the empty one included."""
    x = tuple(itemset)
    return max(_confidence(rows, b, sensitive) for size in range(len(x) + 1) for b in combinations(x, size))


def empty_set_breaks(rows: Collection[Row], sensitive: Collection[str], h: Fraction, k: int) -> bool:
    """Whether an attacker who knows nothing breaks the promise (thesis Theorem 3)."""
    return len(rows) < k or (len(rows) > 0 and _confidence(rows, (), sensitive) > h)


def occurring(rows: Collection[Row], sensitive: Collection[str] = (), p: int | None = None) -> set[Row]:
    """All non-empty public itemsets of up to p items that some transaction holds."""
    found: set[Row] = set()
    for row in rows:
        public = sorted(row.difference(sensitive))
        for size in range(1, min(len(public), p or len(public)) + 1):
            found.update(map(frozenset, combinations(public, size)))
    return found


def frequent(rows: Collection[Row], min_support: int) -> set[Row]:
    """All non-empty itemsets, sensitive items included, with Sup >= min_support: the nuggets (thesis Definition 7)."""
    return {x for x in occurring(rows) if support(rows, x) >= min_support}


def closed(rows: Collection[Row], min_support: int) -> set[Row]:
    """The frequent itemsets that no larger one equals in support."""
    supports = {x: support(rows, x) for x in frequent(rows, min_support)}
    return {x for x, count in supports.items() if not any(x < y and count == supports[y] for y in supports)}


def maximal(rows: Collection[Row], min_support: int) -> set[Row]:
    """The frequent itemsets with no frequent one among their proper supersets."""
    found = frequent(rows, min_support)
    return {x for x in found if not any(x < y for y in found)}


def pairs(rows: Collection[Row], min_support: int) -> dict[Row, int]:
    """The support of each pair of items that at least min_support transactions hold together."""
    found = {x: support(rows, x) for x in occurring(rows, p=2) if len(x) == 2}
    return {x: count for x, count in found.items() if count >= min_support}


def rules(rows: Collection[Row], min_support: int, min_confidence: Fraction) -> dict[tuple[Row, str], tuple[int, int]]:
    """Sup(X + y) and Sup(X) of the rules X -> y, X not empty: Sup(X + y) >= min_support, and this share of Sup(X)."""
    found = {}
    for both in frequent(rows, min_support):
        for y in both if len(both) > 1 else ():
            with_y, held = support(rows, both), support(rows, both - {y})
            if Fraction(with_y, held) >= min_confidence:
                found[both - {y}, y] = (with_y, held)
    return found


def wilson_lower_bound(support: int, held: int, z: float) -> float:
    """The smallest p with (support / held - p)^2 <= z^2 p (1 - p) / held, by halving."""
    share = support / held
    low, high = 0.0, share  # too small, and inside
    for _ in range(200):
        middle = (low + high) / 2
        inside = (share - middle) ** 2 <= z**2 * middle * (1 - middle) / held
        low, high = (low, middle) if inside else (middle, high)
    return high


def normal_quantile(tail: float) -> float:
    """The z that a standard normal variable exceeds with this probability (below one half), by halving."""
    low, high = 0.0, 40.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if erfc(middle / sqrt(2)) / 2 > tail else (low, middle)
    return high


def proxies(
    rows: Collection[Row], sensitive: Collection[str], size: int, min_support: int, tail: float
) -> dict[tuple[Row, str], tuple[int, int, float]]:
    """Sup(X + s), Sup(X) and the lower bound of their ratio, where it is above s's share of all and those of parts.

    *tail* is the probability that any of the bounds is too high; each gets an equal part of it.
    """
    counts = {(x, s): support(rows, x | {s}) for x in occurring(rows, sensitive, size) for s in sensitive}
    counts = {pair: both for pair, both in counts.items() if both >= min_support}
    z = normal_quantile(tail / max(1, len(counts)))
    held = {x: support(rows, x) for x, _ in counts}
    bounds = {(x, s): wilson_lower_bound(both, held[x], z) for (x, s), both in counts.items()}
    return {
        (x, s): (counts[x, s], held[x], bound)
        for (x, s), bound in bounds.items()
        if bound > support(rows, [s]) / len(rows)
        and all(bound > bounds[y, s] for y in map(frozenset, combinations(x, len(x) - 1)) if y)
    }


def moles(rows: Collection[Row], sensitive: Collection[str], h: Fraction, k: int, p: int | None) -> set[Row]:
    """All moles: public itemsets that occur, have 1 to p items, and Sup < k or BPr > h."""
    return {
        x for x in occurring(rows, sensitive, p) if support(rows, x) < k or breach_probability(rows, x, sensitive) > h
    }


def minimal_moles(rows: Collection[Row], sensitive: Collection[str], h: Fraction, k: int, p: int | None) -> set[Row]:
    """Moles with no mole among their proper subsets; none at all if the empty set breaks the promise."""
    if empty_set_breaks(rows, sensitive, h, k):
        return set()
    found = moles(rows, sensitive, h, k, p)
    return {x for x in found if not any(y < x for y in found)}


def minimal_absent(rows: Collection[Row], sensitive: Collection[str], h: Fraction, k: int, p: int | None) -> set[Row]:
    """Public itemsets of up to p items that no transaction holds, whose proper subsets all occur and are no moles."""
    if empty_set_breaks(rows, sensitive, h, k):
        return set()
    public = frozenset().union(*rows).difference(sensitive)
    unsafe = moles(rows, sensitive, h, k, p)
    safe = occurring(rows, sensitive, p) - unsafe
    candidates = {y | {item} for y in safe for item in public if item not in y and (p is None or len(y) < p)}
    return {x for x in candidates if support(rows, x) == 0 and all(x - {item} in safe for item in x)}


def is_coherent(rows: Collection[Row], sensitive: Collection[str], h: Fraction, k: int, p: int | None) -> bool:
    """(h,k,p)-coherence, with the empty set taken seriously."""
    return not empty_set_breaks(rows, sensitive, h, k) and not moles(rows, sensitive, h, k, p)


def is_maximal_cohesion(
    rows: Collection[Row],
    suppressed: Collection[str],
    sensitive: Collection[str],
    h: Fraction,
    k: int,
    p: int | None,
) -> bool:
    """Whether no suppressed item could return by itself without bringing a mole. *rows* are the original ones."""
    gone = frozenset(suppressed)
    return not any(is_coherent([row - (gone - {item}) for row in rows], sensitive, h, k, p) for item in gone)


def broken_in_original(
    before: Collection[Row],
    after: Collection[Row],
    sensitive: Collection[str],
    h: Fraction,
    p: int | None,
) -> int:
    """How many public itemsets that occur in *after* give away more than h in *before*."""
    return sum(_confidence(before, x, sensitive) > h for x in occurring(after, sensitive, p))


def rules_broken_in_original(
    before: Collection[Row], after: Collection[Row], sensitive: Collection[str], rho: Fraction
) -> int:
    """How many sensitive rules that occur in *after* have a confidence of rho or more in *before*."""
    return sum(
        Fraction(support(before, known | {s}), support(before, known)) >= rho
        for known, s in sensitive_rules(after, sensitive)
    )


def may_return(
    before: Sequence[Row], after: Sequence[Row], item: str, keeps: Callable[[Sequence[Row]], bool]
) -> frozenset[int]:
    """The first set of rows, the largest first, that may have *item* back while all else stays; empty: there is none.

    *before* are the original rows, *after* those of a release, in the same order; *keeps*: the promise.
    """
    waiting = [row for row in range(len(before)) if item in before[row] - after[row]]
    for size in range(len(waiting), 0, -1):
        for chosen in combinations(waiting, size):
            if keeps([row | {item} if number in chosen else row for number, row in enumerate(after)]):
                return frozenset(chosen)
    return frozenset()


def sensitive_rules(rows: Collection[Row], sensitive: Collection[str]) -> dict[tuple[Row, str], tuple[int, int]]:
    """Sup(X + s) and Sup(X) of the rules X -> s that occur: a transaction holds s and all of X, which may be empty."""
    found: dict[tuple[Row, str], tuple[int, int]] = {}
    for row in set(rows):
        for s in row.intersection(sensitive):
            known = sorted(row - {s})
            for x in (frozenset(x) for size in range(len(known) + 1) for x in combinations(known, size)):
                if (x, s) not in found:
                    found[x, s] = (support(rows, x | {s}), support(rows, x))
    return found


def rho_violations(
    rows: Collection[Row], sensitive: Collection[str], rho: Fraction
) -> dict[tuple[Row, str], tuple[int, int]]:
    """The sensitive rules with a confidence of rho or more."""
    rules = sensitive_rules(rows, sensitive)
    return {rule: (together, held) for rule, (together, held) in rules.items() if Fraction(together, held) >= rho}


def is_rho_uncertain(rows: Collection[Row], sensitive: Collection[str], rho: Fraction) -> bool:
    """rho-uncertainty, with the empty set taken seriously."""
    return not rho_violations(rows, sensitive, rho)


def hidden_patterns_hold(rows: Collection[Row], patterns: Iterable[Iterable[str]], least: int) -> bool:
    """Whether fewer than *least* rows hold each pattern."""
    return all(support(rows, pattern) < least for pattern in patterns)


def hidden_rules_hold(
    rows: Collection[Row], rules: Iterable[tuple[Iterable[str], Iterable[str]]], least: int, min_confidence: Fraction
) -> bool:
    """Whether each rule X -> Y has Sup(X + Y) < least, or Sup(X + Y) / Sup(X) < min_confidence; *least* is above 0."""
    for antecedent, consequent in rules:
        known = frozenset(antecedent)
        both, held = support(rows, known.union(consequent)), support(rows, known)
        if both >= least and Fraction(both, held) >= min_confidence:
            return False
    return True


def largest_left(rows: Collection[Row], pattern: Iterable[str], least: int) -> dict[Row, int]:
    """The supports of the largest sub-patterns, of one item at least, that *least* rows or more hold."""
    items = tuple(pattern)
    parts = [frozenset(part) for size in range(1, len(items) + 1) for part in combinations(items, size)]
    found = {part: count for part in parts if (count := support(rows, part)) >= least}
    return {part: count for part, count in found.items() if not any(part < other for other in found)}


def sanitized(rows: Iterable[Row], order: Sequence[str], matrix: Mapping[tuple[int, int], int]) -> list[Row]:
    """D' = D S (Lee, Chang, Chen 2004, section 2.2.1); entries of S are by places in *order*, those not there are 0.

    >>> [sorted(row) for row in sanitized([frozenset("ab"), frozenset("a")], "ab", {(0, 0): 1, (1, 1): 1, (1, 0): -1})]
    [['b'], ['a']]
    """
    places = range(len(order))
    changed = []
    for row in rows:
        held = [int(item in row) for item in order]
        sums = [sum(held[k] * matrix.get((k, j), 0) for k in places) for j in places]
        changed.append(frozenset(order[j] for j in places if held[j] == 1 and sums[j] >= 1))
    return changed
