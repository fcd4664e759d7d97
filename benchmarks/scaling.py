"""How time and memory of mining grow from ten thousand to ten million generated transactions.

Writes benchmarks/SCALING.md and benchmarks/scaling.svg. ``make scaling`` runs this; it takes about ten minutes.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby, product
from pathlib import Path

import altair as alt
import numpy as np
import vl_convert
from measuring import best_in_turns, forget_peak, in_child, machine, peak_memory, shown, timed

import veilset as vs
from veilset.mining import count_frequent, frequent, minimal_rare

HERE = Path(__file__).parent
SIZES = (10**4, 10**5, 10**6, 10**7)
SHARE = "0.2%"
MOST_MEMORY = 8e9

GENERATORS: dict[str, Callable[[int], vs.Transactions]] = {
    "Quest": lambda n: vs.generate.quest(transactions=n, average_length=10, pattern_length=4, items=1000),
    "POS-like": lambda n: vs.generate.pos_like(transactions=n, items=1657, average_length=6.5, maximum_length=164),
}

# What is asked, and how many itemsets an answer speaks of.
TASKS: dict[str, tuple[Callable[[vs.Transactions], object], Callable[..., int]]] = {
    f"frequent, {SHARE}": (lambda data: frequent(data, SHARE, threads=1), len),
    f"count_frequent, {SHARE}": (lambda data: count_frequent(data, SHARE, threads=1), lambda count: count.total),
    "minimal_rare, k = n/1000, up to 3 items": (
        lambda data: minimal_rare(data, len(data) // 1000, max_size=3, threads=1),
        len,
    ),
}


@dataclass(frozen=True)
class Point:
    """One task on one set of transactions."""

    data: str
    task: str
    transactions: int
    answer: int
    seconds: float
    extra: int
    "Bytes above what the process had with the transactions in memory."


def measure(generator: str, transactions: int, task: str) -> tuple[Point, int]:
    """One point, and the peak memory of this process, generation included."""
    data = GENERATORS[generator](transactions)
    run, size = TASKS[task]
    generated = peak_memory()
    before = forget_peak()
    result, seconds = timed(lambda: run(data))
    peak, answer = peak_memory(), size(result)
    del result
    if seconds < 5:
        seconds = min(seconds, best_in_turns(lambda: run(data))[0])
    return Point(generator, task, transactions, answer, seconds, peak - before), max(generated, peak)


def check(points: list[Point], generator: str, transactions: int) -> None:
    """Frequent itemsets are as many as counted; moles as many as the auditor finds, if that does not take long."""
    listed, counted, rare = (point.answer for point in points)
    assert listed == counted, (generator, transactions, listed, counted)
    if transactions <= 10**6:
        promise = vs.Coherence(k=transactions // 1000, p=3)
        found = vs.audit(GENERATORS[generator](transactions), promise, witnesses=0).found
        assert found == rare, (generator, transactions, found, rare)


def slope(points: list[Point], of: Callable[[Point], float]) -> float:
    """Of the line through the logarithms, by least squares; 1 is linear growth."""
    across = np.log10([point.transactions for point in points])
    return float(np.polyfit(across, np.log10([of(point) for point in points]), 1)[0])


def text(points: list[Point], peak: int) -> str:
    """The page with both tables."""
    slopes = []
    for (data, task), group in groupby(points, key=lambda point: (point.data, point.task)):
        of = list(group)
        time, memory = (slope(of, lambda p: p.seconds), slope(of, lambda p: p.extra))
        verdict = "yes" if round(max(time, memory), 1) <= 1 else "**no**"
        last = slope(of[-2:], lambda p: p.seconds), slope(of[-2:], lambda p: p.extra)
        slopes.append(f"| {data} | {task} | {time:.2f} | {memory:.2f} | {last[0]:.2f} | {last[1]:.2f} | {verdict} |")
    rows = [
        f"| {p.data} | {p.task} | {p.transactions:,} | {p.answer:,} | {shown(p.seconds)} | {p.extra / 1e6:,.1f} MB |"
        for p in points
    ]
    return "\n".join(
        [
            "# Growth of time and memory",
            "",
            "Generated transactions (`veilset.generate`: Quest T10I4 with 1,000 items; POS-like with 1,657 items, 6.5",
            "on average), one thread, a process for each run. Memory is what a run takes beyond the transactions; with",
            f"generating them, no process had more than {peak / 1e9:.1f} GB. The answers are as many as another kernel",
            "(frequent itemsets) or the auditor (moles, up to a million transactions) counts. Written by",
            "`make scaling`.",
            "",
            "![Time and memory against the number of transactions](scaling.svg)",
            "",
            "| data | task | transactions | itemsets | time | extra memory |",
            "|---|---|---|---|---|---|",
            *rows,
            "",
            "Slopes on a log-log scale, where 1 is linear: of the line through all sizes by least squares, and of the",
            f"last step, {SIZES[-2]:,} to {SIZES[-1]:,}. Linear or better: the first two, to one decimal, are",
            "at most 1.0.",
            "",
            "| data | task | time | memory | time, last step | memory, last step | linear or better |",
            "|---|---|---|---|---|---|---|",
            *slopes,
            "",
            machine(),
            "",
        ]
    )


def chart(points: list[Point]) -> str:
    """Time and memory side by side, as SVG that can be read on light and dark pages."""
    values = [
        {"n": p.transactions, "time": p.seconds, "memory": p.extra / 1e6, "task": p.task, "data": p.data}
        for p in points
    ]
    grey, line = "#7a828c", "#a9b0b8"
    log, tens = alt.Scale(type="log"), [10.0**power for power in range(-4, 6)]
    colours = alt.Scale(range=["#3f7fbf", "#9aa5b1", "#c8772d"])
    dashes = alt.StrokeDash(
        "data:N", sort=list(GENERATORS), legend=alt.Legend(title=None, symbolType="stroke", symbolStrokeColor=grey)
    )
    panels = []
    for field, title in (("time", "seconds"), ("memory", "extra memory (MB)")):
        base = alt.Chart(alt.InlineData(values=values), width=300, height=240).encode(
            x=alt.X("n:Q", title="transactions", scale=log, axis=alt.Axis(values=SIZES, format="~s")),
            y=alt.Y(f"{field}:Q", title=title, scale=log, axis=alt.Axis(values=tens, format="~g")),
            color=alt.Color("task:N", sort=list(TASKS), title=None, scale=colours),
        )
        panels.append(base.mark_line().encode(strokeDash=dashes) + base.mark_point(filled=True, opacity=1))
    drawn = (
        alt.hconcat(*panels)
        .configure(background="transparent", font="sans-serif")
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=grey, titleColor=grey, gridColor=line, gridOpacity=0.45, domainColor=line, ticks=False
        )
        .configure_legend(labelColor=grey, orient="bottom", direction="vertical", labelLimit=300)
    )
    return str(vl_convert.vegalite_to_svg(drawn.to_dict()))


def main() -> None:
    """Measure, assert, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=HERE, help="the folder for SCALING.md and scaling.svg")
    out = parser.parse_args().out
    points, peaks = [], []
    for generator, transactions in product(GENERATORS, SIZES):
        for task in TASKS:
            point, peak = in_child(measure, generator, transactions, task)
            assert peak < MOST_MEMORY, f"{generator}, {transactions:,} transactions: {peak / 1e9:.1f} GB"
            print(f"{generator}, {transactions:,}, {task}: {shown(point.seconds)}", flush=True)
            points.append(point)
            peaks.append(peak)
        check(points[-len(TASKS) :], generator, transactions)
    points.sort(key=lambda p: (list(GENERATORS).index(p.data), list(TASKS).index(p.task), p.transactions))
    page = text(points, max(peaks))
    print(page)
    (out / "SCALING.md").write_text(page, "utf-8")
    (out / "scaling.svg").write_text(chart(points), "utf-8")


if __name__ == "__main__":
    main()
