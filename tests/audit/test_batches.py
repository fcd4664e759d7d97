"""The auditor keeps to a memory limit: any batches give the same answer, and what it takes is what it counts."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.auditing import kernel, rho_kernel
from tests.support.counting import full
from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.memory import leaving
from veilset import BudgetExceeded, Coherence, Transactions, _native, audit
from veilset.audit import reach_of
from veilset.testing import check_audit, strategies
from veilset.testing.checks import as_sets


@given(
    strategies.transactions(max_rows=20),
    strategies.coherence_promises(),
    st.integers(1, 2000),
    st.integers(1, 3),
    st.sampled_from([0, 2, 1000]),
)
def test_any_batches_give_the_same_answer(data, promise, batch_limit, threads, witnesses):
    whole = kernel(data, promise, batch_limit=0, witnesses=witnesses)
    assert kernel(data, promise, batch_limit=batch_limit, threads=threads, witnesses=witnesses) == whole


@examples(300)
@given(
    strategies.transactions(max_rows=20) | strategies.protected(),
    strategies.rho_promises(),
    st.integers(1, 900),
    st.integers(1, 3),
)
def test_any_batches_of_sensitive_items_give_the_same_answer(data, promise, batch_limit, threads):
    whole = rho_kernel(data, promise.rho)
    assert rho_kernel(data, promise.rho, batch_limit=batch_limit, threads=threads) == whole


@given(strategies.transactions(), strategies.coherence_promises())
def test_a_group_is_audited_as_one_item(data, promise):
    """Without the copy of the data that `as_seen_by_attacker` makes, but with its answer."""
    assume({"s1", "s2"} <= {*data.sensitive})
    grouped = Coherence(h=promise.h, k=promise.k, p=promise.p, sensitive_groups=[["s1", "s2"]])
    answer = audit(data, grouped, witnesses=1000)
    check_audit(grouped.as_seen_by_attacker(data), promise, answer)
    assert str(answer).partition("\n")[2] == str(audit(grouped.as_seen_by_attacker(data), promise)).partition("\n")[2]


@given(strategies.transactions(), st.one_of(st.none(), st.integers(1, 6)))
def test_reach_by_counting_rows(data, p):
    sizes = sorted(len(row.difference(data.sensitive)) for row in as_sets(data))
    reach = reach_of(data, p)
    assert reach.covered * len(data) == sum(p is None or size <= p for size in sizes)
    assert reach.p_for_all == max(1, sizes[-1])
    assert reach.p_for_90_percent == max(
        1, min(size for size in sizes if 10 * sum(s <= size for s in sizes) >= 9 * len(sizes))
    )


@given(strategies.transactions())
def test_supports_by_counting_rows(data):
    rows = as_sets(data)
    assert data.supports.tolist() == [sum(name in row for row in rows) for name in data.names]


@pytest.mark.parametrize("code", [-1, 2])
def test_counting_refuses_codes_outside_the_vocabulary(code):
    codes = np.array([0, code], dtype=np.int32)
    with refused(ValueError, "vocabulary"):
        _native.core.count_codes(codes, 2)
    with refused(ValueError, "vocabulary"):
        _native.audit.row_sizes(np.array([0, 2]), codes, np.zeros(2, dtype=np.uint8))


@pytest.mark.parametrize("kind", [-2, 1])
def test_the_kernel_refuses_kinds_there_are_not(kind, monkeypatch):
    data = Transactions.from_lists([["a"]])
    wrong = (np.array([kind], dtype=np.int32), ["one thing"])
    monkeypatch.setattr("tests.support.auditing.sensitive_things", lambda *_: wrong)
    with refused(ValueError, "sensitive"):
        kernel(data, Coherence(h=1, k=1, p=1), batch_limit=0)


@pytest.mark.no_sanitizer(reason="the sanitizer's own memory counts too")
def test_a_branch_that_does_not_fit_is_over_the_limit():
    data = full(400_000, 20)  # the rows of one branch: 40 MB
    with refused(BudgetExceeded, "memory limit"):
        audit(data, Coherence(k=2, p=2), memory_limit=leaving(3_000_000))


@pytest.mark.no_sanitizer(reason="the sanitizer's own memory counts too")
@pytest.mark.parametrize("megabytes", [16, 24, 36])
def test_batches_become_smaller_when_the_walk_needs_more(megabytes):
    """Itemsets of four: the walk delivers rows to many nodes at once, which nobody can foresee."""
    data = full(40_000, 24)  # all rows, with their holders: 20 MB
    promise = Coherence(k=39_000, p=4)
    assert audit(data, promise, memory_limit=leaving(megabytes * 10**6), threads=2) == audit(data, promise)


LARGER_THAN_MEMORY = """
    import sys, threading
    from pathlib import Path
    import numpy as np
    from tests.support.memory import own_memory
    from veilset import Coherence, RhoUncertainty, Transactions, audit

    ROWS, LENGTH, CHOICES, PART = 400_000, 20, 10, 100_000  # 32 MB of items: each row has one of ten, twenty times
    folder, promise = Path(sys.argv[1]), eval(sys.argv[2])
    SHOPS, ROOM = int(sys.argv[3]), int(sys.argv[4])  # each shop has its own items
    SIZE = CHOICES * LENGTH
    draw = np.random.default_rng(20081215)
    with open(folder / "items", "wb") as out:
        for _ in range(ROWS // PART):
            chosen = draw.integers(0, CHOICES, (2, PART, LENGTH), dtype=np.int32).min(axis=0)
            shop = np.arange(PART, dtype=np.int32)[:, None] % SHOPS
            out.write((chosen + CHOICES * np.arange(LENGTH, dtype=np.int32) + SIZE * shop).tobytes())
    (np.arange(ROWS + 1) * LENGTH).tofile(folder / "offsets")
    roles = np.zeros(SIZE * SHOPS, dtype=np.uint8)
    roles[9::SIZE] = roles[18::SIZE] = 1
    offsets, items = np.memmap(folder / "offsets", np.int64, "r"), np.memmap(folder / "items", np.int32, "r")
    data = Transactions._of(offsets, items, tuple(f"{i:04}" for i in range(len(roles))), roles, None, None)

    def watched(memory_limit):
        peak, done = [0], threading.Event()
        def watch():
            while not done.wait(0.002):
                peak[0] = max(peak[0], own_memory())
        watcher = threading.Thread(target=watch)
        watcher.start()
        answer = audit(data, promise, memory_limit=memory_limit, threads=2)
        done.set()
        watcher.join()
        return answer, peak[0]

    before = own_memory()
    within, small = watched(before + ROOM)
    without, large = watched(None)
    assert within == without
    assert within.found > 0 and within.witnesses
    print(small - before, large - before)
"""


@pytest.mark.no_sanitizer(reason="the sanitizer's own memory counts too, and slow there")
@pytest.mark.parametrize(
    ("promise", "shops", "room"),
    [('Coherence(h="31/1000", k=40, p=2)', 1, 50_000_000), ('RhoUncertainty(rho="1/2")', 20, 30_000_000)],
    ids=["coherence", "rho-uncertainty"],
)
def test_data_larger_than_the_memory_limit_is_audited_within_it(promise, shops, room, tmp_path):
    asked = [str(tmp_path), promise, str(shops), str(room)]
    script = [sys.executable, "-c", textwrap.dedent(LARGER_THAN_MEMORY), *asked]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    small, large = map(int, done.stdout.split())
    assert small < room
    assert large > 2 * room, "One batch must need far more, or nothing is shown."
