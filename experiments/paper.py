"""What the experiments on the papers have in common: a `Paper` is a grid of runs, what a run measures, and a page."""

from __future__ import annotations

import ctypes
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean
from typing import Any, ParamSpec, TypeVar

import pyarrow as pa
from charts import Panel, Value

from veilset.errors import BudgetExceeded

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Chart:
    """A picture of the page: panels side by side, and what their lines show."""

    name: str
    alt: str
    panels: Sequence[Panel]
    up: str
    shares: bool = False
    log: bool = False


@dataclass(frozen=True)
class Paper:
    """The experiments of one paper.

    Parameters
    ----------
    setting, result : type
        Flat dataclasses: what is run, one field being the seed, and what came of it. Both are a row of the CSV file.
    files : iterable of str
        The data sets that are read, in the folder of data sets.
    settings : callable
        Gives the grid of runs, in the order of the CSV file.
    is_quick : callable
        Whether a run of the first seed is one of the few of ``--quick``.
    run : callable
        Gives the result of a setting, with the folder of data sets.
    page : callable
        Gives the parts of the page, from nothing but the results.
    """

    setting: type
    result: type
    files: Iterable[str]
    settings: Callable[[], Iterable[Any]]
    is_quick: Callable[[Any], bool]
    run: Callable[[Any, Path], Any]
    page: Callable[[dict[Any, Any]], Iterator[str | Chart]]


class Rows:
    """All results. A point is a setting with any seed; a measure is the name of a field or property of a result.

    Parameters
    ----------
    results : dict
        By setting.
    **same
        Values that settings get which do not tell points apart.
    """

    def __init__(self, results: dict[Any, Any], **same: object) -> None:
        self.results = results
        self.seeds = sorted({setting.seed for setting in results})
        self._same = {"seed": 0, **same}
        self._points: dict[Any, dict[int, Any]] = defaultdict(dict)
        for setting, result in results.items():
            self._points[replace(setting, **self._same)][setting.seed] = result

    def where(self, **having: object) -> list[Any]:
        """The points that have these values, in the order of the runs."""
        return [at for at in self._points if all(getattr(at, name) == value for name, value in having.items())]

    def at(self, setting: Any) -> dict[int, Any]:
        """The results of a point, by seed."""
        return self._points.get(replace(setting, **self._same), {})

    def of(self, *settings: Any) -> list[Any]:
        """The results of some points, one point after the other."""
        return [result for setting in settings for result in self.at(setting).values()]

    def value(self, setting: Any, measure: str) -> Value | None:
        """The mean over all seeds; None if there are none, or if a run did not come to an end."""
        values = [getattr(result, measure) for result in self.of(setting)]
        return Value.of(values) if values and None not in values else None

    def mean(self, setting: Any, measure: str) -> float:
        """The same without its interval, where there must be one."""
        value = self.value(setting, measure)
        assert value is not None, (setting, measure)
        return value.mean

    def number(self, setting: Any, measure: str) -> str:
        """The mean with three digits; empty if there is none."""
        value = self.value(setting, measure)
        if value is None:
            return ""
        return f"{value.mean:,.0f}" if value.mean >= 100 else f"{value.mean:#.3g}"

    def between(self, setting: Any, measure: str) -> str:
        """The least and the greatest over all seeds."""
        values = [getattr(result, measure) for result in self.of(setting)]
        return " to ".join(f"{value:,}" for value in sorted({min(values), max(values)}))

    def means(self, setting: Any, letter: str, values: Iterable[object], measure: str) -> list[float]:
        """The means as one parameter takes these values."""
        return [self.mean(replace(setting, **{letter: value}), measure) for value in values]

    def line(self, setting: Any, letter: str, values: Iterable[Any], measure: str) -> dict[Any, Value]:
        """The same with intervals, where all runs came to an end."""
        found = {value: self.value(replace(setting, **{letter: value}), measure) for value in values}
        return {value: mean for value, mean in found.items() if mean is not None}

    def panel(
        self,
        across: str,
        letter: str,
        values: Iterable[Any],
        lines: Mapping[str, tuple[Any, str]],
        shown: Callable[[Any], str] = str,
    ) -> Panel:
        """A chart with those values of a parameter across that were run, and a line for each setting and measure."""
        run = [at for at in values if any(self.at(replace(setting, **{letter: at})) for setting, _ in lines.values())]
        drawn = {
            name: {shown(at): value for at, value in self.line(setting, letter, run, measure).items()}
            for name, (setting, measure) in lines.items()
        }
        return Panel(across, list(map(shown, run)), {name: line for name, line in drawn.items() if line})

    def pairs(self, one: Any, other: Any, measure: str) -> list[tuple[float, float]]:
        """The values of two points for every seed that has both."""
        results = [(result, self.at(other)[seed]) for seed, result in self.at(one).items() if seed in self.at(other)]
        both = [(getattr(a, measure), getattr(b, measure)) for a, b in results]
        return [pair for pair in both if None not in pair]


