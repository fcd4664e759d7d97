"""Minimal moles of transactions that an engine holds, as a list: that of `minimal_rare`, in its order."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from veilset.engines import Held
from veilset.errors import InvalidArgument, said
from veilset.limits import Limits
from veilset.mining.frequent_spread import refuse_threads
from veilset.mining.itemsets import Itemsets
from veilset.mining.spread import OnEngine


def rare_on_engine(
    held: Held, k: int, max_size: int | None, items: Iterable[str] | None, *, include_absent: bool, limits: Limits
) -> Itemsets:
    """Those that fewer than *k* transactions hold; what they tell of sensitive items would need a count of its own."""
    refuse_threads(limits)
    if include_absent:
        raise InvalidArgument(
            f"{said('include_absent', True)} does not apply on an engine.", "Read the data with vs.read."
        )
    if held.vocabulary.sensitive:
        raise InvalidArgument(
            "On an engine, minimal moles are listed only without sensitive items: how sure each makes is not counted.",
            "Audit the promise, which lists the most severe ones, or read the data with vs.read.",
        )
    asked = None if items is None else [*items]
    miner = OnEngine(held, any_number=max_size is None)
    return miner.moles({"k": k, "h": Fraction(1), "max_size": max_size, **limits.bounds()}, asked)
