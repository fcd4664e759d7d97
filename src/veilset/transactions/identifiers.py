"""Items that look like identifiers: of people, of visits, of days."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from veilset.io.kinds import identifying, numbered

_EXAMPLES = 2
_FEWEST, _NEARLY_ALL = 20, 0.9
_RARE = 2  # transactions that hold it, at most
_EXACTLY_ONE = 0.8  # of the transactions; of items that fall at random, at most 1/e of them would hold exactly one
_BLOCK = 1 << 20  # transactions


@dataclass(frozen=True)
class Identifiers:
    """Items of one kind, such as ``dates or times``.

    ``unique`` are those that only one transaction holds; ``rare``, those that at most two hold, while nearly every
    transaction holds exactly one of them; ``recurring``, numbers or codes of one shape, however frequent, of which
    nearly every transaction holds exactly one beside other items.

    Parameters
    ----------
    kind : str
        One of `veilset.io.kinds.IDENTIFYING`, ``unique``, ``rare`` or ``recurring``.
    count : int
        How many items.
    examples : tuple of str
        The first two of them.
    """

    kind: str
    count: int
    examples: tuple[str, ...]


def find_identifiers(
    names: Sequence[str],
    supports: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int64],
    items: npt.NDArray[np.int32],
) -> tuple[Identifiers, ...]:
    """The items of a vocabulary that look like identifiers, by kind; *offsets* and *items* are the transactions.

    Items that only one transaction holds count if they are at least 20 and nine tenths of all. Of words, of numbers and
    of other codes, those that at most two transactions hold count if they are at least 20, and four of five
    transactions hold exactly one of them: so do names of people. Numbers, or codes of one shape, with at least five
    digits count however often they recur, if four of five transactions hold exactly one of them and something else:
    so do numbers of patients, while a basket holds several products or nothing else.

    >>> offsets, items = np.array([0, 2, 3]), np.array([0, 1, 1], dtype=np.int32)
    >>> find_identifiers(["ann@mail.org", "milk"], np.array([1, 2]), offsets, items)
    (Identifiers(kind='e-mail addresses', count=1, examples=('ann@mail.org',)),)
    """
    found = identifying(names)
    known = np.zeros(len(names), dtype=bool)
    for codes in found.values():
        known[codes] = True
    unique = np.flatnonzero(supports == 1)
    if len(unique) >= max(_FEWEST, _NEARLY_ALL * len(names)):
        found["unique"] = unique
    else:
        rare = np.flatnonzero((supports > 0) & (supports <= _RARE) & ~known)
        one_each = [codes for codes in _alike(names, rare) if _is_in_each(codes, supports, offsets, items)]
        if one_each:
            codes = np.sort(np.concatenate(one_each))
            found["unique" if supports[codes].max() == 1 else "rare"] = codes
            known[codes] = True
        shapes = [codes[(supports[codes] > 0) & ~known[codes]] for codes in numbered(names)]
        beside = [codes for codes in shapes if _is_in_each(codes, supports, offsets, items, beside_others=True)]
        if beside:
            found["recurring"] = np.sort(np.concatenate(beside))
    return tuple(
        Identifiers(kind, len(codes), tuple(names[code] for code in codes[:_EXAMPLES].tolist()))
        for kind, codes in found.items()
    )


def _alike(names: Sequence[str], codes: npt.NDArray[np.int64]) -> list[npt.NDArray[np.int64]]:
    """The items that are words, numbers, and other codes."""
    if len(codes) < _FEWEST:
        return []
    texts = [names[code] for code in codes.tolist()]
    numbers = np.array([text.isdigit() for text in texts])
    words = np.array([not any(map(str.isdigit, text)) for text in texts])
    return [codes[words], codes[numbers], codes[~words & ~numbers]]


def _is_in_each(
    codes: npt.NDArray[np.int64],
    supports: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int64],
    items: npt.NDArray[np.int32],
    *,
    beside_others: bool = False,
) -> bool:
    """Whether nearly every transaction holds exactly one of these items, and something else if that is asked for."""
    needed = _EXACTLY_ONE * (len(offsets) - 1)
    if len(codes) < _FEWEST or supports[codes].sum() < needed:
        return False
    among = np.zeros(len(supports), dtype=bool)
    among[codes] = True
    count = 0
    for first in range(0, len(offsets) - 1, _BLOCK):
        ends = offsets[first : first + _BLOCK + 1]
        held = np.append(0, np.cumsum(among[items[ends[0] : ends[-1]]]))
        one = np.diff(held[ends - ends[0]]) == 1
        count += int(np.count_nonzero(one & (np.diff(ends) > 1) if beside_others else one))
    return count >= needed
