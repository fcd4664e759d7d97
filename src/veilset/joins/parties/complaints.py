"""Complaints about strangers who call: the first of a minute are told, the others are counted."""

from __future__ import annotations

from collections.abc import Callable

_WINDOW = 60.0  # seconds


class Complaints:
    """Passes sentences on, so many a minute at most.

    Parameters
    ----------
    tell : callable
        Is told the sentences.
    most : int
        How many in a minute.
    clock : callable
        Seconds that have passed since some time.
    """

    def __init__(self, tell: Callable[[str], None], most: int, clock: Callable[[], float]) -> None:
        self._tell, self._most, self._clock = tell, most, clock
        self._since, self._told, self._untold = clock(), 0, 0

    def say(self, sentence: str) -> None:
        """Tell a sentence, or count it."""
        now = self._clock()
        if now - self._since >= _WINDOW:
            if self._untold:
                self._tell(f"{self._untold:,} more calls of this kind came to nothing.")
            self._since, self._told, self._untold = now, 0, 0
        if self._told < self._most:
            self._told += 1
            self._tell(sentence)
        else:
            self._untold += 1
