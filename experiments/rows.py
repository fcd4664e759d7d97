"""The rows of an experiment as a CSV file: what was run, and what came of it; both are flat dataclasses."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

_READERS = {"str": str, "int": int, "int | None": int, "float": float, "float | None": float}


def read_rows(file: Path, setting: type, result: type) -> dict[Any, Any]:
    """The results of an earlier run, by setting."""
    if not file.exists():
        return {}
    with file.open(encoding="utf-8", newline="") as text:
        rows = csv.DictReader(text)
        if rows.fieldnames != [field.name for kind in (setting, result) for field in fields(kind)]:
            sys.exit(f"{file} has other columns than this version writes. To run everything again: --fresh")
        return {_parsed(setting, row): _parsed(result, row) for row in rows}


def write_rows(file: Path, results: Mapping[Any, Any], order: Iterable[Any]) -> None:
    """All rows, in this order of settings."""
    with file.open("w", encoding="utf-8", newline="") as text:
        rows = None
        for setting in order:
            if setting in results:
                row = _written(setting) | _written(results[setting])
                if rows is None:
                    rows = csv.DictWriter(text, list(row), lineterminator="\n")
                    rows.writeheader()
                rows.writerow(row)


def _written(of: Any) -> dict[str, object]:
    return {name: round(value, 6) if isinstance(value, float) else value for name, value in asdict(of).items()}


def _parsed(kind: type, row: dict[str, str]) -> Any:
    given = {field.name: (row[field.name], _READERS[field.type]) for field in fields(kind)}
    return kind(**{name: read(text) if text or read is str else None for name, (text, read) in given.items()})
