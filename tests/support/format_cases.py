"""The lines of docs/formats.md about odd and bad input, each with files and the answer to them; see `test_formats`."""

import gzip
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pyarrow as pa

from tests.support.tables import arrow, parquet, zstd
from veilset.errors import InvalidArgument, UnreadableInput, VeilsetError

LONG = {"long": ("id", "item")}
WIDE = {"wide": True}
COUNTS = {**WIDE, "counts": True}
WHO = {"person": "who"}
LARGEST = "9223372036854775807"


@dataclass(frozen=True)
class Good:
    """A file that is read: what it is, and the transactions that come of it, perhaps with a note."""

    name: str
    content: bytes | str | pa.Table
    rows: list[list[str]]
    options: dict[str, Any] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True)
class Bad:
    """A file that is refused: what the error names, and its kind."""

    name: str
    content: bytes | str | pa.Table
    named: tuple[str, ...]
    options: dict[str, Any] = field(default_factory=dict)
    kind: type[VeilsetError] = UnreadableInput


Misused = partial(Bad, kind=InvalidArgument)


def content_of(case: Good | Bad) -> bytes:
    """The bytes of the file; a table is written as the name says."""
    if isinstance(case.content, pa.Table):
        return parquet(case.content) if ".parquet" in case.name else arrow(case.content)
    return case.content.encode() if isinstance(case.content, str) else case.content


def lists(*rows: list[Any] | None, **more: list[Any]) -> pa.Table:
    """A table with the column items."""
    return pa.table({"items": list(rows), **more})


ONE_TWO = [["1", "2"], ["3"]]
MANY = b"1 2\n" * 99

