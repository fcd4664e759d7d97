"""Audits and anonymizing of generated transactions on Spark and in memory: what they cost, and how it grows.

    python benchmarks/spark.py --tasks audit auto --transactions 100000 1000000
    python benchmarks/spark.py --where tasks --k 5 20 80
    python benchmarks/spark.py --shuffled
    python benchmarks/spark.py --draw

The transactions are like those of a point of sale, 6.5 items on average; three of the items are sensitive. Each run is
a process of its own and reads them from the same Parquet file. "tasks" is what Spark's tasks do, in one process and
without Spark; it counts what would be shuffled, before compression. What was measured is added to benchmarks/spark.csv,
and not measured again; --draw makes docs/scale.svg of it. --shuffled deals 100,000 transactions to as many shares as
more of them would have. docs/scale.md speaks of all this.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from itertools import product
from pathlib import Path
from typing import Any

import altair as alt
import pyarrow.parquet as pq
import vl_convert

import veilset as vs
from veilset.audit import shares
from veilset.engines import Local
from veilset.engines.local import LocalDealt
from veilset.engines.rows import grouped
from veilset.engines.spark import Spark

HERE = Path(__file__).parent
MEASURED, CHART = HERE / "spark.csv", HERE.parent / "docs" / "scale.svg"
TASKS, PLACES = ("audit", "auto"), ("memory", "Spark", "tasks")
ASKED = ("task", "where", "transactions", "items", "k", "p")
FOUND = ("processor", "elapsed", "python_mb", "jvm_mb", "workers_mb", "shuffled_mb", "spilled_mb", "jobs", "answer")
TICK, SAMPLED = os.sysconf("SC_CLK_TCK"), 0.2  # seconds
SETTINGS = {"spark.driver.memory": "1g", "spark.ui.enabled": "true", "spark.ui.retainedStages": "100000"}


class Watch:
    """Processor time of this process and those it has started, and the most memory that each kind had."""

    def __init__(self) -> None:
        self.python = self.jvm = self.workers = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()

    def _sample(self) -> None:
        while not self._over.wait(SAMPLED):
            self.look()

    def look(self) -> float:
        """Notes what is there; gives the seconds of processor time so far."""
        parents, taken, memory, name = {}, {}, {}, {}
        for process in Path("/proc").glob("[0-9]*"):
            try:
                before, _, after = (process / "stat").read_text().rpartition(")")
            except OSError:  # it has ended
                continue
            fields, number = after.split(), int(process.name)
            parents[number], taken[number] = int(fields[1]), sum(map(int, fields[11:15]))
            memory[number], name[number] = int(fields[21]) * os.sysconf("SC_PAGE_SIZE"), before.partition("(")[2]
        own = os.getpid()
        family = {own}
        while more := {process for process, parent in parents.items() if parent in family} - family:
            family |= more
        self.python = max(self.python, memory[own])
        self.jvm = max(self.jvm, sum(memory[process] for process in family if name[process] == "java"))
        others = (process for process in family if process != own and name[process] != "java")
        self.workers = max(self.workers, sum(memory[process] for process in others))
        return sum(taken[process] for process in family) / TICK

    def end(self) -> float:
        """Stops watching; gives the processor time."""
        self._over.set()
        self._thread.join()
        return self.look()


class Dealing:
    """Counts the bytes of rows that are dealt out to shares."""

    def __init__(self) -> None:
        self.size = self.shares = self.rows = 0
        take = LocalDealt.take

        def taken(dealt: LocalDealt, offsets: Any, values: Any) -> None:
            share, rows, weights = grouped(offsets, values)
            self.rows, self.shares = self.rows + len(share), max(self.shares, int(share.max(initial=-1)) + 1)
            self.size += share.nbytes + rows.nbytes + weights.nbytes
            take(dealt, offsets, values)

        LocalDealt.take = taken  # type: ignore[method-assign]


def solved(task: str, data: Any, promise: vs.Coherence) -> str:
    """The task, and what of its answer both places must agree on."""
    if task == "audit":
        answer = vs.audit(data, promise)
        return f"{answer.found:,} violations"
    release = vs.anonymize(data, promise)
    assert release.certified
    return f"{len(release.suppressed):,} items"


def measured(task: str, where: str, path: str, sensitive: list[str], promise: vs.Coherence) -> dict[str, Any]:
    """One run in this process."""
    watch, begin = Watch(), time.perf_counter()
    found: dict[str, Any] = {"jvm_mb": 0, "workers_mb": 0, "shuffled_mb": 0, "spilled_mb": 0, "jobs": 0}
    if where == "memory":
        found["answer"] = solved(task, vs.read(path, sensitive=sensitive), promise)
        found["processor"] = watch.end()
    elif where == "tasks":
        dealt = Dealing()
        found["answer"] = solved(task, Local(pieces=2).read(path, sensitive=sensitive), promise)
        found |= {"processor": watch.end(), "shuffled_mb": dealt.size / 1e6}
    else:
        with Spark.start("local[2]", settings=SETTINGS) as engine:
            found["answer"] = solved(task, engine.read(path, sensitive=sensitive), promise)
            found["processor"] = watch.end()
            stages = asked_of(engine, "stages?status=complete")
            found["shuffled_mb"] = sum(stage["shuffleWriteBytes"] for stage in stages) / 1e6
            found["spilled_mb"] = sum(stage["diskBytesSpilled"] for stage in stages) / 1e6
            found["jobs"] = len(asked_of(engine, "jobs"))
        found |= {"jvm_mb": watch.jvm / 1e6, "workers_mb": watch.workers / 1e6}
    found |= {"elapsed": time.perf_counter() - begin, "python_mb": watch.python / 1e6}
    return {name: value if isinstance(value, str) else round(value, 1) for name, value in found.items()}


def asked_of(engine: Spark, what: str) -> list[dict[str, Any]]:
    """What Spark's own status says."""
    context = engine.session.sparkContext
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/{what}") as answer:
        return list(json.load(answer))


