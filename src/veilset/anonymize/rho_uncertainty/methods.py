"""The methods for ρ-uncertainty, and how its limits could be eased."""

from __future__ import annotations

from collections.abc import Iterator

from veilset.anonymize.binding import MOST_ITEMS, Eased, in_tenths
from veilset.anonymize.methods import Methods
from veilset.anonymize.rho_uncertainty import on_engine
from veilset.anonymize.rho_uncertainty.partial import partial, quick_partial
from veilset.anonymize.rho_uncertainty.remove_sensitive import remove_sensitive
from veilset.anonymize.rho_uncertainty.select_a_size import select_a_size
from veilset.anonymize.rho_uncertainty.suppress import suppress
from veilset.anonymize.rho_uncertainty.top_down import top_down
from veilset.limits import Limits
from veilset.models import RhoUncertainty
from veilset.release import Release


def _eased(release: Release, limits: Limits) -> Iterator[Eased]:
    """rho by tenths; and the most frequent sensitive items, of which one at least has to stay."""
    promise, data = release.promise, release.original
    assert isinstance(promise, RhoUncertainty)  # noqa: S101 - these are its limits
    yield Eased("rho", promise.rho, steps=[(rho, RhoUncertainty(rho=rho)) for rho in in_tenths(promise.rho)])
    support = dict(zip(data.names, data.supports.tolist(), strict=True))
    frequent = sorted(data.sensitive, key=lambda name: (-support[name], name))
    for item in frequent[:MOST_ITEMS] if len(frequent) > 1 else ():
        yield Eased("sensitive", None, without=promise, items=(item,), left_out=True)


RHO_UNCERTAINTY = Methods(
    {
        "top-down": top_down,
        "suppress": suppress,
        "partial": partial,
        "remove-sensitive": remove_sensitive,
        "select-a-size": select_a_size,
    },
    milder="larger rho",
    eased=_eased,
    on_engines={
        "top-down": on_engine.top_down,
        "suppress": on_engine.suppress,
        "remove-sensitive": on_engine.remove_sensitive,
    },
    quicker={"partial": ("the quick part of partial (no exchanges)", quick_partial)},
    aliases={
        "TDControl": ("top-down", {"as_published": True}),
        "SuppressControl": ("suppress", {"as_published": True}),
        "Simple": ("remove-sensitive", {}),
    },
)
