"""How a run is bounded: threads, memory, time; and how it tells where it is.

`memory_limit` is what the whole process may use, so a kernel is given what is left of it. Pages of files (libraries,
data that is read where it lies) do not count: the system takes them back when it needs them. Without a limit, a run may
take four fifths of what the machine (or its container, or its shell) allows.
"""

from __future__ import annotations

import ctypes
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TypedDict, cast

import pyarrow as pa

from veilset import _native
from veilset.errors import BudgetExceeded, InvalidArgument, said
from veilset.exact import is_whole

OutOfWork = _native.core.OutOfWork
"""A kernel has taken the steps that it was given. They are counted, not timed: any machine takes as many."""

Progress = Callable[[str, int, int], None]
"""Called as progress(what is being done, steps done, steps in all)."""

_UNLIMITED = 1e9  # seconds
_LARGE = 1 << 20  # bytes
_M_MMAP_THRESHOLD = -3  # as malloc.h has it
_UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


class Bounds(TypedDict, total=False):
    """Keyword arguments of every function that can take long; `Limits` says what they mean."""

    threads: int | None
    memory_limit: int | str | None
    time_limit: float | None
    progress: Progress | None
    started: float


class KernelLimits(TypedDict):
    """Keyword arguments of every long kernel."""

    memory_limit: int
    time_limit: float
    progress: Callable[[int, int, int], None] | None


