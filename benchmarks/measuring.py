"""What the benchmarks share: clocks, memory, processes of their own, the machine in words."""

from __future__ import annotations

import ctypes
import gc
import os
import platform
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import ParamSpec, TypeVar

import veilset

P = ParamSpec("P")
R = TypeVar("R")

_ROUNDS, _SECONDS = 5, 3.0


def timed(call: Callable[[], R], clock: Callable[[], float] = time.perf_counter) -> tuple[R, float]:
    """The result and the seconds it took. No garbage collection: a peer that makes many objects would pay for it."""
    gc.disable()
    try:
        started = clock()
        result = call()
        return result, clock() - started
    finally:
        gc.enable()


def best_in_turns(*calls: Callable[[], object]) -> list[float]:
    """The best time of each, run in turns: at least five rounds, and more as long as three seconds are not over."""
    best = [float("inf")] * len(calls)
    rounds, until = 0, time.perf_counter() + _SECONDS
    while rounds < _ROUNDS or time.perf_counter() < until:
        for which, call in enumerate(calls):
            best[which] = min(best[which], timed(call)[1])
        rounds += 1
    return best


def in_child(function: Callable[P, R], *arguments: P.args, **options: P.kwargs) -> R:
    """The function's result in a fresh process, for measuring its memory."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *arguments, **options).result()


def peak_memory() -> int:
    """The most bytes this process ever had. Not from getrusage: that number starts with the size of the parent."""
    return _status("VmHWM")


def forget_peak() -> int:
    """Let `peak_memory` start again from what is in use, which is returned; what is free goes back to the system."""
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def _status(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field + ":"))


def shown(seconds: float) -> str:
    """Three digits and a unit.

    >>> shown(12.345), shown(0.0123), shown(1.1e-7)
    ('12.3 s', '12.3 ms', '110 ns')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}" if seconds < 1000 * size else f"{seconds / size:,.0f} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def machine() -> str:
    """A line about what the numbers were measured on."""
    return (
        f"Machine: {_processor()}, {os.cpu_count()} cores; {platform.system()}, Python "
        f"{platform.python_version()}, veilset {veilset.__version__}."
    )


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    models = (
        [line.split(":")[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
        if info.exists()
        else []
    )
    return models[0] if models else platform.processor() or platform.machine()
