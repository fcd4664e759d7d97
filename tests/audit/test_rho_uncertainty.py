"""The auditor of ρ-uncertainty against the definition, and how it behaves as a kernel."""

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import golden
from tests.support.auditing import rho_kernel
from tests.support.effort import examples, repeats
from tests.support.errors import refused
from tests.support.explosive import nearly_equal
from veilset import Transactions, _native
from veilset.audit import audit
from veilset.limits import Limits
from veilset.models import Audit, RhoUncertainty
from veilset.testing import check_audit, check_model, oracles, strategies
from veilset.testing.checks import as_sets

SHARES = [Fraction(1), Fraction(1, 2), Fraction(2, 3), Fraction(7, 10), Fraction(1, 3), Fraction(9, 10)]
TABLE_1 = [frozenset(row) for row in golden.TABLE_1]
FIGURE_16 = [frozenset(row) for row in golden.FIGURE_16]


def asked(data: Transactions, rho: str | Fraction, witnesses: int = 1000, **limits) -> Audit:
    return audit(data, RhoUncertainty(rho=rho), witnesses=witnesses, limits=Limits(**limits))


@examples(1000)
@given(strategies.transactions() | strategies.protected(), strategies.rho_promises())
def test_equals_the_oracle(data, promise):
    check_audit(data, promise)


def test_equals_the_oracle_on_thousands():
    """Cheaper draws, more of them."""
    draw = random.Random(20100913)
    holding = 0
    for _ in range(repeats(2000)):
        names = "abcdef"[: draw.randint(2, 6)] + "XYZ"[: draw.randint(1, 3)]
        density = draw.choice([0.3, 0.5, 0.7, 0.9])
        base = [[name for name in names if draw.random() < density] for _ in range(draw.randint(1, 12))]
        rows = base * draw.choice([1, 1, 2])
        for _ in range(draw.randint(0, 4)):
            rows += [[name for name in row if name.islower() or draw.random() < 0.3] for row in base]
        data = Transactions.from_lists(rows, sensitive={name for row in rows for name in row if name.isupper()})
        rho = draw.choice(SHARES)
        answer = asked(data, rho)
        check_audit(data, RhoUncertainty(rho=rho), answer)
        holding += answer.holds
    assert repeats(500) < holding < repeats(1500), "The draws must show both verdicts."


def test_antecedents_between_single_items_and_whole_rows():
    """Three rows protect what is known in whole, many protect single items: what is left is for the search to find."""
    draw = random.Random(3)
    holding = only_between = 0
    for _ in range(repeats(300)):
        rows = [{*(item for item in "abcdefgh" if draw.random() < 0.6), "X"} for _ in range(8)]
        whole = {frozenset(row - {"X"}) for row in rows}
        rows += [{item for item in "abcdefgh" if draw.random() < 0.5} for _ in range(16)]
        rows += [set("abcdefgh")] * 3 + [{item} for item in "abcdefgh"] * 2
        data = Transactions.from_lists(rows, sensitive=["X"])
        answer = asked(data, "1/2")
        check_audit(data, RhoUncertainty(rho="1/2"), answer)
        holding += answer.holds
        broken = {x for x, _ in oracles.rho_violations(as_sets(data), ["X"], Fraction(1, 2))}
        only_between += bool(broken) and not any(len(x) < 2 or x in whole for x in broken)
    assert holding > repeats(50)
    assert only_between > repeats(50)


@pytest.mark.parametrize("rho", SHARES, ids=str)
@pytest.mark.parametrize(
    ("rows", "sensitive"),
    [
        ([["a", "b"]] * 3, []),
        ([["s", "t"]] * 2 + [["s"], []], ["s", "t"]),
        ([[], []], []),
        ([], []),
        ([["s"]], ["s"]),
        ([["s"]] + [[]] * 9, ["s"]),
        ([["a", "s"], ["a"], ["s"]] + [[]] * 9, ["s"]),
    ],
    ids=["no sensitive", "all sensitive", "empty rows", "no rows", "one row", "only the empty set", "exactly one half"],
)
def test_corners(rows, sensitive, rho):
    data = Transactions.from_lists(rows, sensitive=sensitive)
    check_audit(data, RhoUncertainty(rho=rho))


def test_oracle_on_table_1():
    violations = oracles.rho_violations(TABLE_1, ["α", "γ"], Fraction(7, 10))
    assert len(violations) == 23
    alone = {(*antecedent, s): count for (antecedent, s), count in violations.items() if len(antecedent) == 1}
    assert alone == {("b1", "α"): (1, 1), ("b1", "γ"): (1, 1), ("α", "γ"): (2, 2)}
    # Example A.1: suppressing b1 and α is enough.
    released = [row - {"b1", "α"} for row in TABLE_1]
    assert oracles.is_rho_uncertain(released, ["γ"], Fraction(7, 10))
    assert not oracles.is_rho_uncertain([row - {"b1"} for row in TABLE_1], ["α", "γ"], Fraction(7, 10))


