"""What is left out of a profile: the rules of the user, and those that hold unless the user says otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from veilset.errors import unknown
from veilset.search.default_rules import MEANINGS, SITES, SUBJECTS, Subject, is_private_host
from veilset.search.documents import Document
from veilset.search.people import People
from veilset.search.rules import Rule, hosts_of


@dataclass(frozen=True)
class Exclusions:
    """What is left out.

    Parameters
    ----------
    rules : tuple of Rule
        What the user excludes.
    subjects : tuple of str
        Which defaults hold: ``"banking"``, ``"health"``, ``"private"``, ``"people"``.
    allowed : tuple of Rule
        Exceptions from the defaults.
    names : frozenset of str
        Words of names, in lower case, that are cut out of titles and texts as well.
    forgotten : callable, optional
        Says of a document why it is to stay forgotten; None: it is not.
    is_name : callable, optional
        Says of a word in lower case whether it belongs to a name that is known only by its hash.
    """

    rules: tuple[Rule, ...] = ()
    subjects: tuple[Subject, ...] = SUBJECTS
    allowed: tuple[Rule, ...] = ()
    names: frozenset[str] = frozenset()
    forgotten: Callable[[Document], str | None] | None = field(default=None, compare=False)
    is_name: Callable[[str], bool] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        for subject in self.subjects:
            if subject not in SUBJECTS:
                raise unknown("subject", subject, SUBJECTS).within("exclude.defaults: ")

    @classmethod
    def of(
        cls,
        *,
        sites: Iterable[str] = (),
        folders: Iterable[str] = (),
        senders: Iterable[str] = (),
        words: Iterable[str] = (),
        people: Iterable[str] = (),
        defaults: Iterable[Subject] = SUBJECTS,
        allow_sites: Iterable[str] = (),
        allow_senders: Iterable[str] = (),
    ) -> Exclusions:
        """The exclusions as a user writes them down."""
        kinds = {"site": sites, "folder": folders, "sender": senders, "word": words}
        allowed = {"site": allow_sites, "sender": allow_senders}
        return cls(
            rules=tuple(Rule.of(kind, value) for kind, values in kinds.items() for value in values),
            subjects=tuple(defaults),
            allowed=tuple(Rule.of(kind, value) for kind, values in allowed.items() for value in values),
            names=frozenset(word for name in people for word in name.casefold().split()),
        )

    def knowing(self, names: Iterable[str]) -> Exclusions:
        """The same, with more words of names."""
        return replace(self, names=self.names | frozenset(names))

    def why(self, document: Document) -> str | None:
        """Why a document is left out: the rule that covers it; None: it is not."""
        own = next((str(rule) for rule in self.rules if rule.matches(document)), None)
        if own is None and self.forgotten is not None:
            own = self.forgotten(document)
        if own is not None or any(rule.matches(document) for rule in self.allowed):
            return own
        return next((why for host in hosts_of(document) if (why := self._why_host(host))), None)

    def cleaned(self, document: Document) -> Document:
        """A document without people, if they are left out."""
        if "people" not in self.subjects:
            return document
        cut = self._people.cut_from
        return replace(document, title=cut(document.title), text=cut(document.text))

    def to_json(self) -> dict[str, Any]:
        """What holds, as the section `[exclude]` of a file has it; the sites of each subject come with it."""
        of_kind = {
            f"{kind}s": [rule.value for rule in self.rules if rule.kind == kind]
            for kind in ("site", "folder", "sender", "word")
        }
        allowed = {
            f"allow_{kind}s": [rule.value for rule in self.allowed if rule.kind == kind] for kind in ("site", "sender")
        }
        subjects = {subject: {"means": MEANINGS[subject], "sites": list(SITES[subject])} for subject in self.subjects}
        return {"defaults": list(self.subjects), **of_kind, "people": sorted(self.names), **allowed, "means": subjects}

    @cached_property
    def _people(self) -> People:
        return People(self.names, self.is_name)

    @cached_property
    def _defaults(self) -> list[tuple[Subject, Rule]]:
        return [(subject, Rule.of("site", site)) for subject in self.subjects for site in SITES[subject]]

    @cached_property
    def _known_hosts(self) -> dict[str, str | None]:
        return {}

    def _why_host(self, host: str) -> str | None:
        """The default that covers a host. Most documents are of few hosts, so each is asked about once."""
        if host not in self._known_hosts:
            page = Document(f"http://{host}/", "", "")
            why = next((f"{subject}: {rule}" for subject, rule in self._defaults if rule.matches(page)), None)
            if why is None and "private" in self.subjects and is_private_host(host):
                why = "private: no public host"
            self._known_hosts[host] = why
        return self._known_hosts[host]
