"""suppress and top-down against their literal twins and the oracle: the same as published, never a broken promise."""

import re
from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import veilset as vs
from tests.support import golden, rho_twins
from tests.support.effort import examples
from tests.support.errors import refused
from veilset.anonymize.rho_uncertainty.suppress import suppress
from veilset.anonymize.rho_uncertainty.task import Task
from veilset.anonymize.rho_uncertainty.td_control import Cut, td_control
from veilset.anonymize.rho_uncertainty.top_down import top_down
from veilset.engines import Piece
from veilset.engines.rows import different
from veilset.limits import Limits
from veilset.testing import oracles, strategies
from veilset.testing.checks import as_sets
from veilset.transactions import Taxonomy, Transactions
from veilset.utility.generalization import average_loss, info_loss

MANY = examples(200)
FEWER = examples(100)
TABLE_1 = Transactions.from_lists(golden.TABLE_1, sensitive=golden.TABLE_1_SENSITIVE)
PROMISE = vs.RhoUncertainty(rho=golden.RHO)


class Question(NamedTuple):
    """What a method is asked; *keep* is for those who want it."""

    data: Transactions
    promise: vs.RhoUncertainty
    tree: dict[str, list[str]]
    weighing: dict[str, object]
    keep: set[str]

    @property
    def cost(self) -> dict[str, Fraction]:
        """What each item is worth, from `weighing`: the options weights and sensitive_weight."""
        weights = self.weighing["weights"]
        weight = dict(zip(self.data.names, map(int, self.data.supports), strict=True))
        if weights is not None:
            weight = dict.fromkeys(self.data.names, 1) | ({} if weights == "equal" else weights)
        times = dict.fromkeys(self.data.sensitive, self.weighing["sensitive_weight"])
        return {name: Fraction(one) * times.get(name, 1) for name, one in weight.items()}

    def loss(self, release: vs.Release) -> Fraction:
        """What a release loses, by the weights."""
        return sum((self.cost[item.item] * item.loss for item in info_loss(release)), Fraction(0))


@st.composite
def questions(draw: st.DrawFn) -> Question:
    """Trees have chains of groups, groups of one item, and leaves that do not occur or are sensitive."""
    data = draw(strategies.transactions(max_public=5).filter(lambda data: data.sensitive))
    groups = st.sampled_from([[], ["G1"], ["G2"], ["G3", "G2"], ["G4", "G2"], ["G5"], ["G6", "G5"]])
    tree = {leaf: draw(groups) for leaf in (*data.public, "absent", *data.sensitive[:1])}
    own = st.dictionaries(st.sampled_from(data.names), st.sampled_from([0, 0.5, 1, 3]))
    weights = draw(st.one_of(st.none(), st.just("equal"), own))
    weighing = {"weights": weights, "sensitive_weight": draw(st.sampled_from([1, 1, 2, 10]))}
    keep = draw(st.sets(st.sampled_from(data.names), max_size=2))
    return Question(data, vs.RhoUncertainty(rho=draw(strategies.shares())), tree, weighing, keep)


def cut_of(
    data, promise, tree: Mapping[str, list[str]], *, only_sensitive: bool = False, **options
) -> tuple[Task, Cut]:
    asked = {"weights": None, "sensitive_weight": 1, "keep": (), **options}
    task = Task.of(data, promise, Taxonomy.from_paths(tree), **asked, limits=Limits())
    keep = task.must_stay
    rows = task.hierarchy.rows(different(Piece(data.offsets, data.items)), Limits())
    return task, td_control(task.hierarchy, rows, promise, keep=keep, only_sensitive=only_sensitive, limits=Limits())


def twin_of(question: Question, fixed: Collection[str]) -> rho_twins.TopDown:
    data = question.data
    parents = rho_twins.parents_in({leaf: path for leaf, path in question.tree.items() if leaf not in data.sensitive})
    rows, rho = as_sets(data), question.promise.rho
    return rho_twins.td_control(rows, data.sensitive, rho, parents, data.names, cost=question.cost, fixed=fixed)


def test_example_a1():
    release = vs.anonymize(TABLE_1, PROMISE, method="suppress", as_published=True)
    assert (release.suppressed, release.generalized) == (("b1", "α"), {})
    assert release.custodian_data.to_lists() == [sorted(row) for row in golden.TABLE_3]
    assert release.certified


