"""All benchmarks: asserts the answers, prints ratios, writes benchmarks/RESULTS.md. ``make bench`` runs this."""

from __future__ import annotations

import argparse
import sys
from importlib.metadata import version
from pathlib import Path

import anatomy
import coherence
import hiding
import partial
import publishing
import reading
import rho
from measuring import machine

import audit
import joins
import mining
import search

HERE = Path(__file__).parent

_ABOUT_AUDITING = """
Audits of dense data are compared with our own search for minimal moles, which finds the same (asserted); target: at
most 3 times as long. Seconds of all audits and their peers, and below, are processor time. Where any number of items
may be known, two threads; the release is that of `k-anonymity`. "≥": counting all moles would take more than the steps
it may take; that the promise is broken is certain. Memory is the most of the whole process; targets at h = 1: 10 s and
1 GB, at h = ½: 60 s. Sparse audits compared once with the auditor that walked all safe itemsets (until
November 18, 2026), in turns in one process, best of nine: Retail 1.04 times as long now, T10I4D100K 0.94 times.
"""

_ABOUT_MINING = """
Ours from `Transactions` to `Itemsets`; pyfim {pyfim} from lists of ints to its list, its call alone, with `zmin=1,
report='a'`; Python's garbage collector is off for both, as it would cost pyfim more. The ratio is of one thread to
one thread. Before timing, every itemset and support is compared with eclat's and with fpgrowth's. pyfim does not
report the item 85 of Mushroom, which every transaction holds: there the answer is pyfim's and this one. mlxtend
{mlxtend} is timed on one task. Times noted of a code that is not run here show the order of magnitude. The rare
itemsets of Connect are as many as the auditor, which counts in another way, finds. How time and memory
grow with the data: [SCALING.md](SCALING.md).
"""


def main() -> None:
    """Run everything on the data in --data."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=HERE.parent.parent / "shared" / "data")
    data = parser.parse_args().data
    if not (data / "fimi-retail" / "retail.dat.gz").is_file():
        sys.exit(f"There is no fimi-retail/retail.dat.gz in {data}. Name the folder with the data sets: --data DIR")
    lines = [*reading.run(data), *audit.run(data)]
    table = ["| task | ours (s) | peer (s) | ratio | peer |", "|---|---|---|---|---|"]
    table += [
        f"| {task} | {ours:.4f} | {theirs:.4f} | {ours / theirs:.3f} | {peer} |" for task, ours, theirs, peer in lines
    ]
    text = "\n".join(
        [
            "# Benchmark results",
            "",
            "Ratios of ours to a named peer, both run in one script, best of several runs taken in turns; answers",
            "asserted before timing. Written by `make bench`.",
            "",
            "## Reading and auditing",
            "",
            *table,
            "",
            *_ABOUT_AUDITING.strip().splitlines(),
            "",
            *audit.any_number(data),
            "",
            "## Mining",
            "",
            *_ABOUT_MINING.format(pyfim=version("pyfim"), mlxtend=version("mlxtend")).strip().splitlines(),
            "",
            *mining.table(mining.run(data)),
            "",
            "## Coherence",
            "",
            *coherence.run(data),
            "",
            "The border method and its counters: [BORDERS.md](BORDERS.md).",
            "",
            "## Publishing",
            "",
            *publishing.run(data),
            "",
            "## ρ-uncertainty",
            "",
            *rho.run(data),
            "",
            "## Single occurrences",
            "",
            *partial.run(data),
            "",
            "## Hiding patterns",
            "",
            *hiding.run(data),
            "",
            "## Anatomy",
            "",
            *anatomy.run(data),
            "",
            "## Trees over joins",
            "",
            *joins.run(data),
            "",
            "## Private personalised search",
            "",
            *search.run(data),
            "",
            machine(),
        ]
    )
    print(text)
    (HERE / "RESULTS.md").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
