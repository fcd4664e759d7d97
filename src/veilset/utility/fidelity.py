"""What counts and confidences in a release are worth from which single occurrences are gone.

Supports there are lower bounds, and a confidence may be higher than in the original: a *false* rule reaches the
threshold in the release only. Pairs and rules are those that an analyst would find first.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from veilset.limits import Limits
from veilset.mining import frequent, rules, supports
from veilset.release import Release
from veilset.utility.rules import CONFIDENCE, SIZE


@dataclass(frozen=True)
class Fidelity:
    """How much of what is found in a thinned release is true, and how much of what is true is found.

    Parameters
    ----------
    least : int
        Number of transactions from which on pairs and rules count.
    pairs, pairs_kept : int
        Pairs of items that so many transactions of the original hold, and those of which this is so in the release.
    support_error : float
        How much lower their supports are in the release, on average, as a share of those in the original.
    rules, rules_lost : int
        Rules of at most three items with a confidence of at least 50% in the original, and those that are not rules in
        the release.
    rules_found, rules_false : int
        The rules of the release, and those whose confidence in the original is below 50%.
    """

    least: int
    pairs: int
    pairs_kept: int
    support_error: float
    rules: int
    rules_lost: int
    rules_found: int
    rules_false: int


def fidelity(release: Release, least: int, limits: Limits | None = None) -> Fidelity:
    """Compare pairs and rules of a release with those of the original under the names of the release.

    >>> from veilset import Coherence, Transactions, anonymize
    >>> rows = [["a", "b"], ["a", "b"], ["a", "b"], ["a", "c"], ["a", "c"], ["a", "c", "d"], ["c", "d"]]
    >>> data = Transactions.from_lists(rows)
    >>> found = fidelity(anonymize(data, Coherence(k=2, p=2), method="partial"), 2)
    >>> found.pairs, found.pairs_kept, found.rules, found.rules_lost, found.rules_false
    (3, 3, 6, 1, 0)
    """
    limits = limits or Limits()
    bounds = limits.bounds()
    original, released = release.original.renamed(release.generalized), release.custodian_data
    there = set(released.names)
    pairs = [items for items, _ in frequent(original, least, min_size=2, max_size=2, **bounds)]
    before = supports(original, pairs, **bounds).tolist()
    known = [pair for pair in pairs if there.issuperset(pair)]
    counted = dict(zip(known, supports(released, known, **bounds).tolist(), strict=True))
    after = [counted.get(pair, 0) for pair in pairs]
    lower = sum((Fraction(b - a, b) for a, b in zip(after, before, strict=True)), Fraction(0))
    true = {(rule.antecedent, rule.consequent) for rule in rules(original, least, CONFIDENCE, max_size=SIZE, **bounds)}
    found = {(rule.antecedent, rule.consequent) for rule in rules(released, least, CONFIDENCE, max_size=SIZE, **bounds)}
    return Fidelity(
        least=least,
        pairs=len(pairs),
        pairs_kept=sum(count >= least for count in after),
        support_error=float(lower / len(pairs)) if pairs else 0.0,
        rules=len(true),
        rules_lost=len(true - found),
        rules_found=len(found),
        rules_false=len(found - true),  # their support is at least as large in the original
    )
