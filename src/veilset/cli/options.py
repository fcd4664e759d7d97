"""Options that several commands share, each described once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter

from veilset.anonymize import METHODS
from veilset.errors import UnreadableInput, WrongUsage
from veilset.io import read_item_list
from veilset.io.companions import read_paths, read_table
from veilset.io.partition_files import read_partition
from veilset.io.pattern_files import Listed, read_patterns
from veilset.io.trees import TreeKind, read_tree
from veilset.publish.recipe import InputRecipe, MethodRecipe

__all__ = [
    "Flag",
    "Json",
    "LimitOptions",
    "MethodOptions",
    "ReadingOptions",
    "check_lists",
    "columns_of",
    "read_lists",
    "whole_or_share",
]

_DIGITS = 18  # of a number of transactions; Python does not read numbers of any length

Flag = Parameter(negative=(), show_default=False)
Json = Annotated[bool, Parameter(name="--json"), Flag]

READING = Group("Reading", sort_key=2)
METHOD = Group("Method", sort_key=1.5)
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
For 'branch:', for methods that give items coarser names, and for --level."
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


def _method_names() -> str:
    """The methods of each promise, as they are registered; given is for ``veilset apply``."""
    named = {kind.name: [name for name in methods if name != "given"] for kind, methods in METHODS.items()}
    return " ".join(
        f"For {kind}: {', '.join([f'{first} (default)', *others])}." for kind, (first, *others) in named.items()
    )


@Parameter(name="*", group=METHOD)
@dataclass(frozen=True)
class MethodOptions:
    """How the data is changed."""

    method: Annotated[str | None, Parameter(help=_method_names())] = None
    weights: str | None = None
    "What a lost item costs: a CSV file with a header and the columns item,weight (others weigh 1), or: equal. \
By default an item costs its occurrences. For auto, tree, optimal, top-down and suppress."
    sensitive_weight: int | None = None
    "How many times an occurrence of a sensitive item counts: more of them stay, under coarser public names. \
For top-down and suppress."
    keep: Annotated[tuple[Path, ...], Parameter(name="--keep", negative=(), show_default=False)] = ()
    "File with items that must survive (for coherence: public ones), one name a line. May be given several times."
    utility: Literal["items", "nuggets"] | None = None
    "What the loss counts: items, or itemsets worth keeping (nuggets). For optimal."
    nugget_support: str | None = None
    "An itemset is worth keeping if this many transactions hold it: 30, or a share such as 1%. For border and optimal."
    nugget_size: int | None = None
    "Only itemsets of up to this many items are worth keeping."
    allow_sensitive: Annotated[bool, Flag] = False
    "For coherence: suppress sensitive items that so many people have that h could not be kept otherwise."
    plain: Annotated[bool, Flag] = False
    "The published algorithm and nothing else: nothing is put back, nothing else is tried. For top-down, suppress, and \
where patterns or rules are hidden: there, some may be left, and then nothing is written."
    keep_patterns: Annotated[tuple[Path, ...], Parameter(name="--keep-patterns", negative=(), show_default=False)] = ()
    "File with the patterns that are to stay, as for --patterns; by default all that reach --min-support. May be given \
several times. Where patterns or rules are hidden."
    p_r: Annotated[str | None, Parameter(name="--p-r")] = None
    "Restoration probability: how often an item stays that the matrix takes out for one pattern and keeps for another, \
by default 0.35. For hpcme."
    margin: str | None = None
    "How far below --min-support a hidden pattern may have to fall, by default 1/2: each falls below a level of its \
own between 1/2 and 1 times --min-support, so that hidden patterns do not stand out."
    spare_shared_pairs: Annotated[bool, Flag] = False
    "Take no item out for a pair that a pattern to keep holds, too. For hidden-first."
    columns: str | None = None
    "How many columns items are cut into (fewer, where a value would be too common), by default 10; or a file with the \
header item,column that says which item is in which. For multi-anatomy."
    level: int | None = None
    "Columns are the groups of --taxonomy at this depth: 1 for those right below the root. For multi-anatomy."
    open_buckets: int | None = None
    "How many buckets are filled at the same time; 1 is the published algorithm. For multi-anatomy."
    random_state: int | None = None
    "Secret seed of what is decided at random where patterns are hidden, or buckets are made and shuffled; by default \
a random one. Kept in OUT/custodian/recipe.toml."
    drop_empty: Annotated[bool, Flag] = False
    "Withhold transactions that end up empty."

    def listed(self, encoding: str) -> list[Listed]:
        """The patterns that are to stay, each with its place."""
        return [entry for path in self.keep_patterns for entry in read_patterns(path, encoding)]

    def recipe(
        self,
        encoding: str,
        groups: Mapping[str, Sequence[str]] | None = None,
        *,
        listed: Sequence[Listed] = (),
        certifies: bool = False,
    ) -> MethodRecipe:
        """The same as a part of a recipe; what was not given is left to the method.

        *listed* is what `listed` gave. A method that *certifies* what it hides is told not to for ``--plain``.
        """
        given = {
            "weights": None if self.weights is None else _weights(self.weights, encoding),
            "sensitive_weight": self.sensitive_weight,
            "keep": read_lists(self.keep, "--keep", encoding),
            "taxonomy": groups,
            "utility": self.utility,
            "nugget_support": None if self.nugget_support is None else whole_or_share(self.nugget_support),
            "nugget_size": self.nugget_size,
            "plain": True if self.plain and not certifies else None,
            "certify": False if self.plain and certifies else None,
            "keep_patterns": tuple(pattern for (pattern,) in (entry.sides for entry in listed if entry.sides)) or None,
            "p_r": self.p_r,
            "margin": self.margin,
            "spare_shared_pairs": self.spare_shared_pairs or None,
            "columns": None if self.columns is None else _columns(self.columns, encoding),
            "level": self.level,
            "open_buckets": self.open_buckets,
            "random_state": self.random_state,
        }
        options = {name: value for name, value in given.items() if value is not None}
        return MethodRecipe.model_validate(
            {
                "name": self.method,
                "drop_empty": self.drop_empty,
                "allow_sensitive": self.allow_sensitive,
                "options": options,
            }
        )


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
    return int(text) if text.isdecimal() and len(text) <= _DIGITS else text


def _weights(given: str, encoding: str) -> dict[str, float] | str:
    if given == "equal":
        return given
    if not Path(given).exists():
        raise WrongUsage(
            f"There is no file {given!r}.", "--weights takes a file with the columns item,weight; or: equal."
        )
    weights = {}
    header = read_table(given, encoding=encoding).columns
    if len(header) > 1 and re.fullmatch(r"[0-9.]+", header[1]):
        raise UnreadableInput(
            f"{given!r}: line 1 gives {header[0]!r} the weight {header[1]}, but it is taken as a header.",
            "Write the line item,weight before all others.",
        )
    for item, cells in read_paths(given, encoding=encoding).items():
        try:
            weights[item] = float(cells[0])
        except ValueError:
            raise UnreadableInput(
                f"{given!r}: the weight of {item!r} is {cells[0]!r}.", "Write a number in the second column."
            ) from None
    return weights


def _columns(given: str, encoding: str) -> int | list[list[str]]:
    """A number of columns, or the items of each as a file says."""
    if given.isdecimal() and len(given) <= _DIGITS:
        return int(given)
    if not Path(given).exists():
        raise WrongUsage(
            f"There is no file {given!r}.", "--columns takes a number such as 10, or a file with the header item,column."
        )
    return read_partition(given, encoding=encoding)


def check_lists(files: Sequence[Path], option: str, what: str) -> None:
    """Raise if one of these files, which an option names, does not exist."""
    for path in files:
        if not path.exists():
            entry = f" For an item itself: --sensitive-items {str(path)!r}." if option == "--sensitive" else ""
            raise WrongUsage(
                f"There is no file {str(path)!r}.", f"{option} takes a file with {what}, one name a line.{entry}"
            )
