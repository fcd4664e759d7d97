"""``multi-anatomy``: every release is l-diverse, loses nothing within a column, and withholds only what it must."""

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import prod

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import veilset as vs
from tests.support.errors import refused
from veilset import _native
from veilset.testing.oracles_anatomy import (
    anatomy_breaches,
    is_l_diverse,
    item_shares,
    limited_items,
    multi_anatomy_figure_2,
    values_of,
)

NO_LIMITS = {"memory_limit": 1 << 40, "time_limit": 1e6, "progress": None}
ELLS = st.sampled_from(["1", "3/2", "2", "5/2", "3", "4"])
VALUE, FREE, SENSITIVE = range(3)  # rules of columns, as the kernel numbers them


def _rows(least=1):
    """Values in one to four columns (0: none), at least one of them in the first *least* columns."""
    common = st.sampled_from([0, 0, 0, 1, 1, 2, 3, 4, 5, 6])
    return st.integers(least, 4).flatmap(
        lambda columns: st.lists(
            st.lists(common, min_size=columns, max_size=columns).filter(any), min_size=1, max_size=60
        ).map(lambda rows: np.array(rows, dtype=np.int32))
    )


@st.composite
def tables(draw):
    """Rows of public values, of which all together are l-diverse, with l and the rules of the columns."""
    values = draw(_rows())
    rules = draw(st.lists(st.sampled_from([VALUE, FREE]), min_size=values.shape[1], max_size=values.shape[1]))
    return values, min(Fraction(draw(ELLS)), 1 / _probability(values, rules)), rules


def _probability(values, rules):
    """The largest one in a bucket of these rows, by the rules of the columns, or a bound."""
    rows, columns = values.shape
    nothing = [int((values[:, c] == 0).sum()) for c in range(columns)]
    largest = [max(Counter(v for v in values[:, c].tolist() if v).values(), default=0) for c in range(columns)]
    carriers = sum(rows - nothing[c] for c in range(columns) if rules[c] == SENSITIVE)
    public = [c for c in range(columns) if rules[c] != SENSITIVE]
    anchored = any(nothing[c] == 0 for c in public)
    found = [Fraction(carriers, rows) if anchored else Fraction(min(carriers, 1))]
    for c in public:
        if rules[c] == FREE or not anchored:
            found.append(Fraction(largest[c], max(1, rows - nothing[c])))
        if rules[c] == VALUE:
            found.append(Fraction(max(largest[c], nothing[c]), rows))
        if rules[c] == VALUE and not anchored:
            shares = [Fraction(min(nothing[d], rows - 1), rows - 1) for d in public if d != c]
            left = rows - (rows - 1) * prod(shares)
            found.append(nothing[c] / left if left > nothing[c] else Fraction(1))
    return max(found)


def _fill(values, ell, rules, *, order=None, open_buckets=32, least_size=1, patience=1 << 40, **limits):
    nothing = np.zeros(0, dtype=np.int32)
    return _native.anatomy.buckets(
        values.ravel(),
        values.max(axis=0).astype(np.int64),
        np.array(rules, dtype=np.uint8),
        np.arange(len(values)) if order is None else order,
        _native.anatomy.Limited(offsets=nothing.astype(np.int64), items=nothing, column_of=nothing),
        numerator=ell.numerator,
        denominator=ell.denominator,
        least_size=least_size,
        open_buckets=open_buckets,
        patience=patience,
        **NO_LIMITS | limits,
    )


def _is_l_diverse(values, ell, rules, bucket_of):
    """By the definition: see `veilset.testing.oracles_anatomy`. Columns are either all free, or none is."""
    columns = [[f"{c}:{value}" for value in range(1, int(values.max()) + 1)] for c in range(values.shape[1])]
    secret = [item for column, rule in zip(columns, rules, strict=True) if rule == SENSITIVE for item in column]
    there = bucket_of >= 0
    rows = [{f"{c}:{v}" for c, v in enumerate(row) if v} for row in values[there].tolist()]
    empty = "free" if FREE in rules else "value"
    if values.shape[1] == 1:  # no anatomy, but the kernel does not mind
        return all(_probability(values[bucket_of == b], rules) * ell <= 1 for b in set(bucket_of.tolist()))
    return not anatomy_breaches(rows, columns, bucket_of[there].tolist(), ell, empty, secret)


