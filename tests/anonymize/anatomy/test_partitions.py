"""Columns that are given: as lists, in files, by a level of a taxonomy; and what is said about wrong ones."""

import gzip

import pytest

from tests.support.anatomies import made
from tests.support.errors import refused
from veilset.errors import Infeasible, InvalidArgument, UnreadableInput
from veilset.models import LDiverseAnatomy
from veilset.transactions import Taxonomy, Transactions, read_partition

DATA = Transactions.from_lists([["milk", "rye"], ["soap", "brie"], ["insulin"]], sensitive=["insulin"])
PARTS = [["milk", "soap"], ["rye", "brie"], ["insulin"]]
PATHS = {"milk": ["dairy", "food"], "brie": ["dairy", "food"], "rye": ["food"], "soap": [], "insulin": ["drugs"]}
ANY = LDiverseAnatomy(1)


def test_a_partition_is_kept_as_it_was_given_and_used_in_order():
    result = made(DATA, ANY, columns=[["soap", "milk"], ["rye", "brie"], ["insulin"]])
    assert result.items == (("brie", "rye"), ("milk", "soap"), ("insulin",))
    assert result.given == (("soap", "milk"), ("rye", "brie"), ("insulin",))
    assert (result.wished, result.medoids, result.merges, result.notes) == (3, (), (), ())
    assert result.values.tolist() == [[1, 1, 0], [2, 2, 0], [0, 0, 1]]


def test_integers_are_names():
    data = Transactions.from_lists([[1, 2], [10]])
    assert made(data, ANY, columns=[[10, "1"], [2]]).items == (("1", "10"), ("2",))


def test_items_that_do_not_occur_are_noted(snapshot):
    result = made(DATA, ANY, columns=[*PARTS[:2], ["insulin", "statin"], ["tea"]])
    assert result.items == (("brie", "rye"), ("milk", "soap"), ("insulin",))
    assert result.given == (("milk", "soap"), ("rye", "brie"), ("insulin", "statin"), ("tea",))
    assert result.notes == snapshot


def test_sensitive_items_need_not_be_listed():
    assert made(DATA, ANY, columns=PARTS[:2]).items == (("brie", "rye"), ("milk", "soap"), ("insulin",))


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        ([["milk", "soap"], ["rye", "insulin"], ["brie"]], ("Column 2", "'insulin'", "'rye'")),
        ([["milk"], ["rye", "brie"], ["insulin"]], ("1 of 5", "'soap'")),
        ([["milkk", "soap"], ["rye", "brie"], ["insulin"]], ("1 of 5", "'milk'", "'milkk'")),
        ([], ("4 of 5", "'brie', 'milk', 'rye', …")),
        ([["milk", "soap"], ["rye", "brie", "milk"], ["insulin"]], ("'milk'", "column 2", "column 1")),
        ([["milk", "milk"], ["rye"]], ("'milk'", "column 1")),
        ([["milk"], []], ("Column 2",)),
        (["milk", "soap"], ("Column 1", "'milk'")),
        ([["milk", 2.5]], ("Column 1", "2.5")),
    ],
)
def test_partitions_that_cannot_be(columns, named, snapshot):
    with refused(InvalidArgument, *named, said=snapshot):
        made(DATA, ANY, columns=columns)


def test_one_column_is_not_enough():
    data = Transactions.from_lists([["a", "b"], ["c"]])
    with refused(InvalidArgument, 3, "columns"):
        made(data, ANY, columns=[["a", "b", "c"], ["d"]])
    with refused(InvalidArgument, 3, "level"):
        made(data, ANY, taxonomy={"a": ["x", "z"], "b": ["x", "z"], "c": ["y", "z"]}, level=1)


def test_sensitive_items_are_one_column():
    data = Transactions.from_lists([["s"], ["t"]], sensitive=["s", "t"])
    for wish in ({"columns": 2}, {"taxonomy": {"s": ["x"], "t": ["y"]}}, {"columns": [["t"], ["s"]]}):
        with refused(Infeasible, "sensitive"):
            made(data, ANY, **wish)
    data = Transactions.from_lists([["a", "s"], ["a", "t"]], sensitive=["s", "t"])
    assert made(data, ANY, columns=[["t"], ["a"], ["s"]]).items == (("a",), ("s", "t"))


