"""What an edge tells: the example of the thesis by hand, random tables by brute force."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.joins import THESIS, Study, studies
from veilset.joins.parties.dry_run import OwnKeys
from veilset.joins.parties.leakage import EdgeLeakage, Held, leakage_now, leakage_of
from veilset.joins.propagation import depth_first, propagate_classes
from veilset.joins.site import Site


def own(study: Study, table: str, edge: int) -> OwnKeys:
    linked = study.linked()
    return OwnKeys.of(linked.tables[table], linked.graph, edge, table, "other", linked.rule)


def thesis(table: str, edge: int, **options) -> EdgeLeakage:
    keys = own(THESIS, table, edge)
    return leakage_of(keys.codes, keys.count, THESIS.class_codes() if table == "T1" else None, **options)


def test_thesis_before_anything_is_sent():
    """R11 is the only row with a, so its class is told. R23, R22 are the only rows with b and c."""
    told = thesis("T1", 0)
    assert (told.keys, told.held, told.alone, told.few, told.indivisible) == (2, Held(2, 4), 1, Held(2, 4), Held(1, 3))
    assert (told.pure, told.few_pure, told.histogram) == (Held(1, 1), Held(1, 1), ((1, 1), (3, 1)))
    told = thesis("T1", 1)
    assert (told.alone, told.pure, told.histogram) == (0, Held(0, 0), ((2, 2),))
    told = thesis("T2", 0, floor=2)
    assert (told.keys, told.alone, told.few, told.pure, told.few_pure) == (3, 2, Held(2, 2), None, None)
    assert (told.histogram, told.indivisible) == (((1, 2), (2, 1)), Held(1, 2))
    told = thesis("T3", 1)
    assert (told.held, told.alone) == (Held(2, 3), 1)
    assert not any(thesis(table, edge).unique for table, edge in [("T1", 0), ("T1", 1), ("T2", 0), ("T3", 1)])


def test_thesis_at_each_class_summary(monkeypatch):
    """c is not shared, and not in any summary. CS(T2→T1) is (a, <2,0>): two rows that meet one class only."""
    told = []
    made = Site.class_summary

    def spied(site, edge):
        summary = made(site, edge)
        told.append((site.table, edge, leakage_now(site, edge, summary)))
        return summary

    monkeypatch.setattr(Site, "class_summary", spied)
    linked = THESIS.linked()
    propagate_classes(THESIS.sites(linked), linked.graph, "T1")
    assert [(table, edge, one.held, one.alone, one.pure) for table, edge, one in told] == [
        ("T1", 0, Held(2, 4), 1, Held(1, 1)),
        ("T2", 0, Held(2, 3), 1, Held(1, 2)),
        ("T1", 1, Held(2, 4), 0, Held(0, 0)),
        ("T3", 1, Held(2, 3), 1, Held(0, 0)),
        ("T1", 0, Held(2, 4), 1, Held(1, 1)),
    ]


@pytest.mark.parametrize(
    ("max_depth", "cells"), [(0, 1), (1, 1), (2, 3), (3, 15), (4, 255), (5, 1000), (6, 1000), (99, 1000), (None, 1000)]
)
def test_cells_are_sets_of_leaves(max_depth, cells):
    """One level below a root has two leaves that a join value can reach: the first, the second, both."""
    assert leakage_of(np.arange(1000, dtype=np.int32), 1000, max_depth=max_depth).cells == cells


def test_unique_and_nearly():
    def told(rows):
        return leakage_of(np.repeat(np.arange(len(rows)), rows).astype(np.int32), len(rows))

    assert [(one.unique, one.nearly_unique) for one in map(told, ([1] * 10, [1] * 9 + [2], [1] * 8 + [2, 2], []))] == [
        (True, True),
        (False, True),
        (False, False),
        (False, False),
    ]


def test_sentences(snapshot):
    assert thesis("T1", 0).told("bank") == snapshot
    assert thesis("T2", 0, floor=2, max_depth=3).told("bank", padded=True) == snapshot
    assert leakage_of(np.arange(2000, dtype=np.int32), 2000, np.zeros(2000, np.int32)).told("bank") == snapshot
    assert leakage_of(np.repeat(np.arange(3), 20).astype(np.int32), 3).told("bank") == snapshot
    assert leakage_of(np.array([-1], np.int32), 0).told("bank") == snapshot


def test_as_plain_values(snapshot):
    assert thesis("T1", 0).to_dict() == snapshot


@examples(300)
@given(st.lists(st.tuples(st.integers(-1, 5), st.integers(-1, 2)), max_size=25), st.booleans(), st.integers(2, 6))
def test_counts_by_brute_force(rows, target, floor):
    keys, classes = (np.array([row[at] for row in rows], np.int32) for at in (0, 1))
    told = leakage_of(keys, 6, classes if target else None, floor=floor)
    part = [(key, label) for key, label in rows if key >= 0 and (label >= 0 or not target)]
    held = Counter(key for key, _ in part)
    pure = {key for key in held if len({label for at, label in part if at == key}) == 1}

    def of(chosen):
        chosen = list(chosen)
        return Held(len(chosen), sum(held[key] for key in chosen))

    assert told.held == of(held)
    assert told.few == of(key for key, n in held.items() if n < floor)
    assert told.indivisible == of(
        key for key, n in held.items() if n > 1 and all(min(side, n - side) < floor for side in range(1, n))
    )
    assert told.pure == (of(pure) if target else None)
    assert told.few_pure == (of(key for key in pure if held[key] < floor) if target else None)
    assert told.histogram == tuple(sorted(Counter(held.values()).items()))
    assert told.alone == sum(n == 1 for n in held.values())


@examples(200)
@given(studies(most_tables=3))
def test_before_is_the_worst_case(study):
    """The first class summary of all tells no more than all join values of the table do."""
    linked = study.linked()
    sites = study.sites(linked)
    for sender, _, edge in depth_first(linked.graph, study.target[0])[:1]:
        keys = own(study, sender, edge)
        before = leakage_of(keys.codes, keys.count, study.class_codes())
        now = leakage_now(sites[sender], edge, sites[sender].class_summary(edge))
        for name in ("held", "few", "indivisible", "pure", "few_pure"):
            assert getattr(now, name).keys <= getattr(before, name).keys
            assert getattr(now, name).rows <= getattr(before, name).rows
        assert now.alone <= before.alone
        assert now.keys <= before.keys