class TestBuckets:
    @given(tables(), st.sampled_from([1, 2, 3, 32]), st.randoms(use_true_random=False))
    def test_every_row_is_in_an_l_diverse_bucket(self, table, open_buckets, random):
        values, ell, rules = table
        assume(len(set(rules)) == 1)
        order = list(range(len(values)))
        random.shuffle(order)
        bucket_of, left_over, joined = _fill(values, ell, rules, order=np.array(order), open_buckets=open_buckets)
        assert len(bucket_of) == len(values)
        assert set(bucket_of.tolist()) == set(range(int(bucket_of.max()) + 1))
        assert _is_l_diverse(values, ell, rules, bucket_of)
        assert 0 <= left_over <= len(values)
        assert joined >= 0

    @given(_rows(2), ELLS, st.sampled_from([1, 3, 32]), st.sampled_from([VALUE, FREE]))
    def test_buckets_hide_who_has_a_sensitive_item(self, values, ell, open_buckets, rule):
        """Not every row finds a bucket; those that do are in one in which nobody's sensitive items can be guessed."""
        values = values[values[:, :-1].any(axis=1)]
        rules, ell = [rule] * (values.shape[1] - 1) + [SENSITIVE], Fraction(ell)
        assume(len(values))
        shares = [_probability(values[:, c : c + 1], [rules[c]]) for c in range(len(rules) - 1)]
        assume(all(np.bincount(values[:, c]).max() * ell <= len(values) for c in range(len(rules) - 1)))
        assume(all(share * ell <= 1 for share in shares) or rule == VALUE)
        assume((values[:, -1] > 0).sum() * ell <= len(values))
        bucket_of, left_over, _ = _fill(values, ell, rules, open_buckets=open_buckets)
        assert left_over >= (bucket_of < 0).sum()
        if (bucket_of >= 0).any():
            assert _is_l_diverse(values, ell, rules, bucket_of)

    @given(tables(), st.integers(1, 6))
    def test_one_open_bucket_is_figure_2_to_the_letter(self, table, least_size):
        values, ell, rules = table
        assume(least_size <= len(values))

        def is_diverse(rows):
            return len(rows) >= least_size and (ell == 1 or _probability(np.array(rows), rules) * ell <= 1)

        closed, left = multi_anatomy_figure_2(values.tolist(), is_diverse)
        bucket_of, left_over, joined = _fill(values, ell, rules, open_buckets=1, least_size=least_size)
        assert left_over == len(left)
        made = [frozenset(np.flatnonzero(bucket_of == bucket).tolist()) for bucket in range(int(bucket_of.max()) + 1)]
        if joined == 0 and closed:  # what was left over was added to buckets of the figure
            assert sorted(sorted(bucket.difference(left)) for bucket in made) == sorted(closed)
        else:
            assert len(made) == max(1, len(closed) - joined)
            assert all(any(set(bucket) <= rows for rows in made) for bucket in closed)

    def test_several_open_buckets_make_smaller_ones(self):
        random = np.random.default_rng(7)
        values = np.where(random.random((3000, 4)) < 0.3, 0, random.integers(1, 40, (3000, 4))).astype(np.int32)
        values = values[values.any(axis=1)]
        sizes = {}
        for open_buckets in (1, 32):
            bucket_of, _, _ = _fill(values, Fraction(2), [VALUE] * 4, open_buckets=open_buckets)
            assert _is_l_diverse(values, Fraction(2), [VALUE] * 4, bucket_of)
            sizes[open_buckets] = (np.bincount(bucket_of) ** 2).sum() / len(values)
        assert sizes[32] < 2.2
        assert sizes[1] > 4

    def test_what_is_left_over_goes_into_a_bucket_that_takes_it(self):
        # The third row shares no value with the first two, which are a bucket.
        values = np.array([[1, 1], [2, 2], [3, 3]], dtype=np.int32)
        bucket_of, left_over, joined = _fill(values, Fraction(2), [VALUE, VALUE], open_buckets=1)
        assert (bucket_of.tolist(), left_over, joined) == ([0, 0, 0], 1, 0)

    def test_buckets_are_joined_for_a_row_that_no_bucket_takes(self):
        # One bucket has the last row's value in the first column, the other in the second.
        values = np.array([[1, 9], [2, 8], [3, 5], [4, 6], [1, 5]], dtype=np.int32)
        bucket_of, left_over, joined = _fill(values, Fraction(2), [VALUE, VALUE], open_buckets=1)
        assert (bucket_of.tolist(), left_over, joined) == ([0, 0, 0, 0, 0], 1, 1)

    @pytest.mark.parametrize(
        ("change", "named"),
        [
            ({"values": [1, 2, 3]}, "lengths"),
            ({"values": [9, 1, 1, 1]}, "value"),
            ({"values": [-1, 1, 1, 1]}, "value"),
            ({"values": [1, 1, 1, 2]}, "common"),
            ({"distinct": [2]}, "lengths"),
            ({"rules": []}, "lengths"),
            ({"rules": [0, 3]}, "rule"),
            ({"offsets": [0, 1]}, "frame"),
            ({"offsets": [0, 2, 1], "items": [0]}, "frame"),
            ({"offsets": [0, 1, 1], "items": [1]}, "column"),
            ({"offsets": [0, 1, 1], "items": [0], "column_of": [2]}, "column"),
            ({"order": [0, 0]}, "order"),
            ({"order": [0]}, "order"),
            ({"order": [0, 2]}, "order"),
            ({"numerator": 0}, "below 1"),
            ({"denominator": 3}, "below 1"),
            ({"open_buckets": 0}, "bucket"),
            ({"least_size": 0}, "row"),
        ],
    )
    def test_wrong_arguments(self, change, named):
        arrays = {"values": [1, 1, 2, 2], "distinct": [2, 2], "rules": [0, 0], "order": [0, 1]}
        limited = {"offsets": [], "items": [], "column_of": [0]}
        numbers = {"numerator": 2, "denominator": 1, "least_size": 1, "open_buckets": 1, "patience": 2}
        wide = {"distinct": np.int64, "order": np.int64, "offsets": np.int64, "rules": np.uint8}

        def given(arguments):
            return {
                name: np.array(change.get(name, a), dtype=wide.get(name, np.int32)) for name, a in arguments.items()
            }

        arguments = given(arrays) | {name: change.get(name, right) for name, right in numbers.items()}
        with refused(ValueError, named):
            _native.anatomy.buckets(**arguments, limited=_native.anatomy.Limited(**given(limited)), **NO_LIMITS)


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

    @given(_rows(), st.randoms(use_true_random=False))
    def test_no_place_is_left_empty(self, values, random):
        rows, columns = values.shape
        starts = np.array([0, *sorted(random.sample(range(1, rows), min(rows - 1, 3))), rows], dtype=np.int64)
        sources = np.empty((rows, columns), dtype=np.int32)
        for first, last in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            for column in range(columns):
                sources[first:last, column] = random.sample(range(first, last), last - first)
        draws = np.array([random.getrandbits(64) for _ in range(rows)], dtype=np.uint64)
        filled = _native.anatomy.without_empty_places(sources.ravel(), values.ravel(), starts, draws, columns=columns)
        filled = filled.reshape(rows, columns)
        assert np.take_along_axis(values, filled, axis=0).any(axis=1).all()
        for first, last in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            assert (np.sort(filled[first:last], axis=0) == np.arange(first, last)[:, None]).all()
        full = np.take_along_axis(values, sources, axis=0).any(axis=1)
        if full.all():
            assert (filled == sources).all()

    @pytest.mark.parametrize(
        ("change", "named"),
        [
            ({"values": [0, 0, 1, 1]}, "nothing"),
            ({"sources": [0, 1]}, "source"),
            ({"sources": [0, 0, 1, 2]}, "row"),
            ({"starts": [0, 1]}, "frame"),
            ({"columns": 0}, "source"),
        ],
    )
    def test_places_that_cannot_be_filled(self, change, named):
        arguments = {"sources": [0, 0, 1, 1], "values": [1, 1, 1, 0], "starts": [0, 1, 2], "random": [0, 0]}
        types = {"starts": np.int64, "random": np.uint64}
        arrays = {
            name: np.array(change.get(name, right), dtype=types.get(name, np.int32))
            for name, right in arguments.items()
        }
        with refused(ValueError, named):
            _native.anatomy.without_empty_places(**arrays, columns=change.get("columns", 2))

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


