"""A table is not read as baskets because its name ends in .csv; baskets are."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import veilset as vs
from tests.support.errors import refused
from veilset.io.kinds import TEXT, kind_of
from veilset.io.suspicion import find_table

VISITS = "patient_id,visit_date,icd_code,note\n1,2024-01-03,E11,called\n1,2024-01-09,I10,\n2,2024-01-03,E11,well\n"
SALES = "InvoiceNo,StockCode,Description,Quantity,UnitPrice,CustomerID\n"
SALES += "536365,85123A,WHITE HANGING HEART,6,2.55,17850\n536365,71053,WHITE METAL LANTERN,6,3.39,17850\n"
PEOPLE = "".join(f"person {n},{'tea' if n % 3 else 'rum'},{'hot' if n % 2 else 'cold'}\n" for n in range(12))
GROUPS = "".join(f"guest {n // 3},{('tea', 'rum', 'ale')[n % 3]}\n" for n in range(12))
NUMBERED = "".join(f"{n},{n * n % 7},{n * n % 5}\n" for n in range(1, 8))
PATIENTS = [str(100_003 + n * 7919 % 800_000) for n in range(12)]
ROWS = [(PATIENTS[n * n % 12], f"2024-0{n % 9 + 1}-1{n % 7}", ("E11", "I10", "J45")[n * n % 5 % 3]) for n in range(60)]
LONG_TABLE = "patient_id,visit_date,icd_code\n" + "".join(f"{','.join(row)}\n" for row in ROWS)


def long_pairs(prefixes: tuple[str, ...] = ("",), suffix: str = "", between: str = ",") -> str:
    """A patient and a code on each line, in no order."""
    lines = [f"{prefixes[n * 5 % len(prefixes)]}{PATIENTS[n * 7 % 12]}{suffix}" for n in range(60)]
    return "".join(f"{line}{between}{ROWS[n][2]}\n" for n, line in enumerate(lines))


TABLES = {
    "below a title": f"Visits export 2024\n{LONG_TABLE}",
    "below a title, short": f"Visits export 2024\n{VISITS}4,2024-02-01,I10,\n",
    "below two titles": f"Visits export\nfor 2024, all wards\n{LONG_TABLE}",
    "below a title, without a header": f"tea\n{LONG_TABLE.partition(chr(10))[2]}",
    "that tells its delimiter": f"sep=,\n{LONG_TABLE}",
    "of two columns that tells its delimiter": f"sep=,\nKundennr,Artikel\n{long_pairs()}",
    "that tells its semicolon": f"sep=;\n{LONG_TABLE.replace(',', ';')}",
    "above a footer": f"{LONG_TABLE}60 rows\n",
    "with a note on some lines": "patient_id,visit_date,icd_code,note\n"
    + "".join(",".join(row) + (",seen" if n % 3 == 0 else "") + "\n" for n, row in enumerate(ROWS)),
    "of two columns with ids with letters": f"Kundennr,Artikel\n{long_pairs(('K',), 'x')}",
    "of ids with letters, without a header": long_pairs(("K",), "x"),
    "of ids with and without a prefix": long_pairs(("P-", "")),
    "with a header above names that repeat": "naam,diagnose\n"
    + "".join(f"pat{'abcdefghijkl'[n * 7 % 12]},{('E11', 'I10', 'J45')[n * n % 5 % 3]}\n" for n in range(60)),
    "with blanks": f"patient_id icd_code\n{long_pairs(between=' ')}",
    "with blanks, without a header": long_pairs(between=" "),
    "of people and items": "customer,product\nann,tea\nbob,rum\n",
    "with a header": VISITS,
    "without a header": VISITS.partition("\n")[2],
    "quoted": '"patient_id","icd_code"\n"1","E11"\n"2","I10, severe"\n',
    "with a trailing empty column": "1,2024-01-03,E11,\n2,2024-01-04,I10,\n",
    "with prices": "milk,1.20\nbeer,3\ntea,0.99\n",
    "with prices in euros": "milk;1,20\nbeer;3,00\ntea;0,99\n",
    "of sales": SALES,
    "of names of columns and text": "who,what\nann,tea\nbob,tea\nann,rye bread\n",
    "with unknown names of columns": "Gast,Datum,Gericht\nann,3.1.2024,tee\nbob,4.1.2024,tee\n",
    "of 0 and 1": "beer,milk,tea\n1,1,0\n0,0,1\n",
    "of e-mail addresses": "ann@mail.org,tea\nbob@mail.org,rum\n",
    "with delimiters in the last column": "patient_id,note\n1,called, no answer\n2,well\n",
    "with blank lines": VISITS.replace("\n", "\n\n"),
    "with a column of people": PEOPLE,
    "with people in groups": GROUPS,
    "of numbered lines": NUMBERED,
    "of numbers and text": "".join(f"{n * 7 % 5},item {n % 3}\n" for n in range(6)),
    "with semicolons": VISITS.replace(",", ";"),
    "of two fields with semicolons": "milk;tea\nbeer;rum\n",
    "with tabs": VISITS.replace(",", "\t"),
}

BASKETS = {
    "of three products": "milk,bread,tea\nbeer,milk,rum\nbread,beer,eggs\n",
    "of one item": "milk\nbread\nmilk\n2024-01-03\n",
    "of two lines": "milk,tea\nrum,beer\n",
    "of one line": "patient_id,item\n",
    "of ids": "1,5,7\n2,5,9\n1,2,3\n4,5,6\n2,3,9\n1,7,8\n",
    "of sorted ids": "1,2\n1,3\n2,3\n2,4\n3,4\n4,5\n",
    "of years": "1999,2004\n2004,2010\n1999,2001\n",
    "of different lengths": "id,item\n1\n2,tea,2024-01-03\n",
    "that repeat a word of the first line": "note,code\nnote,tea\ncode,rum\n",
    "of numbered items": "item 1,item 2,item 3\nitem 4,item 5,item 6\nitem 7,item 8,item 9\n",
    "with padding": "milk,bread,,\nbeer,,,\ntea,milk,eggs,jam\n",
    "of numbers among names": "milk,4011\n4011,tea\nrum,tea\n4225,milk\n",
    "with some semicolons": "a;b\nc;d\ne\n",
    "of pages": "home,product\ncart,checkout\nblog,about\n",
    "of words that may name columns": "type,name\nfoo,bar\nbaz,qux\n",
    "of words that may name columns, and a blank": "title page,index\nchapter,notes\nfoo,bar\n",
    "of one item of two words": "operating system\n" + "".join(f"windows {n}\n" for n in range(20)),
    "of one numbered item": "".join(f"item {n}\n" for n in range(20)),
    "of mostly two items": "".join(f"i{n % 7},j{n % 5}\n" + f"j{n % 3},i{n % 4},k\n" * (n % 4 == 0) for n in range(20)),
    "that come again": "10,tea\n" * 9 + "20,rum\n" * 9 + "30,tea\n",
    "of attributes": "".join(f"cap={n % 2},odor={n % 3},ring={n % 5 % 2}\n" for n in range(30)),
}


def written(folder: Path, text: str, name: str = "a.csv") -> Path:
    (folder / name).write_text(text)
    return folder / name


@pytest.mark.parametrize("case", TABLES)
def test_a_table_is_refused(case: str, tmp_path: Path, snapshot: object) -> None:
    path = written(tmp_path, TABLES[case])
    with refused(vs.UnreadableInput, "format", "'basket'") as caught:
        vs.read(path)
    assert str(caught.value).replace(str(tmp_path), "TMP") == snapshot
    assert len(vs.read(path, format="basket"))  # if it is said, it is done


@pytest.mark.parametrize("case", BASKETS)
def test_baskets_are_read(case: str, tmp_path: Path) -> None:
    path = written(tmp_path, BASKETS[case])
    assert vs.read(path) == vs.read(path, format="basket")


@pytest.mark.parametrize(
    "options",
    [{"long": ("patient_id", "icd_code")}, {"format": "basket"}, {"format": "basket", "header": True}],
    ids=str,
)
def test_what_the_error_proposes_is_read(options: dict[str, Any], tmp_path: Path) -> None:
    assert len(vs.read(written(tmp_path, VISITS), **options))


def test_a_wide_table_is_proposed_with_the_columns_that_are_no_items(tmp_path: Path) -> None:
    path = written(tmp_path, "patient_id,tea,rum\n17,1,0\n18,0,1\n")
    with refused(vs.UnreadableInput, "wide=True", "ignore=('patient_id',)"):
        vs.read(path)
    assert vs.read(path, wide=True, ignore=("patient_id",)).to_lists() == [["tea"], ["rum"]]


def test_one_column_of_0_and_1_makes_no_wide_table(tmp_path: Path) -> None:
    with refused(vs.UnreadableInput, "long=('order_id', 'product_id')") as caught:
        vs.read(written(tmp_path, "order_id,product_id,place,again\n2,33120,1,1\n2,28985,2,0\n"))
    assert "ignore" not in str(caught.value)


def test_a_header_that_is_said_does_not_make_ids_items(tmp_path: Path) -> None:
    with refused(vs.UnreadableInput, "long=('patient_id', 'icd_code')"):
        vs.read(written(tmp_path, VISITS), header=True)
    merged = written(tmp_path, "who,first,second\n7,tea,rum\n8,tea,ale\n7,ale,rum\n")
    assert len(vs.read(merged, header=True, person="who")) == 2
    numbers = written(tmp_path, "first,second\n1,2\n3,4\n")
    assert len(vs.read(numbers, header=True)) == 2


def test_a_large_file_is_judged_by_its_beginning(tmp_path: Path) -> None:
    with refused(vs.UnreadableInput, "long=('patient_id', 'icd_code')"):
        vs.read(written(tmp_path, VISITS + "3,2024-01-03,E11,well\n" * 10_000 + "the,end\n"))


def test_a_packed_table_and_one_in_another_encoding_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text(VISITS.replace(",", "\t"), "utf-16")
    with refused(vs.UnreadableInput, "long=('patient_id', 'icd_code')"):
        vs.read(path, encoding="utf-16")


# Random baskets: words in any order are never a table, since no rule finds a column in them. A column that identifies
# lines has no value in common with others, so ten lines in a random order are not refused if items are few.

WORD = st.sampled_from(["milk", "tea", "rum", "ale", "rye bread", "E11", "7up", "x-1"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(WORD, min_size=1, max_size=5), min_size=1, max_size=30))
def test_random_baskets_are_read(tmp_path: Path, rows: list[list[str]]) -> None:
    few = rows[:9]  # fewer lines than tell a column that identifies them
    path = written(tmp_path, "".join(f"{','.join(row)}\n" for row in few))
    assert [set(row) for row in vs.read(path).to_lists()] == [set(row) for row in few]
    mixed = [*rows, rows[0][:1], ["milk", "tea", "rum", "ale", "milk", "x-1"]]
    path = written(tmp_path, "".join(f"{','.join(row)}\n" for row in mixed))  # lines of different lengths
    assert len(vs.read(path)) == len(mixed)


ANY = st.one_of(WORD, st.integers(0, 3000).map(str), st.sampled_from(["2024-01-03", "3.50", "a@b.org", "id", "item"]))


@given(st.integers(1, 4).flatmap(lambda width: st.lists(st.lists(ANY, min_size=width, max_size=width), min_size=1)))
def test_what_is_refused_has_a_reason(rows: list[list[str]]) -> None:
    table = find_table(rows)
    if table is None:
        return
    width, body = len(rows[0]), rows[1:]
    repeats = {value for row in body for value in row} & set(rows[0])
    first_is_names = not repeats and all(kind_of(value) == TEXT for value in rows[0])
    alone = [{kind_of(row[place]) for row in (body if table.named else rows)} != {TEXT} for place in range(width)]
    assert width > 1 and len(rows) > 1
    assert first_is_names if table.named else any(alone) or len(rows) >= 10


DAY = st.dates(date(1900, 1, 1), date(2099, 12, 31))


@given(
    st.lists(st.tuples(st.integers(1, 99), DAY, WORD), min_size=2, max_size=30, unique=True),
    st.booleans(),
    st.permutations(range(3)),
)
def test_random_tables_are_refused(rows: list[tuple], header: bool, order: list[int]) -> None:
    records = [[str(row[place]) for place in order] for row in rows]
    assert find_table([[("id", "day", "what")[place] for place in order], *records] if header else records)
