"""The one form of transactions: from names to codes, the vocabulary sorted, rows sorted and without repetitions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from veilset import _native
from veilset.errors import InvalidArgument, near_misses
from veilset.io import Rows
from veilset.io.gather import canonical_rows
from veilset.transactions.vocabulary import check_writable, item_name, vocabulary_order


def encoded(rows: Iterable[Iterable[str | int]], persons: Sequence[str | int] | None) -> Rows:
    """Lists of names as rows of codes, each with its person."""
    codes: dict[str, int] = {}
    flat: list[int] = []
    offsets = [0]
    for number, row in enumerate(rows, start=1):
        if isinstance(row, (str, bytes)) or not isinstance(row, Iterable):
            raise InvalidArgument(f"Transaction {number} is {row!r}.", "Give a list of items.")
        flat.extend(codes.setdefault(item_name(item, f"Transaction {number}"), len(codes)) for item in row)
        offsets.append(len(flat))
    check_writable(list(codes))
    owners = owner_names = None
    if persons is not None:
        if len(persons) != len(offsets) - 1:
            raise InvalidArgument(
                f"There are {len(offsets) - 1} transactions and {len(persons)} persons.",
                "Give one person for each row.",
            )
        met: dict[str, int] = {}
        whose = [met.setdefault(item_name(person, "persons"), len(met)) for person in persons]
        owners, owner_names = np.array(whose, dtype=np.int32), pa.array(list(met), type=pa.string())
    return Rows(
        np.array(offsets, dtype=np.int64),
        np.array(flat, dtype=np.int32),
        pa.array(list(codes), type=pa.string()),
        owners,
        owner_names,
    )


def canonical(
    offsets: npt.NDArray[np.int64], codes: npt.NDArray[np.int32], names: Sequence[str], *, in_order: bool
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], tuple[str, ...]]:
    """Offsets and items of the rows over the sorted names that occur; *in_order* says that the names are sorted."""
    there = np.flatnonzero(_native.core.occurring(codes, len(names)))
    vocabulary = list(names) if len(there) == len(names) else [names[code] for code in there.tolist()]
    met = np.arange(len(there))
    if not in_order and len(set(vocabulary)) < len(vocabulary):  # several codes of one name become one item
        place = {name: number for number, name in enumerate(dict.fromkeys(vocabulary))}
        met, vocabulary = np.array([place[name] for name in vocabulary]), list(place)
    order = range(len(vocabulary)) if in_order else vocabulary_order(vocabulary)
    rank = np.empty(len(vocabulary), dtype=np.int32)
    rank[order] = np.arange(len(vocabulary), dtype=np.int32)
    new_code = np.full(len(names), -1, dtype=np.int32)
    new_code[there] = rank[met]
    offsets, items = canonical_rows(offsets, codes, new_code)
    ordered = tuple(vocabulary if in_order else map(vocabulary.__getitem__, order))
    check_writable(ordered)
    return offsets, items, ordered


def check_sensitive(items: Collection[str], names: Sequence[str]) -> None:
    """Raise if an item that is said to be sensitive is not among these names."""
    if items and (missing := sorted(set(items).difference(names), key=str)):
        raise InvalidArgument(
            f"The sensitive item {missing[0]!r} does not occur in the data"
            + (f"; {len(missing):,} sensitive items in total do not." if len(missing) > 1 else "."),
            near_misses(str(missing[0]), names) or "Check its spelling, or remove it from the list.",
        )
