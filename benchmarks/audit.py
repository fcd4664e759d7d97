"""The auditor against miners: sparse data against eclat, dense data against our own search for minimal moles.

Before anything is timed, both must have found the same. Where any number of items may be known, nobody else answers:
there the auditor's processor time and memory are told, for the original and for a release.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import fim
import numpy as np
from measuring import in_child, peak_memory, shown, timed

import veilset as vs
from veilset.mining import minimal_rare

Line = tuple[str, float, float, str]
R = TypeVar("R")

FILES = {
    "Connect": "fimi-connect/connect.dat.gz",
    "Mushroom": "fimi-mushroom/mushroom.dat.gz",
    "Chess": "fimi-chess/chess.dat.gz",
    "Retail": "fimi-retail/retail.dat.gz",
    "BMS-WebView-1": "bms-webview-1/BMS-WebView-1.dat.gz",
    "BMS-WebView-2": "bms-webview-2/BMS-WebView-2.dat.gz",
    "T10I4D100K": "fimi-t10i4d100k/T10I4D100K.dat.gz",
}
GOLDEN = (10_114, 2_794_115, 73_052, 4_352)
DENSE = [
    ("Connect", 20, 3),
    ("Connect", 20, 4),
    ("Connect", 100, 5),
    ("Mushroom", 20, 4),
    ("Mushroom", 20, 6),
    ("Chess", 20, 5),
    ("T10I4D100K", 20, 4),
]
ANY_NUMBER = ["Connect", "Mushroom", "Chess", "Retail", "BMS-WebView-1", "BMS-WebView-2"]
MOST_RATIO = 3


def run(data: Path) -> list[Line]:
    """(task, our seconds, the peer's, the peer) after asserting that both see the same itemsets."""
    return [_against_eclat(data), *(_against_the_miner(data, *task) for task in DENSE)]


def _against_eclat(data: Path) -> Line:
    transactions = vs.read(data / FILES["Retail"])
    rows = [list(map(int, row)) for row in transactions]
    promise = vs.Coherence(k=20, p=4)

    def audit() -> vs.Audit:
        return vs.audit(transactions, promise, threads=1)

    def mine() -> list[tuple[tuple[int, ...], int]]:
        return fim.eclat(rows, target="s", supp=-20, zmin=1, zmax=4, report="a")

    assert (found := audit().found_by_size) == GOLDEN, found
    assert len(mine()) > 0
    ours, theirs = (min(_cpu(call)[1] for _ in range(5)) for call in (audit, mine))
    return ("audit of Retail, k = 20, p = 4, one thread", ours, theirs, "pyfim eclat, supp=-20, zmax=4")


def _against_the_miner(data: Path, name: str, k: int, p: int) -> Line:
    transactions = vs.read(data / FILES[name])

    def audit() -> vs.Audit:
        return vs.audit(transactions, vs.Coherence(k=k, p=p), threads=1, witnesses=0)

    def mine() -> vs.mining.Moles:
        return minimal_rare(transactions, k, max_size=p, threads=1)

    answer, moles = audit(), mine()
    assert answer.complete, name
    sizes = moles.itemsets.sizes.tolist()
    assert [sizes.count(size) for size in range(1, len(answer.found_by_size) + 1)] == [*answer.found_by_size], name
    ours, theirs = (min(_cpu(call)[1] for _ in range(5)) for call in (audit, mine))
    assert ours <= MOST_RATIO * theirs, f"{name}, k = {k}, p = {p}: {ours / theirs:.2f}"
    return (f"audit of {name}, k = {k}, p = {p}, one thread", ours, theirs, "our search for minimal moles")


def any_number(data: Path) -> list[str]:
    """A table: audits for an unlimited p, two threads."""
    lines = [
        "| data, k = 5, p unlimited | h | moles | audit | memory | of a release | memory |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in ANY_NUMBER:
        for h in ("1", "1/2"):
            found, before, after = in_child(_measured, str(data / FILES[name]), h)
            lines.append(
                f"| {name}{', 10% of the items sensitive' if h != '1' else ''} | {h} | {found} | {before} | {after} |"
            )
    return lines


def _measured(file: str, h: str) -> tuple[str, str, str]:
    data = vs.read(file)
    if h != "1":
        rare = [item for item, held in zip(data.names, data.supports.tolist(), strict=True) if 2 * held <= len(data)]
        chosen = np.random.default_rng(1).choice(rare, len(data.names) // 10, replace=False)
        data = data.with_sensitive(chosen.tolist())
    promise = vs.Coherence(h=h, k=5, p=None)
    answer, before = _audited(data, promise)
    assert answer.holds == (answer.found == 0)
    found = f"{'' if answer.complete else '≥ '}{answer.found:,}"
    release = vs.anonymize(data, promise, method="k-anonymity")
    assert release.certified
    _, after = _audited(release.custodian_data, promise)
    return found, before, after


def _audited(data: vs.Transactions, promise: vs.Coherence) -> tuple[vs.Audit, str]:
    answer, seconds = _cpu(lambda: vs.audit(data, promise, threads=2, witnesses=20))
    return answer, f"{shown(seconds)} | {peak_memory() / 1e6:,.0f} MB"


def _cpu(call: Callable[[], R]) -> tuple[R, float]:
    """The result and the seconds of processor time, of all threads."""
    return timed(call, time.process_time)
