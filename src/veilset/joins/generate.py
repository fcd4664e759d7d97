"""Tables to try things on: the chain of the thesis (§3.4.1), and the star of a warehouse."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

_CATEGORIES = 20
_LARGEST = 10_000  # of numbers


class Made(NamedTuple):
    """What `JoinClassifier.fit` takes: ``fit(made.tables, joins=made.joins, target=made.target)``."""

    tables: dict[str, pa.Table]
    joins: list[tuple[str, str]]
    target: str


def chain(tables: int, *, rows: int, keys: int, columns: int = 5, random_state: int = 0) -> Made:
    """A chain of tables with many-to-many joins, as in the thesis.

    All rows of a join value have the same class. It says whether at least half of the numbers of its joined rows are in
    the upper half of their range. How many are is drawn for each join value, and spread over the tables at random. Rows
    of a join value are as many in each table: a Poisson number with the mean rows / keys.

    Parameters
    ----------
    tables : int
        How many tables.
    rows, keys : int
        Expected number of rows of each table, and number of different join values.
    columns : int
        How many columns of numbers each table has, and how many of text.
    random_state : int
        Seed. Others give an independent sample of the same kind.

    Examples
    --------
    >>> made = chain(3, rows=100, keys=25)
    >>> made.joins, made.tables["T3"].column_names[:3]
    ([('T1.next', 'T2.previous'), ('T2.next', 'T3.previous')], ['previous', 'number1', 'number2'])
    """
    draw = np.random.default_rng(random_state)
    sizes = draw.poisson(rows / keys, keys)
    upper = draw.integers(0, tables * columns + 1, keys)
    is_upper = draw.permuted(np.arange(tables * columns) < upper[:, None], axis=1)
    made = {}
    for number in range(tables):
        of = draw.permutation(np.repeat(np.arange(keys), sizes))
        held: dict[str, object] = {} if number == 0 else {"previous": of}
        held |= {} if number == tables - 1 else {"next": of}
        here = is_upper[:, number * columns : (number + 1) * columns]
        held |= _columns(draw, here[of], min(rows, _LARGEST))
        if number == 0:
            held["Class"] = pa.array(np.where(2 * upper[of] >= tables * columns, "Yes", "No"))
        made[f"T{number + 1}"] = pa.table(held)
    joins = [(f"T{number}.next", f"T{number + 1}.previous") for number in range(1, tables)]
    return Made(made, joins, "T1.Class")


def star(dimensions: int, *, facts: int, rows: int, columns: int = 3, random_state: int = 0) -> Made:
    """A table of facts that refers to the rows of other tables: many-to-one joins, as in a warehouse.

    The class of a fact says whether at least half of the numbers of its joined row are in the upper half of their
    range; one fact in ten has a class drawn at random.

    Parameters
    ----------
    dimensions : int
        How many other tables.
    facts, rows : int
        Rows of the table of facts, and of each other table.
    columns : int
        How many columns of numbers each table has, and how many of text.
    random_state : int
        Seed.

    Examples
    --------
    >>> made = star(2, facts=1000, rows=10)
    >>> made.joins, made.tables["D2"].num_rows
    ([('F.d1', 'D1.id'), ('F.d2', 'D2.id')], 10)
    """
    draw = np.random.default_rng(random_state)
    made: dict[str, pa.Table] = {}
    held: dict[str, object] = {}
    in_upper = draw.random((facts, columns)) < 0.5
    upper = in_upper.sum(axis=1)
    for number in range(1, dimensions + 1):
        here = draw.random((rows, columns)) < 0.5
        of = draw.integers(0, rows, facts)
        upper += here.sum(axis=1)[of]
        held[f"d{number}"] = of
        made[f"D{number}"] = pa.table({"id": np.arange(rows), **_columns(draw, here, min(rows, _LARGEST))})
    is_yes = 2 * upper >= (dimensions + 1) * columns
    is_yes ^= (draw.random(facts) < 0.1) & (draw.random(facts) < 0.5)
    held |= _columns(draw, in_upper, min(facts, _LARGEST))
    held["Class"] = pa.array(np.where(is_yes, "Yes", "No"))
    joins = [(f"F.d{number}", f"D{number}.id") for number in range(1, dimensions + 1)]
    return Made({"F": pa.table(held), **made}, joins, "F.Class")


def _columns(draw: np.random.Generator, is_upper: npt.NDArray[np.bool_], largest: int) -> dict[str, object]:
    """Columns of numbers, in the upper half of their range where it says so, and as many columns of text."""
    count, half = is_upper.shape[1], largest // 2
    low, high = draw.integers(1, half + 1, is_upper.shape), draw.integers(half + 1, largest + 1, is_upper.shape)
    numbers = np.where(is_upper, high, low)
    names = pa.array([f"c{number:02}" for number in range(1, _CATEGORIES + 1)])
    held: dict[str, object] = {f"number{at + 1}": numbers[:, at] for at in range(count)}
    for at in range(count):
        codes = pa.array(draw.integers(0, _CATEGORIES, len(is_upper), dtype=np.int32))
        held[f"text{at + 1}"] = pa.DictionaryArray.from_arrays(codes, names).cast(pa.string())
    return held
