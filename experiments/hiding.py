"""The paper on hiding patterns (Lee, Chang, Chen 2004 §4.2, Figures 6 to 8): runs, figures, and what they say."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, product
from pathlib import Path
from statistics import fmean

from charts import Value
from paper import Chart, Finding, Paper, Rows, cpu, holds, less, listed, steps, table, winner

import veilset as vs
from veilset import mining
from veilset.anonymize import find_method
from veilset.limits import Limits
from veilset.models import HiddenPatterns
from veilset.run import certify
from veilset.utility import Account, side_effects
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
PLAIN = tuple(method for method in METHOD if method != TEXT)
BESIDE = tuple(name for method in PLAIN for name in (method, method + CERTIFIED))
METHODS = (*METHOD, *(method + CERTIFIED for method in PLAIN))
SIZE = {2: "hidden patterns of 2 items", LARGEST: f"hidden patterns of 2 to {LARGEST} items"}
RATES = (0, 20, 40, 60, 80, 100)  # of overlap, in percent
SEEDS = 7
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

    @property
    def share_found(self) -> float:
        """The share of hidden patterns that are still found."""
        return self.found / self.hidden

    @property
    def removed_in_a_thousand(self) -> float:
        """Item occurrences that are gone, in a thousand."""
        return 1000 * self.removed


def settings() -> Iterator[Setting]:
    """Every method at every overlap rate."""
    for seed, largest, overlap, method in product(range(SEEDS), SIZE, RATES, METHODS):
        yield Setting(largest, overlap, method, seed)


def _is_quick(setting: Setting) -> bool:
    return setting.overlap in (0, 100)


def run(setting: Setting, _folder: Path) -> Result:
    """Make the data, choose patterns, hide them, measure what came of it."""
    data, frequent = _data(setting.seed)
    hidden, kept = chosen(frequent, setting.largest, setting.overlap / 100, setting.seed)
    name, options = METHOD[setting.method.removesuffix(CERTIFIED)]
    options = options | {"certify": setting.method.endswith(CERTIFIED), "random_state": setting.seed, "margin": "1/2"}
    promise, one = HiddenPatterns(hidden, MIN_SUPPORT), Limits(threads=1)
    release, seconds = cpu(lambda: find_method(promise, name)(data, promise, keep_patterns=kept, limits=one, **options))
    assert not options["certify"] or certify(release).certified, setting
    found = hiding_measures(Account(release), one)
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
        way=winner(release),
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


INTRODUCTION = f"""# Experiments: what hiding patterns costs

This page repeats Figures 6 to 8 of the paper that introduced the sanitization matrix (Lee, Chang, Chen 2004, §4.2) with
our methods, and adds the cost of certified hiding. `make experiments` generates it from [hiding.csv](hiding.csv),
{{runs:,}} runs, and checks the paper's findings by counting.

## Set-up

- **Data**: `vs.generate.quest(transactions={QUEST["transactions"]:_}, items={QUEST["items"]},
  average_length={QUEST["average_length"]}, pattern_length={QUEST["pattern_length"]}, patterns={QUEST["patterns"]})`,
  a new set for each seed. The paper states only 200 items and 100K transactions of the same generator; the other
  settings are ours. At `min_support="{MIN_SUPPORT}"` such a set has {{fewest:,}} to {{most:,}} frequent
  itemsets of 2 to {LARGEST} items.
- **Patterns**: the paper does not say how it chose them, or how it reached an overlap rate. We take the frequent
  itemsets of 2 to {LARGEST} items in random order, and hide the first {HIDDEN}; a second series hides only pairs. Up
  to {KEPT} others, none of which contains a hidden one, are patterns to keep. They have as many different items as
  the hidden ones, and share enough of them to reach the overlap rate. The hidden patterns are the same at every rate.
  (If an item of a hidden pattern is in no other itemset, the order is drawn again, because it could not reach a rate of
  1.) The measured rates differ from those on the axis by at most {{off:.3f}}.
