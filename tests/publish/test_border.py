"""The thesis' own setting from end to end: any number of known items, h = 100%, dense data, nuggets kept."""

from fractions import Fraction

import numpy as np
import pytest

import veilset as vs
from tests.support.cube import Cube, random_cube
from veilset.audit import work_ahead

K, SUPPORT, ITEMS = 60, 900, 12


@pytest.fixture(scope="module")
def cube() -> Cube:
    return random_cube(1, rows=3000, items=ITEMS)


def read_back(bundle: vs.Bundle) -> Cube:
    rows = [[ord(item) - ord("a") for item in row] for row in vs.read(bundle.public / "data.csv")]
    return Cube(np.array([sum(1 << bit for bit in row) for row in rows]), ITEMS)


def test_border_is_published_and_verified_with_its_nuggets_counted(cube, tmp_path):
    promise = vs.Coherence(k=K, p=None)
    assert not vs.audit(cube.data, promise).holds
    release = vs.anonymize(cube.data, promise, method="border", nugget_support=SUPPORT)
    bundle = vs.publish(release, tmp_path / "out")
    said = []
    found = vs.verify(bundle.public, announce=said.append)
    assert (found.verdict, found.audit.complete) == ("holds", True)
    assert said == [work_ahead(vs.read(bundle.public / "data.csv"), promise)]

    released = read_back(bundle)
    assert released.supports[released.rows].min() == found.audit.margins["smallest_support"].value >= K
    before, after = (len(of.frequent(SUPPORT)) for of in (cube, released))
    assert 0 < after < before
    lost = vs.measure(cube.data, release, nugget_support=SUPPORT)["nuggets_lost"]
    assert lost == float(Fraction(before - after, before))


def test_the_smallest_support_is_the_largest_k_that_holds(cube):
    release = vs.anonymize(cube.data, vs.Coherence(k=K, p=None), method="border", nugget_support=SUPPORT)
    smallest = release.audit.margins["smallest_support"].value
    assert vs.audit(release.custodian_data, vs.Coherence(k=smallest, p=None)).holds
    broken = vs.audit(release.custodian_data, vs.Coherence(k=smallest + 1, p=None))
    assert (broken.holds, broken.witnesses[0].support) == (False, smallest)
