"""SecureMultiTbl on this machine: a process for each party and a table for each process, over TLS."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from paper import memory_growth

from veilset.joins import JoinClassifier, Split
from veilset.joins.generate import Made
from veilset.joins.parties.coordinator import Growth, Trained
from veilset.joins.parties.home import Home
from veilset.joins.parties.party_file import PartyFile
from veilset.joins.parties.server import PartyServer
from veilset.joins.parties.split_lists import SplitList
from veilset.limits import Limits

sys.path.append(str(Path(__file__).parent.parent))
from tests.support.parties import Parties

CONNECTING, INTERSECTING, GROWING = "connecting", "intersecting", "growing"
OTHERS = "others"
_POINTS = ("intersection", "blinded again")  # messages
_STAGES = {"Intersecting keys": INTERSECTING, "Propagating classes": GROWING, "Growing level": GROWING}
_TIME_OUT = 60.0
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Run:
    """A training, part by part: connecting, intersecting keys, and growing the tree, with propagation.

    Parameters
    ----------
    told : list
        All nodes of the tree after pruning, as `told` gives them.
    seconds, cpu_seconds : mapping
        How long each part took, and the CPU time of all parties together.
    sent : mapping
        Bytes that parties have sent to intersect keys, as they have logged them, and all others, which are frames with
        their lengths, before encryption.
    messages : mapping
        How many messages parties have sent, by kind.
    """

    told: list[Any]
    seconds: Mapping[str, float]
    cpu_seconds: Mapping[str, float]
    sent: Mapping[str, int]
    messages: Mapping[str, int]


class Interrupted(Exception):
    """The coordinator has stopped where it was told to."""


class Processes:
    """Parties that wait for the coordinator, each in a process of its own on one thread.

    Parameters
    ----------
    made : Made
        The tables. Each is a party, which is called like it.
    options : mapping
        Those of the classifier.
    study : mapping
        More that the study says.
    """

    def __init__(self, folder: Path, made: Made, options: Mapping[str, Any], study: Mapping[str, Any]) -> None:
        target, _, column = made.target.partition(".")
        classes = sorted(pc.unique(made.tables[target][column]).drop_null().to_pylist())
        self._parties = Parties(
            folder,
            {name: {name: table} for name, table in made.tables.items()},
            [_join(made.tables, pair) for pair in made.joins],
            made.target,
            classes,
            study=dict(study),
            options=dict(options),
            time_out=_TIME_OUT,
        )
        context = multiprocessing.get_context("spawn")
        pipes = [context.Pipe() for _ in self._parties.names]
        self._pipes = [ours for ours, _ in pipes]
        self._processes = [
            context.Process(target=_party, args=(self._parties.path(name), pipe), daemon=True)
            for name, (_, pipe) in zip(self._parties.names, pipes, strict=True)
        ]
        for process in self._processes:
            process.start()
        for _, theirs in pipes:
            theirs.close()
        self._told()  # all have started
        prepared = self._asked()
        self.preparing = max(seconds for seconds, _ in prepared)
        self.preparing_cpu = sum(cpu for _, cpu in prepared)

    def train(self, until: str = "") -> Run:
        """Grow a tree, or go on with it; *until* is the stage where the coordinator is interrupted."""
        marks: list[tuple[str, float, float]] = []

        def mark(part: str) -> None:
            marks.append((part, time.perf_counter(), self._cpu()))

        def watch(growth: Growth) -> None:
            if until and growth.stage == until:
                raise Interrupted
            part = next((part for stage, part in _STAGES.items() if growth.stage.startswith(stage)), None)
            if part and part != marks[-1][0]:
                mark(part)

        mark(CONNECTING)
        trained = asyncio.run(self._parties.coordinator(watch=watch).train())
        mark("")
        parts, logged = list(pairwise(marks)), self._logged(trained)
        points = sum(line["bytes"] for line in logged if line["kind"] in _POINTS)
        sent = {INTERSECTING: points, OTHERS: sum(sent for sent, _ in trained.traffic.values()) - points}
        return Run(
            self._nodes(trained),
            {one[0]: other[1] - one[1] for one, other in parts},
            {one[0]: other[2] - one[2] for one, other in parts},
            sent,
            Counter(line["kind"] for line in logged),
        )

    def close(self) -> list[float]:
        """End all; by how many megabytes each has grown at its peak since it had read its table."""
        grown = self._asked()
        for process in self._processes:
            process.join()
        return grown

    def _asked(self) -> list[Any]:
        for pipe in self._pipes:
            pipe.send(None)
        return self._told()

    def _told(self) -> list[Any]:
        return [pipe.recv() for pipe in self._pipes]  # fails if a party has ended

    def _cpu(self) -> float:
        """CPU seconds of all parties so far."""
        stats = [Path(f"/proc/{process.pid}/stat").read_text() for process in self._processes]
        ticks = [sum(map(int, stat.rpartition(")")[2].split()[11:13])) for stat in stats]
        return sum(ticks) / _TICKS

    def _logged(self, trained: Trained) -> list[dict[str, Any]]:
        """What parties have sent in the run, by their audit logs."""
        logs = [self._parties.folder / f"{name}-state" / "audit.jsonl" for name in self._parties.names]
        lines = [json.loads(line) for log in logs for line in log.read_text("utf-8").splitlines()]
        return [line for line in lines if line["event"] == "sent" and line["run"] == trained.model.run]

    def _nodes(self, trained: Trained) -> list[Any]:
        """What is told of the tree, with the criteria that each party keeps for itself."""
        splits: dict[int, Split] = {}
        for name in self._parties.names:
            found = SplitList.read(self._parties.folder / f"{name}-state", trained.model.run)
            assert found is not None, name
            splits |= found.splits
        return [
            (splits[part.number] if part.table else None, part.gain, node.counts, node.label)
            for part, node in zip(trained.model.nodes, trained.tree.root.walk(), strict=True)
        ]


@contextmanager
def processes(made: Made, options: Mapping[str, Any], **study: Any) -> Iterator[Processes]:
    """Parties for these tables, in a folder that is removed in the end."""
    with TemporaryDirectory() as folder:
        yield Processes(Path(folder), made, options, study)


def secure_costs(made: Made, options: Mapping[str, Any]) -> dict[str, float]:
    """What SecureMultiTbl costs, and MultiTbl on all cores next to it. Both trees must be the same."""
    _load()
    cpu = time.process_time()
    classifier, seconds = elapsed(
        lambda: JoinClassifier(**options).fit(made.tables, joins=made.joins, target=made.target)
    )
    fit = {"fit_seconds": seconds, "fit_cpu_seconds": time.process_time() - cpu}
    with processes(made, options) as parties:
        run = parties.train()
        megabytes = parties.close()
    assert run.told == told(classifier)
    others = (CONNECTING, GROWING)
    return fit | {
        "secure_seconds": parties.preparing + sum(run.seconds[part] for part in others),
        "secure_cpu_seconds": parties.preparing_cpu + sum(run.cpu_seconds[part] for part in others),
        "intersection_seconds": run.seconds[INTERSECTING],
        "intersection_cpu_seconds": run.cpu_seconds[INTERSECTING],
        "secure_megabytes": max(megabytes),
        "sent_megabytes": run.sent[OTHERS] / 1e6,
        "intersection_megabytes": run.sent[INTERSECTING] / 1e6,
        "levels": run.messages["followed"] // len(made.tables),
        "messages": sum(run.messages.values()),
    }


def told(classifier: JoinClassifier) -> list[Any]:
    """All nodes of a tree that was grown on all tables at once: criterion, gain, class counts and label."""
    return [(node.split, node.gain, node.counts, node.label) for node in classifier.tree_.root.walk()]


def elapsed(call: Callable[[], Any]) -> tuple[Any, float]:
    """The result, and how many seconds it took."""
    started = time.perf_counter()
    result = call()
    return result, time.perf_counter() - started


def _join(tables: Mapping[str, pa.Table], pair: tuple[str, str]) -> dict[str, Any]:
    """What the study says about an edge. Each side declares the keys that it has."""
    sides = [side.partition(".") for side in pair]
    columns = {table: tables[table][column] for table, _, column in sides}
    is_text = pa.types.is_string(next(iter(columns.values())).type)
    return {
        "on": " = ".join(pair),
        "type": "text" if is_text else "whole number",
        "keys": {name: pc.count_distinct(column).as_py() for name, column in columns.items()},
        "policy": "report",
    }


class _TimedHome(Home):
    """Notes how long it takes to read, and how much memory there is then."""

    reading = reading_cpu = 0.0
    growth: Callable[[], float]

    def _read(self, name: str) -> pa.Table:
        started, cpu = time.perf_counter(), time.process_time()
        table = super()._read(name)
        self.growth = memory_growth()
        self.reading += time.perf_counter() - started
        self.reading_cpu += time.process_time() - cpu
        return table


def _load() -> None:
    """Load what the first tree needs."""
    JoinClassifier().fit({"T1": pa.table({"x": [1, 2], "Class": ["a", "b"]})}, target="T1.Class")


def _party(file: Path, pipe: Any) -> None:
    _load()
    for name in ("msgpack", "rbcl"):
        import_module(name)
    PartyFile.load(file)
    pipe.send(None)
    pipe.recv()
    started, cpu = time.perf_counter(), time.process_time()
    home = _TimedHome(PartyFile.load(file), Limits(threads=1))
    preparing = time.perf_counter() - started - home.reading, time.process_time() - cpu - home.reading_cpu
    asyncio.run(_serve(home, pipe, preparing))


async def _serve(home: _TimedHome, pipe: Any, preparing: tuple[float, float]) -> None:
    server = PartyServer(home, lambda sentence: None)
    async with server.listener():
        pipe.send(preparing)
        await asyncio.to_thread(pipe.recv)
        await server.close()
    pipe.send(home.growth())
