"""What is said alike about promises that protect people from attackers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from veilset.models import Audit, Witness
from veilset.report.text import knowledge

__all__ = ["PeopleWords"]


class PeopleWords(ABC):
    """See `veilset.report.words.Words`."""

    ways: ClassVar[str] = "Smallest sets of known items that break it"
    counted: ClassVar[str] = "set of items"
    heads: ClassVar[tuple[str, ...]] = ("What an attacker knows", "People left", "What they learn")
    about_people: ClassVar[bool] = True
    extremes_known: ClassVar[bool] = False
    recount: ClassVar[str] = (
        "It compares the files with their checksums, reads the data again and counts everything anew, with code that "
        "shares nothing with the code that changed the data."
    )

    def row(self, witness: Witness, audit: Audit) -> tuple[str, ...]:
        """What an attacker knows, how many people are left, and what is learned of them."""
        return knowledge(witness.itemset), f"{witness.support:,}", self.learned(witness)

    @abstractmethod
    def learned(self, witness: Witness) -> str:
        """What an attacker learns who knows the itemset of a witness."""
