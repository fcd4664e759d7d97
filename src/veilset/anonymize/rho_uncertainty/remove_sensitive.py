"""``remove-sensitive``, the baseline (Cao et al. 2010, "Simple"): suppresses all sensitive items and nothing else.

What is not there cannot be inferred, so that the promise is kept for every rho; and nothing can be learned about what
made the data worth protecting.
"""

from __future__ import annotations

from veilset.limits import Limits
from veilset.models import RhoUncertainty
from veilset.release import Release
from veilset.transactions import Transactions


def remove_sensitive(data: Transactions, promise: RhoUncertainty, /, *, limits: Limits) -> Release:
    """Suppress every sensitive item.

    >>> data = Transactions.from_lists([["tea", "hiv"], ["tea"]], sensitive=["hiv"])
    >>> remove_sensitive(data, RhoUncertainty(rho=0.7), limits=Limits()).custodian_data.to_lists()
    [['tea'], ['tea']]
    """
    limits.step("Suppressing all sensitive items")
    gone = data.sensitive
    return Release(
        original=data,
        custodian_data=data.without(gone),
        promise=promise,
        method="remove-sensitive",
        options={},
        suppressed=gone,
    )
