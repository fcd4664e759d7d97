"""ρ-uncertainty: Cao, Karras, Raïssi, Tan (VLDB 2010)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar

import numpy as np

from veilset.errors import InvalidArgument, said
from veilset.exact import exact_share
from veilset.models.promise import Parameter, Promise
from veilset.options import Option
from veilset.transactions import Transactions


@dataclass(frozen=True, init=False)
class RhoUncertainty(Promise):
    """Protects everybody in the data against an attacker who knows any part of their transaction.

    For anything such an attacker knows, including sensitive items, the confidence in any other sensitive item stays
    below *rho*, even for an attacker who knows nothing (Definition 3.1).

    Parameters
    ----------
    rho : share
        Confidence that no attacker reaches: a number such as 0.5, or text such as ``"2/3"``.

    Examples
    --------
    >>> RhoUncertainty(rho=0.5)
    RhoUncertainty(rho=1/2)
    """

    name: ClassVar[str] = "rho-uncertainty"
    about_sensitive: ClassVar[bool] = True
    infers_by: ClassVar[str] = "rules"

    rho: Fraction

    def __init__(
        self,
        *,
        rho: Annotated[
            float | str | Fraction,
            Option(
                "share",
                "Confidence in any further sensitive item that no attacker reaches, given anything they know: 0.5, 50% "
                "or 1/2.",
                "0.5",
            ),
        ],
    ) -> None:
        object.__setattr__(self, "rho", exact_share(rho, "rho"))

    def __repr__(self) -> str:
        return f"RhoUncertainty(rho={self.rho})"

    def refuse_infeasible(self, data: Transactions) -> None:
        """Raise if it says nothing about the data; otherwise it can always be kept."""
        self.check_meaningful(data)

    def check_meaningful(self, data: Transactions) -> None:
        """Raise if no item is sensitive: then there is nothing to protect."""
        if not data.sensitive:
            raise InvalidArgument(
                "No item is sensitive, so there is nothing to protect from inference.",
                f"Name the sensitive items ({said('sensitive')}); or use coherence, which hides identities.",
            )

    def limits_inference(self, data: Transactions) -> bool:
        """Whenever there are sensitive items."""
        return bool(data.sensitive)

    def inferred_from_nothing(self, data: Transactions) -> tuple[str, ...]:
        """The sensitive items so common that an attacker who knows nothing infers them.

        >>> data = Transactions.from_lists([["flu"], ["flu", "hiv"], ["tea"]], sensitive=["flu", "hiv"])
        >>> RhoUncertainty(rho=0.5).inferred_from_nothing(data)
        ('flu',)
        """
        too_common = data.supports * self.rho.denominator >= self.rho.numerator * len(data)
        codes = np.flatnonzero(too_common & (data.is_sensitive == 1))
        return tuple(data.names[code] for code in codes.tolist())

    def too_common_among(self, data: Transactions) -> tuple[str, ...]:
        """With fewer transactions, an attacker who knows nothing is more confident; others are not."""
        return self.inferred_from_nothing(data)

    def parameters(self) -> dict[str, Parameter]:
        """rho as text, so that it stays exact."""
        return {"rho": str(self.rho)}

    def not_promised(self) -> tuple[str, ...]:
        """What the promise leaves open."""
        nearly = (
            "Only complete certainty is excluded: an attacker's confidence in a sensitive item may reach 99% or more."
        )
        return (
            *([nearly] if self.rho == 1 else []),
            "An attacker may recognize a person: the number of transactions that match what they know is not bounded.",
            "The promise does not cover an attacker who knows items that a person does not have.",
            "The release does not hide who is in the data, or which public items occur together.",
            "An attacker's confidence that a person has at least one sensitive item is not bounded.",
        )
