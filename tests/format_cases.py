"""The lines of docs/formats.md about odd and bad input, each with files and the answer to them; see `test_formats`."""

import gzip
import io
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

LONG = {"long": ("id", "item")}
WIDE = {"wide": True}
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
    """A file that is refused: what the error says, and what it advises."""

    name: str
    content: bytes | str | pa.Table
    what: str
    advice: str
    options: dict[str, Any] = field(default_factory=dict)


def content_of(case: Good | Bad) -> bytes:
    """The bytes of the file; a table is written as the name says."""
    if isinstance(case.content, pa.Table):
        sink = io.BytesIO()
        if ".parquet" in case.name:
            pyarrow.parquet.write_table(case.content, sink)
        else:
            with pyarrow.ipc.new_file(sink, case.content.schema) as writer:
                writer.write_table(case.content)
        return sink.getvalue()
    return case.content.encode() if isinstance(case.content, str) else case.content


def zstd(text: bytes) -> bytes:
    """A .zst file."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as file:
        file.write(text)
    return sink.getvalue().to_pybytes()


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
        Good("a.jsonl", '["a"]\r\n["b"]\r[]', [["a"], ["b"], []], note="1 transactions are empty"),
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
        Bad("a.csv", 'a\n"b"c,d\n', "line 2: text follows", "Check the quotes"),
        Bad("a.csv", 'a\n\n"b\nc\n', "line 3: a quote is opened here", "Check the quotes"),
        Bad("a.csv", 'id,item\n1,"a', "line 2: a quote", "Check the line", LONG),
    ],
    "an item twice in a transaction": [
        Good("a.dat", "2 1 2 1\n", [["1", "2"]]),
        Good("a.csv", "id,item\n1,a\n1,a\n", [["a"]], LONG),
        Good("a.parquet", lists(["a", "a"]), [["a"]]),
    ],
    "an empty line": [
        Good("a.dat", "1\n\n \n", [["1"], [], []], note="2 transactions are empty; they count as people."),
        Good("a.csv", "a\n\nb\n", [["a"], [], ["b"]], note="1 transactions are empty"),
        Good("a.dat", "\n", [[]], note="1 transactions are empty"),
        Good("a.csv", "id,item\n1,a\n\n1,b\n", [["a", "b"]], LONG, "1 blank lines were passed over"),
        Good("a.csv", "a,b\n1,1\n\n", [["a", "b"]], WIDE, "1 blank lines were passed over"),
        Good("a.jsonl", '["a"]\n\n["b"]\n', [["a"], ["b"]], note="1 blank lines were passed over"),
    ],
    "an empty field": [
        Good("a.csv", "a,,b\n,,\n", [["a", "b"], []], note="4 empty fields between delimiters were passed over."),
    ],
    "an id without items": [
        Good("a.csv", "id,item\n1,\n2,a\n", [[], ["a"]], LONG, "1 transactions are empty"),
        Good(
            "a.jsonl",
            '{"id": 1}\n{"id": 2, "item": null}\n{"id": 3, "item": "a"}\n',
            [[], [], ["a"]],
            LONG,
            "2 transactions are empty",
        ),
        Good("a.parquet", pa.table({"id": [1, 2], "item": [None, "a"]}), [[], ["a"]], LONG, "1 transactions are empty"),
        Good("a.parquet", lists(None, [], ["a"]), [[], [], ["a"]], note="2 transactions are empty"),
        Good("a.jsonl", "null\n[]\n", [[], []], note="2 transactions are empty"),
    ],
    "ids up to 9223372036854775807, leading zeros": [
        Good("a.dat", f"{LARGEST} 0000000000000000000012 007\n", [["7", "12", LARGEST]]),
        Good("a.spmf", f"{LARGEST} 007\n", [["7", LARGEST]]),
        Good("a.csv", f"007,7,{LARGEST}0\n", [["007", "7", f"{LARGEST}0"]]),
    ],
    "a larger id, a negative one, a name in a FIMI or SPMF file": [
        Bad("a.dat", "1\n9223372036854775808 5\n", "line 2: '9223372036854775808' is larger", "--format basket"),
        Bad("a.dat", "1 -1 2 -1 -2\n", "line 1: '-1' is not an item id", "--format basket"),
        Bad("a.dat", "1\nmilk 2\n", "line 2: 'milk'", "--format basket, with --delimiter ' '"),
        Bad("a.dat", "1,2\n", "line 1: '1,2'", "--format basket"),
        Bad("a.spmf", "1\nmilk 2\n", "line 2: 'milk' is not an item id", "--format basket"),
    ],
    "not UTF-8": [
        Bad("a.csv", "a\nkäse\n".encode("latin-1"), "line 2: byte 0xe4 is not utf-8", "--encoding latin-1"),
        Bad("a.csv", "a\rb\rä,".encode("latin-1"), "line 3: byte 0xe4", "--encoding latin-1"),
        Bad("a.jsonl", b'["a"]\n["\xff"]\n', "line 2: byte 0xff", "--encoding latin-1"),
        Good("a.csv", "a\nkäse\n".encode("latin-1"), [["a"], ["käse"]], {"encoding": "latin-1"}),
    ],
    "UTF-16, zero bytes": [
        Bad("a.dat", "1 2\n".encode("utf-16"), "is not UTF-8 text", "--encoding utf-16"),
        Bad("a.csv", "a\nb\n".encode("utf-16-le"), "line 1: a zero byte", "--encoding (utf-16"),
        Bad("a.dat", b"1\n2\n\0\n", "line 3: a zero byte", "Export the data as text"),
        Good("a.csv", "käse,öl\n".encode("utf-16"), [["käse", "öl"]], {"encoding": "utf-16"}),
    ],
    "an encoding that does not exist": [
        Bad("a.dat", "1\n", "There is no encoding 'latin-99'", "utf-8, latin-1", {"encoding": "latin-99"}),
        Bad("a.csv", "ab\n", "There is no encoding 'hex'", "latin-1", {"encoding": "hex"}),
    ],
    "a .gz or .zst that is cut off or damaged": [
        Bad(
            "a.dat.gz", gzip.compress(MANY)[:-9], "ends amid its compressed data", "copy or download it again. Nothing"
        ),
        Bad("a.dat.zst", zstd(MANY)[:-3], "ends amid its compressed data", "Nothing was read"),
        Bad("a.dat.gz", gzip.compress(b"1\n")[:-8] + b"12345678", "not intact gzip data", "Copy it again"),
        Bad("a.dat.gz", "1 2\n", "is not intact gzip data", "rename it if it is not compressed"),
        Bad("a.dat.zst", "1 2\n", "is not intact zstd data", "rename it if it is not compressed"),
    ],
    "a packed text": [
        Good("a.dat.gz", gzip.compress(b"1 2\n") + gzip.compress(b"3\n"), ONE_TWO),
        Good("a.dat.ZST", zstd(b"1 2\n") + zstd(b"3\n"), ONE_TWO),
        Bad("a.dat", gzip.compress(b"1\n"), "is not UTF-8 text", "rename it so that it ends in .gz"),
        Bad("a.dat", zstd(b"1\n"), "is not UTF-8 text", "rename it so that it ends in .zst"),
    ],
    "a packed Parquet or Arrow file": [
        Bad("a.parquet.gz", gzip.compress(b"PAR1"), "'a.parquet.gz' is packed", "Unpack it first"),
        Bad("a.arrow.zst", zstd(b"ARROW1"), "'a.arrow.zst' is packed", "Unpack it first"),
    ],
    "an empty file": [
        Bad("a.dat", b"", "a.dat' is empty", "Give a file with something in it"),
        Bad("a.csv", "\ufeff", "a.csv' is empty", "something in it"),
        Bad("a.dat.gz", gzip.compress(b""), "is empty", "something in it"),
        Bad("a.jsonl", b"", "is empty", "something in it"),
        Bad("a.parquet", b"", "is named .parquet but is no Parquet file", "Check what it is"),
    ],
    "a header and nothing else": [
        Bad("a.csv", "a,b\n", "There is no transaction in 'a.csv'", "At least one", {"header": True}),
        Bad("a.csv", "id,item\n", "There is no transaction in 'a.csv'", "At least one", LONG),
        Bad("a.csv", "a,b\n", "There is no transaction in 'a.csv'", "At least one", WIDE),
        Bad("a.parquet", lists(["a"]).slice(1), "There is no transaction in 'a.parquet'", "At least one"),
        Bad("a.jsonl", "\n\n", "There is no transaction in 'a.jsonl'", "At least one"),
    ],
    "a column named twice": [
        Bad("a.csv", "a,b,a\n1,2\n", "line 1: the header names 'a' twice", "a name of its own", {"header": True}),
        Bad("a.csv", "a,b,a\n1,0,1\n", "line 1: the header names 'a' twice", "a name of its own", WIDE),
        Bad(
            "a.parquet",
            pa.table([[True], [False]], ["a", "a"]),
            "2 columns are called 'a'",
            "Give every item one",
            WIDE,
        ),
        Bad("a.jsonl", '{"items": [], "items": []}', "line 1: the key 'items' occurs twice", "Give every line"),
    ],
    "an unknown column or key": [
        Bad(
            "a.csv",
            "id,item,n\n1,a,2\n",
            "There is no column 'itm'. Available: 'id', 'item', 'n'.",
            "'item'?",
            {"long": ("id", "itm")},
        ),
        Bad(
            "a.csv",
            "who,what\nann,a\n",
            "There is no column 'whom'",
            "Did you mean 'who'?",
            {"header": True, "person": "whom"},
        ),
        Bad("a.csv", "n,a\n1,1\n", "There is no column 'm'", "Check its spelling", {**WIDE, "ignore": ("m",)}),
        Bad(
            "a.jsonl",
            '{"id": 1, "item": "a"}\n',
            "no line has the key 'itm'; the first has 'id', 'item'",
            "Did you mean 'item'?",
            {"long": ("id", "itm")},
        ),
        Bad(
            "a.jsonl",
            '{"id": 1, "item": "a"}\n',
            "line 1: there is no key 'di'; its keys are 'id', 'item'",
            "both keys",
            {"long": ("di", "item")},
        ),
        Bad(
            "a.jsonl",
            '{"item": ["a"]}\n',
            "line 1: there is no key 'items'; its keys are 'item'",
            "--column names the key",
        ),
        Bad(
            "a.parquet",
            lists(["a"]),
            "There is no column 'itmes'. Available: 'items'.",
            "Did you mean 'items'?",
            {"column": "itmes"},
        ),
    ],
    "the wrong delimiter": [
        Good("a.csv", "a;b\nc;d\ne\n", [["a;b"], ["c;d"], ["e"]], note="',' is not the right delimiter"),
        Bad(
            "a.csv", "a;b\n1;2\n", "There is no column 'a'. Available: 'a;b'.", "Say --delimiter", {"long": ("a", "b")}
        ),
        Bad("a.csv", "a;b\n1;0\n", "line 2: column 'a;b': '1;0' is neither 0 nor 1", "--delimiter", WIDE),
    ],
    "a delimiter that cannot be one": [
        Bad("a.csv", "a\n", f"The delimiter is {wrong!r}", "one plain character", {"delimiter": wrong})
        for wrong in ("", ";;", "§", '"', "\n", "1")
    ],
    "options that contradict each other": [
        Bad(
            "a.dat",
            "1;2\n",
            "The delimiter is ';'",
            "Leave --delimiter out, or say --format basket",
            {"delimiter": ";"},
        ),
        Bad(
            "a.csv",
            "a,b\n",
            "--long does not go with --format basket",
            "Leave one",
            {"format": "basket", "long": ("a", "b")},
        ),
        Bad("a.csv", "a,b\n", "A table cannot be long and wide", "Say --long or --wide", {**LONG, **WIDE}),
        Bad("a.csv", "a,b\n", "cannot be the id and the item", "Name two columns", {"long": ("a", "a")}),
        Bad("a.csv", "a,b\n", "--column item does not go with --long", "--long ID,ITEM", {**LONG, "column": "item"}),
        Bad("a.csv", "a,b\n", "--column b does not go with basket", "Leave it out", {"column": "b"}),
        Bad("a.csv", "a,b\n", "A long table needs the names of its columns", "--long ID,ITEM", {"format": "long"}),
        Bad("a.dat", "1\n", "A header does not go with FIMI", "Leave --header out", {"header": True}),
        Bad("a.dat", "1\n", "no column that says whose", "Leave --person out", WHO),
        Bad("a.csv", "a\n", "can only be found in a header", "Add --header", WHO),
        Bad("a.csv", "a\n", "--ignore and --counts are for wide tables", "Add --wide", {"counts": True}),
        Bad(
            "a.csv",
            "id,item\n1,a\n",
            "'item' cannot both hold the items and say whose",
            "Name two",
            {**LONG, "person": "item"},
        ),
        Bad(
            "a.jsonl",
            '{"items": []}',
            "'items' cannot both hold the items and say whose",
            "Name two",
            {"person": "items"},
        ),
        Bad("a.csv", "a\n", "A query goes with a database only", "Leave --query out", {"query": "SELECT 1"}),
        Bad("a.spmf", "1\n", "--wide does not go with the format spmf", "Leave one of them out", WIDE),
    ],
    "a line without a person": [
        Bad("a.csv", "who,x\nann,a\n,b\n", "line 3: column 'who': it is empty", "Fill it in", {"header": True, **WHO}),
        Bad("a.csv", "who,a\nann,1\n,1\n", "line 3: column 'who': it is empty", "Fill it in", {**WIDE, **WHO}),
        Bad(
            "a.csv", "id,who,item\n1,ann,a\n2,,b\n", "line 3: column 'who': it is empty", "Fill it in", {**LONG, **WHO}
        ),
        Bad("a.jsonl", '{"items": [], "who": ""}', "line 1: the person is an empty name", "Fill it in", WHO),
        Bad("a.jsonl", '{"items": []}', "line 1: there is no key 'who'", "Fill it in", WHO),
        Bad(
            "a.parquet",
            lists(["a"], ["b"], who=["ann", None]),
            "Row 2 (counting from 1) does not say whose it is",
            "Fill it in",
            WHO,
        ),
    ],
    "a line of a long or wide table with too few or too many fields": [
        Bad("a.csv", "id,item\n1\n", "line 2", "Check the line", LONG),
        Bad("a.csv", "id,item\n1,a,b\n", "line 2", "Check the line", LONG),
        Bad("a.csv", "a,b\n1\n", "line 2: the header has 2 columns, this line has 1", "Check the line", WIDE),
    ],
    "a long table whose ids come back later": [
        Good("a.csv", "id,item\n1,a\n2,b\n1,c\n", [["a", "c"], ["b"]], LONG),
        Good(
            "a.jsonl",
            '{"id": 1, "item": "a"}\n{"id": 2, "item": "b"}\n{"id": "1", "item": "c"}\n',
            [["a", "c"], ["b"]],
            LONG,
        ),
        Good("a.parquet", pa.table({"id": [1, 2, 1], "item": ["a", "b", "c"]}), [["a", "c"], ["b"]], LONG),
    ],
    "cells of a wide table: `0`, `1`, `true`, `false`, nothing": [
        Good("a.csv", 'a,b,c\n0,1,TRUE\nfalse,,"1"\n', [["b", "c"], ["c"]], WIDE),
        Good("a.parquet", pa.table({"a": [True, None], "b": [0, 1], "c": [1.0, None]}), [["a", "c"], ["b"]], WIDE),
    ],
    "other cells of a wide table": [
        Bad("a.csv", "a,b\n0,x\n", "line 2: column 'b'", "--ignore COLUMN", WIDE),
        Bad("a.csv", "a,b\n0,2\n", "line 2: column 'b'", "if it counts, --counts", WIDE),
        Bad(
            "a.parquet",
            pa.table({"a": [0, 2]}),
            "Row 2 (counting from 1) of the column 'a' holds 2, neither",
            "--counts",
            WIDE,
        ),
        Bad(
            "a.parquet",
            pa.table({"a": [1], "n": ["x"]}),
            "'n' is of type string, so it does not say yes or no",
            "--ignore n",
            WIDE,
        ),
    ],
    "whole numbers in a wide table, with `--counts`": [
        Good(
            "a.csv", "a,b\n0,2\n12,007\n", [["b"], ["a", "b"]], {**WIDE, "counts": True}, "3 cells hold numbers above 1"
        ),
        Good(
            "a.parquet", pa.table({"a": [0, 2]}), [[], ["a"]], {**WIDE, "counts": True}, "1 cells hold a number above 1"
        ),
        Bad(
            "a.csv",
            "a\n-1\n",
            "line 2: column 'a': '-1' is not a count",
            "say --ignore COLUMN.",
            {**WIDE, "counts": True},
        ),
        Bad(
            "a.parquet",
            pa.table({"a": [1.5]}),
            "holds 1.5, which is no number of pieces",
            "--ignore a",
            {**WIDE, "counts": True},
        ),
    ],
    "a wide column without a name": [
        Bad("a.csv", ",a\n0,1\n", "line 1: column 1 has no name", "say --ignore ''", WIDE),
        Good("a.csv", ",a\n0,1\n1,0\n", [["a"], []], {**WIDE, "ignore": ("",)}, "1 transactions are empty"),
    ],
    "JSON lines of the wrong kind": [
        Bad("a.jsonl", '["a"]\n{"items": []}\n', "line 2: this line is an object", "--column names the key"),
        Bad("a.jsonl", '{"items": []}\n["a"]\n', "line 2: this line is an array", "one JSON value"),
        Bad("a.jsonl", '["a"\n', "line 1: not valid JSON", "Give every line one JSON value"),
        Bad("a.jsonl", '["a", 1.5]\n', "line 1: an item is the number '1.5'", "Give every line"),
        Bad("a.jsonl", '["a", null]\n', "line 1: an item is null", "Give every line"),
        Bad("a.jsonl", "[[1]]\n", "line 1: an item is an array", "Give every line"),
        Bad("a.jsonl", '[""]\n', "line 1: an item is an empty name", "Give every line"),
        Bad(
            "a.jsonl", "[1]\n", "line 1: this line is an array, not an object", "Give every line one JSON object", LONG
        ),
    ],
    "names in an SPMF file": [
        Good(
            "a.spmf",
            "@CONVERTED_FROM_TEXT\n@ITEM=1=rye bread\n@ITEM=2=tea\n1 2\n3\n# x\n",
            [["rye bread", "tea"], ["3"]],
        ),
        Bad(
            "a.spmf", "@ITEM=1=tea\n@ITEM=1=milk\n1\n", "line 2: the id 1 is named 'milk', and before 'tea'", "one name"
        ),
        Bad("a.spmf", "@ITEM=1=tea\n@ITEM=2=tea\n1 2\n", "several ids are named 'tea'", "a name of its own"),
    ],
    "sequences in an SPMF file": [
        Good("a.spmf", "1 -1 3 2 -1 -2\n2 -1 -2\n", [["1", "2", "3"], ["2"]], note="2 lines are sequences"),
    ],
    "an SPMF file with utilities": [
        Bad("a.spmf", "1 2:9:4 5\n", "line 1: '2:9:4' holds a colon", "--format basket"),
    ],
    "a table without a column of lists, or with several": [
        Bad(
            "a.parquet",
            pa.table({"a": [1]}),
            "No column holds lists: 'a' (int64)",
            "--column COLUMN for lists, --long ID,ITEM",
        ),
        Bad("a.arrow", lists(["a"], more=[["b"]]), "2 columns hold lists", "Say which with --column items"),
        Good("a.arrow", lists(["a"], more=[["b"]]), [["b"]], {"column": "more"}),
        Bad(
            "a.parquet",
            pa.table({"a": [1]}),
            "The column 'a' is of type int64, not of lists",
            "--long ID,ITEM",
            {"column": "a"},
        ),
        Bad(
            "a.parquet",
            lists(["a"], id=[1]),
            "The column 'items' holds lists",
            "Say --column items",
            {"long": ("id", "items")},
        ),
    ],
    "an item of a table that is null, empty, or no name": [
        Bad(
            "a.parquet", lists(["a"], ["b", None]), "Row 2 (counting from 1) holds an item that is null", "Remove such"
        ),
        Bad(
            "a.parquet", lists(["a", ""]), "Row 1 (counting from 1) holds an item with an empty name", "Give it a name"
        ),
        Bad("a.parquet", lists([[1]]), "of type list", "Items are names (text) or ids"),
    ],
    "numbers with a fraction in a table": [
        Good("a.parquet", lists([3.0, 4.0]), [["3", "4"]], note="2 items in the column 'items' are numbers like 3.0"),
        Bad("a.parquet", lists([1.5]), "The column 'items' holds 1.5, which is no item", "whole numbers"),
    ],
    "a damaged Parquet or Arrow file": [
        Bad(
            "a.parquet",
            content_of(Good("a.parquet", lists(["a"]), []))[:-9],
            "is no intact Parquet file",
            "copy or write it again",
        ),
        Bad(
            "a.arrow",
            content_of(Good("a.arrow", lists(["a"]), []))[:-9],
            "is no intact Arrow file",
            "copy or write it again",
        ),
    ],
    "a file of another kind than its name says": [
        Bad("a.dat", b"PAR1\x15", "is not UTF-8 text", "It is a Parquet file: say --format parquet"),
        Bad("a.csv", b"ARROW1\0\0", "is not UTF-8 text", "It is an Arrow file: say --format arrow"),
        Bad("a.csv", b"PK\x03\x04", "is not UTF-8 text", "save the sheet as CSV"),
        Bad("a.parquet", b"ARROW1\0\0", "is named .parquet but is no Parquet file", "say --format arrow"),
        Bad("a.arrow", "a,b\n", "is named .arrow but is no Arrow file", "--format"),
        Bad("a.feather", b"FEA1....", "is named .feather but is no Arrow file", "version 1: write it again as Arrow"),
    ],
    "a name that says nothing (`.txt`, `.json`, `.xlsx`)": [
        Bad("a.txt", "1\n", "'a.txt' does not say how the file is laid out", "--format fimi (ids), --format basket"),
        Bad("a.json", "[1]\n", "'a.json' does not say", "one JSON value a line, say --format jsonl"),
        Bad("a.xlsx", "PK", "'a.xlsx' does not say", "Save the sheet as CSV"),
        Bad("a.data", "1\n", "'a.data' does not say", "--format with one of fimi, spmf, basket"),
        Bad("a.txt", "1\n", "There is no format 'fim'", "Did you mean 'fimi'?", {"format": "fim"}),
        Good("a.txt", "1 2\n", [["1", "2"]], {"format": "fimi"}),
        Good("A.DAT", "1 2\n", [["1", "2"]]),
    ],
    "columns of a table that nobody needs": [
        Good("a.csv", "n,id,item\nx,1,a\n", [["a"]], LONG),
        Good("a.jsonl", '{"n": {"x": [1.5]}, "items": ["a"]}\n', [["a"]]),
        Good("a.parquet", lists(["a"], n=[1.5]), [["a"]]),
        Good("a.parquet", pa.table({"a": [1], "n": ["x"], "who": ["ann"]}), [["a"]], {**WIDE, **WHO, "ignore": ("n",)}),
        Good(
            "a.arrow", pa.table({"who": ["x", "y"], "id": [1, 1], "item": ["a", "b"]}), [["a"], ["b"]], {**LONG, **WHO}
        ),
    ],
    "an unknown sensitive item": [
        Bad(
            "a.csv", "beer,tea\n", "'bear' does not occur in the data", "Did you mean 'beer'?", {"sensitive": ["bear"]}
        ),
        Bad("a.csv", "beer\n", "'x' does not occur in the data", "spelling", {"sensitive": ["x", "y"]}),
    ],
}
