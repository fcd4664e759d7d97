"""Options that several commands share, each described once; those of methods are in `method_options`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter

from veilset.errors import UnreadableInput, WrongUsage
from veilset.io import read_item_list
from veilset.io.trees import TreeKind, read_tree
from veilset.publish.recipe import InputRecipe

__all__ = [
    "DIGITS",
    "Flag",
    "Json",
    "LimitOptions",
    "ReadingOptions",
    "check_lists",
    "columns_of",
    "read_lists",
    "whole_or_share",
]

DIGITS = 18  # of a number of transactions; Python does not read numbers of any length

Flag = Parameter(negative=(), show_default=False)
Json = Annotated[bool, Parameter(name="--json"), Flag]

READING = Group("Reading", sort_key=2)
LIMITS = Group("Limits", sort_key=4)


@Parameter(name="*", group=READING)
@dataclass(frozen=True)
class ReadingOptions:
    """How the input file is laid out."""

    sensitive: Annotated[tuple[Path, ...], Parameter(name="--sensitive", negative=(), show_default=False)] = ()
    "File with the sensitive items, one name a line; also 'glob: insulin*', 'branch: pharmacy' and '# comment'. \
May be given several times; the lists are united."
    sensitive_items: Annotated[
        tuple[str, ...], Parameter(name="--sensitive-items", negative=(), show_default=False)
    ] = ()
    "A line of such a file, given here: a name, 'glob: PATTERN' or 'branch: GROUP'. May be given several times."
    taxonomy: Path | None = None
    "File with the groups of the items: .csv or .tsv (item,group,… or child,parent), .txt (item;group;\\*) or .json. \
For 'branch:', for methods that give items coarser names, and for the columns of multi-anatomy."
    taxonomy_columns: str | None = None
    "Columns of that table, such as label,level2,level1: the item, then its groups, the most general last."
    taxonomy_kind: TreeKind | None = None
    "paths, edges, lines or json, whatever the taxonomy's name says."
    format: str | None = None
    "What the file is, if its name does not say it: fimi, spmf, basket, jsonl, parquet, arrow; or \
anatomy, for the table of columns and buckets beside a release (.csv, .jsonl or .parquet)."
    delimiter: str | None = None
    "One character between fields; by default a comma, or a tab for .tsv."
    header: Annotated[bool, Flag] = False
    "The first line of a basket file holds column names."
    column: str | None = None
    "Column (or key of JSON objects) that holds the lists of items; by default the only column of lists."
    long: str | None = None
    "ID,ITEM: the table holds one item a row; the names of its two columns."
    wide: Annotated[bool, Flag] = False
    "The table has one column an item, with 0 and 1."
    person: str | None = None
    "Column that says whose a line is: lines of one person are merged. Without it, one line is one person."
    ignore: Annotated[tuple[str, ...], Parameter(name="--ignore", negative=(), show_default=False)] = ()
    "Column of a wide table that is no item. May be given several times."
    counts: Annotated[bool, Flag] = False
    "The cells of a wide table hold whole numbers: what is above 0 is there."
    query: str | None = None
    "What to ask a database (a .duckdb file or a postgresql:// URL)."
    encoding: str = "utf-8"
    "Encoding of the text."

    @property
    def files(self) -> list[Path]:
        """What is read besides the input."""
        return [*self.sensitive, *([] if self.taxonomy is None else [self.taxonomy])]

    def groups(self) -> dict[str, tuple[str, ...]] | None:
        """The groups of each item, as the taxonomy says; None: there is none."""
        columns = columns_of(self.taxonomy_columns, "--taxonomy-columns")
        if self.taxonomy is not None:
            return read_tree(self.taxonomy, kind=self.taxonomy_kind, columns=columns, encoding=self.encoding)
        for option, given in (("--taxonomy-columns", columns), ("--taxonomy-kind", self.taxonomy_kind)):
            if given is not None:
                raise WrongUsage(f"{option} goes only with --taxonomy.", "Name the file with --taxonomy.")
        return None

    def recipe(self, path: Path | str, *, method_takes_taxonomy: bool = False) -> InputRecipe:
        """The same as a part of a recipe; a taxonomy is in it for branches only, and refused if nothing takes it."""
        columns = None
        if self.long is not None:
            parts = tuple(part.strip() for part in self.long.split(","))
            if len(parts) != 2 or not all(parts):
                raise WrongUsage(f"--long is {self.long!r}.", "Give two column names, such as --long order,product.")
            columns = (parts[0], parts[1])
        check_lists(self.sensitive, "--sensitive", "sensitive items")
        source = InputRecipe(
            path=str(path),
            format=self.format,
            delimiter={"\\t": "\t", "tab": "\t"}.get(self.delimiter or "", self.delimiter),
            header=self.header,
            column=self.column,
            long=columns,
            wide=self.wide,
            person=self.person,
            ignore=self.ignore,
            counts=self.counts,
            query=self.query,
            encoding=self.encoding,
            sensitive_items=self.sensitive_items,
            sensitive_files=tuple(map(str, self.sensitive)),
        )
        if self.taxonomy is None:
            self.groups()  # refuses options about a tree where there is none
            return source
        if any(entry.kind == "branch" for entry in source.entries()):
            of_tree = columns_of(self.taxonomy_columns, "--taxonomy-columns")
            tree = {"taxonomy_columns": of_tree, "taxonomy_kind": self.taxonomy_kind}
            return source.model_copy(update={"taxonomy": str(self.taxonomy), **tree})
        if not method_takes_taxonomy:
            raise WrongUsage(
                f"--taxonomy {self.taxonomy} is not used: no sensitive entry begins with 'branch:'.",
                "Leave it out, or say for example --sensitive-items 'branch: pharmacy'.",
            )
        return source


@Parameter(name="*", group=LIMITS)
@dataclass(frozen=True)
class LimitOptions:
    """How far a run may go."""

    threads: int | None = None
    "Number of threads; by default all cores."
    memory_limit: str | None = None
    "Most memory to use, such as 2GB; beyond it the run stops with exit code 4."
    time_limit: float | None = None
    "Most seconds for each step (checking, changing, writing); beyond them the run stops with exit code 4."


def columns_of(given: str | None, option: str) -> tuple[str, ...] | None:
    """The columns that an option names, with commas between them."""
    if given is None:
        return None
    columns = tuple(part.strip() for part in given.split(","))
    if len(columns) < 2 or not all(columns):
        raise WrongUsage(f"{option} is {given!r}.", f"Name two or more columns, such as {option} label,level2,level1.")
    return columns


def read_lists(files: Sequence[Path], option: str, encoding: str) -> list[str] | None:
    """The items that files name, one a line, united; None if there are no files."""
    check_lists(files, option, "items")
    if not files:
        return None
    names = list(dict.fromkeys(name for path in files for name in read_item_list(path, encoding)))
    if not names:
        raise UnreadableInput(f"{option} {files[0]} names no item.", "Write one name a line.")
    return names


def whole_or_share(text: str) -> int | str:
    """A number of transactions if it is one, else the share as it was written."""
    return int(text) if text.isdecimal() and len(text) <= DIGITS else text


def check_lists(files: Sequence[Path], option: str, what: str) -> None:
    """Raise if one of these files, which an option names, does not exist."""
    for path in files:
        if not path.exists():
            entry = f" For an item itself: --sensitive-items {str(path)!r}." if option == "--sensitive" else ""
            raise WrongUsage(
                f"There is no file {str(path)!r}.", f"{option} takes a file with {what}, one name a line.{entry}"
            )
