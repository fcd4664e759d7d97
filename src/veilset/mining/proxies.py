"""Proxies: public items that go with a sensitive one, so that whoever knows them is surer of it than of anybody.

What ranks them is how much surer one gets: the share of those who hold X that hold s too, less the share of all. For
the first share its lower confidence bound is taken, so that one lucky transaction does not come first; and since
thousands of X and s are looked at, of which some must be lucky, a bound that is to hold for all of them at once
(Bonferroni): the more are counted, the more transactions it takes to convince.

References
----------
Edwin B. Wilson: Probable inference, the law of succession, and statistical inference. JASA 22 (1927), 209-212.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Unpack

import numpy as np
import numpy.typing as npt

from veilset.errors import BudgetExceeded, InvalidArgument, said
from veilset.exact import Support, is_whole, support_of
from veilset.limits import Bounds, Limits
from veilset.mining.counting import supports
from veilset.mining.frequent_itemsets import frequent
from veilset.mining.itemsets import Itemsets
from veilset.transactions import Transactions, check_transactions

_LARGEST_SIZE = 2
_CERTAINTY = 0.975  # about, that no true share is below its bound


@dataclass(frozen=True)
class Proxy:
    """Public *items* (X) that predict a *sensitive* one (s).

    *held* transactions contain X, *support* of them also contain s, and a share *share* of all transactions contains s.
    *lower* is a lower bound of the confidence (Wilson): about 97.5% certain for all bounds together.
    """

    items: tuple[str, ...]
    sensitive: str
    support: int
    held: int
    share: Fraction
    lower: float

    @property
    def confidence(self) -> Fraction:
        """Pr(s | X): the share of transactions with X that contain s."""
        return Fraction(self.support, self.held)

    @property
    def lift(self) -> Fraction:
        """The confidence divided by the share of all transactions that contain s."""
        return self.confidence / self.share

    @property
    def gain(self) -> float:
        """What knowing X adds to the confidence in s, cautiously: *lower* minus *share*."""
        return self.lower - float(self.share)


@dataclass(frozen=True)
class Proxies:
    """The *first* proxies, the number *found*, and the number of pairs of X and s that were *counted*."""

    first: tuple[Proxy, ...]
    found: int
    counted: int


def proxies(
    data: Transactions,
    *,
    size: int = 1,
    min_support: Support = 5,
    top: int | None = 20,
    **bounds: Unpack[Bounds],
) -> Proxies:
    """The public items that predict a sensitive one, highest attacker confidence first.

    Parameters
    ----------
    size : {1, 2}
        Maximum number of items in X. A pair is listed only if its bound is above those of both of its items.
    min_support : int, float or str
        Minimum number of transactions that contain X and s: a number, or a share of all.
    top : int, optional
        Maximum number to return; None: all.

    Returns
    -------
    Proxies
        Largest `Proxy.gain` first, then the smaller X, then in vocabulary order. Only gains above 0 are listed.

    Examples
    --------
    >>> rows = [["strips", "insulin"]] * 8 + [["strips"]] + [["milk", "insulin"]] + [["milk"]] * 90
    >>> data = Transactions.from_lists(rows, sensitive=["insulin"])
    >>> for proxy in proxies(data).first:
    ...     print(proxy.items, proxy.sensitive, proxy.confidence, proxy.share, round(proxy.lower, 3))
    ('strips',) insulin 8/9 9/100 0.565
    """
    check_transactions(data)
    limits = Limits(**bounds)
    if not is_whole(size, most=_LARGEST_SIZE):
        raise InvalidArgument(f"{said('size')} is {size}.", "Give 1 for single items, or 2 for pairs too.")
    if top is not None and top < 1:
        raise InvalidArgument(f"{said('top')} is {top}.", "Give at least 1, or None for all.")
    if not data.sensitive:
        raise InvalidArgument("No item is sensitive, so there is nothing to reveal.", "Name sensitive items first.")
    known, secret = _together(data, support_of(min_support, len(data)), size, limits)
    held = supports(data, known, **limits.bounds())
    lower = _lower_bound(known.supports, held)
    gain = lower - data.supports[secret] / len(data)
    rank = _ranked(known, secret, gain, listed=(gain > 0) & _surer_than_parts(known, secret, lower))
    first = rank[:top]
    return Proxies(
        tuple(
            Proxy(items, data.names[s], support, in_all, Fraction(int(data.supports[s]), len(data)), bound)
            for (items, support), s, in_all, bound in zip(
                known[first], secret[first].tolist(), held[first].tolist(), lower[first].tolist(), strict=True
            )
        ),
        len(rank),
        len(known),
    )


def _together(
    data: Transactions, min_support: int, size: int, limits: Limits
) -> tuple[Itemsets, npt.NDArray[np.int64]]:
    """Each public X and sensitive s that so many transactions hold together: X with their number, and the code of s."""
    # Transactions without a sensitive item hold no X with one, and mostly there are many of them.
    some = np.append(0, np.cumsum(data.is_sensitive[data.items]))[data.offsets]
    telling = data.take(np.flatnonzero(np.diff(some)))
    try:
        found = frequent(telling, min_support, min_size=2, max_size=size + 1, **limits.bounds())
    except BudgetExceeded as stop:  # its advice speaks of options that are not there
        raise stop.within("", f"Raise the limit, or use a higher {said('min_support')} or {said('size', 1)}.") from None
    secrets = np.add.reduceat(telling.is_sensitive[found.items], found.offsets[:-1], dtype=np.int64)
    found = found[secrets == 1]
    # A part of the data can have another order of its vocabulary: integers alone are sorted as numbers.
    codes = found.codes_in(data.names)
    codes = codes[np.lexsort([codes, np.repeat(np.arange(len(found)), found.sizes)])]
    is_secret = data.is_sensitive[codes] == 1
    offsets = found.offsets - np.arange(len(found) + 1)
    return Itemsets(data.names, offsets, codes[~is_secret], found.supports), codes[is_secret].astype(np.int64)


def _lower_bound(support: npt.NDArray[np.int64], held: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Wilson's lower bound of the share support / held: the smaller p with |share - p| = z sqrt(p (1 - p) / held)."""
    z = -NormalDist().inv_cdf((1 - _CERTAINTY) / max(1, len(held)))
    share, z2 = support / held, z**2 / held
    spread = np.sqrt(z2 * share * (1 - share) + z2**2 / 4)
    return np.asarray((share + z2 / 2 - spread) / (1 + z2), dtype=np.float64)


