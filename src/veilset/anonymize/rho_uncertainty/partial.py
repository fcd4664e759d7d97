"""``partial``: single sensitive occurrences are deleted, and all public items stay.

The release starts without sensitive items. Then occurrences are put back where every rule inside the new row stays
below rho: short rows first, in passes until nothing changes. Then occurrences are exchanged: some go at random, others
return, and what is worth more stays (simulated annealing, in `native/partial/sensitive.cpp`). By default, every rule
that occurs in the release is below rho in the original, too; `truthful=False` asks for the release only.

All parts of a row are looked at, so rows that are too long stay without sensitive items: they lose more, and are never
wrong. How many parts are looked at is counted, not timed, so that a run is repeatable.
"""

from __future__ import annotations

import time

import numpy as np

from veilset import _native
from veilset.anonymize.options import Items, Truthful, WeightsOption
from veilset.anonymize.weights import as_given, named_items, weights_of
from veilset.errors import InvalidArgument, said
from veilset.limits import Limits
from veilset.models import RhoUncertainty
from veilset.release import Release
from veilset.transactions import Transactions

_PARTS = 2**23  # of all rows that may get sensitive items back
_WORK = 100_000_000  # of the exchanges; some five seconds
_TOTAL = 2**50  # of all occurrences' worth together
_ADVICE = "use the method remove-sensitive."


def partial(
    data: Transactions,
    promise: RhoUncertainty,
    /,
    *,
    weights: WeightsOption = None,
    keep: Items = (),
    truthful: Truthful = True,
    limits: Limits,
) -> Release:
    """Delete single occurrences of sensitive items; `Release.kept` says which are left.

    Examples
    --------
    >>> from veilset import RhoUncertainty, Transactions, anonymize
    >>> rows = [["tea", "flu"], ["tea", "flu"], ["tea"], ["tea"], ["tea"], ["bun", "flu"], ["bun", "flu"]]
    >>> rows += [["bun"], ["bun"]]
    >>> data = Transactions.from_lists(rows, sensitive=["flu"])
    >>> anonymize(data, RhoUncertainty(rho="1/2"), method="partial").survivors().tolist()
    [4, 2, 5]
    """
    promise.check_feasible(data)
    wanted = named_items(data, keep, "keep", only_public=False)
    if secret := sorted(wanted.intersection(data.sensitive)):
        raise InvalidArgument(
            f"{secret[0]!r} is sensitive, but partial deletes only sensitive occurrences: it cannot keep them all.",
            f"Remove it from {said('keep')}, or use another method.",
        )
    weight = weights_of(data, weights, only_public=False)
    total = max(1, int(weight.sum()))
    worth = np.array(
        [int(w) * _TOTAL // (total * s) for w, s in zip(weight.tolist(), data.supports.tolist(), strict=True)],
        dtype=np.int64,
    )
    limits.step("Putting sensitive items back")
    started = time.perf_counter()
    with limits.guard("Putting sensitive items back", _ADVICE):
        kept = _native.partial.put_sensitive_back(
            data.offsets,
            data.items,
            len(data.names),
            returns=data.is_sensitive,
            worth=worth,
            rho_num=promise.rho.numerator,
            rho_den=promise.rho.denominator,
            truthful=truthful,
            most_parts=_PARTS,
            work=_WORK,
            **limits.for_kernel(lambda _: "Putting sensitive items back"),
        ).view(np.bool_)
    changed = data.thinned(kept)
    return Release(
        original=data,
        custodian_data=changed,
        promise=promise,
        method="partial",
        options=as_given(weights=weights, keep=wanted, truthful=None if truthful else False),
        suppressed=data.in_order(set(data.names).difference(changed.names)),
        kept=kept,
        seconds=time.perf_counter() - started,
    )
