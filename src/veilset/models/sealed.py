"""What is said in public of a promise that is itself the secret."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from veilset.errors import InvalidArgument, said
from veilset.models.promise import Parameter, Promise
from veilset.models.registry import PROMISES, SEAL
from veilset.transactions import Transactions


@dataclass(frozen=True, init=False)
class Sealed(Promise):
    """Protects a list that is secret itself: only how long it is is told, and a commitment to it.

    Parameters
    ----------
    of : str
        Which promise it stands for: one that is secret, such as "hidden-patterns".
    count : int
        How many things it lists.
    commitment : str
        A keyed hash of the promise. It gives nothing away without the custodian's key, and with it shows that the
        promise was not changed afterwards.
    """

    name: ClassVar[str] = SEAL
    about_people: ClassVar[bool] = False

    of: str
    count: int
    commitment: str

    def __init__(self, *, of: str, count: int, commitment: str) -> None:
        secret = [name for name, kind in PROMISES.items() if kind.secret]
        if of not in secret:
            raise InvalidArgument(f"The promise {of!r} cannot be sealed.", f"Use {' or '.join(secret)}.")
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise InvalidArgument(f"{said('count')} is {count!r}.", "Give a whole number from 1.")
        if not isinstance(commitment, str) or not re.fullmatch("[0-9a-f]{64}", commitment):
            raise InvalidArgument(f"The commitment is {commitment!r}.", "Give 64 hexadecimal digits.")
        for field, value in (("of", of), ("count", count), ("commitment", commitment)):
            object.__setattr__(self, field, value)

    @property
    def kind(self) -> type[Promise]:
        """The promise that is secret."""
        return PROMISES[self.of]

    @property
    def hidden(self) -> str:
        """What is hidden, with their number: "1 pattern", "40 rules"."""
        kind = self.kind.listed
        return f"{self.count:,} {kind if self.count > 1 else kind[:-1]}"

    def check_data(self, data: Transactions) -> None:
        """Raise: nobody can tell without the custodian's key."""
        raise InvalidArgument(
            f"Only the custodian knows which {self.hidden} are hidden, so this cannot be checked here.",
            "Ask the custodian to verify the whole release.",
        )

    def parameters(self) -> dict[str, Parameter]:
        """As a certificate writes them."""
        return {"of": self.of, "count": self.count, "commitment": self.commitment}

    def not_promised(self) -> tuple[str, ...]:
        """What the promise leaves open."""
        return (
            f"Which {self.hidden} are hidden, and below what support, is secret: only the custodian can check it.",
            "No person is protected: only patterns are hidden.",
            "Other patterns, and what they imply, are not hidden. Parts of a hidden pattern may still be discoverable.",
            "Pairs of frequent items that are rarer than chance would make them may be guessed to be hidden. Comparing "
            "this file with another release of the same data can show what is.",
        )
