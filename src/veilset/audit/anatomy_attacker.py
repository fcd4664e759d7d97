"""A simulated attacker on anatomies (Theorem 1 of the paper): what is the surest guess that he makes?

He knows a target's values in some columns and wants the value in another. He finds the buckets that have all he knows
(Definition 7) and weighs each by the number of its members who can be expected to have these values together,
|B| · Π count / |B|. His belief in a value is the mixture of its shares in these buckets. Where having nothing is free,
it is his belief once he knows that the target has something there.

In an l-diverse anatomy every share is at most 1/l, so every mixture is. The attacker looks at the same data in a second
way: by what the promise is for.

What he does **not** know is how values of different columns tend to go together: inside a bucket, every combination is
as likely to him as any other. Nobody has told him who else is in the bucket, either. Against those who know more,
nothing is promised (`LDiverseAnatomy.not_promised`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import prod

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.audit.anatomy_cut import Cut
from veilset.limits import Limits
from veilset.models import Margin
from veilset.transactions import Transactions

_SEED = 8  # any will do: an auditor repeats itself
_MOST_TARGETS = 1_000
_LOOKS = 4_000_000  # at a bucket for a guess: the more buckets, the fewer targets
_LEAST_TARGETS = 8
_MOST_KNOWN = 100  # columns
_ROWS = 400_000  # of matching buckets, over all guesses
_STAGES = {0: "Choosing what an attacker knows", 2: "Looking for the buckets of targets", 3: "Guessing values"}


def surest_guess(data: Transactions, cut: Cut, *, limits: Limits) -> Margin | None:
    """The most probable value that the attacker meets among many guesses; None: there is no other column to guess.

    Targets are transactions of the data, whose values stand for anybody's. Of each, all columns but one are known, and
    then only some of them. *value* is the probability, *itemset* the guessed value, *column* where it was guessed.
    """
    if len(cut.columns) < 2 or not len(data):
        return None
    asked = list(_guesses(len(data), len(cut.columns), cut.buckets))
    with limits.guard("The audit", "look at fewer transactions."):
        _, rows, surest, buckets = _native.audit.surest_guess(
            data.offsets,
            data.items,
            cut.starts,
            cut.column_of,
            cut.free,
            _native.audit.Guesses(
                targets=np.array([target for target, _, _ in asked], dtype=np.int64),
                wanted=np.array([wanted for _, wanted, _ in asked], dtype=np.int32),
                known_offsets=np.cumsum([0, *(len(known) for _, _, known in asked)], dtype=np.int64),
                known_columns=np.concatenate([known for _, _, known in asked]),
            ),
            row_limit=_ROWS,
            threads=limits.thread_count,
            **limits.for_kernel(_STAGES.__getitem__),
        )
    target, wanted, known = asked[surest]
    if rows[surest] < 0:  # nobody has anything in the columns that were wanted
        return None
    value = _value(data, cut, int(rows[surest]), wanted)
    held = {column: _value(data, cut, target, column) for column in known.tolist()}
    return Margin(posterior(data, cut, held, wanted, value, buckets), value, column=cut.columns[wanted])


def _guesses(rows: int, columns: int, buckets: int) -> Iterator[tuple[int, int, npt.NDArray[np.int32]]]:
    """Targets, what is wanted of them, and which columns are known."""
    chance = np.random.default_rng(_SEED)
    targets = min(_MOST_TARGETS, max(_LEAST_TARGETS, _LOOKS // buckets // 2))
    for target in chance.integers(rows, size=targets).tolist():
        order = chance.permutation(columns).astype(np.int32)
        others = order[1 : 1 + _MOST_KNOWN]
        yield target, int(order[0]), others
        if len(others) > 1:
            yield target, int(order[0]), others[: chance.integers(1, len(others))]


def _value(data: Transactions, cut: Cut, row: int, column: int) -> tuple[str, ...]:
    codes = data.items[data.offsets[row] : data.offsets[row + 1]]
    return tuple(data.names[code] for code in codes[cut.column_of[codes] == column].tolist())


def posterior(
    data: Transactions,
    cut: Cut,
    known: Mapping[int, tuple[str, ...]],
    wanted: int,
    value: tuple[str, ...],
    buckets: npt.NDArray[np.int64] | None = None,
) -> Fraction:
    """The attacker's belief, exactly, that somebody with the *known* values (by column) has *value* in another column.

    *buckets* are those that match, if they have been found already.
    """
    looked_at = np.arange(cut.buckets) if buckets is None else buckets
    sizes = np.diff(cut.starts)[looked_at]
    rows = _ranges(cut.starts[looked_at], sizes)
    lengths = np.diff(data.offsets)[rows]
    items = data.items[_ranges(data.offsets[rows], lengths)]

    def holders(column: int, held: tuple[str, ...]) -> npt.NDArray[np.int64]:
        """How many of each bucket have exactly this in a column."""
        of_value = np.zeros(len(data.names), dtype=bool)
        of_value[data.codes(held)] = True
        some, same = _sums(cut.column_of[items] == column, lengths), _sums(of_value[items], lengths)
        return _sums((some == len(held)) & (same == len(held)), sizes)

    counts = [holders(column, held) for column, held in known.items()]
    guessed, all_there = holders(wanted, value), sizes - holders(wanted, ()) if cut.free[wanted] else sizes
    table = np.stack([sizes, guessed, all_there, *counts], axis=1)
    # Buckets that are alike are counted together, and those of one size share a denominator: that keeps it quick.
    above: defaultdict[int, int] = defaultdict(int)
    below: defaultdict[int, int] = defaultdict(int)
    alike, times = np.unique(table, axis=0, return_counts=True)
    for (size, having, there, *held), many in zip(alike.tolist(), times.tolist(), strict=True):
        above[size] += many * prod(held) * having
        below[size] += many * prod(held) * there
    # w = |B| · Π count / |B|, and shares of |B|: |B| to the power of the number of known columns stands below all.
    power = len(counts)
    all_below = sum((Fraction(total, size**power) for size, total in below.items()), Fraction(0))
    return sum((Fraction(total, size**power) for size, total in above.items()), Fraction(0)) / all_below


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
