"""What `mutating` starts from: for every format its readers, each with files rich in what a reader must know."""

import datetime
import gzip
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import pyarrow.ipc

from tests.support.tables import arrow, parquet, zstd
from veilset.io import FORMATS

TOKENS = [
    *(bytes([byte]) for byte in b'",;\t\n\r \\\0{}[]:=@#-+.0123456789aeE'),
    b"\r\n", b'""', b'"\n"', b",,", b"\xef\xbb\xbf", b"\xff\xfe", "ä".encode(), "茶".encode(), b"\xed\xa0\x80", b"\xc3",
    b"null", b"true", b"1.5", b"1e9", b"-1", b"-2", b"-0", b"007", b"9223372036854775807", b"9223372036854775808",
    b"\\u0000", b"\\ud800", b"\\u00e4", b'"id"', b'"item"', b'"items"', b'"who"', b"who", b"@ITEM=1=", b"@CONVERTED",
]  # fmt: skip


@dataclass(frozen=True)
class Reader:
    """One way to read a format, and files that it can read."""

    name: str
    format: str
    seeds: list[bytes]
    options: dict[str, Any] = field(default_factory=dict)
    packing: str = ""

    @property
    def is_text(self) -> bool:
        """Whether it reads text."""
        return FORMATS[self.format].container not in ("parquet", "arrow")

    @property
    def suffix(self) -> str:
        """What the name of such a file ends in."""
        return FORMATS[self.format].suffix + self.packing


WHO = {"person": "who"}
LONG = {"long": ("id", "item")}
SKIP = {"missing": "skip"}

_TEXT: dict[str, list[tuple[dict[str, Any], list[str]]]] = {
    "fimi": [({}, ["1 2 3\n\n45\t6 \r\n9223372036854775807 12345678\r4194304 007 0", "1\n2 3\n", "7 7 7 8\n\n\n"])],
    "spmf": [
        (
            {},
            [
                "@CONVERTED_FROM_TEXT\n@ITEM=17=apple\r\n@ITEM=2=käse und 茶\n@ITEM=-1=|\n17 2\n\n# x\r17 5\n%y\n2",
                "1 -1 3 4 -1 -2\n3 -1 -2\n",
                "@ITEM=1=2\n@ITEM=2=1\n1 2\n2\n",
                "12345678 9223372036854775807\n1\n",
            ],
        ),
    ],
    "basket": [
        ({}, ['milk,"a ""b"" c",\n\n"x\ny\r\n" , käse\r\nz,,z\r"a,\r"\r\n " "\n,\nlonger name,m', "\ufeffa,\ufeff\n1"]),
        ({"header": True, **WHO}, ["who,what,\nann,beer,tea\nbob,\n\"a\nn\",x,,y\nann,milk\n", '"who"\n1,2\n2,1\n1,3']),
        ({"delimiter": ";", "header": True}, ['a;"b;c"\n1;2,3\n;;\n"4;";5\n']),
        ({"encoding": "utf-16"}, ["käse,茶\n\u2028,x\n"]),
        ({"encoding": "latin-1"}, ["käse,öl\né\n"]),
    ],
    "long": [
        (LONG, ['id,item,n\n1,"a,b",2\n1,käse,1\r\n2,,0\n\n3,x,1\n1,"back\nagain",0\n', "item,id\na,1\nb,1\rc,2"]),
        (LONG | WHO, ["id,who,item\n1,ann,tea\n2,bob,\n3,ann,rye bread\n"]),
        (LONG | {"delimiter": "\t"}, ["id\titem\n1\ta, b\n\n2\t\n"]),
    ],
    "wide": [
        ({}, ['a,"b,c",käse\n0,1,0\n1,1,TRUE\r\nfalse,,"1"\n\n0,0,0\n', "x\n1\n0\n1"]),
        (WHO | {"ignore": ("n", ""), "counts": True}, [',who,a,n,b\n0,ann,12,"x\ny",0\n1,bob,007,,1\n2,ann,0,z,3\n']),
    ],
    "jsonl": [
        ({}, ['["a", 12, "käse"]\n[]\r\n\r \nnull\n["\\u00e4\\ud83d\\ude00\\n\\"", "\\/", -0, "a"]\n[ 1 ,2]', '["x"]']),
        (
            WHO,
            [
                '{"who": "ann", "items": ["a", 1]}\r\n{"items": null, "n": [1.5e3, {"x": true}], "who": 7}\n\n',
                '{"it\\u0065ms": ["x"], "a": {"b": [], "c": {}}, "who": "ä", "z": false}\r{"who":1,"items":[]}',
            ],
        ),
        ({"column": "what"}, ['{"what": ["a", "b"]}\n{"what": [], "x": -1.0E+2}\n']),
    ],
    "jsonl-long": [
        (
            LONG | SKIP,
            ['{"id": 1, "item": "a"}\r\n{"item": null, "id": "x"}\n\n{"id": 1}\r{"x": [], "item": 5, "id": "1"}\n'],
        ),
        (LONG | WHO, ['{"id": 1, "item": "a", "who": "ann"}\n{"who": 2, "item": "b\\n"}\n{"who": "ann", "item": 3}\n']),
    ],
}  # fmt: skip


