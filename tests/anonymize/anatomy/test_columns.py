"""Items into columns: values, merging and clustering against literal twins; what is reached, and what cannot be."""

import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.anatomies import PLAIN, made
from tests.support.errors import refused
from veilset.anonymize.anatomy import clustering
from veilset.anonymize.anatomy.clustering import clusters, correlation, medoids_of
from veilset.anonymize.anatomy.columns import make_columns
from veilset.anonymize.anatomy.merging import number_values
from veilset.errors import BudgetExceeded, Infeasible, InvalidArgument
from veilset.limits import Limits
from veilset.models import LDiverseAnatomy
from veilset.testing.strategies import transactions
from veilset.transactions import Transactions

LS = [Fraction(1), Fraction(4, 3), Fraction(3, 2), Fraction(2), Fraction(3)]
Parts = Sequence[Sequence[str]]


def promises() -> st.SearchStrategy[LDiverseAnatomy]:
    return st.builds(LDiverseAnatomy, st.sampled_from(LS), empty=st.sampled_from(["value", "free"]))


@st.composite
def partitioned(draw: st.DrawFn) -> tuple[Transactions, list[list[str]]]:
    """Data with at least two items, public ones in every row, and a partition into at least two columns."""
    shapes = st.tuples(st.integers(1, 5), st.integers(0, 3)).filter(lambda shape: sum(shape) > 1)
    public, sensitive = draw(shapes)
    names = [*"abcde"[:public], *("s1", "s2", "s3")[:sensitive]]
    rows = st.tuples(st.sampled_from(names[:public]), st.sets(st.sampled_from(names))).map(
        lambda row: {row[0], *row[1]}
    )
    data = Transactions.from_lists(
        [*map(sorted, draw(st.lists(rows, min_size=1, max_size=12))), names], sensitive=names[public:]
    )
    parts: dict[tuple[bool, int], list[str]] = {}
    for name in draw(st.permutations(names)):
        parts.setdefault((name in data.sensitive, draw(st.integers(0, 3))), []).append(name)
    if len(parts) == 1:
        (first, *others) = next(iter(parts.values()))
        return data, [[first], others]
    return data, list(parts.values())


def values_of(rows: Sequence[set[str]], column: Sequence[str]) -> list[frozenset[str]]:
    return [frozenset(row.intersection(column)) for row in rows]


def probabilities_of(data: Transactions, columns: Parts, promise: LDiverseAnatomy) -> list[Fraction]:
    """For each column the largest probability in one bucket of all rows: see `veilset.anonymize.anatomy.merging`."""
    rows, secret = [set(row) for row in data.to_lists()], set(data.sensitive)
    counts = [Counter(values_of(rows, column)) for column in columns]
    nothing = [held.pop(frozenset(), 0) for held in counts]
    public = [place for place, column in enumerate(columns) if column[0] not in secret]
    anchored = any(nothing[place] == 0 for place in public)
    found = []
    for place, held in enumerate(counts):
        if place not in public:
            found.append(Fraction(held.total(), len(rows)))
        elif promise.empty == "free":
            found.append(Fraction(max(held.values()), held.total()))
        elif anchored:
            found.append(Fraction(max(nothing[place], *held.values()), len(rows)))
        else:
            others = [Fraction(min(nothing[other], len(rows) - 1), len(rows) - 1) for other in public if other != place]
            left = len(rows) - (len(rows) - 1) * prod(others)
            surely = min(Fraction(1), nothing[place] / left) if left > 0 else Fraction(1)
            found.append(max(surely, Fraction(max(held.values()), held.total())))
    return found


