"""The loop that everything dense stands on, AND and popcount, against the same loop written by hand for AVX-512."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
from measuring import best_in_turns

from veilset import _native

WORDS = 1_056  # Connect's 67,557 transactions
_PASSES = 200_000  # in one call, so that the call does not show


def run() -> tuple[int, float, float]:
    """(ones, our seconds for one pass, those of the loop by hand) after asserting that both count right."""
    rng = np.random.default_rng(0)
    a, b = _random_words(rng), _random_words(rng)
    ones = int(np.bitwise_count(a & b).sum())
    with tempfile.TemporaryDirectory() as folder:
        by_hand = _compiled(Path(folder))
        calls = (
            lambda: _native.and_count_speed("avx512", a, b, _PASSES),
            lambda: by_hand(a.ctypes.data, b.ctypes.data, WORDS, _PASSES),
        )
        assert [call() for call in calls] == [ones * _PASSES] * 2
        ours, theirs = best_in_turns(*calls)
    return ones, ours / _PASSES, theirs / _PASSES


def _random_words(rng: np.random.Generator) -> npt.NDArray[np.uint64]:
    """Aligned to cache lines, so that both loops meet the same."""
    room = np.empty(WORDS + 8, dtype=np.uint64)
    words = room[-room.ctypes.data % 64 // 8 :][:WORDS]
    words[:] = rng.integers(0, 2**64, size=WORDS, dtype=np.uint64)
    return words


def _compiled(folder: Path) -> Callable[..., int]:
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        sys.exit("There is no C++ compiler for benchmarks/avx512_loop.cpp. Name one: CXX=...")
    library, source = folder / "avx512_loop.so", Path(__file__).parent / "avx512_loop.cpp"
    flags = ["-O3", "-mavx512f", "-mavx512vpopcntdq", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, str(source), "-o", str(library)], check=True)
    function = ctypes.CDLL(str(library)).and_count_repeated
    function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64]
    function.restype = ctypes.c_int64
    return function


if __name__ == "__main__":
    ones, ours, theirs = run()
    print(f"{WORDS:,} words: {ours * 1e9:.0f} ns; by hand: {theirs * 1e9:.0f} ns; {theirs / ours:.0%} of its speed")
