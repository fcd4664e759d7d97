"""An attacker who compares the buckets of an anatomy with each other.

He has the published buckets, and knows the bucket of a target and the target's values in all columns but one. Inside
the bucket, the promise bounds his guess of the last one by 1/l, as long as all arrangements are equally likely to him.
But two items that occur together are in the same bucket more often than by chance. Over all other buckets he adds up

    n = Σ n_i n_j / size,    e = N_i N_j / N,    s = the mean size

where n_i of the rows of a bucket have item i, and N_i of all N rows. If items fell into buckets at random, e would be
expected of n, and of the rows that have both items. If d more rows have both, n exceeds e by d/s, in the long run. So
each pair of items of different columns has the weight

    log (e + d + 1) / (e + 1)

where the 1 stands for a prior belief that items are independent. Taking d = s (n − e) would give too much weight to
chance. A cautious attacker takes d = n − e, which finds most in small buckets. A bold one takes what s (n − e) has
beyond three standard deviations (the variance is about s n), if that is more, which finds most in large ones. The one
who guesses better is reported.

Having no item of a column counts as an item. A value fits a target by the sum of the weights of its items with those
known of the target, less the mean of this sum for the other rows of the bucket: one of them has to take the value if
the target does not. In buckets of two, that is the likelihood ratio of both arrangements.

Further rounds, in which pairs are counted again by how likely they are now (expectation–maximisation), gained eight
points on Groceries in the smallest buckets and less in larger ones. They take far longer, and are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, diags_array

from veilset.limits import Limits
from veilset.release import Release
from veilset.transactions import Anatomy, Transactions

_SEED = 19  # any will do: the report of a release repeats itself
_OCCURRENCES = 5_000_000  # in the buckets that are compared
_TARGETS = 2_000
_ITEMS = 3_000  # different ones in the buckets of targets: pairs of them are counted
_LARGEST = 1_000  # rows of a bucket whose members are targets
_BOLD, _CAUTIOUS = 3.0, np.inf  # standard deviations that he leaves to chance
_CONFIDENT = 5  # one guess in so many
_Z = 1.959964  # 95%
_TASK, _ADVICE = "Comparing buckets", "release fewer transactions."

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Share:
    """A share of guesses that were right, with its 95% interval."""

    estimate: float
    low: float
    high: float

    @classmethod
    def of(cls, right: npt.NDArray[np.bool_], buckets: npt.NDArray[np.int64]) -> Share:
        """Wilson's interval, for as many guesses as are independent: those about one bucket are right together.

        >>> Share.of(np.array([True, True, False, False]), np.array([0, 0, 1, 1]))
        Share(estimate=0.5, low=0.094..., high=0.905...)
        """
        p, _, each = float(right.mean()), *np.unique(buckets, return_inverse=True)
        apart = float(np.sum(np.bincount(each, right - p) ** 2)) / len(right) ** 2
        trials = min(float(len(right)), p * (1 - p) / apart) if apart > 0 else float(each.max() + 1)
        middle, scale = p + _Z**2 / (2 * trials), 1 + _Z**2 / trials
        half = _Z * sqrt(p * (1 - p) / trials + _Z**2 / (4 * trials**2))
        return cls(p, max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale))


@dataclass(frozen=True)
class ComparingBuckets:
    """How often the attacker guesses a person's value in a column right.

    Parameters
    ----------
    main : Share
        Of all guesses.
    confident : Share
        Of the fifth he is most confident of.
    baseline, confident_baseline : Share
        Of the same guesses, if he bets on the most common value of the bucket instead, as the promise assumes: at most
        1/l is to be expected, unless it may be known who has nothing in a column.
    control : Share
        Of the same guesses about released rows. Nobody has those values together, so there is nothing to find out.
    guesses, buckets : int
        How many guesses there are, about how many buckets.
    """

    main: Share
    confident: Share
    baseline: Share
    confident_baseline: Share
    control: Share
    guesses: int
    buckets: int


def compare_buckets(release: Release, *, limits: Limits) -> ComparingBuckets | None:
    """Attack a sample of the people in a release; None if it has no two columns and buckets that can be compared.

    Buckets of more than 1,000 rows are compared, but not attacked. The same release gives the same answer.
    """
    public, how = release.custodian_data, release.partition
    if how is None or public.anatomy is None or len(public.anatomy.columns) < 2 or public.anatomy.count < 2:
        return None
    chance = np.random.default_rng(_SEED)
    limits.require(100 * min(_OCCURRENCES, len(public.items)), _TASK, _ADVICE)
    buckets = _Buckets.drawn(public, public.anatomy, chance)
    targets, items = buckets.targets(chance)
    if not len(targets):
        return None
    limits.require(60 * len(items) ** 2, _TASK, _ADVICE)
    scaled = diags_array(buckets.sizes**-0.5) @ buckets.counts[:, items]
    together = (scaled.T @ scaled).tocsr()
    truth = _cells(release.original, how.members[buckets.rows], public, public.anatomy)

    def attack(deviations: float) -> ComparingBuckets:
        main, control = [], []
        for number, bucket in enumerate(targets.tolist()):
            limits.step(_TASK, number, len(targets))
            limits.check_time(_TASK, _ADVICE)
            held = buckets.counts[[bucket]].indices
            at = np.searchsorted(items, held)
            weights = buckets.weights(bucket, held, together[at][:, at].toarray(), deviations)
            main += _guesses(buckets, bucket, held, weights, truth)
            control += _guesses(buckets, bucket, held, weights, buckets.cells)
        return _counted(np.concatenate(main), np.concatenate(control))

    return max(attack(_BOLD), attack(_CAUTIOUS), key=lambda found: found.main.estimate)


@dataclass(frozen=True, eq=False)
class _Buckets:
    """The buckets that are compared: all, or as many as can be.

    *rows* are the positions of their rows in the release. *cells* says which of them have which items, having nothing
    in a column being one; *counts*, how many rows of a bucket do; *totals*, how many of all. *column_of* is of items,
    *is_sensitive* of columns: those are known, but not guessed, for nearly everybody has nothing there.
    """

    rows: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    cells: csr_array
    counts: csr_array
    totals: Floats
    column_of: npt.NDArray[np.int64]
    is_sensitive: npt.NDArray[np.bool_]

    @classmethod
    def drawn(cls, public: Transactions, anatomy: Anatomy, chance: np.random.Generator) -> _Buckets:
        lengths = np.diff(public.offsets[anatomy.starts])
        order = chance.permutation(anatomy.count)
        drawn = np.zeros(anatomy.count, dtype=bool)
        drawn[order[: max(2, np.searchsorted(np.cumsum(lengths[order]), _OCCURRENCES, side="right"))]] = True
        rows = np.flatnonzero(drawn[anatomy.buckets])
        starts = np.append(0, np.cumsum(anatomy.sizes[drawn]))
        cells = _cells(public, rows, public, anatomy)
        member = csr_array((np.ones(len(rows)), np.arange(len(rows)), starts), shape=(len(starts) - 1, len(rows)))
        columns = np.append(anatomy.column_of(public.names).astype(np.int64), np.arange(len(anatomy.columns)))
        counts = (member @ cells).tocsr()
        counts.sort_indices()
        sensitive = np.array([not set(public.sensitive).isdisjoint(column) for column in anatomy.columns])
        return cls(rows, starts, cells, counts, counts.sum(axis=0), columns, sensitive)

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        return np.diff(self.starts)

    def targets(self, chance: np.random.Generator) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Buckets whose members are attacked, and the items in them."""
        order = chance.permutation(len(self.sizes))
        order = order[(self.sizes[order] > 1) & (self.sizes[order] <= _LARGEST)]
        drawn = self.counts[order]
        items, first = np.unique(drawn.indices, return_index=True)
        met = np.searchsorted(np.sort(first), drawn.indptr[1:])  # how many, up to each bucket
        taken = np.count_nonzero((np.cumsum(self.sizes[order]) <= _TARGETS) & (met <= _ITEMS))
        return order[:taken], items[first < drawn.indptr[taken]]

    def weights(self, bucket: int, held: npt.NDArray[np.int32], together: Floats, deviations: float) -> Floats:
        """How much more often than by chance each two items that a bucket holds are together in the other buckets."""
        own, size = self.counts[[bucket]].data, self.sizes[bucket]
        rows = len(self.rows) - size
        mean_size = rows / (len(self.sizes) - 1)
        left = self.totals[held] - own
        met, expected = together - np.outer(own, own) / size, np.outer(left, left) / rows
        beyond = np.abs(met - expected)
        sure = mean_size * beyond - deviations * np.sqrt(mean_size * np.maximum(met, expected) + 1)
        more = np.sign(met - expected) * np.maximum(sure, beyond)
        columns = self.column_of[held]
        weights: Floats = np.log((np.maximum(expected + more, 0) + 1) / (expected + 1))
        weights[columns[:, None] == columns] = 0
        return weights


