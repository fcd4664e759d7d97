"""Partial suppression: only what does harm goes, nothing could return, and the bound is one."""

import importlib
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import veilset as vs
from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.interrupting import ctrl_c_stops
from veilset import BudgetExceeded, Coherence, Infeasible, Transactions, anonymize
from veilset.anonymize.coherence.partial import partial, quick_partial
from veilset.limits import Limits
from veilset.testing import check_anonymizer, oracles, strategies
from veilset.testing.checks import as_sets

SOME, MANY = examples(300), examples(1000)
EFFORTS = pytest.mark.parametrize("effort", ["normal", "high"])
ITEMS = "abcdef"


def baskets(most: int = 9) -> st.SearchStrategy[Transactions]:
    rows = st.lists(st.sets(st.sampled_from(ITEMS)), max_size=most)
    return st.tuples(rows, st.integers(1, 3)).map(
        lambda drawn: Transactions.from_lists([sorted(row) for row in drawn[0]] * drawn[1])
    )


def few_baskets() -> st.SearchStrategy[Transactions]:
    return st.lists(st.sets(st.sampled_from(ITEMS), min_size=1), min_size=2, max_size=8).map(
        lambda rows: Transactions.from_lists([sorted(row) for row in rows])
    )


def promises() -> st.SearchStrategy[Coherence]:
    return st.builds(lambda k, p: Coherence(k=k, p=p), st.integers(1, 4), st.sampled_from([1, 2, 3, 4, None]))


@EFFORTS
@MANY
@given(few_baskets(), promises())
def test_partial_passes_the_battery_and_nothing_could_return(effort, data, promise):
    check_anonymizer(
        lambda d, p: partial(d, p, effort=effort, random_state=1, limits=Limits()), data, promise, maximal=True
    )


@SOME
@given(baskets(), promises())
def test_quick_partial_passes_the_battery(data, promise):
    check_anonymizer(lambda d, p: quick_partial(d, p, limits=Limits()), data, promise)


def largest_by_definition(rows: list[frozenset[str]], item: str, k: int, p: int | None) -> list[bool]:
    """The union of all sets of rows with *item* in which each small itemset with it is in k."""
    holders = [number for number, row in enumerate(rows) if item in row]
    union: set[int] = set()
    for size in range(len(holders), 0, -1):
        for chosen in combinations(holders, size):
            there = [rows[number] for number in chosen]
            small = {
                frozenset(x) | {item}
                for row in there
                for r in range(len(row) if p is None else min(p, len(row)))
                for x in combinations(sorted(row - {item}), r)
            }
            if all(oracles.support(there, x) >= k for x in small):
                union.update(chosen)
    return [number in union for number in range(len(rows))]


@SOME
@given(few_baskets(), promises())
def test_one_item_returns_to_the_largest_set_of_rows(data, promise):
    """All items stay but the last one, whose turn it is: by the definition, the union of all sets that may have it."""
    item = data.names[-1]
    others = list(data.names[:-1])
    safe = oracles.is_coherent([row - {item} for row in as_sets(data)], (), Fraction(1), promise.k, promise.p)
    if not safe or len(data) < promise.k:
        return
    kept = quick_partial(data, promise, keep=others, limits=Limits()).kept
    assert kept is not None
    has = np.repeat(np.arange(len(data)), data.lengths)[kept & (data.items == len(data.names) - 1)]
    expected = largest_by_definition(as_sets(data), item, promise.k, promise.p)
    assert sorted(has.tolist()) == [number for number, there in enumerate(expected) if there]


def best_by_definition(data: Transactions, promise: Coherence) -> int:
    """The most occurrences that any choice of single occurrences keeps."""
    occurrences = [(number, item) for number, row in enumerate(data) for item in row]
    for lost in range(len(occurrences) + 1):
        for gone in combinations(occurrences, lost):
            rows = [frozenset(item for item in row if (n, item) not in gone) for n, row in enumerate(data)]
            if oracles.is_coherent(rows, (), Fraction(1), promise.k, promise.p):
                return len(occurrences) - lost
    raise AssertionError("Nothing left keeps it.")


