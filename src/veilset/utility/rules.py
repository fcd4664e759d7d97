"""Top rules kept: how many of the strongest association rules of the original an analyst still finds in the release.

A rule X → y counts if at least k' transactions hold X and y (k' as for nuggets), these are at least half of those that
hold X, and it has at most three items: longer ones mostly repeat shorter ones. **The strongest have the highest lift**,
that is, X makes y most times as likely as it is anyway. Confidence would put rules first whose y nearly everybody
has, and these say nothing about X; the two floors keep out what lift alone overrates, rules that a handful of
transactions make. Ties: higher confidence, then higher support, then the order of the vocabulary. All exactly.

Where items are recoded, rules may be left under coarser names (`veilset.utility.generalized_rules`).
"""

from __future__ import annotations

import heapq
from fractions import Fraction

import numpy as np

from veilset.exact import Support
from veilset.limits import Limits
from veilset.mining import Rules, rules, supports
from veilset.release import Release
from veilset.transactions import Transactions
from veilset.utility.generalized_rules import kept_or_coarser
from veilset.utility.nuggets import nugget_support_of, own_names

_MOST = 100
CONFIDENCE = Fraction(1, 2)
SIZE = 3
_ROUNDING = 1e-9  # more than the error of a lift as a float


def rules_left(
    release: Release, *, nugget_support: Support | None = None, limits: Limits | None = None
) -> dict[str, float]:
    """The share of the (up to) 100 strongest rules of the original that are rules in the release.

    Once under the same names, and once under the same or coarser ones. Suppression changes neither support nor
    confidence of a rule that loses no item; where transactions are withheld or single occurrences are gone, it has to
    stay above the floors. 1 if the original has no rules.

    Parameters
    ----------
    release : Release
    nugget_support : int, float or str, optional
        k', see `veilset.utility.nuggets.nugget_support_of`.
    limits : Limits, optional
        `BudgetExceeded` is raised beyond them.

    Examples
    --------
    >>> from veilset import Coherence, anonymize
    >>> data = Transactions.from_lists([["a", "b"], ["a", "b"], ["a", "b", "c"], ["a", "c"], ["d"]])
    >>> release = anonymize(data, Coherence(k=2, p=2))
    >>> release.suppressed  # of a → b, b → a, c → a and a → c, only the first two are left; c → b is not frequent
    ('c', 'd')
    >>> rules_left(release)
    {'top_rules_kept': 0.5, 'top_rules_kept_or_coarser': 0.5}
    """
    limits = limits or Limits()
    least = nugget_support_of(release, nugget_support)
    strongest = strongest_rules(release.original, least, limits=limits)
    if not len(strongest):
        return {"top_rules_kept": 1.0, "top_rules_kept_or_coarser": 1.0}
    there = own_names(release)
    sides = [(rule.antecedent, (*rule.antecedent, rule.consequent)) for rule in strongest]
    named = [itemset for left, both in sides if there.issuperset(both) for itemset in (left, both)]
    found = supports(release.custodian_data, named, **limits.bounds()).reshape(-1, 2).tolist()
    kept = sum(both >= least and Fraction(both, left) >= CONFIDENCE for left, both in found)
    more = kept
    if release.generalized:
        more = kept_or_coarser(release, strongest, least=least, confidence=CONFIDENCE, limits=limits)
    return {"top_rules_kept": kept / len(strongest), "top_rules_kept_or_coarser": more / len(strongest)}


def strongest_rules(data: Transactions, least: int, *, limits: Limits) -> Rules:
    """The strongest rules, at most 100, the strongest first."""
    found = rules(data, least, CONFIDENCE, max_size=SIZE, **limits.bounds())
    if len(found) > _MOST:
        lifts = found.lifts  # as floats, to compare only those exactly that may be among the first
        found = found[lifts >= np.partition(lifts, -_MOST)[-_MOST] * (1 - _ROUNDING)]
    return found[np.array(heapq.nsmallest(_MOST, range(len(found)), key=_strength(found).__getitem__), dtype=np.int64)]


def _strength(found: Rules) -> list[tuple[Fraction, Fraction, int, tuple[int, ...], int]]:
    """For each rule what it is sorted by; lift without the number of transactions, which all have in common."""
    left = found.antecedents
    ends = left.offsets.tolist()
    codes = left.items.tolist()
    return [
        (
            -Fraction(together, held * alone),
            -Fraction(together, held),
            -together,
            tuple(codes[first:last]),
            consequent,
        )
        for together, held, alone, first, last, consequent in zip(
            found.supports.tolist(),
            left.supports.tolist(),
            found.item_supports[found.consequents].tolist(),
            ends[:-1],
            ends[1:],
            found.consequents.tolist(),
            strict=True,
        )
    ]