def known() -> list[dict[str, str]]:
    """What was measured before."""
    if not MEASURED.exists():
        return []
    with MEASURED.open(newline="") as file:
        return list(csv.DictReader(file))


def add(line: dict[str, Any]) -> None:
    """Write a line."""
    first = not MEASURED.exists()
    with MEASURED.open("a", newline="") as file:
        writer = csv.DictWriter(file, [*ASKED, *FOUND], lineterminator="\n")
        if first:
            writer.writeheader()
        writer.writerow(line)


def compare(transactions: int, items: int, questions: list[tuple[str, str, int, int]], folder: str) -> None:
    """Measure what is not known yet of one set of transactions."""
    done = {tuple(line[name] for name in ASKED) for line in known()}
    missing = [
        (task, where, k, p)
        for task, where, k, p in questions
        if (task, where, str(transactions), str(items), str(k), str(p)) not in done
    ]
    if not missing:
        return
    data = vs.generate.pos_like(transactions=transactions, items=items, average_length=6.5, maximum_length=164)
    chosen = data.supports.argsort()[[len(data.names) * part // 1657 for part in (200, 800, 1500)]]
    sensitive = [data.names[code] for code in chosen.tolist()]
    path = str(Path(folder) / "pos.parquet")
    pq.write_table(data.to_arrow(), path, row_group_size=100_000)
    del data
    for task, where, k, p in missing:
        command = [sys.executable, __file__, "--one", task, where, path, str(k), str(p), *sensitive]
        run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        line = dict(zip(ASKED, (task, where, transactions, items, k, p), strict=True)) | json.loads(run.stdout)
        print(" ".join(f"{name}={value}" for name, value in line.items()), flush=True)
        add(line)


def shuffled() -> None:
    """What is sent for each transaction, with as many shares as there would be for more of them."""
    count = 100_000
    data = vs.generate.pos_like(transactions=count, items=1657, average_length=6.5, maximum_length=164)
    most, dealt = shares.MOST_IN_SHARE, Dealing()
    print("| transactions | shares | rows for each | bytes for each, before compression |\n|---|---|---|---|")
    for factor in (1, 10, 100, 1000):
        shares.MOST_IN_SHARE = most // factor
        dealt.size = dealt.shares = dealt.rows = 0
        vs.audit(Local(pieces=1).read(data), vs.Coherence(k=20, p=1))
        print(
            f"| {factor * count:,} | {dealt.shares:,} | {dealt.rows / count:.1f} | {dealt.size / count:.0f} |",
            flush=True,
        )


def check(lines: list[dict[str, str]]) -> None:
    """Both places have counted the same violations."""
    for line in lines:
        same = [other for other in lines if all(line[name] == other[name] for name in ASKED if name != "where")]
        assert line["task"] != "audit" or len({other["answer"] for other in same}) == 1, same


def chart(lines: list[dict[str, str]]) -> str:
    """Growth over transactions, as SVG that can be read on light and dark pages."""
    usual = [line for line in lines if (line["items"], line["k"], line["p"]) == ("1657", "20", "3")]
    values = [
        {
            "n": int(line["transactions"]),
            "time": float(line["processor"]),
            "memory": float(line["python_mb"]) + float(line["jvm_mb"]),
            "shuffled": float(line["shuffled_mb"]) or None,
            "where": line["where"],
            "task": line["task"],
        }
        for line in usual
    ]
    grey, ruled = "#7a828c", "#a9b0b8"
    log, tens = alt.Scale(type="log"), [10.0**power for power in range(-1, 6)]
    panels = []
    for field, title in (
        ("time", "processor time (seconds)"),
        ("memory", "memory of the driver (MB)"),
        ("shuffled", "shuffled (MB; tasks: before compression)"),
    ):
        shown = [value for value in values if value[field] is not None]
        base = alt.Chart(alt.InlineData(values=shown), width=230, height=220).encode(
            x=alt.X("n:Q", title="transactions", scale=log, axis=alt.Axis(values=tens, format="~s")),
            y=alt.Y(f"{field}:Q", title=title, scale=log, axis=alt.Axis(values=tens, format="~g")),
            color=alt.Color(
                "where:N",
                sort=list(PLACES),
                title=None,
                scale=alt.Scale(domain=PLACES, range=["#3f7fbf", "#c8772d", "#9aa5b1"]),
            ),
        )
        dashes = alt.StrokeDash(
            "task:N", sort=list(TASKS), legend=alt.Legend(title=None, symbolType="stroke", symbolStrokeColor=grey)
        )
        panels.append(base.mark_line().encode(strokeDash=dashes) + base.mark_point(filled=True, opacity=1))
    drawn = (
        alt.hconcat(*panels)
        .configure(background="transparent", font="sans-serif")
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=grey, titleColor=grey, gridColor=ruled, gridOpacity=0.45, domainColor=ruled, ticks=False
        )
        .configure_legend(labelColor=grey, orient="bottom")
    )
    return str(vl_convert.vegalite_to_svg(drawn.to_dict()))


def main() -> None:
    """Compare both for each size, or be one of them."""
    if sys.argv[1:2] == ["--one"]:
        task, where, path, k, p, *sensitive = sys.argv[2:]
        print(json.dumps(measured(task, where, path, sensitive, vs.Coherence(h="1/2", k=int(k), p=int(p)))))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=["audit"])
    parser.add_argument("--where", nargs="+", choices=PLACES, default=PLACES[:2])
    for name, default in (("transactions", 100_000), ("items", 1657), ("k", 20), ("p", 3)):
        parser.add_argument(f"--{name}", nargs="+", type=int, default=[default])
    parser.add_argument("--draw", action="store_true", help="draw what was measured; measure nothing")
    parser.add_argument("--shuffled", action="store_true", help="what many shares are sent; nothing else")
    asked = parser.parse_args()
    if asked.shuffled:
        shuffled()
        return
    if not asked.draw:
        questions = list(product(asked.tasks, asked.where, asked.k, asked.p))
        for transactions, items in product(asked.transactions, asked.items):
            with tempfile.TemporaryDirectory() as folder:
                compare(transactions, items, questions, folder)
    check(known())
    if asked.draw:
        CHART.write_text(chart(known()), "utf-8")


if __name__ == "__main__":
    main()
