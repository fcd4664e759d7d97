"""Proxies against brute force: which there are, how sure they make, and which come first."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.explosive import explosive
from veilset import BudgetExceeded, InvalidArgument, Transactions, generate
from veilset.mining import Proxy, proxies, support
from veilset.testing import oracles
from veilset.testing.checks import as_sets
from veilset.testing.strategies import sparse_or_dense

Z, TAIL = 1.96, 0.025
ROWS = [["strips", "insulin"]] * 8 + [["strips"]] + [["milk", "insulin"]] + [["milk"]] * 90
SHOP = Transactions.from_lists(ROWS, sensitive=["insulin"])


@examples(600)
@given(sparse_or_dense().filter(lambda data: data.sensitive), st.sampled_from([1, 2]), st.integers(1, 4))
def test_proxies_equal_the_oracle(data, size, min_support):
    found = proxies(data, size=size, min_support=min_support, top=None)
    rows = as_sets(data)
    expected = oracles.proxies(rows, data.sensitive, size, min_support, TAIL)
    assert {(frozenset(p.items), p.sensitive): (p.support, p.held, pytest.approx(p.lower)) for p in found.first} == (
        expected
    )
    assert found.found == len(found.first) == len(expected)
    assert found.counted == sum(
        oracles.support(rows, x | {s}) >= min_support
        for x in oracles.occurring(rows, data.sensitive, size)
        for s in data.sensitive
    )
    for p in found.first:
        assert p.share == Fraction(oracles.support(rows, [p.sensitive]), len(rows))
        assert p.lift == p.confidence / p.share
        assert p.confidence == Fraction(p.support, p.held) > p.lower > p.share


@given(sparse_or_dense().filter(lambda data: data.sensitive), st.sampled_from([1, 2]))
def test_the_largest_gain_comes_first(data, size):
    everything = proxies(data, size=size, min_support=1, top=None).first
    code = data.names.index
    for one, other in pairwise(everything):
        keys = [(-p.gain, len(p.items), code(p.sensitive), [*map(code, p.items)]) for p in (one, other)]
        assert keys[0] < keys[1]
    for top in (1, 3):
        some = proxies(data, size=size, min_support=1, top=top)
        assert (some.first, some.found) == (everything[:top], len(everything))


@given(sparse_or_dense().filter(lambda data: data.sensitive))
def test_any_number_of_threads_gives_the_same(data):
    answers = [proxies(data, size=2, min_support=1, threads=threads) for threads in (1, 2, 3)]
    assert answers[0] == answers[1] == answers[2]


def test_by_hand():
    (proxy,) = proxies(SHOP).first
    assert proxy == Proxy(("strips",), "insulin", 8, 9, Fraction(9, 100), proxy.lower)
    assert (proxy.confidence, proxy.lift) == (Fraction(8, 9), Fraction(800, 81))
    assert proxy.lower == pytest.approx(0.5650, abs=5e-5)
    assert proxy.gain == proxy.lower - 0.09


def test_bounds_by_hand():
    """The 1.96 of every table; of one, the bound is 1 / (1 + z^2); of 8 in 9 it solves Wilson's equation."""
    assert oracles.normal_quantile(TAIL) == pytest.approx(Z, abs=1e-4)
    assert oracles.wilson_lower_bound(1, 1, Z) == pytest.approx(1 / (1 + Z**2))
    p = oracles.wilson_lower_bound(8, 9, Z)
    assert (8 / 9 - p) ** 2 == pytest.approx(Z**2 * p * (1 - p) / 9)


def test_one_lucky_transaction_does_not_come_first():
    lucky = Transactions.from_lists([*ROWS, ["truffle", "insulin"]], sensitive=["insulin"])
    assert [p.items for p in proxies(lucky, min_support=1).first] == [("strips",), ("truffle",)]
    assert [p.items for p in proxies(lucky).first] == [("strips",)]


def test_the_more_are_counted_the_more_it_takes():
    """The same 8 of 9, among a hundred other items that go with the secret as often as with anything."""
    noise = [[f"n{i}", *(["insulin"] if i % 10 == 0 else [])] for i in range(1000)]
    among = Transactions.from_lists([*ROWS, *noise], sensitive=["insulin"])
    alone, crowded = (proxies(data, min_support=1).first[0] for data in (SHOP, among))
    assert (alone.items, crowded.items) == (("strips",), ("strips",))
    assert crowded.lower < alone.lower - 0.1


