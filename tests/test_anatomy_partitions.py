"""Columns that are given: as lists, in files, by a level of a taxonomy; and what is said about wrong ones."""

import gzip

import pytest

from tests.test_anatomy_columns import made
from veilset.errors import Infeasible, UnreadableInput, VeilsetError, WrongUsage
from veilset.models import LDiverseAnatomy
from veilset.transactions import Taxonomy, Transactions, read_partition

DATA = Transactions.from_lists([["milk", "rye"], ["soap", "brie"], ["insulin"]], sensitive=["insulin"])
PARTS = [["milk", "soap"], ["rye", "brie"], ["insulin"]]
PATHS = {"milk": ["dairy", "food"], "brie": ["dairy", "food"], "rye": ["food"], "soap": [], "insulin": ["drugs"]}
ANY = LDiverseAnatomy(1)


def refused(error: type[VeilsetError], **wish) -> str:
    with pytest.raises(error) as caught:
        made(DATA, ANY, **wish)
    return str(caught.value)


def test_a_partition_is_kept_as_it_was_given_and_used_in_order():
    result = made(DATA, ANY, columns=[["soap", "milk"], ["rye", "brie"], ["insulin"]])
    assert result.items == (("brie", "rye"), ("milk", "soap"), ("insulin",))
    assert result.given == (("soap", "milk"), ("rye", "brie"), ("insulin",))
    assert (result.wished, result.medoids, result.merges, result.notes) == (3, (), (), ())
    assert result.values.tolist() == [[1, 1, 0], [2, 2, 0], [0, 0, 1]]


def test_integers_are_names():
    data = Transactions.from_lists([[1, 2], [10]])
    assert made(data, ANY, columns=[[10, "1"], [2]]).items == (("1", "10"), ("2",))


def test_items_that_do_not_occur_are_noted():
    result = made(DATA, ANY, columns=[*PARTS[:2], ["insulin", "statin"], ["tea"]])
    assert result.items == (("brie", "rye"), ("milk", "soap"), ("insulin",))
    assert result.given == (("milk", "soap"), ("rye", "brie"), ("insulin", "statin"), ("tea",))
    assert result.notes == ("2 items of the columns do not occur in the data: 'statin', 'tea'.",)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            [["milk", "soap"], ["rye", "insulin"], ["brie"]],
            "Column 2 has the sensitive item 'insulin' and the public item 'rye'.",
        ),
        ([["milk"], ["rye", "brie"], ["insulin"]], "1 of 5 items of the data is in no column: 'soap'. Give every"),
        (
            [["milkk", "soap"], ["rye", "brie"], ["insulin"]],
            "1 of 5 items of the data is in no column: 'milk'. In the columns 'milk' may be called 'milkk'.",
        ),
        ([], "5 of 5 items of the data are in no column: 'brie', 'insulin', 'milk', …."),
        ([["milk", "soap"], ["rye", "brie", "milk"], ["insulin"]], "'milk' is in column 2 and already in column 1."),
        ([["milk", "milk"], ["rye"]], "'milk' is in column 1 and already in column 1."),
        ([["milk"], []], "Column 2 has no items."),
        (["milk", "soap"], "Column 1 is 'milk', not a list of items. Write ['milk']."),
        ([["milk", 2.5]], "Column 1: 2.5 is not an item."),
    ],
)
def test_partitions_that_cannot_be(columns, message):
    assert message in refused(WrongUsage, columns=columns)


def test_one_column_is_not_enough():
    data = Transactions.from_lists([["a", "b"], ["c"]])
    with pytest.raises(WrongUsage, match=r"All 3 items of the data are in one column\. Give at least two columns"):
        made(data, ANY, columns=[["a", "b", "c"], ["d"]])
    with pytest.raises(WrongUsage, match=r"All 3 items of the data are in one column\. Give a deeper level"):
        made(data, ANY, taxonomy={"a": ["x", "z"], "b": ["x", "z"], "c": ["y", "z"]}, level=1)


