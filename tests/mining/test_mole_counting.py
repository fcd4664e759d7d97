"""The number of moles, and of frequent itemsets that avoid others, against brute force."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.counting import dense, itemsets, repeated
from tests.support.cube import random_cube
from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.golden import running_example
from tests.support.memory import leaving
from veilset import BudgetExceeded, InvalidArgument, Transactions
from veilset.mining import Itemsets, Keeping, count_frequent, count_moles, giveaways, minimal_rare
from veilset.testing import oracles, strategies
from veilset.testing.checks import as_sets

EXAMPLES = examples(400)


def per_item(counted, names) -> dict[str, int]:
    return {name: sum(name in itemset for itemset in counted) for name in names}


@EXAMPLES
@given(
    st.one_of(strategies.transactions(), repeated()),
    st.integers(1, 40),
    st.lists(st.sets(st.sampled_from([*"gfedcba", "s1", "unknown"]), max_size=4), max_size=5),
    st.integers(1, 3),
    st.one_of(st.none(), st.integers(3, 6)),
    st.integers(1, 4),
    st.data(),
)
def test_frequent_itemsets_that_avoid_others(data, min_support, avoided, least, most, threads, draw):
    names = ["s1", "unknown", *"gfedcba"]  # another vocabulary than that of the data
    held = draw.draw(st.sets(st.sampled_from(data.names), max_size=2)) if data.names else set()
    asked = {"containing": held, "avoiding": itemsets(names, avoided), "min_size": least, "max_size": most}
    count = count_frequent(data, min_support, **asked, threads=threads)
    counted = [
        x
        for x in oracles.frequent(as_sets(data), min_support)
        if held <= x and least <= len(x) <= (most or len(x)) and not any(y <= x for y in avoided)
    ]
    assert count.total == len(counted)
    assert count.per_item == per_item(counted, data.names)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [0.6, 0.2, 0.01])
def test_avoiding_in_many_rows(seed, share):
    """Bitmaps, rows that become equal, an item in every row (a) and two that are always together (b and c)."""
    cube = random_cube(seed)
    least = int(share * len(cube.rows))
    everything = cube.frequent(least)
    for avoided in (["ab"], ["cd", "aef"], ["bc"], ["deg", "fh", "i", "jkl", "bcd"]):
        counted = [x for x in everything if not any(set(y) <= set(x) for y in avoided)]
        count = count_frequent(cube.data, least, avoiding=itemsets(list(cube.data.names), avoided))
        assert count.total == len(counted)
        assert count.per_item == per_item(counted, cube.data.names)
        within = count_frequent(
            cube.data, least, containing=["d"], max_size=5, avoiding=itemsets(list(cube.data.names), avoided)
        )
        assert within.total == sum("d" in x and len(x) <= 5 for x in counted)


def test_avoiding_in_rows_of_very_many_items():
    """What no avoided itemset holds is not walked: there are 2^3000 itemsets."""
    data = Transactions.from_lists([range(3000)] * 2)
    avoided = itemsets(["7", "8", "9"], [["7", "8", "9"]])
    count = count_frequent(data, 2, avoiding=avoided, time_limit=60)
    assert count.total == 7 * 2**2997 - 1
    assert (count.per_item["7"], count.per_item["5"]) == (3 * 2**2997, 7 * 2**2996)


def test_the_running_example():
    data = running_example()
    assert count_moles(data, 3, h="1/2", max_size=3).total == 26
    left = count_moles(data.without(["c", "d"]), 3, h="1/2", max_size=3)
    assert left.total == 12
    assert left.per_item == {"a": 8, "b": 7, "e": 6, "f": 6, "g": 5}
    assert count_moles(data, 3, h="1/2", max_size=3, containing=["a", "g"], items=list("abefg")).total == 3
    assert [names for names, _ in giveaways(data, 3, h="1/2", max_size=3)] == [("a", "g")]


@EXAMPLES
@given(
    st.one_of(strategies.transactions(), repeated()),
    strategies.coherence_promises(max_k=30),
    st.booleans(),
    st.booleans(),
    st.data(),
)
def test_the_number_of_moles(data, promise, all_items, ask_before, draw):
    """Also where an attacker who knows nothing breaks the promise: then all that occurs is a mole."""
    h, k, p = promise.share, promise.k, promise.p
    items = data.public if all_items else draw.draw(st.permutations(data.public))[: len(data.public) // 2 + 1]
    held = draw.draw(st.sets(st.sampled_from(items), max_size=2)) if items else set()
    known = giveaways(data, k, h=h, max_size=p) if ask_before else None
    count = count_moles(data, k, h=h, max_size=p, containing=held, items=None if all_items else items, known=known)
    allowed = set(items)
    moles = [x for x in oracles.moles(as_sets(data), data.sensitive, h, k, p) if held <= x <= allowed]
    assert count.total == len(moles)
    assert count.per_item == per_item(moles, [name for name in data.public if name in allowed])


@EXAMPLES
@given(strategies.transactions(), strategies.coherence_promises())
def test_giveaways_are_the_minimal_moles_that_are_not_rare(data, promise):
    rows, question = as_sets(data), (data.sensitive, promise.share, promise.k, promise.p)
    assume(not oracles.empty_set_breaks(rows, *question[:3]))
    found = giveaways(data, promise.k, h=promise.share, max_size=promise.p)
    expected = {x for x in oracles.minimal_moles(rows, *question) if oracles.support(rows, x) >= promise.k}
    assert {frozenset(names) for names, _ in found} == expected


def test_who_knows_nothing_gives_the_empty_itemset():
    data = Transactions.from_lists([["a", "s"], ["a", "s"], ["a"]], sensitive=["s"])
    assert giveaways(data, 2, h="1/2").to_lists() == [([], 3)]
    assert count_moles(data, 2, h="1/2").total == 1


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("h", "k", "max_size"), [("3/4", 400, None), ("4/5", 50, 4), (1, 1000, None), ("7/10", 1, 5)])
def test_moles_of_many_rows(seed, h, k, max_size):
    cube = random_cube(seed, items=12)
    data = cube.with_sensitive(2)
    public = cube.masks[: 1 << 10]
    supports = cube.supports[public]
    together = np.array([cube.supports[public | 1 << s] for s in (10, 11)])
    share = Fraction(h)
    unsafe = (supports < k) | (share.denominator * together > share.numerator * supports).any(axis=0)
    for bit in range(10):
        below = unsafe.reshape(-1, 2, 1 << bit)
        below[:, 1] |= below[:, 0]
    counts = unsafe & (supports > 0) & (public > 0) & (cube.sizes[public] <= (max_size or 10))
    count = count_moles(data, k, h=h, max_size=max_size)
    assert count.total == counts.sum()
    assert count.per_item == {
        name: int((counts & (public >> bit & 1 > 0)).sum()) for bit, name in enumerate("abcdefghij")
    }


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("h", "k", "max_size"), [("3/4", 40, None), ("4/5", 50, 4), (1, 100, None), (1, 10, 3)])
def test_keeping_many_rows(seed, h, k, max_size):
    """Equal rows and items that all rows hold, against the search for minimal moles."""
    data = random_cube(seed, items=12).with_sensitive(2)
    keeping, kept = Keeping(data, k, h=h, max_size=max_size), []
    for item in data.public:
        moles = minimal_rare(data, k, h=h, max_size=max_size, items=[*kept, item])
        assert keeping.brings_mole(item) == (len(moles) > 0)
        if not moles:
            keeping.keep(item)
            kept.append(item)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"k": 0}, ("k", 0)),
        ({"k": 2, "h": 2}, ("h", 2)),
        ({"k": 2, "max_size": 0}, ("max_size", 0)),
        ({"k": 2, "items": ["s"]}, ("'s'", "sensitive")),
        ({"k": 2, "containing": ["s"]}, ("'s'", "sensitive")),
        ({"k": 2, "containing": ["x"]}, ("'x'",)),
    ],
)
def test_wrong_arguments(arguments, named, snapshot):
    with refused(InvalidArgument, *named, said=snapshot):
        count_moles(Transactions.from_lists([["a", "s"], ["a"]], sensitive=["s"]), **arguments)


def test_the_time_limit_is_kept():
    data, avoided = dense()
    with refused(BudgetExceeded, "time limit"):
        count_frequent(data, 1, avoiding=avoided, time_limit=0.3)


@pytest.mark.no_sanitizer(reason="the sanitizer's own memory counts too")
def test_the_memory_limit_is_kept():
    """Five million itemsets to be avoided take memory, before anything is counted."""
    data = Transactions.from_lists([["a", "b"]] * 2)
    many = Itemsets(
        ("a", "b"), np.arange(0, 10_000_001, 2), np.tile(np.array([0, 1], np.int32), 5_000_000), np.zeros(0)
    )
    with refused(BudgetExceeded, "memory limit"):
        count_frequent(data, 1, avoiding=many, memory_limit=leaving(30_000_000))
    assert count_frequent(data, 1, avoiding=many).total == 2
