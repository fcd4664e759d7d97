"""An attacker who compares the buckets of an anatomy with each other.

He has the published buckets, and knows the bucket of a target and the target's values in all columns but one. Inside
the bucket, the promise bounds his guess of the last one by 1/l, as long as all arrangements are equally likely to him.
But two items that occur together are in the same bucket more often than by chance. From all other buckets he learns
which (`co_occurrence`), in one round, boldly or cautiously, or in several, and gives each pair of items of different
columns a weight. The best of these three attackers is reported.
He also tells who has something sensitive, and arranges whole buckets of two (`linking`).

A value fits a target by the sum of the weights of its items with those known of the target, less the mean of this sum
for the other rows of the bucket: one of them has to take the value if the target does not. In buckets of two, that is
the likelihood ratio of both arrangements.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from veilset.attack.buckets import ADVICE, OCCURRENCES, TASK, Attacked, Buckets, cells_of
from veilset.attack.co_occurrence import BOLD, CAUTIOUS, co_occurrence
from veilset.attack.linking import Linked, arrangement
from veilset.attack.share import Share
from veilset.limits import Limits
from veilset.release import Release

_SEED = 19  # any will do: the report of a release repeats itself
_CONFIDENT = 5  # one guess in so many
_LINKED = 100  # buckets of two, at least

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Weigh = Callable[[int, Ints], Floats]
Ask = Callable[[Attacked], list[Floats]]
"""Guesses: was it right, was (or would be, on average) the baseline's, how confident was it, about which bucket."""


@dataclass(frozen=True)
class Carriers:
    """Who has something sensitive: as many people as have, those the attacker suspects most.

    Parameters
    ----------
    right : Share
        How many of them have.
    baseline : float
        How many would, on average, if all arrangements of their buckets were equally likely: at most 1/l.
    prior : float
        How many of all people in the buckets have something sensitive.
    people : int
        How many are suspected.
    """

    right: Share
    baseline: float
    prior: float
    people: int


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
    linked : Linked, optional
        How often he puts together all columns of a bucket of two; None: there are fewer than 100 of them.
    carriers : Carriers, optional
        How often he is right about who has something sensitive; None: nobody has.
    """

    main: Share
    confident: Share
    baseline: Share
    confident_baseline: Share
    control: Share
    guesses: int
    buckets: int
    linked: Linked | None = None
    carriers: Carriers | None = None


def compare_buckets(release: Release, *, limits: Limits) -> ComparingBuckets | None:
    """Attack a sample of the people in a release; None if it has no two columns and buckets that can be compared.

    Buckets of more than 1,000 rows are compared, but not attacked. The same release gives the same answer.
    """
    public, how = release.custodian_data, release.partition
    if how is None or public.anatomy is None or len(public.anatomy.columns) < 2 or public.anatomy.count < 2:
        return None
    chance = np.random.default_rng(_SEED)
    limits.require(100 * min(OCCURRENCES, len(public.items)), TASK, ADVICE)
    buckets = Buckets.drawn(public, public.anatomy, chance)
    targets, items = buckets.targets(chance)
    if not len(targets):
        return None
    learned = co_occurrence(buckets, targets, items, chance, limits=limits)
    truth = cells_of(release.original, how.members[buckets.rows], public, public.anatomy)

    def guesses(ask: Ask, weigh: Weigh, people: csr_array = truth, among: Ints = targets) -> Floats:
        answers = [np.empty((0, 4))]
        for number, bucket in enumerate(among.tolist()):
            limits.step(TASK, number, len(among))
            limits.check_time(TASK, ADVICE)
            answers += ask(buckets.attacked(bucket, people, weigh))
        return np.concatenate(answers)

    once: list[Weigh] = [partial(learned.first_weights, deviations=deviations) for deviations in (BOLD, CAUTIOUS)]
    main, best = max(
        ((guesses(_values, weigh), weigh) for weigh in [*once, learned.weights]), key=lambda one: one[0][:, 0].mean()
    )
    surest = _surest(main, max(1, len(main) // _CONFIDENT))
    return ComparingBuckets(
        main=_share(main),
        confident=_share(surest),
        baseline=_share(main, 1),
        confident_baseline=_share(surest, 1),
        control=_share(guesses(_values, best, buckets.cells)),
        guesses=len(main),
        buckets=len(np.unique(main[:, 3])),
        linked=_linked(guesses(arrangement, best, among=targets[buckets.sizes[targets] == 2])),
        carriers=_carriers(guesses(_suspects, best)) if buckets.is_sensitive.any() else None,
    )


def _values(bucket: Attacked) -> list[Floats]:
    """The value of each member in each public column."""
    guesses = []
    for column in np.flatnonzero(~bucket.is_sensitive):
        here = bucket.columns == column
        values = bucket.published[:, here]
        true, same = _equal(bucket.known[:, here], values), _equal(values, values)
        belief = _chances(bucket, here) @ same
        right = true[np.arange(len(true)), belief.argmax(axis=1)]
        usual = true[:, same.sum(axis=0).argmax()]
        guesses.append(np.stack([right, usual, belief.max(axis=1), np.full(len(true), bucket.number)], axis=1))
    return guesses


def _suspects(bucket: Attacked) -> list[Floats]:
    """Whether each member has something in each sensitive column; the guess is always that it has."""
    guesses = []
    for column in np.flatnonzero(bucket.is_sensitive):
        here = bucket.columns == column
        nothing = here & bucket.is_nothing
        carries, has = (1 - rows[:, nothing].sum(axis=1) for rows in (bucket.published, bucket.known))
        alike = np.ones(len(has))
        belief = _chances(bucket, here) @ carries
        guesses.append(np.stack([has, alike * carries.mean(), belief, alike * bucket.number], axis=1))
    return guesses


def _chances(bucket: Attacked, here: npt.NDArray[np.bool_]) -> Floats:
    """How likely it is that each member, in a row, has each row's published value of the items *here*."""
    others = (bucket.known.sum(axis=0) - bucket.known) / (len(bucket.known) - 1)
    fits = (bucket.known - others) @ bucket.weights[:, here] @ bucket.published[:, here].T
    likely = np.exp(fits - fits.max(axis=1, keepdims=True))
    chances: Floats = likely / likely.sum(axis=1, keepdims=True)
    return chances


def _equal(some: Floats, others: Floats) -> npt.NDArray[np.bool_]:
    """Which of these sets, as rows of zeros and ones, are equal."""
    shared = some @ others.T
    equal: npt.NDArray[np.bool_] = (shared == some.sum(axis=1)[:, None]) & (shared == others.sum(axis=1))
    return equal


def _surest(guesses: Floats, count: int) -> Floats:
    return guesses[np.argsort(-guesses[:, 2], kind="stable")[:count]]


def _share(guesses: Floats, which: int = 0) -> Share:
    return Share.of(guesses[:, which] > 0, guesses[:, 3].astype(np.int64))


def _linked(guesses: Floats) -> Linked | None:
    if len(guesses) < _LINKED:
        return None
    surest = _surest(guesses, len(guesses) // _CONFIDENT)
    return Linked(
        right=_share(guesses),
        confident=_share(surest),
        baseline=float(guesses[:, 1].mean()),
        confident_baseline=float(surest[:, 1].mean()),
        buckets=len(guesses),
    )


def _carriers(guesses: Floats) -> Carriers | None:
    if not (people := int(guesses[:, 0].sum())):
        return None
    suspects = _surest(guesses, people)
    return Carriers(_share(suspects), float(suspects[:, 1].mean()), people / len(guesses), people)
