"""What is said in public of a promise that is itself the secret."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from veilset.errors import WrongUsage
from veilset.models.hidden_patterns import HiddenPatterns, HiddenRules
from veilset.models.promise import Parameter
from veilset.transactions import Transactions

__all__ = ["Sealed"]

_KINDS = {HiddenPatterns.name: "patterns", HiddenRules.name: "rules"}


@dataclass(frozen=True, init=False)
class Sealed:
    """Protects patterns or rules that are secret themselves: only how many there are is told, and a commitment to them.

    Parameters
    ----------
    of : {"hidden-patterns", "hidden-rules"}
        Which promise it stands for.
    count : int
        How many patterns or rules are hidden.
    commitment : str
        A keyed hash of the promise. It gives nothing away without the custodian's key, and with it shows that the
        promise was not changed afterwards.
    """

    name: ClassVar[str] = "sealed"

    of: str
    count: int
    commitment: str

    def __init__(self, *, of: str, count: int, commitment: str) -> None:
        if of not in _KINDS:
            raise WrongUsage(f"The promise {of!r} is not one that is sealed.", f"It may be {' or '.join(_KINDS)}.")
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise WrongUsage(f"count is {count!r}.", "Give a whole number from 1.")
        if not isinstance(commitment, str) or not re.fullmatch("[0-9a-f]{64}", commitment):
            raise WrongUsage(f"The commitment is {commitment!r}.", "It has 64 digits from 0 to f.")
        for field, value in (("of", of), ("count", count), ("commitment", commitment)):
            object.__setattr__(self, field, value)

    @property
    def hidden(self) -> str:
        """What is hidden, with their number: "1 pattern", "40 rules"."""
        kind = _KINDS[self.of]
        return f"{self.count:,} {kind if self.count > 1 else kind[:-1]}"

    def check_items(self, data: Transactions) -> None:
        """It names no items."""

    def check_data(self, data: Transactions) -> None:
        """Raise: nobody can tell without the custodian's key."""
        raise WrongUsage(
            f"Which {self.hidden} are hidden is the custodian's secret, so that it cannot be checked here.",
            "Ask the custodian to verify the whole release.",
        )

    def check_feasible(self, data: Transactions) -> None:
        """What was made can be."""

    def within(self, data: Transactions) -> Sealed:
        """The same: it names no items."""
        return self

    def parameters(self) -> dict[str, Parameter]:
        """As a certificate writes them."""
        return {"of": self.of, "count": self.count, "commitment": self.commitment}

    def not_promised(self) -> tuple[str, ...]:
        """What the promise leaves open."""
        return (
            f"Which {self.hidden} are hidden, and below what support, is told to nobody: only the custodian can check "
            "it.",
            "Nobody is hidden, and nothing about a single person is: it is patterns that are.",
            "What follows from other patterns is not hidden; parts of a hidden one may still be found.",
        )
