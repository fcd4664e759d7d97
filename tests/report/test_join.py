"""What is said about a tree over a join: on the page, on a card, on a terminal and as JSON."""

import dataclasses
import datetime
import json
import re

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.joined_shop import shop_training
from tests.support.shop import NASTY
from tests.support.texts import check_accessible, check_escaped, page_text, screen_text
from veilset.joins import Accuracy, CrossValidation, JoinClassifier, LinkedTables, Node, Sharing, Split, Tree, evaluate
from veilset.limits import Limits
from veilset.report import Training, join_report, print_matches, print_training, training_facts, tree_facts
from veilset.report.join import cut_sentence, folds_sentence, verdict_sentences
from veilset.report.join_tree import MOST_NODES, OTHERS, paint


@pytest.fixture(scope="module")
def training():
    return shop_training(prune=None)


def alone(table, **options):
    """A training on one table."""
    fitted = JoinClassifier(prune=None, **options).fit({"T": table}, target="T.Class")
    return Training(fitted, {"T": table.num_rows}, evaluate(fitted, {"T": table}, folds=0))


def test_what_the_page_says(training, snapshot):
    assert page_text(join_report(training)) == snapshot


def test_what_the_terminal_says(training, snapshot):
    assert screen_text(print_training, training) == snapshot
    assert screen_text(print_matches, training.rows, training.classifier.matches_, "exact", ["a note"]) == snapshot


def test_the_page_is_self_contained_and_accessible(training):
    page = join_report(training)
    assert page.startswith("<!doctype html>")
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in page
    assert "http" not in page.replace("http-equiv", "")
    assert "<script" not in page
    check_accessible(page, charts=len(training.classifier.tree_))
    check_nested(page)


def check_nested(page):
    """Each list, item and fold ends within that in which it begins."""
    ahead = []
    for slash, tag in re.findall(r"<(/?)(ul|li|details|summary|section|div)\b", page):
        if slash:
            assert ahead.pop() == tag
        else:
            ahead.append(tag)
    assert ahead == []


def test_one_table_and_no_folds(snapshot):
    training = alone(pa.table({"x": [1, 2, 3], "Class": ["a", "b", "b"]}))
    assert page_text(join_report(training)) == snapshot
    assert screen_text(print_training, training) == snapshot


def test_a_tree_that_asks_nothing(snapshot):
    training = alone(pa.table({"Class": ["a", "b", "b"]}))
    assert page_text(join_report(training)) == snapshot
    assert screen_text(print_training, training) == snapshot


def test_joins_of_many_rows():
    copies = {f"T{number}": pa.table({"k": ["a"] * 1000}) for number in range(10)}
    tables = {"people": pa.table({"k": ["a", "a"], "x": [1, 2], "rich": ["yes", "no"]}), **copies}
    fitted = JoinClassifier().fit(tables, joins=[f"people.k = {name}.k" for name in copies], target="people.rich")
    sizes = {name: table.num_rows for name, table in tables.items()}
    training = Training(fitted, sizes, evaluate(fitted, tables, folds=0))
    text = page_text(join_report(training))
    assert "about 2.00 × 10^30 rows" in text
    assert "2.0 × 10^30" in text
    screen_text(print_training, training)
    assert json.loads(json.dumps(training_facts(training)))["joined_rows"] == 2 * 10**30


def test_names_are_escaped():
    table = pa.table({NASTY: [NASTY, "b", "c"], "Class": [NASTY, "x", "y"]})
    fitted = JoinClassifier(prune=None).fit({NASTY: table}, target=f"{NASTY}.Class")
    training = Training(fitted, {NASTY: 3}, evaluate(fitted, {NASTY: table}, folds=0), notes=(NASTY,))
    check_escaped(join_report(training))
    check_escaped(fitted.tree_._repr_html_())
    assert "\x1b" not in screen_text(print_training, training)
    assert "\x1b" not in screen_text(print_matches, {NASTY: 3}, (), "exact", [NASTY])


def test_facts_are_json(training):
    days = [datetime.date(2024, 5, day) for day in (1, 2, 3)]
    for one in (training, alone(pa.table({"x": [float("inf"), 1.5, None], "Class": days}))):
        assert json.loads(json.dumps(training_facts(one), allow_nan=False))
        assert json.loads(json.dumps(tree_facts(one.classifier), allow_nan=False))


def crossed(tree, baseline, better=True):
    return CrossValidation(Accuracy(tree, 0.5), Accuracy(baseline, 0.9), better, 4)


@pytest.mark.parametrize(
    ("tree", "baseline", "better"), [(0.9, 0.5, True), (0.6, 0.5, False), (0.52, 0.52, False), (0.4, 0.5, False)]
)
def test_verdict(tree, baseline, better, training, snapshot):
    told = dataclasses.replace(
        training.evaluation, majority=Accuracy(0.3, 0.3), by_row=crossed(tree, baseline, better), sharing=None
    )
    assert verdict_sentences(dataclasses.replace(training, evaluation=told)) == snapshot