def merged_by_the_rule(data: Transactions, parts: Parts, promise: LDiverseAnatomy) -> list[tuple[str, ...]] | None:
    """The columns that are left, by the rule to the letter; None: there are no two."""
    secret = set(data.sensitive)

    def in_order(columns: Parts) -> list[tuple[str, ...]]:
        return sorted((data.in_order(column) for column in columns), key=lambda c: (c[0] in secret, data.codes(c)[0]))

    left = in_order([*(part for part in parts if part[0] not in secret), *([sorted(secret)] if secret else [])])
    while True:
        found = probabilities_of(data, left, promise)
        worst = left[found.index(max(found))]
        if max(found) <= 1 / promise.l:
            return left
        if len(left) == 2 or worst[0] in secret:
            return None

        def merged(one: tuple[str, ...], left: list[tuple[str, ...]] = left) -> tuple[Fraction, list[tuple[str, ...]]]:
            candidates = []
            for other in left:
                if other != one and other[0] not in secret:
                    rest = [column for column in left if column not in (one, other)]
                    after = probabilities_of(data, [one + other, *rest], promise)
                    candidates.append((max(after), after[0], left.index(other), in_order([one + other, *rest])))
            return min(candidates)[0], min(candidates)[3]

        after, left_after = merged(worst)
        if after >= max(found):
            others = [merged(column) for column in left if column[0] not in secret and column != worst]
            lowest = min(highest for highest, _ in others)
            if lowest < max(found):
                left_after = next(columns for highest, columns in others if highest == lowest)
        left = left_after


@given(partitioned(), promises(), st.integers(1, 3))
def test_columns_are_merged_by_the_rule_until_they_can_be_diverse(question, promise, threads):
    data, parts = question
    expected = merged_by_the_rule(data, parts, promise)
    try:
        result = made(data, promise, columns=parts, threads=threads)
    except Infeasible:
        assert expected is None
        return
    if expected is None:  # one after the other did not do, two halves do
        assert not data.sensitive
        assert len(result.items) == 2 < len(parts)
    else:
        assert list(result.items) == expected
    assert result.wished == len(parts)
    united = len(parts) - sum(part[0] in data.sensitive for part in parts) + bool(data.sensitive)
    assert len(result.merges) == united - len(result.items)
    assert max(probabilities_of(data, result.items, promise)) * promise.l <= 1


def test_columns_that_fail_one_by_one_may_do_as_halves():
    """The emptiest column goes to the one that it complements best, and what is left for the others is too little."""
    rows = ["ab", "ac", "bd", "cd", "ad", "bc", "abcd", "abc", "bcd", "a", "d"]
    data = Transactions.from_lists(map(list, rows))
    result = made(data, LDiverseAnatomy(2), columns=[["a"], ["b"], ["c"], ["d"]])
    assert len(result.items) >= 2
    assert max(probabilities_of(data, result.items, LDiverseAnatomy(2))) <= Fraction(1, 2)


@given(partitioned(), promises())
def test_the_error_names_the_largest_l_that_would_do(question, promise):
    data, parts = question
    try:
        made(data, promise, columns=parts)
        return
    except Infeasible as error:
        told = re.search(r"an l of at most ([\d.]+),", str(error))
        assert (told is None) == ("No l above 1 would do" in str(error))
    largest = Fraction(told[1]) if told else Fraction(1)
    assert largest < promise.l
    assert made(data, LDiverseAnatomy(largest, empty=promise.empty), columns=parts).wished == len(parts)
    with pytest.raises(Infeasible):
        made(data, LDiverseAnatomy(largest + Fraction(1, 1000), empty=promise.empty), columns=parts)


