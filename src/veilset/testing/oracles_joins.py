"""Join-then-build: the tree of a join by computing the join. Like `oracles`, it imports nothing of Veilset.

Tables are lists of dicts, missing values None. Joined rows are tuples: the place of a row in each table. Trees are
nested dicts: ``counts`` (of joined rows, by class), ``label``, ``gain`` (in units of 2^-48 bits), ``split`` (table,
column, kind, value; None at a leaf) and ``children``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cache
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Table: TypeAlias = Sequence[Mapping[str, Any]]
Place: TypeAlias = tuple[str, str]
Tree: TypeAlias = dict[str, Any]

FRACTION_BITS = 48
LEAST_GAIN = 1 << (FRACTION_BITS - 40)
_ONE = 1 << 63
_INVERSE_LN2 = 0xB8AA3B295C17F0BC  # 1 / ln 2, 2^63 standing for 1


@cache
def fixed_log2(x: int) -> int:
    """Binary logarithm of 1 ≤ x < 2^63 with 48 bits behind the point, in whole numbers.

    >>> fixed_log2(1), fixed_log2(8) / 2**48, round(fixed_log2(10) / 2**48, 12)
    (0, 3.0, 3.321928094887)
    """
    whole = x.bit_length() - 1
    mantissa = x << (63 - whole)
    i = mantissa >> 53 & 1023
    inverse, log2 = _step(i)
    r = (mantissa * inverse >> 64) - _ONE
    r2 = r * r >> 63
    r3, r4 = r2 * r >> 63, r2 * r2 >> 63
    rest = (r - r2 // 2 + r3 // 3 - r4 // 4) * _INVERSE_LN2 >> 70
    return (whole << FRACTION_BITS) + (log2 + rest >> 8)


@cache
def _step(i: int) -> tuple[int, int]:
    """1 / (1 + i/1024), 2^64 standing for 1, and log2 of 1 + i/1024 with 56 bits behind the point, by squaring."""
    mantissa, result = (1024 + i) << 53, 0
    for _ in range(56):
        square = mantissa * mantissa
        above = square >> 127
        mantissa = square >> 63 + above
        result = result << 1 | above
    return (1 << 74) // (1024 + i), result


def gain(left: Sequence[int], both: Sequence[int]) -> int:
    """Information gain of a split of *both* into *left* and the rest, in units of 2^-48 bits; below 2^-40 bits: none.

    >>> round(gain((2, 0), (5, 3)) / 2**48, 6), gain((1, 2), (3, 6))
    (0.204434, 0)
    """
    shift = max(0, sum(both).bit_length() - 62)
    right = [whole - part for whole, part in zip(both, left, strict=True)]
    gained = _impurity(both, shift) - _impurity(left, shift) - _impurity(right, shift)
    units = max(0, gained) // (sum(both) >> shift)
    return units if units > LEAST_GAIN else 0


def _impurity(counts: Sequence[int], shift: int) -> int:
    return _term(sum(counts) >> shift) - sum(_term(count >> shift) for count in counts)


def _term(n: int) -> int:
    return n * fixed_log2(n) if n > 1 else 0


def nested_loop_join(tables: Mapping[str, Table], predicates: Sequence[tuple[Place, Place]]) -> list[tuple[int, ...]]:
    """The join of small tables: duplicates count, and missing keys match nothing.

    >>> tables = {"A": [{"x": 1}, {"x": 2}, {"x": None}], "B": [{"y": 1}, {"y": 1}, {"y": None}]}
    >>> nested_loop_join(tables, [(("A", "x"), ("B", "y"))])
    [(0, 0), (0, 1)]
    """
    names = list(tables)
    joined: list[tuple[int, ...]] = [()]
    for place, name in enumerate(names):
        known = {names[at]: at for at in range(place)}
        sides = list(predicates) + [(right, left) for left, right in predicates]
        checks = [(known[here[0]], here, there[1]) for here, there in sides if there[0] == name and here[0] in known]
        joined = [
            (*before, number)
            for before in joined
            for number, row in enumerate(tables[name])
            if all(_equal(tables[here[0]][before[at]][here[1]], row[column]) for at, here, column in checks)
        ]
    return joined


def _equal(one: Any, other: Any) -> bool:
    return one is not None and one == other


@dataclass(frozen=True, eq=False)
class Column:
    """A column of the join: for each joined row the rank of its value, and the values in order, a missing one last.

    Parameters
    ----------
    table, name : str
        Where it comes from.
    kind : {"number", "category"}
        Split by x ≤ v, or by one value against the rest.
    codes : array
        Ranks, by joined row.
    values : sequence
        By rank.
    """

    table: str
    name: str
    kind: str
    codes: npt.NDArray[np.int64]
    values: Sequence[Any]


def ranked(values: Sequence[Any]) -> tuple[npt.NDArray[np.int64], list[Any]]:
    """The rank of each value, and the distinct values in order; None ranks last.

    >>> codes, values = ranked([7, None, 3, 7])
    >>> codes.tolist(), values
    ([1, 2, 0, 1], [3, 7, None])
    """
    distinct = [*sorted({value for value in values if value is not None})]
    distinct += [None] * any(value is None for value in values)
    rank = {value: code for code, value in enumerate(distinct)}
    return np.array([rank[value] for value in values], np.int64), distinct


def join_then_build(
    columns: Sequence[Column],
    classes: npt.NDArray[np.int64],
    class_count: int,
    *,
    max_depth: int | None = None,
    min_leaf: int = 1,
) -> Tree:
    """The tree of the join.

    Parameters
    ----------
    columns : sequence of Column
        What splits may ask about: by the order of tables, then of columns.
    classes : array
        The class of each joined row, from 0.
    class_count : int
        How many classes there are.
    max_depth, min_leaf
        When nodes are leaves; the latter in joined rows.
    """
    root: Tree = {}
    ahead = [(root, np.arange(len(classes)), 0)]
    while ahead:
        node, rows, depth = ahead.pop()
        counts = np.bincount(classes[rows], minlength=class_count).tolist()
        node.update(counts=tuple(counts), label=counts.index(max(counts)), gain=0, split=None, children=[])
        if max(counts) == len(rows) or depth == max_depth:
            continue
        gained, chosen, code = _best_split(columns, rows, classes, counts, min_leaf)
        if chosen is None:
            continue
        here = chosen.codes[rows]
        first = here <= code if chosen.kind == "number" else here == code
        node.update(gain=gained, split=(chosen.table, chosen.name, chosen.kind, chosen.values[code]))
        node["children"] = [{}, {}]
        parts = rows[first], rows[~first]
        ahead += [(child, part, depth + 1) for child, part in zip(node["children"], parts, strict=True)]
    return root


def _best_split(
    columns: Sequence[Column],
    rows: npt.NDArray[np.int64],
    classes: npt.NDArray[np.int64],
    both: Sequence[int],
    min_leaf: int,
) -> tuple[int, Column | None, int]:
    """The first split of the largest gain.

    Doubles are good for 12 digits here: they only say which splits need no closer look.
    """
    found = []
    for column in columns:
        codes, left = _left_counts(column, rows, classes, len(both))
        size = left.sum(axis=1)
        possible = (size >= min_leaf) & (len(rows) - size >= min_leaf)
        codes, left = codes[possible], left[possible]
        if len(codes):
            found.append((column, codes, left, _about(left, np.array(both))))
    most = max((float(about.max()) for *_, about in found), default=0.0)
    best: tuple[int, Column | None, int] = (0, None, -1)
    for column, codes, left, about in found:
        for at in np.flatnonzero(about >= most - 1e-9).tolist():
            gained = gain(left[at].tolist(), both)
            if gained > best[0]:
                best = gained, column, int(codes[at])
    return best


def _left_counts(
    column: Column, rows: npt.NDArray[np.int64], classes: npt.NDArray[np.int64], class_count: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The values of a column in a node, in order, and the class counts of what goes left by each: its AVC set."""
    here = column.codes[rows]
    codes = np.flatnonzero(np.bincount(here))
    place = np.zeros(len(column.values), np.int64)
    place[codes] = np.arange(len(codes))
    counts = np.bincount(place[here] * class_count + classes[rows], minlength=len(codes) * class_count)
    avc = counts.reshape(len(codes), class_count)
    return codes, np.cumsum(avc, axis=0) if column.kind == "number" else avc