def _cells(data: Transactions, rows: npt.NDArray[np.int64], public: Transactions, anatomy: Anatomy) -> csr_array:
    """Which of these rows of some data have which items of the release, and which columns they have nothing in."""
    taken = data.take(rows)
    code_of = {name: code for code, name in enumerate(public.names)}
    codes = np.array([code_of.get(name, -1) for name in taken.names], dtype=np.int64)[taken.items]
    row = np.repeat(np.arange(len(rows)), np.diff(taken.offsets))[codes >= 0]
    codes = codes[codes >= 0]
    empty = np.ones((len(rows), len(anatomy.columns)), dtype=bool)
    empty[row, anatomy.column_of(public.names)[codes]] = False
    without, column = np.nonzero(empty)
    places = np.append(row, without), np.append(codes, column + len(public.names))
    return csr_array((np.ones(len(places[0])), places), shape=(len(rows), len(public.names) + len(anatomy.columns)))


def _guesses(
    buckets: _Buckets, bucket: int, held: npt.NDArray[np.int32], weights: Floats, people: csr_array
) -> list[Floats]:
    """For each column and member: was the guess right, was the baseline's, how confident was it, which bucket."""
    rows = slice(buckets.starts[bucket], buckets.starts[bucket + 1])
    known, published = (cells[rows][:, held].toarray() for cells in (people, buckets.cells))
    others = (known.sum(axis=0) - known) / (len(known) - 1)
    fits = (known - others) @ weights
    guesses = []
    for column in np.unique(buckets.column_of[held]):
        if buckets.is_sensitive[column]:
            continue
        here = buckets.column_of[held] == column
        values = published[:, here]
        true, same = _equal(known[:, here], values), _equal(values, values)
        chances = fits[:, here] @ values.T
        chances = np.exp(chances - chances.max(axis=1, keepdims=True))
        belief = chances @ same / chances.sum(axis=1, keepdims=True)
        right = true[np.arange(len(true)), belief.argmax(axis=1)]
        usual = true[:, same.sum(axis=0).argmax()]
        guesses.append(np.stack([right, usual, belief.max(axis=1), np.full(len(true), bucket)], axis=1))
    return guesses


def _equal(some: Floats, others: Floats) -> npt.NDArray[np.bool_]:
    """Which of these sets, as rows of zeros and ones, are equal."""
    shared = some @ others.T
    equal: npt.NDArray[np.bool_] = (shared == some.sum(axis=1)[:, None]) & (shared == others.sum(axis=1))
    return equal


def _counted(main: Floats, control: Floats) -> ComparingBuckets:
    def share(of: Floats, which: int = 0) -> Share:
        return Share.of(of[:, which] > 0, of[:, 3].astype(np.int64))

    surest = np.argsort(-main[:, 2], kind="stable")[: max(1, len(main) // _CONFIDENT)]
    return ComparingBuckets(
        main=share(main),
        confident=share(main[surest]),
        baseline=share(main, 1),
        confident_baseline=share(main[surest], 1),
        control=share(control),
        guesses=len(main),
        buckets=len(np.unique(main[:, 3])),
    )
