"""What is asked of the rows of coherence.csv: shares, times, and their means over the selections."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace

from charts import Value
from coherence_runs import Result, Setting

Measure = Callable[[Result], float | None]


def loss(result: Result) -> float | None:
    """The share of occurrences of public items that are gone."""
    return None if result.lost is None else result.lost / result.occurrences


def later_loss(result: Result) -> float | None:
    """The same, of what pre-processing (Observation 2) leaves."""
    return None if result.lost is None else (result.lost - result.alone) / (result.occurrences - result.alone)


def bound(result: Result) -> float | None:
    """The share that every release loses."""
    return None if result.least is None else result.least / result.occurrences


def nugget_loss(result: Result) -> float | None:
    """The share of nuggets that are gone."""
    return None if result.nuggets is None else result.nuggets_lost / result.nuggets


def seconds(result: Result) -> float | None:
    """CPU time of the method."""
    return result.seconds


def moles(result: Result) -> float | None:
    """The number of minimal moles."""
    return result.moles


def mole_seconds(result: Result) -> float | None:
    """CPU time of the search for moles."""
    return result.mole_seconds


class Rows:
    """All results, by setting; the selections of one setting belong together."""

    def __init__(self, results: dict[Setting, Result]) -> None:
        self._rows: dict[Setting, list[Result]] = defaultdict(list)
        for setting, result in results.items():
            self._rows[replace(setting, seed=0, time_limit=0)].append(result)

    def at(self, setting: Setting) -> list[Result]:
        """The results of all selections."""
        return self._rows.get(replace(setting, seed=0, time_limit=0), [])

    def value(self, setting: Setting, measure: Measure) -> Value | None:
        """The mean over all selections; None if any of them did not come to an end."""
        values = [measure(result) for result in self.at(setting)]
        return Value.of(values) if values and None not in values else None

    def line(self, setting: Setting, letter: str, measure: Measure) -> dict[str, Value]:
        """A value for each point that was run, as one parameter leaves its setting."""
        points = {}
        for at in self.points(setting, letter):
            if (value := self.value(replace(setting, **{letter: at}), measure)) is not None:
                points[shown(letter, at)] = value
        return points

    def points(self, setting: Setting, letter: str) -> list[int | None]:
        """The values of one parameter for which this setting was run with some method, unlimited last."""
        free = {letter: getattr(setting, letter), "method": ""}
        found = {
            getattr(other, letter)
            for other in self._rows
            if replace(other, **free) == replace(setting, **free, time_limit=0)
        }
        return sorted(found, key=lambda value: float("inf") if value is None else value)


def shown(letter: str, value: int | None) -> str:
    """A value of a parameter, as a chart has it."""
    if value is None:
        return "∞"
    return f"{value}%" if letter in ("delta", "h") else str(value)


def rate(edges: int, itemsets: int) -> str:
    """Edges for each itemset, in percent."""
    if not itemsets:
        return "–"
    share = 100 * edges / itemsets
    return f"{share:.0f}%" if share >= 10 else f"{share:.2g}%"
