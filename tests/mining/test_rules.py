"""Association rules against brute force, and how `Rules` shows them."""

import time
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.explosive import explosive
from tests.support.memory import leaving
from veilset import BudgetExceeded, InvalidArgument, Transactions, _native
from veilset.mining import Itemsets, Rule, Rules, frequent, rules, supports
from veilset.testing import oracles
from veilset.testing.checks import as_sets
from veilset.testing.strategies import shares, sparse_or_dense, transactions

BASKETS = Transactions.from_lists(map(list, ["ab", "abc", "ac", "ab", "c", ""]))


def as_dict(found: Rules) -> dict[tuple[frozenset[str], str], tuple[int, int]]:
    """What the oracle gives: (X, y) -> (Sup(X + y), Sup(X)); no rule twice."""
    of = {
        (frozenset(rule.antecedent), rule.consequent): (rule.support, rule.support / rule.confidence) for rule in found
    }
    assert len(of) == len(found)
    return of


@examples(600)
@given(sparse_or_dense(), st.integers(1, 5), shares(), st.integers(1, 4))
def test_rules_equal_the_oracle(data, min_support, min_confidence, threads):
    found = rules(data, min_support, min_confidence, threads=threads)
    assert as_dict(found) == oracles.rules(as_sets(data), min_support, min_confidence)


@examples(600)
@given(transactions(), st.integers(1, 3), shares(), st.data())
def test_items_consequents_and_sizes(data, min_support, min_confidence, draw):
    items = draw.draw(st.lists(st.sampled_from(data.names), unique=True)) if data.names else []
    right = draw.draw(st.lists(st.sampled_from(items), unique=True)) if items else []
    least = draw.draw(st.integers(2, 4))
    most = draw.draw(st.one_of(st.none(), st.integers(least, 5)))
    found = rules(
        data, min_support, min_confidence, items=iter(items), consequents=iter(right), min_size=least, max_size=most
    )
    expected = oracles.rules([row.intersection(items) for row in as_sets(data)], min_support, min_confidence)
    assert as_dict(found) == {
        (x, y): counts
        for (x, y), counts in expected.items()
        if y in right and least <= len(x) + 1 <= (most or len(x) + 1)
    }


@given(sparse_or_dense(), st.integers(1, 3), shares(), st.integers(1, 4))
def test_order_is_that_of_the_itemsets_then_of_the_consequents(data, min_support, min_confidence, threads):
    expected = oracles.rules(as_sets(data), min_support, min_confidence)
    in_order = [
        (frozenset(names) - {y}, y)
        for names, _ in frequent(data, min_support)
        for y in names
        if (frozenset(names) - {y}, y) in expected
    ]
    found = rules(data, min_support, min_confidence, threads=threads)
    assert [(frozenset(rule.antecedent), rule.consequent) for rule in found] == in_order


def test_any_number_of_threads_gives_the_same_bytes():
    data = one_row(14)
    found = [rules(data, 1, 1, threads=threads) for threads in (1, 2, 3, 4)]
    assert len(found[0]) == 14 * (2**13 - 1)
    assert len({bytes_of(f) for f in found}) == 1


def bytes_of(found: Rules) -> bytes:
    left = found.antecedents
    arrays = (left.offsets, left.items, left.supports, found.consequents, found.supports)
    return b"".join(array.tobytes() for array in arrays)


def one_row(items: int) -> Transactions:
    """Every itemset is frequent, and every rule holds."""
    return Transactions.from_lists([range(items)])


def test_many_itemsets_are_all_found_again():
    """Enough of them that hashes lead to the wrong place first."""
    draw = np.random.default_rng(3)
    data = Transactions.from_lists([np.flatnonzero(draw.random(40) < 0.5).tolist() for _ in range(60)])
    sizes = frequent(data, 5).sizes
    found = rules(data, 5, "1/1000000")
    assert len(found) == sizes[sizes > 1].sum() > 100_000
    assert np.array_equal(supports(data, found.antecedents), found.antecedents.supports)


def test_thresholds_are_exact():
    """Two thirds are enough for two thirds, given as text or as the float that comes closest."""
    data = Transactions.from_lists([["a", "b"], ["a", "b"], ["a"]])
    for share in ("2/3", 2 / 3, Fraction(2, 3)):
        assert [rule.antecedent for rule in rules(data, 1, share)] == [("b",), ("a",)]
    assert [rule.antecedent for rule in rules(data, 1, "0.666667")] == [("b",)]
    assert len(rules(data, 2, 1)) == 1
    assert len(rules(data, "2/3", 1)) == 1
    assert len(rules(data, 3, 1)) == 0


