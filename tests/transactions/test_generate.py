"""Synthetic transactions: the same on any number of threads, shaped as asked; the demo set is fit."""

import hashlib
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.errors import refused
from veilset.errors import BudgetExceeded, InvalidArgument
from veilset.limits import Limits
from veilset.mining import minimal_rare
from veilset.transactions import Transactions
from veilset.transactions.generate import (
    grocery_pharmacy,
    grocery_pharmacy_taxonomy,
    pos_like,
    quest,
    thesis_experiment,
    with_random_sensitive,
)

QUEST = {"transactions": 20_000, "average_length": 8, "pattern_length": 3, "items": 300, "patterns": 200}
SMALL = {**QUEST, "transactions": 200, "items": 50}
POS = {"transactions": 20_000, "items": 300, "average_length": 6.5, "maximum_length": 100}


@pytest.mark.parametrize(("make", "size"), [(quest, QUEST), (pos_like, POS)])
class TestBothKernels:
    def test_threads_do_not_matter(self, make, size):
        # 20,000 rows are five blocks, so that four threads have something to race for.
        results = [make(**size, random_state=3, threads=threads) for threads in (1, 2, 3, 4)]
        assert all(result == results[0] for result in results[1:])

    def test_a_row_does_not_depend_on_how_many_follow(self, make, size):
        few = make(**{**size, "transactions": 100}, random_state=3)
        assert few.to_lists() == make(**size, random_state=3).take(np.arange(100)).to_lists()

    def test_seeds_matter(self, make, size):
        assert make(**size, random_state=1) != make(**size, random_state=2)
        assert make(**size, random_state=2**64 - 1) == make(**size, random_state=2**64 - 1)

    def test_names_are_numbers_from_one(self, make, size):
        names = [int(name) for name in make(**size).names]
        assert names == sorted(names)
        assert names[0] >= 1
        assert names[-1] <= 300

    def test_no_row_is_empty(self, make, size):
        assert make(**size).lengths.min() >= 1

    def test_memory_limit(self, make, size, monkeypatch):
        monkeypatch.setattr(Limits, "bytes_left", lambda self: 50_000)
        with refused(BudgetExceeded, "memory limit"):
            make(**size)

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("transactions", 0),
            ("transactions", 10.0),
            ("transactions", True),
            ("items", 0),
            ("items", 10**9),
            ("average_length", 0.5),
            ("average_length", float("nan")),
            ("average_length", "8"),
            ("average_length", 301),
            ("random_state", -1),
            ("random_state", None),
            ("threads", 0),
        ],
    )
    def test_wrong_values_are_named(self, make, size, name, value):
        with refused(InvalidArgument, name) as caught:
            make(**{**size, name: value})
        assert str(value) in caught.value.what
        assert caught.value.next_step


@pytest.mark.parametrize(("name", "value"), [("pattern_length", 0), ("pattern_length", 301), ("patterns", 0)])
def test_quest_names_wrong_values(name, value):
    with refused(InvalidArgument, name, value):
        quest(**{**QUEST, name: value})


@pytest.mark.parametrize("value", [0, 301, 6])
def test_pos_names_a_wrong_maximum(value):
    # 6 is below the average of 6.5: the average is what cannot be reached then.
    with refused(InvalidArgument, *(("average_length", 6.5) if value == 6 else ("maximum_length", value))):
        pos_like(**{**POS, "maximum_length": value})


def test_quest_sizes_are_poisson():
    # Patterns of one item always fit: a length is 1 + Poisson(9), with mean 10 and variance 9. Over n rows
    # the mean has a standard error of 3/sqrt(n), the variance one of sqrt((252 - 81)/n): m4 = 9 + 3*81 = 252.
    n = 40_000
    lengths = quest(transactions=n, average_length=10, pattern_length=1, items=1000, random_state=5).lengths
    assert abs(lengths.mean() - 10) < 5 * 3 / n**0.5
    assert abs(lengths.var() - 9) < 5 * (171 / n) ** 0.5


@pytest.mark.parametrize(("average", "pattern"), [(5, 2), (10, 4), (20, 6)])
def test_quest_mean_length(average, pattern):
    # A row misses its size by less than the pattern that did not fit, above or below with equal chance: by
    # less than half of it on average. Long patterns fit less often; weighted by its size, the mean of
    # 1 + Poisson(I - 1) is I + 1 - 1/I. To this come 5 standard errors of the mean.
    data = quest(transactions=20_000, average_length=average, pattern_length=pattern, items=1000, random_state=2)
    assert abs(data.lengths.mean() - average) < (pattern + 1) / 2 + 5 * data.lengths.std() / 20_000**0.5


