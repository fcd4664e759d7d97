"""The second audit of a release from which single occurrences are gone, over the original and the release.

The first audit is about the released rows. Here the limits on sensitive items are checked once more for everything that
can be known from these rows, as counted in the original: native/audit/in_original.cpp, which shares no counting with
the methods.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.audit.findings import sure_of, witness_rows
from veilset.limits import Limits
from veilset.models import Coherence, InOriginal, PerPromise, Promise, RhoUncertainty, Witness
from veilset.transactions import Transactions

_WITNESSES = 20


class Comparer(Protocol):
    """Both data sets have the same names; its promise is always of its own kind."""

    def __call__(
        self, original: Transactions, released: Transactions, promise: Any, *, least: int, limits: Limits
    ) -> InOriginal:
        """Whether what can be known from *released* keeps the limits in *original*."""


def in_original(
    original: Transactions,
    released: Transactions,
    promise: Promise,
    *,
    generalized: Mapping[str, str],
    least: int = 1,
    limits: Limits | None = None,
) -> InOriginal | None:
    """What the original says of what can be known from the release; None: the promise limits nothing there.

    Sensitive items that were suppressed altogether are nothing a reader of the release can be promised about. Every
    itemset of the release is in *least* rows there, as the first audit has found.
    """
    if not promise.limits_inference(released):
        return None
    gone = set(original.sensitive).difference(released.names)
    names = set(original.names)
    meant = original.without(gone).renamed({old: new for old, new in generalized.items() if old in names})
    return IN_ORIGINAL.of(promise)(meant, released, promise, least=least, limits=limits or Limits())


def coherent_in_original(
    original: Transactions, released: Transactions, promise: Coherence, *, least: int, limits: Limits
) -> InOriginal:
    """How many public itemsets of up to p items that occur in the release give away more than h in the original."""
    kind, things = _sensitive_things(original, promise)
    with limits.guard("Comparing with the original", "choose a smaller p."):
        found = _native.audit.in_original(
            original.offsets,
            original.items,
            released.offsets,
            _items_of(released, original),
            kind,
            kinds=len(things),
            h_num=promise.share.numerator,
            h_den=promise.share.denominator,
            p=promise.p or 0,
            least=least,
            witness_limit=_WITNESSES,
            threads=limits.thread_count,
            **limits.for_kernel(lambda _: "Comparing with the original"),
        )
    witnesses = []
    for itemset, support, thing, together in witness_rows(original, found):
        sure = Fraction(together, support)
        reason = sure_of(things[thing], itemset, support, sure)
        witnesses.append(Witness(itemset, support, things[thing], sure, reason))
    return InOriginal(found["broken"], tuple(witnesses), promise.infers_by)


def rho_uncertain_in_original(
    original: Transactions, released: Transactions, promise: RhoUncertainty, *, least: int, limits: Limits
) -> InOriginal:
    """How many sensitive rules of the release are as sure as rho in the original."""
    with limits.guard("Comparing with the original", "use the method remove-sensitive."):
        found = _native.audit.rho_in_original(
            original.offsets,
            original.items,
            released.offsets,
            _items_of(released, original),
            original.is_sensitive,
            rho_num=promise.rho.numerator,
            rho_den=promise.rho.denominator,
            witness_limit=_WITNESSES,
            **limits.for_kernel(lambda _: "Comparing with the original"),
        )
    witnesses = []
    for known, support, inferred, together in witness_rows(original, found):
        sure, name = Fraction(together, support), original.names[inferred]
        witnesses.append(Witness(known, support, name, sure, sure_of(name, known, support, sure)))
    return InOriginal(found["broken"], tuple(witnesses), promise.infers_by)


def _items_of(released: Transactions, original: Transactions) -> npt.NDArray[np.int32]:
    """The items of the release, row by row, as codes of the original in their order.

    Names that are all numbers are sorted as numbers, so the two orders may differ.
    """
    codes = original.codes(released.names).astype(np.int32)[released.items]
    rows = np.repeat(np.arange(len(released)), released.lengths)
    in_order: npt.NDArray[np.int32] = codes[np.lexsort((codes, rows))]
    return in_order


def _sensitive_things(data: Transactions, promise: Coherence) -> tuple[npt.NDArray[np.int32], list[str]]:
    """For each item, which sensitive thing it is (-1: none), and the names of those: an item, or a group of them."""
    names = promise.group_names(data)
    things = sorted({names.get(name, name) for name in data.sensitive})
    number = {name: place for place, name in enumerate(things)}
    kind = np.full(len(data.names), -1, dtype=np.int32)
    for name, code in zip(data.sensitive, data.codes(data.sensitive).tolist(), strict=True):
        kind[code] = number[names.get(name, name)]
    return kind, things


IN_ORIGINAL = PerPromise[Comparer]("comparison with the original")
IN_ORIGINAL.add(Coherence, coherent_in_original)
IN_ORIGINAL.add(RhoUncertainty, rho_uncertain_in_original)
