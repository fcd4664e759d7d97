"""How well patterns are hidden, and what it cost: the metrics of Lee, Chang and Chen (2004 §4.1).

Where the paper leaves a choice:

- **Accuracy** asks of a sensitive pattern that no sub-pattern of it is found that is part of no non-sensitive pattern.
  A single item is no sub-pattern here, unless it is the whole pattern: it relates nothing to anything. If it were one,
  a pattern whose items are in no non-sensitive pattern would hardly ever be hidden, as one of its items can always
  stay; the paper's Figure 6 has all of these hidden. Only the largest sub-patterns that are found have to be looked at:
  if one of their parts is part of no non-sensitive pattern, neither are they. Of a *rule* accuracy asks that it is not
  found; a part of it is no rule.
- **Wrongness** is about the non-sensitive patterns that are found in the original; others cannot get lost.
- **New patterns**: a transaction of the release holds no item that it did not hold in the original. So no support
  grows, and nothing is found that was not found before. The first is looked at, occurrence by occurrence, whenever
  the number is asked for; the zero follows from it.
"""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from veilset.errors import InvalidArgument
from veilset.limits import Limits
from veilset.mining import frequent
from veilset.models import HiddenPatterns, HiddenRules
from veilset.release import Release
from veilset.transactions import row_blocks
from veilset.utility.hiding import hidden_promise, side_effects
from veilset.utility.metric import Metric
from veilset.utility.utilities import Count, Utility

if TYPE_CHECKING:
    from veilset.utility.account import Account

_BLOCK = 1 << 20  # occurrences that are compared at once


def hiding_measures(account: Account, limits: Limits) -> dict[str, float]:
    """All of `HIDING_METRICS`, by name.

    Parameters
    ----------
    account : Account
        Of a release for `HiddenPatterns` or `HiddenRules`; nothing is said of what was to stay where it has no
        ``sanitization``.
    limits : Limits
        `BudgetExceeded` is raised beyond them.
    """
    release = account.release
    fates = [effect.fate for effect in account.side_effects(limits) or ()]
    kept, lost, found = (fates.count(fate) for fate in ("kept", "lost", "found"))
    return {
        "hiding_accuracy": _accuracy(release, found, limits),
        "hiding_wrongness": float(Fraction(lost, kept + lost)) if kept + lost else 0.0,
        "new_patterns": _new_patterns(release),
        "overlap_rate": _overlap_rate(release),
        "occurrences_removed": len(release.original.items) - len(release.custodian_data.items),
        "patterns_found": found,
    }


def _accuracy(release: Release, found: int, limits: Limits) -> float:
    promise = hidden_promise(release)
    if isinstance(promise, HiddenRules):
        return float(1 - Fraction(found, len(promise.rules)))
    spared = [frozenset(pattern) for pattern in _keep_patterns(release)]
    least = promise.least_support(len(release.custodian_data))
    shown = sum(_is_shown(release, pattern, spared, least, limits) for pattern in promise.patterns)
    return float(1 - Fraction(shown, len(promise.patterns)))


def _is_shown(
    release: Release, pattern: tuple[str, ...], spared: Collection[frozenset[str]], least: int, limits: Limits
) -> bool:
    """Whether the release shows a part of the pattern that belongs to nothing else."""
    there = set(pattern).intersection(release.custodian_data.names)
    whole_or_pair = min(2, len(pattern))
    largest = frequent(
        release.custodian_data, least, kind="maximal", min_size=whole_or_pair, items=there, **limits.bounds()
    )
    return any(not any(other.issuperset(part) for other in spared) for part, _ in largest)


def _new_patterns(release: Release) -> float:
    """0, after a look at every occurrence; an error if one was added."""
    original, data = release.original, release.custodian_data
    rows = np.setdiff1d(np.arange(len(original)), np.array(release.withheld, dtype=np.int64))
    if len(rows) != len(data):
        raise InvalidArgument(
            f"The release has {len(data):,} transactions, but {len(rows):,} of the original are not withheld.",
            "Use a release with the original's transactions.",
        )
    code, width = original.codes(data.names), len(original.names)
    for first, last in row_blocks(data.offsets, _BLOCK):
        before = original.take(rows[first:last])
        held = np.repeat(np.arange(last - first), before.lengths) * width + original.codes(before.names)[before.items]
        now = np.repeat(np.arange(first, last), data.lengths[first:last])
        items = code[data.items[data.offsets[first] : data.offsets[last]]]
        added = np.flatnonzero(np.isin((now - first) * width + items, held, assume_unique=True, invert=True))
        if len(added):
            raise InvalidArgument(
                f"Transaction {now[added[0]] + 1} of the release contains {original.names[items[added[0]]]!r}, which "
                "the "
                "original one does not.",
                "Hiding only removes items: check how this release was made.",
            )
    return 0.0


def _overlap_rate(release: Release) -> float:
    hidden = {item for pattern in hidden_promise(release).itemsets for item in pattern}
    spared = {item for pattern in _keep_patterns(release) for item in pattern}
    return float(Fraction(len(hidden & spared), len(hidden | spared)))


def _keep_patterns(release: Release) -> tuple[tuple[str, ...], ...]:
    return () if release.sanitization is None else release.sanitization.keep_patterns


HIDING_METRICS: tuple[Metric, ...] = (
    Metric(
        "hiding_accuracy",
        "share of the hidden patterns that cannot be found in any part of two or more items, except parts of "
        "patterns to keep; of hidden rules, share that cannot be found",
        1,
        "more",
        hides=True,
    ),
    Metric(
        "hiding_wrongness",
        "share of the patterns to keep that could be found in the original and cannot be found now",
        1,
        "less",
    ),
    Metric(
        "new_patterns",
        "patterns found now but not in the original, as a share of all that were; always 0, since no "
        "transaction gains an item",
        1,
        "less",
    ),
    Metric(
        "overlap_rate",
        "share of the items of all listed patterns that are in both hidden patterns and patterns to keep; the "
        "higher, the harder it is to hide one and keep the other",
        1,
        "neither",
    ),
    Metric("occurrences_removed", "item occurrences that were removed", None, "less"),
    Metric(
        "patterns_found",
        "hidden patterns or rules that can still be found: each breaks the promise",
        None,
        "less",
        hides=True,
    ),
)


def _patterns_alone(release: Release, promise: HiddenPatterns | HiddenRules) -> tuple[str, ...]:
    """The items that no transaction may hold; of any other pattern, and of every rule, each single item may stay."""
    if promise.least_support(len(release.original)) > 1:
        return ()
    return release.original.in_order(itemset[0] for itemset in promise.itemsets if len(itemset) == 1)


HIDING = Utility(
    unavoidable=_patterns_alone,
    metrics=HIDING_METRICS,
    counts=(Count(1 / 2, hiding_measures),),
    decisive=("patterns_found", "hiding_wrongness", "occurrences_removed", "items_lost", "top_rules_kept"),
    side_effects=lambda release, limits: side_effects(release, limits=limits),
)
