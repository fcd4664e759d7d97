"""What every reader gives and every writer takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Rows"]


@dataclass(frozen=True)
class Rows:
    """Rows of item codes as they stand in a file: unsorted, perhaps with repetitions.

    Parameters
    ----------
    offsets, codes : arrays
        Row r holds ``codes[offsets[r]:offsets[r + 1]]``; -1 is an empty field.
    names : sequence of str
        Name of each code; distinct, some perhaps unused.
    persons : sequence of str, optional
        Whose each row is; rows of one person are to be merged.
    ids : sequence of str, optional
        What the file calls each row (the ids of a long file).
    notes : tuple of str
        What a careful reader would want to know about how the file was read.
    in_order : bool
        Whether the names are all used and sorted already, as those of a FIMI file are.
    """

    offsets: npt.NDArray[np.int64]
    codes: npt.NDArray[np.int32]
    names: Sequence[str]
    persons: Sequence[str] | None = None
    ids: Sequence[str] | None = None
    notes: tuple[str, ...] = ()
    in_order: bool = False
