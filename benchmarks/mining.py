"""Mining against pyfim, one thread against one thread, both from data in memory to the itemsets.

Answers are asserted before anything is timed: the number of itemsets where it is known, and every itemset with its
support against pyfim's. ``--recount`` also has the auditor count the rare itemsets of Connect anew, which takes long.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import bit_loop
import fim
import numpy as np
import numpy.typing as npt
import scipy.sparse
from measuring import best_in_turns, in_child, peak_memory, shown, timed

import veilset as vs
from veilset import _native
from veilset.mining import Itemsets, Moles, count_frequent, frequent, minimal_rare

HERE = Path(__file__).parent

FILES = {
    "Retail": "fimi-retail/retail.dat.gz",
    "T10I4D100K": "fimi-t10i4d100k/T10I4D100K.dat.gz",
    "Connect": "fimi-connect/connect.dat.gz",
    "Mushroom": "fimi-mushroom/mushroom.dat.gz",
}

Kind = Literal["all", "closed", "maximal"]

# (data, kind, support, how many there are; None: as many as pyfim finds)
FREQUENT: tuple[tuple[str, Kind, int, int | None], ...] = (
    ("Retail", "all", 89, 7_589),
    ("Retail", "all", 18, 67_186),
    ("T10I4D100K", "all", 100, 27_532),
    ("Connect", "closed", 33_779, 130_101),
    ("Connect", "closed", 27_023, 239_372),
    ("Connect", "maximal", 33_779, 3_758),
    ("Connect", "maximal", 27_023, 6_213),
    ("Retail", "all", 5, None),
    ("Connect", "closed", 13_512, None),
    ("Mushroom", "all", 407, None),
)

# pyfim does not report the itemset of the one item that every transaction of Mushroom holds.
LEFT_OUT_BY_PYFIM = {"Mushroom": [((85,), 8_124)]}

PEERS = {"pyfim eclat": fim.eclat, "pyfim fpgrowth": fim.fpgrowth}

# The auditor's count, which shares none of its counting with mining; --recount has it counted again.
RARE_IN_CONNECT = (7, 805, 9_923, 45_829, 155_280)

Pyfim = list[tuple[tuple[int, ...], int]]


@dataclass(frozen=True)
class Line:
    """One row of the table of results."""

    task: str
    answer: str
    ours: float | None
    two_threads: float | None = None
    peer: str = "none"
    theirs: float | None = None
    target: str = "none"
    met: bool = True

    @property
    def ratio(self) -> float | None:
        """Our seconds on one thread to theirs."""
        return self.ours / self.theirs if self.ours and self.theirs else None

    def cells(self) -> list[str]:
        """task, answer, ours on one thread and on two, the peer's, ratio, target."""
        ours, two = (shown(seconds) if seconds else "–" for seconds in (self.ours, self.two_threads))
        theirs = f"{shown(self.theirs)} ({self.peer})" if self.theirs else self.peer
        target = self.target if self.met else f"**missed:** {self.target}"
        return [self.task, self.answer, ours, two, theirs, f"{self.ratio:.3f}" if self.ratio else "–", target]


def run(data: Path) -> list[Line]:
    """One line for each task, after asserting its answer."""
    if missing := [file for file in FILES.values() if not (data / file).is_file()]:
        sys.exit(f"There is no {' and no '.join(missing)} in {data}. Name the folder with the data sets: --data DIR")
    loaded = {name: vs.read(data / file) for name, file in FILES.items()}
    lines = [_frequent(loaded[name], name, kind, support, number) for name, kind, support, number in FREQUENT]
    lines += [
        _mlxtend(loaded["Retail"]),
        _count(loaded["Connect"]),
        _rare_in_mushroom(loaded["Mushroom"]),
        _rare_in_retail(loaded["Retail"]),
    ]
    return [*lines, _rare_in_connect(loaded["Connect"], data / FILES["Connect"]), _bit_loop()]


def _against(task: str, answer: str, times: Sequence[float], peer: str, theirs: float, most: float = 1.0) -> Line:
    ours, two_threads = times
    target = f"ratio at most {most:g}"
    return Line(task, answer, ours, two_threads, peer, theirs, target, met=ours <= most * theirs)


def _frequent(data: vs.Transactions, name: str, kind: Kind, support: int, number: int | None) -> Line:
    rows = [list(map(int, row)) for row in data]

    def ours(threads: int) -> Itemsets:
        return frequent(data, support, kind=kind, threads=threads)

    def theirs(peer: str) -> Pyfim:
        return PEERS[peer](rows, target={"all": "s"}.get(kind, kind[0]), supp=-support, zmin=1, report="a")

    found = ours(1)
    assert number in (None, len(found)), (name, kind, support, len(found))
    assert _arrays(found) == _arrays(ours(2)), "the answer depends on the number of threads"
    ordered, once = _arrays(_in_one_order(found)), {}
    for peer in PEERS:
        itemsets, once[peer] = timed(lambda peer=peer: theirs(peer))
        assert ordered == _arrays(_in_one_order(_from_pyfim(itemsets + LEFT_OUT_BY_PYFIM.get(name, []), data)))
        del itemsets
    answer = f"{len(found):,}"
    del found, ordered

    # Which of the two is the better is open only if neither took twice the time of the other.
    rivals = [peer for peer in PEERS if once[peer] < 2 * min(once.values())]
    calls = [lambda peer=peer: theirs(peer) for peer in rivals]
    one, two, *peers = best_in_turns(lambda: ours(1), lambda: ours(2), *calls)
    better = min(range(len(rivals)), key=peers.__getitem__)
    task, most = f"{name}, {kind}, support {support:,}", 0.7 if kind == "maximal" else 0.5
    return _against(task, answer, (one, two), rivals[better], peers[better], most)


