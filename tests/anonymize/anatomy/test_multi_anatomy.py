"""``multi-anatomy``: every release is l-diverse, loses nothing within a column, and withholds nobody."""

from collections import Counter
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import veilset as vs
from tests.support.errors import refused
from veilset import _native
from veilset.testing.oracles_anatomy import is_l_diverse, multi_anatomy_figure_2, values_of

NO_LIMITS = {"memory_limit": 1 << 40, "time_limit": 1e6, "progress": None}
ELLS = st.sampled_from(["1", "3/2", "2", "5/2", "3", "4"])


@st.composite
def tables(draw):
    """Rows of values in columns (0: none), of which l-diverse buckets can be made, with l and the free columns."""
    columns = draw(st.integers(1, 4))
    common = st.sampled_from([0, 0, 0, 1, 1, 2, 3, 4, 5, 6])
    rows = draw(st.lists(st.lists(common, min_size=columns, max_size=columns), min_size=1, max_size=60))
    values = np.array(rows, dtype=np.int32)
    free = draw(st.lists(st.booleans(), min_size=columns, max_size=columns))
    most = min(_largest_l(values[:, c], free[c]) for c in range(columns))
    wanted = Fraction(draw(ELLS))
    return values, min(wanted, most), free


def _largest_l(values, free):
    counted = [value for value in values.tolist() if value or not free]
    return Fraction(len(counted), max(Counter(counted).values())) if counted else Fraction(1000)


def _fill(values, ell, free, *, order=None, open_buckets=32, **limits):
    return _native.anatomy.buckets(
        values.ravel(),
        values.max(axis=0).astype(np.int64),
        np.array(free, dtype=np.uint8),
        np.arange(len(values)) if order is None else order,
        numerator=ell.numerator,
        denominator=ell.denominator,
        open_buckets=open_buckets,
        **NO_LIMITS | limits,
    )


def _is_l_diverse(values, ell, free, bucket_of):
    for bucket in set(bucket_of.tolist()):
        for column, is_free in enumerate(free):
            held = [value for value in values[bucket_of == bucket, column].tolist() if value or not is_free]
            if held and max(Counter(held).values()) * ell > len(held):
                return False
    return True


class TestBuckets:
    @given(tables(), st.sampled_from([1, 2, 3, 32]), st.randoms(use_true_random=False))
    def test_every_row_is_in_an_l_diverse_bucket(self, table, open_buckets, random):
        values, ell, free = table
        order = list(range(len(values)))
        random.shuffle(order)
        bucket_of, left_over, joined = _fill(values, ell, free, order=np.array(order), open_buckets=open_buckets)
        assert len(bucket_of) == len(values)
        assert set(bucket_of.tolist()) == set(range(int(bucket_of.max()) + 1))
        assert _is_l_diverse(values, ell, free, bucket_of)
        assert 0 <= left_over <= len(values)
        assert joined >= 0

    @given(tables())
    def test_one_open_bucket_is_figure_2_to_the_letter(self, table):
        values, ell, free = table
        closed, left = multi_anatomy_figure_2(values.tolist(), ell, free)
        bucket_of, left_over, joined = _fill(values, ell, free, open_buckets=1)
        assert left_over == len(left)
        made = [frozenset(np.flatnonzero(bucket_of == bucket).tolist()) for bucket in range(int(bucket_of.max()) + 1)]
        if joined == 0 and closed:  # what was left over was added to buckets of the figure
            assert sorted(sorted(bucket.difference(left)) for bucket in made) == sorted(closed)
        else:
            assert len(made) == max(1, len(closed) - joined)
            assert all(any(set(bucket) <= rows for rows in made) for bucket in closed)

    def test_several_open_buckets_make_smaller_ones(self):
        random = np.random.default_rng(7)
        values = np.where(random.random((3000, 4)) < 0.45, 0, random.integers(1, 40, (3000, 4))).astype(np.int32)
        sizes = {}
        for open_buckets in (1, 32):
            bucket_of, _, _ = _fill(values, Fraction(2), [False] * 4, open_buckets=open_buckets)
            assert _is_l_diverse(values, Fraction(2), [False] * 4, bucket_of)
            sizes[open_buckets] = (np.bincount(bucket_of) ** 2).sum() / len(values)
        assert sizes[32] < 2.2
        assert sizes[1] > 10

    def test_what_is_left_over_goes_into_a_bucket_that_takes_it(self):
        # The third row shares no value with the first two, which are a bucket.
        values = np.array([[1, 1], [2, 2], [3, 3]], dtype=np.int32)
        bucket_of, left_over, joined = _fill(values, Fraction(2), [False, False], open_buckets=1)
        assert (bucket_of.tolist(), left_over, joined) == ([0, 0, 0], 1, 0)

    def test_buckets_are_joined_for_a_row_that_no_bucket_takes(self):
        # One bucket has the last row's value in the first column, the other in the second.
        values = np.array([[1, 9], [2, 8], [3, 5], [4, 6], [1, 5]], dtype=np.int32)
        bucket_of, left_over, joined = _fill(values, Fraction(2), [False, False], open_buckets=1)
        assert (bucket_of.tolist(), left_over, joined) == ([0, 0, 0, 0, 0], 1, 1)

    @pytest.mark.parametrize(
        ("change", "named"),
        [
            ({"values": [1, 2, 3]}, "lengths"),
            ({"values": [9, 1, 1, 1]}, "value"),
            ({"values": [-1, 1, 1, 1]}, "value"),
            ({"values": [1, 1, 1, 2]}, "common"),
            ({"distinct": [2]}, "lengths"),
            ({"free": []}, "lengths"),
            ({"order": [0, 0]}, "order"),
            ({"order": [0]}, "order"),
            ({"order": [0, 2]}, "order"),
            ({"numerator": 0}, "below 1"),
            ({"denominator": 3}, "below 1"),
            ({"open_buckets": 0}, "bucket"),
        ],
    )
    def test_wrong_arguments(self, change, named):
        arrays = {"values": [1, 1, 2, 2], "distinct": [2, 2], "free": [0, 0], "order": [0, 1]}
        numbers = {"numerator": 2, "denominator": 1, "open_buckets": 1}
        types = {"values": np.int32, "distinct": np.int64, "free": np.uint8, "order": np.int64}
        arguments = {name: np.array(change.get(name, right), dtype=types[name]) for name, right in arrays.items()}
        arguments |= {name: change.get(name, right) for name, right in numbers.items()}
        with refused(ValueError, named):
            _native.anatomy.buckets(**arguments, **NO_LIMITS)


