"""What a site's kernels refuse: arrays that do not fit, summaries that contradict its counts, and limits."""

import numpy as np
import pyarrow as pa
import pytest

from tests.support.errors import refused
from veilset import _native
from veilset.errors import BudgetExceeded
from veilset.joins.columns import attributes
from veilset.joins.site import ROOT, Criterion, Site
from veilset.joins.summaries import ClassSummary, SplitSummary, to_words
from veilset.limits import Limits


def codes(*values):
    return np.array(values, np.int32)


def numbers(*values):
    return np.array(values, np.int64)


RIGHT = {"rows": 3, "classes": 2, "codes": [codes(0, 1, 1)], "distinct": [2], "ordered": [True]}
RIGHT |= {"keys": [codes(0, -1, 1)], "key_counts": [2]}


@pytest.mark.parametrize("kind", [_native.joins.Site, _native.joins.WideSite])
@pytest.mark.parametrize(
    "wrong",
    [
        {"classes": 0},
        {"rows": -1},
        {"rows": 4},
        {"distinct": []},
        {"ordered": [True, False]},
        {"distinct": [1]},
        {"codes": [codes(0, -1, 1)]},
        {"codes": [codes(0, 1)]},
        {"key_counts": []},
        {"key_counts": [1]},
        {"keys": [codes(0, -2, 1)]},
        {"keys": [codes(0)]},
    ],
    ids=str,
)
def test_tables_that_do_not_fit(kind, wrong):
    kind(**RIGHT)
    with pytest.raises(ValueError):
        kind(**(RIGHT | wrong))


@pytest.fixture(params=[False, True], ids=["64 bits", "128 bits"])
def site(request):
    """Three rows of classes 0, 1, 1; on edge 7 the first two have join value 0 and the third join value 1."""
    table = pa.table({"x": [5, 6, 7]})
    made = Site("T", 3, attributes(table, ["x"]), {7: (codes(0, 0, 1), 2)}, 2, request.param, Limits())
    made.start(codes(0, 1, 1))
    return made


def told(site, keys, counts):
    return ClassSummary(codes(*keys), to_words(counts, site.width), 2, site.width)


def split_told(site, keys, counts, offsets=(0, 2)):
    words = to_words(counts, site.width)
    return SplitSummary(numbers(ROOT), numbers(1, 2), numbers(*offsets), codes(*keys), words, 2, site.width)


@pytest.mark.parametrize("classes", [codes(0, 1), codes(0, 1, 2)], ids=["too few", "out of range"])
def test_classes_that_do_not_fit(site, classes):
    with pytest.raises(ValueError):
        site.start(classes)


def test_a_row_without_class_takes_no_part(site):
    site.start(codes(1, -1, 0))
    assert site.rows_at(ROOT)[0].tolist() == [0, 2]
    assert site.counts(ROOT) == (1, 1)


def test_rescaling(site):
    assert site.class_summary(7).entries() == {0: (1, 1), 1: (0, 1)}
    site.receive(7, told(site, [0], [3, 2]))
    assert site.rows_at(ROOT)[0].tolist() == [0, 1]
    assert site.counts(ROOT) == (3, 2)


@pytest.mark.parametrize(
    ("keys", "counts"),
    [([2], [1, 1]), ([-1], [1, 1]), ([0], [1]), ([0, 1], [1, 1])],
    ids=["unknown key", "no key", "half of the counts", "counts of one key"],
)
def test_class_summaries_that_do_not_fit(site, keys, counts):
    site.class_summary(7)
    with pytest.raises(ValueError):
        site.receive(7, told(site, keys, counts))


def test_an_answer_to_a_summary_that_was_never_sent(site):
    with pytest.raises(ValueError):
        site.receive(7, told(site, [0], [1, 1]))


@pytest.mark.parametrize(
    ("keys", "counts", "offsets"),
    [
        ([0, 2], [1, 0, 0, 1, 0, 1, 0, 0], (0, 2)),
        ([0], [1, 0, 0, 1], (0, 1)),
        ([0, 1], [1, 0, 0, 1], (0, 2)),
        ([0, 1], [1, 0, 0, 1, 0, 1, 0, 0], (0, 3)),
        ([0, 1], [1, 0, 0, 1, 0, 1, 0, 0], (0, 1)),
        ([0, 1], [1, 0, 0, 1, 0, 1, 0, 0], (0,)),
        ([0, 1], [1, 0, 0, 1, 0, 1, 0, 0], (1, 2)),
        ([0, 1], [1, 0, 1, 1, 0, 1, 0, 0], (0, 2)),
        ([0, 1], [0, 0, 0, 0, 0, 1, 0, 0], (0, 2)),
        ([0, 0], [1, 0, 0, 1, 1, 0, 0, 1], (0, 2)),
        ([1, 0], [0, 1, 0, 0, 1, 0, 0, 1], (0, 2)),
    ],
    ids=[
        "unknown key",
        "a key is missing",
        "too few counts",
        *["offsets"] * 4,
        "half a row",
        "nothing of a row",
        "twice",
        "out of order",
    ],
)
def test_split_summaries_that_do_not_fit(site, keys, counts, offsets):
    with pytest.raises(ValueError):
        site.follow(7, split_told(site, keys, counts, offsets))
    with pytest.raises(ValueError):
        site.counts(1)  # nothing was split


def test_following(site):
    site.follow(7, split_told(site, [0, 1], [5, 0, 0, 3, 0, 1, 0, 0]))
    assert [site.counts(1), site.counts(2)] == [(1, 1), (0, 1)]
    assert [site.rows_at(child)[0].tolist() for child in (1, 2)] == [[0, 2], [1]]


@pytest.mark.parametrize("wide", [False, True])
def test_rows_without_a_key_need_class_propagation_first(wide):
    site = Site("T", 1, [], {7: (codes(-1), 1)}, 2, wide, Limits())
    site.start(codes(0))
    with pytest.raises(ValueError):
        site.follow(7, split_told(site, [0], [1, 0, 0, 0], (0, 1)))


def test_nodes_edges_and_attributes_that_do_not_exist(site):
    bounds = Limits().for_kernel(str)
    for wrong in (-1, 1):
        with pytest.raises(ValueError):
            _native.joins.class_summary(site._kernel, wrong, **bounds)
    with pytest.raises(ValueError):
        site.best_splits(numbers(5), 1)
    for attribute in (-1, 1):
        site.criteria[ROOT] = Criterion(attribute, 0)
        with pytest.raises(ValueError):
            site.split(numbers(ROOT), numbers(1, 2))
    site.criteria[ROOT] = Criterion(0, 0)
    with pytest.raises(ValueError):
        site.split(numbers(ROOT), numbers(1))
    site.forget(numbers(ROOT))
    with pytest.raises(ValueError):
        site.counts(ROOT)


@pytest.mark.parametrize("limits", [{"time_limit": 1e-9}, {"memory_limit": 1}], ids=str)
def test_limits(limits):
    rows = 100_000
    table = pa.table({"x": np.arange(rows)})
    keys = {0: (np.zeros(rows, np.int32), 1)}
    site = Site("T", rows, attributes(table, ["x"]), keys, 2, False, Limits(**limits))
    with refused(BudgetExceeded):
        site.start(np.arange(rows, dtype=np.int32) % 2)
        site.class_summary(0)
