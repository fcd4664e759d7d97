"""Files that may be damaged, or lie about their sizes, for pyarrow to read from."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from typing import IO

import pyarrow as pa

from veilset.errors import BudgetExceeded, UnreadableInput, VeilsetError
from veilset.limits import Limits

CONTAINER_WORDS = {"parquet": "Parquet", "arrow": "Arrow"}
_SMALL = 1 << 20  # bytes


class SuspectFile(io.RawIOBase):
    """A file to read from: no more than there is, and no more at once than the memory limit allows.

    Errors call it by its *name*, and say that it is no *container*, ``parquet`` or ``arrow``.
    """

    def __init__(self, stream: IO[bytes], name: str, container: str, limits: Limits) -> None:
        self._stream = stream
        self.name = name
        self._container = container
        self._limits = limits
        self._refusal: BudgetExceeded | None = None
        self.is_damaged = False
        self.size = stream.seek(0, io.SEEK_END)
        stream.seek(0)

    def read(self, count: int = -1) -> bytes:
        """The next bytes; fewer at the end of the file."""
        left = max(0, self.size - self._stream.tell())
        count = left if count < 0 else min(count, left)
        if count > _SMALL:  # asking what is left takes longer than a small read
            try:
                self._limits.require(count, f"Reading {self.name}", "write the file in smaller batches.")
            except BudgetExceeded as refusal:
                self._refusal = refusal
                raise
        return self._stream.read(count)

    def seek(self, place: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place in the file."""
        return self._stream.seek(place, whence)

    @contextlib.contextmanager
    def intact(self) -> Iterator[None]:
        """Within it, what pyarrow raises on a damaged file becomes `UnreadableInput`.

        That includes `MemoryError`: what is read has been compared with the memory limit before, so the file says that
        it unpacks to more than it does. `ValueError` includes what Arrow calls invalid, and text that is not UTF-8.
        """
        try:
            yield
        except VeilsetError:
            raise
        except (ValueError, OSError, MemoryError, pa.ArrowException) as error:
            if self._refusal is not None:  # pyarrow has put it into words of its own
                raise self._refusal from None
            self.is_damaged = True
            reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(". ")
            raise UnreadableInput(
                f"{self.name} is not a valid {CONTAINER_WORDS[self._container]} file: {reason[:200]}.",
                "It is damaged or truncated: copy or write it again.",
            ) from None

    def readable(self) -> bool:
        """Say yes."""
        return True

    def seekable(self) -> bool:
        """Say yes."""
        return True
