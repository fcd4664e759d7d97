"""The border method on Connect and Retail: its counting against the paper's borders, and its time.

Asserts that counting inside cohorts gives the same |M(v)|, |N(v)| and the same order of suppression as the borders of
the thesis (§4.4) wherever these come to an end soon; then times the method, which uses the cohorts. Prints everything
and writes BORDERS.md.
"""

from __future__ import annotations

import argparse
import sys
from itertools import product
from pathlib import Path

from measuring import machine, shown, timed

import veilset as vs
from veilset.anonymize.coherence.border import border, greedy, mole_cohorts, nugget_cohorts, worth_keeping
from veilset.anonymize.coherence.borders import Border, mole_border, nugget_border
from veilset.anonymize.coherence.task import Task
from veilset.exact import support_of
from veilset.limits import Limits
from veilset.mining import minimal_rare

HERE = Path(__file__).parent
FILES = {"Connect": "fimi-connect/connect.dat.gz", "Retail": "fimi-retail/retail.dat.gz"}
KS = (10, 20, 30, 40, 50)

# Where the borders, in plain Python, take less than a minute: (data, k', values of k).
MOLE_BORDERS = [("Connect", "60%", (50,)), ("Connect", "50%", KS), ("Connect", "40%", KS)]
MOLE_BORDERS += [("Retail", "3%", KS), ("Retail", "2%", (10, 50))]
NUGGET_BORDERS = [("Connect", "90%"), ("Connect", "80%"), ("Retail", "3%"), ("Retail", "2%"), ("Retail", "1%")]
ORDERS = [("Retail", "3%", KS), ("Retail", "2%", (10, 50))]

TIMED = [
    ("Connect", "40%"),
    ("Connect", "50%"),
    ("Connect", "60%"),
    ("Retail", "1%"),
    ("Retail", "3%"),
    ("Retail", "5%"),
]
TIMED_BREACHES = [("Connect", 50, "40%"), ("Connect", 50, "60%"), ("Retail", 10, "1%"), ("Retail", 10, "5%")]


def left_of(data: vs.Transactions, k: int, share: str) -> tuple[Task, vs.Transactions, int]:
    """The task, what Observation 2 leaves of the data, and k'."""
    task = Task.of(data, vs.Coherence(k=k, p=None), limits=Limits())
    support = support_of(share, len(data))
    return task, worth_keeping(task, support), support


def compared(data: dict[str, vs.Transactions]) -> list[str]:
    """Rows of a table: borders and what they stand for, after asserting that cohorts give the same numbers."""
    rows = []

    def row(name: str, share: str, k: str, kind: str, paper: Border, slow: float, fast: float) -> None:
        counts = f"{len(paper.edges):,} | {paper.total:,} | {100 * paper.compression:.2g}%"
        rows.append(f"| {name} | {share} | {k} | {kind} | {counts} | {shown(slow)} | {shown(fast)} |")
        print(rows[-1], flush=True)

    for name, share, ks in MOLE_BORDERS:
        for k in ks:
            task, left, _ = left_of(data[name], k, share)
            paper, slow = timed(lambda left=left, task=task: mole_border(left, task.promise))
            cohorts, fast = timed(lambda left=left, task=task: mole_cohorts(task, left))
            assert (paper.total, paper.per_item) == (cohorts.total, cohorts.per_item), (name, share, k)
            row(name, share, str(k), "moles", paper, slow, fast)
    for name, share in NUGGET_BORDERS:
        task, left, support = left_of(data[name], KS[0], share)
        paper, slow = timed(lambda left=left, support=support: nugget_border(left, support, None))
        cohorts, fast = timed(lambda task=task, left=left, support=support: nugget_cohorts(task, left, support, None))
        assert (paper.total, paper.per_item) == (cohorts.total, cohorts.per_item), (name, share)
        row(name, share, "–", "nuggets", paper, slow, fast)
    for name, share, ks in ORDERS:
        for k in ks:
            task, left, support = left_of(data[name], k, share)
            papers = mole_border(left, task.promise), nugget_border(left, support, None)
            cohorts_of_both = mole_cohorts(task, left), nugget_cohorts(task, left, support, None)
            assert list(greedy(*papers, left.public)) == list(greedy(*cohorts_of_both, left.public)), (name, share, k)
    return rows


def measured(data: dict[str, vs.Transactions]) -> list[str]:
    """Rows of a table: how long the method takes, after asserting that it leaves no minimal mole."""
    rows = []

    def run(name: str, transactions: vs.Transactions, promise: vs.Coherence, share: str) -> None:
        plain, greedy_only = timed(
            lambda: border(transactions, promise, nugget_support=share, restore=False, limits=Limits())
        )
        release, seconds = timed(lambda: border(transactions, promise, nugget_support=share, limits=Limits()))
        for left in (plain.custodian_data, release.custodian_data):
            assert len(minimal_rare(left, promise.k, h=promise.share, max_size=promise.p)) == 0
        p = "∞" if promise.p is None else promise.p
        rows.append(
            f"| {name} | {share} | {promise.share} | {promise.k} | {p} | {shown(greedy_only)} | {shown(seconds)} "
            f"| {len(plain.suppressed):,} | {len(release.suppressed):,} of {len(transactions.public):,} |"
        )
        print(rows[-1], flush=True)

    for (name, share), k in product(TIMED, KS):
        run(name, data[name], vs.Coherence(k=k, p=None), share)
    for h, (name, k, share) in product(("2/5", "4/5"), TIMED_BREACHES):
        run(name, vs.generate.with_private_items(data[name], cap=h), vs.Coherence(h=h, k=k, p=4), share)
    return rows


def main() -> None:
    """Run everything on the data in --data."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=HERE.parent.parent / "shared" / "data")
    folder = parser.parse_args().data
    if missing := [file for file in FILES.values() if not (folder / file).is_file()]:
        sys.exit(f"There is no {missing[0]} in {folder}. Name the folder with the data sets: --data DIR")
    data = {name: vs.read(folder / file) for name, file in FILES.items()}
    text = "\n".join(
        [
            "# The border method",
            "",
            "## Borders and cohorts",
            "",
            "The borders of the thesis, in plain Python, and the kernels that count inside cohorts give the same",
            "numbers for every item (h = 1, p unlimited, after Observation 2); the order of suppression is compared,",
            "too, on Retail at k' = 2% and 3%. Rate: edges for each itemset they stand for. Written by",
            "`python benchmarks/borders.py`.",
            "",
            "| data | k' | k | of | edges | itemsets | rate | borders | cohorts |",
            "|---|---|---|---|---|---|---|---|---|",
            *compared(data),
            "",
            "## Time of the method",
            "",
            "With and without the restore pass, on all cores; all items are public. No minimal mole is left. With",
            "h < 1, private items are made as in the thesis (§4.5.1), but no more frequent than h.",
            "",
            "| data | k' | h | k | p | greedy | with restoring | suppressed | after restoring |",
            "|---|---|---|---|---|---|---|---|---|",
            *measured(data),
            "",
            machine(),
            "",
        ]
    )
    (HERE / "BORDERS.md").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
