"""Levels: the secret share of min_support (for a rule, of min_confidence too) below which each hidden pattern ends.

Patterns that all sat just below the same threshold would point at themselves, and so would patterns far below what
their items lead one to expect: a pair that ends at a quarter of what independent items would have has the lowest lift
of all. So a level is drawn from a range that reaches from 1 down to what independence would give, and no further down
than one half. If even 1 is less than that, the range is narrow, at its top: lower levels would only show more.

How low a pair may end also depends on all other pairs, and on what goes for other patterns. So whoever hides patterns
looks at the result, and draws again for pairs that stand out there, from the part of the range in which they would not.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from fractions import Fraction

from veilset.anonymize.hiding.counts import Counts
from veilset.anonymize.hiding.keep_patterns import itemsets_of
from veilset.mining import Standing
from veilset.models import HiddenPatterns, HiddenRules

_DRAWS = 2**16  # different levels that a pattern may get
_WIDEST, _NARROWEST = Fraction(1, 2), Fraction(1, 16)  # of the ranges below 1


def levels_for(promise: HiddenPatterns | HiddenRules, margins: Sequence[Fraction], seed: int) -> tuple[Fraction, ...]:
    """A level for each pattern or rule, in the promise's order; *margins* are the widths of the ranges below 1."""
    listed: Sequence[object] = promise.rules if isinstance(promise, HiddenRules) else promise.patterns
    return tuple(_level(seed, one, width) for one, width in zip(listed, margins, strict=True))


def margins_for(counts: Counts, promise: HiddenPatterns | HiddenRules) -> list[Fraction]:
    """The widths that reach down to what independence would give."""
    least = promise.least_support(len(counts.held))
    return [
        min(_WIDEST, max(_NARROWEST, 1 - expected / least))
        for expected in independent_supports(counts, promise.itemsets)
    ]


def narrowed(margins: Sequence[Fraction], found: Sequence[Standing | None], least: int) -> list[Fraction]:
    """These widths, less wide for patterns that were *found* to stand out and would not at another level.

    >>> widths = [Fraction(1, 2)] * 4
    >>> found = [Standing(1, 7, 800, clear_from=90), Standing(1, 7, 800, clear_from=100), Standing(99, 99, 800), None]
    >>> [str(width) for width in narrowed(widths, found, 100)]
    ['1/10', '1/2', '1/2', '1/2']
    """
    return [
        width
        if one is None or one.clear_from is None or one.clear_from >= least
        else min(width, 1 - Fraction(one.clear_from, least))
        for width, one in zip(margins, found, strict=True)
    ]


def independent_supports(counts: Counts, itemsets: Sequence[tuple[str, ...]]) -> list[Fraction]:
    """What each itemset would have if one of its items were independent of the others: the most that this can be.

    >>> from veilset.anonymize.hiding.counts import InMemory
    >>> from veilset.limits import Limits
    >>> from veilset.transactions import Transactions
    >>> data = Transactions.from_lists([["ale", "bun"], ["ale", "bun"], ["ale", "fig"], ["fig"]])
    >>> [str(one) for one in independent_supports(InMemory(data, Limits()), [("ale", "bun"), ("ale", "fig"), ("ale",)])]
    ['3/2', '3/2', '0']
    """
    names = counts.names
    support = dict(zip(names.names, counts.items.tolist(), strict=True))
    parts = [itemset[:at] + itemset[at + 1 :] for itemset in itemsets for at in range(len(itemset))]
    in_order = list(map(names.in_order, parts))
    held = iter(counts.of(itemsets_of(names, in_order)).tolist())
    expected = []
    for itemset in itemsets:
        together = [support[item] * next(held) for item in itemset]
        expected.append(Fraction(max(together), len(counts.held)) if len(itemset) > 1 else Fraction(0))
    return expected


def _level(seed: int, listed: object, margin: Fraction) -> Fraction:
    """A share above 1 - margin and up to 1, drawn by a stream that nobody without the seed can follow."""
    text = json.dumps([seed, listed])
    drawn = int.from_bytes(hashlib.shake_256(b"veilset hiding level\0" + text.encode()).digest(8))
    return 1 - margin * Fraction(drawn % _DRAWS, _DRAWS)
