"""What is said about mined itemsets: which come first, the sentences, the tables."""

from __future__ import annotations

import json
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.errors import names
from tests.support.shop import NASTY
from tests.support.texts import screen_text
from veilset import report
from veilset.report import COLUMNS, Asked, Mined, Tally
from veilset.report.mined import found_sentence, notes, sizes_sentence, sureness
from veilset.transactions import Transactions

NAMES = ["10", "9", "a", "b", "c"]  # by code point, since not all are integers
DATA = Transactions.from_lists([NAMES] * 8, sensitive=["c"])
PLACE = {name: place for place, name in enumerate(DATA.names)}

ITEMSETS = st.sets(st.sampled_from(NAMES), min_size=1).map(lambda names: sorted(names, key=PLACE.__getitem__))


def tallied(asked: Asked, rows: list[dict], top: int, pieces: int) -> Mined:
    tally = Tally(DATA, asked, top=top)
    table = pa.Table.from_pylist(rows, COLUMNS[asked.kind])
    for start in range(0, len(rows), pieces):
        tally.add(table.slice(start, pieces))
    return tally.result()


@given(st.lists(st.tuples(ITEMSETS, st.integers(1, 3)), max_size=40), st.integers(0, 12), st.integers(1, 9))
def test_the_most_frequent_come_first(found, top, pieces):
    rows = [{"items": items, "support": support} for items, support in found]
    mined = tallied(Asked("all"), rows, top, pieces)
    assert (
        mined.first
        == sorted(rows, key=lambda row: (-row["support"], len(row["items"]), [PLACE[name] for name in row["items"]]))[
            :top
        ]
    )
    assert mined.found == len(rows)
    counted = [sum(len(items) == size for items, _ in found) for size in range(1, 6)]
    while counted and not counted[-1]:
        counted.pop()
    assert mined.by_size == tuple(counted)


@given(
    st.lists(st.tuples(ITEMSETS, st.integers(1, 6), st.integers(0, 6)), max_size=40),
    st.integers(1, 12),
    st.integers(1, 9),
)
def test_the_most_severe_come_first(found, top, pieces):
    """Severity as the auditor has it: by how many times the limit is exceeded."""
    k, h = 3, Fraction(2, 3)
    rows = [
        {"items": items, "support": support, "breach": float(Fraction(min(held, support), support)), "sensitive": "c"}
        for items, support, held in found
    ]

    def severity(row: dict) -> Fraction:
        return Fraction(k, row["support"]) if row["support"] < k else sureness(row, len(DATA)) / h

    mined = tallied(Asked("rare", k=k, h=h), rows, top, pieces)
    by_severity = sorted(
        rows, key=lambda row: (-severity(row), len(row["items"]), [PLACE[name] for name in row["items"]])
    )
    assert [(r["items"], r["support"], severity(r)) for r in mined.first] == [
        (r["items"], r["support"], severity(r)) for r in by_severity[:top]
    ]


@given(
    st.lists(
        st.tuples(ITEMSETS, st.sampled_from(NAMES), st.integers(1, 4), st.integers(0, 3)),
        unique_by=lambda rule: (tuple(rule[0]), rule[1]),
    ),
    st.integers(1, 12),
    st.integers(1, 9),
)
def test_the_surest_come_first(found, top, pieces):
    rows = [
        {
            "antecedent": names,
            "consequent": name,
            "support": support,
            "antecedent_support": support + more,
            "confidence": support / (support + more),
            "lift": 1.0,
        }
        for names, name, support, more in found
    ]
    mined = tallied(Asked("rules"), rows, top, pieces)
    assert (
        mined.first
        == sorted(
            rows,
            key=lambda row: (
                -sureness(row, len(DATA)),
                -row["support"],
                len(row["antecedent"]),
                [PLACE[name] for name in row["antecedent"]],
                PLACE[row["consequent"]],
            ),
        )[:top]
    )
    assert sum(mined.by_size) == mined.found == len(rows)
    assert not rows or mined.by_size[0] == 0  # a rule has two items or more