def _from_pyfim(found: Pyfim, data: vs.Transactions) -> Itemsets:
    numbers = np.array(data.names, dtype=np.int64)
    code_of = np.zeros(numbers.max() + 1, dtype=np.int32)
    code_of[numbers] = np.arange(len(numbers))
    sizes = np.fromiter((len(itemset) for itemset, _ in found), np.int64, len(found))
    items = np.fromiter(itertools.chain.from_iterable(itemset for itemset, _ in found), np.int64, sizes.sum())
    supports = np.fromiter((support for _, support in found), np.int64, len(found))
    return Itemsets(data.names, np.concatenate([[0], np.cumsum(sizes)]), code_of[items], supports)


def _in_one_order(found: Itemsets) -> Itemsets:
    """Items ascending, itemsets by a hash: then equal arrays mean equal itemsets (two of one hash would not agree)."""
    owner = np.repeat(np.arange(len(found), dtype=np.int64), found.sizes)
    items = (np.sort(owner << 32 | found.items) & 0xFFFFFFFF).astype(np.int32)
    keys = np.random.default_rng(0).integers(1 << 62, size=len(found.names), dtype=np.uint64)
    hashes = np.add.reduceat(keys[items], found.offsets[:-1])
    return Itemsets(found.names, found.offsets, items, found.supports)[np.argsort(hashes)]


def _arrays(found: Itemsets) -> tuple[bytes, bytes, bytes]:
    return found.offsets.tobytes(), found.items.tobytes(), found.supports.tobytes()


def _mlxtend(data: vs.Transactions, support: int = 89) -> Line:
    """For orientation: of the tasks above, mlxtend takes seconds for this one and for T10I4D100K."""
    # Only here: a process that measures its memory imports this file too.
    import pandas  # noqa: PLC0415
    from mlxtend.frequent_patterns import fpgrowth  # noqa: PLC0415

    ones = np.ones(len(data.items), dtype=bool)
    matrix = scipy.sparse.csr_matrix((ones, data.items, data.offsets), shape=(len(data), len(data.names)))
    frame = pandas.DataFrame.sparse.from_spmatrix(matrix)
    share = (support - 0.5) / len(data)  # it rounds up
    found, theirs = timed(lambda: fpgrowth(frame, min_support=share))
    listed = [(tuple(row), round(s * len(data))) for row, s in zip(found["itemsets"], found["support"], strict=True)]
    expected = {(frozenset(data.codes(names).tolist()), count) for names, count in frequent(data, support)}
    assert {(frozenset(codes), count) for codes, count in listed} == expected
    one, two = best_in_turns(lambda: frequent(data, support, threads=1), lambda: frequent(data, support, threads=2))
    peer = "mlxtend fpgrowth, sparse frame, for orientation; one run"
    return Line(f"Retail, all, support {support}", f"{len(listed):,}", one, two, peer, theirs)


def _count(data: vs.Transactions) -> Line:
    for threads in (1, 2):
        assert count_frequent(data, 6_756, threads=threads).total == 58_062_343_951
    times = _one_and_two(lambda threads: count_frequent(data, 6_756, threads=threads))
    task = "Connect, number of all, support 6,756"
    return _against(task, "58,062,343,951", times, "noted of a plain prototype, not run here", 3.2)


def _rare_in_mushroom(data: vs.Transactions) -> Line:
    def ours(threads: int, *, include_absent: bool = True) -> Moles:
        return minimal_rare(data, 813, include_absent=include_absent, threads=threads)

    for threads in (1, 2):
        supports = ours(threads).supports
        assert ((supports > 0).sum(), (supports == 0).sum()) == (2_924, 165), len(supports)
        assert len(ours(threads, include_absent=False)) == 2_924
    task, answer = "Mushroom, minimal rare, k = 813", "2,924 that occur, 165 that do not"
    return _against(task, answer, _one_and_two(ours), "noted of a C++ research code, not run here", 0.14)


def _rare_in_retail(data: vs.Transactions) -> Line:
    def ours(threads: int) -> Moles:
        return minimal_rare(data, 20, h=1, max_size=4, threads=threads)

    for threads in (1, 2):
        assert ours(threads).by_size == (10_114, 2_794_115, 73_052, 4_352)
    task, answer = "Retail, minimal rare, k = 20, up to 4 items", "10,114 · 2,794,115 · 73,052 · 4,352"
    return _against(task, answer, _one_and_two(ours), "noted of a plain prototype, not run here", 1.2, 0.5)


