"""The experiments of the papers on our methods: ``python experiments/run.py --paper rho``.

Writes a CSV file (a row for each run), then a page with charts made from nothing but these rows. Runs that are in the
CSV file already are not repeated, so an interrupted run may be started again; ``--fresh`` repeats all. ``make
experiments`` runs all papers, which takes hours; ``--quick`` has one seed and few points.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import anatomy
import coherence
import hiding
import join
import partial
import rho
from charts import draw
from paper import Chart, Paper

import search

HERE = Path(__file__).parent
PAPERS = {
    "coherence": coherence.PAPER,
    "rho": rho.PAPER,
    "hiding": hiding.PAPER,
    "partial": partial.PAPER,
    "anatomy": anatomy.PAPER,
    "join": join.PAPER,
    "search": search.PAPER,
}
_READERS = {"str": str, "int": int, "int | None": int, "float": float, "float | None": float}


def main() -> None:
    """Run what is missing, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--paper", choices=PAPERS, action="append", help="can be repeated; default: all")
    parser.add_argument("--data", type=Path, default=HERE.parent.parent / "shared" / "data", help="the data sets")
    parser.add_argument("--out", type=Path, help="default: docs/experiments, with --quick build/experiments")
    parser.add_argument("--quick", action="store_true", help="one seed, few points")
    parser.add_argument("--fresh", action="store_true", help="repeat what was run before")
    given = parser.parse_args()
    out = given.out or HERE.parent / ("build" if given.quick else "docs") / "experiments"
    out.mkdir(parents=True, exist_ok=True)
    for name in given.paper or PAPERS:
        paper = PAPERS[name]
        if missing := [file for file in paper.files if not (given.data / file).is_file()]:
            sys.exit(f"There is no {missing[0]} in {given.data}. Name the folder with the data sets: --data DIR")
        results = run_missing(paper, out / f"{name}.csv", given.data, quick=given.quick, fresh=given.fresh)
        parts = list(written(paper.page(results), out, name))
        if given.quick:
            parts.insert(1, "This is a quick run: few points, one seed.")
        (out / f"{name}.md").write_text("\n\n".join(parts) + "\n", "utf-8")


def run_missing(paper: Paper, file: Path, data: Path, *, quick: bool, fresh: bool) -> dict[Any, Any]:
    """The results of all settings; the file has them after each run."""
    settings = [
        setting
        for setting in dict.fromkeys(paper.settings())
        if not quick or (setting.seed == 0 and paper.is_quick(setting))
    ]
    results = {} if fresh else read_rows(file, paper)
    for number, setting in enumerate(settings, 1):
        if setting not in results:
            results[setting] = paper.run(setting, data)
            print(f"{number}/{len(settings)} {setting} {results[setting]}", file=sys.stderr, flush=True)
            write_rows(file, results, settings)
    rounded = read_rows(file, paper)  # so that the page is the same when nothing is left to run
    return {setting: rounded[setting] for setting in settings}


def written(parts: Iterable[str | Chart], out: Path, name: str) -> Iterator[str]:
    """The parts of the page as text; charts become files, unless nothing of them was run."""
    for part in parts:
        if isinstance(part, str):
            yield part
        elif panels := [panel for panel in part.panels if panel.lines]:
            file = f"{name}-{part.name}.svg"
            (out / file).write_text(draw(panels, part.up, shares=part.shares, log=part.log), "utf-8")
            yield f"![{part.alt}]({file})"


def read_rows(file: Path, paper: Paper) -> dict[Any, Any]:
    """The results of an earlier run, by setting."""
    if not file.exists():
        return {}
    with file.open(encoding="utf-8", newline="") as text:
        rows = csv.DictReader(text)
        if rows.fieldnames != [field.name for kind in (paper.setting, paper.result) for field in fields(kind)]:
            sys.exit(f"{file} has other columns than this version writes. To run everything again: --fresh")
        return {_parsed(paper.setting, row): _parsed(paper.result, row) for row in rows}


def write_rows(file: Path, results: Mapping[Any, Any], order: Iterable[Any]) -> None:
    """All rows, in this order of settings."""
    rows = [_texts(setting) | _texts(results[setting]) for setting in order if setting in results]
    with file.open("w", encoding="utf-8", newline="") as text:
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _texts(of: Any) -> dict[str, object]:
    return {name: round(value, 6) if isinstance(value, float) else value for name, value in asdict(of).items()}


def _parsed(kind: type, row: dict[str, str]) -> Any:
    given = {field.name: (row[field.name], _READERS[field.type]) for field in fields(kind)}
    return kind(**{name: read(text) if text or read is str else None for name, (text, read) in given.items()})


if __name__ == "__main__":
    main()