def test_a_partition_comes_from_a_file(tmp_path):
    path = tmp_path / "partition.csv"
    path.write_bytes('\ufeffcolumn,item,why\n"one, two",milk,\n2,"rye, dark",\n\n"one, two",soap,x\n2,brie,\n'.encode())
    file = read_partition(path)
    assert file.columns == {"one, two": ("milk", "soap"), "2": ("rye, dark", "brie")}
    assert file.lines == {"milk": 2, "rye, dark": 3, "soap": 5, "brie": 6}
    data = Transactions.from_lists([["milk", "rye, dark"], ["soap", "brie"]])
    for given in (path, str(path)):
        result = made(data, ANY, columns=given)
        assert result.items == (("brie", "rye, dark"), ("milk", "soap"))
        assert result.given == (("milk", "soap"), ("rye, dark", "brie"))
    packed = tmp_path / "partition.tsv.gz"
    packed.write_bytes(gzip.compress(b"item\tcolumn\na\t1\nb\t2\n"))
    assert read_partition(packed).parts == (("a",), ("b",))
    latin = tmp_path / "latin.csv"
    latin.write_bytes("item,column\ntürkçe,ü\n".encode("latin-1"))
    assert read_partition(latin, encoding="latin-1").columns == {"ü": ("türkçe",)}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("milk,1\nsoap,2\n", ("line 1", "'item'", "'milk'", "'1'")),
        ("Item,column\nmilk,1\n", ("line 1", "'item'", "'Item'", "'column'")),
        ("item\nmilk\n", ("line 1", "'column'")),
        ("item,column\nmilk,1\nrye,2\n\nmilk,2\n", ("line 5", "'milk'", "line 2")),
        ("item,column\nmilk,\n", ("line 2", "'column'")),
        ("item,column\n,1\n", ("line 2", "'item'")),
        ("item,column\nmilk,1,x\n", ("line 2", "2 columns", 3)),
        ("item,column\n", ("line 1",)),
        ('item,column\n"milk,1\n', ("line 2",)),
    ],
)
def test_files_that_cannot_be_read(tmp_path, text, named, snapshot):
    path = tmp_path / "partition.csv"
    path.write_text(text)
    with refused(UnreadableInput, repr(str(path)), *named, said=snapshot):
        made(DATA, ANY, columns=path)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("milk,food\nsoap,home\n\nbrie,food\nryee,food\ninsulin,drugs\n", ("1 of 5", "'rye'", "'ryee' (line 6)")),
        (
            "milk,food\nbrie,food\nrye,food\n\nsoap,care\ninsulin,care\n",
            ("'care'", "'insulin' (line 7)", "'soap' (line 6)"),
        ),
    ],
)
def test_files_that_do_not_fit_the_data(tmp_path, text, named, snapshot):
    path = tmp_path / "partition.csv"
    path.write_text(f"item,column\n{text}")
    with refused(InvalidArgument, repr(str(path)), *named, said=snapshot):
        made(DATA, ANY, columns=path)


def test_a_file_that_is_not_there(tmp_path):
    with refused(UnreadableInput, "absent.csv'"):
        made(DATA, ANY, columns=tmp_path / "absent.csv")


@pytest.mark.parametrize("given", [PATHS, Taxonomy.from_paths(PATHS)])
def test_a_level_of_a_taxonomy(given):
    """Sensitive items are no part of their groups; what lies above a level is with its neighbours, or alone."""
    first = made(DATA, ANY, taxonomy=given, level=1)
    assert first.items == (("brie", "milk", "rye"), ("soap",), ("insulin",))
    assert made(DATA, ANY, taxonomy=given, level=None).items == first.items
    second = made(DATA, ANY, taxonomy=given, level=2)
    assert second.items == (("brie", "milk"), ("rye",), ("soap",), ("insulin",))
    assert (second.wished, second.medoids, second.notes) == (4, (), ())
    assert second.given is not None
    assert made(DATA, ANY, columns=second.given).items == second.items, "It can be given as it was taken."


def test_groups_of_one_name_in_different_places_are_two():
    data = Transactions.from_lists([["a"], ["b"]])
    result = made(data, ANY, taxonomy={"a": ["other", "x"], "b": ["other", "y"]}, level=2)
    assert result.items == (("a",), ("b",))


def test_a_taxonomy_from_a_file_with_leaves_that_do_not_occur(tmp_path, snapshot):
    path = tmp_path / "tree.csv"
    path.write_text("item,group\nmilk,food\nbrie,food\nrye,food\nsoap,home\ntea,food\n")
    result = made(DATA, ANY, taxonomy=path, level=1)
    assert result.items == (("brie", "milk", "rye"), ("soap",), ("insulin",))
    assert result.notes == snapshot


@pytest.mark.parametrize(
    ("wish", "named"),
    [
        ({"level": 1}, ("level", 1)),
        ({"taxonomy": PATHS, "level": 0}, ("level", 0, 1, 2)),
        ({"taxonomy": PATHS, "level": 3}, ("level", 3)),
        ({"taxonomy": PATHS, "level": True}, ("level", "True")),
        ({"taxonomy": {item: ["all"] for item in PATHS}, "level": 2}, ("level", 2)),
        ({"taxonomy": PATHS, "level": 1, "columns": PARTS}, ("taxonomy", "columns")),
        ({"taxonomy": {"milk": ["food"]}, "level": 1}, ("3 of 4",)),
    ],
)
def test_levels_that_cannot_be(wish, named, snapshot):
    with refused(InvalidArgument, *named, said=snapshot):
        made(DATA, ANY, **wish)
