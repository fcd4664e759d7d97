"""Reading Retail from a plain file: `veilset.read` against the obvious Python loop."""

from __future__ import annotations

import argparse
import gzip
import sys
import tempfile
from pathlib import Path

from measuring import best_in_turns

from veilset.transactions import Transactions, read

Result = tuple[str, float, float, str]
"""(task, our seconds, the peer's seconds, the peer's name)"""

_PEER = "Python loop (split and a dictionary)"


def run(data: Path) -> list[Result]:
    """The best times of several runs of each, taken in turns in this process."""
    packed = data / "fimi-retail" / "retail.dat.gz"
    if not packed.is_file():
        sys.exit(f"There is no {packed}. Say where the data is: --data DIR.")
    ids = gzip.decompress(packed.read_bytes())
    names = b"".join(b",".join(line.split()) + b"\n" for line in ids.splitlines())
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for task, file_name, content, delimiter in [
            ("read Retail, FIMI", "retail.dat", ids, None),
            ("read Retail, basket CSV", "retail.csv", names, ","),
        ]:
            path = Path(folder) / file_name
            path.write_bytes(content)
            assert _same(read(path), *python_loop(path, delimiter)), f"{task}: the two read different transactions"
            ours, peer = best_in_turns(lambda p=path: read(p), lambda p=path, d=delimiter: python_loop(p, d))
            results.append((task, ours, peer, _PEER))
    return results


def python_loop(path: Path, delimiter: str | None) -> tuple[list[list[int]], dict[str, int]]:
    """What one writes without a library: each line split, each name numbered by a dictionary."""
    codes: dict[str, int] = {}
    with path.open() as stream:
        lines = (line.strip().split(delimiter) for line in stream)
        return [[codes.setdefault(name, len(codes)) for name in line] for line in lines], codes


def _same(data: Transactions, rows: list[list[int]], codes: dict[str, int]) -> bool:
    names = list(codes)
    return [set(row) for row in data] == [{names[code] for code in row} for row in rows]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    for task, ours, peer, name in run(parser.parse_args().data):
        print(f"{task}: {ours * 1e3:.1f} ms; {name}: {peer * 1e3:.1f} ms; {peer / ours:.1f} times as fast")