def _about(left: npt.NDArray[np.int64], both: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Gains as doubles."""

    def impurity(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        numbers = np.column_stack([counts.sum(axis=1), counts]).astype(np.float64)
        terms = numbers * np.log2(np.maximum(numbers, 1))
        gained: npt.NDArray[np.float64] = terms[:, 0] - terms[:, 1:].sum(axis=1)
        return gained

    return (impurity(both[None, :]) - impurity(left) - impurity(both - left)) / int(both.sum())


def expected_errors(rows: int, errors: int, confidence: float) -> Decimal:
    """The upper limit of errors that a leaf is expected to make, with 50 digits.

    >>> [round(expected_errors(4, errors, 0.25), 6) for errors in (0, 1, 4)]
    [Decimal('1.171573'), Decimal('2.171991'), Decimal('4.000000')]
    """
    with localcontext(prec=50):
        n, c = Decimal(rows), Decimal(confidence)
        if errors == 0:
            return n * (1 - c ** (1 / n))
        if 2 * errors + 1 >= 2 * rows:
            return n
        z = Decimal(NormalDist().inv_cdf(1 - confidence))
        f = (errors + Decimal("0.5")) / n
        root = (f / n - f * f / n + z * z / (4 * n * n)).sqrt()
        return n * (f + z * z / (2 * n) + z * root) / (1 + z * z / n)


def pruned(tree: Tree, confidence: float) -> Tree:
    """The tree after pessimistic pruning, bottom-up: a leaf where it is not expected to err more than the subtree."""
    made: dict[int, tuple[Decimal, Tree]] = {}
    for node in reversed(list(walk(tree))):
        rows = sum(node["counts"])
        as_leaf = expected_errors(rows, rows - max(node["counts"]), confidence)
        below = [made[id(child)] for child in node["children"]]
        errors = sum((error for error, _ in below), Decimal(0))
        if below and as_leaf > errors:
            made[id(node)] = errors, node | {"children": [child for _, child in below]}
        else:
            made[id(node)] = as_leaf, node | {"gain": 0, "split": None, "children": []}
    return made[id(tree)][1]


def walk(tree: Tree) -> Iterator[Tree]:
    """The nodes of a tree, each before its children."""
    ahead = [tree]
    while ahead:
        node = ahead.pop()
        yield node
        ahead += reversed(node["children"])
