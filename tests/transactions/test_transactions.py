"""`Transactions`: making, changing, looking; long files and persons."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from tests.support.errors import refused
from veilset.errors import InvalidArgument, UnreadableInput, VeilsetError
from veilset.transactions import Transactions, read

LONG = ("id", "item")


@pytest.fixture
def data() -> Transactions:
    return Transactions.from_lists(
        [["milk", "beer", "milk"], [], ["insulin", "milk"]], sensitive=["insulin"], persons=["ann", "bob", 3]
    )


@pytest.fixture
def csv(tmp_path: Path):
    def make(text: str) -> Path:
        path = tmp_path / "a.csv"
        path.write_text(text)
        return path

    return make


def test_rows_and_vocabulary_are_canonical(data: Transactions) -> None:
    assert data.names == ("beer", "insulin", "milk")
    assert data.offsets.tolist() == [0, 2, 2, 4]
    assert data.items.tolist() == [0, 2, 1, 2]
    assert data.offsets.dtype == np.int64
    assert data.items.dtype == np.int32
    assert data.to_lists() == [["beer", "milk"], [], ["insulin", "milk"]]
    assert (data.sensitive, data.public) == (("insulin",), ("beer", "milk"))
    assert data.persons == ("ann", "bob", "3")
    assert data.supports.tolist() == [1, 1, 2]
    assert data.lengths.tolist() == [2, 0, 2]
    assert (data[-1], data[0], len(data)) == (("insulin", "milk"), ("beer", "milk"), 3)
    with refused(IndexError, "transaction 3", 3):
        data[3]


@pytest.mark.parametrize(
    ("names", "order"),
    [
        (["10", "9", "-3", "007", "7"], ["-3", "007", "7", "9", "10"]),
        (["10", "9", "a"], ["10", "9", "a"]),
        (["10", "9", "1.5"], ["1.5", "10", "9"]),
        (["10", "٣"], ["10", "٣"]),
        (["\U0001f600", "\uffff", "z", "Ä", "A"], ["A", "z", "Ä", "\uffff", "\U0001f600"]),
        (["2", "1" * 5000], ["1" * 5000, "2"]),
    ],
)
def test_vocabulary_order(names: list[str], order: list[str]) -> None:
    assert list(Transactions.from_lists([names]).names) == order
    assert list(Transactions.from_lists([*([n] for n in names[::-1])]).names) == order


def test_order_is_numeric_again_when_only_integers_remain() -> None:
    mixed = Transactions.from_lists([["10", "9", "a"], ["10"]], sensitive=["10"])
    assert mixed.names == ("10", "9", "a")
    for rest in (mixed.without(["a"]), mixed.only(["9", "10"])):
        assert rest == Transactions.from_lists([["9", "10"], ["10"]], sensitive=["10"])
        assert rest.names == ("9", "10")


def test_immutable(data: Transactions) -> None:
    for array in (data.offsets, data.items, data.is_sensitive, data.supports):
        with refused(ValueError, "read-only"):
            array[0] = 1
    with refused(AttributeError, "immutable"):
        data.names = ()
    with refused(AttributeError, "immutable"):
        del data.names
    with refused(TypeError, "unhashable"):
        hash(data)
    with refused(TypeError, "from_lists"):
        Transactions()


def test_copies_are_equal_and_immutable(data: Transactions) -> None:
    pickled = pickle.loads(pickle.dumps(data))  # noqa: S301 - our own
    for twin in (copy.copy(data), copy.deepcopy(data), pickled):
        assert twin == data
        assert not twin.items.flags.writeable


def test_equality(data: Transactions) -> None:
    rows = data.to_lists()
    same = Transactions.from_lists(rows, sensitive=["insulin"], persons=data.persons)
    assert same == data
    others = [
        data.anonymous(),
        Transactions.from_lists(rows, persons=data.persons),
        Transactions.from_lists(rows[::-1], sensitive=["insulin"], persons=data.persons),
        data.without(["beer"]),
        data.renamed({"beer": "ale"}),
        rows,
    ]
    assert not any(data == other for other in others)


def test_repr_shows_what_it_is(data: Transactions) -> None:
    assert repr(data).splitlines() == [
        "<Transactions: 3 transactions, 3 different items, 1 sensitive item, 4 occurrences, "
        "1.3 items on average, 2 at most>",
        "  Rows of the same person are merged.",
        "  1: beer, milk",
        "  2: (empty)",
        "  3: insulin, milk",
    ]
    assert repr(Transactions.from_lists([])).splitlines() == [
        "<Transactions: 0 transactions, 0 different items, 0 sensitive items, 0 occurrences>",
        "  Each row counts as one person.",
    ]
    assert "h, … (9 items)" in repr(Transactions.from_lists([list("abcdefghi")]))


def test_changes(data: Transactions) -> None:
    assert data.without(["insulin", "beer"]).to_lists() == [["milk"], [], ["milk"]]
    assert data.without(["insulin"]).sensitive == ()
    assert data.without([]) == data
    assert data.only(["insulin"]).to_lists() == [[], [], ["insulin"]]
    assert data.only([]).names == ()
    assert data.renamed({"beer": "drink", "milk": "drink"}).to_lists() == [["drink"], [], ["drink", "insulin"]]
    assert data.renamed({"insulin": "*"}).sensitive == ("*",)
    taken = data.take(np.array([1, 0, 0]))
    assert taken.to_lists() == [[], ["beer", "milk"], ["beer", "milk"]]
    assert (taken.persons, taken.sensitive, taken.names) == (("bob", "ann", "ann"), (), ("beer", "milk"))
    assert len(data.take(np.array([], dtype=np.int64))) == 0
    bare = data.anonymous()
    assert (bare.persons, bare.source, bare.to_lists()) == (None, None, data.to_lists())


def test_refused_changes(data: Transactions) -> None:
    for change in (data.without, data.only, lambda items: data.renamed(dict.fromkeys(items, "x"))):
        with refused(InvalidArgument, "'mlik'", "'milk'"):
            change(["mlik"])
    for change in (data.without, data.only):
        with refused(InvalidArgument, "items", "'milk'"):
            change("milk")
    with refused(InvalidArgument, "'milk'"):
        data.renamed({"insulin": "milk"})
    with refused(InvalidArgument, "empty"):
        data.renamed({"milk": ""})
    for wrong in ([3], [-1], [0.5], [True], [[0]]):
        with refused(InvalidArgument, "take"):
            data.take(np.array(wrong))


@pytest.mark.parametrize(
    ("rows", "named"),
    [
        (["beer"], ("Transaction 1", "'beer'")),
        ([[], b"ab"], ("Transaction 2", "b'ab'")),
        ([None], ("Transaction 1", "None")),
        ([7], ("Transaction 1", 7)),
        ([["a"], ["b", None]], ("Transaction 2", "None")),
        ([[1.0]], ("1.0",)),
        ([[True]], ("True",)),
        ([[np.bool_(True)]], ("item",)),
        ([["a", ""]], ("Transaction 1", "empty")),
        ([["a\0b"]], ("'a\\x00b'",)),
        ([["\ud800"]], ("'\\ud800'",)),
    ],
)
def test_rows_that_are_refused(rows: list, named: tuple[object, ...]) -> None:
    with refused(InvalidArgument, *named):
        Transactions.from_lists(rows)


def test_sensitive_and_persons_are_checked() -> None:
    with refused(InvalidArgument, "'bear'", "'beer'"):
        Transactions.from_lists([["beer"]], sensitive=["bear"])
    with refused(InvalidArgument, "sensitive", "'48'"):
        Transactions.from_lists([[4, 8]], sensitive="48")
    with refused(InvalidArgument, 1, 2):
        Transactions.from_lists([["beer"]], persons=["ann", "bob"])
    with refused(InvalidArgument, "persons", "None"):
        Transactions.from_lists([["beer"]], persons=[None])
    assert Transactions.from_lists([[np.int64(4), 8]], sensitive=[np.int32(8)]).sensitive == ("8",)


def test_arrow_integers_and_persons() -> None:
    for kind in (pa.int64(), pa.uint8(), pa.dictionary(pa.int8(), pa.int64())):
        ids = pa.array([[10, 9], [9]], pa.list_(kind))
        assert read(ids, sensitive=[9]).names == ("9", "10")
    assert read(pa.array([[], []])).to_lists() == [[], []]
    table = pa.table({"bought": [["a"], ["b"], ["c"]], "who": [2, 1, 2]})
    merged = read(table, column="bought", person="who")
    assert (merged.to_lists(), merged.persons) == ([["a", "c"], ["b"]], ("2", "1"))


@pytest.mark.parametrize(
    ("lists", "options", "named"),
    [
        (pa.array(["a"]), {}, "string"),
        (pa.array([[1.5]]), {}, "1.5"),
        (pa.array([["a", None]]), {}, "Row 1"),
        (pa.array([["a", ""]]), {}, "empty"),
        ([["a"]], {}, "from_lists"),
        (pa.table({"item": [["a"]]}), {"column": "items"}, "Did you mean 'item'"),
        (pa.table({"items": [["a"]], "p": ["x"]}), {"person": "q"}, "no column 'q'. Available: 'items', 'p'"),
        (pa.table({"items": [["a"]], "p": pa.array([None], pa.string())}), {"person": "p"}, "Row 1"),
    ],
)
def test_arrow_that_is_refused(lists: object, options: dict[str, str], named: str) -> None:
    with pytest.raises(VeilsetError) as caught:
        read(lists, **options)
    assert named in str(caught.value)


def test_long_files(csv, snapshot) -> None:
    path = csv('n,item,id\n2,"a,b",x\n1,c,y\n\n3,c,x\n1,,z\n1,c,x\n')
    data = read(path, long=LONG)
    assert data.to_lists() == [["a,b", "c"], ["c"], []]
    assert data.persons is None
    assert data.source is not None
    assert "columns id, item" in data.source.describe()
    assert data.source.notes == snapshot


LONG_ERRORS = [
    ("id,item,id\n1,a,1\n", {"long": LONG}, "contains 'id' twice"),
    ('id,item\n1,"a\nb"\n1\n', {"long": LONG}, "line 4: the header has 2 columns, this line has 1"),
    ("id,item\n", {"long": LONG}, "no transactions in"),
    ("id,item\n1,a\n,b\n", {"long": LONG}, "line 3: column 'id': it is empty, so nobody knows whose"),
    ("what,who\na,ann\nb\n", {"header": True, "person": "who"}, "line 3: column 'who': it is empty"),
]


@pytest.mark.parametrize(("text", "options", "named"), LONG_ERRORS)
def test_tables_that_are_refused(text: str, options: dict, named: str, csv) -> None:
    with pytest.raises((UnreadableInput, InvalidArgument)) as caught:
        read(csv(text), **options)
    assert named in str(caught.value)


def test_lines_of_one_person_are_merged_in_order_of_appearance(csv) -> None:
    long = csv("id,item,who\n1,a,eve\n2,b,ann\n3,,bob\n4,c,eve\n5,,eve\n")
    merged = read(long, long=LONG, person="who", missing="skip")
    assert (merged.persons, merged.to_lists()) == (("eve", "ann", "bob"), [["a", "c"], ["b"], []])
    basket = csv("what,who\na,eve\nb,ann\n,bob\nc,eve,a,c\n,eve\n")
    again = read(basket, header=True, person="who")
    assert again == merged
    assert again.source is not None
    assert "1 transaction is empty; it counts as a person." in again.source.notes
    assert again.source.layout.person == "who"
    assert not any("is not the delimiter" in note for note in again.source.notes)


@pytest.mark.parametrize("name", ["milk", "01", "-1", "9223372036854775808", "9" * 5000])
def test_only_ids_are_written_as_fimi(name: str, tmp_path: Path) -> None:
    with refused(InvalidArgument, "FIMI"):
        Transactions.from_lists([[name]]).write(tmp_path / "a.dat")
    assert list(tmp_path.iterdir()) == []