@examples(60)
@given(st.lists(st.sets(st.sampled_from("abc"), min_size=1), min_size=3, max_size=5), st.integers(1, 3))
def test_the_bound_is_not_above_the_best(rows, p):
    data = Transactions.from_lists([sorted(row) for row in rows])
    promise = Coherence(k=2, p=p)
    release = anonymize(data, promise, method="partial")
    best = 1 - best_by_definition(data, promise) / len(data.items)
    assert release.bound is not None
    assert release.bound.least <= best + 1e-9
    assert release.bound.reached >= best - 1e-9
    assert release.bound.reached == pytest.approx(release.loss)


@examples(60)
@given(few_baskets(), promises())
def test_a_bound_that_may_look_at_nothing_is_weaker_and_still_one(data, promise):
    """Where rows are long and dense, lookups run out; what is left to say is true."""
    if len(data) < promise.k:
        return
    exact = anonymize(data, promise, method="partial").bound
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(importlib.import_module("veilset.anonymize.coherence.part_bound"), "_LOOKUPS", 0)
        rough = anonymize(data, promise, method="partial").bound
    assert rough.reached == exact.reached
    assert rough.least <= exact.least


def test_a_bound_that_may_look_at_nothing_misses_what_triples_exclude():
    """Each pair is in three rows and the triple in one: all three items stay together only if nobody looks at it."""
    data = Transactions.from_lists([["a", "b"]] * 2 + [["b", "c"]] * 2 + [["a", "c"]] * 2 + [["a", "b", "c"]])
    promise = Coherence(k=3, p=3)
    assert anonymize(data, promise, method="partial").bound.least == pytest.approx(1 / 15)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(importlib.import_module("veilset.anonymize.coherence.part_bound"), "_LOOKUPS", 0)
        assert anonymize(data, promise, method="partial").bound.least == 0


def sparse(rows: int = 500, items: int = 60, seed: int = 3) -> Transactions:
    """Baskets of very different lengths, a few popular items in most of them."""
    rng = np.random.default_rng(seed)
    popular = 1 / np.arange(1, items + 1)
    lengths = np.minimum(rng.geometric(0.35, rows), items)
    chosen = [rng.choice(items, size=n, replace=False, p=popular / popular.sum()).tolist() for n in lengths]
    return Transactions.from_lists([[f"i{v:02}" for v in row] for row in chosen])


@pytest.mark.parametrize("p", [2, 3, 4, None])
def test_less_is_lost_than_by_whole_items_for_any_number_of_threads(p):
    data, promise = sparse(), Coherence(k=8, p=p)
    release = anonymize(data, promise, method="partial", threads=2)
    assert release.certified
    assert release.loss < anonymize(data, promise).loss
    assert anonymize(data, promise, method="partial", threads=1).custodian_data == release.custodian_data


def test_dense_rows_are_counted_with_bitmaps_to_the_same_effect():
    """Long rows over few items: what the walk along rows would find is found by columns."""
    rng = np.random.default_rng(7)
    shares = np.linspace(0.3, 0.95, 30)
    rows = [[f"i{v:02}" for v in np.flatnonzero(rng.random(30) < shares)] for _ in range(700)]
    data, promise = Transactions.from_lists(rows), Coherence(k=50, p=4)
    release = quick_partial(data, promise, limits=Limits())
    assert vs.audit(release.custodian_data, promise).holds
    assert 0 < release.loss < 1
    again = quick_partial(release.custodian_data, promise, limits=Limits())
    assert again.loss == 0, "What keeps the promise loses nothing."


