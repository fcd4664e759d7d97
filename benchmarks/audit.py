"""The auditor against a miner, on Retail at k = 20.

The auditor counts every safe itemset of up to 4 items and finds every minimal mole; the miner lists the frequent ones.
"""

from __future__ import annotations

import time
from pathlib import Path

import fim

import veilset as vs

Line = tuple[str, float, float, str]

GOLDEN = (10_114, 2_794_115, 73_052, 4_352)


def run(data: Path) -> list[Line]:
    """(task, our seconds, the peer's, the peer) after asserting that both see the same itemsets."""
    transactions = vs.read(data / "fimi-retail" / "retail.dat.gz")
    rows = [list(map(int, row)) for row in transactions]
    promise = vs.Coherence(k=20, p=4)
    answer, ours = _best(lambda: vs.audit(transactions, promise, threads=1))
    frequent, theirs = _best(lambda: fim.eclat(rows, target="s", supp=-20, zmin=1, zmax=4, report="a"))
    assert answer.found_by_size == GOLDEN, answer.found_by_size
    assert answer.checked - answer.found == len(frequent), "safe itemsets at h = 1 are the frequent ones"
    return [("audit of Retail, k = 20, p = 4, one thread", ours, theirs, "pyfim eclat, supp=-20, zmax=4")]


def _best(call, times: int = 5):
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        result = call()
        seconds.append(time.perf_counter() - started)
    return result, min(seconds)