def readers_of(kind: str) -> list[Reader]:
    """The readers of a format."""
    if kind not in _TEXT:
        return _table_readers(kind)
    readers = []
    for number, (options, texts) in enumerate(_TEXT[kind], start=1):
        seeds = [text.encode(options.get("encoding", "utf-8")) for text in texts]
        readers.append(Reader(f"{kind} {number}", kind, seeds, options))
    first = readers[0]
    zipped = [gzip.compress(seed, mtime=0) for seed in first.seeds]
    # Two frames, one after the other, are one file; so are two members of gzip, which splicing gives.
    frames = [zstd(seed[:5]) + zstd(seed[5:]) for seed in first.seeds]
    packed = {".gz": zipped, ".zst": frames}
    return readers + [replace(first, name=f"{kind}{end}", packing=end, seeds=seeds) for end, seeds in packed.items()]


ROWS = [["ale", "bun"], [], ["käse", "ale", "a longer name"], ["x\ny", "bun"], ["ale"], ["茶"], ["bun", "x\ny"]] * 3
PEOPLE = ["ann", "bob", "cy", "ann", "dee", "bob", "eve"] * 3


def _lists() -> list[tuple[dict[str, Any], pa.Table]]:
    ids = [[len(name) for name in row] for row in ROWS]
    days = [datetime.date(2020, 1, 1 + len(person)) for person in PEOPLE]
    coded = pa.array(ROWS, pa.list_(pa.dictionary(pa.int8(), pa.string())))
    return [
        ({}, pa.table({"items": pa.array(ROWS, pa.list_(pa.string()))})),
        ({"column": "ids"}, pa.table({"n": PEOPLE, "ids": pa.array(ids, pa.large_list(pa.int64())), "items": coded})),
        (WHO | {"column": "items"}, pa.table({"who": PEOPLE, "items": coded, "x": [1.5] * 21})),
        (WHO, pa.table({"items": pa.array([*ROWS[1:], None], pa.list_(pa.string())), "who": days})),
    ]  # fmt: skip


def _long() -> list[tuple[dict[str, Any], pa.Table]]:
    pairs = [(number, item, PEOPLE[number]) for number, row in enumerate(ROWS) for item in [*row, None]]
    ids, items, who = (list(column) for column in zip(*pairs, strict=True))
    codes = pa.array([None if item is None else float(len(item)) for item in items])
    return [
        (LONG | SKIP, pa.table({"id": ids, "item": items})),
        (LONG | WHO | SKIP, pa.table({"item": pa.array(items).dictionary_encode(), "who": who, "id": ids})),
        (LONG | SKIP, pa.table({"item": codes, "id": pa.array(map(str, ids), pa.large_string())})),
    ]


def _wide() -> list[tuple[dict[str, Any], pa.Table]]:
    names = sorted({name for row in ROWS for name in row})
    there = {name: [name in row for row in ROWS] for name in names}
    counts = {name: pa.array([3 * cell or None for cell in cells], pa.int16()) for name, cells in there.items()}
    return [
        ({}, pa.table(there)),
        (WHO | {"counts": True, "ignore": ("n",)}, pa.table({"n": PEOPLE, **counts, "who": PEOPLE})),
        ({}, pa.table({name: pa.array(cells, pa.bool_()).cast(pa.float64()) for name, cells in there.items()})),
    ]


def _table_readers(kind: str) -> list[Reader]:
    container, shape, _, _ = FORMATS[kind]
    tables = {"lists": _lists, "long": _long, "wide": _wide}[shape]()
    write = _parquet_files if container == "parquet" else _arrow_files
    return [Reader(f"{kind} {n}", kind, write(table), options) for n, (options, table) in enumerate(tables, start=1)]


def _parquet_files(table: pa.Table) -> list[bytes]:
    ways: list[dict[str, Any]] = [
        {"compression": "zstd", "write_statistics": False, "store_schema": False},
        {"compression": "snappy", "row_group_size": 8, "write_page_index": True},
        {"compression": "none", "data_page_version": "2.0", "use_dictionary": False, "data_page_size": 64},
        {"compression": "gzip", "version": "1.0"},
    ]
    return [parquet(table, **way) for way in ways]


def _arrow_files(table: pa.Table) -> list[bytes]:
    new_file, new_stream = pyarrow.ipc.new_file, pyarrow.ipc.new_stream
    ways = [(new_file, None), (new_stream, None), (new_file, "lz4"), (new_stream, "zstd")]
    return [arrow(table, new, rows=8 if packing else 30, compression=packing) for new, packing in ways]