def _surer_than_parts(
    known: Itemsets, secret: npt.NDArray[np.int64], lower: npt.NDArray[np.float64]
) -> npt.NDArray[np.bool_]:
    """Whether an X says more than each of its items alone. Those are there: as many hold them with s, or more."""
    surer = np.ones(len(known), dtype=bool)
    alone, pair = known.sizes == 1, known.sizes == 2
    if not pair.any():
        return surer
    items, places = known.items.astype(np.int64), len(known.names)
    keys = items[known.offsets[:-1][alone]] * places + secret[alone]
    order = np.argsort(keys)
    for part in (0, 1):
        wanted = items[known.offsets[:-1][pair] + part] * places + secret[pair]
        surer[pair] &= lower[pair] > lower[alone][order[np.searchsorted(keys, wanted, sorter=order)]]
    return surer


def _ranked(
    known: Itemsets,
    secret: npt.NDArray[np.int64],
    gain: npt.NDArray[np.float64],
    *,
    listed: npt.NDArray[np.bool_],
) -> npt.NDArray[np.int64]:
    """The positions of those that are listed, the largest gain first."""
    firsts, lasts = known.items[known.offsets[:-1]], known.items[known.offsets[1:] - 1]
    at = np.flatnonzero(listed)
    keys = (lasts, firsts, secret, known.sizes, -gain)
    return at[np.lexsort([key[at] for key in keys])]
