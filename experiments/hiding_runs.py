"""One run of the experiments on hiding patterns: make the data, choose patterns, hide them, measure what came of it.

A run is a `Setting`, its outcome a `Result`; both are a row of the CSV file.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import veilset as vs
from veilset import mining
from veilset.anonymize import METHODS
from veilset.api import certify
from veilset.limits import Limits
from veilset.models import HiddenPatterns
from veilset.utility import side_effects
from veilset.utility.hiding_metrics import hiding_measures

# As many transactions and items as the paper has. It says no more of its data: T10.I4 is what its generator is mostly
# used with, and with 500 patterns and 1% there are some 1,400 frequent itemsets of two items or more.
QUEST = {"transactions": 100_000, "average_length": 10, "pattern_length": 4, "items": 200, "patterns": 500}
MIN_SUPPORT = "1%"
HIDDEN, KEPT = 10, 20  # patterns
LARGEST = 4  # items of a pattern that is to stay
P_R = "0.35"
CERTIFIED = " certified"
TEXT = "HF, text"
# What the page calls a method, and how it is run.
METHOD = {
    "HF": ("hidden-first", {}),
    TEXT: ("hidden-first", {"spare_shared_pairs": True}),
    "NHF": ("non-hidden-first", {}),
    "HPCME": ("hpcme", {"p_r": P_R}),
}
Patterns = Sequence[tuple[str, ...]]


@dataclass(frozen=True)
class Setting:
    """What is run.

    Parameters
    ----------
    largest : int
        How many items a hidden pattern has at most; at least it has two.
    overlap : int
        The overlap rate that the patterns were chosen for, in percent.
    method : str
        One of `METHOD`; with " certified" behind it, if everything is to be hidden.
    seed : int
        Of the data, of the choice of patterns, and of what the method leaves to chance.
    """

    largest: int
    overlap: int
    method: str
    seed: int = 0


@dataclass(frozen=True)
class Result:
    """What came of it.

    Parameters
    ----------
    frequent : int
        Itemsets that patterns were chosen from.
    rate : float
        The overlap rate of the patterns that were chosen.
    hidden, kept : int
        How many patterns there were to hide, and to stay.
    accuracy, wrongness, new_patterns : float
        As `veilset.measure` has them.
    found : int
        Hidden patterns that are still found.
    spared, found_spared : int
        Hidden patterns of which every pair is in a pattern to stay, so that the matrix hits none; those of them that
        are still found.
    removed : float
        Item occurrences that are gone, as a share.
    way : str
        Which of the ways that a certified method tried made the release.
    seconds : float
        CPU time of the method.
    """

    frequent: int
    rate: float
    hidden: int
    kept: int
    accuracy: float
    wrongness: float
    new_patterns: float
    found: int
    spared: int
    found_spared: int
    removed: float
    way: str
    seconds: float


def run(setting: Setting) -> Result:
    """The outcome of one setting."""
    data, frequent = _data(setting.seed)
    hidden, kept = chosen(frequent, setting.largest, setting.overlap / 100, setting.seed)
    name, options = METHOD[setting.method.removesuffix(CERTIFIED)]
    certified = setting.method.endswith(CERTIFIED)
    promise = HiddenPatterns(hidden, MIN_SUPPORT)
    started = time.process_time()
    release = METHODS[HiddenPatterns][name](
        data,
        promise,
        keep_patterns=kept,
        certify=certified,
        random_state=setting.seed,
        limits=Limits(threads=1),
        **options,
    )
    seconds = time.process_time() - started
    assert not certified or certify(release).certified, setting
    found = hiding_measures(release, limits=Limits(threads=1))
    fates = {effect.items: effect.fate for effect in side_effects(release) if effect.kind == "hidden"}
    shared = {pair for pattern in kept for pair in combinations(pattern, 2)}
    spared = [pattern for pattern in fates if shared.issuperset(combinations(pattern, 2))]
    return Result(
        frequent=len(frequent),
        rate=found["overlap_rate"],
        hidden=len(hidden),
        kept=len(kept),
        accuracy=found["hiding_accuracy"],
        wrongness=found["hiding_wrongness"],
        new_patterns=found["new_patterns"],
        found=int(found["patterns_found"]),
        spared=len(spared),
        found_spared=sum(fates[pattern] == "found" for pattern in spared),
        removed=found["occurrences_removed"] / len(data.items),
        way=next((attempt.name for attempt in release.attempts if attempt.won), ""),
        seconds=seconds,
    )


@lru_cache(1)
def _data(seed: int) -> tuple[vs.Transactions, Patterns]:
    data = vs.generate.quest(**QUEST, random_state=seed)
    found = mining.frequent(data, MIN_SUPPORT, min_size=2, max_size=LARGEST)
    return data, sorted(items for items, _ in found)


def chosen(frequent: Patterns, largest: int, rate: float, seed: int) -> tuple[Patterns, Patterns]:
    """Patterns to hide and patterns to stay with about this overlap rate.

    The patterns to hide are the same for every rate: the first in random order, if their items are all in other
    patterns of these items too, so that a rate of 1 can be reached; else the order is drawn again. Patterns to stay are
    taken in the same order. They get as many different items as those to hide, so many in common that the rate is
    reached.
    """
    draw = random.Random(seed)  # noqa: S311 - no secret
    shuffled = list(frequent)
    while True:
        draw.shuffle(shuffled)
        hidden = [pattern for pattern in shuffled if len(pattern) <= largest][:HIDDEN]
        secret = {item for pattern in hidden for item in pattern}
        rest = [pattern for pattern in shuffled if not any(set(pattern).issuperset(other) for other in hidden)]
        if secret == {item for pattern in rest if secret.issuperset(pattern) for item in pattern}:
            break
    shared = round(2 * len(secret) * rate / (1 + rate))  # as |A & B| / |A | B| = rate where |A| = |B|
    kept: list[tuple[str, ...]] = []
    items: set[str] = set()
    for new in (True, False):  # first patterns that bring items, then others with the same items
        for pattern in rest:
            more = items.union(pattern)
            fits = len(more & secret) <= shared and len(more - secret) <= len(secret) - shared
            if fits and (len(more) > len(items)) == new and pattern not in kept and len(kept) < KEPT:
                kept.append(pattern)
                items = more
    return hidden, kept
