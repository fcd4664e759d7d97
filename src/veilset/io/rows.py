"""What every reader gives: the rows of a source, piece by piece."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Offsets = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Rows:
    """Some rows of a source as they stand there: unsorted, perhaps with repetitions. Codes mean something here only.

    Parameters
    ----------
    offsets, codes : arrays
        Row r holds ``codes[offsets[r]:offsets[r + 1]]``; -1 is an empty field. The first offset is 0.
    names : pyarrow.Array of strings
        Name of each code; distinct, some perhaps unused.
    owners : array, optional
        Whose each row is, as codes; rows of one owner are to be merged, whichever piece they are in. -1 is nobody,
        before `veilset.io.gaps` has seen to it.
    owner_names : pyarrow.Array of strings, optional
        Name of each owner's code; distinct. Once the rows of each owner are merged, of each row.
    ids : array, optional
        Which transaction each row is of, as codes, where that matters besides the owner; -1 is none.
    id_names : pyarrow.Array of strings, optional
        Name of each of these codes; distinct.
    owner_rows : array, optional
        Once the rows of each owner are merged: how many there were.
    notes : mapping of str to int
        What a careful reader would want to know: a sentence with ``{:,}`` for the number, and the number, which is
        added up over the pieces.
    in_order : bool
        Whether the names are all used and in the order of a vocabulary, as those of a FIMI file are.
    """

    offsets: Offsets
    codes: Codes
    names: Any
    owners: Codes | None = None
    owner_names: Any = None
    ids: Codes | None = None
    id_names: Any = None
    owner_rows: Offsets | None = None
    notes: Mapping[str, int] = field(default_factory=dict)
    in_order: bool = False


def ends_of(lengths: Sequence[int] | npt.NDArray[Any]) -> Offsets:
    """The offsets of rows of these lengths."""
    ends = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=ends[1:])
    return ends


def arrow_numbers(array: npt.NDArray[Any]) -> Any:
    """An Arrow array over the same memory. ``pa.array`` would load pandas, where it is installed, to have a look."""
    array = np.ascontiguousarray(array)
    return pa.Array.from_buffers(pa.from_numpy_dtype(array.dtype), len(array), [None, pa.py_buffer(array)])
