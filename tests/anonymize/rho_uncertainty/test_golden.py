"""The examples of the ρ-uncertainty paper, and what its algorithms promise, shown on their literal versions."""

from collections.abc import Sequence
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from tests.support import golden
from tests.support.rho_twins import (
    Row,
    avg_loss,
    is_rho_uncertain,
    item_supports,
    parents_in,
    released,
    restore,
    rules_of_size,
    simple,
    suppress_control,
    td_control,
    violating_rules,
)
from veilset.testing import strategies

RHO = golden.RHO
ITEMS = ["a1", "a2", "b1", "b2", "α", "γ"]
TREE = golden.TABLE_1_TREE


def sets(rows: Sequence[Sequence[str]]) -> list[Row]:
    return list(map(frozenset, rows))


TABLE_1 = sets(golden.TABLE_1)
SENSITIVE = golden.TABLE_1_SENSITIVE


def test_table_1_breaks_in_23_ways():
    broken = violating_rules(TABLE_1, SENSITIVE, RHO)
    assert len(broken) == 23
    assert {("".join(x), item) for x, item in broken if len(x) == 1} == {("α", "γ"), ("b1", "γ"), ("b1", "α")}
    assert {item for x, item in broken if not x} == set()  # 3/5 of all have γ
    assert rules_of_size(TABLE_1, SENSITIVE, 2)[frozenset({"a1", "b2"}), "γ"] == (2, 3)


def test_the_table_breaks_at_its_exact_confidence():
    """Exactly ρ is too much: a1 b2 -> γ has 2/3."""
    left = sets(golden.TABLE_3)
    assert violating_rules(left, SENSITIVE, Fraction(2, 3)) == {
        (frozenset({"a1"}), "γ"): Fraction(2, 3),
        (frozenset({"a1", "b2"}), "γ"): Fraction(2, 3),
    }
    assert is_rho_uncertain(left, SENSITIVE, Fraction(67, 100))


def test_items_that_cost_nothing_go_first_and_dear_ones_last():
    assert suppress_control(TABLE_1, SENSITIVE, RHO, order=ITEMS) == ["b1", "α"], "Example A.1."
    free = suppress_control(TABLE_1, SENSITIVE, RHO, cost=item_supports(TABLE_1) | {"α": 0}, order=ITEMS)
    assert free == ["α", "b1"]
    dear = suppress_control(TABLE_1, SENSITIVE, RHO, cost=item_supports(TABLE_1) | {"b1": 9}, order=ITEMS)
    assert dear == ["α", "γ"]


def test_equal_payoffs_go_by_the_order():
    rows = sets([["x", "y"], ["x", "y"], ["z"], ["z"], ["z"]])
    for order in (["x", "y", "z"], ["y", "x", "z"]):
        assert suppress_control(rows, ["x", "y"], Fraction(1, 2), order=order) == order[:1]


def test_only_rules_with_a_required_item_count():
    """α -> γ stays; so does what an attacker infers who knows nothing."""
    assert suppress_control(TABLE_1, SENSITIVE, RHO, required=["b1"], order=ITEMS) == ["b1"]
    assert suppress_control(sets([["s"], ["b1"]]), ["s"], Fraction(1, 2), required=["b1"], order=["b1", "s"]) == []


def test_round_0_counts_the_empty_rows():
    """Half of all rows hold s: too many at ρ = 1/2, although no rule with a non-empty antecedent exists."""
    rows = sets([["s"], ["s"], [], ["a"]])
    assert suppress_control(rows, ["s"], Fraction(1, 2), order=["a", "s"]) == ["s"]
    assert suppress_control([*rows, frozenset()], ["s"], Fraction(1, 2), order=["a", "s"]) == []
    assert td_control([*rows, frozenset()], ["s"], Fraction(1, 2), {"a": "ALL"}, ["a", "s"]).suppressed == []


def test_example_3_1_loses_two_sevenths():
    rows = sets(golden.EXAMPLE_3_1)
    cut = {"fish": "meat", "beef": "meat"}
    assert avg_loss(rows, golden.EXAMPLE_3_1_SENSITIVE, cut, ["viagra"]) == Fraction(2, 7)
    assert avg_loss(rows, golden.EXAMPLE_3_1_SENSITIVE, {}, simple(rows, ["viagra", "absent"])) == Fraction(1, 7)
    assert avg_loss([], [], {}, []) == 0


