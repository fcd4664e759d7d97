"""Faults at the first, the second, ... change of the disk, until the work gets through: no sleep, no point left out.

`Killed` is the end of the process, as far as the disk can tell: nothing changes any more, not even by clean-up, and
locks are gone. `OSError` is a single call that finds the disk full, which the work may answer; to delete takes no room.
"""

import builtins
import contextlib
import errno
import io
import os
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest

CHANGES = ("chmod", "fsync", "mkdir", "rename", "replace", "symlink")
DELETIONS = ("rmdir", "unlink")


class Killed(BaseException):
    """No `except Exception` gets it."""


class Fault:
    """The fault at one change. `struck` says which it was; None: the work was over before."""

    def __init__(self, number: int, kind: type[Killed | OSError]) -> None:
        self.number, self.kind = number, kind
        self.struck: str | None = None
        self._changes = 0
        self._opened: set[int] = set()

    def run(self, work: Callable[[], object]) -> BaseException | None:
        """The exception in which the work ends, if it does."""
        with pytest.MonkeyPatch.context() as patch:
            for name in CHANGES + DELETIONS * (self.kind is Killed):
                patch.setattr(os, name, self._counted(name, getattr(os, name)))
            patch.setattr(os, "open", self._opening(os.open))
            patch.setattr(os, "close", self._closing(os.close))
            patch.setattr(io, "open", self._streaming(io.open))
            patch.setattr(builtins, "open", io.open)
            try:
                work()
            except (Exception, Killed) as error:
                return error
            finally:
                if self.struck and self.kind is Killed:
                    for descriptor in list(self._opened):
                        with contextlib.suppress(OSError):  # a stream may have closed it
                            os.close(descriptor)
        return None

    def _change(self, name: str) -> None:
        self._changes += 1
        if self._changes == self.number:
            self.struck = name
            raise Killed if self.kind is Killed else OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if self.struck and self.kind is Killed:
            raise Killed

    def _counted(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **options: Any) -> Any:
            self._change(name)
            return function(*arguments, **options)

        return counted

    def _opening(self, function: Callable[..., int]) -> Callable[..., int]:
        def opened(path: Any, flags: int, *arguments: Any, **options: Any) -> int:
            if flags & os.O_CREAT:
                self._change("create")
            descriptor = function(path, flags, *arguments, **options)
            self._opened.add(descriptor)
            return descriptor

        return opened

    def _closing(self, function: Callable[[int], None]) -> Callable[[int], None]:
        def closed(descriptor: int) -> None:
            self._opened.discard(descriptor)
            function(descriptor)

        return closed

    def _streaming(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Opens files so that every write that reaches the system counts."""
        fault = self

        class Counted(io.FileIO):
            def write(self, content: Any, /) -> int:
                fault._change("write")
                return super().write(content)

        def opened(file: Any, mode: str = "r", buffering: int = -1, *arguments: Any, **options: Any) -> Any:
            if not set("wxa") & set(mode) or "+" in mode or isinstance(file, int):
                return function(file, mode, buffering, *arguments, **options)
            self._change("create")
            stream = io.BufferedWriter(Counted(file, mode.strip("bt")))
            return stream if "b" in mode else io.TextIOWrapper(stream, *arguments, **options)

        return opened


def every_fault(kind: type[Killed | OSError]) -> Iterator[Fault]:
    """A fault at each change in turn, and at last one that comes too late."""
    for number in count(1):
        fault = Fault(number, kind)
        yield fault
        if fault.struck is None:
            return