def test_oracle_on_figure_16():
    rules = oracles.sensitive_rules(FIGURE_16, ["α"])
    shares = {tuple(sorted(antecedent)): Fraction(*count) for (antecedent, _), count in rules.items()}
    two_thirds = Fraction(2, 3)
    assert shares == {(): Fraction(3, 4), ("a1",): two_thirds, ("a2",): two_thirds, ("a1", "a2"): Fraction(1, 2)}
    generalized = [frozenset("A" if item != "α" else item for item in row) for row in FIGURE_16]
    assert oracles.sensitive_rules(generalized, ["α"])[frozenset("A"), "α"] == (3, 4)


def test_table_1(snapshot):
    data = Transactions.from_lists(TABLE_1, sensitive=["α", "γ"])
    answer = asked(data, "7/10")
    check_audit(data, RhoUncertainty(rho="7/10"), answer)
    assert [str(w) for w in answer.witnesses] == snapshot
    released = data.without(["b1", "α"])
    assert asked(released, "7/10").margins["largest_confidence"].value == Fraction(2, 3)  # a1 → γ


def test_figure_16_knowing_nothing_and_generalized(snapshot):
    data = Transactions.from_lists(FIGURE_16, sensitive=["α"])
    (witness,) = asked(data, "3/4").witnesses
    assert str(witness) == snapshot
    more = Transactions.from_lists([*FIGURE_16, ["b"]], sensitive=["α"])  # α in 3 of 5
    assert asked(more, "7/10").holds
    (witness,) = asked(more.renamed({"a1": "A", "a2": "A"}), "7/10").witnesses
    assert (witness.itemset, witness.support, witness.confidence) == (("A",), 4, Fraction(3, 4))


@given(strategies.rho_promises())
def test_the_promise_passes_its_battery(promise):
    check_model(promise)


@examples(300)
@given(strategies.protected(), st.sampled_from(SHARES))
def test_any_number_of_threads_gives_the_same_answer(data, rho):
    first = asked(data, rho, threads=1)
    assert all(asked(data, rho, threads=threads) == first for threads in (2, 3))


def test_more_sensitive_items_than_a_batch_in_threads():
    """The largest certainty is looked for batch by batch; neither the answer nor the work depends on the threads."""
    draw = random.Random(5)
    sensitive = [f"s{i}" for i in range(150)]
    rows = [[i for i in range(12) if draw.random() < 0.4] for _ in range(2000)]
    for number, row in enumerate(draw.sample(rows, 750)):
        row.append(sensitive[number % 150])
    bare = [[item for item in row if isinstance(item, int)] for row in rows]
    data = Transactions.from_lists([*rows, *bare, *bare], sensitive=sensitive)
    public_only = [frozenset(row) for row in data.only(data.public)]
    surest = asked(data, 1, threads=1)
    assert surest.holds
    assert asked(data, 1, threads=2) == surest
    margin = surest.margins["largest_confidence"]
    holders = [row for row, items in enumerate(data) if margin.sensitive in items]
    held = sum(set(margin.itemset) <= public_only[row] for row in range(len(data)))
    together = sum(set(margin.itemset) <= set(data[row]) for row in holders)
    assert margin.value == Fraction(together, held)


A_MOMENT = 20_000_000  # steps, as native/audit/inferences.hpp has it


@pytest.mark.parametrize(("items", "share"), [(60, 0.9), (100, 0.95)])
def test_hundreds_of_nearly_equal_long_rows_are_decided(items, share):
    """The surest rule is not known then: the search for it ends as soon as it took as long."""
    data = nearly_equal(items, share)
    answer = asked(data, "1/2")
    assert answer.holds
    margin = answer.margins["largest_confidence"]
    assert not margin.is_extreme
    holders = [row for row in data if set(margin.itemset) <= set(row)]
    assert margin.value == Fraction(sum("α" in row for row in holders), len(holders))
    proof, search = rho_kernel(data, Fraction(1, 2))["steps"]
    assert proof > 0
    assert search <= max(proof, A_MOMENT)


@pytest.mark.parametrize("short", [0, 1])
@pytest.mark.parametrize(("batch_limit", "threads"), [(0, 1), (0, 3), (1, 1), (400, 2)])
def test_the_work_of_a_proof_may_be_limited(short, batch_limit, threads):
    """By steps, of which there are as many for any batches and threads."""
    draw = random.Random(2)
    public = [[item for item in range(12) if draw.random() < 0.5] for _ in range(300)]
    secrets = ["α", "β", "γ"]
    data = Transactions.from_lists([[*row, *one] for row in public for one in ([], *secrets)], sensitive=secrets)
    work, _ = rho_kernel(data, Fraction(1, 2))["steps"]
    assert work > 1000
    question = {"work_limit": work - short, "batch_limit": batch_limit, "threads": threads}
    if short:
        with pytest.raises(_native.core.OutOfWork):
            rho_kernel(data, Fraction(1, 2), **question)
    else:
        assert rho_kernel(data, Fraction(1, 2), **question)["found"] == 0


