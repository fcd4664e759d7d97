"""Trees made of items that occur together: against a twin that counts by hand, and on planted blocks."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import veilset as vs
from tests.support.errors import refused
from veilset.testing import strategies
from veilset.transactions import Taxonomy, Transactions
from veilset.transactions.generate import pos_like


def groups_by_hand(data, n, min_support):
    """Each item's groups as sets of items: the same steps over whole columns, with fractions."""
    items = Taxonomy.by_fan_out(data, 2).leaves
    rows = [set(row) for row in data.to_lists()]

    def product(one, other):
        times = {(a, b): sum(a in row and b in row for row in rows) for a in one for b in other}
        return sum(count for (a, b), count in times.items() if a == b or count >= min_support)

    level = [(item,) for item in items]
    above = {item: [] for item in items}
    while len(level) > n:
        alike = {}
        for a, b in combinations(range(len(level)), 2):
            if together := product(level[a], level[b]):
                alike[a, b] = Fraction(together**2, product(level[a], level[a]) * product(level[b], level[b]))
        groups = [{member} for member in range(len(level))]
        for a, b in sorted(alike, key=lambda pair: (-alike[pair], pair)):
            one, other = (next(group for group in groups if member in group) for member in (a, b))
            if one is not other and len(one) + len(other) <= n:
                groups.remove(other)
                one |= other
        alone = sorted(min(group) for group in groups if len(group) == 1)
        groups = [group for group in groups if len(group) > 1]
        groups += [set(alone[at : at + n]) for at in range(0, len(alone), n)]
        groups.sort(key=min)
        for group in groups:
            whole = [item for member in group for item in level[member]]
            if len(group) > 1:
                for item in whole:
                    above[item].append(frozenset(whole))
        level = [tuple(item for member in sorted(group) for item in level[member]) for group in groups]
    return above


@given(strategies.transactions(max_public=7), st.integers(2, 4), st.integers(1, 3))
def test_by_hand(data, n, min_support):
    if not data.public:
        with refused(vs.InvalidArgument, "no items"):
            Taxonomy.by_co_occurrence(data, n, min_support=1)
        return
    taxonomy = Taxonomy.by_co_occurrence(data, n, min_support=min_support)
    expected = groups_by_hand(data, n, min_support)
    for leaf, item in enumerate(taxonomy.leaves):
        groups = [frozenset(taxonomy.leaves_under(node)) for node in taxonomy.ancestors(leaf)[:-1]]
        assert groups == expected[item]


@given(strategies.transactions(max_public=7).filter(lambda data: data.public), st.integers(2, 4), st.integers(1, 4))
def test_no_group_is_named_after_a_rare_item(data, n, least):
    """A number stands in its place, and the tree is the same."""
    support = dict(zip(data.names, data.supports.tolist(), strict=True))
    by_fan_out = Taxonomy.by_fan_out(data, n, min_support=least)
    for tree in (by_fan_out, Taxonomy.by_co_occurrence(data, n, min_support=least)):
        for groups in tree.to_paths().values():
            ends = {end for group in groups for end in (*group.split(".."), group.split(" + ")[0])}
            assert all(support[end] >= least for end in ends.intersection(data.names))
    assert [*map(by_fan_out.leaves_under, range(len(by_fan_out)))] == [
        *map(Taxonomy.by_fan_out(data, n).leaves_under, range(len(by_fan_out)))
    ]


@given(strategies.sparse_or_dense().filter(lambda data: data.public), st.integers(2, 6), st.randoms())
def test_shape(data, n, random):
    taxonomy = Taxonomy.by_co_occurrence(data, n, min_support=1)
    assert taxonomy.leaves == Taxonomy.by_fan_out(data, n).leaves
    assert taxonomy.check(data) == ()
    groups = range(len(taxonomy.leaves), taxonomy.root)
    assert all(2 <= len(taxonomy.children(node)) <= n for node in groups)
    assert len(taxonomy.children(taxonomy.root)) <= n
    assert len({taxonomy.names[node] for node in groups}) == len(groups)
    for node in groups:
        first, *others = taxonomy.leaves_under(node)
        assert taxonomy.names[node] == f"{first} + {len(others)} more"
    order = list(range(len(data)))
    random.shuffle(order)
    assert Taxonomy.by_co_occurrence(data.take(np.array(order)), n, threads=1, min_support=1) == taxonomy