@pytest.mark.parametrize("unseen", [crossed(0.51, 0.5, False), None])
@pytest.mark.parametrize("by_row", [crossed(0.9, 0.5), None])
def test_shared_partners(unseen, by_row, training, snapshot):
    sharing = Sharing("orders", "customers.id = orders.customer", 0.97, 20, unseen)
    told = dataclasses.replace(training.evaluation, by_row=by_row, sharing=sharing)
    training = dataclasses.replace(training, evaluation=told)
    assert [verdict_sentences(training), folds_sentence(training), training.accuracies] == snapshot
    facts = json.loads(json.dumps(training_facts(training)))["evaluation"]
    assert facts["sharing"]["share"] == 0.97
    text, page = screen_text(print_training, training), page_text(join_report(training))
    assert ("unseen orders" in text) == ("unseen orders" in page) == (unseen is not None)


def test_columns_of_unique_texts():
    table = pa.table({"name": [f"n{number}" for number in range(200)], "size": range(200), "Class": ["a", "b"] * 100})
    classifier = JoinClassifier()
    linked = LinkedTables.read({"T": table}, (), (), Limits())
    classifier.fit(linked, target="T.Class")
    unique = tuple(linked.mostly_unique())
    assert unique == (("T.name", 200, 200),)
    training = Training(classifier, {"T": 200}, evaluate(classifier, linked, folds=0), (), unique)
    says = "T.name has 200 different texts in 200 rows."
    assert says in screen_text(print_training, training)
    assert says in page_text(join_report(training))
    assert training_facts(training)["mostly_unique"] == ["T.name"]
    few = LinkedTables.read({"T": table.slice(0, 100)}, (), (), Limits())
    JoinClassifier().fit(few, target="T.Class")
    assert few.mostly_unique() == []


@pytest.mark.parametrize(
    ("shape", "says"),
    [
        ([True], ""),
        ([True] * 3000, "The 999 nodes with the most joined rows are shown;"),
        ([True, *[True, False] * 100], "The 121 nodes with the most joined rows among those to depth 60 are shown;"),
    ],
)
def test_which_nodes_are_shown(shape, says):
    tree = grown(shape)
    assert cut_sentence(paint(tree, ["a", "b"]), tree.depth) == says


def grown(shape, classes=2):
    """A tree whose nodes have two children where the shape, a list of bits, says so, level by level."""
    root = Node((0,) * classes)
    level, order = [root], []
    bits = iter(shape)
    while level:
        below = []
        for node in level:
            order.append(node)
            if next(bits, False):
                node.split = Split("ab"[len(order) % 2], "x", "number", len(order))
                node.children = (Node((), node.depth + 1), Node((), node.depth + 1))
                below += node.children
        level = below
    for place, node in enumerate(reversed(order)):
        inner = tuple(map(sum, zip(*(child.counts for child in node.children), strict=True)))
        node.counts = inner or tuple(1 + (place + at) % 5 for at in range(classes))
    return Tree(tuple(f"C{at}" for at in range(classes)), root)


def page_of(tree):
    return tree._repr_html_()


@given(st.lists(st.booleans(), max_size=200), st.integers(1, 60), st.integers(1, 20), st.integers(1, 9))
@examples(200)
def test_every_node_is_drawn_or_counted(shape, most, unfolded, classes):
    tree = grown(shape, classes)
    painted = paint(tree, ["a", "b"], most, unfolded)
    assert painted.nodes == len(tree)
    assert len(painted.steps) == painted.drawn <= max(1, most)
    assert painted.drawn + sum(step.hidden for step in painted.steps) == len(tree)
    assert sum(step.closes for step in painted.steps) == sum(step.has_children for step in painted.steps)
    assert 2 * sum(step.is_open for step in painted.steps) <= max(0, unfolded - 1)
    for step in painted.steps:
        assert sum(part.share for part in step.bar) == pytest.approx(1)
        assert {part.colour for part in step.bar} <= {*range(min(classes, OTHERS)), OTHERS}
    check_nested(page_of(tree))


def test_large_trees_are_folded_and_cut():
    tree = grown([True] * 3000)
    painted = paint(tree, ["a", "b"])
    assert MOST_NODES - 1 <= painted.drawn <= MOST_NODES
    assert 0 < sum(step.is_open for step in painted.steps) <= 15
    drawn = [step for step in painted.steps if step.hidden]
    assert len(page_of(tree)) < 200_000
    assert drawn


def test_deep_trees():
    """Deeper than Python calls and than browsers nest."""
    tree = grown([True, *[True, False] * 3000])
    assert tree.depth > 2000
    painted = paint(tree, ["a", "b"])
    assert painted.drawn < MOST_NODES
    assert painted.drawn + sum(step.hidden for step in painted.steps) == len(tree)
    check_nested(page_of(tree))


def test_all_but_few_classes_share_a_colour():
    painted = paint(grown([True], 9), ["a", "b"])
    assert [part.colour for part in painted.classes] == [0, 1, 2, 3, 4, OTHERS]
    assert painted.classes[-1].name == "other classes"


def test_floats_are_rounded():
    tree = Tree(
        ("a", "b"),
        Node((1, 1), 0, Split("T", "x", "number", 1.9602583164499647), 1.0, (Node((1, 0), 1), Node((0, 1), 1))),
    )
    first = paint(tree, ["T"]).steps[0]
    assert (first.asks, first.exactly) == ("x ≤ 1.96026", "T.x ≤ 1.9602583164499647")


def test_card(training, snapshot):
    card = training.classifier.tree_._repr_html_()
    assert page_text(card) == snapshot
    assert "<script" not in card
    check_nested(card)
