"""How many people have two items of different columns, estimated from the buckets of an anatomy alone.

Over all buckets, add up

    n = Σ n_i n_j / size,    e = N_i N_j / N,    s = the mean size

where n_i of the rows of a bucket have item i, and N_i of all N rows. If items fell into buckets at random, e would be
expected of n, and of the rows that have both items. If d more rows have both, n exceeds e by d/s, in the long run. The
first estimate of d is n − e, which is too low, but leaves much to chance; a bold attacker takes what s (n − e) has
beyond three standard deviations (the variance is about s n), if that is more. A pair of items that n rows have together
has the weight

    log (n + p e + 1) / (e + p e + 1)

where p e + 1 stands for a prior belief that items are independent; p = 0 for the first estimate, with n = e + d.

Further rounds (expectation–maximisation, by sampling) start with the bold estimate and with the released rows, one
possible arrangement of every bucket. In each round, the rows of each bucket are matched at random in twos, and exchange
their values of each column or not, with the odds of both arrangements: the exponential of the difference of their
weights. In buckets of two, these are all arrangements. Then n is counted in the rows that result. Here p = 3: with
less, chance is taken for a rule, and each round believes in it more. The rows themselves are not counted when their own
values are exchanged, or a guess would confirm itself. The mean n of the last rounds is the final estimate. It is better
than the first one in small buckets; large ones would need far more rounds.

If the buckets have too many pairs of items, only some are arranged again; of the others, the first estimate stays.
Having nothing in a column counts as an item. If there are two columns only, nobody has nothing in both: the
later rounds use that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, diags_array

from veilset.attack.buckets import ADVICE, TASK, Buckets
from veilset.limits import Limits

BOLD, CAUTIOUS = 3.0, np.inf
"""Standard deviations that an attacker leaves to chance in the first estimate."""

_ROUNDS, _REPORTED = 8, 4  # the last ones are
_PAIRS = 6_000_000  # of items in two rows, which are weighed in a round
_AT_ONCE = 1_000_000
_PRIOR = 3
_NEVER = -20.0
_SEATING = 2  # times that all columns of two rows are decided in a round

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CoOccurrence:
    """How often items are together.

    Parameters
    ----------
    buckets, items : Buckets, array of int64
        The items of these buckets that were counted.
    even : array of float64
        For each two of them, how many rows have both if all arrangements are equally likely.
    arranged : array of float64
        How many rows had both, in the mean of the reported rounds.
    own : dict
        Rows of the buckets that are attacked, as they were arranged in those rounds.
    """

    buckets: Buckets
    items: Ints
    even: Floats
    arranged: Floats
    own: dict[int, list[csr_array]]

    def first_weights(self, bucket: int, held: Ints, *, deviations: float) -> Floats:
        """The weights of each two items that a bucket holds, from the other buckets, in one round."""
        at, count, size = np.searchsorted(self.items, held), self.buckets.counts[[bucket]].data, self._size(bucket)
        mean_size = (len(self.buckets.rows) - size) / (len(self.buckets.sizes) - 1)
        even, expected = self.even[np.ix_(at, at)] - np.outer(count, count) / size, self._expected(bucket, held)
        return self._between(held, _estimated(even, expected, mean_size, deviations), expected, 0)

    def weights(self, bucket: int, held: Ints) -> Floats:
        """The same after all rounds, without what its own rows say."""
        at, own, never = np.searchsorted(self.items, held), self.own[bucket], self.buckets.never_both[held]
        counted = sum((rows[:, at].T @ rows[:, at]).toarray() for rows in own) / len(own)
        met = self.arranged[np.ix_(at, at)] - counted
        weights = self._between(held, met, self._expected(bucket, held), _PRIOR)
        weights[np.outer(never, never) & ~np.eye(len(never), dtype=bool)] = _NEVER
        return weights

    def _size(self, bucket: int) -> int:
        return int(self.buckets.starts[bucket + 1] - self.buckets.starts[bucket])

    def _expected(self, bucket: int, held: Ints) -> Floats:
        left = self.buckets.totals[held] - self.buckets.counts[[bucket]].data
        expected: Floats = np.outer(left, left) / (len(self.buckets.rows) - self._size(bucket))
        return expected

    def _between(self, held: Ints, met: Floats, expected: Floats, prior: int) -> Floats:
        weights, columns = _weights(met, expected, prior), self.buckets.column_of[held]
        weights[columns[:, None] == columns] = 0
        return weights


def co_occurrence(
    buckets: Buckets, targets: Ints, items: Ints, chance: np.random.Generator, *, limits: Limits
) -> CoOccurrence:
    """Count pairs of these items, without the truth; *targets* are the buckets that will be attacked."""
    limits.require(60 * len(items) ** 2, TASK, ADVICE)
    drawn = _drawn(buckets, targets, chance)
    part, others = buckets.part(drawn), buckets.part(np.setdiff1d(np.arange(len(buckets.sizes)), drawn))
    even, rest = _evenly(buckets, items), _once(others, items)
    rounds = _Rounds(part, items, _once(buckets, items), rows=len(buckets.rows))
    total = np.zeros_like(even)
    place = {bucket: number for number, bucket in enumerate(drawn.tolist())}
    own: dict[int, list[csr_array]] = {bucket: [] for bucket in targets.tolist()}
    for number in range(_ROUNDS):
        limits.step(TASK, number, _ROUNDS)
        rounds.arrange(chance, limits)
        rounds.pairs = rest + (rounds.rows.T @ rounds.rows).toarray()
        if number >= _ROUNDS - _REPORTED:
            total += rounds.pairs
            for bucket, rows in own.items():
                rows.append(rounds.rows_of(place[bucket]))
    return CoOccurrence(buckets, items, even, total / _REPORTED, own)


def _once(buckets: Buckets, items: Ints) -> Floats:
    """How many rows have two items, as far as one round tells."""
    rows, totals = len(buckets.rows), buckets.counts[:, items].sum(axis=0)
    expected, size = np.outer(totals, totals) / max(1, rows), rows / max(1, len(buckets.sizes))
    return _estimated(_evenly(buckets, items), expected, size, BOLD)


def _estimated(even: Floats, expected: Floats, size: float, deviations: float) -> Floats:
    beyond = np.abs(even - expected)
    sure = size * beyond - deviations * np.sqrt(size * np.maximum(even, expected) + 1)
    estimated: Floats = expected + np.sign(even - expected) * np.maximum(sure, beyond)
    return estimated


def _drawn(buckets: Buckets, targets: Ints, chance: np.random.Generator) -> Ints:
    """The buckets that are arranged again: the targets, and as many others as the work allows."""
    others = np.setdiff1d(chance.permutation(len(buckets.sizes)), targets, assume_unique=True)
    order = np.append(targets, others)
    work = np.cumsum((buckets.counts.sum(axis=1) ** 2 / buckets.sizes)[order])
    return np.sort(order[: max(len(targets), np.searchsorted(work, _PAIRS))])


def _evenly(buckets: Buckets, items: Ints) -> Floats:
    """How many rows have two items, if all arrangements are equally likely."""
    scaled = diags_array(buckets.sizes**-0.5) @ buckets.counts[:, items]
    pairs: Floats = (scaled.T @ scaled).toarray()
    return pairs


def _weights(met: Floats, expected: Floats, prior: int) -> Floats:
    weights: Floats = np.log((np.maximum(met, 0) + prior * expected + 1) / ((1 + prior) * expected + 1))
    return weights


class _Rounds:
    """One arrangement of some buckets after the other."""

    def __init__(self, buckets: Buckets, items: Ints, pairs: Floats, *, rows: int) -> None:
        self.buckets, self.pairs = buckets, pairs
        self.rows: csr_array = buckets.cells[:, items].tocsr()
        self.column_of, self.never_both = buckets.column_of[items], buckets.never_both[items]
        self.columns = len(buckets.is_sensitive)
        self.shares = buckets.totals[items] / np.sqrt(rows)
        self.is_first = True

    def rows_of(self, bucket: int) -> csr_array:
        return self.rows[self.buckets.starts[bucket] : self.buckets.starts[bucket + 1]]

    def arrange(self, chance: np.random.Generator, limits: Limits) -> None:
        """Exchange values between rows that are matched at random."""
        one, other = self._matched(chance)
        apart = (self.rows[one] - self.rows[other]).tocsr()
        apart.eliminate_zeros()
        stays = np.ones((len(self.buckets.rows), self.columns), dtype=bool)
        for part in _parts(apart):
            limits.check_time(TASK, ADVICE)
            size = self.buckets.sizes[self.buckets.bucket_of[one[part]]]
            stays[one[part]] = stays[other[part]] = _decided(self._odds(apart[part], size), chance)
        mate = np.arange(len(stays))
        mate[one], mate[other] = other, one
        cells = self.rows.tocoo()
        row = np.where(stays[cells.row, self.column_of[cells.col]], cells.row, mate[cells.row])
        self.rows = csr_array((cells.data, (row, cells.col)), shape=self.rows.shape)
        self.is_first = False

    def _matched(self, chance: np.random.Generator) -> tuple[Ints, Ints]:
        """Rows in twos, both of one bucket; of an odd number, one is left."""
        bucket_of = self.buckets.bucket_of
        order = np.lexsort((chance.random(len(bucket_of)), bucket_of))
        even = np.flatnonzero((np.arange(len(order)) - self.buckets.starts[bucket_of]) % 2 == 0)
        even = even[even + 1 < self.buckets.starts[bucket_of[even] + 1]]
        return order[even], order[even + 1]

    def _odds(self, apart: csr_array, size: Ints) -> Floats:
        """For each two rows and two columns, how much more their values weigh as they are than exchanged."""
        match, first, second = _entries(apart)
        differ = self.column_of[apart.indices[first]] != self.column_of[apart.indices[second]]
        match, first, second = match[differ], first[differ], second[differ]
        i, j = apart.indices[first], apart.indices[second]
        together = apart.data[first] * apart.data[second]  # 1: in the same row, -1: not
        own = 1 / size[match] if self.is_first else (1 + together) / 2
        weights = _weights(self.pairs[i, j] - own, self.shares[i] * self.shares[j], _PRIOR)
        weights[self.never_both[i] & self.never_both[j]] = _NEVER
        place = (match * self.columns + self.column_of[i]) * self.columns + self.column_of[j]
        shape = (apart.shape[0], self.columns, self.columns)
        odds = np.bincount(place, weights * together, minlength=np.prod(shape)).reshape(shape)
        return odds + odds.transpose(0, 2, 1)


def _parts(rows: csr_array) -> Iterator[slice]:
    """Rows whose pairs of entries are weighed at once."""
    work = np.cumsum(np.diff(rows.indptr).astype(np.int64) ** 2)
    cuts = np.unique(np.searchsorted(work, np.arange(0, work[-1] if len(work) else 0, _AT_ONCE)))
    for first, last in zip(cuts, [*cuts[1:], rows.shape[0]], strict=True):
        yield slice(first, last)


def _entries(rows: csr_array) -> tuple[Ints, Ints, Ints]:
    """The row, and the places of both, of each two entries of a row."""
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    later = rows.indptr[row + 1] - np.arange(len(row)) - 1
    first = np.repeat(np.arange(len(row)), later)
    second = first + 1 + np.arange(len(first)) - np.repeat(np.cumsum(later) - later, later)
    return row[first], first, second


def _decided(odds: Floats, chance: np.random.Generator) -> npt.NDArray[np.bool_]:
    """For each two rows and column, whether the values stay: one column after the other, given those decided."""
    side = np.ones(odds.shape[:2])
    for column in np.tile(np.arange(odds.shape[1]), _SEATING):
        leaning = np.einsum("md,md->m", odds[:, column], side)
        side[:, column] = np.where(chance.random(len(side)) < (1 + np.tanh(leaning / 2)) / 2, 1, -1)
    stays: npt.NDArray[np.bool_] = side > 0
    return stays