@pytest.mark.parametrize("size", [2, 3, 4])
def test_planted_blocks_stay_together(size):
    """Items that are always bought together, among others that are bought at random."""
    random = np.random.default_rng(size)
    blocks = [[f"{letter}{block}" for letter in "wxyz"[:size]] for block in range(12)]
    rows = []
    for _ in range(600):
        chosen = random.choice(12, size=3, replace=False)
        rows.append([*(item for block in chosen for item in blocks[block]), f"r{random.integers(40)}"])
    taxonomy = Taxonomy.by_co_occurrence(Transactions.from_lists(rows), 4, min_support=1)
    for block in blocks:
        assert len({taxonomy.parent(taxonomy.leaf(item)) for item in block}) == 1


def test_blocks_larger_than_a_group_meet_above():
    blocks = [[f"{letter}{i}" for i in range(6)] for letter in "abcd"]
    taxonomy = Taxonomy.by_co_occurrence(Transactions.from_lists(blocks * 3), 3, min_support=1)
    for block in blocks:
        above = [set(taxonomy.ancestors(taxonomy.leaf(item))) for item in block]
        assert any(taxonomy.leaves_under(node) == tuple(block) for node in set.intersection(*above))


def test_strangers_are_grouped_in_their_order():
    data = Transactions.from_lists([[name] for name in "abcdefghi"])
    taxonomy = Taxonomy.by_co_occurrence(data, 3, min_support=1)
    assert taxonomy.to_paths() == {
        name: [f"{first} + 2 more"] for first in "adg" for name in "abcdefghi" if 0 <= ord(name) - ord(first) < 3
    }


def test_rare_pairs_do_not_count():
    rows = [["a", "c"], ["b", "d"], *[["a", "b"]] * 5, *[["c", "d"]] * 5]
    one_person = [*rows, ["e", "f"], *[["e"], ["g"], ["h"]] * 3]
    data = Transactions.from_lists(one_person)
    together = Taxonomy.by_co_occurrence(data, 2, min_support=1)
    assert together.parent(together.leaf("e")) == together.parent(together.leaf("f"))
    without = Transactions.from_lists([*rows, ["e"], ["f"], *[["e"], ["g"], ["h"]] * 3])
    assert Taxonomy.by_co_occurrence(data, 2, min_support=2) == Taxonomy.by_co_occurrence(without, 2, min_support=2)


def test_sensitive_items_play_no_part():
    rows = [["a", "b", "s"], ["c", "d", "s"], ["a", "b"], ["c", "d"]]
    with_them = Transactions.from_lists(rows, sensitive=["s"])
    assert Taxonomy.by_co_occurrence(with_them, 2, min_support=1) == Taxonomy.by_co_occurrence(
        with_them.without(["s"]), 2, min_support=1
    )


def test_integers_beside_sensitive_names():
    """All names together are sorted as text, the public ones alone as numbers."""
    data = Transactions.from_lists([[10, 9, "flu"], [2, 9], [10, 2], [11]], sensitive=["flu"])
    taxonomy = Taxonomy.by_co_occurrence(data, 2, min_support=1)
    assert taxonomy.leaves == ("2", "9", "10", "11")
    assert taxonomy == Taxonomy.by_co_occurrence(data.without(["flu"]), 2, min_support=1)


def test_limits():
    data = pos_like(transactions=3_000, items=2_000, average_length=20, maximum_length=60, random_state=1)
    told = []
    Taxonomy.by_co_occurrence(
        data, 4, progress=lambda what, done, total: told.append((what, done, total)), min_support=1
    )
    assert {what for what, _, _ in told} >= {"Grouping items"}
    assert all(done <= total for _, done, total in told)
    with refused(vs.BudgetExceeded, "memory limit", "min_support"):
        Taxonomy.by_co_occurrence(data, 4, memory_limit=1_000_000, min_support=1)
    with refused(vs.BudgetExceeded, "time limit", "min_support"):
        Taxonomy.by_co_occurrence(data, 4, time_limit=1e-9, min_support=1)


@pytest.mark.parametrize("wrong", [1, 0, True, 2.0, None])
def test_wrong_numbers(wrong):
    data = Transactions.from_lists([["a", "b"]])
    with refused(vs.InvalidArgument, "fan-out"):
        Taxonomy.by_co_occurrence(data, wrong, min_support=1)
    if wrong != 1 or wrong is True:
        with refused(vs.InvalidArgument, "min_support"):
            Taxonomy.by_co_occurrence(data, 2, min_support=wrong)
