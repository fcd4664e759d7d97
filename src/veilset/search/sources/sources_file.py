"""``sources.toml``: what a profile is built from, what is left out, and how it is built.

For example:

    [sources.browsing]
    kind = "firefox"
    path = "~/.mozilla/firefox/x1y2z3.default"
    days = 365
    half_life = 90

    [sources.notes]
    kind = "folder"
    path = "notes"
    weight = 2
    characters = 5000

    [exclude]
    sites = ["example.org"]
    words = ["divorce"]
    defaults = ["banking", "health", "private", "people"]

    [profile]
    min_support = 5

Paths are relative to the file; ``~`` is the user's own folder.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, StrictBool, StrictFloat, StrictInt, StrictStr, ValidationError

from veilset.errors import VeilsetError
from veilset.io.toml_files import FilePath, Section, read_toml, refusal
from veilset.search.default_rules import SUBJECTS, Subject
from veilset.search.exclusions import Exclusions
from veilset.search.homes import expanded
from veilset.search.sources.source import CHARACTERS, MEGABYTES, MOST, Source, SourceKind
from veilset.search.weighing import exact_weight

_ADVICE = "Compare it with the sources file in docs/search-sources.md."

Positive = Annotated[StrictInt, Field(ge=1, le=2**31 - 1)]


class SourceSection(Section):
    """A source."""

    kind: SourceKind
    path: FilePath
    days: Positive | None = None
    half_life: Positive | None = None
    weight: StrictInt | StrictFloat | StrictStr = 1
    most: Positive = MOST
    characters: Positive = CHARACTERS
    megabytes: Annotated[StrictInt, Field(ge=1, le=2000)] = MEGABYTES
    attachments: StrictBool = False

    def source(self, name: str, folder: Path) -> Source:
        """The source, for a file in this folder."""
        given = {field: getattr(self, field) for field in type(self).model_fields}
        path = folder / expanded(self.path)
        return Source(**{**given, "name": name, "path": path, "weight": exact_weight(self.weight)})


class ExcludeSection(Section):
    """What is left out."""

    defaults: tuple[Subject, ...] = SUBJECTS
    sites: tuple[StrictStr, ...] = ()
    folders: tuple[StrictStr, ...] = ()
    senders: tuple[StrictStr, ...] = ()
    words: tuple[StrictStr, ...] = ()
    people: tuple[StrictStr, ...] = ()
    allow_sites: tuple[StrictStr, ...] = ()
    allow_senders: tuple[StrictStr, ...] = ()

    def exclusions(self) -> Exclusions:
        """The same as rules."""
        return Exclusions.of(**{field: getattr(self, field) for field in type(self).model_fields})


class ProfileSection(Section):
    """How the profile is built; what is not given is as usual."""

    min_support: StrictInt | None = None
    delta: StrictFloat | StrictStr | None = None
    languages: tuple[StrictStr, ...] | None = None

    def given(self) -> dict[str, Any]:
        """What was said."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in self if value is not None}


_SECTIONS: dict[str, type[Section]] = {
    "sources": SourceSection,
    "exclude": ExcludeSection,
    "profile": ProfileSection,
}


class SourcesFile(Section):
    """What a profile is built from, as a file says it."""

    sources_: Annotated[dict[StrictStr, SourceSection], Field(alias="sources", default_factory=dict)]
    exclude: ExcludeSection = ExcludeSection()
    profile: ProfileSection = ProfileSection()

    @classmethod
    def load(cls, path: Path) -> tuple[Self, list[Source]]:
        """The file at a path, and its sources."""
        content = read_toml(path, _ADVICE)
        try:
            file = cls.model_validate(content)
            folder = path.absolute().parent
            sources = [section.source(name, folder) for name, section in file.sources_.items()]
            file.exclude.exclusions()
        except ValidationError as error:
            raise refusal(error, cls, _SECTIONS, _ADVICE).within(f"{str(path)!r}: ") from None
        except VeilsetError as error:
            raise error.within(f"{str(path)!r}: ") from None
        return file, sources