def test_quest_has_patterns():
    # Some pair of items goes together far more often than chance would have it: a pattern was found.
    data = quest(**QUEST, random_state=1)
    holds = np.zeros((len(data), len(data.names)), dtype=np.float32)
    holds[np.repeat(np.arange(len(data)), data.lengths), data.items] = 1
    together = holds.T @ holds
    by_chance = np.outer(data.supports, data.supports) / len(data)
    np.fill_diagonal(together, 0)
    common = by_chance > 20
    assert (together[common] / by_chance[common]).max() > 3


@pytest.mark.parametrize("patterns", [1, 2])
def test_quest_with_hardly_a_pattern_ends(patterns):
    data = quest(transactions=500, average_length=30, pattern_length=2, items=50, patterns=patterns)
    assert len(data) == 500
    assert data.lengths.min() >= 1


def test_quest_of_one_item():
    data = quest(transactions=10, average_length=1, pattern_length=1, items=1)
    assert data.to_lists() == [["1"]] * 10


@pytest.mark.parametrize(("average", "longest"), [(6.5, 164), (2, 40), (1.2, 5), (50, 100), (99, 100)])
def test_pos_mean_and_maximum(average, longest):
    # The distribution has the mean asked for; a sample's mean is within 5 standard errors of it.
    n = 40_000
    lengths = pos_like(
        transactions=n, items=500, average_length=average, maximum_length=longest, random_state=4
    ).lengths
    assert abs(lengths.mean() - average) < 5 * lengths.std() / n**0.5
    assert lengths.max() <= longest


def test_pos_has_the_tails_of_bms_pos():
    data = pos_like(transactions=515_597, items=1657, average_length=6.5, maximum_length=164)
    assert len(data.names) == 1657
    # The lengths from 150 on have a probability of 4e-5 together: that none occurs has one of exp(-21).
    assert 150 <= data.lengths.max() <= 164
    assert np.median(data.lengths) < 6.5 - 1


def test_pos_items_follow_zipf():
    # One item a row: rank r has probability 1/(r H). Each support is within 5 deviations of its expectation,
    # below 5 sqrt(n p); sorting both sides does not make the largest difference larger.
    n, items = 100_000, 50
    data = pos_like(transactions=n, items=items, average_length=1, maximum_length=1)
    weights = 1 / np.arange(1, items + 1)
    expected = n * weights / weights.sum()
    assert np.abs(np.sort(data.supports)[::-1] - expected).max() < 5 * expected[0] ** 0.5
    assert list(data.supports) != sorted(data.supports, reverse=True)


@examples(40)
@given(items=st.integers(1, 40), share=st.floats(0, 1), seed=st.integers(0, 2**64 - 1))
def test_pos_rows_hold_different_items(items, share, seed):
    # If every row must hold all items, a repetition would show as a shorter row.
    full = pos_like(transactions=20, items=items, average_length=items, maximum_length=items, random_state=seed)
    assert set(full.lengths) == {items}
    average = 1 + share * (items - 1)
    part = pos_like(transactions=20, items=items, average_length=average, maximum_length=items, random_state=seed)
    assert 1 <= part.lengths.min() <= part.lengths.max() <= items


