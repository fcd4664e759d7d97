"""The experiments of the thesis (§4.5) on our methods, and beyond: δ = 100% and an unlimited p.

Writes coherence.csv (a row for each run), then coherence.md with charts made from nothing but these rows. Runs that
are in the CSV file already are not repeated, so an interrupted run may be started again; ``--fresh`` repeats all.
``make experiments`` runs this; it takes about half an hour. ``--quick`` takes about a minute.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

from coherence_page import write_page
from coherence_runs import CONNECT, KS, NUGGETS, RETAIL, Result, Runs, Setting
from rows import read_rows, write_rows

HERE = Path(__file__).parent
SEEDS = range(5)
FAST = ("tree", "auto", "remove-all", "k-anonymity")
HS = (40, 60, 80, 100)
VARIED = {
    "Connect": {"p": (2, 3, 4, 5, 6, None), "k": (50, 100, 200, 400), "delta": (10, 20, 40, 70, 100), "h": HS},
    "Retail": {"p": (2, 3, 4, 5, 6, None), "k": (10, 20, 30, 40, 50), "delta": (10, 20, 30, 40, 70, 100), "h": HS},
}
TABLE = [(name, 20, p) for name in ("Groceries", "WebView-1", "WebView-2", "Retail", "Connect") for p in (2, 4)]
TABLE.append(("WebView-1", 5, 4))


def item_settings() -> Iterator[Setting]:
    """Figures 20, 22 and 24 to 26: one parameter after the other leaves its default."""
    for default in (CONNECT, RETAIL):
        for letter, values in VARIED[default.data].items():
            for value in values:
                at = replace(default, **{letter: value})
                seeds = SEEDS if at.delta < 100 else SEEDS[:1]  # all items: there is but one selection
                # Proofs for the whole range take seconds on Connect, and all of the time they get on Retail.
                proven = ("optimal",) if default == CONNECT or (letter == "p" and value in (2, default.p)) else ()
                for seed, method in product(seeds, (*FAST, *proven)):
                    yield replace(at, method=method, seed=seed, time_limit=20 if method == "optimal" else at.time_limit)


def nugget_settings() -> Iterator[Setting]:
    """Figures 21 and 23, 27 and 28: all items are public; and the size of the borders."""
    for name, shares in NUGGETS.items():
        for k, method, share in product(KS, ("border", *FAST), shares):
            yield Setting(name, 100, 100, k, None, method, share)
        for k, share in product((10, 50), shares):
            yield Setting(name, 100, 100, k, None, "optimal", share, time_limit=20)
        k = 50 if name == "Connect" else 10
        for h, share in product((20, 40, 60, 80, 100), shares):
            yield Setting(name, 100, h, k, 4, "border", share, cap=20)  # the same private items for every h
        for k, share in product(KS, shares):
            yield Setting(name, 100, 100, k, None, "mole border", share)
        for share in shares:
            yield Setting(name, 100, 100, KS[0], None, "nugget border", share)


def table_settings() -> Iterator[Setting]:
    """Greedy against the proven optimum: all items are public, none is private."""
    for (name, k, p), method in product(TABLE, (*FAST, "optimal")):
        yield Setting(name, 100, 100, k, p, method, time_limit=60)


def all_settings(*, quick: bool) -> list[Setting]:
    """Every run once, in the order of the figures."""
    settings = dict.fromkeys([*nugget_settings(), *item_settings(), *table_settings()])
    return [setting for setting in settings if not quick or is_quick(setting)]


def is_quick(setting: Setting) -> bool:
    """A few points of each figure that take seconds together."""
    if setting.seed or setting.method == "optimal" or setting.data.startswith("WebView"):
        return False
    if setting.nugget_share:
        fast = setting.method not in ("tree", "auto", "remove-all") and setting.h in (20, 100)
        return fast and setting.k in (10, 50) and setting.nugget_share in ("60%", "5%")
    return setting.p in (2, 4) and setting.delta < 70


def main() -> None:
    """Run what is missing, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=HERE.parent.parent / "shared" / "data", help="the data sets")
    parser.add_argument("--out", type=Path, help="default: docs/experiments, with --quick build/experiments")
    parser.add_argument("--quick", action="store_true", help="one selection, few points, no verdicts")
    parser.add_argument("--fresh", action="store_true", help="repeat what was run before")
    given = parser.parse_args()
    out = given.out or HERE.parent / ("build" if given.quick else "docs") / "experiments"
    out.mkdir(parents=True, exist_ok=True)
    file = out / "coherence.csv"
    results = {} if given.fresh else read_rows(file, Setting, Result)
    settings = all_settings(quick=given.quick)
    runs = Runs(given.data)
    for number, setting in enumerate(settings, 1):
        if setting not in results:
            results[setting] = runs.run(setting)
            print(f"{number}/{len(settings)} {setting} {results[setting]}", file=sys.stderr, flush=True)
            write_rows(file, results, settings)
    table = [Setting(name, 100, 100, k, p, "") for name, k, p in TABLE]
    done = {setting: results[setting] for setting in settings}
    write_page(out, done, table, quick=given.quick)


if __name__ == "__main__":
    main()