CASES: dict[str, list[Good | Bad]] = {
    "CRLF or CR at line ends; none after the last line": [
        Good("a.dat", "1 2\r\n3\r\n", ONE_TWO),
        Good("a.dat", "1 2\r3\r", ONE_TWO),
        Good("a.dat", "1 2\n3", ONE_TWO),
        Good("a.csv", "b,a\rc\r\n", [["a", "b"], ["c"]]),
        Good("a.csv", "id,item\r\n1,a\r\n1,b", [["a", "b"]], LONG),
        Good("a.csv", "a,b\r1,0\r0,1", [["a"], ["b"]], WIDE),
        Good("a.jsonl", '["a"]\r\n["b"]\r[]', [["a"], ["b"], []], note="1 transaction is empty"),
        Good("a.spmf", "1 2\r\n3", ONE_TWO),
    ],
    "a byte-order mark": [
        Good("a.dat", "\ufeff1 2\n3\n", ONE_TWO),
        Good("a.csv", "\ufeffmilk,\ufefftea\n", [["milk", "\ufefftea"]]),
        Good("a.csv", "\ufeffid,item\n1,a\n", [["a"]], LONG),
        Good("a.jsonl", '\ufeff["a"]', [["a"]]),
    ],
    "blanks and tabs around a field": [
        Good("a.dat", " 1\t2  \n\t3 \n", ONE_TWO),
        Good("a.csv", "milk , beer\t\ntea\n", [["beer", "milk"], ["tea"]]),
        Good("a.csv", " id , item \n 1 , a \n", [["a"]], LONG),
        Good("a.spmf", "@ITEM=1= milk\t\n1\n", [["milk"]]),
    ],
    "names with blanks inside, Unicode, quotes": [
        Good(
            "a.csv",
            "whole milk,käse,茶,\u2028x\n6\" nails,5'\n",
            [["käse", "whole milk", "\u2028x", "茶"], ["5'", '6" nails']],
        ),
        Good("a.tsv", "whole milk\tbeer, dark\n", [["beer, dark", "whole milk"]]),
        Good("a.jsonl", '["whole milk", "k\\u00e4se", "\\ud83d\\ude00 \\"x\\""]\n', [["käse", "whole milk", '😀 "x"']]),
    ],
    "a quoted field (RFC 4180)": [
        Good("a.csv", '"a ""b"" c", "x,y" ,z\n', [['a "b" c', "x,y", "z"]]),
        Good("a.csv", '" a ",b \n', [[" a ", "b"]]),
        Good("a.csv", '"a\nb","c\r\nd"\ne\n', [["a\nb", "c\r\nd"], ["e"]]),
        Good("a.csv", 'id,item\n1,"a\nb"\n"1","x,y"\n', [["a\nb", "x,y"]], LONG),
    ],
    "a quote that is never closed, text after a closing quote": [
        Bad("a.csv", 'a\n"b"c,d\n', ("line 2", "quote")),
        Bad("a.csv", 'a\n\n"b\nc\n', ("line 3", "quote")),
        Bad("a.csv", 'id,item\n1,"a', ("line 2", "quote"), LONG),
    ],
    "an item twice in a transaction": [
        Good("a.dat", "2 1 2 1\n", [["1", "2"]]),
        Good("a.csv", "id,item\n1,a\n1,a\n", [["a"]], LONG),
        Good("a.parquet", lists(["a", "a"]), [["a"]]),
    ],
    "an empty line": [
        Good("a.dat", "1\n\n \n", [["1"], [], []], note="2 transactions are empty; they count as people."),
        Good("a.csv", "a\n\nb\n", [["a"], [], ["b"]], note="1 transaction is empty"),
        Good("a.dat", "\n", [[]], note="1 transaction is empty"),
        Good("a.csv", "id,item\n1,a\n\n1,b\n", [["a", "b"]], LONG, "1 blank line was skipped"),
        Good("a.csv", "a,b\n1,1\n\n", [["a", "b"]], WIDE, "1 blank line was skipped"),
        Good("a.jsonl", '["a"]\n\n["b"]\n', [["a"], ["b"]], note="1 blank line was skipped"),
    ],
    "an empty field": [
        Good("a.csv", "a,,b\n,,\n", [["a", "b"], []], note="4 empty fields between delimiters were skipped.")
    ],
    "an id without items": [
        Good("a.csv", "id,item\n1,\n2,a\n", [[], ["a"]], LONG, "1 transaction is empty"),
        Good(
            "a.jsonl",
            '{"id": 1}\n{"id": 2, "item": null}\n{"id": 3, "item": "a"}\n',
            [[], [], ["a"]],
            LONG,
            "2 transactions are empty",
        ),
        Good("a.parquet", pa.table({"id": [1, 2], "item": [None, "a"]}), [[], ["a"]], LONG, "1 transaction is empty"),
        Good("a.parquet", lists(None, [], ["a"]), [[], [], ["a"]], note="2 transactions are empty"),
        Good("a.jsonl", "null\n[]\n", [[], []], note="2 transactions are empty"),
    ],
    "ids up to 9223372036854775807, leading zeros": [
        Good("a.dat", f"{LARGEST} 0000000000000000000012 007\n", [["7", "12", LARGEST]]),
        Good("a.spmf", f"{LARGEST} 007\n", [["7", LARGEST]]),
        Good("a.csv", f"007,7,{LARGEST}0\n", [["007", "7", f"{LARGEST}0"]]),
    ],
    "a larger id, a negative one, a name in a FIMI or SPMF file": [
        Bad("a.dat", "1\n9223372036854775808 5\n", ("line 2", "'9223372036854775808'", "format")),
        Bad("a.dat", "1 -1 2 -1 -2\n", ("line 1", "'-1'", "format")),
        Bad("a.dat", "1\nmilk 2\n", ("line 2", "'milk'", "format", "delimiter", "' '")),
        Bad("a.dat", "1,2\n", ("line 1", "'1,2'", "format")),
        Bad("a.spmf", "1\nmilk 2\n", ("line 2", "'milk'", "format")),
    ],
    "not UTF-8": [
        Bad("a.csv", "a\nkäse\n".encode("latin-1"), ("line 2", "0xe4", "encoding", "latin-1")),
        Bad("a.csv", "a\rb\rä,".encode("latin-1"), ("line 3", "0xe4", "encoding", "latin-1")),
        Bad("a.jsonl", b'["a"]\n["\xff"]\n', ("line 2", "0xff", "encoding", "latin-1")),
        Good("a.csv", "a\nkäse\n".encode("latin-1"), [["a"], ["käse"]], {"encoding": "latin-1"}),
    ],
    "UTF-16, zero bytes": [
        Bad("a.dat", "1 2\n".encode("utf-16"), ("UTF-8", "encoding", "utf-16")),
        Bad("a.csv", "a\nb\n".encode("utf-16-le"), ("line 1", "encoding", "utf-16")),
        Bad("a.dat", b"1\n2\n\0\n", ("line 3", "zero byte")),
        Good("a.csv", "käse,öl\n".encode("utf-16"), [["käse", "öl"]], {"encoding": "utf-16"}),
    ],
    "an encoding that does not exist": [
        Misused("a.dat", "1\n", ("'latin-99'", "latin-1"), {"encoding": "latin-99"}),
        Misused("a.csv", "ab\n", ("'hex'", "latin-1"), {"encoding": "hex"}),
    ],
    "a .gz or .zst that is cut off or damaged": [
        Bad("a.dat.gz", gzip.compress(MANY)[:-9], ("a.dat.gz'", "compressed")),
        Bad("a.dat.zst", zstd(MANY)[:-3], ("a.dat.zst'", "compressed")),
        Bad("a.dat.gz", gzip.compress(b"1\n")[:-8] + b"12345678", ("valid", "gzip")),
        Bad("a.dat.gz", "1 2\n", ("valid", "gzip")),
        Bad("a.dat.zst", "1 2\n", ("valid", "zstd")),
    ],
    "a compressed text": [
        Good("a.dat.gz", gzip.compress(b"1 2\n") + gzip.compress(b"3\n"), ONE_TWO),
        Good("a.dat.ZST", zstd(b"1 2\n") + zstd(b"3\n"), ONE_TWO),
        Bad("a.dat", gzip.compress(b"1\n"), ("UTF-8", ".gz")),
        Bad("a.dat", zstd(b"1\n"), ("UTF-8", ".zst")),
    ],
    "a compressed Parquet or Arrow file": [
        Misused("a.parquet.gz", gzip.compress(b"PAR1"), ("'a.parquet.gz'",)),
        Misused("a.arrow.zst", zstd(b"ARROW1"), ("'a.arrow.zst'",)),
    ],
    "an empty file": [
        Bad("a.dat", b"", ("a.dat'", "empty")),
        Bad("a.csv", "\ufeff", ("a.csv'", "empty")),
        Bad("a.dat.gz", gzip.compress(b""), ("empty",)),
        Bad("a.jsonl", b"", ("empty",)),
        Bad("a.parquet", b"", ("a.parquet'", "Parquet")),
    ],
    "a header and nothing else": [
        Bad("a.csv", "a,b\n", ("'a.csv'",), {"header": True}),
        Bad("a.csv", "id,item\n", ("'a.csv'",), LONG),
        Bad("a.csv", "a,b\n", ("'a.csv'",), WIDE),
        Bad("a.parquet", lists(["a"]).slice(1), ("'a.parquet'",)),
        Bad("a.jsonl", "\n\n", ("'a.jsonl'",)),
    ],
    "a column named twice": [
        Bad("a.csv", "a,b,a\n1,2\n", ("line 1", "'a'"), {"header": True}),
        Bad("a.csv", "a,b,a\n1,0,1\n", ("line 1", "'a'"), WIDE),
        Misused("a.parquet", pa.table([[True], [False]], ["a", "a"]), ("2 columns", "'a'"), WIDE),
        Bad("a.jsonl", '{"items": [], "items": []}', ("line 1", "'items'")),
    ],
    "an unknown column or key": [
        Misused("a.csv", "id,item,n\n1,a,2\n", ("'itm'", "'id'", "'item'", "'n'"), {"long": ("id", "itm")}),
        Misused("a.csv", "who,what\nann,a\n", ("'whom'", "'who'"), {"header": True, "person": "whom"}),
        Misused("a.csv", "n,a\n1,1\n", ("'m'",), {**WIDE, "ignore": ("m",)}),
        Bad("a.jsonl", '{"id": 1, "item": "a"}\n', ("'itm'", "'id'", "'item'"), {"long": ("id", "itm")}),
        Bad("a.jsonl", '{"id": 1, "item": "a"}\n', ("line 1", "'di'", "'id'", "'item'"), {"long": ("di", "item")}),
        Bad("a.jsonl", '{"item": ["a"]}\n', ("line 1", "'items'", "'item'", "column")),
        Misused("a.parquet", lists(["a"]), ("'itmes'", "'items'"), {"column": "itmes"}),
    ],
    "the wrong delimiter": [
        Good("a.csv", "a;b\nc;d\ne\n", [["a;b"], ["c;d"], ["e"]], note="',' is not the delimiter"),
        Bad("a.csv", "a;b\nc;d\n", ("','", "';'", "delimiter", "format", "basket")),
        Good("a.csv", "a;b\nc;d\n", [["a;b"], ["c;d"]], {"format": "basket"}),
        Misused("a.csv", "a;b\n1;2\n", ("'a'", "'a;b'", "delimiter"), {"long": ("a", "b")}),
        Bad("a.csv", "a;b\n1;0\n", ("line 2", "'a;b'", "'1;0'", "delimiter"), WIDE),
    ],
    "a `.csv` or `.tsv` file that looks like a table": [
        Bad("a.csv", "id,item\n1,tea\n2,ale\n", ("'id'", "'item'", "long", "wide", "format", "basket")),
        Bad("a.csv", "ann,2024-01-03\nbob,2024-01-04\n", ("column 2", "long", "wide", "format", "basket")),
        Bad("a.csv", "tea,ale\n1,0\n0,1\n", ("'tea'", "long", "wide", "format", "basket")),
        Good("a.csv", "id,item\n1,tea\n", [["id", "item"], ["1", "tea"]], {"format": "basket"}),
    ],
    "a delimiter that cannot be one": [
        Misused("a.csv", "a\n", ("delimiter", repr(wrong)), {"delimiter": wrong})
        for wrong in ("", ";;", "§", '"', "\n", "1")
    ],
    "options that contradict each other": [
        Misused("a.dat", "1;2\n", ("delimiter", "';'", "format"), {"delimiter": ";"}),
        Misused("a.csv", "a,b\n", ("long", "format"), {"format": "basket", "long": ("a", "b")}),
        Misused("a.csv", "a,b\n", ("long", "wide"), {**LONG, **WIDE}),
        Misused("a.csv", "a,b\n", ("id", "item"), {"long": ("a", "a")}),
        Misused("a.csv", "a,b\n", ("column", "long"), {**LONG, "column": "item"}),
        Misused("a.csv", "a,b\n", ("column",), {"column": "b"}),
        Misused("a.csv", "a,b\n", ("columns", "long"), {"format": "long"}),
        Misused("a.dat", "1\n", ("header",), {"header": True}),
        Misused("a.dat", "1\n", ("column", "person"), WHO),
        Misused("a.csv", "a\n", ("header",), WHO),
        Misused("a.csv", "a\n", ("ignore", "counts", "wide"), {"counts": True}),
        Misused("a.csv", "id,item\n1,a\n", ("'item'",), {**LONG, "person": "item"}),
        Misused("a.jsonl", '{"items": []}', ("'items'",), {"person": "items"}),
        Misused("a.csv", "a\n", ("database", "query"), {"query": "SELECT 1"}),
        Misused("a.spmf", "1\n", ("wide",), WIDE),
    ],
    "a line without a person": [
        Bad("a.csv", "who,x\nann,a\n,b\n", ("line 3", "'who'"), {"header": True, **WHO}),
        Bad("a.csv", "who,a\nann,1\n,1\n", ("line 3", "'who'"), {**WIDE, **WHO}),
        Bad("a.csv", "id,who,item\n1,ann,a\n2,,b\n", ("line 3", "'who'"), {**LONG, **WHO}),
        Bad("a.jsonl", '{"items": [], "who": ""}', ("line 1", "empty"), WHO),
        Bad("a.jsonl", '{"items": []}', ("line 1", "'who'"), WHO),
        Bad("a.parquet", lists(["a"], ["b"], who=["ann", None]), ("Row 2", "'who'"), WHO),
    ],
    "a line of a long or wide table with too few or too many fields": [
        Bad("a.csv", "id,item\n1\n", ("line 2",), LONG),
        Bad("a.csv", "id,item\n1,a,b\n", ("line 2",), LONG),
        Bad("a.csv", "a,b\n1\n", ("line 2", "2 columns", "1"), WIDE),
    ],
    "a long table with scattered ids": [
        Good("a.csv", "id,item\n1,a\n2,b\n1,c\n", [["a", "c"], ["b"]], LONG),
        Good(
            "a.jsonl",
            '{"id": 1, "item": "a"}\n{"id": 2, "item": "b"}\n{"id": "1", "item": "c"}\n',
            [["a", "c"], ["b"]],
            LONG,
        ),
        Good("a.parquet", pa.table({"id": [1, 2, 1], "item": ["a", "b", "c"]}), [["a", "c"], ["b"]], LONG),
    ],
    "cells of a wide table: `0`, `1`, `true`, `false`, empty": [
        Good("a.csv", 'a,b,c\n0,1,TRUE\nfalse,,"1"\n', [["b", "c"], ["c"]], WIDE),
        Good("a.parquet", pa.table({"a": [True, None], "b": [0, 1], "c": [1.0, None]}), [["a", "c"], ["b"]], WIDE),
    ],
    "other cells of a wide table": [
        Bad("a.csv", "a,b\n0,x\n", ("line 2", "'b'", "ignore"), WIDE),
        Bad("a.csv", "a,b\n0,2\n", ("line 2", "'b'", "counts"), WIDE),
        Bad("a.parquet", pa.table({"a": [0, 2]}), ("Row 2", "'a'", "2", "counts"), WIDE),
        Misused("a.parquet", pa.table({"a": [1], "n": ["x"]}), ("'n'", "ignore"), WIDE),
    ],
    "whole numbers in a wide table, with `--counts`": [
        Good("a.csv", "a,b\n0,2\n12,007\n", [["b"], ["a", "b"]], COUNTS, "3 cells have values above 1"),
        Good("a.parquet", pa.table({"a": [0, 2]}), [[], ["a"]], COUNTS, "1 cell has a value above 1"),
        Bad("a.csv", "a\n-1\n", ("line 2", "'a'", "'-1'", "ignore"), COUNTS),
        Bad("a.parquet", pa.table({"a": [1.5]}), ("1.5", "ignore"), COUNTS),
    ],
    "a wide column without a name": [
        Bad("a.csv", ",a\n0,1\n", ("line 1", "column 1", "ignore"), WIDE),
        Good("a.csv", ",a\n0,1\n1,0\n", [["a"], []], {**WIDE, "ignore": ("",)}, "1 transaction is empty"),
    ],
    "JSON lines of the wrong kind": [
        Bad("a.jsonl", '["a"]\n{"items": []}\n', ("line 2", "column")),
        Bad("a.jsonl", '{"items": []}\n["a"]\n', ("line 2", "array")),
        Bad("a.jsonl", '["a"\n', ("line 1", "JSON")),
        Bad("a.jsonl", '["a", 1.5]\n', ("line 1", "'1.5'")),
        Bad("a.jsonl", '["a", null]\n', ("line 1", "null")),
        Bad("a.jsonl", "[[1]]\n", ("line 1", "array")),
        Bad("a.jsonl", '[""]\n', ("line 1", "empty")),
        Bad("a.jsonl", "[1]\n", ("line 1", "array"), LONG),
    ],
    "names in an SPMF file": [
        Good(
            "a.spmf",
            "@CONVERTED_FROM_TEXT\n@ITEM=1=rye bread\n@ITEM=2=tea\n1 2\n3\n# x\n",
            [["rye bread", "tea"], ["3"]],
        ),
        Bad("a.spmf", "@ITEM=1=tea\n@ITEM=1=milk\n1\n", ("line 2", "'milk'", "'tea'")),
        Bad("a.spmf", "@ITEM=1=tea\n@ITEM=2=tea\n1 2\n", ("'tea'",)),
    ],
    "sequences in an SPMF file": [
        Good("a.spmf", "1 -1 3 2 -1 -2\n2 -1 -2\n", [["1", "2", "3"], ["2"]], note="2 lines are sequences")
    ],
    "an SPMF file with utilities": [Bad("a.spmf", "1 2:9:4 5\n", ("line 1", "'2:9:4'", "format"))],
    "a table without a column of lists, or with several": [
        Misused("a.parquet", pa.table({"a": [1]}), ("'a'", "int64", "column", "long")),
        Misused("a.arrow", lists(["a"], more=[["b"]]), ("2 columns", "column")),
        Good("a.arrow", lists(["a"], more=[["b"]]), [["b"]], {"column": "more"}),
        Misused("a.parquet", pa.table({"a": [1]}), ("'a'", "int64", "long"), {"column": "a"}),
        Misused("a.parquet", lists(["a"], id=[1]), ("'items'", "column"), {"long": ("id", "items")}),
    ],
    "a row of a long table without an item, though its id has others": [
        Bad("a.csv", "id,item\n1,a\n1,\n", ("Row 2", "'item'", "missing"), LONG),
        Bad("a.parquet", pa.table({"id": [1, 1], "item": ["a", None]}), ("Row 2", "'item'", "missing"), LONG),
        Good(
            "a.parquet",
            pa.table({"id": [1, 1], "item": ["a", None]}),
            [["a"]],
            {**LONG, "missing": "skip"},
            "1 row without an item was skipped.",
        ),
    ],
    "a column that looks like a person, without `--person`": [
        Good("a.csv", "id,CustomerID,item\n1,ann,a\n2,ann,b\n", [["a"], ["b"]], LONG, "'CustomerID'"),
    ],
    "an id that holds a suspicious share of all rows": [
        Good("a.csv", "id,item\nNA,a\nNA,b\n1,c\n", [["a", "b"], ["c"]], LONG, "'NA'"),
    ],
    "ids of people that differ only in case or blanks": [
        Good("a.csv", "id,who,item\n1,P1,a\n2,p1,b\n", [["a"], ["b"]], {**LONG, **WHO}, "'P1' and 'p1'"),
    ],
    "an item of a table that is null, empty, or not a name": [
        Bad("a.parquet", lists(["a"], ["b", None]), ("Row 2", "null")),
        Bad("a.parquet", lists(["a", ""]), ("Row 1", "empty")),
        Misused("a.parquet", lists([[1]]), ("list",)),
    ],
    "numbers with a fraction in a table": [
        Good("a.parquet", lists([3.0, 4.0]), [["3", "4"]], note="2 items in the column 'items' are numbers like 3.0"),
        Bad("a.parquet", lists([1.5]), ("'items'", "1.5")),
        Good("a.parquet", lists(["a"], ["b"], who=[3.0, 3.0]), [["a", "b"]], WHO),
        Bad("a.parquet", lists(["a"], who=[7.5]), ("'who'", "7.5"), WHO),
    ],
    "a damaged Parquet or Arrow file": [
        Bad("a.parquet", parquet(lists(["a"]))[:-9], ("Parquet",)),
        Bad("a.arrow", arrow(lists(["a"]))[:-9], ("valid",)),
    ],
    "a file whose content contradicts its name": [
        Bad("a.dat", b"PAR1\x15", ("UTF-8", "format")),
        Bad("a.csv", b"ARROW1\0\0", ("UTF-8", "format")),
        Bad("a.csv", b"PK\x03\x04", ("UTF-8", "CSV")),
        Bad("a.parquet", b"ARROW1\0\0", ("parquet", "format")),
        Bad("a.arrow", "a,b\n", (".arrow", "format")),
        Bad("a.feather", b"FEA1....", (".feather", "version 1")),
    ],
    "a file name that indicates no format (`.txt`, `.json`, `.xlsx`)": [
        Misused("a.txt", "1\n", ("'a.txt'", "format")),
        Misused("a.json", "[1]\n", ("'a.json'", "format")),
        Misused("a.xlsx", "PK", ("'a.xlsx'",)),
        Misused("a.data", "1\n", ("'a.data'", "format")),
        Misused("a.txt", "1\n", ("'fim'", "'fimi'"), {"format": "fim"}),
        Good("a.txt", "1 2\n", [["1", "2"]], {"format": "fimi"}),
        Good("A.DAT", "1 2\n", [["1", "2"]]),
    ],
    "unused columns of a table": [
        Good("a.csv", "n,id,item\nx,1,a\n", [["a"]], LONG),
        Good("a.jsonl", '{"n": {"x": [1.5]}, "items": ["a"]}\n', [["a"]]),
        Good("a.parquet", lists(["a"], n=[1.5]), [["a"]]),
        Good("a.parquet", pa.table({"a": [1], "n": ["x"], "who": ["ann"]}), [["a"]], {**WIDE, **WHO, "ignore": ("n",)}),
        Good(
            "a.arrow", pa.table({"who": ["x", "y"], "id": [1, 1], "item": ["a", "b"]}), [["a"], ["b"]], {**LONG, **WHO}
        ),
    ],
    "an unknown sensitive item": [
        Misused("a.csv", "beer,tea\n", ("'bear'", "'beer'"), {"sensitive": ["bear"]}),
        Misused("a.csv", "beer\n", ("'x'",), {"sensitive": ["x", "y"]}),
    ],
}
