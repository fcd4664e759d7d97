"""Objects show themselves in a few lines and on cards, without a secret; what is a table is one to others."""

import re

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import veilset as vs
from veilset import mining
from veilset.testing.strategies import coherence_promises, transactions
from veilset.views import Summary

ROWS = [["ale", "bun", "cure"], ["ale", "bun"], ["ale", "fig"], ["ale", "bun"], ["bun"], ["ale"], []]
DATA = vs.Transactions.from_lists(ROWS, sensitive=["cure"])
SECRETS = ["tea", "milk"]


def check_short(*shown: object) -> None:
    for one in shown:
        lines = repr(one).splitlines()
        assert 1 <= len(lines) <= 10, type(one)
        assert max(map(len, lines)) <= 160, type(one)
        assert "".join(lines).isprintable(), type(one)


@given(transactions(), coherence_promises())
def test_any_release_is_short(data, promise):
    try:
        release = vs.anonymize(data, promise, allow_sensitive=True, drop_empty=True)
    except vs.Infeasible:
        return
    check_short(data, release, release.audit, release.custodian_data, vs.audit(data, promise))


@pytest.mark.parametrize(
    ("promise", "told"),
    [
        (
            vs.Coherence(h="1/2", k=3, p=2),
            {"method": "generalize", "taxonomy": {"ale": ["A"], "bun": ["A"], "fig": ["A"]}},
        ),
        (vs.RhoUncertainty(rho="1/2"), {"method": "select-a-size"}),
        (vs.RhoUncertainty(rho="1/2"), {}),
        (vs.HiddenRules([("ale", "bun")], min_support=1, min_confidence="1/2"), {}),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_releases_of_other_methods_are_short(promise, told):
    release = vs.anonymize(DATA, promise, **told)
    check_short(release, release.audit)
    assert repr(release).startswith("<Release: ")


def test_a_release_in_buckets_counts_them():
    data = vs.Transactions.from_lists([["ale", "figs"], ["bun", "gin"]] * 4)
    release = vs.anonymize(data, vs.LDiverseAnatomy(2), columns=[["ale", "bun"], ["figs", "gin"]])
    check_short(release, release.audit)
    assert "2 columns, 4 buckets" in repr(release)


@given(st.lists(st.lists(st.text("a\x1b\u2028\u202e é<", max_size=300).map("x{}".format), max_size=40), max_size=20))
def test_whatever_items_are_called(rows):
    data = vs.Transactions.from_lists([[f"{name}x" for name in row] for row in rows])
    check_short(data, mining.frequent(data, 1, max_size=2), mining.minimal_rare(data, 2, max_size=2))
    check_short(mining.rules(data, 1, "1/2", max_size=2), vs.audit(data, vs.Coherence(k=2, p=1)))


@given(st.lists(st.text()), st.lists(st.tuples(st.text(), st.text())), st.integers(0, 10**9), st.text())
def test_any_summary_is_short(notes, rows, more, says):
    summary = Summary("Thing", says, facts=[(1, "fact(s)")], notes=notes, head=("a", "b"), rows=rows, count=more)
    lines = str(summary).splitlines()
    assert len(lines) <= 10
    assert max(map(len, lines)) <= 160


def test_a_release_says_what_became_of_it(snapshot):
    assert repr(vs.anonymize(DATA, vs.Coherence(h="1/2", k=2, p=2))) == snapshot


def test_what_an_uncertified_release_lacks(snapshot):
    release = vs.anonymize(DATA, vs.RhoUncertainty(rho=0.5), method="select-a-size", random_state=1)
    assert repr(release).splitlines()[0] == snapshot


@pytest.fixture(scope="module")
def secret(tmp_path_factory) -> list[object]:
    data = vs.Transactions.from_lists([SECRETS] * 5 + [["tea"], ["milk"], ["rye"]])
    promise = vs.HiddenPatterns([SECRETS], min_support=3)
    release = vs.anonymize(data, promise)
    bundle = vs.publish(release, tmp_path_factory.mktemp("hidden") / "out")
    return [release, release.audit, vs.audit(data, promise), bundle, bundle.verification]


def test_no_secret_is_shown(secret):
    """What a notebook or a log keeps may be seen by others."""
    check_short(*secret)
    for one in secret:
        assert not any(name in text for name in SECRETS for text in (repr(one), one._repr_html_()))


def shown_objects() -> list[object]:
    odd = "<script>alert('x')</script> & \"q\""
    data = vs.Transactions.from_lists([[odd, "b"], [odd, "b"], ["b", "c"], [odd]], sensitive=["c"])
    promise = vs.Coherence(h="1/2", k=2, p=2)
    release = vs.anonymize(data, promise)
    tree = vs.Taxonomy.from_paths({odd: ["<b>"], "b": ["<b>"]})
    return [data, release, vs.audit(data, promise), tree, mining.frequent(data, 1), mining.minimal_rare(data, 2)]


@pytest.mark.parametrize("one", shown_objects(), ids=lambda one: type(one).__name__)
def test_a_card_is_self_contained_and_escaped(one):
    html = one._repr_html_()
    assert "<script" not in html and "<b>" not in html
    assert not re.search(r"https?:|url\(|src=|href=|@import", html)
    assert "prefers-color-scheme: dark" in html
    style = re.search(r"<style>(.*)</style>", html, re.DOTALL)[1]
    assert outermost(style) <= {".veilset", "@media screen and (prefers-color-scheme: dark)"}


def outermost(style: str) -> set[str]:
    """The selectors that are in no other rule."""
    found, depth, start = set(), 0, 0
    for at, letter in enumerate(style):
        if letter == "{":
            found |= {style[start:at].strip()} if depth == 0 else set()
            depth += 1
        elif letter == "}":
            depth, start = depth - 1, at + 1
    return found


def tables() -> list[object]:
    rules = mining.rules(DATA, 1, "1/2")
    return [DATA, mining.frequent(DATA, 1), mining.minimal_rare(DATA, 2), rules]


@pytest.mark.parametrize("table", tables(), ids=lambda table: type(table).__name__)
def test_other_libraries_take_what_is_a_table(table):
    assert pa.table(table).equals(table.to_arrow())
    assert len(pa.table(table)) == len(table) > 0


@pytest.mark.parametrize(
    ("content", "notes"),
    [
        ("a,b\n\na,b\n", ["1 transaction is empty; it counts as a person."]),
        ("a,b\n\n\na,b\n", ["2 transactions are empty; they count as people."]),
        ("a,,b\na,b\n", ["1 empty field between delimiters was skipped."]),
        ("a,,b\na,,b\n", ["2 empty fields between delimiters were skipped."]),
    ],
)
def test_one_is_not_many(content, notes, tmp_path):
    (tmp_path / "baskets.csv").write_text(content)
    assert list(vs.read(tmp_path / "baskets.csv").source.notes) == notes


def test_an_audit_of_one_transaction():
    audit = vs.audit(vs.Transactions.from_lists([["a"]]), vs.Coherence(k=1, p=1))
    assert " on 1 transaction " in str(audit)
    assert " on 1 transaction>" in repr(audit)
