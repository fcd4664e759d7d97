"""docs/formats.md is a contract: every line of its tables is tested here, and every test is on a line of it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import veilset as vs
from tests.support.errors import names, refused
from tests.support.format_cases import CASES, Bad, Good, content_of
from tests.support.memory import leaving
from tests.support.places import DOCS, ROOT
from tests.support.tables import arrow, parquet, zstd
from veilset.cli import main
from veilset.io import FORMATS

pytestmark = pytest.mark.no_sanitizer(reason="slow there, and kernels see nothing that other tests do not show them")

PAGE = (DOCS / "formats.md").read_text()


def table(heading: str) -> list[list[str]]:
    """The cells of the first table below a heading of the page."""
    lines = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0].splitlines()
    rows = [line for line in lines if line.startswith("| ")]
    return [re.split(r"\s*\|\s*", row.strip("| ")) for row in rows[1:]]


def quoted(cell: str) -> list[str]:
    return re.findall("`([^`]+)`", cell)


def arguments(options: dict[str, Any]) -> list[str]:
    """Options of `veilset.read` as the command line takes them."""
    found = []
    for name, value in options.items():
        option = "--sensitive-items" if name == "sensitive" else f"--{name}"
        if value is True:
            found.append(option)
        elif name == "long":
            found += [option, ",".join(value)]
        else:
            found += [part for one in ([value] if isinstance(value, str) else value) for part in (option, one)]
    return found


# The formats

FORMAT_LINES = {quoted(line[0])[0]: line[1:] for line in table("Formats")}


def test_every_format_is_on_the_page() -> None:
    assert list(FORMAT_LINES) == list(FORMATS)
    assert all(quoted(line[0])[0] == FORMATS[name].suffix for name, line in FORMAT_LINES.items())


def example(kind: str, suffix: str) -> bytes:
    """The example of the page as a file."""
    lines = quoted(FORMAT_LINES[kind][2])
    if kind.startswith(("parquet", "arrow")):
        rows = pa.Table.from_pylist([json.loads(line) for line in lines])
        return parquet(rows) if kind.startswith("parquet") else arrow(rows)
    text = "".join(f"{line}\n" for line in lines)
    return (text.replace(",", "\t") if suffix == ".tsv" else text).encode()


@pytest.mark.parametrize(
    ("kind", "suffix"), [(kind, suffix) for kind, line in FORMAT_LINES.items() for suffix in quoted(line[0])]
)
def test_a_format(kind: str, suffix: str, tmp_path: Path) -> None:
    said = quoted(FORMAT_LINES[kind][1])
    options = {"long": ("id", "item")} if said == ["--long id,item"] else {"wide": True} if said == ["--wide"] else {}
    assert " ".join(arguments(options)) == "".join(said)
    expected = [["1", "2"], ["3"]] if kind == "fimi" else [["beer", "milk"], ["tea"]]
    content = example(kind, suffix)
    (tmp_path / f"a{suffix}").write_bytes(content)
    data = vs.read(tmp_path / f"a{suffix}", **options)
    assert data.to_lists() == expected
    assert data.source.layout.format == kind
    (tmp_path / "a.data").write_bytes(content)
    delimiter = {"delimiter": "\t"} if suffix == ".tsv" else {}
    assert vs.read(tmp_path / "a.data", format=kind, **options, **delimiter).to_lists() == expected
    data.write(tmp_path / f"b{suffix}", **options)
    assert vs.read(tmp_path / f"b{suffix}", **options) == data
    if FORMATS[kind].container not in ("parquet", "arrow"):
        (tmp_path / f"a{suffix}.zst").write_bytes(zstd(content))
        assert vs.read(tmp_path / f"a{suffix}.zst", **options) == data
        data.write(tmp_path / f"b{suffix}.gz", **options)
        assert vs.read(tmp_path / f"b{suffix}.gz", **options) == data


# The options: a file, what the command line is given, and the transactions of the released file

OPTIONS: dict[str, tuple[str, str | pa.Table, list[str], list[list[str]]]] = {
    "--format": ("a.txt", "2 1\n3\n", ["fimi"], [["1", "2"], ["3"]]),
    "--delimiter": ("a.csv", "b\ta\nc\n", ["tab"], [["a", "b"], ["c"]]),
    "--header": ("a.csv", "first,second\nb,a\n", [], [["a", "b"]]),
    "--column": ("a.jsonl", '{"what": ["b", "a"]}\n', ["what"], [["a", "b"]]),
    "--long": ("a.csv", "what,who\nb,1\na,1\nc,2\n", ["who,what"], [["a", "b"], ["c"]]),
    "--wide": ("a.csv", "a,b\n1,1\n0,1\n", [], [["a", "b"], ["b"]]),
    "--ignore": ("a.csv", "n,a,b,m\n7,1,1,x\n", ["n", "--ignore", "m", "--wide"], [["a", "b"]]),
    "--counts": ("a.csv", "a,b\n2,0\n1,3\n", ["--wide"], [["a"], ["a", "b"]]),
    "--person": ("a.csv", "who,\nann,b\nbob,c\nann,a\n", ["who", "--header"], [["a", "b"], ["c"]]),
    "--where": (
        "a.csv",
        "id,Country,item\n1,France,b\n2,UK,c\n1,France,a\n",
        ["Country = 'France'", "--long", "id,item"],
        [["a", "b"]],
    ),
    "--unknown-person": (
        "a.csv",
        "id,who,item\n1,ann,b\n2,0,c\n3,0,d\n4,ann,a\n",
        ["0,NA", "--unknown-rows", "separate", "--long", "id,item", "--person", "who"],
        [["a", "b"], ["c"], ["d"]],
    ),
    "--unknown-rows": ("a.csv", "who,\nann,b\n,c\nann,a\n", ["skip", "--header", "--person", "who"], [["a", "b"]]),
    "--missing": ("a.csv", "id,item\n1,a\n,c\n1,\n2,b\n", ["skip", "--long", "id,item"], [["a"], ["b"]]),
    "--encoding": ("a.csv", "käse,öl\n", ["utf-16"], [["käse", "öl"]]),
    "--out-format": ("a.csv", "b,a\nc\n", ["jsonl"], [["a", "b"], ["c"]]),
}


def test_every_option_is_on_the_page() -> None:
    named = [quoted(line[0])[0] for line in table("Options")]
    # tests/io/test_sql.py is about queries, tests/transactions/test_normalizing.py about names
    assert set(named) == {*OPTIONS, "--query", "--normalize"}


@pytest.mark.parametrize("option", OPTIONS)
def test_an_option(option: str, tmp_path: Path, capsys) -> None:
    name, content, values, expected = OPTIONS[option]
    encoding = values[0] if option == "--encoding" else "utf-8"
    (tmp_path / name).write_bytes(content.encode(encoding))
    command = [
        "publish",
        str(tmp_path / name),
        option,
        *values,
        "--k",
        "1",
        "--p",
        "1",
        "--yes",
        "--out",
        str(tmp_path / "out"),
    ]
    assert main(command) == 0, capsys.readouterr().err
    assert main(["verify", str(tmp_path / "out")]) == 0
    (public,) = (tmp_path / "out" / "public").glob("data.*")
    certificate = json.loads((public.parent / "certificate.json").read_text())
    assert ("merged" in certificate["one_transaction_is"]) == ("--person" in (option, *values))
    layout = certificate["data"]
    shape = {"long": layout["columns"]} if "--long" in (option, *values) else {}
    shape |= {"column": layout["columns"][0]} if option == "--column" else {}
    found = vs.read(public, format=layout["format"], delimiter=layout["delimiter"] or None, **shape)
    assert sorted(found.to_lists()) == sorted(expected)


# Odd and bad input


def test_every_case_is_on_the_page() -> None:
    assert [line[0] for line in table("Odd and bad input")] == [*CASES, *OTHERS]


@pytest.mark.parametrize(
    ("line", "case"),
    [pytest.param(k, case, id=f"{k} {n}") for k, cases in CASES.items() for n, case in enumerate(cases)],
)
def test_a_case(line: str, case: Good | Bad, tmp_path: Path, capsys, snapshot) -> None:
    path = tmp_path / case.name
    path.write_bytes(content_of(case))
    command = ["audit", str(path), *arguments(case.options), "--k", "1", "--p", "1"]
    if isinstance(case, Good):
        data = vs.read(path, **case.options)
        assert data.to_lists() == case.rows
        notes = " ".join(data.source.notes)
        assert case.note in notes
        assert bool(case.note) == bool(notes)
        assert main(command) == 0, capsys.readouterr().err
        return
    with refused(case.kind, *case.named, said=snapshot) as caught:
        vs.read(path, **case.options)
    if "sensitive" not in case.options:  # lists of sensitive items have words of their own, see test_sensitive
        assert main(command) == caught.value.exit_code == 2
        told = capsys.readouterr().err
        assert all(names(told, named) for named in case.named)


def a_missing_file(folder: Path) -> None:
    (folder / "retail.dat").touch()
    for name, value in [
        ("retial.dat", "'retail.dat'"),
        ("x.csv", "retail.dat"),
        ("nowhere/a.dat", "folder"),
        ("retail.dat/a.dat", "folder"),
        ("a" * 300 + ".dat", "File name too long"),
    ]:
        with refused(vs.UnreadableInput, Path(name).name, value):
            vs.read(folder / name)
    for kind in ("fimi", "parquet"):
        with refused(vs.UnreadableInput, "folder"):
            vs.read(folder, format=kind)


def ten_million_items(folder: Path) -> None:
    numbers = b" ".join(b"%d" % i for i in range(1000))
    (folder / "a.dat").write_bytes(numbers + b" " + b"7 " * 10_000_000)
    assert vs.read(folder / "a.dat").to_lists() == [[str(i) for i in range(1000)]]
    (folder / "a.csv").write_bytes(b"a,b," * 5_000_000 + b"c")
    assert vs.read(folder / "a.csv").to_lists() == [["a", "b", "c"]]


LARGE = """
import resource, sys, veilset as vs
from tests.support.memory import leaving
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
try:
    data = vs.read(sys.argv[1], memory_limit=leaving(20_000_000))
    print(len(data), int(data.items.sum()), len(data.items))
