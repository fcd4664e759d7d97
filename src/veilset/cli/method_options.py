"""The options that say how the data is changed. A method that does not have one refuses it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter

from veilset.anonymize import METHODS
from veilset.cli.options import DIGITS, Flag, read_lists, whole_or_share
from veilset.errors import UnreadableInput, WrongUsage
from veilset.io.companions import read_paths, read_table
from veilset.io.partition_files import PartitionFile, read_partition
from veilset.io.pattern_files import Listed, read_patterns
from veilset.publish.recipe import MethodRecipe

__all__ = ["MethodOptions"]

METHOD = Group("Method", sort_key=1.5)


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

    def partition(self, encoding: str) -> PartitionFile | None:
        """What the file says that columns are; None if there is none."""
        if self.columns is None or _is_number(self.columns):
            return None
        if not Path(self.columns).exists():
            raise WrongUsage(
                f"There is no file {self.columns!r}.",
                "--columns takes a number such as 10, or a file with the header item,column.",
            )
        return read_partition(self.columns, encoding=encoding)

    def listed(self, encoding: str) -> list[Listed]:
        """The patterns that are to stay, each with its place."""
        return [entry for path in self.keep_patterns for entry in read_patterns(path, encoding)]

    def recipe(
        self,
        encoding: str,
        groups: Mapping[str, Sequence[str]] | None = None,
        *,
        listed: Sequence[Listed] = (),
        partition: PartitionFile | None = None,
        certifies: bool = False,
    ) -> MethodRecipe:
        """The same as a part of a recipe; what was not given is left to the method.

        *listed* and *partition* are what the methods of these names gave. A method that *certifies* what it hides is
        told not to for ``--plain``.
        """
        if self.columns is not None and groups is not None:
            raise WrongUsage(
                "--columns and --taxonomy both say what the columns are.",
                "Leave one of them out; a taxonomy that is there for 'branch:' only goes without --level.",
            )
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
            "columns": self._columns() if partition is None else partition.parts,
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

    def _columns(self) -> int | None:
        """How many columns there are to be, where it is a number that is given."""
        if self.columns is None:
            return None
        if not self.columns.isdecimal() or len(self.columns) > DIGITS or int(self.columns) < 2:
            raise WrongUsage(
                f"--columns is {self.columns}.",
                "Give a whole number of at least 2, or a file with the header item,column.",
            )
        return int(self.columns)


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


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return not Path(text).exists()
