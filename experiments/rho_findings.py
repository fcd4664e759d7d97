"""What the paper found, figure by figure, and whether our rows agree: counted, never judged by eye."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean
from typing import Any

from charts import Value
from finding import Finding
from rho_runs import Result, Setting

Measure = Callable[[Result], float | None]


def loss(result: Result) -> float | None:
    """The average loss."""
    return result.loss


def seconds(result: Result) -> float | None:
    """CPU time of the method."""
    return result.seconds


class Rows:
    """All results, by setting; the selections of one setting belong together."""

    def __init__(self, results: dict[Setting, Result]) -> None:
        self._rows: dict[Setting, dict[int, Result]] = defaultdict(dict)
        for setting, result in results.items():
            self._rows[replace(setting, seed=0)][setting.seed] = result

    def at(self, setting: Setting) -> dict[int, Result]:
        """The results of all selections, by their number."""
        return self._rows.get(replace(setting, seed=0), {})

    def value(self, setting: Setting, measure: Measure) -> Value | None:
        """The mean over all selections; None if there are none, or if any of them did not come to an end."""
        values = [measure(result) for result in self.at(setting).values()]
        return Value.of(values) if values and None not in values else None

    def by_selection(self, one: Setting, other: Setting, measure: Measure = loss) -> list[tuple[float, float]]:
        """Both values for every selection that has both."""
        found = [
            (measure(self.at(one)[seed]), measure(self.at(other)[seed]))
            for seed in sorted(self.at(one).keys() & self.at(other).keys())
        ]
        return [both for both in found if None not in both]


@dataclass(frozen=True)
class Axis:
    """What a chart has across: one parameter of a setting, with its values."""

    letter: str
    points: Sequence[Any]
    default: Setting

    def at(self, point: object, method: str) -> Setting:
        """The setting of one point."""
        return replace(self.default, method=method, **{self.letter: point})

    def line(self, rows: Rows, method: str, measure: Measure) -> dict[Any, Value]:
        """The points that were run to the end."""
        found = {point: rows.value(self.at(point, method), measure) for point in self.points}
        return {point: value for point, value in found.items() if value is not None}


def less(rows: Rows, says: str, axes: Sequence[Axis], one: str, other: str, measure: Measure = loss) -> Finding:
    """*one* has less than *other*: for every selection at every point."""
    both = [
        pair
        for axis in axes
        for point in axis.points
        for pair in rows.by_selection(axis.at(point, one), axis.at(point, other), measure)
    ]
    by = ""
    if both and measure is loss:
        by = f" (by {100 * fmean(b - a for a, b in both):.2f} percentage points on average)"
    return Finding(says, sum(a < b for a, b in both), len(both), f"runs{by}")


def moves(rows: Rows, says: str, axis: Axis, method: str, measure: Measure, *, up: bool = True) -> Finding:
    """The mean grows (or shrinks) from each point to the next."""
    means = [value.mean for value in axis.line(rows, method, measure).values()]
    steps = [(b > a) if up else (b < a) for a, b in pairwise(means)]
    ends = "" if not means else f" (from {_shown(means[0], measure)} to {_shown(means[-1], measure)})"
    return Finding(says, sum(steps), len(steps), f"steps{ends}")


def _shown(value: float, measure: Measure) -> str:
    return f"{100 * value:.1f}%" if measure is loss else f"{value:.1f} s"


def findings(rows: Rows, axes: dict[str, list[Axis]]) -> dict[str, list[Finding]]:
    """For each figure what the paper says about it."""
    return {number: list(of(rows, axes[number])) for number, of in _FIGURES.items()}


def _data_sets(rows: Rows, axes: list[Axis]) -> Iterator[Finding]:
    for axis, which in zip(axes, ("of up to 5 items", "of any length"), strict=True):
        for name in axis.points:
            alone = [replace(axis, points=(name,))]
            yield less(
                rows, f"TDControl loses less than Simple: {name}, transactions {which}.", alone, "TDControl", "Simple"
            )
    yield less(rows, "SuppressControl loses more than Simple.", axes, "Simple", "SuppressControl")
    yield less(rows, "SuppressControl takes longer than TDControl.", axes, "TDControl", "SuppressControl", seconds)
    gone = [
        result.sensitive_gone
        for axis in axes[:1]
        for result in rows.at(axis.at("WebView-1", "SuppressControl")).values()
        if result.sensitive_gone is not None
    ]
    says = "SuppressControl suppresses almost all sensitive items (90% on WebView-1)."
    yield Finding(says, sum(share >= 0.8 for share in gone), len(gone), "runs lose at least 80% of them")
    yield less(rows, "*Ours, not the paper's:* top-down loses less than TDControl.", axes, "top-down", "TDControl")
    yield less(rows, "*Ours, not the paper's:* top-down loses less than Simple.", axes, "top-down", "Simple")


def _prefixes(rows: Rows, axes: list[Axis]) -> Iterator[Finding]:
    (axis,) = axes
    yield less(rows, "TDControl loses less than Simple, up to the longest transactions.", axes, "TDControl", "Simple")
    for method in ("TDControl", "SuppressControl"):
        yield moves(rows, f"The loss of {method} grows with the prefix.", axis, method, loss)
    for method in ("TDControl", "SuppressControl", "Simple"):
        yield moves(rows, f"The time of {method} grows with the prefix.", axis, method, seconds)
    ended = [
        result.note == "" for point in axis.points for result in rows.at(axis.at(point, "SuppressControl")).values()
    ]
    says = "SuppressControl runs out of memory (in the paper: beyond 400,000 transactions)."
    yield Finding(says, ended.count(False), len(ended), "runs stop at a limit of 2 GB or ten minutes")


def _rho(rows: Rows, axes: list[Axis]) -> Iterator[Finding]:
    (axis,) = axes
    for method in ("TDControl", "SuppressControl"):
        yield moves(rows, f"The loss of {method} shrinks as ρ grows.", axis, method, loss, up=False)
    for method in ("TDControl", "SuppressControl"):
        yield moves(rows, f"The time of {method} grows with ρ.", axis, method, seconds)
    yield less(rows, "TDControl loses less than Simple.", axes, "TDControl", "Simple")
    yield less(rows, "TDControl takes less time than SuppressControl.", axes, "TDControl", "SuppressControl", seconds)


def _fan_out(rows: Rows, axes: list[Axis]) -> Iterator[Finding]:
    (axis,) = axes
    yield moves(rows, "A smaller fan-out tends to lose less (TDControl).", axis, "TDControl", loss)
    yield moves(rows, "TDControl tends to be faster with a larger fan-out.", axis, "TDControl", seconds, up=False)


def _growth(rows: Rows, axes: list[Axis], what: str) -> Iterator[Finding]:
    (axis,) = axes
    for method in ("TDControl", "SuppressControl"):
        yield moves(rows, f"The loss of {method} grows with {what}.", axis, method, loss)
    for method in ("TDControl", "SuppressControl"):
        yield moves(rows, f"The time of {method} grows with {what}.", axis, method, seconds)
    yield less(rows, "TDControl loses less than Simple.", axes, "TDControl", "Simple")
    yield less(rows, "TDControl loses less than SuppressControl.", axes, "TDControl", "SuppressControl")


def _noise(rows: Rows, axes: list[Axis]) -> Iterator[Finding]:
    prefixes, rho = axes
    yield less(
        rows, "TDControl loses less than select-a-size on all prefixes.", [prefixes], "TDControl", "select-a-size"
    )
    for method in ("TDControl", "select-a-size"):
        yield moves(rows, f"The loss of {method} shrinks as ρ grows.", rho, method, loss, up=False)
    few = replace(rho, points=[point for point in rho.points if point <= 50])
    says = "TDControl loses less than select-a-size at ρ that matter in practice (here: up to 50%)."
    yield less(rows, says, [few], "TDControl", "select-a-size")
    says = "*Ours, not the paper's:* top-down loses less than select-a-size, at any ρ."
    yield less(rows, says, [rho], "top-down", "select-a-size")


_FIGURES: dict[str, Callable[[Rows, list[Axis]], Iterator[Finding]]] = {
    "5": _data_sets,
    "6": _prefixes,
    "7": _rho,
    "8": _fan_out,
    "9": lambda rows, axes: _growth(rows, axes, "the share of sensitive items"),
    "10": lambda rows, axes: _growth(rows, axes, "the number of items"),
    "11": _noise,
}