def test_equal_rows_count_each():
    data = Transactions.from_lists([["a", "b"]] * 1000 + [["a"]] * 500 + [["b", "c"]] * 3)
    assert rules(data, 1000, 0.5).to_lists() == [
        (["b"], "a", 1000, Fraction(1000, 1003)),
        (["a"], "b", 1000, Fraction(2, 3)),
    ]


@pytest.mark.parametrize("lists", [[], [[], []], [["a"]] * 3], ids=["none", "empty", "one item"])
def test_no_rules(lists):
    found = rules(Transactions.from_lists(lists), 1, 0.5)
    assert (len(found), list(found), found.to_lists(), found.to_arrow().num_rows) == (0, [], [], 0)
    assert len(found[:2]) == 0
    with pytest.raises(IndexError):
        _ = found[0]


def test_indexing():
    found = rules(BASKETS, 1, 0.5)
    everything = list(found)
    assert len(everything) == len(found) > 4
    assert all(isinstance(rule, Rule) for rule in everything)
    assert [found[i] for i in range(len(found))] == everything
    assert found[-1] == found[np.int64(len(found) - 1)] == everything[-1]
    assert list(found[1:3]) == everything[1:3]
    assert list(found[::-2]) == everything[::-2]
    assert list(found[np.array([2, 0])]) == [everything[2], everything[0]]
    sure = found[found.confidences == 1]
    assert list(sure) == [rule for rule in everything if rule.confidence == 1] != []
    assert len(sure) < len(found)
    for outside in (len(found), -len(found) - 1):
        with pytest.raises(IndexError):
            _ = found[outside]
    assert repr(found).startswith(f"<Rules: {len(found)} rules>\n")


def test_more_rules_than_are_named_at_once():
    found = rules(one_row(11), 1, 1)
    assert len(found) == len(list(found)) == 11 * (2**10 - 1) > 2 * 4096
    assert list(found)[5000] == found[5000]


@given(sparse_or_dense(), st.integers(1, 3), shares())
def test_arrow_says_the_same(data, min_support, min_confidence):
    found, rows = rules(data, min_support, min_confidence), as_sets(data)
    table = found.to_arrow()
    assert table.column_names == ["antecedent", "consequent", "support", "antecedent_support", "confidence", "lift"]
    assert [table.schema.field(name).type for name in ("confidence", "lift")] == [pa.float64()] * 2
    assert [(row["antecedent"], row["consequent"], row["support"]) for row in table.to_pylist()] == [
        rule[:3] for rule in found.to_lists()
    ]
    for row, rule in zip(table.to_pylist(), found, strict=True):
        assert row["antecedent_support"] == oracles.support(rows, rule.antecedent)
        assert row["confidence"] == float(rule.confidence)
        assert row["lift"] == float(rule.confidence / Fraction(oracles.support(rows, [rule.consequent]), len(rows)))


def test_lift_by_hand():
    found = rules(BASKETS, 3, 1)
    assert found.to_lists() == [(["b"], "a", 3, Fraction(1))]
    assert found.lifts.tolist() == [6 / 4]


def test_sensitive_items_on_the_right():
    data = Transactions.from_lists([["a", "s"], ["a", "s"], ["a", "b"]], sensitive=["s"])
    assert rules(data, 1, 0.5, consequents=data.sensitive).to_lists() == [(["a"], "s", 2, Fraction(2, 3))]


@pytest.mark.parametrize("wrong", [0, -0.5, 1.5, "often", None, True])
def test_wrong_confidence(wrong):
    with refused(InvalidArgument, "min_confidence"):
        rules(BASKETS, 1, wrong)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"min_size": 1}, ("min_size", 1, 2)),
        ({"max_size": 1}, ("max_size", 1, "min_size", 2)),
        ({"min_size": 4, "max_size": 3}, ("max_size", 3, "min_size", 4)),
        ({"consequents": ["aa"]}, ("'aa'", "'a'")),
        ({"items": ["x"]}, ("'x'",)),
        ({"consequents": "ab"}, ("'ab'", "list")),
        ({"items": "ab"}, ("'ab'", "list")),
        ({"items": ["a", "b"], "consequents": ["c"]}, ("'c'", "items")),
        ({"threads": 0}, ("threads", 0)),
    ],
    ids=str,
)
def test_wrong_options(options, named, snapshot):
    with refused(InvalidArgument, *named, said=snapshot):
        rules(BASKETS, 1, 0.5, **options)


def test_wrong_min_support():
    with refused(InvalidArgument, "min_support", 0):
        rules(BASKETS, 0, 0.5)