except vs.BudgetExceeded as error:
    print(error.exit_code, error)
"""


def larger_than_memory(folder: Path) -> None:
    rows = np.random.default_rng(5).integers(0, 1000, (200_000, 12)).tolist()
    (folder / "a.dat").write_text("\n".join(" ".join(map(str, row)) for row in rows) + "\n")

    def said(largest_file: int) -> str:
        command = [sys.executable, "-c", LARGE, str(folder / "a.dat"), str(largest_file)]
        environment = os.environ | {"TMPDIR": str(folder)}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
        assert [path.name for path in folder.iterdir()] == ["a.dat"]
        return done.stdout

    sets = [set(row) for row in rows]
    assert said(1 << 40).split() == [str(n) for n in (len(sets), sum(map(sum, sets)), sum(map(len, sets)))]
    told = said(1 << 20)
    assert told.startswith("4 ")
    assert names(told, f"'{folder}'")
    assert names(told, "TMPDIR")


def identifiers(folder: Path) -> None:
    (folder / "a.csv").write_text("tea,2024-01-03\ntea,ann@mail.org,12345678,milk\n")
    assert [(found.kind, found.count) for found in vs.read(folder / "a.csv").identifiers] == [
        ("e-mail addresses", 1),
        ("dates or times", 1),
        ("long numbers", 1),
    ]


def claims_too_much(folder: Path) -> None:
    ends = pa.array(np.zeros(3_000_001, np.int32))
    empty = pa.ListArray.from_arrays(ends, pa.array([], pa.string()))
    pa.parquet.write_table(pa.table({"items": empty}), folder / "a.parquet")
    with refused(vs.UnreadableInput, "a.parquet'", "3,000,000"):
        vs.read(folder / "a.parquet", memory_limit=leaving(20_000_000))


OTHERS = {
    "items that look like identifiers": identifiers,
    "a missing file, a folder": a_missing_file,
    "a line of ten million items": ten_million_items,
    "data larger than memory": larger_than_memory,
    "a small Parquet or Arrow file that claims more rows or values than memory holds": claims_too_much,
}


@pytest.mark.parametrize("line", OTHERS)
def test_another_case(line: str, tmp_path: Path) -> None:
    OTHERS[line](tmp_path)
