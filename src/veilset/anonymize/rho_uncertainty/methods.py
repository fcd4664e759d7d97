"""The methods for ρ-uncertainty, and what a larger rho would cost."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from veilset.anonymize.methods import Methods, Milder
from veilset.anonymize.rho_uncertainty.remove_sensitive import remove_sensitive
from veilset.anonymize.rho_uncertainty.select_a_size import select_a_size
from veilset.anonymize.rho_uncertainty.suppress import suppress
from veilset.anonymize.rho_uncertainty.top_down import top_down
from veilset.models import RhoUncertainty


def _larger_rho(milder: Milder, promise: RhoUncertainty) -> Iterator[tuple[str, Fraction]]:
    """The smallest rho that keeps half, in tenths."""
    for rho in (Fraction(tenths, 10) for tenths in range(1, 11)):
        if rho > promise.rho and milder.loss(RhoUncertainty(rho=rho)) <= 0.5:
            yield "rho", rho
            break


RHO_UNCERTAINTY = Methods(
    {
        "top-down": top_down,
        "suppress": suppress,
        "remove-sensitive": remove_sensitive,
        "select-a-size": select_a_size,
    },
    milder="larger rho",
    find_milder=_larger_rho,
)
