"""The experiments of the paper on multi-dimension anatomy (2010, section V, Figures 3 to 7) on our method.

Writes anatomy.csv (a row for each release, and for each confidence that rules were looked for with), then anatomy.md
with charts made from nothing but these rows. Runs that are in the CSV file already are not repeated, so an interrupted
run may be started again; ``--fresh`` repeats all. ``make experiments`` runs this. ``--quick`` has one seed and few
points; ``--seeds`` sets how many there are.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from anatomy_page import write_page
from anatomy_runs import CONFIDENCES, CONNECT, PAPER, T10, T40, Result, Runs, Setting
from rows import read_rows, write_rows

HERE = Path(__file__).parent
WISHES = (5, 10, 15, 20)  # columns in Figure 3
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)


def settings_of_figures(seed: int) -> Iterator[Setting]:
    """Figures 3 to 7; what is looked at besides: fewer columns, milder promises, one open bucket."""
    for wish, diverse in product(WISHES[:-1], PAPER[T40].ls):
        yield Setting(T40, 100_000, wish, diverse, seed=seed)
    for diverse in (2, 3, 4):
        yield Setting(CONNECT, 67_557, PAPER[CONNECT].columns, diverse, seed=seed)
    for data, count in ((T40, 100_000), (CONNECT, 67_557)):
        for diverse, open_buckets in product(PAPER[data].ls, (32, 1)):
            for confidence in CONFIDENCES[data]:
                yield Setting(data, count, PAPER[data].columns, diverse, open_buckets, confidence, seed)


def all_settings(seeds: int, *, quick: bool) -> list[Setting]:
    """Every run once; those of the time against the number of records last, and with one seed."""
    if quick:
        chosen = [s for s in settings_of_figures(0) if s.data == T40 and s.columns == 20 and s.l in (6, 12)]
        return [*chosen, *(Setting(T10, size, 10, 4) for size in SIZES[:2])]
    figures = [setting for seed in range(seeds) for setting in settings_of_figures(seed)]
    return [*figures, *(Setting(T10, size, 10, 4) for size in SIZES)]


def main() -> None:
    """Run what is missing, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=HERE.parent.parent / "shared" / "data", help="the data sets")
    parser.add_argument("--out", type=Path, help="default: docs/experiments, with --quick build/experiments")
    parser.add_argument("--quick", action="store_true", help="one seed, few points")
    parser.add_argument("--seeds", type=int, default=3, choices=range(1, 8), help="of data and chance")
    parser.add_argument("--fresh", action="store_true", help="repeat what was run before")
    given = parser.parse_args()
    out = given.out or HERE.parent / ("build" if given.quick else "docs") / "experiments"
    out.mkdir(parents=True, exist_ok=True)
    file = out / "anatomy.csv"
    results: dict[Setting, Result] = {} if given.fresh else read_rows(file, Setting, Result)
    settings = all_settings(given.seeds, quick=given.quick)
    runs = Runs(given.data)
    for number, setting in enumerate(settings, 1):
        if setting not in results:
            results[setting] = runs.run(setting)
            print(f"{number}/{len(settings)} {setting} {results[setting]}", file=sys.stderr, flush=True)
            write_rows(file, results, settings)
    write_page(out, {setting: results[setting] for setting in settings}, quick=given.quick)


if __name__ == "__main__":
    main()
