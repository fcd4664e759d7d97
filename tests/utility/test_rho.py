"""What a release under ρ-uncertainty costs: infoLoss, the floor, rules under coarser names and what they bound."""

from fractions import Fraction
from itertools import chain, combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.errors import refused
from veilset import Coherence, Transactions, _native
from veilset.errors import BudgetExceeded, InvalidArgument
from veilset.limits import Limits
from veilset.models import RhoUncertainty
from veilset.release import Release
from veilset.testing import strategies
from veilset.testing.checks import as_sets
from veilset.utility import Account, info_loss, least_loss, metrics_of, rule_bounds, support_bounds
from veilset.utility.generalization import average_loss
from veilset.utility.rules import rules_left


def subsets(items):
    return (frozenset(chosen) for size in range(len(items) + 1) for chosen in combinations(sorted(items), size))


def least_by_trying(data: Transactions, rho: Fraction) -> Fraction:
    """The least loss of suppressing sensitive items, if only rules among them count."""
    rows = [row.intersection(data.sensitive) for row in as_sets(data)]
    support = dict(zip(data.names, data.supports.tolist(), strict=True))

    def holds(kept: frozenset[str]) -> bool:
        seen = [row & kept for row in rows]
        return not any(
            sum(known | {secret} <= other for other in seen) >= rho * sum(known <= other for other in seen)
            for row in set(seen)
            for known in subsets(row)
            for secret in row - known
        )

    lost = min(
        sum(support[item] for item in data.sensitive if item not in kept)
        for kept in subsets(data.sensitive)
        if holds(kept)
    )
    return Fraction(lost, len(data.items))


@st.composite
def secrets(draw: st.DrawFn) -> Transactions:
    """Up to six sensitive items, so that triples overlap."""
    rows = draw(st.lists(st.lists(st.sampled_from("abuvwxyz"), unique=True), min_size=1, max_size=12))
    rows += rows[: draw(st.integers(0, len(rows)))]
    occurring = {item for row in rows for item in row}
    return Transactions.from_lists(rows, sensitive=sorted(occurring.difference("ab")))


@given(secrets(), strategies.shares())
def test_the_floor_is_never_above_the_least_loss(data, rho):
    if len(data.items):
        assert 0 <= least_loss(data, RhoUncertainty(rho=rho)) <= float(least_by_trying(data, rho))


@pytest.mark.parametrize(
    ("rows", "rho", "lost"),
    [
        ([["s"], ["s"], ["a"]], "2/3", 2),  # who knows nothing is sure of s
        ([["s", "t"], ["s"], ["a"], ["a"], ["a"]], "1", 1),  # t → s
        ([["s", "t", "u"], ["s", "t"], ["s", "u"], ["t", "u"], *[["a"]] * 9], "1", 0),
        # s, t → u and its like: every pair is held twice, once with the third
        ([["s", "t", "u"], ["s", "t"], ["s", "u"], ["t", "u"], *[["s"], ["t"], ["u"]] * 3, *[["a"]] * 9], "1/2", 6),
        ([["a", "b"]], "1/2", 0),
        ([[]], "1/2", 0),
    ],
)
def test_floors_by_hand(rows, rho, lost):
    occurring = {item for row in rows for item in row}
    data = Transactions.from_lists(rows, sensitive=sorted(occurring.difference("ab")))
    assert least_loss(data, RhoUncertainty(rho=rho)) == (lost / len(data.items) if lost else 0)


def test_the_floor_is_that_of_the_original():
    data = Transactions.from_lists([["s", "t"], ["s"], ["a"], ["a"], ["a"]], sensitive=["s", "t"])
    promise = RhoUncertainty(rho=1)
    release = Release(data, data.without(["s", "t"]), promise, "by hand", {}, ("s", "t"))
    assert Account(release).values["floor"] == least_loss(data, promise) == 1 / 6


def test_the_floor_stops_at_limits():
    data = Transactions.from_lists([["s", "t"]] * 3, sensitive=["s", "t"])
    with pytest.raises(BudgetExceeded):
        least_loss(data, RhoUncertainty(rho=1), limits=Limits(time_limit=1e-9))