@dataclass(frozen=True)
class Limits:
    """The bounds of one run; every long function takes one.

    Parameters
    ----------
    threads : int, optional
        None means all cores this process may use.
    memory_limit : int or str, optional
        Bytes, or text like ``"2GB"``.
    time_limit : float, optional
        Seconds, counted from the making of this object.
    progress : callable, optional
        Called now and then with (what, done, total).
    started : float
        When the run began, on the monotonic clock.
    """

    threads: int | None = None
    memory_limit: int | str | None = None
    time_limit: float | None = None
    progress: Progress | None = None
    started: float = field(default_factory=time.monotonic, repr=False)

    def __post_init__(self) -> None:
        if self.threads is not None and not is_whole(self.threads, most=2**31 - 1):
            raise InvalidArgument(
                f"{said('threads')} is {self.threads}; at least one is needed.", "Leave it out to use all cores."
            )
        if self.time_limit is not None and not self.time_limit > 0:
            raise InvalidArgument(
                f"{said('time_limit')} is {self.time_limit}; it must be above 0 seconds.", "Leave it out for no limit."
            )
        if _bytes(self.memory_limit) is not None:
            _give_back_what_is_freed()

    @property
    def thread_count(self) -> int:
        """The number of threads to start."""
        if self.threads is not None:
            return self.threads
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

    def bounds(self) -> Bounds:
        """The same limits for a part of this run."""
        return cast(Bounds, dict(vars(self)))

    def part(self, share: float, seconds: float | None = None) -> Limits:
        """The same limits for a part that may take this share of the time that is left, and no more than *seconds*."""
        allowed = [] if seconds is None else [seconds]
        passed = time.monotonic() - self.started
        if self.time_limit is not None:
            allowed.append(share * max(0.0, self.time_limit - passed))
        return replace(self, time_limit=passed + min(allowed)) if allowed else self

    def bytes_left(self) -> int:
        """What is left of the memory limit, in bytes; never negative."""
        limit = _bytes(self.memory_limit)
        if limit is None:
            return max(0, min(_machine_memory(), address_space_left()) * 4 // 5)
        own = _statm()[1]
        if 2 * own > limit:  # what was freed in small pieces is not missing
            _give_back_small_pieces()
            own = _statm()[1]
        return max(0, min(limit - own, address_space_left()))

    def seconds_left(self) -> float:
        """What is left of the time limit, in seconds."""
        if self.time_limit is None:
            return _UNLIMITED
        return min(_UNLIMITED, max(0.0, self.time_limit - (time.monotonic() - self.started)))

    def require(self, needed: int, task: str, advice: str) -> None:
        """Raise `BudgetExceeded` before *needed* bytes more are taken, if they are not there."""
        if needed > self.bytes_left():
            raise self._out_of_memory(task, advice)

    def require_besides(self, room: int, task: str) -> None:
        """Raise `BudgetExceeded` at once if the limit is below what is in use now and the *room* that any *task* takes.

        It names the smallest limit that is not.
        """
        limit = _bytes(self.memory_limit)
        if limit is not None and room > self.bytes_left():
            used = _statm()[1]
            enough = f"{-(-(used + room) // 10**7) * 10}MB"
            raise BudgetExceeded(
                f"{task} takes {room / 1e6:.0f} MB besides the {used / 1e6:,.0f} MB in use, more than the memory limit "
                f"({limit / 1e9:.2g} GB); the result is undecided.",
                f"Raise the memory limit: use {said('memory_limit', enough)} or more.",
            )

    def step(self, what: str, done: int = 0, total: int = 1) -> None:
        """Report where the run is."""
        if self.progress is not None:
            self.progress(what, done, total)

    def for_kernel(self, what: Callable[[int], str]) -> KernelLimits:
        """What is left of the limits, as a kernel takes it; *what* puts a stage of it into words.

        A third of the memory is for what the kernel does not count: what is freed in pieces that the allocator keeps.
        """
        progress = self.progress
        told = None if progress is None else lambda stage, done, total: progress(what(stage), done, total)
        left = self.bytes_left() if self.memory_limit is None else self.bytes_left() * 2 // 3
        return {"memory_limit": left, "time_limit": self.seconds_left(), "progress": told}

    @contextmanager
    def guard(self, task: str, advice: str) -> Iterator[None]:
        """Turn a kernel's stop at a limit into `BudgetExceeded`, with what was being done and what to change."""
        try:
            yield
        except _native.core.OutOfTime:
            raise self._out_of_time(task, advice) from None
        except (_native.core.OutOfMemory, MemoryError):
            raise self._out_of_memory(task, advice) from None

    def check_time(self, task: str, advice: str) -> None:
        """Raise `BudgetExceeded` if no time is left: for long work without a kernel that would notice."""
        if self.seconds_left() <= 0:
            raise self._out_of_time(task, advice)

    def _out_of_time(self, task: str, advice: str) -> BudgetExceeded:
        return BudgetExceeded(
            f"{task} stopped at the time limit of {self.time_limit:g} seconds; the result is undecided.",
            f"Allow more time, or {advice}",
        )

    def _out_of_memory(self, task: str, advice: str) -> BudgetExceeded:
        limit = _bytes(self.memory_limit)
        shown = f"{limit / 1e9:.2g} GB" if limit is not None else "what this machine allows"
        return BudgetExceeded(
            f"{task} stopped at the memory limit ({shown}); the result is undecided.",
            f"Raise the memory limit, or {advice}",
        )


def _bytes(limit: int | str | None) -> int | None:
    if limit is None:
        return None
    if isinstance(limit, str):
        match = re.fullmatch(r"\s*([0-9]{1,1000}(?:\.[0-9]{1,1000})?)\s*([KMG]i?B|)\s*", limit, re.IGNORECASE)
        if match is None:
            raise InvalidArgument(
                f"{said('memory_limit')} is {limit!r}, which is not a size.", "Write it like 2GB or 512MB."
            )
        limit = int(Fraction(match[1]) * _UNITS[match[2].upper()])
    if isinstance(limit, bool) or not isinstance(limit, int):
        raise InvalidArgument(
            f"{said('memory_limit')} is {limit!r}, which is not a number of bytes.", "Write it like 2GB or 512MB."
        )
    if limit <= 0:
        raise InvalidArgument(f"{said('memory_limit')} is {limit}; it must be above 0.", "Write it like 2GB or 512MB.")
    return limit


def _machine_memory() -> int:
    """What the machine, or the container this process runs in, has free."""
    free = [1 << 62]
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        free += [
            int(line.split()[1]) * 1024 for line in meminfo.read_text().splitlines() if line.startswith("MemAvailable:")
        ]
    maximum, current = Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")
    if maximum.exists() and current.exists() and (text := maximum.read_text().strip()) != "max":
        free.append(max(0, int(text) - int(current.read_text())))
    return min(free)


def _statm() -> tuple[int, int]:
    """(address space, memory of its own) of this process, in bytes; zeros where the system does not tell.

    Its own is what is resident less the pages of files, which can be given back at any time.
    """
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return 0, 0
    pages = statm.read_text().split()
    page = os.sysconf("SC_PAGE_SIZE")
    size, resident, shared = (int(pages[i]) for i in range(3))
    return size * page, (resident - shared) * page


@cache
def _give_back_what_is_freed() -> None:
    """Have large arrays returned to the system when they are freed, in the rest of this process.

    Allocators keep them for later, which saves time; but then a process that uses half of its limit holds all of it.
    """
    pa.set_memory_pool(pa.system_memory_pool())
    if hasattr(libc := ctypes.CDLL(None), "mallopt"):  # of the GNU library
        libc.mallopt(_M_MMAP_THRESHOLD, _LARGE)


def _give_back_small_pieces() -> None:
    """Return to the system what was freed between pieces still in use: a long loop leaves ever more of it."""
    if hasattr(libc := ctypes.CDLL(None), "malloc_trim"):  # of the GNU library
        libc.malloc_trim(0)


def address_space_left() -> int:
    """Bytes of addresses that this process may still use (``ulimit -v``); very many if nothing limits them."""
    import resource  # noqa: PLC0415 - POSIX only, and only needed here

    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return 1 << 62 if soft == resource.RLIM_INFINITY else max(0, soft - _statm()[0])