def test_sensitive_items_alone_are_one_column_unless_they_are_given_several():
    data = Transactions.from_lists([["s"], ["t"]], sensitive=["s", "t"])
    for wish in ({"columns": 2}, {"taxonomy": {"s": ["x"], "t": ["y"]}}):
        with pytest.raises(Infeasible, match="All items are sensitive"):
            made(data, ANY, **wish)
    assert made(data, ANY, columns=[["t"], ["s"]]).items == (("s",), ("t",))


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
    ("text", "message"),
    [
        (
            "milk,1\nsoap,2\n",
            "line 1: the header has no column 'item'; it has 'milk', '1'. Begin the file with the line",
        ),
        (
            "Item,column\nmilk,1\n",
            "line 1: the header has no column 'item'; it has 'Item', 'column'. Did you mean 'Item'?",
        ),
        ("item\nmilk\n", "line 1: the header has no column 'column'"),
        ("item,column\nmilk,1\nrye,2\n\nmilk,2\n", "line 5: the item 'milk' stands on line 2 already."),
        ("item,column\nmilk,\n", "line 2: the column 'column' is empty."),
        ("item,column\n,1\n", "line 2: the column 'item' is empty."),
        ("item,column\nmilk,1,x\n", "line 2: the header has 2 columns, not 3."),
        ("item,column\n", "has nothing after line 1"),
        ('item,column\n"milk,1\n', "line 2"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, text, message):
    path = tmp_path / "partition.csv"
    path.write_text(text)
    told = refused(UnreadableInput, columns=path)
    assert message in told
    assert str(path) in told


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "milk,food\nsoap,home\n\nbrie,food\nryee,food\ninsulin,drugs\n",
            "1 of 5 items of the data is in no column: 'rye'. In the file 'rye' may be called 'ryee' (line 6).",
        ),
        (
            "milk,food\nbrie,food\nrye,food\n\nsoap,care\ninsulin,care\n",
            "the column 'care' has the sensitive item 'insulin' (line 7) and the public item 'soap' (line 6). Give",
        ),
    ],
)
def test_files_that_do_not_fit_the_data(tmp_path, text, message):
    path = tmp_path / "partition.csv"
    path.write_text(f"item,column\n{text}")
    assert f"{str(path)!r}: {message}" in refused(WrongUsage, columns=path)


def test_a_file_that_is_not_there(tmp_path):
    assert "absent.csv" in refused(UnreadableInput, columns=tmp_path / "absent.csv")


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


def test_a_taxonomy_from_a_file_with_leaves_that_do_not_occur(tmp_path):
    path = tmp_path / "tree.csv"
    path.write_text("item,group\nmilk,food\nbrie,food\nrye,food\nsoap,home\ntea,food\n")
    result = made(DATA, ANY, taxonomy=path, level=1)
    assert result.items == (("brie", "milk", "rye"), ("soap",), ("insulin",))
    assert result.notes == ("1 leaf does not occur in the data: 'tea'.",)


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ({"level": 1}, "level is 1, but there is no taxonomy."),
        (
            {"taxonomy": PATHS, "level": 0},
            "level is 0. Give a whole number from 1, the groups right below the root, to 2.",
        ),
        ({"taxonomy": PATHS, "level": 3}, "level is 3. Give"),
        ({"taxonomy": PATHS, "level": True}, "level is True."),
        (
            {"taxonomy": {item: ["all"] for item in PATHS}, "level": 2},
            "level is 2. This taxonomy has groups right below the root only: give 1, or leave level out.",
        ),
        ({"taxonomy": PATHS, "level": 1, "columns": PARTS}, "There is a taxonomy, and columns are given, too."),
        ({"taxonomy": {"milk": ["food"]}, "level": 1}, "3 of 4 public items are no leaves"),
    ],
)
def test_levels_that_cannot_be(wish, message):
    assert message in refused(WrongUsage, **wish)