- **Seeds**: {{seeds}}, each with its own data, patterns and random choices. Points are means, vertical lines are 95%
  intervals (Student's t). Every method gets the same data and patterns.
- **Methods**: `HF` (hidden-first), `NHF` (non-hidden-first) and `HPCME` with p_r = {P_R}, as in the paper, without
  certification: only the product with the matrix. In the paper's text, HF spares pairs shared with patterns to keep; in
  its Figure 4 it does not. `HF` follows the figure, `{TEXT}` the text. `… certified` is the same method with
  `certify=True`, the default, and `margin="1/2"`: one range of levels for all patterns, not the default. It also tries
  strategies without the product, and takes the one that loses the fewest patterns.
- **Accuracy, wrongness, new patterns** as in §4.1 of the paper (`veilset.measure`). A single item does not count as a
  discoverable part of a pattern: otherwise hardly any would be hidden at a rate of 0, where the paper hides all.
- **Checks**: the auditor certified every release called certified before its numbers were used."""

CERTIFICATION = """## What certification costs

The product with the matrix changes every transaction that contains a pair of a hidden pattern, even if it does not
contain the whole pattern. It then stops, even if the pattern is not hidden. A certified release continues until every
listed pattern is below a secret level between ½ and 1 × min_support, and undoes unnecessary removals: only transactions
that contain a whole hidden pattern are changed. So it removes much less. For patterns with more than two items its
**accuracy in the sense of the paper is lower**: pairs of a hidden pattern that belong to no other may be discoverable.
The promise covers the listed patterns only; to hide parts of them, list these too."""


def page(results: dict[Setting, Result]) -> Iterator[str | Chart]:
    """Figures 6 to 8, and plain and certified releases beside each other."""
    rows = Rows(results)
    off = max(abs(result.rate - setting.overlap / 100) for setting, result in results.items())
    sizes = [result.frequent for result in results.values()]
    yield INTRODUCTION.format(runs=len(results), seeds=len(rows.seeds), off=off, fewest=min(sizes), most=max(sizes))
    for number, title, measure, findings in (
        ("6", "accuracy", "accuracy", figure_6),
        ("7", "wrongness", "wrongness", figure_7),
        ("8", "new patterns", "new_patterns", figure_8),
    ):
        yield f"## Figure {number}: {title}"
        yield chart(rows, number, METHOD, measure, title)
        yield from _told(rows, "What the paper found", findings)
    yield CERTIFICATION
    yield chart(rows, "certified", BESIDE, "wrongness", "wrongness")
    removed = "occurrences removed, in a thousand"
    yield chart(rows, "certified-removed", BESIDE, "removed_in_a_thousand", removed, shares=False)
    for largest, size in SIZE.items():
        yield f"Over all rates, {size}:"
        yield certification_table(rows, largest)
    yield from _told(rows, "Findings", certification)


def chart(rows: Rows, name: str, methods: Sequence[str], measure: str, up: str, *, shares: bool = True) -> Chart:
    """A panel for each size of hidden patterns, with the overlap rate across."""
    panels = [
        rows.panel(
            f"overlap rate; {size}",
            "overlap",
            RATES,
            {method: (Setting(largest, 0, method), measure) for method in methods},
            lambda rate: f"{rate / 100:g}",
        )
        for largest, size in SIZE.items()
    ]
    return Chart(name, f"{up} against the overlap rate", panels, up, shares)


def certification_table(rows: Rows, largest: int) -> str:
    """Plain and certified releases beside each other, over all rates."""
    lines = []
    for method in BESIDE:
        shares = (overall(rows, method, largest, of).percent for of in ("share_found", "accuracy", "wrongness"))
        gone, runs = overall(rows, method, largest, "removed_in_a_thousand"), _runs(rows, method, largest)
        seconds = fmean(result.seconds for result in runs)
        ways = Counter(result.way for result in runs if result.way).most_common()
        came = "; ".join(f"{way} ({count})" for way, count in ways) or "the product"
        lines.append((method, *shares, f"{gone.mean:.1f} ± {gone.half:.1f}", f"{seconds:.2f}", came))
    head = ("method", "still found", "accuracy", "wrongness", "removed, in a thousand", "CPU s", "winning strategies")
    return table(head, lines)


def overall(rows: Rows, method: str, largest: int, measure: str) -> Value:
    """The mean over all rates, with the interval that the seeds give."""
    points = [rows.at(at) for at in rows.where(method=method, largest=largest)]
    return Value.of([fmean(getattr(point[seed], measure) for point in points) for seed in rows.seeds])


def _runs(rows: Rows, method: str, largest: int) -> list[Result]:
    return rows.of(*rows.where(method=method, largest=largest))


def _told(rows: Rows, title: str, findings: Callable[[Rows, int], Iterator[Finding | str]]) -> Iterator[str]:
    for largest, size in SIZE.items():
        yield f"{title}, {size}:\n\n{listed(findings(rows, largest))}"


def figure_6(rows: Rows, largest: int) -> Iterator[Finding | str]:
    """Accuracy."""
    for method in ("HF", "HPCME"):
        yield _hides_all(rows, f"{method} hides nearly all sensitive patterns at any overlap rate.", method, largest)
    alike = [
        pair
        for rate in RATES
        if rate <= 20
        for pair in rows.pairs(Setting(largest, rate, "NHF"), Setting(largest, rate, "HF"), "accuracy")
    ]
    yield holds("At low rates (here: up to 0.2) NHF hides as much as HF.", (a == b for a, b in alike))
    yield _moves(rows, "The accuracy of NHF falls as the rate grows.", "NHF", "accuracy", largest, up=False)
    says = f"*Ours, not the paper's:* HF also hides them by the rule of its text (`{TEXT}`)."
    yield _hides_all(rows, says, TEXT, largest)
    yield _why_not(rows, largest)


def _hides_all(rows: Rows, says: str, method: str, largest: int) -> Finding:
    runs = [result.accuracy for result in _runs(rows, method, largest)]
    return holds(says, (run == 1 for run in runs), f"runs hide all of them ({100 * fmean(runs):.1f}% on average)")


def _moves(rows: Rows, says: str, method: str, measure: str, largest: int, *, up: bool) -> Finding:
    """The mean grows (or shrinks) from each rate to the next."""
    means = [rows.mean(at, measure) for at in rows.where(method=method, largest=largest)]
    return steps(says, means, up=up, shown=lambda mean: f"{100 * mean:.1f}%")


def _why_not(rows: Rows, largest: int) -> str:
    """Where HPCME leaves patterns, whether the matrix or chance did it."""
    runs = _runs(rows, "HPCME", largest)
    left, spared = (sum(getattr(result, name) for result in runs) for name in ("found", "found_spared"))
    total = sum(result.hidden for result in runs)
    parts = total - left - round(sum(result.accuracy * result.hidden for result in runs))
    return (
        "- *Why:* NHF keeps a victim if the 1s of patterns to keep outweigh its -1s, and one shared item is enough for "
        "that. HPCME removes these victims except those that chance restores. "
        f"Of {total:,} hidden patterns in all runs of HPCME, {left:,} are still discoverable. In {spared:,} of these, "
        "every pair is also in a pattern to keep: such a pair gets no -1, and no p_r can hide the pattern. "
        f"The other {left - spared:,} lose occurrences, but with those that chance restores they still reach "
        f"min_support. Of {parts:,} more, only a part is discoverable."
    )


def figure_7(rows: Rows, largest: int) -> Iterator[Finding | str]:
    """Wrongness."""
    for one, other in (("NHF", "HF"), ("NHF", "HPCME"), ("HPCME", "HF")):
        yield _less(rows, f"{one} loses fewer patterns than {other}.", one, other, "wrongness", largest)
    says = "*Ours, not the paper's:* HF loses more as the rate grows."
    yield _moves(rows, says, "HF", "wrongness", largest, up=True)
    yield (
        "- *Why some runs are equal:* HPCME keeps a share of the victims that NHF keeps. If the share is too small to "
        "bring a pattern back to min_support, the pattern is lost as with HF. A pattern with support to spare is lost "
        "by none of them."
    )


def _less(rows: Rows, says: str, one: str, other: str, measure: str, largest: int) -> Finding:
    """*one* has less than *other*: for every seed at every rate but 0, where no item is shared and nothing lost."""
    pairs = [
        pair
        for rate in RATES
        if rate
        for pair in rows.pairs(Setting(largest, rate, one), Setting(largest, rate, other), measure)
    ]
    equal = sum(a == b for a, b in pairs)
    counted = "runs with a rate above 0" + (f"; {equal} are equal" if equal else "")
    return less(says, pairs, counted, digits=1 if measure == "wrongness" else None)


def figure_8(rows: Rows, largest: int) -> Iterator[Finding | str]:
    """New patterns; certified releases, too."""
    runs = rows.of(*rows.where(largest=largest))
    yield holds("No method makes new patterns.", (result.new_patterns == 0 for result in runs))


def certification(rows: Rows, largest: int) -> Iterator[Finding | str]:
    """What it gives, and what it costs."""
    sure = [result for method in PLAIN for result in _runs(rows, method + CERTIFIED, largest)]
    yield holds("A certified release hides all listed patterns.", (result.found == 0 for result in sure))
    for measure, what in (
        ("removed", "removes fewer occurrences"),
        ("wrongness", "loses fewer patterns to keep"),
    ):
        for method in PLAIN:
            yield _less(rows, f"Certified, {method} {what}.", method + CERTIFIED, method, measure, largest)
    left = overall(rows, "NHF", largest, "share_found").mean
    yield (
        f"- *Why NHF alone may lose fewer:* it leaves {100 * left:.1f}% of the hidden patterns discoverable; a "
        "certified release must hide these too."
    )


PAPER = Paper(Setting, Result, (), settings, _is_quick, run, page)