def test_example_a2_splits_all_then_a_then_b():
    task, cut = cut_of(TABLE_1, PROMISE, golden.TABLE_1_TREE)
    tree = task.hierarchy
    assert [tree.label(entry) for entry in cut.suppressed] == ["α", "b1"]
    splits = [(tree.label(node), Fraction(pnig, tree.public)) for node, pnig in cut.splits]
    assert splits == [("ALL", Fraction("5.5")), ("A", Fraction(3)), ("B", Fraction("1.5"))]
    release = vs.anonymize(TABLE_1, PROMISE, method="top-down", taxonomy=golden.TABLE_1_TREE, as_published=True)
    assert (release.suppressed, release.generalized) == (("b1", "α"), {})
    assert average_loss(release) == 3 / 16


def test_what_must_stay_stops_the_split_that_would_cost_it():
    """With b1 kept, γ is the only way to split B: it costs 3, and the split gains 2.5."""
    options = {"taxonomy": golden.TABLE_1_TREE, "as_published": True, "keep": ["b1"]}
    release = vs.anonymize(TABLE_1, PROMISE, method="top-down", **options)
    assert (release.suppressed, release.generalized) == (("α",), {"b1": "B", "b2": "B"})


def test_example_3_1_loses_two_sevenths():
    data = Transactions.from_lists(golden.EXAMPLE_3_1, sensitive=golden.EXAMPLE_3_1_SENSITIVE)
    kept = ["beer", "meat", "pregnancy test", "wine"]
    replayed = top_down(data, PROMISE, taxonomy=golden.EXAMPLE_3_1_TREE, chosen=kept, limits=Limits())
    assert (replayed.suppressed, replayed.generalized) == (("viagra",), {"beef": "meat", "fish": "meat"})
    assert average_loss(replayed) == pytest.approx(2 / 7)


def test_figure_16_is_left_alone_where_generalizing_would_break_it():
    """α in three of five, so that only A would be too sure of it."""
    data = Transactions.from_lists([*golden.FIGURE_16, ["b"]], sensitive=["α"])
    tree = {"a1": ["A"], "a2": ["A"], "b": ["B"]}
    release = vs.anonymize(data, PROMISE, method="top-down", taxonomy=tree)
    assert (release.suppressed, release.generalized, release.certified) == ((), {}, True)
    coarser = top_down(data, PROMISE, taxonomy=tree, chosen=["A", "b", "α"], limits=Limits())
    assert not oracles.is_rho_uncertain(as_sets(coarser.custodian_data), ["α"], PROMISE.rho)


def test_everything_at_all_is_mended_before_the_loop():
    data = Transactions.from_lists(golden.UNSAFE_AT_ALL, sensitive=["γ", "δ"])
    task, cut = cut_of(data, PROMISE, {"a": [], "b": []})
    assert [task.hierarchy.label(entry) for entry in cut.suppressed] == ["γ"]
    assert [(task.hierarchy.label(node), pnig) for node, pnig in cut.splits] == [("ALL", 2 * 4)]
    assert vs.anonymize(data, PROMISE, taxonomy={"a": [], "b": []}, as_published=True).suppressed == ("γ",)


def of_table_1(*keep: str) -> Question:
    return Question(TABLE_1, PROMISE, golden.TABLE_1_TREE, {"weights": None, "sensitive_weight": 1}, set(keep))


@MANY
@example(of_table_1())
@given(questions())
def test_plain_suppress_is_suppress_control(question):
    data, promise, _, weighing, keep = question
    rows, options = as_sets(data), {**weighing, "keep": keep, "as_published": True, "limits": Limits()}
    try:
        gone = rho_twins.suppress_control(
            rows, data.sensitive, promise.rho, cost=question.cost, fixed=keep, order=data.names
        )
    except rho_twins.Stuck:
        with refused(vs.Infeasible, "promise"):
            suppress(data, promise, **options)
        return
    release = suppress(data, promise, **options)
    assert release.suppressed == data.in_order(gone)
    assert not release.generalized
    assert not release.undecided


@MANY
@example(of_table_1("b1"))
@given(questions())
def test_plain_top_down_is_td_control(question):
    data, promise, tree, weighing, keep = question
    options = {**weighing, "keep": keep, "limits": Limits()}
    try:
        twin = twin_of(question, keep)
    except rho_twins.Stuck:
        with refused(vs.Infeasible, "promise"):
            top_down(data, promise, taxonomy=tree, as_published=True, **options)
        return
    release = top_down(data, promise, taxonomy=tree, as_published=True, **options)
    left = {item: node for item, node in twin.cut.items() if node not in twin.suppressed}
    assert release.generalized == {item: node for item, node in left.items() if item != node}
    assert set(release.suppressed) == set(data.names).difference(left, set(data.sensitive).difference(twin.suppressed))


