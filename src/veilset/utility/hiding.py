"""What became of each pattern that was to be hidden, and of each that was to stay (Lee, Chang, Chen 2004 §2.1).

The paper names three errors of a sanitized database: sensitive patterns that are still found, other patterns that no
longer are, and patterns that were not there before. The first two are told here pattern by pattern. There are none of
the third kind, as occurrences are taken out and never put in (`veilset.utility.hiding_metrics` checks it).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from veilset.errors import InvalidArgument
from veilset.limits import Limits
from veilset.mining import Itemsets, standings, supports
from veilset.models import HiddenPatterns, HiddenRules
from veilset.release import Release
from veilset.transactions import Transactions
from veilset.utility.utilities import SideEffect


def side_effects(release: Release, *, limits: Limits | None = None) -> tuple[SideEffect, ...]:
    """What became of each pattern: the hidden ones in the promise's order, then those to keep.

    A pattern to keep is lost if it reaches min_support in the original, but not in the release. Those that do not reach
    it in the original are left out.

    Parameters
    ----------
    release : Release
        For `HiddenPatterns` or `HiddenRules`.
    limits : Limits, optional
        `BudgetExceeded` is raised beyond them.

    Examples
    --------
    >>> from veilset import HiddenPatterns
    >>> data = Transactions.from_lists([["milk", "tea"], ["milk", "tea"], ["milk", "tea", "rum"], ["rum"]])
    >>> kept = np.array([True, False, True, True, True, True, False, True])
    >>> promise = HiddenPatterns([["milk", "tea"]], min_support=2)
    >>> release = Release(data, data.thinned(kept), promise, "by hand", {}, (), kept=kept)
    >>> release.custodian_data.to_lists()
    [['milk'], ['milk', 'tea'], ['milk', 'rum'], ['rum']]
    >>> for effect in side_effects(release):
    ...     print(*effect.items, effect.fate, effect.before, effect.after)
    milk tea hidden 3 1
    """
    limits = limits or Limits()
    promise = hidden_promise(release)
    keep = () if release.sanitization is None else release.sanitization.keep_patterns
    levels = () if release.sanitization is None else release.sanitization.levels
    hidden = promise.itemsets
    rules = promise.rules if isinstance(promise, HiddenRules) else (None,) * len(hidden)
    patterns = _coded(release.original, (*hidden, *keep))
    before = supports(release.original, patterns, **limits.bounds()).tolist()
    after = supports(release.custodian_data, patterns, **limits.bounds()).tolist()
    found = _found(release, promise, after[: len(hidden)], limits)
    least, still = (promise.least_support(len(data)) for data in (release.original, release.custodian_data))
    standing = standings(release.custodian_data, hidden, limits)
    told = [
        SideEffect(
            items,
            "hidden",
            "found" if found[at] else "hidden",
            before[at],
            after[at],
            levels[at] if levels else None,
            rules[at],
            standing[at],
        )
        for at, items in enumerate(hidden)
    ]
    for at, items in enumerate(keep, start=len(hidden)):
        if before[at] >= least:
            fate: Literal["kept", "lost"] = "kept" if after[at] >= still else "lost"
            told.append(SideEffect(items, "keep", fate, before[at], after[at], None, None))
    return tuple(told)


def hidden_promise(release: Release) -> HiddenPatterns | HiddenRules:
    """The promise of a release in which patterns or rules are hidden; of any other there is nothing to tell."""
    if not isinstance(release.promise, (HiddenPatterns, HiddenRules)):
        raise InvalidArgument(
            f"The release is for {type(release.promise).__name__}, which hides no patterns.",
            "Use a release for HiddenPatterns or HiddenRules.",
        )
    return release.promise


def _found(
    release: Release, promise: HiddenPatterns | HiddenRules, together: Sequence[int], limits: Limits
) -> list[bool]:
    """Whether each hidden pattern or rule is still found in the release, as the promise says it."""
    least = promise.least_support(len(release.custodian_data))
    if isinstance(promise, HiddenPatterns):
        return [both >= least for both in together]
    left = _coded(release.original, [antecedent for antecedent, _ in promise.rules])
    held = supports(release.custodian_data, left, **limits.bounds()).tolist()
    sure = promise.min_confidence
    return [
        both >= least and both * sure.denominator >= alone * sure.numerator
        for both, alone in zip(together, held, strict=True)
    ]


def _coded(data: Transactions, patterns: Sequence[tuple[str, ...]]) -> Itemsets:
    """The patterns as `supports` takes them, also where a release has lost some of their items."""
    offsets = np.cumsum([0, *map(len, patterns)], dtype=np.int64)
    codes = data.codes(item for pattern in patterns for item in pattern).astype(np.int32)
    unknown: npt.NDArray[np.int64] = np.zeros(len(patterns), dtype=np.int64)
    return Itemsets(data.names, offsets, codes, unknown)
