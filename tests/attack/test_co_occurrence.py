"""Which items occur together, learned from buckets alone: several rounds against one."""

import numpy as np
import pytest

from tests.support.anatomies import pairs
from tests.support.errors import refused
from veilset.anonymize.anatomy.multi_anatomy import multi_anatomy
from veilset.attack import co_occurrence as learning
from veilset.attack.buckets import Buckets, cells_of
from veilset.attack.co_occurrence import CoOccurrence, co_occurrence
from veilset.errors import BudgetExceeded
from veilset.limits import Limits
from veilset.models import LDiverseAnatomy
from veilset.release import Release


def made(rows: int, *, linked: float) -> Release:
    data = pairs(rows, linked=linked)
    columns = [[name for name in data.names if name[0] == letter] for letter in "vw"]
    return multi_anatomy(data, LDiverseAnatomy(2), columns=columns, random_state=5, limits=Limits(threads=1))


def learned(release: Release, **bounds) -> CoOccurrence:
    public, chance = release.custodian_data, np.random.default_rng(1)
    buckets = Buckets.drawn(public, public.anatomy, chance)
    targets, items = buckets.targets(chance)
    return co_occurrence(buckets, targets, items, chance, limits=Limits(**bounds))


def error(release: Release, estimate: np.ndarray, found: CoOccurrence) -> float:
    """The mean difference from the true number of rows with both items of a pair of different columns."""
    public, buckets = release.custodian_data, found.buckets
    people = cells_of(release.original, release.partition.members[buckets.rows], public, public.anatomy)
    true = (people.T @ people).toarray()[np.ix_(found.items, found.items)]
    columns = buckets.column_of[found.items]
    return float(np.abs(estimate - true)[columns[:, None] != columns].mean())


def test_rounds_come_nearer_to_a_planted_dependency():
    """Half have the same number in both columns. Even arrangements hide most of it; the rounds must find most of it."""
    release = made(2000, linked=0.5)
    found = learned(release)
    assert error(release, found.arranged, found) < error(release, found.even, found) / 2
    same = [(found.items.tolist().index(a), found.items.tolist().index(b)) for a, b in _same(release)]
    assert np.mean([found.arranged[a, b] - found.even[a, b] for a, b in same]) > 10  # of 52 rows, 28 of them by chance


def _same(release: Release) -> list[tuple[int, int]]:
    names = list(release.custodian_data.names)
    return [(names.index(f"v{number}"), names.index(f"w{number}")) for number in range(20)]


def test_rounds_learn_nothing_of_independent_columns():
    release = made(2000, linked=0)
    found = learned(release)
    assert error(release, found.arranged, found) < 3 * np.sqrt(2000 / 400)  # of counts whose deviation is √5


def test_every_value_is_used_as_often_as_it_is_published():
    release = made(400, linked=0.5)
    found = learned(release)
    for bucket, rounds in found.own.items():
        for rows in rounds:
            assert rows.sum(axis=0).tolist() == found.buckets.counts[[bucket]][:, found.items].toarray()[0].tolist()


def test_one_seed_gives_one_answer():
    release = made(400, linked=0.5)
    assert np.array_equal(learned(release).arranged, learned(release, threads=1).arranged)


def test_part_of_the_buckets(monkeypatch):
    """Only the targets are arranged again; of the other buckets the first estimate counts."""
    release = made(2000, linked=0.9)
    monkeypatch.setattr(learning, "_PAIRS", 1)
    monkeypatch.setattr("veilset.attack.buckets._TARGETS", 200)
    found = learned(release)
    assert len(found.own) == 100
    assert error(release, found.arranged, found) < error(release, found.even, found)


@pytest.mark.parametrize("bounds", [{"memory_limit": 1000}, {"time_limit": 1e-9}])
def test_limits_are_respected(bounds):
    release = made(200, linked=0.5)
    with refused(BudgetExceeded):
        learned(release, **bounds)