class TestKeptAtMost:
    """The kernel behind the floor: no set of items without a forbidden one inside weighs more."""

    @staticmethod
    def asked(weights, pairs, triples, **limits):
        return _native.rules.kept_at_most(
            np.array(weights, dtype=np.int64),
            np.array(pairs, dtype=np.int32).ravel(),
            np.array(triples, dtype=np.int32).ravel(),
            **{"threads": 2, "memory_limit": 10**9, "time_limit": 60.0, "progress": None, **limits},
        )

    @given(st.data())
    def test_it_bounds_what_can_be_kept(self, data):
        weights = sorted(data.draw(st.lists(st.integers(1, 20), min_size=3, max_size=8)), reverse=True)
        items = range(len(weights))
        chosen = [
            data.draw(st.lists(st.sampled_from(list(combinations(items, size))), unique=True, max_size=20))
            for size in (2, 3)
        ]
        forbidden = [set(some) for some in (*chosen[0], *chosen[1])]
        allowed = [kept for kept in subsets(items) if not any(some <= kept for some in forbidden)]
        best = max(sum(weights[item] for item in kept) for kept in allowed)
        found = self.asked(weights, *chosen)
        assert best <= found <= sum(weights)
        assert found == self.asked(weights, *chosen, threads=1)
        if forbidden:
            assert found < sum(weights)

    def test_of_a_clique_one_stays_and_of_all_triples_two(self):
        weights = [9, 8, 8, 5, 3, 1]
        assert self.asked(weights, list(combinations(range(6), 2)), []) == 9
        assert self.asked(weights, [], list(combinations(range(6), 3))) == 17
        assert self.asked(weights, [(0, 1), (0, 2)], list(combinations(range(6), 3))) == 16
        assert self.asked(weights, [], []) == 34
        assert self.asked([], [], []) == 0

    def test_wrong_arrays_are_refused(self):
        with refused(ValueError, "weights"):
            self.asked([1, 2], [], [])
        with refused(ValueError, "item"):
            self.asked([2, 1], [(0, 2)], [])
        with pytest.raises(_native.core.OutOfMemory):
            self.asked([1] * 1000, [], [], memory_limit=1000)


SHELVES = {"beer": "alcohol", "wine": "alcohol", "fish": "meat", "beef": "meat"}


def recoding(data: Transactions, recoded: dict[str, str], *gone: str, rho: str = "1/2") -> Release:
    stands_for = {name: tuple(item for item in recoded if recoded[item] == name) for name in recoded.values()}
    released = data.without(gone).renamed(recoded)
    return Release(data, released, RhoUncertainty(rho=rho), "by hand", {}, gone, recoded, stands_for)


def example() -> Transactions:
    """Example 3.1."""
    rows = [["wine", "fish", "pregnancy test", "viagra"], ["wine", "beef"], ["beer"]]
    return Transactions.from_lists(rows, sensitive=["pregnancy test", "viagra"])


def test_example_3_1():
    release = recoding(example(), {"fish": "meat", "beef": "meat"}, "viagra")
    assert average_loss(release) == pytest.approx(2 / 7, abs=0)
    assert {item.item: (item.released_as, item.loss) for item in info_loss(release)} == {
        "beef": ("meat", Fraction(1, 2)),
        "beer": ("beer", 0),
        "fish": ("meat", Fraction(1, 2)),
        "pregnancy test": ("pregnancy test", 0),
        "viagra": (None, 1),
        "wine": ("wine", 0),
    }
    assert [item.item for item in info_loss(release) if item.sensitive] == ["pregnancy test", "viagra"]


@st.composite
def recoded_releases(draw: st.DrawFn) -> Release:
    """Some items gone, some public ones in a group, which may have been thought of more items; some rows withheld."""
    data = draw(strategies.transactions(max_sensitive=2))
    gone = tuple(draw(st.sets(st.sampled_from(data.names)))) if data.names else ()
    public = [item for item in data.public if item not in gone]
    generalized = dict.fromkeys(sorted(draw(st.sets(st.sampled_from(public)))), "group") if public else {}
    stands_for = {"group": (*generalized, *draw(st.sampled_from([(), ("never sold",)])))} if generalized else {}
    withheld = tuple(sorted(draw(st.sets(st.integers(0, len(data) - 1), max_size=len(data) - 1))))
    kept = np.setdiff1d(np.arange(len(data)), np.array(withheld, dtype=np.int64))
    released = data.without(gone).renamed(generalized).take(kept)
    return Release(
        data, released, RhoUncertainty(rho="1/2"), "by hand", {}, gone, generalized, stands_for, withheld=withheld
    )


@given(recoded_releases())
def test_average_loss_is_the_mean_of_info_loss(release):
    items = info_loss(release)
    assert [item.support for item in items] == release.original.supports.tolist()
    mean = sum((item.support * item.loss for item in items), start=Fraction(0)) / max(1, len(release.original.items))
    assert average_loss(release) == float(mean)
    assert all(0 <= item.loss <= 1 for item in items)


@given(recoded_releases())
def test_sensitive_items_are_counted_by_kind_and_by_occurrence(release):
    found = {metric.name: metric.of(Account(release)) for metric in metrics_of(release.promise) if metric.quick}
    secret = set(release.original.sensitive)
    before, after = (as_sets(data) for data in (release.original, release.custodian_data))
    kinds = len(secret.intersection(*[set().union(*after)])) / len(secret) if secret else 1
    occurrences = [sum(len(row & secret) for row in rows) for rows in (before, after)]
    assert found["sensitive_kinds_kept"] == pytest.approx(kinds)
    assert found["sensitive_kept"] == pytest.approx(occurrences[1] / occurrences[0] if occurrences[0] else 1)


def test_the_floor_is_a_metric_of_this_promise_alone():
    assert "floor" in {metric.name for metric in metrics_of(RhoUncertainty)}
    assert "floor" not in {metric.name for metric in metrics_of(Coherence)}