def test_min_support_counts_those_who_have_both():
    assert [len(proxies(SHOP, min_support=least).first) for least in (8, 9, "8%", "9%")] == [1, 0, 1, 0]


def test_a_pair_has_to_say_more_than_its_items():
    """Tea and rum give the cure away together; bun adds nothing to figs, which do so alone."""
    rows = (
        [["tea", "rum", "cure"]] * 9 + [["tea"]] * 30 + [["rum"]] * 30 + [["fig", "bun", "gout"]] * 9 + [["bun"]] * 30
    )
    data = Transactions.from_lists(rows, sensitive=["cure", "gout"])
    found = proxies(data, size=2).first
    assert {("rum", "tea"), ("fig",)} == {p.items for p in found if p.lower > 0.5}
    assert ("bun", "fig") not in {p.items for p in found}
    assert [p.items for p in found[:2]] == [("fig",), ("rum", "tea")]
    assert all(len(p.items) == 1 for p in proxies(data).first)


def test_what_everybody_has_is_given_away_by_nothing():
    data = Transactions.from_lists([["a", "s"]] * 50 + [["b", "s"]] * 50, sensitive=["s"])
    assert proxies(data) == type(proxies(data))((), 0, 2)


def test_only_sensitive_items():
    data = Transactions.from_lists([["s", "t"]] * 9, sensitive=["s", "t"])
    assert proxies(data, size=2).counted == 0


def test_names_that_are_sorted_differently_alone():
    """Those who have the secret hold integers only, which are sorted as numbers; the whole data is sorted as text."""
    rows = [["9", "10", "100"]] * 8 + [["milk"]] * 90 + [["9"]] * 40 + [["10"]] * 40
    data = Transactions.from_lists(rows, sensitive=["100"])
    assert (data.names.index("10"), data.names.index("9")) == (0, 2)
    first = proxies(data, size=2).first[0]
    assert (first.items, first.support, first.held) == (("10", "9"), 8, 8)


def test_more_items_than_a_square_of_32_bits_holds():
    """Where 0 and 32768 (or 1 and 32769) times the number of items are the same in 32 bits."""
    rows = [[0, 5, 7]] * 9 + [[0], [5]] * 60 + [[32768, 7]] * 9
    rows += [[32769, 6, 8]] * 9 + [[32769], [6]] * 60 + [[1, 8]] * 200
    rest = sorted({*range(2**17)}.difference(*rows))
    found = [
        [(p.items, p.sensitive, p.lower) for p in proxies(data, size=2).first]
        for data in (Transactions.from_lists([*rows, last], sensitive=[7, 8]) for last in (rest, rest[:1]))
    ]
    assert found[0] == found[1]
    assert {items for items, _, _ in found[0][:4]} == {("0", "5"), ("32768",), ("6", "32769"), ("1",)}


def test_on_the_grocery_set():
    data = generate.grocery_pharmacy()
    first = proxies(data).first[0]
    assert (first.items, first.sensitive) == (("sweetener",), "insulin")
    assert (first.support, first.held) == (55, 81) == (support(data, ["sweetener", "insulin"]), 81)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"size": 0}, ("size", 0)),
        ({"size": 3}, ("size", 3)),
        ({"top": 0}, ("top", 0)),
        ({"min_support": 0}, ("min_support", 0)),
        ({"threads": 0}, ("threads", 0)),
    ],
)
def test_wrong_options(options, named, snapshot):
    with refused(InvalidArgument, *named, said=snapshot):
        proxies(SHOP, **options)


def test_nothing_sensitive():
    with refused(InvalidArgument, "sensitive"):
        proxies(SHOP.with_sensitive([]))


@pytest.mark.no_sanitizer(reason="slow there, and takes far more memory")
def test_time_limit():
    data = explosive()
    with refused(BudgetExceeded, "time limit", "min_support", "size"):
        proxies(data.with_sensitive(data.names[:1]), size=2, min_support=1, time_limit=1e-9)
