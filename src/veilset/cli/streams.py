"""Standard streams that may be closed, full, without a reader or without our characters: no exit code depends on it."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, TextIO


class Stream:
    """A standard stream that drops what it can no longer write, and escapes characters that it does not have."""

    def __init__(self, stream: TextIO) -> None:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
        self._stream = stream
        self.refusal: OSError | None = None
        """Why something was dropped; a reader who has left is no reason."""

    def write(self, text: str) -> int:
        """Write, or drop it."""
        self._tried(lambda: self._stream.write(text))
        return len(text)

    def flush(self) -> None:
        """Write what is waiting, or drop it."""
        self._tried(self._stream.flush)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _tried(self, work: Callable[[], object]) -> None:
        try:
            work()
        except OSError as error:
            if not isinstance(error, BrokenPipeError):
                self.refusal = error
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())  # where Python finds it when it flushes at its end
            os.close(nowhere)


@contextlib.contextmanager
def lasting_streams() -> Iterator[Stream]:
    """Replaces stdout, which it gives, and stderr while the block runs."""
    _open_closed_ones()
    out, errors = Stream(sys.stdout), Stream(sys.stderr)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            yield out
        finally:
            out.flush()
            errors.flush()


def _open_closed_ones() -> None:
    """Streams that were closed lead nowhere. Otherwise the next file to be opened would get their number."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "w" if number else "r", closefd=False, encoding="utf-8"))
