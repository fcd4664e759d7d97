"""`Transactions` beside a list of Python sets: whatever is done to both, they stay equal. And exact round trips."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from veilset.transactions import Transactions, read

# Any text a file can hold; blanks, quotes, delimiters and line ends come often.
COMMON = st.sampled_from(' \t",;\n\r\ufeff-01a')
OTHERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
NAMES = st.text(COMMON | OTHERS, min_size=1, max_size=12)
ROWS = st.lists(st.lists(NAMES, max_size=5), min_size=1, max_size=8)


def through_a_file(data: Transactions, name: str, **options: object) -> Transactions:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        data.write(path, **options)
        told = options if "long" in options else {"format": "basket", **options}  # some baskets look like a table
        return read(path, sensitive=data.sensitive, **told)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("a.csv", {}),
        ("a.tsv", {}),
        ("a.csv.gz", {}),
        ("a.csv", {"delimiter": " "}),
        ("a.csv", {"delimiter": "-"}),
        ("a.csv", {"long": ("id", "item")}),
        ("a.tsv.gz", {"long": (' "the" id\t', "\ufeffitem")}),
        ("a", {"format": "basket", "delimiter": "\t"}),
    ],
)
@given(rows=ROWS)
@example(rows=[["\ufeffa"]])
@example(rows=[[], ["a"], []])
@example(rows=[["12345678", "123456789", "12345678\n"]])
def test_names_survive_a_file(rows: list[list[str]], name: str, options: dict[str, object]) -> None:
    data = Transactions.from_lists(rows)
    assert through_a_file(data, name, **options) == data
    assert [set(row) for row in data] == [set(row) for row in rows]


@given(rows=ROWS, owners=st.lists(NAMES, min_size=8, max_size=8, unique=True))
def test_rows_survive_arrow_and_lists(rows: list[list[str]], owners: list[str]) -> None:
    data = Transactions.from_lists(rows, persons=owners[: len(rows)])
    assert read(data.to_arrow(), person="person") == data
    assert read(pa.array(rows, pa.list_(pa.string()))) == data.anonymous()
    assert Transactions.from_lists(data.to_lists(), persons=data.persons) == data


@given(rows=ROWS)
def test_equal_data_gives_equal_bytes(rows: list[list[str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder) / "a.csv.gz", Path(folder) / "b.csv.gz"
        Transactions.from_lists(rows).write(first)
        Transactions.from_lists([row[::-1] * 2 for row in rows]).write(second)
        assert first.read_bytes() == second.read_bytes()


def expected_order(names: set[str]) -> list[str]:
    try:
        return sorted(names, key=lambda name: (int(name), name))
    except ValueError:
        return sorted(names)


class Beside(RuleBasedStateMachine):
    """The model: `sets`, one a transaction, and the names of the sensitive items."""

    few = st.sampled_from(["a", "b", "ä", "10", "9", "-3", "07", "7"])

    @initialize(rows=st.lists(st.lists(few, max_size=6), max_size=8), chosen=st.sets(few, max_size=3))
    def start(self, rows: list[list[str]], chosen: set[str]) -> None:
        self.sets = [set(row) for row in rows]
        self.sensitive = chosen & self.there()
        self.data = Transactions.from_lists(rows, sensitive=self.sensitive)

    def there(self) -> set[str]:
        return set().union(*self.sets)

    @rule(items=st.data())
    def without(self, items: st.DataObject) -> None:
        dropped = items.draw(st.sets(st.sampled_from(sorted(self.there())))) if self.there() else set()
        self.data = self.data.without(dropped)
        self.sets = [row - dropped for row in self.sets]

    @rule(items=st.data())
    def only(self, items: st.DataObject) -> None:
        kept = self.there() - (items.draw(st.sets(self.few, max_size=2)))
        self.data = self.data.only(kept)
        self.sets = [row & kept for row in self.sets]

    @precondition(lambda self: self.there())
    @rule(choice=st.data(), new=st.sampled_from(["a", "b", "c", "8", "07", "008"]))
    def renamed(self, choice: st.DataObject, new: str) -> None:
        # Items of one role only, or the change is refused (tested elsewhere).
        old = choice.draw(st.sampled_from(sorted(self.there())))
        if new in self.there() and (new in self.sensitive) != (old in self.sensitive):
            return
        self.data = self.data.renamed({old: new})
        self.sets = [{new if item == old else item for item in row} for row in self.sets]
        if old in self.sensitive:
            self.sensitive = (self.sensitive - {old}) | {new}

    @rule(choice=st.data())
    def take(self, choice: st.DataObject) -> None:
        rows = choice.draw(st.lists(st.sampled_from(range(len(self.sets))), max_size=10)) if self.sets else []
        self.data = self.data.take(np.array(rows, dtype=np.int64))
        self.sets = [self.sets[row] for row in rows]

    @precondition(lambda self: self.sets)
    @rule(name=st.sampled_from(["a.csv", "a.tsv.gz"]))
    def write_and_read(self, name: str) -> None:
        self.data = through_a_file(self.data, name)

    @precondition(lambda self: self.sets)
    @rule()
    def through_arrow(self) -> None:
        self.data = read(self.data.to_arrow(), sensitive=self.data.sensitive)

    @invariant()
    def equal(self) -> None:
        self.sensitive &= self.there()
        data = self.data
        assert [set(row) for row in data] == self.sets
        assert list(data.names) == expected_order(self.there())
        assert set(data.sensitive) == self.sensitive
        assert data.supports.tolist() == [sum(name in row for row in self.sets) for name in data.names]
        for row in range(len(data)):
            codes = data.items[data.offsets[row] : data.offsets[row + 1]]
            assert (np.diff(codes) > 0).all()
        assert data == Transactions.from_lists(self.sets, sensitive=self.sensitive)


TestBeside = Beside.TestCase
