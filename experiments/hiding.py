"""The experiments of the paper on hiding patterns (Lee, Chang, Chen 2004 §4.2, Figures 6 to 8) on our methods.

Writes hiding.csv (a row for each run), then hiding.md with charts made from nothing but these rows. Runs that are in
the CSV file already are not repeated, so an interrupted run may be started again; ``--fresh`` repeats all. ``make
experiments`` runs this. ``--quick`` has one seed and few points; ``--seeds`` sets how many there are.
"""

from __future__ import annotations

import argparse
import sys
from itertools import product
from pathlib import Path

from hiding_page import write_page
from hiding_runs import CERTIFIED, METHOD, TEXT, Result, Setting, run
from rows import read_rows, write_rows

HERE = Path(__file__).parent
SIZES = (2, 4)
RATES = (0, 20, 40, 60, 80, 100)
METHODS = (*METHOD, *(method + CERTIFIED for method in METHOD if method != TEXT))


def main() -> None:
    """Run what is missing, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="default: docs/experiments, with --quick build/experiments")
    parser.add_argument("--quick", action="store_true", help="one seed, few points")
    parser.add_argument("--seeds", type=int, default=7, choices=range(1, 8), help="of data, patterns and chance")
    parser.add_argument("--fresh", action="store_true", help="repeat what was run before")
    given = parser.parse_args()
    out = given.out or HERE.parent / ("build" if given.quick else "docs") / "experiments"
    out.mkdir(parents=True, exist_ok=True)
    file = out / "hiding.csv"
    results: dict[Setting, Result] = {} if given.fresh else read_rows(file, Setting, Result)
    rates, seeds = (RATES[::5], 1) if given.quick else (RATES, given.seeds)
    settings = [
        Setting(largest, overlap, method, seed)
        for seed, largest, overlap, method in product(range(seeds), SIZES, rates, METHODS)
    ]
    for number, setting in enumerate(settings, 1):
        if setting not in results:
            results[setting] = run(setting)
            print(f"{number}/{len(settings)} {setting} {results[setting]}", file=sys.stderr, flush=True)
            write_rows(file, results, settings)
    write_page(out, {setting: results[setting] for setting in settings}, quick=given.quick)


if __name__ == "__main__":
    main()