def test_figure_16_becomes_worse_by_generalizing():
    rows = sets(golden.FIGURE_16)
    confidences = {
        x: Fraction(*supports) for size in (1, 2) for (x, _), supports in rules_of_size(rows, "α", size).items()
    }
    third, half = Fraction(2, 3), Fraction(1, 2)
    assert confidences == {frozenset({"a1"}): third, frozenset({"a2"}): third, frozenset({"a1", "a2"}): half}
    coarser = released(rows, {"a1": "A", "a2": "A"}, [])
    assert violating_rules(coarser, "α", Fraction(3, 4)) == {
        (frozenset(), "α"): Fraction(3, 4),
        (frozenset({"A"}), "α"): Fraction(3, 4),
    }


def test_everything_at_all_is_mended_before_the_loop():
    rows = sets(golden.UNSAFE_AT_ALL)
    at_all = released(rows, {"a": "ALL", "b": "ALL"}, [])
    assert violating_rules(at_all, "γδ", RHO) == {(frozenset({"ALL"}), "γ"): Fraction(3, 4)}
    done = td_control(rows, "γδ", RHO, {"a": "ALL", "b": "ALL"}, ["a", "b", "γ", "δ"])
    assert (done.suppressed, done.splits) == (["γ"], [("ALL", Fraction(4))])


def test_a_node_is_suppressed_with_all_its_leaves():
    """G -> s has 3/4; G costs half of 8, s 7. Without x, y could return: but G is out of the tree."""
    rows = sets([["x", "s"], ["y", "s"]] * 3 + [["y"], ["u", "v"], ["u"]] * 2 + [["v", "s"], ["v"]])
    tree = parents_in({"x": ["G"], "y": ["G"], "u": ["H"], "v": ["H"]})
    done = td_control(rows, ["s"], Fraction(3, 4), tree, ["s", "u", "v", "x", "y"])
    assert done.suppressed == ["G"]
    assert done.cut == {"x": "G", "y": "G", "u": "u", "v": "v"}
    assert done.splits == [("ALL", Fraction(4)), ("H", Fraction(4))]


def test_a_cost_counts_all_rows_not_those_below_the_node():
    """a1 -> s has 1/2; a1 costs 2 and s 3, although s is in one row of trans(A)."""
    rows = sets([["a1", "s"], ["a1"], ["b1", "s"], ["b2", "s"]] + [["a2"], ["a2"], ["b1"], ["b2"]] * 3)
    done = td_control(rows, ["s"], Fraction(1, 2), parents_in(TREE), ["a1", "a2", "b1", "b2", "s"])
    assert done.suppressed == ["a1"]
    assert done.splits == [("ALL", Fraction(8)), ("B", Fraction(4)), ("A", Fraction(2))]


def test_equal_payoffs_of_a_leaf_and_a_sensitive_item_go_by_the_order():
    rows = sets([["a1", "s"], ["a1"], ["b1", "s"], *([["a2"], ["a2"], ["b1"], ["b2"]] * 3)])
    for order in (["a1", "a2", "b1", "b2", "s"], ["s", "a1", "a2", "b1", "b2"]):
        assert td_control(rows, ["s"], Fraction(1, 2), parents_in(TREE), order).suppressed == order[:1]


def test_a_split_that_gains_nothing_is_not_made():
    """With b1 fixed, γ is the only way to split B, and here it is worth just what that gains."""
    cost = item_supports(TABLE_1) | {"γ": Fraction("2.5")}
    done = td_control(TABLE_1, SENSITIVE, RHO, parents_in(TREE), ITEMS, cost=cost, fixed=["b1"])
    assert (done.suppressed, [node for node, _ in done.splits]) == (["α"], ["ALL", "A"])


def test_equal_gains_go_by_the_first_leaf():
    rows = sets([["a1"], ["a2"], ["b1"], ["b2"]])
    for order, splits in ((["a2", "b1", "b2", "a1"], ["ALL", "A", "B"]), (["b2", "a1", "a2", "b1"], ["ALL", "B", "A"])):
        done = td_control(rows, [], Fraction(1, 2), parents_in(TREE), order)
        assert [node for node, _ in done.splits] == splits


def test_groups_of_one_are_replaced_by_what_they_hold():
    """As ALL > G > H > {a, b} and c alone in K: G's split would gain nothing, and freeze H."""
    rows = sets([["a"], ["b"], ["c"]])
    tree = parents_in({"a": ["H", "G"], "b": ["H", "G"], "c": ["K"], "absent": ["G"]})
    done = td_control(rows, [], Fraction(1, 2), tree, ["a", "b", "c"])
    assert done.splits == [("ALL", 3 - Fraction(4, 3)), ("H", Fraction(4, 3))]
    assert done.cut == {"a": "a", "b": "b", "c": "c"}
    assert td_control([frozenset("a")], [], Fraction(1, 2), tree, ["a"]).cut == {"a": "a"}


