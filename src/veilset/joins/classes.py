"""The column with the class: its classes in order, and the class of each row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from veilset.errors import InvalidArgument
from veilset.joins.columns import Codes, column_of, kind_of, nameable, ranked


def class_codes(table: pa.Table, column: str) -> tuple[Codes, list[Any]]:
    """The number of each row's class (-1: it has none), and the classes in order.

    >>> codes, classes = class_codes(pa.table({"Class": ["no", None, "yes", "no"]}), "Class")
    >>> codes.tolist(), classes
    ([0, -1, 1, 0], ['no', 'yes'])
    """
    labels = column_of(table, column)
    if kind_of(labels.type) is None:
        raise InvalidArgument(
            f"The column {column!r} is of type {labels.type}, which cannot be a class.",
            "Convert it to text, numbers, booleans or dates.",
        )
    codes, values = ranked(labels)
    return codes, nameable(column, values).to_pylist()


def class_numbers(table: pa.Table, column: str, classes: Sequence[Any]) -> npt.NDArray[np.int64]:
    """The place of each row's class among *classes*; -1: it is none of them, -2: the row has no class.

    >>> class_numbers(pa.table({"Class": ["no", None, "yes", "perhaps"]}), "Class", ["no", "yes"]).tolist()
    [0, -2, 1, -1]
    """
    codes, values = class_codes(table, column)
    number = {value: place for place, value in enumerate(classes)}
    return np.array([*(number.get(value, -1) for value in values), -2], np.int64)[codes]


def class_array(classes: Sequence[Any]) -> npt.NDArray[Any]:
    """Classes as an array; of Python's objects where other arrays would change one, such as text that ends in NUL.

    >>> [class_array(classes).dtype.kind for classes in (["a", "b"], ["a", "a\\0"], [1, 2**64 - 1])]
    ['U', 'O', 'O']
    """
    plain = np.array(classes)
    same = zip(plain.tolist(), classes, strict=True)
    if all(type(one) is type(other) and one == other for one, other in same):
        return plain
    kept = np.empty(len(classes), object)
    kept[:] = classes
    return kept


def class_values(classes: Sequence[Any]) -> Any:
    """Classes as an Arrow array."""
    large = any(isinstance(one, int) and one >= 2**63 for one in classes)
    return pa.array(list(classes), pa.uint64() if large else None)
