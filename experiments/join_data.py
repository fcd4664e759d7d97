"""The data of the chapter on secure join classification (thesis ch. 3): Mondial, and a university."""

from __future__ import annotations

import csv
import gzip
import io
import re
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.csv

_CHRISTIAN = frozenset(
    [
        "Catholic",
        "Christian",
        "Christian Orthodox",
        "Coptic Christian",
        "Jehovas Witnesses",
        "Mormon",
        "New Apostolic",
        "Protestant",
        "Quaker",
        "Tewahedo Christian Orthodox",
    ]
)
# By country code, as in §3.4.1. The first is the target.
_BY_COUNTRY = {
    "Religion": "Country",
    "Country": "Code",
    "City": "Country",
    "Politics": "Country",
    "EthnicGroup": "Country",
    "Language": "Country",
    "Population": "Country",
    "Economy": "Country",
    "Encompasses": "Country",
    "IsMember": "Country",
}
_BY_OTHERS = {
    "Continent": ("Encompasses.Continent", "Continent.Name"),
    "Organization": ("IsMember.Organization", "Organization.Abbreviation"),
}


@dataclass(frozen=True)
class JoinData:
    """Tables by name, the equalities that join them, and where the class is."""

    tables: dict[str, pa.Table]
    joins: list[tuple[str, str]]
    target: str


def mondial(folder: Path) -> JoinData:
    """Twelve tables: is a religion of a country a Christian one? 18,771 rows, of which 430,399,142 are joined.

    Parameters
    ----------
    folder : Path
        The tables as gzipped CSV files.
    """
    keys = {
        **{name: [key] for name, key in _BY_COUNTRY.items()},
        "Continent": ["Name"],
        "Organization": ["Abbreviation"],
    }
    tables = {name: _mondial_table(folder, name, keys[name]) for name in keys}
    religion = tables["Religion"]
    names = religion.column("Name").to_pylist()
    classes = pa.array(["Christian" if name in _CHRISTIAN else "other" for name in names])
    tables["Religion"] = religion.drop_columns("Name").append_column("Class", classes)
    joins = [("Religion.Country", f"{name}.{key}") for name, key in list(_BY_COUNTRY.items())[1:]]
    return JoinData(tables, [*joins, *_BY_OTHERS.values()], "Religion.Class")


def _mondial_table(folder: Path, name: str, keys: list[str]) -> pa.Table:
    """Keys are text, also the code of a country that looks like something else; an empty field is missing."""
    content = gzip.decompress((folder / f"{name.lower()}.csv.gz").read_bytes())
    texts = {"Country": pa.string(), "Continent": pa.string(), "Organization": pa.string()}
    options = pa.csv.ConvertOptions(
        column_types=texts | dict.fromkeys(keys, pa.string()), null_values=[""], strings_can_be_null=True
    )
    parsing = pa.csv.ParseOptions(newlines_in_values=True)
    return pa.csv.read_csv(io.BytesIO(content), parse_options=parsing, convert_options=options)


def uw(folder: Path) -> JoinData:
    """A university: of what level is a course, by who teaches it and whom they advise?

    Parameters
    ----------
    folder : Path
        With the SQL dump ``UW_std.sql.gz``.
    """
    dump = gzip.decompress((folder / "UW_std.sql.gz").read_bytes()).decode("latin-1").replace("\r\n", "\n")
    made = {name: _dumped(dump, name) for name in ("course", "taughtBy", "person", "advisedBy")}
    advised = made["advisedBy"].rename_columns(["student", "adviser"])
    tables = {"course": made["course"], "taughtBy": made["taughtBy"], "teacher": made["person"]}
    tables |= {"advisedBy": advised, "student": made["person"]}
    joins = [
        ("course.course_id", "taughtBy.course_id"),
        ("taughtBy.p_id", "teacher.p_id"),
        ("teacher.p_id", "advisedBy.adviser"),
        ("advisedBy.student", "student.p_id"),
    ]
    return JoinData(tables, joins, "course.courseLevel")


def _dumped(dump: str, name: str) -> pa.Table:
    """A table of a MySQL dump. Its values hold neither brackets nor quotes."""
    definition = re.search(rf"CREATE TABLE `{name}` \((.*?)\n\)", dump, re.DOTALL)
    inserted = re.search(rf"INSERT INTO `{name}` VALUES (.*);\n", dump)  # noqa: S608 (no query)
    assert definition and inserted
    columns = re.findall(r"^  `(\w+)` (\w+)", definition[1], re.MULTILINE)
    rows = list(csv.reader(re.findall(r"\(([^()]*)\)", inserted[1]), quotechar="'"))
    values = [[None if value == "NULL" else value for value in column] for column in zip(*rows, strict=True)]
    types = [pa.int64() if kind == "int" else pa.string() for _, kind in columns]
    arrays = [pa.array(column).cast(kind) for column, kind in zip(values, types, strict=True)]
    return pa.table(dict(zip((column for column, _ in columns), arrays, strict=True)))