def test_restore_puts_back_what_is_worth_most_and_safe():
    """α and γ cannot both return: α -> γ is certain. γ is worth more."""
    rows = [row - {"b1"} for row in TABLE_1]
    assert restore(rows, SENSITIVE, RHO, SENSITIVE, {"α": 2, "γ": 3}, ITEMS) == ["α"]
    assert restore(rows, SENSITIVE, RHO, SENSITIVE, {"α": 3, "γ": 3}, ITEMS) == ["γ"]


@st.composite
def questions(draw: st.DrawFn) -> tuple[list[Row], list[str], Fraction, dict[str, str], list[str]]:
    """Rows, sensitive items, ρ, the node above each, and an order; the tree has leaves that play no part."""
    data = draw(strategies.transactions(max_public=5))
    groups = st.sampled_from([[], ["G1"], ["G2"], ["G3", "G2"], ["G4", "G2"], ["G5"], ["G6", "G5"]])
    tree = {leaf: draw(groups) for leaf in (*data.public, "absent")}
    order = draw(st.permutations(data.names))
    return sets(data.to_lists()), list(data.sensitive), draw(strategies.shares()), parents_in(tree), order


@given(questions())
def test_suppress_control_ends_rho_uncertain(question):
    rows, sensitive, rho, _, order = question
    gone = suppress_control(rows, sensitive, rho, order=order)
    assert len(gone) == len(set(gone))
    assert is_rho_uncertain(released(rows, {}, gone), sensitive, rho)
    public = set(order).difference(sensitive)
    only = suppress_control(rows, sensitive, rho, fixed=public, order=order)
    assert set(only) <= set(simple(rows, sensitive))
    assert is_rho_uncertain(released(rows, {}, only), sensitive, rho)


@given(questions(), st.booleans())
def test_td_control_ends_rho_uncertain(question, only_sensitive):
    rows, sensitive, rho, parents, order = question
    public = set(order).difference(sensitive)
    done = td_control(rows, sensitive, rho, parents, order, fixed=public if only_sensitive else ())
    assert is_rho_uncertain(released(rows, done.cut, done.suppressed), sensitive, rho)
    assert set(done.cut) == public
    assert all(pnig > 0 for _, pnig in done.splits)
    assert not only_sensitive or set(done.suppressed) <= set(sensitive)


@given(questions())
def test_splits_gain_what_they_say(question):
    """The pnigs account for the whole way from ALL, after the first suppressions, to the end."""
    rows, sensitive, rho, parents, order = question
    done = td_control(rows, sensitive, rho, parents, order)
    public = set(order).difference(sensitive)
    before = done.suppressed[: _gone_before_the_loop(done, rows, sensitive, rho, order)]
    at_all = dict.fromkeys(public, "ALL") if len(public) > 1 else {}
    total = sum(item_supports(rows).values())
    start = avg_loss(rows, sensitive, at_all, before)
    end = avg_loss(rows, sensitive, done.cut, done.suppressed)
    assert (start - end) * total == sum(pnig for _, pnig in done.splits)


def _gone_before_the_loop(done, rows, sensitive, rho, order) -> int:
    """How many items the pre-pass and the test of everything at ALL suppress."""
    alone = suppress_control([row.intersection(sensitive) for row in rows], sensitive, rho, order=order)
    public = set(order).difference(sensitive)
    at_all = released(rows, dict.fromkeys(public, "ALL"), alone)
    more = suppress_control(at_all, sensitive, rho, fixed=["ALL"], required=["ALL"], order=["ALL", *order])
    assert done.suppressed[: len(alone) + len(more)] == alone + more
    return len(alone) + len(more)


@given(questions())
def test_restore_ends_rho_uncertain_and_refuses_nothing_it_need_not(question):
    rows, sensitive, rho, _, order = question
    gone = suppress_control(rows, sensitive, rho, order=order)
    left = restore(rows, gone, rho, sensitive, item_supports(rows), order)
    assert set(left) <= set(gone)
    assert is_rho_uncertain(released(rows, {}, left), sensitive, rho)
    for item in left:
        assert not is_rho_uncertain(released(rows, {}, set(left) - {item}), sensitive, rho)
