"""Reading Retail from each format: `veilset.read` against a Python loop (text) or pyarrow's own reading (tables).

A wide table of all 16,470 items would have 1.5 billion cells: it has the 200 most frequent ones.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
from measuring import best_in_turns

from veilset.io import FORMATS
from veilset.transactions import Transactions, read

Result = tuple[str, float, float, str]
"""(task, our seconds, the peer's seconds, the peer's name)"""

_LOOP = "Python loop to the same transactions"
_LONG = ("id", "item")


def run(data: Path) -> list[Result]:
    """The best times of several runs of each, taken in turns in this process."""
    packed = data / "fimi-retail" / "retail.dat.gz"
    if not packed.is_file():
        sys.exit(f"There is no {packed}. Say where the data is: --data DIR.")
    retail = read(packed)
    frequent = retail.only([retail.names[code] for code in np.argsort(-retail.supports)[:200].tolist()])
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for name, form in FORMATS.items():
            here = frequent if form.shape == "wide" else retail
            path = Path(folder) / f"{name}{form.suffix}"
            here.write(path, format=name)
            ours = _ours(path, name)
            peer, peers_name = _peer(path, name)
            assert ours() == here, f"{name}: other transactions are read than were written"
            assert _same(here, peer()) or form.container in ("parquet", "arrow"), f"{name}: the peer reads others"
            results.append((f"read Retail, {form.words}", *best_in_turns(ours, peer), peers_name))
    return results


def _ours(path: Path, name: str) -> Callable[[], Transactions]:
    shape = FORMATS[name].shape
    return lambda: read(path, format=name, long=_LONG if shape == "long" else None, wide=shape == "wide")


def _peer(path: Path, name: str) -> tuple[Callable[[], Any], str]:
    if name.startswith("parquet"):
        return lambda: pyarrow.parquet.read_table(path), "pyarrow.parquet.read_table"
    if name.startswith("arrow"):
        # Reading such a file only maps it: nothing is done until somebody looks at the values.
        return lambda: _looked_at(path), "pyarrow.ipc.open_file, and the items dictionary-encoded"
    return lambda: _in_order(*_LOOPS[name](path)), _LOOP


def _looked_at(path: Path) -> Any:
    table = pyarrow.ipc.open_file(path).read_all()
    if pa.types.is_boolean(table.schema.types[0]):
        return [column.combine_chunks().to_numpy(zero_copy_only=False).nonzero() for column in table.columns]
    items = table.column(table.num_columns - 1).combine_chunks()
    return (items.flatten() if pa.types.is_list(items.type) else items).dictionary_encode()


# What one writes without a library: each line split, each name numbered by a dictionary; in the end the vocabulary is
# sorted, and so is each transaction, without repetitions, as everything that counts wants them.


def _in_order(rows: list[list[int]], codes: dict[str, int]) -> tuple[list[list[int]], list[str]]:
    names = sorted(codes, key=int)
    place = [0] * len(names)
    for number, name in enumerate(names):
        place[codes[name]] = number
    return [sorted({place[code] for code in row}) for row in rows], names


def _split(path: Path, delimiter: str | None) -> tuple[list[list[int]], dict[str, int]]:
    codes: dict[str, int] = {}
    with path.open() as stream:
        lines = (line.strip().split(delimiter) for line in stream)
        return [[codes.setdefault(name, len(codes)) for name in line] for line in lines], codes


def _long(path: Path) -> tuple[list[list[int]], dict[str, int]]:
    with path.open(newline="") as stream:
        return _grouped((row["id"], row["item"]) for row in csv.DictReader(stream))


def _wide(path: Path) -> tuple[list[list[int]], dict[str, int]]:
    with path.open(newline="") as stream:
        table = csv.reader(stream)
        codes = {name: code for code, name in enumerate(next(table))}
        return [[code for code, cell in enumerate(row) if cell == "1"] for row in table], codes


def _json(path: Path) -> tuple[list[list[int]], dict[str, int]]:
    codes: dict[str, int] = {}
    with path.open() as stream:
        lines = (json.loads(line) for line in stream)
        return [[codes.setdefault(name, len(codes)) for name in line] for line in lines], codes


def _json_long(path: Path) -> tuple[list[list[int]], dict[str, int]]:
    with path.open() as stream:
        return _grouped((row["id"], row["item"]) for row in map(json.loads, stream))


def _grouped(pairs: Any) -> tuple[list[list[int]], dict[str, int]]:
    codes: dict[str, int] = {}
    rows: dict[Any, list[int]] = {}
    for owner, name in pairs:
        rows.setdefault(owner, []).append(codes.setdefault(name, len(codes)))
    return list(rows.values()), codes


_LOOPS: dict[str, Callable[[Path], tuple[list[list[int]], dict[str, int]]]] = {
    "fimi": lambda path: _split(path, None),
    "spmf": lambda path: _split(path, None),
    "basket": lambda path: _split(path, ","),
    "long": _long,
    "wide": _wide,
    "jsonl": _json,
    "jsonl-long": _json_long,
}


def _same(data: Transactions, read_by_peer: Any) -> bool:
    if not isinstance(read_by_peer, tuple):
        return False
    rows, names = read_by_peer
    return list(data.names) == names and list(data) == [tuple(names[code] for code in row) for row in rows]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    for task, ours, peer, name in run(parser.parse_args().data):
        print(f"{task}: {ours * 1e3:.1f} ms; {name}: {peer * 1e3:.1f} ms; ratio {ours / peer:.2f}")
