"""Options that several commands share, each described once; those of methods are in `method_options`."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Group, Parameter

from veilset.cli.forms import Typed, Whole, check_lists, given, was_given, with_flags
from veilset.errors import InvalidArgument
from veilset.limits import Limits
from veilset.options import declared
from veilset.transactions import Reading, read

Flag = Parameter(negative=(), show_default=False)
Json = Annotated[
    bool, Parameter(name="--json", help="Print JSON, also for errors. Piped results are JSON by default."), Flag
]
Text = Annotated[bool, Parameter(name="--text", help="Print text, even into a pipe."), Flag]
ReplaceFile = Annotated[bool, Parameter(help="Atomically replace an existing file."), Flag]
ReplaceRelease = Annotated[bool, Parameter(help="Atomically replace an existing release."), Flag]
Yes = Annotated[
    bool,
    Parameter(help="Publish even if less than half of the item occurrences survive, or the promise excludes nothing."),
    Flag,
]

READING = Group("Reading", sort_key=2)
LIMITS = Group("Limits", sort_key=4)


def _with_details(cls: type[Any]) -> type[Any]:
    """What is sensitive comes first, then how the data is laid out."""
    layout = signature(read).parameters.keys() - {"taxonomy"}
    details = sorted(declared(Reading), key=lambda said: (True, "") if said.name in layout else (False, said.flag))
    return with_flags(
        cls, {said.name: (said, said.option.help, Reading.model_fields[said.name].default) for said in details}
    )


@Parameter(name="*", group=READING)
@_with_details
class ReadingOptions(Typed):
    """How the input file is laid out: the options of `Reading`, as they are typed."""

    def _told(self) -> dict[str, Any]:
        """What is typed, as the values of a `Reading`."""
        typed = ((said, getattr(self, said.name)) for said in declared(Reading))
        return {said.name: given(said, value, "").value for said, value in typed if was_given(value)}

    @property
    def is_about_data(self) -> bool:
        """Whether more is told than the encoding."""
        return any(getattr(self, name) != getattr(ReadingOptions, name) for name in vars(self) if name != "encoding")

    @property
    def files(self) -> list[Path]:
        """What is read besides the input."""
        return [path for path in (*self.sensitive_files, self.taxonomy) if path is not None]

    def groups(self) -> dict[str, tuple[str, ...]] | None:
        """The groups of each item, as the taxonomy says; None: there is none."""
        told = self._told()
        columns, kind = told.get("taxonomy_columns"), told.get("taxonomy_kind")
        if self.taxonomy is not None:
            return Reading(path="", **told).groups()
        for option, typed in (("--taxonomy-columns", columns), ("--taxonomy-kind", kind)):
            if typed is not None:
                raise InvalidArgument(f"{option} needs --taxonomy.", "Name the file with --taxonomy.")
        return None

    def recipe(self, path: Path | str, *, method_takes_taxonomy: bool = False) -> Reading:
        """The same as a part of a recipe; a taxonomy is in it for branches only, and refused if nothing takes it."""
        source = Reading(path=str(path), **self._told())
        check_lists(self.sensitive_files, "--sensitive", "sensitive items")
        if self.taxonomy is None:
            self.groups()  # refuses options about a tree where there is none
            return source
        if any(entry.kind == "branch" for entry in source.entries()):
            return source
        if not method_takes_taxonomy:
            raise InvalidArgument(
                f"--taxonomy {self.taxonomy} is not used: no sensitive entry begins with 'branch:'.",
                "Leave it out, or use for example --sensitive-items 'branch: pharmacy'.",
            )
        return source.model_copy(update={"taxonomy": None, "taxonomy_columns": None, "taxonomy_kind": None})


@Parameter(name="*", group=LIMITS)
@dataclass(frozen=True)
class LimitOptions:
    """How far a run may go."""

    threads: Whole | None = None
    "Number of threads. Default: all cores."
    memory_limit: str | None = None
    "Maximum memory, such as 2GB. Beyond it, the run stops with exit code 4."
    time_limit: float | None = None
    "Maximum seconds for each step (check, change, write). Beyond that, the run stops with exit code 4."

    def __post_init__(self) -> None:
        Limits(**vars(self))  # refuses what cannot be meant before anything is read


@Parameter(name="*", group=LIMITS)
@dataclass(frozen=True)
class JoinLimits(LimitOptions):
    """How far a run over a join may go."""

    time_limit: float | None = None
    "Maximum seconds for each step (read, train or predict, evaluate). Beyond that, the run stops with exit code 4."