def _release(data, ell, empty, *, items=False, **options):
    """For this l, or a smaller one for which two columns can be; None: for none of them."""
    for smaller in (ell, "3/2", "5/4", "9/8", "1"):
        try:
            promise = vs.LDiverseAnatomy(smaller, empty=empty, items=items)
            return vs.anonymize(data, promise, random_state=5, **options)
        except vs.Infeasible:
            continue
    return None


def _with_public(data):
    return [row for row in range(len(data)) if not set(data[row]) <= set(data.sensitive)]


class TestMethod:
    @given(cases(), st.sampled_from([1, 4, 32]), st.booleans())
    def test_releases_are_l_diverse_and_keep_what_columns_hold(self, case, open_buckets, items):
        data, ell, empty, columns = case
        release = _release(data, ell, empty, columns=columns, open_buckets=open_buckets, items=items)
        if release is None:
            return
        released, promise = release.custodian_data, release.promise
        anatomy = released.anatomy
        assert release.certified
        withheld = set(release.withheld)
        assert withheld >= set(range(len(data))) - set(_with_public(data))
        if not data.sensitive:
            assert withheld == {row for row in range(len(data)) if not data[row]}
        assert len(released) == len(data) - len(withheld)
        numbers = anatomy.buckets.tolist()
        assert is_l_diverse(
            released.to_lists(), anatomy.columns, numbers, promise.l, empty, data.sensitive, items=items
        )
        left = data.take(np.array([row for row in range(len(data)) if row not in withheld]))
        for column in anatomy.columns:
            for size in (1, 2, 3):
                for itemset in combinations(column, size):
                    assert vs.mining.support(released, itemset) == vs.mining.support(left, itemset)

    @given(cases())
    def test_buckets_hold_the_values_of_their_members(self, case):
        data, ell, empty, columns = case
        release = _release(data, ell, empty, columns=columns)
        if release is None:
            return
        anatomy, members = release.custodian_data.anatomy, release.partition.members
        assert sorted([*members.tolist(), *release.withheld]) == list(range(len(data)))
        for first, last in zip(anatomy.starts[:-1].tolist(), anatomy.starts[1:].tolist(), strict=True):
            before = [values_of(data[row], anatomy.columns) for row in members[first:last].tolist()]
            after = [values_of(release.custodian_data[row], anatomy.columns) for row in range(first, last)]
            assert members[first:last].tolist() == sorted(members[first:last].tolist())
            for held, now in zip(zip(*before, strict=True), zip(*after, strict=True), strict=True):
                assert Counter(held) == Counter(now)

    def test_nobody_is_found_because_nobody_is_empty(self):
        """Buckets of {x, nothing} and {y, nothing} gave everybody away: x and y cannot be one person's."""
        rows = [[f"{letter}{number}"] for number in range(50) for letter in "xy"]
        rows += [[f"x{number}", f"y{number}"] for number in range(50, 90)]
        columns = [[name for row in rows for name in row if name[0] == letter] for letter in "xy"]
        columns = [sorted(set(column)) for column in columns]
        release = vs.anonymize(
            vs.Transactions.from_lists(rows), vs.LDiverseAnatomy("3/2"), columns=columns, random_state=2
        )
        assert release.certified
        assert all(row for row in release.custodian_data.to_lists())
        with refused(vs.Infeasible, "free"):  # 100 of 140 have one of the two only
            vs.anonymize(vs.Transactions.from_lists(rows), vs.LDiverseAnatomy(3), columns=columns)

    def test_who_has_a_sensitive_item_is_hidden_among_those_who_have_none(self):
        rows = [[f"a{number % 7}", f"b{number % 5}", *(["s"] if number < 10 else [])] for number in range(100)]
        data = vs.Transactions.from_lists(rows, sensitive=["s"])
        release = vs.anonymize(data, vs.LDiverseAnatomy(4), columns=3, random_state=3)
        anatomy = release.custodian_data.anatomy
        assert anatomy.columns[-1] == ("s",)
        has = np.array(["s" in row for row in release.custodian_data.to_lists()])
        shares = np.bincount(anatomy.buckets, weights=has) / anatomy.sizes
        assert has.sum() == 10
        assert shares.max() <= 1 / 4
        many = data.with_sensitive([name for name in data.names if name[0] == "b"])
        with refused(vs.Infeasible, "sensitive", "1"):
            vs.anonymize(many, vs.LDiverseAnatomy(4), columns=3)

    def test_transactions_of_sensitive_items_only_are_withheld_with_empty_ones(self, snapshot):
        rows = [["a", "s"], ["b"], ["c"], ["d"], ["s"], [], []]
        data = vs.Transactions.from_lists(rows, sensitive=["s"])
        release = vs.anonymize(data, vs.LDiverseAnatomy(2), columns=2, random_state=1)
        assert (release.withheld, release.certified) == ((4, 5, 6), True)
        assert release.notes == snapshot

    def test_single_items_are_limited_on_request(self):
        rows = [
            [f"a{number % 3}", "a", f"b{number}"] if number < 20 else [f"a{number}", f"b{number}"]
            for number in range(60)
        ]
        data = vs.Transactions.from_lists(rows)
        columns = [[name for name in data.names if name[0] == letter] for letter in "ab"]

        def largest(items):
            release = vs.anonymize(data, vs.LDiverseAnatomy(2, items=items), columns=columns, random_state=1)
            assert release.certified
            anatomy, released = release.custodian_data.anatomy, release.custodian_data.to_lists()
            shares = item_shares(released, anatomy.columns, anatomy.buckets.tolist())
            limited = limited_items(released, anatomy.columns, 2)
            return max(share for (_, _, item), share in shares.items() if item in limited)

        assert largest(items=False) == 1
        assert largest(items=True) == Fraction(1, 2)

    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize(("times", "size"), [(1, 6), (10, 8), (10, 60)])
    def test_larger_buckets_are_made_before_anybody_is_withheld(self, times, size, seed):
        """One bucket of all rows is l-diverse here, and hardly any other."""
        rows = ["01", "02", "012", "012", "0", "01", "02", "0", "02", "0", "012", "012", "01", "0"] * times
        data = vs.Transactions.from_lists(map(list, rows), sensitive=["1"])
        promise, columns = vs.LDiverseAnatomy(2), [["0", "2"], ["1"]]
        release = vs.anonymize(data, promise, columns=columns, bucket_size=size, random_state=seed)
        assert (release.certified, release.withheld) == (True, ())

    @pytest.mark.parametrize("seed", range(8))
    def test_items_of_withheld_transactions_are_in_no_column(self, seed):
        rows = [["i0"], ["i0"], ["i3"], ["i3"], ["i0", "i4"], ["i3"]]
        data = vs.Transactions.from_lists(rows, sensitive=["i4"])
        promise, columns = vs.LDiverseAnatomy("7/4", empty="free"), [["i0"], ["i3"], ["i4"]]
        try:
            release = vs.anonymize(data, promise, columns=columns, bucket_size=4, random_state=seed)
        except vs.Infeasible:
            return
        assert release.certified

    @pytest.mark.parametrize("seed", [499921, *range(20)])
    def test_items_are_limited_among_those_who_are_released(self, seed):
        rows = ["2", "125", "05", "145", "015", "3", "15", "2", "12", "0235"]
        data = vs.Transactions.from_lists(map(list, rows), sensitive=["4"])
        assert vs.anonymize(data, vs.LDiverseAnatomy(2, items=True), columns=2, random_state=seed).certified

    def test_no_bucket_is_larger_than_all_that_can_be_released(self):
        data = vs.Transactions.from_lists([["a", "c"], ["b", "d"], ["a", "d"], ["b", "c"], [], []])
        with refused(vs.InvalidArgument, "bucket_size", "6", "4"):
            vs.anonymize(data, vs.LDiverseAnatomy(2), columns=2, bucket_size=6)

    @pytest.mark.parametrize("size", [2, 7, 30])
    def test_buckets_are_as_large_as_asked_for(self, size):
        data = vs.generate.quest(transactions=300, average_length=8, pattern_length=3, items=60, random_state=3)
        release = vs.anonymize(data, vs.LDiverseAnatomy(2), columns=3, bucket_size=size, random_state=1)
        assert release.certified
        assert release.custodian_data.anatomy.sizes.min() >= size

    def test_other_data_is_permuted_otherwise(self):
        """Or two releases with one seed would tell which rows are whose."""
        rows = [[f"a{row}", f"b{row}"] for row in range(200)]
        columns = [[f"{letter}{row}" for row in range(200)] for letter in "ab"]
        one, other = (
            vs.anonymize(vs.Transactions.from_lists(each), vs.LDiverseAnatomy(2), columns=columns, random_state=4)
            for each in (rows, [*rows[:-1], ["a199", "b0"]])
        )
        same = [a == b for a, b in zip(one.partition.members.tolist(), other.partition.members.tolist(), strict=True)]
        assert sum(same) < 20

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
        rows = [["a", "s"], ["b", "t"], ["c", "u"], ["a"], ["b"], ["c"], ["d"], ["d", "s"], ["d"]]
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
        _fill(values, Fraction(2), [VALUE], open_buckets=200, memory_limit=100_000)