def _one_and_two(call: Callable[[int], object]) -> list[float]:
    return best_in_turns(lambda: call(1), lambda: call(2))


def _rare_in_connect(data: vs.Transactions, file: Path) -> Line:
    (found, one, peak), (again, two, peak_of_two) = (in_child(rare_in_connect, file, threads) for threads in (1, 2))
    assert _arrays(found) == _arrays(again), "the answer depends on the number of threads"
    assert found.by_size == RARE_IN_CONNECT, found.by_size
    _check_rare(data, found, 100)
    target = f"peak memory below 2 GB: {max(peak, peak_of_two) / 1e9:.2f} GB"
    assert max(peak, peak_of_two) < 2e9, target
    answer = " · ".join(f"{number:,}" for number in RARE_IN_CONNECT)
    return Line("Connect, minimal rare, k = 100, up to 5 items", answer, one, two, target=target)


def rare_in_connect(file: Path, threads: int) -> tuple[Itemsets, float, int]:
    """(itemsets, best seconds, peak memory of this process, which has read the file too)."""
    data = vs.read(file)

    def ours() -> Moles:
        return minimal_rare(data, 100, max_size=5, threads=threads)

    found, peak = ours().itemsets, peak_memory()
    return found, best_in_turns(ours)[0], peak


def _check_rare(data: vs.Transactions, found: Itemsets, k: int, sample: int = 3_000) -> None:
    """With numpy's bitmaps: how many of up to 3 items there are, and that a sample is rare without rare subsets."""
    holds = np.zeros((len(data.names), -(-len(data) // 64) * 64), dtype=bool)
    holds[data.items, np.repeat(np.arange(len(data)), data.lengths)] = True
    bitmaps = np.packbits(holds, axis=1).view(np.uint64)

    def support(names: Sequence[str]) -> int:
        return int(np.bitwise_count(np.bitwise_and.reduce(bitmaps[data.codes(names)])).sum())

    assert found.by_size[:3] == ((data.supports < k).sum(), *_rare_of_two_and_three(bitmaps, k))
    assert len({names for names, _ in found}) == len(found), "some are listed twice"
    for names, count in found[np.random.default_rng(0).choice(len(found), sample, replace=False)]:
        assert 0 < support(names) == count < k, names
        assert all(support(fewer) >= k for fewer in itertools.combinations(names, len(names) - 1) if fewer), names


def _rare_of_two_and_three(bitmaps: npt.NDArray[np.uint64], k: int) -> tuple[int, int]:
    """How many pairs, and how many triples, occur less than k times with all their subsets at least that often."""
    bitmaps = bitmaps[np.bitwise_count(bitmaps).sum(axis=1) >= k]
    pairs = np.array([np.bitwise_count(bitmaps & row).sum(axis=1) for row in bitmaps], dtype=np.int64)
    triples = 0
    for a, b in zip(*np.nonzero(np.triu(pairs >= k, 1)), strict=True):
        third = np.flatnonzero((pairs[a] >= k) & (pairs[b] >= k))
        counts = np.bitwise_count(bitmaps[third[third > b]] & (bitmaps[a] & bitmaps[b])).sum(axis=1)
        triples += int(((counts > 0) & (counts < k)).sum())
    return int(np.triu((pairs > 0) & (pairs < k), 1).sum()), triples


def _bit_loop() -> Line:
    task = f"AND and popcount of {bit_loop.WORDS:,} words, one pass"
    if "avx512" not in _native.mining.bit_variants():
        return Line(task, "not run: this processor has no AVX-512 popcount", None)
    ones, ours, theirs = bit_loop.run()
    target = f"80% of its speed: {theirs / ours:.0%}"
    return Line(task, f"{ones:,} ones", ours, None, "AVX-512 by hand", theirs, target, met=theirs >= 0.8 * ours)


def table(lines: list[Line]) -> list[str]:
    """The lines in Markdown, and below them which targets are missed."""
    head = [
        "task",
        "answer",
        "ours, 1 thread",
        "ours, 2 threads",
        "better pyfim (which) or other peer",
        "ratio",
        "target",
    ]
    rows = [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *(line.cells() for line in lines))]
    missed = [f"- {line.task}: {line.target}" for line in lines if not line.met]
    return [*rows, "", *(["Targets missed:", "", *missed] if missed else ["No target is missed."])]


def recount(data: Path) -> None:
    """Have the auditor count the rare itemsets of Connect."""
    answer = vs.audit(vs.read(data / FILES["Connect"]), vs.Coherence(k=100, p=5), witnesses=0)
    assert answer.found_by_size == RARE_IN_CONNECT, answer.found_by_size


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=HERE.parent.parent / "shared" / "data")
    parser.add_argument("--recount", action="store_true", help="let the auditor confirm the answer for Connect")
    options = parser.parse_args()
    if options.recount:
        recount(options.data)
    print("\n".join(table(run(options.data))))
