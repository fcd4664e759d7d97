"""Sensitive items that must go before anything else can be promised.

If a sensitive item is in more than a share h of all transactions, an attacker who knows nothing is too sure of it
already (thesis Theorem 3), and no suppression of public items helps. Where the custodian allows it, it is suppressed.
"""

from __future__ import annotations

from veilset.errors import WrongUsage
from veilset.models import Coherence, LDiverseAnatomy, Promise
from veilset.transactions import Transactions

__all__ = ["check_allowed", "too_common"]


def check_allowed(promise: Promise) -> Coherence:
    """The promise, if it is one for which sensitive items need leave to be suppressed; else an error."""
    if not isinstance(promise, Coherence):
        always = "no item is ever" if isinstance(promise, LDiverseAnatomy) else "sensitive items may always be"
        raise WrongUsage(
            f"allow_sensitive goes only with coherence: for {promise.name}, {always} suppressed.", "Leave it out."
        )
    return promise


def too_common(data: Transactions, promise: Coherence) -> tuple[str, ...]:
    """The sensitive items that are in more than a share h of all transactions, in vocabulary order.

    Of a sensitive group that is, the most frequent members go, one after the other, until the rest is not.

    >>> data = Transactions.from_lists([["tea", "flu"], ["flu"], ["tea", "hiv"]], sensitive=["flu", "hiv"])
    >>> too_common(data, Coherence(h="1/2", k=1, p=1))
    ('flu',)
    """
    gone: list[str] = []
    grouped = {item for group in promise.sensitive_groups for item in group}
    groups = [*promise.sensitive_groups, *((item,) for item in data.sensitive if item not in grouped)]
    support = dict(zip(data.names, data.supports.tolist(), strict=True))
    for group in groups:
        left = sorted((item for item in group if item in support), key=lambda item: (support[item], item))
        while left and _holders(data, left) * promise.share.denominator > len(data) * promise.share.numerator:
            gone.append(left.pop())
    return data.in_order(gone)


def _holders(data: Transactions, items: list[str]) -> int:
    """The number of transactions that hold at least one of these items."""
    return int((data.only(items).lengths > 0).sum())