@given(transactions(max_rows=20), st.integers(2, 7), st.integers(1, 3), st.sampled_from([2, 3, 2000]))
def test_every_item_has_one_column_and_values_are_those_of_the_rows(data, wish, threads, candidates):
    """l = 1: no column fails. Fewer candidates than items: most are compared with the medoids only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clustering, "_CANDIDATES", candidates)
        if len(data.names) < 2 or not data.public:
            with pytest.raises(Infeasible):
                made(data, LDiverseAnatomy(1), columns=wish)
            return
        result = made(data, LDiverseAnatomy(1), columns=wish, threads=threads)
        assert result.items == made(data, LDiverseAnatomy(1), columns=wish).items
    assert sorted(item for column in result.items for item in column) == sorted(data.names)
    public = wish - bool(data.sensitive)
    assert len(result.items) == min(public, len(data.public), candidates) + bool(data.sensitive)
    assert bool(result.notes) == (candidates < min(public, len(data.public)))
    assert result.items[len(result.medoids) :] == ((data.sensitive,) if data.sensitive else ())
    assert [sum(medoid in column for medoid in result.medoids) for column in result.items[: len(result.medoids)]] == [
        1
    ] * len(result.medoids)
    firsts = data.codes(column[0] for column in result.items[: len(result.medoids)]).tolist()
    assert firsts == sorted(firsts)
    assert all(column == data.in_order(column) for column in result.items)
    assert result.values.dtype == np.int32
    assert result.values.flags.c_contiguous
    assert result.values.shape == (len(data), len(result.items))
    for column, numbers in zip(result.items, result.values.T.tolist(), strict=True):
        met: dict[frozenset[str], int] = {}
        values = values_of([set(row) for row in data.to_lists()], column)
        assert numbers == [met.setdefault(value, len(met) + 1) if value else 0 for value in values]


def dense_correlation(data: Transactions) -> np.ndarray:
    """φ² of all pairs of items, from a dense matrix; 0 on the diagonal."""
    held = np.array([[name in row for name in data.names] for row in data.to_lists()], dtype=int)
    times = held.sum(axis=0)
    f, together = times / len(data), held.T @ held / len(data)
    more_than_by_chance = held.T @ held * len(data) > np.outer(times, times)
    alike = np.where(more_than_by_chance, (together - np.outer(f, f)) ** 2 / np.outer(f, f), 0)
    np.fill_diagonal(alike, 0)
    return alike


@given(transactions(max_rows=20, max_public=7, max_sensitive=0))
def test_distances_are_one_less_the_correlation(data):
    if not data.names:
        return
    distances = clustering._distances(data, np.arange(len(data.names)), Limits(threads=1))
    assert distances.dtype == np.float32
    expected = 1 - dense_correlation(data)
    np.fill_diagonal(expected, 0)
    # Both are made from a few roundings at 2^-53 and one at 2^-24.
    assert np.allclose(distances, expected, rtol=0, atol=2**-23)


def test_items_that_avoid_each_other_are_not_close():
    counts = np.array([4, 4, 4])
    assert correlation(np.int64(4), counts, np.array([0, 2, 4]), 8).tolist() == [0, 0, 0.25]


@given(transactions(max_rows=20, max_public=7), st.integers(1, 4), st.sampled_from([2, 4, 2000]))
def test_items_go_to_the_medoid_they_are_most_correlated_with(data, count, candidates):
    if not data.public:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clustering, "_CANDIDATES", candidates)
        columns, medoids = clusters(data, count, random_state=3, limits=Limits(threads=1))
    alike = dense_correlation(data)
    codes = data.codes(medoids).tolist()
    assert codes == sorted(codes)
    expected = [[code] for code in codes]
    lonely = []
    for code in data.codes(data.public).tolist():
        if code not in codes:
            near = [alike[code, medoid] for medoid in codes]
            if max(near) == 0:
                lonely.append(code)
            else:
                ties = [number for number, value in enumerate(near) if value > max(near) - 1e-12]
                assert any(code in columns[number] for number in ties)
                expected[next(number for number in ties if code in columns[number])].append(code)
    for code in sorted(lonely, key=lambda code: (-data.supports[code], code)):
        min(expected, key=lambda column: int(data.supports[column].sum())).append(code)
    assert [sorted(column) for column in columns] == [sorted(column) for column in expected]


def test_medoids_are_found_among_the_most_frequent_public_items(monkeypatch):
    rows = [["a", "b", "s"]] * 4 + [["c", "d"]] * 4 + [["e", "f"]] * 3
    data = Transactions.from_lists(rows, sensitive=["s"])
    monkeypatch.setattr(clustering, "_CANDIDATES", 4)
    found = medoids_of(data, 2, random_state=1, limits=Limits())
    assert [data.names[code] for code in found] in (["a", "c"], ["a", "d"], ["b", "c"], ["b", "d"])
    assert clusters(data, 2, random_state=1, limits=Limits())[0] in ([[0, 1, 4, 5], [2, 3]], [[0, 1, 4], [2, 3, 5]])


def test_items_that_go_together_are_one_column():
    rows = [["a", "b"], ["a", "b", "c"], ["c", "d"], ["d", "c"], ["a", "b"], ["e", "f"], ["e", "f"], []]
    result = made(Transactions.from_lists(rows), LDiverseAnatomy(1), columns=3)
    assert result.items == (("a", "b"), ("c", "d"), ("e", "f"))
    assert result.given is None


def test_columns_of_other_kinds_do_not_help(snapshot):
    """The sensitive column fails, however many public ones there are."""
    rows = [["a", "s"], ["b", "s"], ["c", "s"], ["a", "b"], ["a", "t"]]
    data = Transactions.from_lists(rows, sensitive=["s", "t"])
    with refused(Infeasible, said=snapshot):
        made(data, LDiverseAnatomy(2, empty="free"), columns=[["a"], ["b"], ["c"], ["s", "t"]])


def test_an_empty_value_that_is_too_common_is_named_and_can_be_freed():
    data = Transactions.from_lists([["a"], ["b"], ["c"], ["d"]])
    with refused(Infeasible, "empty", "free"):
        made(data, LDiverseAnatomy(2), columns=[["a", "b"], ["c"], ["d"]])
    result = made(data, LDiverseAnatomy(2, empty="free"), columns=[["a", "b"], ["c"], ["d"]])
    assert result.items == (("a", "b"), ("c", "d"))
    assert [(merge.probability, merge.reached) for merge in result.merges] == [(1, Fraction(1, 2))]


def test_two_columns_cannot_be_fewer():
    data = Transactions.from_lists([["a", "c"], ["a", "c"], ["b", "d"]])
    with refused(Infeasible, "1.5"):
        made(data, LDiverseAnatomy(2), columns=[["a", "b"], ["c", "d"]])
    with refused(BudgetExceeded, "columns", "transactions"):
        number_values(data, [[0, 1], [2, 3]], Limits(time_limit=1e-9))


def test_where_pairs_take_too_long_columns_can_be_given():
    with refused(BudgetExceeded, "time limit", "columns") as caught:
        medoids_of(Transactions.from_lists([["a", "b"], ["c"]]), 2, random_state=1, limits=Limits(time_limit=1e-9))
    assert "min_support" not in str(caught.value)


@pytest.mark.parametrize("rows", [[], [["a"]], [["a"], []], [[]]])
def test_data_without_two_items_is_infeasible(rows):
    for columns in (2, [["a"], ["b"]]):
        with refused(Infeasible, f"{len(rows)} transactions"):
            made(Transactions.from_lists(rows), LDiverseAnatomy(1), columns=columns)


@pytest.mark.parametrize("columns", [1, 0, -3, True, 2.5, None])
def test_numbers_that_cannot_be(columns):
    with refused(InvalidArgument, "columns", repr(columns)):
        made(Transactions.from_lists([["a"], ["b"]]), LDiverseAnatomy(1), columns=columns)


@pytest.mark.parametrize("bounds", [{"memory_limit": "1MB"}, {"time_limit": 1e-9}])
@pytest.mark.parametrize("columns", [2, [["a"], ["b"]]])
def test_limits_are_kept(bounds, columns):
    data = Transactions.from_lists([["a"], ["b"]])
    with pytest.raises(BudgetExceeded):
        make_columns(data, LDiverseAnatomy(2), limits=Limits(**bounds), **PLAIN | {"columns": columns})
