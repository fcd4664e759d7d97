"""Memory, time and thread limits, and exact shares."""

from __future__ import annotations

import subprocess
import sys
import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.errors import refused
from tests.support.places import ROOT
from veilset import _native
from veilset.errors import BudgetExceeded, InvalidArgument, near_misses
from veilset.exact import exact_share, percent
from veilset.limits import Limits, _bytes


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("2GB", 2 * 10**9),
        ("512MB", 512 * 10**6),
        ("1.5 GiB", 3 * 2**29),
        (" 10 kb ", 10**4),
        ("1KiB", 1024),
        ("3mib", 3 * 2**20),
        ("4096", 4096),
        ("0.1GB", 10**8),
        (77, 77),
        (None, None),
        ("9" * 400 + "GB", int("9" * 400) * 10**9),
    ],
)
def test_sizes(text: str | int | None, size: int | None) -> None:
    assert _bytes(text) == size


@pytest.mark.parametrize("wrong", ["", "much", "-1GB", "2 TB", "GB", "1e9", "0", "0.0001KB", "9" * 5000, 0, 1.5, True])
def test_wrong_sizes(wrong: object) -> None:
    with refused(InvalidArgument, "memory_limit"):
        Limits(memory_limit=wrong)


@pytest.mark.parametrize("wrong", [0, -1.0, float("nan")])
def test_wrong_time(wrong: float) -> None:
    with refused(InvalidArgument, "time_limit"):
        Limits(time_limit=wrong)


def test_threads() -> None:
    assert Limits(threads=3).thread_count == 3
    assert Limits().thread_count >= 1
    with refused(InvalidArgument, "threads", 0):
        Limits(threads=0)


def test_bytes_left_counts_what_the_process_uses_already() -> None:
    limit = 1 << 50
    resident = limit - Limits(memory_limit=limit).bytes_left()
    assert 10**6 < resident < 10**11
    assert Limits(memory_limit=1).bytes_left() == 0
    assert Limits().bytes_left() > 0


_IN_A_SMALL_SPACE = """
import resource
from veilset.limits import Limits, _statm
used = _statm()[0]
resource.setrlimit(resource.RLIMIT_AS, (used + 300_000_000, resource.RLIM_INFINITY))
assert 100_000_000 < Limits().bytes_left() <= 240_000_000, Limits().bytes_left()
assert 100_000_000 < Limits(memory_limit=1 << 50).bytes_left() <= 300_000_000
resource.setrlimit(resource.RLIMIT_AS, (used // 2, resource.RLIM_INFINITY))
assert Limits(memory_limit=1 << 50).bytes_left() == 0
"""