@pytest.mark.no_sanitizer(reason="the sanitizer's own memory counts too")
def test_memory_limit():
    with refused(BudgetExceeded, "memory limit", "max_size"):
        rules(explosive(), 2, 0.5, memory_limit=leaving(40_000_000))
    with refused(BudgetExceeded, "memory limit", "min_confidence"):
        rules(one_row(17), 1, 1, memory_limit=leaving(40_000_000))  # a million rules of eight items


@pytest.mark.no_sanitizer(reason="slow there, and takes far more memory")
def test_time_limit():
    started = time.monotonic()
    with refused(BudgetExceeded, "time limit", "0.3"):
        rules(explosive(), 2, 0.5, time_limit=0.3, memory_limit="8GB")
    assert time.monotonic() - started < 10  # a hang, not a measurement


def kernel(mined, **changed):
    """The kernel with a share of 2, which no rule reaches: all looking up, no rules."""
    arguments = {"supports": mined.supports, "consequents": np.ones(len(mined.names), dtype=np.uint8)} | changed
    bounds = {"threads": 1, "memory_limit": 10**10, "time_limit": 1e9, "progress": None}
    question = {"confidence_num": 2, "confidence_den": 1, "min_size": 2}
    for name in arguments.keys() & {*bounds, *question}:
        (bounds if name in bounds else question)[name] = arguments.pop(name)
    return _native.mining.rules(mined.offsets, mined.items, **arguments, **question, **bounds)


def test_the_kernel_answers_to_the_time_limit():
    with pytest.raises(_native.core.OutOfTime):
        kernel(frequent(one_row(20), 1), time_limit=0.0)


def test_the_kernel_checks_what_it_is_given():
    mined = frequent(BASKETS, 1)
    assert [len(array) for array in kernel(mined)] == [1, 0, 0, 0, 0]
    with refused(ValueError, "support"):
        kernel(mined, supports=mined.supports[:-1])
    with refused(ValueError, "subsets"):
        kernel(mined[mined.sizes != 1])
    with refused(ValueError, "vocabulary"):
        kernel(mined, consequents=np.ones(1, dtype=np.uint8))
    with pytest.raises(TypeError):
        kernel(mined, supports=mined.supports.astype(float))


def hashes(items: int) -> np.ndarray:
    """The hashes of single items, as the kernel takes them."""
    x = np.arange(1, items + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def test_itemsets_that_only_their_items_tell_apart():
    """Two pairs with the same slot in a table of 32, and the same upper half of the hash."""
    first, second = np.triu_indices(2000, 1)
    sums = hashes(2000)[first] + hashes(2000)[second]
    seen = sums & np.uint64(0xFFFFFFFF0000001F)
    order = np.argsort(seen, kind="stable")
    equal = np.flatnonzero(seen[order][1:] == seen[order][:-1])
    assert len(equal) > 0
    one, other = ((int(first[i]), int(second[i])) for i in order[equal[0] : equal[0] + 2])
    assert not {*one} & {*other}
    third = min({*range(5)} - {*one, *other})
    pair_supports = {other: 7, one: 5, (one[0], third): 4, (one[1], third): 3, (*one, third): 2}
    of = {(i,): 9 for i in {*one, *other, third}} | {tuple(sorted(x)): count for x, count in pair_supports.items()}
    mined = Itemsets(
        tuple(map(str, range(2000))),
        np.cumsum([0, *map(len, of)]),
        np.concatenate([*of]).astype(np.int32),
        np.array([*of.values()]),
    )
    assert 16 <= 2 * len(mined) + 1 <= 32
    offsets, items, left_supports, _, _ = kernel(mined, confidence_num=1, confidence_den=10)
    left = [tuple(items[start:end].tolist()) for start, end in pairwise(offsets.tolist())]
    assert one in left
    assert left_supports.tolist() == [of[x] for x in left]


def test_oracle_agrees_with_a_count_by_hand():
    rows = as_sets(BASKETS)
    assert oracles.rules(rows, 3, Fraction(3, 4)) == {(frozenset("b"), "a"): (3, 3), (frozenset("a"), "b"): (3, 4)}
    assert oracles.rules(rows, 3, Fraction(4, 5)) == {(frozenset("b"), "a"): (3, 3)}
    assert oracles.rules(rows, 1, Fraction(1)) == {
        (frozenset("b"), "a"): (3, 3),
        (frozenset("bc"), "a"): (1, 1),
    }


def test_a_smallest_size_beyond_all_kernels():
    assert len(rules(Transactions.from_lists([["a", "b"]] * 2), 1, 0.5, min_size=10**30)) == 0