@given(recoded_releases(), st.integers(1, 4))
def test_rules_under_coarser_names_by_trying(release, least):
    rows, after = as_sets(release.original), as_sets(release.custodian_data)
    found = rules_left(release, nugget_support=least)
    names, half = release.generalized, Fraction(1, 2)

    def is_rule(sets, left, right):
        both, alone = (sum(items <= row for row in sets) for items in (left | {right}, left))
        return both >= least and Fraction(both, alone) >= half

    strong = [
        (frozenset(items) - {right}, right)
        for size in (2, 3)
        for items in combinations(release.original.names, size)
        for right in items
        if is_rule(rows, set(items) - {right}, right)
    ]
    if len(strong) > 100:  # only the strongest count then, which other tests look at
        return
    images = [
        ({names.get(item, item) for item in left}, names.get(right, right))
        for left, right in strong
        if not left.union({right}).intersection(release.suppressed)
    ]
    kept = sum(right not in left and is_rule(after, left, right) for left, right in images)
    assert found["top_rules_kept_or_coarser"] == (kept / len(strong) if strong else 1)
    assert found["top_rules_kept_or_coarser"] >= found["top_rules_kept"]


def confidence(rows, left, right):
    holding = [row for row in rows if set(left) <= row]
    return Fraction(sum(right in row for row in holding), len(holding)) if holding else None


@given(recoded_releases())
def test_true_supports_and_confidences_lie_within_the_bounds(release):
    withheld = set(release.withheld)
    rows = [row for number, row in enumerate(as_sets(release.original)) if number not in withheld]
    asked = [*release.original.names, "never heard of"]
    for left in chain.from_iterable(combinations(asked, size) for size in range(3)):
        least, most = support_bounds(release.custodian_data, release.stands_for, left)
        assert least <= sum(set(left) <= row for row in rows)
        if not set(left).intersection({*release.suppressed, "never heard of"}):
            assert sum(set(left) <= row for row in rows) <= most
        for right in set(asked).difference(left):
            low, high = rule_bounds(release.custodian_data, release.stands_for, left, right)
            true = confidence(rows, left, right)
            assert true is None or low <= true <= high, (left, right)


@given(st.lists(st.lists(st.sampled_from(["x", "G"]), unique=True), max_size=2), st.booleans())
def test_the_bounds_are_reached_by_some_original(rows, together):
    """G means g or h or both, x is x, and everybody may have had z, which is gone: all originals are tried."""
    rows += [["x", "G"]] if together else [["x"], ["G"]]  # a name that does not occur could be one that is gone
    data = Transactions.from_lists(rows)
    finer = {"x": [{"x"}], "G": [{"g"}, {"h"}, {"g", "h"}]}
    originals = list(
        product(*[[set().union(*choice) for choice in product(*map(finer.get, row), [set(), {"z"}])] for row in rows])
    )
    for left in chain.from_iterable(combinations("xghz", size) for size in range(3)):
        supports = [sum(set(left) <= row for row in original) for original in originals]
        assert support_bounds(data, {"G": ["g", "h"]}, left) == (min(supports), max(supports))
        for right in set("xghz").difference(left):
            true = [confidence(original, left, right) for original in originals]
            known = [share for share in true if share is not None] or [Fraction(0)]
            assert rule_bounds(data, {"G": ["g", "h"]}, left, right) == (min(known), max(known)), (left, right)


def test_a_rule_of_groups_does_not_bound_those_of_its_items():
    """What the paper's appendix D says is so only on the right side."""
    data = Transactions.from_lists([["a1", "s"], ["a2"]], sensitive=["s"])
    release = recoding(data, {"a1": "A", "a2": "A"})
    assert confidence(as_sets(release.custodian_data), ["A"], "s") == Fraction(1, 2)
    assert confidence(as_sets(data), ["a1"], "s") == 1
    assert rule_bounds(release.custodian_data, release.stands_for, ["a1"], "s") == (0, 1)
    assert rule_bounds(release.custodian_data, release.stands_for, ["s"], "a1") == (0, 1)
    assert rule_bounds(release.custodian_data, {"A": ["a1"]}, ["a1"], "s") == (
        Fraction(1, 2),
        Fraction(1, 2),
    )  # it is the only one


def test_bounds_refuse_what_makes_no_sense():
    data = Transactions.from_lists([["A", "s"]])
    with refused(InvalidArgument, "'s'"):
        rule_bounds(data, {}, ["s"], "s")
    with refused(InvalidArgument, "'a'", "'A'", "'B'"):
        rule_bounds(data, {"A": ["a"], "B": ["a"]}, ["a"], "s")


def test_a_rule_within_one_group_is_gone():
    data = Transactions.from_lists([["beer", "wine"]] * 3 + [["fish", "wine"]])
    release = recoding(data, {name: SHELVES[name] for name in data.names})
    found = rules_left(release, nugget_support=1)
    # beer → wine and wine → beer are A → A now; fish → wine is meat → alcohol
    assert found == {"top_rules_kept": 0, "top_rules_kept_or_coarser": pytest.approx(1 / 3)}