@pytest.mark.no_sanitizer(reason="the sanitizer reserves terabytes of address space")
def test_bytes_left_under_a_limited_address_space() -> None:
    done = subprocess.run([sys.executable, "-c", _IN_A_SMALL_SPACE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_seconds_left(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = Limits(time_limit=10)
    started = time.monotonic()
    assert 0 < limits.seconds_left() <= 10
    monkeypatch.setattr(time, "monotonic", lambda: started + 4)
    assert 5 < limits.seconds_left() <= 6
    monkeypatch.setattr(time, "monotonic", lambda: started + 400)
    assert limits.seconds_left() == 0
    assert Limits().seconds_left() == Limits(time_limit=float("inf")).seconds_left() == 1e9


def test_progress() -> None:
    seen: list[tuple[str, int, int]] = []
    limits = Limits(progress=lambda *step: seen.append(step))
    limits.step("reading", 1, 2)
    native = limits.for_kernel(lambda stage: f"stage {stage}")["progress"]
    assert native is not None
    native(3, 4, 5)
    assert seen == [("reading", 1, 2), ("stage 3", 4, 5)]
    Limits().step("unheard")
    assert Limits().for_kernel(str)["progress"] is None


@pytest.mark.parametrize(
    ("stop", "said"),
    [
        (_native.core.OutOfTime(), "time limit of 5 seconds"),
        (_native.core.OutOfMemory(), "memory limit (2 GB)"),
        (MemoryError(), "memory limit (2 GB)"),
    ],
)
def test_guard_turns_a_stop_into_advice(stop: Exception, said: str) -> None:
    limits = Limits(memory_limit="2GB", time_limit=5)
    with pytest.raises(BudgetExceeded) as caught, limits.guard("Counting", "lower p."):
        raise stop
    assert caught.value.what.startswith("Counting stopped at the " + said)
    assert caught.value.next_step.endswith("or lower p.")
    assert caught.value.exit_code == 4


def test_guard_lets_other_errors_pass() -> None:
    with pytest.raises(KeyError), Limits().guard("Counting", "lower p."):
        raise KeyError


@pytest.mark.parametrize(
    ("value", "share"),
    [(0.4, "2/5"), ("2/3", "2/3"), (1 / 3, "1/3"), ("40%", "2/5"), (" 0.25 ", "1/4"), (1, "1"), (1e-6, "1/1000000")],
)  # fmt: skip
def test_shares_are_exact(value: float | str, share: str) -> None:
    assert exact_share(value, "h") == Fraction(share)


@pytest.mark.parametrize(
    "wrong", ["", "much", "1/0", "nan", float("nan"), float("inf"), None, True, "1e-999999999", "%"]
)
def test_what_is_not_a_share(wrong: object) -> None:
    with refused(InvalidArgument, "h"):
        exact_share(wrong, "h")


@pytest.mark.parametrize("wrong", [0, -0.5, 1.01, "3/2", "101%"])
def test_shares_out_of_range(wrong: float | str) -> None:
    with refused(InvalidArgument, "rho"):
        exact_share(wrong, "rho")


def test_a_share_too_fine_to_say():
    with refused(InvalidArgument):
        exact_share(1e-9, "rho")


@given(st.fractions(min_value=0, max_value=1))
def test_percent_never_promises_too_much(share: Fraction) -> None:
    shown = Fraction(percent(share)[:-1]) / 100
    assert share <= shown < share + Fraction(1, 1000)


def test_near_misses() -> None:
    assert near_misses("BEER ", ["beer", "bread"]) == "Did you mean 'beer'?"
    assert near_misses("xyz", ["beer", "bread"]) == ""


def test_a_part_of_a_run_has_the_limits_of_the_run():
    limits = Limits(threads=2, memory_limit="2GB", time_limit=5, progress=print)
    assert Limits(**limits.bounds()) == limits


_FREED = """
import numpy as np
import pyarrow as pa
from tests.support.memory import own_memory
from veilset.limits import Limits
Limits(memory_limit="1GB")
assert pa.default_memory_pool().backend_name == "system"
np.ones(20_000_000, dtype=np.uint8)  # after one is freed, the allocator would keep those of its size
before = own_memory()
many = [np.ones(8_000_000, dtype=np.uint8) for _ in range(10)]
assert own_memory() > before + 70_000_000
del many[:-1]
assert own_memory() < before + 20_000_000
"""


@pytest.mark.no_sanitizer(reason="the sanitizer has an allocator of its own")
def test_what_is_freed_goes_back_where_there_is_a_limit() -> None:
    subprocess.run([sys.executable, "-c", _FREED], check=True, cwd=ROOT)


_FREED_BETWEEN = """
from tests.support.memory import own_memory
from veilset.limits import Limits
limits = Limits(memory_limit=2 * own_memory())
before = own_memory()
many = [bytes(size) for _ in range(1000) for size in (50_000, 1000)]
del many[::2]
assert own_memory() > before + 40_000_000, "The allocator keeps them, or nothing is shown."
assert limits.bytes_left() > before - 10_000_000
"""


@pytest.mark.no_sanitizer(reason="the sanitizer has an allocator of its own")
def test_small_pieces_that_were_freed_between_others_are_left() -> None:
    subprocess.run([sys.executable, "-c", _FREED_BETWEEN], check=True, cwd=ROOT)


def test_a_kernel_gets_two_thirds_of_a_limit_and_all_that_is_left_without_one() -> None:
    limit = 1 << 50
    assert Limits(memory_limit=limit).for_kernel(str)["memory_limit"] == pytest.approx(limit * 2 / 3, rel=0.01)
    assert Limits().for_kernel(str)["memory_limit"] == pytest.approx(Limits().bytes_left(), rel=0.5)