def test_the_most_severe_witnesses_are_the_ones_listed():
    draw = random.Random(1)
    rows = [[i for i in range(40) if draw.random() < 0.2] for _ in range(200)]
    data = Transactions.from_lists(rows, sensitive=range(15))
    everything = asked(data, "1/2")
    few = asked(data, "1/2", witnesses=4)
    assert everything.found == few.found == len(everything.witnesses) == 15
    assert few.witnesses == everything.witnesses[:4]
    assert asked(data, "1/2", witnesses=0).found == 15


def planted() -> tuple[list[list[str]], list[str]]:
    """Rows in which exactly one antecedent gives α away at ρ = 1/2: the ten items q0 … q9, inside a row of 200 items.

    Two rows hold α and have only these ten in common; two rows without α hold all that is in both. So {q0, …, q9} → α
    has the confidence 2/4. What holds other items besides is held by one of the two and by both others: 1/3 at most.
    Of nine items or fewer there is one more row without α each: 2/5. Noise rows hold α too, lack one of the ten, and
    return twice without α: they add two or more to what is held for one that they add to what is held together.
    """
    draw = random.Random(10)
    ten = [f"q{i}" for i in range(10)]
    left, right = [f"l{i}" for i in range(190)], [f"r{i}" for i in range(60)]
    rows = [[*ten, *left, "α"], [*ten, *right, "α"], *([[*ten, *left, *right]] * 2)]
    rows += [[item for item in ten if item != missing] for missing in ten]
    for _ in range(60):
        noise = [item for item in draw.sample(ten, 9) if draw.random() < 0.9] + draw.sample(left, 120)
        rows += [[*noise, "α"], noise, noise]
    rows += [["other"]] * 10
    return rows, ten


def test_finds_a_violation_planted_at_size_ten():
    rows, ten = planted()
    answer = asked(Transactions.from_lists(rows, sensitive=["α"]), "1/2")
    (witness,) = answer.witnesses
    assert (witness.itemset, witness.sensitive, witness.support) == (tuple(ten), "α", 4)
    assert witness.confidence == Fraction(1, 2)
    # It is the only one: with one more row that holds the ten, the promise holds. The oracle says the same of a part.
    healed = [*rows, ten]
    assert asked(Transactions.from_lists(healed, sensitive=["α"]), "1/2").holds
    near = {*ten, "l0", "r0", "α"}
    assert not oracles.rho_violations([frozenset(row) & near for row in healed], ["α"], Fraction(1, 2))
    assert {x for x, _ in oracles.rho_violations([frozenset(row) & near for row in rows], ["α"], Fraction(1, 2))} == {
        frozenset(ten)
    }


def test_a_row_of_five_thousand_items():
    long = list(range(5000))
    data = Transactions.from_lists([[*long, 9999], long, long[:2500], [*long[::2], 9999], long[::2]], sensitive=[9999])
    assert asked(data, "2/3").holds
    answer = asked(data, "1/2")
    (witness,) = answer.witnesses
    held = [set(witness.itemset) <= set(row) for row in data]
    assert witness.support == sum(held)
    assert witness.confidence >= Fraction(1, 2)
    assert len(witness.itemset) < 10


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"rho_num": 0}, ("rho", "share")),
        ({"rho_num": 3}, ("rho", "share")),
        ({"rho_den": -1}, ("rho", "share")),
        ({"rho_den": 10**6 + 1}, ("rho", "fine")),
        ({"witness_limit": -1}, ("witness_limit",)),
        ({"offsets": np.array([0, 1], dtype=np.int64)}, ("frame",)),
        ({"offsets": np.array([0, 2, 1, 2], dtype=np.int64)}, ("decrease",)),
        ({"items": np.array([0, 5], dtype=np.int32)}, ("vocabulary",)),
    ],
)
def test_the_kernel_refuses_bad_arguments(wrong, named):
    arguments = {
        "offsets": np.array([0, 2], dtype=np.int64),
        "items": np.array([0, 1], dtype=np.int32),
        "sensitive": np.array([0, 1], dtype=np.uint8),
        "rho_num": 1,
        "rho_den": 2,
        "witness_limit": 1,
        "batch_limit": 0,
        "work_limit": 1000,
        "threads": 1,
        "memory_limit": 2**30,
        "time_limit": 10.0,
        "progress": None,
    }
    assert _native.audit.rho(**arguments)["found"] == 1
    with refused(ValueError, *named):
        _native.audit.rho(**{**arguments, **wrong})