class TestRows:
    def test_shuffles_inside_buckets_only(self):
        starts = np.array([0, 3, 3, 10, 11], dtype=np.int64)
        random = np.random.default_rng(1).integers(0, 2**64, 11, dtype=np.uint64)
        places = _native.anatomy.shuffled_in_buckets(starts, random)
        for first, last in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            assert sorted(places[first:last].tolist()) == list(range(first, last))

    def test_all_orders_are_equally_likely(self):
        random = np.random.default_rng(1).integers(0, 2**64, 3 * 60_000, dtype=np.uint64)
        places = _native.anatomy.shuffled_in_buckets(np.arange(0, len(random) + 1, 3), random).reshape(-1, 3) % 3
        orders = Counter(map(tuple, places.tolist()))
        assert len(orders) == 6
        assert all(abs(times - 10_000) < 500 for times in orders.values())  # five standard deviations

    @pytest.mark.parametrize("starts", [[], [1, 3], [0, 2], [0, 4, 2, 3]])
    def test_wrong_starts(self, starts):
        with refused(ValueError, "starts"):
            _native.anatomy.shuffled_in_buckets(np.array(starts, dtype=np.int64), np.zeros(3, dtype=np.uint64))

    @pytest.mark.parametrize(
        ("change", "named"),
        [
            ({"sources": [0]}, "source"),
            ({"sources": [0, 0, 0, 2]}, "row"),
            ({"sources": [0, 0, 0, -1]}, "row"),
            ({"column_of": [0, 2]}, "column"),
            ({"column_of": [0]}, "vocabulary"),
            ({"columns": 0}, "source"),
        ],
    )
    def test_wrong_arguments(self, change, named):
        arguments = {
            "offsets": np.array([0, 1, 2]),
            "items": np.array([0, 1], dtype=np.int32),
            "column_of": np.array([0, 1], dtype=np.int32),
            "sources": np.array([0, 1, 1, 0], dtype=np.int32),
            "columns": 2,
        }
        for name, value in change.items():
            arguments[name] = value if name == "columns" else np.array(value, dtype=np.int32)
        with refused(ValueError, named):
            _native.anatomy.rows(**arguments, threads=1, **NO_LIMITS)


@st.composite
def cases(draw):
    """Transactions, some of their items sensitive, with a partition."""
    rows = draw(st.lists(st.sets(st.sampled_from("abcdefgh"), max_size=5), min_size=2, max_size=40))
    names = sorted(set().union(*rows))
    sensitive = draw(st.sets(st.sampled_from(names), max_size=3)) if names else set()
    data = vs.Transactions.from_lists(map(sorted, rows), sensitive=sensitive)
    return data, draw(ELLS), draw(st.sampled_from(["value", "free"])), draw(st.integers(2, 4))


def _release(data, ell, empty, **options):
    """For this l, or a smaller one for which two columns can be; None: for none of them."""
    for smaller in (ell, "3/2", "5/4", "9/8", "1"):
        try:
            return vs.anonymize(data, vs.LDiverseAnatomy(smaller, empty=empty), random_state=5, **options)
        except vs.Infeasible:
            continue
    return None


