"""The loop that everything dense stands on, AND and popcount, against the same loop written by hand for AVX-512."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
from measuring import best_in_turns

WORDS = 1_056  # Connect's 67,557 transactions
_PASSES = 200_000  # in one call, so that the call does not show
_HERE = Path(__file__).parent
_NATIVE = _HERE.parent / "native"
_OURS = ["-std=c++20", f"-I{_NATIVE}", str(_NATIVE / "mining" / "bits.cpp")]
_BY_HAND = ["-mavx512f", "-mavx512vpopcntdq"]


def run() -> tuple[int, float, float]:
    """(ones, our seconds for one pass, those of the loop by hand) after asserting that both count right."""
    rng = np.random.default_rng(0)
    a, b = _random_words(rng), _random_words(rng)
    ones = int(np.bitwise_count(a & b).sum())
    with tempfile.TemporaryDirectory() as folder:
        loops = _compiled(Path(folder), "our_loop", _OURS), _compiled(Path(folder), "avx512_loop", _BY_HAND)
        calls = [partial(loop, a.ctypes.data, b.ctypes.data, WORDS, _PASSES) for loop in loops]
        assert [call() for call in calls] == [ones * _PASSES] * 2
        ours, theirs = best_in_turns(*calls)
    return ones, ours / _PASSES, theirs / _PASSES


def _random_words(rng: np.random.Generator) -> npt.NDArray[np.uint64]:
    """Aligned to cache lines, so that both loops meet the same."""
    room = np.empty(WORDS + 8, dtype=np.uint64)
    words = room[-room.ctypes.data % 64 // 8 :][:WORDS]
    words[:] = rng.integers(0, 2**64, size=WORDS, dtype=np.uint64)
    return words


def _compiled(folder: Path, name: str, flags: list[str]) -> Callable[..., int]:
    source = _HERE / f"{name}.cpp"
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        sys.exit(f"There is no C++ compiler for {source}. Name one: CXX=...")
    library = folder / f"{name}.so"
    subprocess.run([compiler, "-O3", *flags, "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    function = ctypes.CDLL(str(library)).and_count_repeated
    function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64]
    function.restype = ctypes.c_int64
    return function


if __name__ == "__main__":
    ones, ours, theirs = run()
    print(f"{WORDS:,} words: {ours * 1e9:.0f} ns; by hand: {theirs * 1e9:.0f} ns; {theirs / ours:.0%} of its speed")
