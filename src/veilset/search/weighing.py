"""How much each document counts: by its source and its age, as an exact fraction.

Age is counted from one day that the store remembers, so that the same documents give the same profile on any day.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from fractions import Fraction
from typing import Any, NamedTuple, Self

from veilset.errors import InvalidArgument
from veilset.search.documents import Document

MOST_HALVINGS = 10
"""Older documents count no less: their weights would make all numbers of the profile unwieldy."""


@dataclass(frozen=True)
class SourceWeight:
    """How the documents of a source count.

    Parameters
    ----------
    weight : Fraction
        Of each document.
    half_life : int, optional
        Days after which a document counts half as much; None: age does not matter.
    """

    weight: Fraction = Fraction(1)
    half_life: int | None = None

    def of(self, document: Document, today: date) -> Fraction:
        """The weight of a document; it is halved once for every whole half-life of its age."""
        if self.half_life is None or document.when is None:
            return self.weight
        age = max(0, (today - document.when.astimezone(UTC).date()).days)
        return self.weight / (1 << min(MOST_HALVINGS, age // self.half_life))


class Weighed(NamedTuple):
    """Documents with their weights."""

    documents: tuple[Document, ...]
    weights: tuple[Fraction, ...]


@dataclass(frozen=True)
class Weighing:
    """How the documents of all sources count.

    Parameters
    ----------
    today : date
        The day from which age is counted.
    sources : mapping
        The sources whose documents do not just count once.
    """

    today: date = field(default_factory=lambda: datetime.now(UTC).date())
    sources: Mapping[str, SourceWeight] = field(default_factory=dict)

    def weighed(self, documents: Iterable[Document]) -> Weighed:
        """The documents, each key once: a page that is in two sources counts as in the better one."""
        best: dict[str, tuple[Fraction, Document]] = {}
        for document in documents:
            weight = self.sources.get(document.source, SourceWeight()).of(document, self.today)
            known = best.get(document.key)
            if known is None or weight > known[0]:
                best[document.key] = (weight, document)
        return Weighed(tuple(one for _, one in best.values()), tuple(weight for weight, _ in best.values()))

    def to_setting(self) -> dict[str, Any]:
        """The same, as JSON has it."""
        sources = {
            name: {"weight": str(one.weight), "half_life": one.half_life} for name, one in sorted(self.sources.items())
        }
        return {"today": self.today.isoformat(), "sources": sources}

    @classmethod
    def of_setting(cls, setting: Mapping[str, Any]) -> Self:
        """What `to_setting` wrote; without anything, every document counts once."""
        if not setting:
            return cls()
        sources = {
            name: SourceWeight(Fraction(one["weight"]), one["half_life"]) for name, one in setting["sources"].items()
        }
        return cls(date.fromisoformat(setting["today"]), sources)


def exact_weight(given: str | int | float) -> Fraction:
    """A weight as a user writes it, such as 2 or "1/3".

    >>> exact_weight(0.5), exact_weight("1/3")
    (Fraction(1, 2), Fraction(1, 3))
    """
    try:
        weight = Fraction(str(given)).limit_denominator(1000)
    except (ValueError, ZeroDivisionError, OverflowError):
        weight = Fraction(0)
    if not 0 < weight <= 1000:
        raise InvalidArgument(f"The weight is {given!r}.", "Give a number above 0 and up to 1000, such as 2 or 0.5.")
    return weight
