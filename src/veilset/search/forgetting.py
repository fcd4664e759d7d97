"""What forgetting does to a profile: the documents that go, the terms that go with them, and those that get smaller."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from veilset.search.documents import Document
from veilset.search.profile import Profile
from veilset.search.rules import Rule


@dataclass(frozen=True)
class Forgotten:
    """What a rule removes, or would remove.

    Parameters
    ----------
    rule : Rule
        What is forgotten.
    documents : tuple of Document
        The documents that go.
    gone : mapping
        The terms that are no longer in the profile, with the support that they had.
    smaller : mapping
        The terms that lose support, with what they had and what they have left.
    remembered : bool
        Whether the rule is remembered, so that a later build does not bring the documents back.
    logged : mapping
        The terms that are gone, but stand in logs, which keep all that was ever sent; by the name of the log.
    judged : int
        How many judgements lose results, or go because of their query.
    """

    rule: Rule
    documents: tuple[Document, ...]
    gone: Mapping[str, Fraction]
    smaller: Mapping[str, tuple[Fraction, Fraction]]
    remembered: bool
    logged: Mapping[str, tuple[str, ...]]
    judged: int

    def to_json(self) -> dict[str, Any]:
        """What a program is told."""
        return {
            "rule": {"kind": self.rule.kind, "value": self.rule.value},
            "documents": [
                {"key": one.key, "source": one.source, "title": one.title, "place": one.place} for one in self.documents
            ],
            "gone": {term: float(support) for term, support in self.gone.items()},
            "smaller": {term: list(map(float, supports)) for term, supports in self.smaller.items()},
            "remembered": self.remembered,
            "logged": {log: list(terms) for log, terms in self.logged.items()},
            "judged": self.judged,
        }


def compared(
    rule: Rule,
    going: Iterable[Document],
    before: Profile,
    after: Profile,
    *,
    remembered: bool,
    logs: Mapping[str, str],
    judged: int,
) -> Forgotten:
    """What becomes of a profile; *logs* are the texts in which terms that go may stand."""
    had, has = supports_of(before), supports_of(after)
    gone = {term: support for term, support in had.items() if term not in has}
    smaller = {term: (support, has[term]) for term, support in had.items() if has.get(term, support) < support}
    named = {*gone, *([rule.value] if rule.kind == "word" else [])}
    logged = {log: tuple(sorted(term for term in named if term in text.casefold())) for log, text in logs.items()}
    kept = {log: terms for log, terms in logged.items() if terms}
    return Forgotten(rule, tuple(going), gone, smaller, remembered, kept, judged)


def supports_of(profile: Profile) -> dict[str, Fraction]:
    """The terms of a profile, each with its largest support, best supported first."""
    supports: dict[str, Fraction] = {}
    for node in profile.root.walk():
        for term in node.label:
            supports[term] = max(node.support, supports.get(term, node.support))
    return dict(sorted(supports.items(), key=lambda one: (-one[1], one[0])))