@dataclass(frozen=True)
class Finding:
    """What a paper says, for how many cases it is so here, and what was counted: never judged by eye."""

    says: str
    agree: int
    cases: int
    counted: str

    def __str__(self) -> str:
        if not self.cases:
            return f"- {self.says} *Not run.*"
        verdict = {self.cases: "Holds", 0: "Does not hold"}.get(self.agree, "Holds in part")
        return f"- {self.says} **{verdict}**: {self.agree} of {self.cases} {self.counted}."


def holds(says: str, cases: Iterable[bool], counted: str = "runs") -> Finding:
    """It is so in each of these cases."""
    found = list(cases)
    return Finding(says, sum(found), len(found), counted)


def less(
    says: str, pairs: Sequence[tuple[float, float]], counted: str = "runs", *, digits: int | None = None
) -> Finding:
    """The first is less than the second; *digits*: of the mean difference of shares."""
    by = ""
    if pairs and digits is not None:
        by = f" (by {100 * fmean(b - a for a, b in pairs):.{digits}f} percentage points on average)"
    return holds(says, (a < b for a, b in pairs), counted + by)


def steps(says: str, *lines: Sequence[float], up: bool = True, shown: Callable[[float], str] | None = None) -> Finding:
    """Each value of a line is more (or less) than the one before; *shown*: how the ends of the line are written."""
    ends = "" if shown is None or not lines[0] else f" (from {shown(lines[0][0])} to {shown(lines[0][-1])})"
    return holds(says, ((b > a) if up else (b < a) for line in lines for a, b in pairwise(line)), f"steps{ends}")


def listed(findings: Iterable[Finding | str]) -> str:
    """Findings as a list of the page."""
    return "\n".join(map(str, findings))


def table(head: Sequence[object], lines: Iterable[Sequence[object]]) -> str:
    """A table of the page."""
    rows = ["| " + " | ".join(map(str, cells)) + " |" for cells in (head, *lines)]
    return "\n".join([rows[0], "|---" * len(head) + "|", *rows[1:]])


def cpu(call: Callable[[], T]) -> tuple[T, float]:
    """The result, and the CPU time it took: other programs on the machine count less."""
    started = time.process_time()
    result = call()
    return result, time.process_time() - started


def in_child(function: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
    """The function's result in a fresh process, where its memory can be measured."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *arguments, **options).result()


def memory_growth() -> Callable[[], float]:
    """A function that tells by how many megabytes this process has grown from now on, at its peak."""
    pa.default_memory_pool().release_unused()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5", "utf-8")  # the peak starts again
    before = _status("VmRSS")
    return lambda: (_status("VmHWM") - before) / 1e6


def _status(field: str) -> int:
    """A number of bytes that the system keeps for this process."""
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field + ":"))


def limit_of(stop: BudgetExceeded) -> str:
    """Which limit ended a run."""
    return "memory" if "memory limit" in stop.what else "time"


def winner(release: Any) -> str:
    """Which of the ways that a method tried made the release; empty if it has but one."""
    return next((attempt.name for attempt in release.attempts if attempt.won), "")
