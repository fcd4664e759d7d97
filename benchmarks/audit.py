"""The auditor against a miner, on Retail at k = 20.

The auditor counts every safe itemset of up to 4 items and finds every minimal mole; the miner lists the frequent ones.
"""

from __future__ import annotations

from pathlib import Path

import fim
from measuring import best_in_turns

import veilset as vs

Line = tuple[str, float, float, str]

GOLDEN = (10_114, 2_794_115, 73_052, 4_352)


def run(data: Path) -> list[Line]:
    """(task, our seconds, the peer's, the peer) after asserting that both see the same itemsets."""
    transactions = vs.read(data / "fimi-retail" / "retail.dat.gz")
    rows = [list(map(int, row)) for row in transactions]
    promise = vs.Coherence(k=20, p=4)

    def audit() -> vs.Audit:
        return vs.audit(transactions, promise, threads=1)

    def mine() -> list[tuple[tuple[int, ...], int]]:
        return fim.eclat(rows, target="s", supp=-20, zmin=1, zmax=4, report="a")

    answer = audit()
    assert answer.found_by_size == GOLDEN, answer.found_by_size
    assert answer.checked - answer.found == len(mine()), "safe itemsets at h = 1 are the frequent ones"
    ours, theirs = best_in_turns(audit, mine)
    return [("audit of Retail, k = 20, p = 4, one thread", ours, theirs, "pyfim eclat, supp=-20, zmax=4")]
