"""What the paper on hiding patterns found, figure by figure, and whether our rows agree: counted, not judged by eye."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from statistics import fmean

from charts import Value
from finding import Finding
from hiding_runs import CERTIFIED, METHOD, TEXT, Result, Setting

Measure = Callable[[Result], float]
PAPER = tuple(method for method in METHOD if method != TEXT)


def accuracy(result: Result) -> float:
    """The share of hidden patterns that are hidden successfully."""
    return result.accuracy


def wrongness(result: Result) -> float:
    """The share of patterns to stay that are lost."""
    return result.wrongness


def new_patterns(result: Result) -> float:
    """Patterns that were not there before, as a share."""
    return result.new_patterns


def found(result: Result) -> float:
    """The share of hidden patterns that are still found."""
    return result.found / result.hidden


def removed(result: Result) -> float:
    """Item occurrences that are gone, in a thousand."""
    return 1000 * result.removed


class Rows:
    """All results, by setting."""

    def __init__(self, results: dict[Setting, Result]) -> None:
        self.results = results
        self.sizes, self.rates, self.seeds = (
            sorted({getattr(setting, name) for setting in results}) for name in ("largest", "overlap", "seed")
        )

    def of(self, method: str, largest: int, rate: int | None = None) -> list[Result]:
        """The results of a method at a rate, or at all, of all seeds; in the same order for every method."""
        rates = self.rates if rate is None else [rate]
        return [self.results[Setting(largest, rate, method, seed)] for rate in rates for seed in self.seeds]

    def value(self, method: str, largest: int, rate: int, measure: Measure) -> Value:
        """The mean over all seeds."""
        return Value.of([measure(result) for result in self.of(method, largest, rate)])

    def overall(self, method: str, largest: int, measure: Measure) -> Value:
        """The mean over all rates, with the interval that the seeds give."""
        runs = {seed: self.of(method, largest)[place :: len(self.seeds)] for place, seed in enumerate(self.seeds)}
        return Value.of([fmean(map(measure, results)) for results in runs.values()])


def less(rows: Rows, says: str, one: str, other: str, measure: Measure, largest: int) -> Finding:
    """*one* has less than *other*: for every seed at every rate but 0, where no item is shared and nothing lost."""
    pairs = [
        (measure(a), measure(b))
        for rate in rows.rates
        if rate
        for a, b in zip(rows.of(one, largest, rate), rows.of(other, largest, rate), strict=True)
    ]
    equal = sum(a == b for a, b in pairs)
    by = f"; {equal} are equal" if equal else ""
    if measure is not removed:
        by += f" (by {100 * fmean(b - a for a, b in pairs):.1f} percentage points on average)"
    return Finding(says, sum(a < b for a, b in pairs), len(pairs), f"runs with a rate above 0{by}")


def moves(rows: Rows, says: str, method: str, measure: Measure, largest: int, *, up: bool) -> Finding:
    """The mean grows (or shrinks) from each rate to the next."""
    means = [rows.value(method, largest, rate, measure).mean for rate in rows.rates]
    steps = [(b > a) if up else (b < a) for a, b in pairwise(means)]
    return Finding(says, sum(steps), len(steps), f"steps (from {100 * means[0]:.1f}% to {100 * means[-1]:.1f}%)")


def _hides_all(rows: Rows, says: str, method: str, largest: int) -> Finding:
    runs = [accuracy(result) for result in rows.of(method, largest)]
    return Finding(says, runs.count(1), len(runs), f"runs hide all of them ({100 * fmean(runs):.1f}% on average)")


def figure_6(rows: Rows, largest: int) -> Iterator[Finding | str]:
    """Accuracy."""
    for method in ("HF", "HPCME"):
        yield _hides_all(rows, f"{method} hides nearly all sensitive patterns at any overlap rate.", method, largest)
    low = [rate for rate in rows.rates if rate <= 20]
    alike = [
        accuracy(a) == accuracy(b)
        for rate in low
        for a, b in zip(rows.of("NHF", largest, rate), rows.of("HF", largest, rate), strict=True)
    ]
    yield Finding("At low rates (here: up to 0.2) NHF hides as much as HF.", sum(alike), len(alike), "runs")
    yield moves(rows, "The accuracy of NHF falls as the rate grows.", "NHF", accuracy, largest, up=False)
    says = f"*Ours, not the paper's:* HF also hides them by the rule of its text (`{TEXT}`)."
    yield _hides_all(rows, says, TEXT, largest)
    yield _why_not(rows, largest)


def _why_not(rows: Rows, largest: int) -> str:
    """Where HPCME leaves patterns, whether the matrix or chance did it."""
    runs = rows.of("HPCME", largest)
    left, spared = (sum(getattr(result, name) for result in runs) for name in ("found", "found_spared"))
    total = sum(result.hidden for result in runs)
    parts = total - left - round(sum(result.accuracy * result.hidden for result in runs))
    return (
        "- *Why:* NHF lets a victim stay wherever the 1s of patterns to stay outweigh its -1s, and one shared item is "
        "enough for that; HPCME takes out of these what chance does not restore. "
        f"Of {total:,} hidden patterns in all runs of HPCME, {left:,} are still found. Of these, {spared:,} "
        "have only pairs that are in patterns to stay, too: such a pair gets no -1, so that, whatever p_r is, nothing "
        f"aims at the pattern. The other {left - spared:,} are hit, and what chance restores still reaches "
        f"min_support. Of {parts:,} more only a part is found."
    )


def figure_7(rows: Rows, largest: int) -> Iterator[Finding | str]:
    """Wrongness."""
    for one, other in (("NHF", "HF"), ("NHF", "HPCME"), ("HPCME", "HF")):
        yield less(rows, f"{one} loses fewer patterns than {other}.", one, other, wrongness, largest)
    says = "*Ours, not the paper's:* HF loses more as the rate grows."
    yield moves(rows, says, "HF", wrongness, largest, up=True)
    yield (
        "- *Why some runs are equal:* HPCME leaves a share of what NHF leaves. Where it is too small to bring a "
        "pattern back to min_support, the pattern is lost as with HF; where a pattern has support to spare, none of "
        "them loses it."
    )


def figure_8(rows: Rows, largest: int) -> Iterator[Finding | str]:
    """New patterns; certified releases, too."""
    runs = [new_patterns(result) for setting, result in rows.results.items() if setting.largest == largest]
    yield Finding("No method makes new patterns.", runs.count(0), len(runs), "runs")


def certification(rows: Rows, largest: int) -> Iterator[Finding | str]:
    """What it gives, and what it costs."""
    sure = [result for method in PAPER for result in rows.of(method + CERTIFIED, largest)]
    says = "A certified release leaves none of the listed patterns."
    yield Finding(says, sum(result.found == 0 for result in sure), len(sure), "runs")
    for method in PAPER:
        says = f"Certified, {method} takes out fewer occurrences."
        yield less(rows, says, method + CERTIFIED, method, removed, largest)
    for method in PAPER:
        says = f"Certified, {method} loses fewer patterns that are to stay."
        yield less(rows, says, method + CERTIFIED, method, wrongness, largest)
    left = rows.overall("NHF", largest, found).mean
    yield (
        f"- *Why NHF alone may lose fewer:* it leaves {100 * left:.1f}% of the hidden patterns to be found, and "
        "a certified release has to hide these, too."
    )
