"""How sure an attacker can be that somebody has nothing in a column, if nobody's transaction is empty.

In an anchored bucket, where in some column everybody has something, that is the share of those who have nothing. In any
other, somebody who is known to have something elsewhere is more likely to have nothing here: the others need what is
here. He is most likely to if he has something in every other column where anybody has. With S other transactions in the
bucket, and W(a) ways to place a empty values of this column and those of the others among them so that none is empty,
the probability is W(e - 1) / (W(e - 1) + W(e)), e being the number of empty values of this column. If there is no such
person, a person with less elsewhere has nothing here for certain.

W counts by inclusion and exclusion. The integers grow with the bucket, so most are never computed: let T be the number
of the other transactions that are empty in all other columns. W(a) is proportional to the mean of C(S - T, a), and
W(e) / W(e - 1) is the mean of (S - T - e + 1) / e under weights that decrease with T. So the probability is at most
e / (s - mean of T), s being the size of the bucket.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import comb, prod

import numpy as np
import numpy.typing as npt

from veilset.audit.anatomy_cut import VALUE, Cut, Profiles
from veilset.limits import Limits

_FINE = 2**62  # a probability that needs a finer denominator is rounded to this one
_EPSILON = 1e-15  # more than the rounding of one operation
_AT_ONCE = 512  # steps between looks at the clock
_LARGE = 1_000  # transactions in a bucket


def nothing_at_most(
    profiles: Profiles, cut: Cut, bound: Fraction, limits: Limits
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """For each column of each profile, the probability of having nothing there: numerators and denominators.

    It is on the right side of *bound*, and exact (up to a denominator of 2**62) where it is above that or the largest
    of all. In large buckets an upper bound stands for it, if that decides. Where neither matters, the share of those
    who have nothing does, which is less.
    """
    lengths = np.diff(profiles.offsets)
    sizes = np.repeat(profiles.sizes, lengths)
    empty = sizes - profiles.holders
    above, below = empty.copy(), sizes.copy()
    upper = _upper_bounds(lengths, sizes, empty)
    upper[cut.rules[profiles.columns] != VALUE] = 0.0
    profile = np.repeat(np.arange(len(lengths)), lengths)
    known: dict[tuple[int, int, tuple[int, ...]], Fraction] = {}
    largest = Fraction(0)
    for place in np.argsort(-upper, kind="stable").tolist():
        most = Fraction(upper[place])
        if most < min(largest, bound) or not most:
            break
        of = (
            int(sizes[place]),
            int(empty[place]),
            _without(profiles.empty(int(profile[place])), profiles.columns[place]),
        )
        if of not in known:
            limits.check_time("The audit", "look at fewer transactions.")
            decided = of[0] > _LARGE and (most <= bound or Fraction(of[1], of[0]) > bound)
            known[of] = most if decided else _nothing(*of, limits)
        largest = max(largest, known[of])
        above[place], below[place] = _in_words(known[of], bound)
    return above, below


def _without(empty: dict[int, int], column: int) -> tuple[int, ...]:
    return tuple(sorted(count for other, count in empty.items() if other != column))


def _upper_bounds(
    lengths: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64], empty: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """e / (s - mean of T), not above 1, with what rounding may have taken."""
    among = sizes - 1.0
    share = empty / among  # somebody has something, but not all: 0 < empty < size
    some = lengths > 0
    starts = (np.cumsum(lengths) - lengths)[some]
    all_empty = np.repeat(np.multiply.reduceat(share, starts) if len(starts) else share, lengths[some])
    mean = among * (all_empty / share) * (1 + _EPSILON * (np.repeat(lengths, lengths) + 4))
    bounds: npt.NDArray[np.float64] = empty / np.maximum(sizes - mean, 0.5) * (1 + 4 * _EPSILON)
    return np.minimum(bounds, 1.0)


def _nothing(size: int, empty: int, others: tuple[int, ...], limits: Limits) -> Fraction:
    """The probability, exactly."""
    rest = size - 1
    nothing, something = (
        signed_sum(rest, [(rest, here), *((rest, other) for other in others)], limits) for here in (empty - 1, empty)
    )
    return Fraction(nothing, nothing + something) if nothing + something else Fraction(1)


def signed_sum(rows: int, placed: Iterable[tuple[int, int]], limits: Limits) -> int:
    """Σ over j of (-1)^j C(rows, j) Π C(n - j, k - j), over the (n, k) in *placed*.

    The ways to place k empty values of a column in n rows, for each column, so that none of so many *rows*, which are
    among all of these, is empty in all columns.
    """
    placed = list(placed)
    if any(not 0 <= k <= n for n, k in placed):
        return 0
    last = min([rows, *(k for _, k in placed)])
    term = total = prod(comb(n, k) for n, k in placed)
    for j in range(last):
        if j % _AT_ONCE == _AT_ONCE - 1:
            limits.check_time("The audit", "look at smaller buckets.")
        # each factor's part: C(rows, j + 1) / C(rows, j), and C(n - j - 1, k - j - 1) / C(n - j, k - j)
        above = (rows - j) * prod(k - j for _, k in placed)
        below = (j + 1) * prod(n - j for n, _ in placed)
        term = -term * above // below  # a whole number
        total += term
    return total


def _in_words(probability: Fraction, bound: Fraction) -> tuple[int, int]:
    """In two machine words, on the same side of the bound."""
    if probability.denominator <= _FINE:
        return probability.numerator, probability.denominator
    scaled = probability * _FINE
    return (int(scaled) if probability <= bound else -int(-scaled // 1)), _FINE