class TestMethod:
    @given(cases(), st.sampled_from([1, 4, 32]))
    def test_releases_are_l_diverse_and_keep_what_columns_hold(self, case, open_buckets):
        data, ell, empty, columns = case
        release = _release(data, ell, empty, columns=columns, open_buckets=open_buckets)
        if release is None:
            return
        anatomy, promise = release.custodian_data.anatomy, release.promise
        assert release.certified
        assert release.loss == 0
        assert release.withheld == ()
        assert len(release.custodian_data) == len(data)
        assert is_l_diverse(
            release.custodian_data.to_lists(),
            anatomy.columns,
            anatomy.buckets.tolist(),
            promise.l,
            empty,
            data.sensitive,
        )
        for column in anatomy.columns:
            for size in (1, 2, 3):
                for itemset in combinations(column, size):
                    assert vs.mining.support(release.custodian_data, itemset) == vs.mining.support(data, itemset)

    @given(cases())
    def test_buckets_hold_the_values_of_their_members(self, case):
        data, ell, empty, columns = case
        release = _release(data, ell, empty, columns=columns)
        if release is None:
            return
        anatomy, members = release.custodian_data.anatomy, release.partition.members
        assert sorted(members.tolist()) == list(range(len(data)))
        for first, last in zip(anatomy.starts[:-1].tolist(), anatomy.starts[1:].tolist(), strict=True):
            before = [values_of(data[row], anatomy.columns) for row in members[first:last].tolist()]
            after = [values_of(release.custodian_data[row], anatomy.columns) for row in range(first, last)]
            assert members[first:last].tolist() == sorted(members[first:last].tolist())
            for held, now in zip(zip(*before, strict=True), zip(*after, strict=True), strict=True):
                assert Counter(held) == Counter(now)

    def test_columns_are_permuted_apart(self):
        data = vs.Transactions.from_lists([[f"a{row}", f"b{row}", f"c{row}"] for row in range(300)])
        columns = [[name for name in data.names if name[0] == letter] for letter in "abc"]
        release = vs.anonymize(data, vs.LDiverseAnatomy(2), columns=columns, random_state=4)
        together = Counter(len({item[1:] for item in row}) for row in release.custodian_data)
        # In a bucket of two, three values of one row meet again in a quarter of the cases.
        assert 40 < together[1] < 110
        assert together[2] > 150

    def test_the_same_seed_gives_the_same_release_for_any_number_of_threads(self):
        data = vs.generate.quest(transactions=3000, average_length=8, pattern_length=3, items=60, random_state=3)
        promise = vs.LDiverseAnatomy(2)
        one, two, other = (
            vs.anonymize(data, promise, columns=4, threads=threads, random_state=seed)
            for threads, seed in ((1, 9), (2, 9), (1, 10))
        )
        assert one.custodian_data == two.custodian_data
        assert one.custodian_data.to_lists() != other.custodian_data.to_lists()
        assert len(one.custodian_data.anatomy.columns) > 1

    def test_an_unknown_seed_is_drawn_and_kept(self):
        data = vs.Transactions.from_lists([["a", "c"], ["b", "d"], ["a", "d"], ["b", "c"]])
        first, second = (vs.anonymize(data, vs.LDiverseAnatomy(2), columns=2) for _ in range(2))
        assert first.options["random_state"] != second.options["random_state"]
        again = vs.anonymize(data, vs.LDiverseAnatomy(2), columns=2, random_state=first.options["random_state"])
        assert again.custodian_data == first.custodian_data

    @pytest.mark.parametrize("wrong", [0, -1, 1025, True, 2.5, "many"])
    def test_wrong_open_buckets(self, wrong):
        data = vs.Transactions.from_lists([["a", "c"], ["b", "d"]])
        with refused(vs.InvalidArgument, "open_buckets"):
            vs.anonymize(data, vs.LDiverseAnatomy(2), columns=2, open_buckets=wrong)

    def test_sensitive_items_have_a_column_of_their_own(self):
        rows = [["a", "s"], ["b", "t"], ["c", "u"], ["a"], ["b"], ["c"], ["d"], ["d", "s"], ["d", "t"]]
        data = vs.Transactions.from_lists(rows, sensitive=["s", "t", "u"])
        release = vs.anonymize(data, vs.LDiverseAnatomy(2), columns=2, random_state=1)
        assert release.custodian_data.anatomy.columns == (("a", "b", "c", "d"), ("s", "t", "u"))
        assert release.certified
        assert release.custodian_data.sensitive == data.sensitive

    def test_too_little_memory(self):
        data = vs.generate.quest(transactions=20_000, average_length=8, pattern_length=3, items=60, random_state=3)
        with pytest.raises(vs.BudgetExceeded):
            vs.anonymize(data, vs.LDiverseAnatomy(2), columns=4, memory_limit="1MB")


def test_what_waits_is_matched_with_what_waits():
    """A value of half of all rows leaves closed buckets no room: joining them would end in one bucket of all."""
    data = vs.Transactions.from_lists([["a", "c"], ["b", "d"]] * 5_000)
    release = vs.anonymize(data, vs.LDiverseAnatomy(2), columns=[["a", "b"], ["c", "d"]], random_state=1)
    assert set(release.custodian_data.anatomy.sizes.tolist()) == {2}


def test_open_buckets_count_as_memory():
    values = np.tile(np.arange(1, 3, dtype=np.int32), 100)[:, None]
    with pytest.raises(_native.core.OutOfMemory):
        _fill(values, Fraction(2), [False], open_buckets=200, memory_limit=100_000)
