"""What transactions hold of patterns of any number of items.

A transaction that holds some item of a pattern holds a part of it. Of each pattern, the different parts that are met
in this way are kept, with how many transactions hold exactly that much; a `Parts` answers from them.

The largest parts that are found can be beyond number. They are told besides the verdict, which must not wait for them:
their search ends after so much work. It is counted, not timed, so that the answer is the same on any machine.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from veilset.audit.pattern_counts import ADVICE, TASK, Patterns, counted, counted_on_engine
from veilset.engines import Held, Piece
from veilset.limits import Limits
from veilset.transactions import Transactions

MOST_WORK = 1_000_000_000
"""What the search for largest parts may cost for all patterns together: some seconds."""

_MANY, _ROOM = 4096, 1 << 20  # so many largest parts take no more than so many bytes
_LOOK, _COMPARISON = 8000, 20  # what one costs besides its cells, in cells of `Parts._holds`


class Parts:
    """The different parts of one pattern that transactions hold.

    *holds* tells for each item of the pattern which of these parts have it; *rows*, for each of these parts, how many
    transactions hold exactly that much of the pattern.
    """

    def __init__(self, pattern: tuple[str, ...], holds: npt.NDArray[np.bool_], rows: npt.NDArray[np.int64]) -> None:
        self._pattern = pattern
        self._holds = holds
        self._rows = rows
        self.work = 0  # what the answers have cost so far

    def support(self, items: Sequence[str]) -> int:
        """How many transactions hold all of these items of the pattern."""
        return self._weight(self._among([self._pattern.index(item) for item in items], self._all()))

    def largest(
        self, least: int, most_work: int, limits: Limits
    ) -> tuple[tuple[tuple[tuple[str, ...], int], ...], bool]:
        """The parts that *least* transactions or more hold and that with one more item would not be; their supports.

        Those of the most items come first. The second answer is whether these are all there are: the search ends where
        `work` exceeds *most_work*. It is one in depth, the rarest item first. A branch ends where all items that may
        still be added are held together often enough, or are part of what was found before. What could have one more
        item is part of something in an earlier branch, where that item was taken: so whatever is no part of what was
        found before is a largest part, also if the search does not come to its end.
        """
        everything, everywhere = range(len(self._pattern)), self._all()
        found: dict[int, int] = {}  # items as bits, and the support
        if (whole_pattern := self._weight(self._among(everything, everywhere))) >= least:
            return ((self._pattern, whole_pattern),), True
        path = [self._branch((), everywhere, everything, least)]
        while path:
            limits.check_time(TASK, ADVICE)
            branch = path[-1]
            if not branch.further or self._is_part((*branch.chosen, *branch.further), found):
                path.pop()
                continue
            if self.work > most_work:
                break
            item = branch.further.pop()
            inner = self._branch((*branch.chosen, item), self._among([item], branch.cover), branch.further, least)
            whole = (*inner.chosen, *inner.further)
            together = self._weight(self._among(inner.further, inner.cover))
            if together < least:
                path.append(inner)
            elif not self._is_part(whole, found):
                found[_bits(whole)] = together
                if len(found) % _MANY == 0:
                    limits.require(_ROOM, TASK, ADVICE)
        parts = [(tuple(at for at in everything if bits >> at & 1), support) for bits, support in found.items()]
        parts.sort(key=lambda part: (-len(part[0]), part[0]))
        return tuple((tuple(self._pattern[at] for at in part), support) for part, support in parts), not path

    def _branch(
        self, chosen: tuple[int, ...], cover: npt.NDArray[np.int32], left: Iterable[int], least: int
    ) -> _Branch:
        supports = {item: self._weight(self._among([item], cover)) for item in left}
        further = [item for item in supports if supports[item] >= least]
        return _Branch(chosen, cover, sorted(further, key=lambda item: -supports[item]))

    def _all(self) -> npt.NDArray[np.int32]:
        return np.arange(len(self._rows), dtype=np.int32)

    def _among(self, items: Sequence[int], cover: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """Those of *cover*, numbers of different parts, that have all these items."""
        self.work += _LOOK + len(items) * len(cover)
        return cover[self._holds[np.array(items, dtype=np.int32)[:, None], cover].all(axis=0)]

    def _weight(self, cover: npt.NDArray[np.int32]) -> int:
        return int(self._rows[cover].sum())

    def _is_part(self, items: Iterable[int], found: Collection[int]) -> bool:
        self.work += _COMPARISON * len(found)
        bits = _bits(items)
        return any(bits & ~larger == 0 for larger in found)


class _Branch(NamedTuple):
    """Items that are chosen, the different parts that have them all, and what may be added: the rarest is the last."""

    chosen: tuple[int, ...]
    cover: npt.NDArray[np.int32]
    further: list[int]


def _bits(items: Iterable[int]) -> int:
    return sum(1 << item for item in items)


def parts_of(data: Transactions | Held, patterns: Sequence[tuple[str, ...]], limits: Limits) -> Iterator[Parts]:
    """What transactions hold of each pattern. Items that the data does not have are in none.

    The transactions are read once, where they lie; they may be a file larger than the memory limit.
    """
    known = data if isinstance(data, Transactions) else data.vocabulary
    names = set(known.names)
    codes = [np.sort(known.codes(item for item in pattern if item in names)) for pattern in patterns]
    offsets = np.cumsum([0, *map(len, codes)], dtype=np.int64)
    asked = Patterns(offsets, np.concatenate([np.empty(0, np.int64), *codes]).astype(np.int32), len(names))
    if isinstance(data, Transactions):
        found = counted(Piece(data.offsets, data.items), asked, limits)
    else:
        found = counted_on_engine(data, asked, limits)
    first, begins, places, rows = found
    # Bytes for each item of a pattern and each part that is met: which holds which, and covers along one way down.
    largest = max(len(pattern) * count for pattern, count in zip(patterns, np.diff(first).tolist(), strict=True))
    limits.require(16 * largest, TASK, ADVICE)
    for number, pattern in enumerate(patterns):
        limits.step("Checking what is left of the patterns", number, len(patterns))
        place_of = {item: place for place, item in enumerate(pattern)}
        item = np.array([place_of[known.names[code]] for code in codes[number].tolist()], dtype=np.int32)
        one, last = int(first[number]), int(first[number + 1])
        sizes = np.diff(begins[one : last + 1])
        holds = np.zeros((len(pattern), last - one), dtype=np.bool_)
        held = places[begins[one] : begins[last]]
        holds[item[held], np.repeat(np.arange(last - one, dtype=np.int32), sizes)] = True
        yield Parts(pattern, holds, rows[one:last])