@pytest.mark.parametrize(
    ("asked", "found", "values"),
    [
        (Asked("all", 2), 7, (7, 2, 8, "25%")),
        (Asked("all", 2), 1, (1, 2, 8, "25%")),
        (Asked("closed", 8, min_size=2), 1, (1, 2, 8, "100%")),
        (Asked("maximal", 1, max_size=1), 2, (2, 1, 8, "12.5%")),
        (Asked("count", 1, 2, 3), 2**90, ("1.24 × 10^27", 2, 3, 1, 8, "12.5%")),
        (Asked("all", 9, max_size=2), 0, (2, 9, 8, "'10'")),
        (Asked("all", 2, min_size=6), 0, (6, 2, 8, "25%")),
        (Asked("rare", k=3, h=Fraction(2, 5)), 2, (2, 3, 8, "40%")),
        (Asked("rare", k=3, max_size=2), 1, (1, 2, 3, 8)),
        (Asked("rare", k=3, h=Fraction(1, 2), max_size=1), 0, (1, 3, 8, "50%")),
        (Asked("rules", 4, min_confidence=Fraction(2, 3)), 2, (2, 4, 8, "50%", "66.7%")),
        (Asked("rules", 1, min_confidence=Fraction(1)), 0, (1, 8, "12.5%", "100%")),
    ],
    ids=[
        *("frequent", "one", "closed", "maximal", "counted", "too often", "too large"),
        *("rare", "rare without h", "nothing rare", "rules", "no rule"),
    ],
)
def test_sentences(asked, found, values, snapshot):
    sentence = found_sentence(Mined(DATA, asked, found))
    assert [value for value in values if not names(sentence, value)] == []
    assert sentence == snapshot


def test_notes_say_what_may_be_overlooked():
    public = Transactions.from_lists([["a"]])
    half = Fraction(1, 2)
    assert "--h 0.4" in notes(Mined(DATA, Asked("rare", k=2), 0))[0]
    assert "--sensitive" in notes(Mined(public, Asked("rare", k=2, h=half), 0))[0]
    assert not notes(Mined(DATA, Asked("rare", k=2, h=half), 0))
    assert not notes(Mined(public, Asked("rare", k=2), 0))
    assert not notes(Mined(DATA, Asked("all"), 0))


def test_sizes_are_told_where_there_are_any(snapshot):
    assert sizes_sentence(Mined(DATA, Asked("all"), 4, (3, 0, 1))) == snapshot
    assert sizes_sentence(Mined(DATA, Asked("all"), 0)) == ""


def test_names_in_tables_are_text(snapshot):
    """Neither markup nor an escape in a name has an effect; a long itemset is shortened, a sensitive item marked."""
    items = [NASTY, *(f"i{number}" for number in range(9))]
    data = Transactions.from_lists([items] * 3, sensitive=[NASTY])
    itemset = {"items": items, "support": 3}
    rule = {"antecedent": ["i0"], "consequent": NASTY, "support": 3, "antecedent_support": 3, "lift": 1.0}
    mole = {"items": ["i0", "i1"], "support": 3, "breach": 2 / 3, "sensitive": NASTY}
    for mined in (
        Mined(data, Asked("all"), 2, (1, 0, 1), [itemset]),
        Mined(data, Asked("rules"), 1, (0, 1), [{**rule, "confidence": 1.0}]),
        Mined(data, Asked("rare", k=4), 1, (0, 1), [mole]),
    ):
        text = screen_text(report.print_mined, mined)
        assert "[red]" in text
        assert "\x1b" not in text
        assert text == snapshot


def test_facts_survive_json():
    mole = {"items": ["a"], "support": 3, "breach": 2 / 3, "sensitive": "c"}
    facts = report.mined_facts(Mined(DATA, Asked("rare", k=4, h=Fraction(1, 3)), 1, (1,), [mole]))
    assert json.loads(json.dumps(facts)) == facts
    assert facts["itemsets"][0]["breach"] == {"exact": "2/3", "value": 2 / 3}
    assert (facts["k"], facts["h"]["exact"]) == (4, "1/3")
