"""Small groups that leave the join: what is left has none, and what left had to."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.joins import studies
from veilset.joins.parties.leakage import leakage_now
from veilset.joins.parties.suppression import kept_keys
from veilset.joins.propagation import propagate_classes
from veilset.joins.site import ROOT, Site


def sides(linked):
    """The join values of each table, by edge, as sites have them."""
    held = {name: {} for name in linked.graph.tables}
    for number, (edge, (left, right, count)) in enumerate(zip(linked.graph.edges, linked.keys, strict=True)):
        held[edge.left][number], held[edge.right][number] = (left, count), (right, count)
    return held


def agreed(held, floors, target, classes):
    """Rounds between neighbours until no mask changes."""
    alive = {edge: np.ones(count, bool) for one in held.values() for edge, (_, count) in one.items()}
    while True:
        before = {edge: mask.copy() for edge, mask in alive.items()}
        for table, keys in held.items():
            mine = {edge: alive[edge] for edge in keys}
            alive |= kept_keys(keys, floors[table], classes if table == target else None, mine)
        if all(np.array_equal(before[edge], alive[edge]) for edge in alive):
            return alive


def by_brute_force(held, floors, target, classes):
    """Take out one join value that few rows have, or none, until there is no such."""
    alive = {(edge, key) for one in held.values() for edge, (_, count) in one.items() for key in range(count)}
    while True:
        for table, keys in held.items():
            rows = [
                [(edge, int(codes[row])) for edge, (codes, _) in keys.items()]
                for row in range(len(next(iter(keys.values()))[0]))
                if table != target or classes[row] >= 0
            ]
            rows = [row for row in rows if alive.issuperset(row)]
            small = [one for one in alive if one[0] in keys and sum(one in row for row in rows) < floors[table][one[0]]]
            if small:
                alive.remove(small[0])
                break
        else:
            return alive


@examples(200)
@given(studies(most_tables=4, most_rows=10), st.data())
def test_no_class_summary_shows_a_small_group(study, data):
    linked = study.linked()
    held = {table: keys for table, keys in sides(linked).items() if keys}
    floors = {table: {edge: data.draw(st.integers(1, 3)) for edge in keys} for table, keys in held.items()}
    target, classes = study.target[0], study.class_codes()
    alive = agreed(held, floors, target, classes)
    assert {(edge, key) for edge, mask in alive.items() for key in np.flatnonzero(mask).tolist()} == by_brute_force(
        held, floors, target, classes
    )

    def out(codes, mask):
        return np.where(np.append(mask, False)[codes], codes, np.int32(-1))

    keys = [(out(left, alive[at]), out(right, alive[at]), count) for at, (left, right, count) in enumerate(linked.keys)]
    sites = study.sites(replace(linked, keys=keys))
    made = Site.class_summary

    def spied(site, edge):
        summary = made(site, edge)
        assert leakage_now(site, edge, summary, floor=floors[site.table][edge]).few.keys == 0
        return summary

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Site, "class_summary", spied)
        propagate_classes(sites, linked.graph, target)
    for table, site in sites.items():  # no row is lost on the way
        mine = [out(codes, alive[edge]) >= 0 for edge, (codes, _) in sides(linked)[table].items()]
        stays = np.logical_and.reduce(mine) if mine else np.ones(site.rows, bool)
        stays &= classes >= 0 if table == target else True
        assert site.rows_at(ROOT)[0].tolist() == np.flatnonzero(stays).tolist()


def test_a_row_that_leaves_takes_its_other_join_values_with_it():
    """Without join value 0 on edge 0, only one row has join value 0 on edge 1."""
    one, other = np.array([0, 1, 1, 1], np.int32), np.array([0, 0, 1, 1], np.int32)
    kept = kept_keys({0: (one, 2), 1: (other, 2)}, {0: 2, 1: 2})
    assert {edge: mask.tolist() for edge, mask in kept.items()} == {0: [False, True], 1: [False, True]}
