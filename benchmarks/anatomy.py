"""Anatomies of real data: how many columns and how large buckets, and the time in readings of the file.

``make bench`` runs this.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from measuring import best_in_turns, shown

import veilset as vs
from veilset.anonymize.anatomy.columns import make_columns
from veilset.anonymize.anatomy.filling import fill_buckets
from veilset.limits import Limits

__all__ = ["run"]

_SEED, _WISHED = 7, 10
_TASKS = (
    ("Connect", "fimi-connect/connect.dat.gz", 2),
    ("Connect", "fimi-connect/connect.dat.gz", 5),
    ("Retail", "fimi-retail/retail.dat.gz", 2),
    ("Groceries", "groceries/groceries.dat.gz", 2),
    ("T10I4D100K", "fimi-t10i4d100k/T10I4D100K.dat.gz", 2),
)
_HEADS = (
    "data",
    "l",
    f"columns of {_WISHED}",
    "buckets",
    "rows that share a row's bucket",
    "the same, Figure 2",
    "reading",
    "columns",
    "buckets",
    "whole method",
    "audit",
    "buckets to reading (target: at most 5)",
    "Figure 2 in plain Python",
    "ratio to it",
)
_ABOUT = f"""
{_WISHED} columns are wished for. *Buckets* is the record partition alone, one thread; *whole method* is columns,
buckets, permuted rows and their audit, two threads; *reading* is `vs.read` of the packed file, two threads. Figure 2 of
the paper in plain Python (a `Counter` for each column) is the peer, on the same values. Before timing, the auditor
accepts the release, nothing is withheld, and the supports of all frequent pairs (1%) inside a column are those of the
original. *Rows that share a row's bucket* is the mean over rows, itself included.
"""


def run(folder: Path) -> list[str]:
    """A section of the results, as lines of Markdown."""
    rows = [row for name, file, ell in _TASKS for row in _rows(name, folder / file, ell)]
    return [
        *_ABOUT.strip().splitlines(),
        "",
        *(f"| {' | '.join(cells)} |" for cells in (_HEADS, ["---"] * len(_HEADS), *rows)),
    ]


def _rows(name: str, path: Path, ell: int) -> Iterator[list[str]]:
    data, promise = vs.read(path), vs.LDiverseAnatomy(ell)
    release = vs.anonymize(data, promise, columns=_WISHED, random_state=_SEED)
    anatomy = release.custodian_data.anatomy
    assert release.certified and release.withheld == () and release.loss == 0 and anatomy is not None
    column_of = dict(zip(data.names, anatomy.column_of(data.names).tolist(), strict=True))
    pairs = [pair for pair, _ in vs.mining.pairs(data, min_support="1%") if column_of[pair[0]] == column_of[pair[1]]]
    assert np.array_equal(vs.mining.supports(data, pairs), vs.mining.supports(release.custodian_data, pairs))
    made = make_columns(data, promise, columns=_WISHED, taxonomy=None, level=None, random_state=_SEED, limits=Limits())
    fill = partial(fill_buckets, data, promise, made, seed=_SEED, limits=Limits())
    rows = made.values.tolist()
    reading, columns, buckets, whole, audit, plain = best_in_turns(
        lambda: vs.read(path),
        lambda: make_columns(
            data, promise, columns=_WISHED, taxonomy=None, level=None, random_state=_SEED, limits=Limits()
        ),
        lambda: fill(open_buckets=32, size=1),
        lambda: vs.anonymize(data, promise, columns=_WISHED, random_state=_SEED),
        lambda: vs.audit(release.custodian_data, promise),
        lambda: _figure_2(rows, ell),
    )
    literal = np.bincount(fill(open_buckets=1, size=1).bucket_of)
    yield [
        name,
        str(ell),
        str(len(anatomy.columns)),
        f"{anatomy.count:,}",
        f"{_shared(anatomy.sizes):.2f}",
        f"{_shared(literal):.2f}",
        *map(shown, (reading, columns, buckets, whole, audit)),
        f"{buckets / reading:.2f}",
        shown(plain),
        f"{buckets / plain:.4f}",
    ]


def _figure_2(rows: list[list[int]], ell: int) -> list[list[int]]:
    """Lines 1 to 9 of the figure."""
    buckets: list[list[int]] = []
    open_rows: list[int] = []
    hashed: list[Counter[int]] = [Counter() for _ in rows[0]]
    commonest = [0] * len(hashed)
    for number, row in enumerate(rows):
        open_rows.append(number)
        for column, value in enumerate(row):
            hashed[column][value] += 1
            commonest[column] = max(commonest[column], hashed[column][value])
        if max(commonest) * ell <= len(open_rows):
            buckets.append(open_rows)
            open_rows, hashed, commonest = [], [Counter() for _ in row], [0] * len(row)
    return buckets


def _shared(sizes: np.ndarray) -> float:
    return float((sizes**2).sum() / sizes.sum())
