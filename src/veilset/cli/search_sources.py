"""Sources of a profile as flags, or as a file says them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from cyclopts import Group, Parameter

from veilset.cli.forms import Whole
from veilset.cli.options import Flag
from veilset.errors import InvalidArgument
from veilset.search.exclusions import Exclusions
from veilset.search.homes import expanded
from veilset.search.sources.discovering import candidates
from veilset.search.sources.source import SOURCE_KINDS, Source, SourceKind
from veilset.search.sources.sources_file import SourcesFile

SOURCES = Group("Sources", sort_key=2)

_SHOWN = 8


class Chosen(NamedTuple):
    """What a user wants to be read, and how the profile is to be built; None: as before."""

    sources: list[Source]
    exclusions: Exclusions
    settings: dict[str, Any] | None


@Parameter(name="*", group=SOURCES)
@dataclass(frozen=True)
class SourceOptions:
    """Sources and exclusions, as they are typed."""

    firefox: Annotated[tuple[Path, ...], Flag] = ()
    "Folder of a Firefox profile, or its places.sqlite: the pages you visited. Repeatable."
    chromium: Annotated[tuple[Path, ...], Flag] = ()
    "Folder of a profile of Chrome, Chromium or Edge, or its History. Repeatable."
    bookmarks: Annotated[tuple[Path, ...], Flag] = ()
    "Bookmarks: a browser's file, or an exported HTML file. Repeatable."
    mbox: Annotated[tuple[Path, ...], Flag] = ()
    "Mailbox file. Only own words are read, no quotations and no attachments. Repeatable."
    maildir: Annotated[tuple[Path, ...], Flag] = ()
    "Maildir folder. Repeatable."
    folder: Annotated[tuple[Path, ...], Flag] = ()
    "Folder of text, Markdown, HTML, PDF and docx files. Links are not followed. Repeatable."
    days: Whole | None = None
    "Number of days to look back. Default: everything."
    half_life: Whole | None = None
    "Number of days after which a document counts half as much. Default: age does not matter."
    exclude_site: Annotated[tuple[str, ...], Flag] = ()
    "Site to leave out, with its subdomains and its mail. Repeatable."
    exclude_folder: Annotated[tuple[str, ...], Flag] = ()
    "Folder to leave out, by path or name. Repeatable."
    exclude_sender: Annotated[tuple[str, ...], Flag] = ()
    "Address whose mail is left out, from and to it. Repeatable."
    exclude_word: Annotated[tuple[str, ...], Flag] = ()
    "Word whose documents are left out. Repeatable."
    allow_site: Annotated[tuple[str, ...], Flag] = ()
    "Site to read although a default leaves it out. Repeatable."
    min_support: Whole | None = None
    "Minimum number of documents that make a term an interest. Default: 0.1% of all, and at least 5."

    def chosen(self, file: Path | None) -> Chosen:
        """The sources of a file and of flags, with all exclusions."""
        listed, exclusions, settings = list[Source](), Exclusions(), None
        if file is not None:
            said, listed = SourcesFile.load(file)
            exclusions, settings = said.exclude.exclusions(), said.profile.given()
        for option, given in (("--days", self.days), ("--half-life", self.half_life)):
            if given is not None and given < 1:
                raise InvalidArgument(f"{option} is {given}.", "Give a number of days from 1.")
        sources = [*listed, *self._named()]
        if not sources:
            raise InvalidArgument("No source is given.", _what_there_is())
        own = Exclusions.of(
            sites=self.exclude_site,
            folders=self.exclude_folder,
            senders=self.exclude_sender,
            words=self.exclude_word,
            allow_sites=self.allow_site,
        )
        rules, allowed = exclusions.rules + own.rules, exclusions.allowed + own.allowed
        if self.min_support is not None:
            settings = {**(settings or {}), "min_support": self.min_support}
        return Chosen(sources, replace(exclusions, rules=rules, allowed=allowed), settings)

    def _named(self) -> list[Source]:
        """The sources of flags. Each is called by its kind and path, so that it is the same one the next time."""
        return [self._source(kind, path) for kind in SOURCE_KINDS for path in getattr(self, kind)]

    def _source(self, kind: SourceKind, path: Path) -> Source:
        path = expanded(path).absolute()
        return Source(f"{kind} {path}", kind, path, days=self.days, half_life=self.half_life)


def _what_there_is() -> str:
    found = [f"--{kind} {str(path)!r}" for kind, path in candidates(Path.home())]
    if not found:
        return "Name one, such as --folder ~/notes, or a sources file."
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return f"Name a sources file, or some of what is on this machine: {', '.join(found[:_SHOWN])}{more}."
