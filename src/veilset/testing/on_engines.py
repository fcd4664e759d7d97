"""The battery of methods on engines: what a method makes of transactions that an engine holds, brought here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from veilset.audit import audit
from veilset.engines import Engine, Held, Piece, Work
from veilset.models import Promise
from veilset.release import HeldRelease, Release
from veilset.transactions import Transactions


def through(engine: Engine, method: Callable[[Held, Any], HeldRelease]) -> Callable[[Transactions, Any], Release]:
    """The method for transactions in memory: an engine reads them, and the release is one of these.

    It raises `AssertionError` if the engine's auditor says that the promise is broken, if other rows are released than
    the declared edits make, or if the method changed what the engine holds.
    """

    def anonymized(data: Transactions, promise: Promise) -> Release:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "data.parquet"
            pq.write_table(pa.table({"items": pa.array(data.to_lists(), pa.list_(pa.string()))}), path)
            held = engine.read(str(path), sensitive=data.sensitive)
            made = method(held, promise)
            assert brought_here(held) == _sorted(data), "The method changed its input."
            answer = audit(made.custodian_data, promise)
            assert answer.holds, f"{answer}\non {data.to_lists()} for {promise}"
            released = data.without(made.suppressed).renamed(made.generalized)
            assert brought_here(made.custodian_data) == _sorted(released), "Its edits do not explain the release."
        return Release(
            original=data,
            custodian_data=released,
            promise=made.promise,
            method=made.method,
            options=made.options,
            suppressed=made.suppressed,
            generalized=made.generalized,
            stands_for=made.stands_for,
            listed_from=made.listed_from,
            undecided=made.undecided,
        )

    return anonymized


def brought_here(held: Held) -> Transactions:
    """The transactions that an engine holds, in an order that depends on nothing else."""
    dealt = held.dealt(_to_one_share, 1)
    try:
        (rows,) = dealt.each(_as_they_are)
    finally:
        dealt.close()
    names = held.vocabulary.names
    lists = (
        [[names[code] for code in row] for row in np.split(rows.items, rows.offsets[1:-1])] if len(rows.weights) else []
    )
    many = [row for row, weight in zip(lists, rows.weights.tolist(), strict=True) for _ in range(weight)]
    return Transactions.from_lists(sorted(many), sensitive=held.vocabulary.sensitive)


def _sorted(data: Transactions) -> Transactions:
    return Transactions.from_lists(sorted(data.to_lists()), sensitive=data.sensitive)


def _to_one_share(piece: Piece) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    return piece.offsets + np.arange(len(piece.offsets)), np.insert(piece.items, piece.offsets[:-1], 0)


def _as_they_are(_: int, rows: Work) -> Work:
    return rows
