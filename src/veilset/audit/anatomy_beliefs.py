"""What an attacker on anatomies believes, exactly: see `anatomy_attacker`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction
from math import prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from veilset.audit.anatomy_cut import Cut, Profiles
from veilset.audit.anatomy_nothing import signed_sum
from veilset.limits import Limits
from veilset.transactions import Transactions

_LARGE = 20_000  # rows of buckets that differ and are not anchored


def beliefs_in(
    data: Transactions,
    cut: Cut,
    profiles: Profiles,
    buckets: npt.NDArray[np.int64],
    known: Mapping[int, tuple[str, ...]],
    wanted: int,
    value: tuple[str, ...],
    limits: Limits,
) -> tuple[Fraction, Fraction] | None:
    """The belief that somebody with the *known* values (by column) has *value* in another column, or nothing there.

    He is in one of *buckets*, all of which have the known values. None: to compute it would take long.
    """
    sizes = np.diff(cut.starts)[buckets]
    rows = _ranges(cut.starts[buckets], sizes)
    lengths = np.diff(data.offsets)[rows]
    items = data.items[_ranges(data.offsets[rows], lengths)]

    def holders(column: int, held: tuple[str, ...]) -> npt.NDArray[np.int64]:
        """How many of each bucket have exactly this in a column."""
        of_value = np.zeros(len(data.names), dtype=bool)
        of_value[data.codes(held)] = True
        some, same = _sums(cut.column_of[items] == column, lengths), _sums(of_value[items], lengths)
        return _sums((some == len(held)) & (same == len(held)), sizes)

    asked = {**known, wanted: value}
    counts = [holders(column, held) for column, its in asked.items() for held in (its, ())]
    table = np.stack([sizes, profiles.of[buckets], *counts], axis=1)
    # Buckets that are alike are counted together, and those with one denominator are added first.
    alike, times = np.unique(table, axis=0, return_counts=True)
    if alike[alike[:, 1] >= 0, 0].sum() > _LARGE:
        return None
    sums: defaultdict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
    for (size, profile, *numbers), many in zip(alike.tolist(), times.tolist(), strict=True):
        held = {
            column: _Held(*pair, empty=not asked[column])
            for column, pair in zip(asked, zip(numbers[::2], numbers[1::2], strict=True), strict=True)
        }
        here = held.pop(wanted)
        below, *above = (
            _independent(size, held, here)
            if profile < 0
            else _dependent(size, profiles.empty(profile), held, wanted, here, limits)
        )
        sums[below] = [old + many * new for old, new in zip(sums[below], above, strict=True)]
    fitting, sure, nothing = _total([[*above, below] for below, above in sums.items()])
    return Fraction(sure, fitting), Fraction(nothing, fitting)


class _Held(NamedTuple):
    """A value of a column: how many of a bucket have it, how many have nothing there, and whether it is nothing."""

    rows: int
    nothing: int
    empty: bool


def _independent(size: int, known: Mapping[int, _Held], here: _Held) -> tuple[int, int, int, int]:
    """How many members fit, how many of these have the value that is guessed, and nothing: a denominator, numerators.

    In some column everybody has something: then all arrangements are possible.
    """
    fitting = size * prod(held.rows for held in known.values())
    return size ** (len(known) + 1), fitting * size, fitting * here.rows, fitting * here.nothing


def _dependent(
    size: int, empty: Mapping[int, int], known: Mapping[int, _Held], wanted: int, here: _Held, limits: Limits
) -> tuple[int, int, int, int]:
    """The same if there is no such column: only arrangements in which nobody is empty are possible.

    *empty* is the number of rows with nothing in each column where anybody has something. Those with something in a
    column have each of its values equally often.
    """

    def ways(is_empty: Mapping[int, bool]) -> int:
        """The ways to choose the rows with nothing, if the target has nothing in these columns, and not in those."""
        choices = [
            (size - 1, count - is_empty[column]) if column in is_empty else (size, count)
            for column, count in empty.items()
        ]
        without_target = signed_sum(size - 1, choices, limits)  # none of the others is empty
        if not all(is_empty.values()):
            return without_target
        return without_target - signed_sum(size - 1, [(size - 1, count - 1) for count in empty.values()], limits)

    is_empty = {column: held.empty for column, held in known.items()}
    fitting, nothing = ways(is_empty), ways({**is_empty, wanted: True})
    some = [held for held in known.values() if not held.empty]
    weight, holders = size * prod(held.rows for held in some), max(1, size - here.nothing)
    below = ways({}) * prod(size - held.nothing for held in some) * holders
    sure = nothing * holders if here.empty else (fitting - nothing) * here.rows
    return below, weight * fitting * holders, weight * sure, weight * nothing * holders


def _total(terms: list[list[int]]) -> list[int]:
    """The sums of fractions, whose denominators come last, without their common one; in pairs, so it stays quick."""
    while len(terms) > 1:
        odd = [terms.pop()] if len(terms) % 2 else []
        pairs = zip(terms[::2], terms[1::2], strict=True)
        terms = odd + [
            [*(a * other + b * below for a, b in zip(mine, its, strict=True)), below * other]
            for (*mine, below), (*its, other) in pairs
        ]
    return terms[0][:-1]


def _ranges(starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """So many numbers from each start on, one after the other."""
    ends = np.cumsum(lengths)
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(ends[-1] if len(ends) else 0)


def _sums(marked: npt.NDArray[np.bool_], lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """How many are marked in each of the parts, of these lengths, that lie one after the other."""
    before = np.zeros(len(marked) + 1, dtype=np.int64)
    np.cumsum(marked, out=before[1:])
    ends = np.cumsum(lengths)
    sums: npt.NDArray[np.int64] = before[ends] - before[ends - lengths]
    return sums
