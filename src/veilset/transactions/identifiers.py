"""Items that look like identifiers: of people, of visits, of days."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from veilset.io.kinds import identifying

_EXAMPLES = 2
_FEWEST, _NEARLY_ALL = 20, 0.9


@dataclass(frozen=True)
class Identifiers:
    """Items of one kind, such as ``dates or times``; ``unique`` are those that only one transaction holds.

    Parameters
    ----------
    kind : str
        One of `veilset.io.kinds.IDENTIFYING`, or ``unique``.
    count : int
        How many items.
    examples : tuple of str
        The first two of them.
    """

    kind: str
    count: int
    examples: tuple[str, ...]


def find_identifiers(names: Sequence[str], supports: npt.NDArray[np.int64]) -> tuple[Identifiers, ...]:
    """The items of a vocabulary that look like identifiers, by kind.

    Items that only one transaction holds count if they are at least 20 and nine tenths of all.

    >>> find_identifiers(["ann@mail.org", "milk"], np.array([1, 2]))
    (Identifiers(kind='e-mail addresses', count=1, examples=('ann@mail.org',)),)
    """
    found = identifying(names)
    unique = np.flatnonzero(supports == 1)
    if len(unique) >= max(_FEWEST, _NEARLY_ALL * len(names)):
        found["unique"] = unique
    return tuple(
        Identifiers(kind, len(codes), tuple(names[code] for code in codes[:_EXAMPLES].tolist()))
        for kind, codes in found.items()
    )