class TestGroceryPharmacy:
    def test_the_same_bytes_everywhere(self):
        data = grocery_pharmacy()
        digest = hashlib.sha256(repr(data.to_lists()).encode()).hexdigest()
        assert digest == "4e50dee2656fa15f12740a780a5e7a45a2f5cdb90fdd7ee97a3385d9a28fc331"

    def test_rows_are_keyed_by_their_number(self):
        assert grocery_pharmacy(transactions=50).to_lists() == grocery_pharmacy().to_lists()[:50]
        assert grocery_pharmacy(random_state=1) != grocery_pharmacy()

    def test_blocks_join(self):
        many = grocery_pharmacy(transactions=70_000)
        assert len(many) == 70_000
        assert many.lengths.min() >= 1
        assert many.take(np.arange(3000)).to_lists() == grocery_pharmacy().to_lists()

    def test_one_basket(self):
        data = grocery_pharmacy(transactions=1)
        assert len(data) == 1
        assert data.public

    @pytest.mark.parametrize("wrong", [{"transactions": 0}, {"random_state": -1}, {"random_state": 1.5}])
    def test_wrong_values(self, wrong):
        with refused(InvalidArgument, *wrong):
            grocery_pharmacy(**wrong)

    def test_taxonomy_covers_it(self):
        taxonomy = grocery_pharmacy_taxonomy()
        assert taxonomy.check(grocery_pharmacy()) == ()
        departments = {taxonomy.label(node) for node in taxonomy.children(taxonomy.root)}
        assert departments == {"fresh food", "pantry", "drinks", "household"}

    @pytest.mark.parametrize("seed", [0, 1, 2])
    def test_fit_for_the_demo(self, seed):
        """At h = 0.4, k = 10, p = 2: feasible, with moles of each kind, and most of it survives."""
        data = grocery_pharmacy(random_state=seed)
        assert len(data.sensitive) == 9
        shares = data.supports[data.codes(data.sensitive)] / len(data)
        assert 0.01 <= shares.min() <= shares.max() <= 0.08
        moles = {frozenset(mole.items): mole.support for mole in minimal_rare(data, 10, h="2/5", max_size=2)}
        assert sum(held < 10 for mole, held in moles.items() if len(mole) == 1) >= 4
        assert {len(mole) for mole, held in moles.items() if held >= 10} == {1, 2}
        support = dict(zip(data.names, data.supports.tolist(), strict=True))
        kept: set[str] = set()
        for item in sorted(data.public, key=lambda item: -support[item]):
            if not any(mole <= {*kept, item} for mole in moles):
                kept.add(item)
        assert sum(support[item] for item in kept) > 0.8 * sum(support[item] for item in data.public)


# What the papers' experiments do to data in which nothing is sensitive


def test_a_share_of_the_items_is_public_and_private_ones_are_copies():
    data = quest(**SMALL)
    made = thesis_experiment(data, public="20%", cap="40%", random_state=1)
    assert len(made) == len(data)
    assert len(made.public) == round(len(data.names) * 0.2)
    assert {*made.public} < {*data.names}
    assert all(sum(item in made.sensitive for item in row) == 1 for row in made)
    assert {*made.sensitive} <= {"s*", *(f"private {name}" for name in data.names)}
    assert (made.supports[made.is_sensitive == 1] <= 0.4 * len(data))[[name != "s*" for name in made.sensitive]].all()
    assert made == thesis_experiment(data, public=0.2, cap=0.4, random_state=1)
    assert made != thesis_experiment(data, public=0.2, cap=0.4, random_state=2)


def test_without_a_cap_there_are_no_private_items():
    data = quest(**SMALL)
    assert thesis_experiment(data, public=1, random_state=7) == data
    assert not thesis_experiment(data, public="1/2", random_state=7).sensitive


def test_what_is_sensitive_at_a_smaller_share_is_so_at_a_larger_one():
    data = quest(**SMALL)
    chosen = [
        set(with_random_sensitive(data, share=share, random_state=5).sensitive) for share in ("10%", 0.4, "2/3", 1)
    ]
    assert all(smaller < larger for smaller, larger in pairwise(chosen))
    assert [len(names) for names in chosen] == [round(len(data.names) * share) for share in (0.1, 0.4, 2 / 3, 1)]
    assert chosen[1] != {*with_random_sensitive(data, share=0.4, random_state=6).sensitive}


@pytest.mark.parametrize(
    ("make", "values"),
    [
        (lambda data: thesis_experiment(data, public=1.5), ("public", 1.5)),
        (lambda data: thesis_experiment(data, public=0.5, cap="x"), ("cap", "'x'")),
        (lambda data: thesis_experiment(data, public=0.5, random_state=-1), ("random_state", -1)),
        (lambda data: with_random_sensitive(data, share=0), ("share", 0)),
        (lambda data: with_random_sensitive(data, share=0.5, random_state=1.5), ("random_state", 1.5)),
        (lambda data: with_random_sensitive([["a"]], share=0.5), ("list",)),
    ],
)
def test_experiments_that_cannot_be_meant(make, values):
    with refused(InvalidArgument, *values):
        make(Transactions.from_lists([["a"]]))
