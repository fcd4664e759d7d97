"""The methods of each promise, by the names users type; the first one is the default."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from veilset.anonymize.anatomy.multi_anatomy import multi_anatomy
from veilset.anonymize.coherence.auto import auto
from veilset.anonymize.coherence.border import border
from veilset.anonymize.coherence.generalize import generalize
from veilset.anonymize.coherence.k_anonymity import k_anonymity
from veilset.anonymize.coherence.optimal import optimal
from veilset.anonymize.coherence.remove_all import remove_all
from veilset.anonymize.coherence.tree import tree
from veilset.anonymize.given import given
from veilset.anonymize.hiding.hidden_first import hidden_first
from veilset.anonymize.hiding.hpcme import hpcme
from veilset.anonymize.hiding.non_hidden_first import non_hidden_first
from veilset.anonymize.rho_uncertainty.remove_sensitive import remove_sensitive
from veilset.anonymize.rho_uncertainty.select_a_size import select_a_size
from veilset.anonymize.rho_uncertainty.suppress import suppress
from veilset.anonymize.rho_uncertainty.top_down import top_down
from veilset.errors import WrongUsage, near_misses
from veilset.limits import Limits
from veilset.models import Coherence, HiddenPatterns, HiddenRules, LDiverseAnatomy, Promise, RhoUncertainty
from veilset.release import Release
from veilset.transactions import Transactions

__all__ = ["METHODS", "Method", "check_original", "find_method"]


class Method(Protocol):
    """What an anonymizer is: options of its own are keyword-only and have defaults.

    Its promise is always of the kind that `METHODS` lists it under.
    """

    def __call__(self, data: Transactions, promise: Any, /, *, limits: Limits) -> Release:
        """Change *data* so that it keeps *promise*, and say what was changed."""


_HIDING: Mapping[str, Method] = {
    "hpcme": hpcme,
    "hidden-first": hidden_first,
    "non-hidden-first": non_hidden_first,
}

METHODS: Mapping[type[Promise], Mapping[str, Method]] = {
    Coherence: {
        "auto": auto,
        "tree": tree,
        "border": border,
        "optimal": optimal,
        "generalize": generalize,
        "remove-all": remove_all,
        "k-anonymity": k_anonymity,
        "given": given,
    },
    RhoUncertainty: {
        "top-down": top_down,
        "suppress": suppress,
        "remove-sensitive": remove_sensitive,
        "select-a-size": select_a_size,
        "given": given,
    },
    HiddenPatterns: _HIDING,
    HiddenRules: _HIDING,
    LDiverseAnatomy: {"multi-anatomy": multi_anatomy},
}


def find_method(promise: Promise, name: str | None) -> Method:
    """The method called *name* for this promise, or its default."""
    available = METHODS.get(type(promise))
    if available is None:
        known = ", ".join(kind.__name__ for kind in METHODS)
        raise WrongUsage(f"There is no method for {type(promise).__name__}.", f"Promises with methods: {known}.")
    chosen = name or next(iter(available))
    if chosen not in available:
        raise WrongUsage(
            f"There is no method {chosen!r} for {type(promise).__name__}. Available: {', '.join(available)}.",
            near_misses(chosen, available),
        )
    return available[chosen]


def check_original(data: Transactions) -> None:
    """Raise if it is the outcome of a method whose rows are nobody's, and so nothing to start from."""
    if data.anatomy is not None:
        raise WrongUsage(
            "This data is in columns and buckets already: its rows mix people of a bucket, so that no promise about "
            "them says anything about a person.",
            "Anonymize the original. To see what the data keeps as it is, audit it.",
        )
