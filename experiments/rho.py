"""The experiments of the paper on ρ-uncertainty (Cao et al. 2010 §6, Figures 5 to 11) on our methods.

Writes rho.csv (a row for each run), then rho.md with charts made from nothing but these rows. Runs that are in the CSV
file already are not repeated, so an interrupted run may be started again; ``--fresh`` repeats all. ``make experiments``
runs this. ``--quick`` has one selection of sensitive items and few points; ``--selections`` sets how many there are.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

from rho_page import write_page
from rho_runs import LONG_SELECTIONS, METHOD, POS, Result, Runs, Setting, available
from rows import read_rows, write_rows

HERE = Path(__file__).parent
DATA = ("WebView-1", "WebView-2", "POS-like")
# As the paper has them: the longest transactions of the prefixes of BMS-POS have 2, 3, 5, 9, 23 and 77 items.
PREFIXES = (100_000, 200_000, 300_000, 400_000, 500_000, 515_500)
DEFAULT = Setting("POS-like", "", prefix=300_000)
RHOS = (30, 40, 50, 60, 70, 80)
FAN_OUTS = (2, 4, 8, 16, 32)
SHARES = (10, 20, 30, 40, 50, 60)
ITEMS = (400, 800, 1200, 1657)


def settings_of_figures(seed: int) -> Iterator[Setting]:
    """Figures 5 to 11, one parameter after the other; every figure has its points for each method."""
    at = replace(DEFAULT, seed=seed)
    for name, longest, method in product(DATA, (5, None), (*METHOD, "proven floor")):
        yield Setting(name, method, longest=longest, seed=seed)
    for prefix, method in product(PREFIXES, (*METHOD, "select-a-size")):
        yield replace(at, method=method, prefix=prefix)
    for rho, method in product(RHOS, METHOD):
        yield replace(at, method=method, rho=rho)
    for fan_out, method in product(FAN_OUTS, ("TDControl", "top-down")):
        yield replace(at, method=method, fan_out=fan_out)
    for share, method in product(SHARES, METHOD):
        yield replace(at, method=method, sensitive=share)
    for items, method in product(ITEMS, METHOD):
        yield replace(at, method=method, items=items)
    for rho, method in product(RHOS, ("TDControl", "top-down", "select-a-size")):
        yield Setting("POS-like", method, longest=5, rho=rho, seed=seed)


def all_settings(selections: int, *, quick: bool) -> list[Setting]:
    """Every run once, selection after selection; what takes long comes last."""
    settings = dict.fromkeys(setting for seed in range(selections) for setting in settings_of_figures(seed))
    chosen = [
        setting
        for setting in settings
        if (setting.seed < LONG_SELECTIONS or not _takes_long(setting)) and (not quick or _is_quick(setting))
    ]
    return sorted(chosen, key=lambda setting: (setting.data == "POS-like", _takes_long(setting)))


def _takes_long(setting: Setting) -> bool:
    """Minutes for each method: the long transactions of the large set."""
    return setting.data == "POS-like" and setting.longest is None and (setting.prefix or POS["transactions"]) > 300_000


def _is_quick(setting: Setting) -> bool:
    """A few points that take seconds: the WebViews, and the shortest transactions."""
    if setting.data != "POS-like":
        return True
    return setting.longest is None and setting.prefix in PREFIXES[:2] and setting.rho == 50


def main() -> None:
    """Run what is missing, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=HERE.parent.parent / "shared" / "data", help="the data sets")
    parser.add_argument("--out", type=Path, help="default: docs/experiments, with --quick build/experiments")
    parser.add_argument("--quick", action="store_true", help="one selection, few points")
    parser.add_argument("--selections", type=int, default=7, choices=range(1, 8), help="of sensitive items")
    parser.add_argument("--fresh", action="store_true", help="repeat what was run before")
    given = parser.parse_args()
    out = given.out or HERE.parent / ("build" if given.quick else "docs") / "experiments"
    out.mkdir(parents=True, exist_ok=True)
    file = out / "rho.csv"
    results: dict[Setting, Result] = {} if given.fresh else read_rows(file, Setting, Result)
    settings = all_settings(1 if given.quick else given.selections, quick=given.quick)
    runs = Runs(given.data)
    for number, setting in enumerate(settings, 1):
        if setting not in results and available(setting.method):
            results[setting] = runs.run(setting)
            print(f"{number}/{len(settings)} {setting} {results[setting]}", file=sys.stderr, flush=True)
            write_rows(file, results, settings)
    write_page(out, {setting: results[setting] for setting in settings if setting in results}, quick=given.quick)


if __name__ == "__main__":
    main()
