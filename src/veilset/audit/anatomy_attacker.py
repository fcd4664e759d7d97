"""A simulated attacker on anatomies (Theorem 1 of the paper): what is the surest guess that he makes?

He knows a target's values in some columns and wants the value in another. He finds the buckets that have all he knows
(Definition 7) and weighs each by the number of its members who can be expected to have these values together, if all
arrangements in which nobody's transaction is empty are equally likely. His belief in a value is the mixture of its
probabilities in these buckets. Where having nothing is free, it is his belief once he knows that the target has
something there. Of sensitive items, it is his belief that the target has any.

In an l-diverse anatomy every probability is at most 1/l, so every mixture is. The attacker looks at the same data in a
second way: by what the promise is for.

What he does **not** know is how values of different columns tend to go together: inside a bucket, every combination is
as likely to him as any other. Nobody has told him who else is in the bucket, either. Against those who know more,
nothing is promised (`LDiverseAnatomy.not_promised`).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.audit.anatomy_beliefs import beliefs_in
from veilset.audit.anatomy_cut import FREE, SENSITIVE, Cut, Profiles
from veilset.limits import Limits
from veilset.models import Margin
from veilset.transactions import Transactions

_SEED = 8  # any will do: an auditor repeats itself
_MOST_TARGETS = 1_000
_LOOKS = 4_000_000  # at a bucket for a guess: the more buckets, the fewer targets
_LEAST_TARGETS = 8
_MOST_KNOWN = 100  # columns
_ROWS = 400_000  # of matching buckets, over all guesses
_LOOKED_AT = 4  # guesses that seem surest
_STAGES = {0: "Choosing what an attacker knows", 2: "Looking for the buckets of targets", 3: "Guessing values"}


def surest_guess(data: Transactions, cut: Cut, profiles: Profiles, *, limits: Limits) -> Margin | None:
    """The most probable value that the attacker meets among many guesses; None: there is no other column to guess.

    Targets are transactions of the data, whose values stand for anybody's; none may be empty. Of each, all columns but
    one are known, and then only some of them. The guesses that seem surest are computed exactly: *value* is the
    probability, *itemset* the guessed value, *column* where it was guessed. A value with *sensitive* stands for any.
    """
    if len(cut.columns) < 2 or not len(data):
        return None
    asked = list(_guesses(len(data), len(cut.columns), cut.buckets))
    with limits.guard("The audit", "look at fewer transactions."):
        probabilities, rows, offsets, buckets = _native.audit.anatomy_guesses(
            data.offsets,
            data.items,
            cut.starts,
            cut.column_of,
            cut.rules,
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
    best = None
    for guess in np.argsort(-probabilities, kind="stable")[:_LOOKED_AT].tolist():
        target, wanted, known = asked[guess]
        if rows[guess] < 0:  # nobody has anything in the column that was wanted
            continue
        held = {column: _value(data, cut, target, column) for column in known.tolist()}
        value, matching = _value(data, cut, int(rows[guess]), wanted), buckets[offsets[guess] : offsets[guess + 1]]
        beliefs = beliefs_in(data, cut, profiles, matching, held, wanted, value, limits)
        for margin in _margins(cut, wanted, value, beliefs):
            if best is None or margin.value > best.value:
                best = margin
    return best


def _margins(cut: Cut, wanted: int, value: tuple[str, ...], beliefs: tuple[Fraction, Fraction] | None) -> list[Margin]:
    """What is believed of a value and of having nothing, as far as these are limited."""
    if beliefs is None:
        return []
    (sure, nothing), column = beliefs, cut.columns[wanted]
    if cut.rules[wanted] == SENSITIVE:
        return [Margin(1 - nothing, value, value[0], column=column)]
    if cut.rules[wanted] == FREE:
        return [Margin(sure / (1 - nothing), value, column=column)] if nothing < 1 else []
    return [Margin(sure, value, column=column), Margin(nothing, (), column=column)]


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
