"""What the original says of a release from which single occurrences are gone."""

from __future__ import annotations

from dataclasses import dataclass

from veilset.models.promise import Witness


@dataclass(frozen=True)
class InOriginal:
    """Whether the limits on sensitive items, for what can be known from a release, hold in the original, too.

    Deleting single occurrences can lower a confidence in the released rows that, in truth, is too high. Only the
    custodian can tell: it is counted in the original.

    Parameters
    ----------
    broken : int
        How many of the released itemsets (or rules) exceed the limit in the original.
    witnesses : tuple of Witness
        Some of them, the most severe first, with the numbers of the original.
    counted : str
        What *broken* counts, in the plural.
    """

    broken: int
    witnesses: tuple[Witness, ...]
    counted: str

    @property
    def holds(self) -> bool:
        """Whether none does."""
        return self.broken == 0
