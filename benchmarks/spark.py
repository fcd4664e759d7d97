"""Audits of generated transactions on Spark and in memory, with the same answer: processor time and memory of each.

    python benchmarks/spark.py 100000 1000000

The transactions are like those of a point of sale: 1,657 items, 6.5 on average. Each audit is a process of its own and
reads them from the same Parquet file. docs/scale.md has what it printed.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.parquet as pq

import veilset as vs
from veilset.engines.spark import Spark

PROMISE = vs.Coherence(h="1/2", k=20, p=3)
TICK = os.sysconf("SC_CLK_TCK")


def processor_time(root: int) -> float:
    """Seconds that a process, those it has started and those that have ended meanwhile took."""
    parents, taken = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        process = int(stat.parent.name)
        parents[process], taken[process] = int(fields[1]), sum(map(int, fields[11:15]))
    family = {root}
    while more := {process for process, parent in parents.items() if parent in family} - family:
        family |= more
    return sum(taken[process] for process in family) / TICK


def audited(where: str, path: str, sensitive: list[str]) -> vs.Audit:
    """The audit in one place; on Spark, its processor time is printed before the session ends."""
    if where == "memory":
        return vs.audit(vs.read(path, sensitive=sensitive), PROMISE)
    with Spark.start("local[2]") as engine:
        answer = vs.audit(engine.read(path, sensitive=sensitive), PROMISE)
        print(f"{processor_time(os.getpid()):.1f}", end=" ")
        return answer


def main() -> None:
    """Compare both for each size, or be one of them."""
    if sys.argv[1] in ("memory", "spark"):
        begin = time.perf_counter()
        answer = audited(sys.argv[1], sys.argv[2], sys.argv[3:])
        if sys.argv[1] == "memory":
            print(f"{processor_time(os.getpid()):.1f}", end=" ")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(f"{time.perf_counter() - begin:.1f} {peak >> 10} {answer.found} {answer.checked}")
        return
    print("| transactions | where | processor time | elapsed | memory of the driver | moles |")
    print("|---|---|---|---|---|---|")
    for count in map(int, sys.argv[1:]):
        data = vs.generate.pos_like(transactions=count, items=1657, average_length=6.5, maximum_length=164)
        chosen = data.supports.argsort()[[200, 800, 1500]]
        sensitive = [data.names[code] for code in chosen.tolist()]
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "pos.parquet")
            pq.write_table(data.to_arrow(), path, row_group_size=100_000)
            del data
            answers = set()
            for where in ("memory", "spark"):
                command = [sys.executable, __file__, where, path, *sensitive]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                busy, elapsed, peak, *answer = done.stdout.split()
                answers.add(tuple(answer))
                print(f"| {count:,} | {where} | {busy} s | {elapsed} s | {peak} MB | {int(answer[0]):,} |", flush=True)
            assert len(answers) == 1, answers


if __name__ == "__main__":
    main()