@MANY
@example(of_table_1(), False)
@given(questions(), st.booleans())
def test_td_control_splits_what_its_twin_splits(question, only_sensitive):
    data, promise, tree, weighing, _ = question
    task, cut = cut_of(data, promise, tree, **weighing, only_sensitive=only_sensitive)
    twin = twin_of(question, data.public if only_sensitive else ())
    label, public = task.hierarchy.label, max(1, len(data.public))
    unit = 1 if weighing["weights"] is None else 10**6
    assert [label(entry) for entry in cut.suppressed] == twin.suppressed
    assert [(label(node), Fraction(pnig, public * unit)) for node, pnig in cut.splits] == twin.splits
    assert not only_sensitive or task.hierarchy.sensitive[cut.suppressed].all()


def all_ways(question: Question) -> list[vs.Release]:
    data, promise, tree, weighing, _ = question
    ways = [{"as_published": True}, {"exchange": False}, {}]
    found = [suppress(data, promise, **weighing, **way, limits=Limits()) for way in ways]
    return found + [
        top_down(data, promise, taxonomy=taxonomy, **weighing, **way, limits=Limits())
        for taxonomy in (tree, None)
        for way in ways
    ]


@given(questions())
def test_the_promise_is_kept_and_what_is_not_plain_is_maximal(question):
    """By the oracle; and nothing that went could return, unless it is worth nothing."""
    data, promise = question.data, question.promise
    alone = question.loss(vs.anonymize(data, promise, method="remove-sensitive"))
    for release in all_ways(question):
        rows = as_sets(release.custodian_data)
        assert oracles.is_rho_uncertain(rows, data.sensitive, promise.rho), release
        if "as_published" in release.options:
            continue
        assert question.loss(release) <= alone, release
        for item in release.suppressed:
            returned = [
                row | {item} if item in before else row for row, before in zip(rows, as_sets(data), strict=True)
            ]
            assert not question.cost[item] or not oracles.is_rho_uncertain(returned, data.sensitive, promise.rho), item


@FEWER
@given(questions())
def test_releases_are_certified_whatever_the_threads(question):
    data, promise, tree, weighing, _ = question
    for method, options in (("suppress", {}), ("top-down", {"taxonomy": tree})):
        releases = [
            vs.anonymize(data, promise, method=method, **weighing, threads=threads, **options) for threads in (1, 2)
        ]
        assert all(release.certified for release in releases)
        facts = [(r.suppressed, r.generalized, r.stands_for, r.options, r.custodian_data.to_lists()) for r in releases]
        assert facts[0] == facts[1]


@FEWER
@given(questions())
def test_repair_loses_no_more_than_restore(question):
    """Each way begins with the same restore, and goes on only where that gains."""
    data, promise, tree, weighing, _ = question
    less, more = (
        top_down(data, promise, taxonomy=tree, **weighing, exchange=exchange, limits=Limits())
        for exchange in (False, True)
    )
    assert question.loss(more) <= question.loss(less)


@FEWER
@given(questions())
def test_what_must_stay_stays_or_it_is_said(question):
    data, promise, tree, weighing, keep = question
    options = {**weighing, "keep": keep, "limits": Limits()}
    words = r"No solution was found that keeps every required item: '\w+' is lost\.( Items that must be kept .*\.)?"
    for method, more in ((suppress, {}), (top_down, {"taxonomy": tree})):
        try:
            release = method(data, promise, **options, **more)
        except vs.Infeasible as refused:
            assert re.fullmatch(words, refused.what)
            assert keep.intersection(data.sensitive), "Without sensitive items nothing is broken."
            broken = oracles.rho_violations([row & keep for row in as_sets(data)], data.sensitive, promise.rho)
            assert method is top_down or broken, "The kept items alone break nothing."
        else:
            assert keep.isdisjoint(release.suppressed)
            assert oracles.is_rho_uncertain(as_sets(release.custodian_data), data.sensitive, promise.rho)


def test_four_items_that_must_stay_and_break_the_promise():
    """Three are known: a, b and c give s away, and no two of them do."""
    rows = [["a", "b", "c", "s"], *([["a", "b"], ["a", "c"], ["b", "c"]] * 2)]
    data = Transactions.from_lists(rows, sensitive=["s"])
    with refused(vs.Infeasible, "'a' + 'b' + 'c'", "'s'"):
        suppress(data, vs.RhoUncertainty(rho="1/2"), keep=data.names, as_published=True, limits=Limits())
    with refused(vs.Infeasible, "kept"):
        suppress(data, vs.RhoUncertainty(rho="1/2"), keep=data.names, limits=Limits())