@EFFORTS
@SOME
@given(few_baskets(), promises(), st.sets(st.sampled_from(ITEMS), max_size=2))
def test_items_to_keep_stay_everywhere_or_cannot(effort, data, promise, keep):
    keep &= set(data.public)
    try:
        release = partial(data, promise, keep=keep, effort=effort, random_state=1, limits=Limits())
    except Infeasible:
        rows = [row & keep for row in as_sets(data)]
        assert len(data) < promise.k or not oracles.is_coherent(rows, (), Fraction(1), promise.k, promise.p)
        return
    before, after = data.supports, release.survivors()
    assert all(before[data.codes([item])] == after[data.codes([item])] for item in keep)


@EFFORTS
def test_weights_decide_what_stays(effort):
    """a and b exclude each other: only one of the pairs {a, c} and {b, c} can be in three rows."""
    rows = [["a", "b", "c"]] * 2 + [["a", "c"]] * 2 + [["b", "c"]] * 2
    data, promise = Transactions.from_lists(rows), Coherence(k=3, p=3)
    by_default = anonymize(data, promise, method="partial", effort=effort)
    light = anonymize(data, promise, method="partial", effort=effort, weights={"a": 100, "b": 1, "c": 1})
    heavy = anonymize(data, promise, method="partial", effort=effort, weights={"a": 1, "b": 100, "c": 1})
    survive = [dict(zip(data.names, release.survivors().tolist(), strict=True)) for release in (light, heavy)]
    assert survive[0]["a"] == 4 == survive[1]["b"]
    assert light.bound is not None
    assert light.bound.of == "share of the total weight"
    assert by_default.loss <= min(light.loss, heavy.loss)


def test_sensitive_items_stay():
    data = Transactions.from_lists([["a", "flu"], ["a"], ["a", "b"]], sensitive=["flu"])
    release = anonymize(data, Coherence(h=1, k=2, p=2), method="partial")
    assert release.certified
    assert release.in_original is None
    assert release.custodian_data.to_lists() == [["a", "flu"], ["a"], ["a"]]


@EFFORTS
@SOME
@given(strategies.transactions(), strategies.coherence_promises(), st.booleans())
def test_with_sensitive_items_the_original_is_asked(effort, data, promise, truthful):
    check_anonymizer(
        lambda d, p: partial(d, p, truthful=truthful, effort=effort, random_state=1, limits=Limits()), data, promise
    )


def test_sensitive_items_that_go_first_are_counted_with_the_rest():
    """The account of edits is against the data with them."""
    data = Transactions.from_lists([["1", "20", "3"], ["20", "3"], ["20", "x"], ["3"]], sensitive=["20"])
    release = anonymize(data, Coherence(h="1/2", k=2, p=2), method="partial", allow_sensitive=True)
    assert release.certified
    assert release.suppressed == ("1", "20", "x")
    assert release.custodian_data.to_lists() == [["3"], ["3"], [], ["3"]]


def test_nothing_and_everything():
    for rows in ([[], []], [["a"], ["b"]], [["a"], ["a"]]):
        release = anonymize(Transactions.from_lists(rows), Coherence(k=2, p=2), method="partial")
        assert release.certified
        assert release.loss == float(rows[0] != rows[1])


def test_limits_are_kept():
    data, promise = sparse(1500, 100), Coherence(k=20, p=4)
    with refused(BudgetExceeded, "time limit"):
        anonymize(data, promise, method="partial", time_limit=0.0001)
    told = []
    anonymize(data, promise, method="partial", progress=lambda *step: told.append(step[0]))
    assert "Putting items back" in told
    before = """
        import numpy as np
        from veilset import Coherence, Transactions, anonymize
        rng = np.random.default_rng(1)
        data = Transactions.from_lists([sorted(rng.choice(300, size=8, replace=False).tolist()) for _ in range(5000)])
    """
    assert ctrl_c_stops('while True: anonymize(data, Coherence(k=5, p=4), method="partial")', before=before)
