"""An attacker who compares the buckets of an anatomy with each other.

He has the published buckets, and knows the bucket of a target and the target's values in all columns but one. Inside
the bucket, the promise bounds his guess of the last one by 1/l, as long as all arrangements are equally likely to him.
But two items that occur together are in the same bucket more often than by chance. From all other buckets he learns
which (`co_occurrence`), in one round, boldly or cautiously, or in several, and gives each pair of items of different
columns a weight. The best of these three attackers is reported.

A value fits a target by the sum of the weights of its items with those known of the target, less the mean of this sum
for the other rows of the bucket: one of them has to take the value if the target does not. In buckets of two, that is
the likelihood ratio of both arrangements.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import sqrt

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from veilset.attack.buckets import OCCURRENCES, Buckets, cells_of
from veilset.attack.co_occurrence import BOLD, CAUTIOUS, co_occurrence
from veilset.limits import Limits
from veilset.release import Release

_SEED = 19  # any will do: the report of a release repeats itself
_CONFIDENT = 5  # one guess in so many
_Z = 1.959964  # 95%
_TASK, _ADVICE = "Comparing buckets", "release fewer transactions."

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Weigh = Callable[[int, Ints], Floats]


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
    limits.require(100 * min(OCCURRENCES, len(public.items)), _TASK, _ADVICE)
    buckets = Buckets.drawn(public, public.anatomy, chance)
    targets, items = buckets.targets(chance)
    if not len(targets):
        return None
    learned = co_occurrence(buckets, targets, items, chance, limits=limits)
    truth = cells_of(release.original, how.members[buckets.rows], public, public.anatomy)

    def attack(weigh: Weigh, people: csr_array) -> Floats:
        guesses = []
        for number, bucket in enumerate(targets.tolist()):
            limits.step(_TASK, number, len(targets))
            limits.check_time(_TASK, _ADVICE)
            held = buckets.counts[[bucket]].indices
            guesses += _guesses(buckets, bucket, held, weigh(bucket, held), people)
        return np.concatenate(guesses)

    once: list[Weigh] = [partial(learned.first_weights, deviations=deviations) for deviations in (BOLD, CAUTIOUS)]
    found = [(attack(weigh, truth), weigh) for weigh in [*once, learned.weights]]
    main, best = max(found, key=lambda one: one[0][:, 0].mean())
    return _counted(main, attack(best, buckets.cells))


def _guesses(buckets: Buckets, bucket: int, held: Ints, weights: Floats, people: csr_array) -> list[Floats]:
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
