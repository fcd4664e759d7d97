"""Items that are replaced by nodes of a taxonomy, and what readers are told of these nodes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from veilset.exact import check_whole


def codes_of(becomes: Sequence[Sequence[int]]) -> npt.NDArray[np.int32]:
    """For each item the numbers of what it becomes, filled up with -1, as `veilset.engines.Held.changed` takes them.

    >>> codes_of([[3], [1, 2]]).tolist()
    [[3, -1], [1, 2]]
    """
    codes = np.full((len(becomes), max(map(len, becomes), default=1)), -1, dtype=np.int32)
    for code, numbers in enumerate(becomes):
        codes[code, : len(numbers)] = numbers
    return codes


def check_name_leaves_from(least: object) -> None:
    """Raise unless it is a number of transactions, or None."""
    check_whole(least, "name_leaves_from", "Give a whole number, or 0 to list all items.", least=0, may_be_none=True)


def listed_under(
    stands_for: Mapping[str, Collection[str]], names: Sequence[str], supports: npt.NDArray[np.int64], least: int
) -> dict[str, tuple[str, ...]]:
    """What readers are told of each coarser name: its items that *least* transactions have; a name of none is left out.

    Whether an item that is not listed occurs is left open: it may be rare, or missing. *supports* are those of *names*.

    >>> listed_under({"drinks": ("ale", "gin", "rum"), "food": ("fig",)}, ["ale", "rum"], np.array([2, 1]), 2)
    {'drinks': ('ale',)}
    """
    support = dict(zip(names, supports.tolist(), strict=True))
    told = {name: tuple(item for item in items if support.get(item, 0) >= least) for name, items in stands_for.items()}
    return {name: items for name, items in told.items() if items}
