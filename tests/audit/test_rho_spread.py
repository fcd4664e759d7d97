"""The auditor of ρ-uncertainty for engines, in this process: the answer of the one that sees all transactions."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples, repeats
from tests.support.errors import refused
from tests.support.explosive import nearly_equal
from tests.support.spread import point_of_sale
from veilset import BudgetExceeded, RhoUncertainty, Transactions, _native, audit
from veilset.audit import inferences_spread, rho_dealing
from veilset.audit.rho_dealing import dealt_rows
from veilset.engines import Local, Piece
from veilset.engines.local import LocalDealt
from veilset.engines.rows import grouped
from veilset.testing import check_audit, strategies
from veilset.testing.mutants import RHO_MUTANTS, rho_unbroken


@examples(600)
@given(
    strategies.transactions(max_rows=20) | strategies.protected(),
    strategies.rho_promises(),
    st.integers(1, 3),
    st.sampled_from([0, 2, 1000]),
)
def test_the_answer_of_the_local_auditor(data, promise, pieces, witnesses):
    answer = audit(Local(pieces=pieces).read(data), promise, witnesses=witnesses)
    assert answer == audit(data, promise, witnesses=witnesses)
    if witnesses == 1000:
        check_audit(data, promise, answer)


def drawn(draw):
    """Protected in whole and as single items: what lies between is for the search to find, if there is anything."""
    public, sensitive = "abcdefgh"[: draw.randint(3, 8)], "XYZ"[: draw.randint(1, 3)]
    rows = [
        [item for item in public + sensitive if draw.random() < draw.choice([0.4, 0.6, 0.8])]
        for _ in range(draw.randint(2, 9))
    ]
    bare = [[item for item in row if item.islower()] for row in rows]
    rows += bare * draw.randint(0, 2) + [list(public)] * draw.randint(0, 3)
    rows += [[item for item in public if draw.random() < 0.5] for _ in range(draw.randint(0, 16))]
    return Transactions.from_lists(rows, sensitive={item for row in rows for item in row if item.isupper()})


def test_the_answer_of_the_local_auditor_on_thousands():
    draw = random.Random(4711)
    holding = 0
    for number in range(repeats(2000)):
        data, promise = drawn(draw), RhoUncertainty(rho=draw.choice(["1", "1/2", "2/3", "7/10", "1/3", "9/10"]))
        answer = audit(Local(pieces=1 + number % 3).read(data), promise)
        assert answer == audit(data, promise)
        holding += answer.holds
    assert repeats(500) < holding < repeats(1500), "The draws must show both verdicts."


def company_alone(data, asked):
    """What an engine gives a share that one item is asked about, and that is all its company."""
    rows = [set(row) for row in data]
    met = set().union(*(row for row in rows if data.names[asked] in row))
    bits = np.packbits([name in met for name in data.names])
    _, packed, weights = grouped(*dealt_rows(Piece(data.offsets, data.items), wanted=[bits]))
    dealt = LocalDealt(1)
    dealt.take(*dealt_rows(Piece(data.offsets, data.items), wanted=[bits]))
    (work,) = dealt.each(lambda _, rows: rows)
    assert len(work.weights) == len(packed) <= len(data)
    assert work.weights.sum() == weights.to_numpy().sum()
    return work


def share(data, rows, asked, kernel="rho_share", **question):
    found = getattr(_native.audit, kernel)(
        rows.offsets,
        rows.items,
        rows.weights,
        thing=np.full(len(data.names), -1, dtype=np.int32),
        supports=data.supports,
        asked=np.array(asked, dtype=np.int32),
        transactions=len(data),
        threads=1,
        memory_limit=1 << 40,
        time_limit=1e9,
        progress=None,
        **question,
    )
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in found.items()}


def test_rows_that_are_equal_may_be_one_and_what_is_no_company_may_be_left_out():
    """The same rules, and the same number of steps: work limits depend on neither."""
    draw, merged = random.Random(12), 0
    for _ in range(repeats(600)):
        data = drawn(draw)
        whole = rho_dealing.Work(data.offsets, data.items, np.ones(len(data), dtype=np.int64))
        for asked in np.flatnonzero(data.is_sensitive).tolist():
            part = company_alone(data, asked)
            merged += len(part.weights) < len({frozenset(row) for row in data})
            for question in (
                {"rho_num": 1, "rho_den": 2, "strict": False},
                {"kernel": "rho_share_surer", "together": 1, "support": 9, "left": 1 << 40},
            ):
                assert share(data, part, [asked], **question) == share(data, whole, [asked], **question)
    assert merged > repeats(300)


def test_sensitive_items_of_several_rounds_and_shares():
    draw = random.Random(5)
    sensitive = [f"s{i:03}" for i in range(150)]
    rows = [[f"{i:02}" for i in range(12) if draw.random() < 0.4] for _ in range(600)]
    bare = [list(row) for row in rows]
    for number, row in enumerate(draw.sample(rows, 300)):
        row.append(sensitive[number % 150])
    data = Transactions.from_lists([*rows, *bare, *bare], sensitive=sensitive)
    for rho, holds in ((1, True), ("1/100", False)):
        answer = audit(data, RhoUncertainty(rho=rho), witnesses=200)
        assert answer.holds == holds
        for pieces in (1, 4):
            assert audit(Local(pieces=pieces).read(data), RhoUncertainty(rho=rho), witnesses=200) == answer


def test_the_search_for_the_largest_confidence_ends_after_as_many_steps(monkeypatch):
    data, promise = nearly_equal(60, 0.9), RhoUncertainty(rho="1/2")
    answer = audit(data, promise)
    assert answer.holds
    assert not answer.margins["largest_confidence"].is_extreme
    assert audit(Local(pieces=2).read(data), promise) == answer


def test_a_share_reads_what_its_items_need(monkeypatch):
    """The sensitive items occur with few others: nothing else reaches their shares, and most rows are one."""
    draw = random.Random(8)
    rows = [[f"a{draw.randint(0, 999)}", f"b{draw.randint(0, 999)}"] for _ in range(5000)]
    rows += [[f"near{draw.randint(0, 3)}", f"far{number}"] for number in range(500)]
    rows += [["near1", "near2", "s1"], ["near3", "s2"]] * 5
    data = Transactions.from_lists(rows, sensitive=["s1", "s2"])
    each, read = LocalDealt.each, []

    def watched(dealt, work):
        return each(dealt, lambda number, rows: read.append(rows) or work(number, rows))

    monkeypatch.setattr(LocalDealt, "each", watched)
    assert audit(Local(pieces=2).read(data), RhoUncertainty(rho="1/2")) == audit(data, RhoUncertainty(rho="1/2"))
    last = read[-1]
    assert {data.names[code] for code in last.items.tolist()} <= {"near1", "near2", "near3", "s1", "s2"}
    assert len(last.weights) < 10 < last.weights.sum()


@pytest.mark.parametrize("mutant", RHO_MUTANTS, ids=lambda mutant: mutant.name)
def test_mutants_are_rejected(mutant):
    release = mutant.method(mutant.data, mutant.promise).custodian_data
    assert not audit(Local(pieces=2).read(release), mutant.promise).holds
    unbroken = rho_unbroken(mutant.data, mutant.promise).custodian_data
    assert audit(Local(pieces=2).read(unbroken), mutant.promise).holds


def test_without_sensitive_items_there_is_nothing_to_look_at():
    data = Transactions.from_lists([["a", "b"], ["a"]])
    assert audit(Local(pieces=2).read(data), RhoUncertainty(rho="1/2")) == audit(data, RhoUncertainty(rho="1/2"))


def test_a_time_limit_stops_between_the_passes():
    with refused(BudgetExceeded, "time limit"):
        audit(Local().read(point_of_sale(200)), RhoUncertainty(rho="1/2"), time_limit=1e-9)


def test_a_share_that_does_not_fit_is_undecided(monkeypatch):
    monkeypatch.setattr(inferences_spread.Limits, "bytes_left", lambda limits: 1000)
    with refused(BudgetExceeded, "memory limit", "undecided"):
        audit(Local().read(point_of_sale(200)), RhoUncertainty(rho="1/2"))


@pytest.mark.parametrize("rho", [1, "1/3"])
def test_progress_ends_once_and_goes_on(rho):
    told = []
    audit(Local().read(point_of_sale(200)), RhoUncertainty(rho=rho), progress=lambda *step: told.append(step))
    done = [step / steps for _, step, steps in told]
    assert done == sorted(done)
    assert done.index(1) == len(done) - 1


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"weights": np.array([1, 1, 1])}, "weight"),
        ({"weights": np.array([9, 9])}, "transactions"),
        ({"asked": np.array([2], np.int32)}, "asked"),
        ({"asked": np.array([-1], np.int32)}, "asked"),
        ({"supports": np.array([0, 2])}, "asked"),
        ({"items": np.array([1, 0, 1], np.int32)}, "ascend"),
        ({"items": np.array([0, 2, 1], np.int32)}, "vocabulary"),
    ],
)
def test_the_kernels_refuse_what_does_not_fit_together(changes, why):
    rows = {"offsets": np.array([0, 2, 3]), "items": np.array([0, 1, 1], np.int32), "weights": np.array([1, 1])}
    given = {
        **rows,
        "thing": np.array([-1, -1], np.int32),
        "supports": np.array([1, 2]),
        "asked": np.array([0], np.int32),
        "transactions": 2,
        "threads": 1,
    }
    given |= {"memory_limit": 1 << 30, "time_limit": 1e9, "progress": None}
    for kernel, question, found in (
        (_native.audit.rho_share, {"rho_num": 1, "rho_den": 2, "strict": False}, 1),
        (_native.audit.rho_share_surer, {"together": 0, "support": 1, "left": 1 << 40}, 0),
    ):
        assert kernel(**given, **question)["witness_with"].tolist() == [found]
        with refused(ValueError, why):
            kernel(**{**given, **changes}, **question)


def test_the_kernel_that_shortens_refuses_what_cannot_be_known():
    rows = {"offsets": np.array([0, 2, 3]), "items": np.array([0, 1, 1], np.int32), "weights": np.array([1, 1])}
    given = {**rows, "thing": np.array([0, -1], np.int32), "supports": np.array([1, 2]), "transactions": 2}
    given |= {"asked": np.array([0], np.int32), "antecedent": np.array([1], np.int32), "together": 1, "support": 2}
    given |= {"memory_limit": 1 << 30, "time_limit": 1e9, "progress": None}
    shorter = _native.audit.rho_share_shorter
    assert shorter(**given)["witness_items"].tolist() == [1]
    for changes, why in (
        ({"antecedent": np.array([0], np.int32)}, "known"),
        ({"asked": np.array([0, 0], np.int32)}, "one rule"),
        ({"thing": np.array([0], np.int32)}, "thing"),
        ({"thing": np.array([-2, -1], np.int32)}, "thing"),
    ):
        with refused(ValueError, why):
            shorter(**{**given, **changes})
