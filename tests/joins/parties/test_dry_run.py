"""What would be sent: the example of the thesis with each table a party, and bounds that random trainings keep."""

import json
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.joins import THESIS, studies
from veilset.joins import JoinGraph
from veilset.joins.growing import Stop, grow
from veilset.joins.keys import KeyRule
from veilset.joins.parties.dry_run import OwnKeys, Plan, dry_run
from veilset.joins.propagation import propagate_classes
from veilset.joins.site import ROOT, Site
from veilset.limits import Limits

PARTIES = {"T1": "clinic", "T2": "bank", "T3": "shop"}


def planned(study, owners, **options):
    plan = Plan(study.linked().graph, owners, study.target[0], "clinic", max(1, len(study.classes)), **options)
    return plan, {party: run_of(study, plan, party) for party in dict.fromkeys(owners.values())}


def run_of(study, plan, party):
    linked = study.linked()
    sides = [
        OwnKeys.of(linked.tables[table], linked.graph, edge, table, plan.owners[other], linked.rule)
        for table, owner in plan.owners.items()
        for edge, other in linked.graph.neighbours(table)
        if owner == party != plan.owners[other]
    ]
    classes = study.class_codes() if plan.owners[study.target[0]] == party else None
    return dry_run(party, plan, sides, classes)


def test_thesis(snapshot):
    """The clinic sends a class summary to the bank twice, and each of the others one; it coordinates."""
    _, runs = planned(THESIS, PARTIES, max_depth=2, declared={0: 3, 1: 10}, padded={1: 100})
    shown = {
        party: [(one.to, one.message, one.about, one.times, one.entries, one.bytes, one.exact) for one in run.sendings]
        for party, run in runs.items()
    }
    assert shown == snapshot
    assert [run.notes for run in runs.values()] == snapshot


def test_first_entries_of_the_thesis():
    """CS(T1→T2) = a:<1,0> b:<1,2> is known beforehand. CS(T1→T3) follows what T2 sends."""
    _, runs = planned(THESIS, PARTIES)
    to_bank, to_shop = runs["clinic"].previews
    assert (to_bank.to, to_bank.keys, to_bank.rows, to_bank.counts) == ("bank", ("a", "b"), (1, 3), ((1, 0), (1, 2)))
    assert (to_shop.to, to_shop.keys, to_shop.rows, to_shop.counts) == ("shop", ("x", "y"), (2, 2), None)
    (back,) = runs["bank"].previews
    assert (back.to, back.keys, back.rows, back.counts) == ("clinic", ("a", "b", "c"), (2, 1, 1), None)
    assert json.loads(json.dumps(runs["clinic"].to_dict()))["previews"][0]["counts"] == [[1, 0], [1, 2]]


def test_rows_without_a_class_are_not_in_the_first_summary():
    graph = JoinGraph.of({"A": ["k", "c"], "B": ["k"]}, ["A.k = B.k"])
    keys = OwnKeys.of(pa.table({"k": [1, 2, 2, 3], "c": [0, 0, 0, 0]}), graph, 0, "A", "b", KeyRule())
    plan = Plan(graph, {"A": "a", "B": "b"}, "A", "a", 2)
    (preview,) = dry_run("a", plan, [keys], np.array([-1, 1, -1, 0], np.int32)).previews
    assert (preview.keys, preview.rows, preview.counts) == (("2", "3"), (1, 1), ((0, 1), (1, 0)))


def test_edges_at_home_send_nothing():
    _, runs = planned(THESIS, {"T1": "clinic", "T2": "clinic", "T3": "shop"})
    assert {one.to for one in runs["clinic"].sendings} == {"shop"}
    assert [preview.to for preview in runs["clinic"].previews] == ["shop"]
    gains = [one.entries for one in runs["shop"].sendings if one.message == "gain of the best split"]
    assert gains == [1]


def test_levels_of_trees_that_can_be_very_deep_are_not_listed():
    about = {}
    for depth in (16, 17, 10**9):
        _, runs = planned(THESIS, PARTIES, max_depth=depth)
        about[depth] = [one.about for one in runs["bank"].sendings if one.message == "gain of the best split"]
    assert about == {16: [f"level {number}" for number in range(1, 17)], 17: ["each node"], 10**9: ["each node"]}


def test_composite_keys_as_their_owner_sees_them():
    graph = JoinGraph.of({"A": ["k", "d"], "B": ["k", "d"]}, ["A.k = B.k", "A.d = B.d"])
    table = pa.table({"k": [7, 3, 3, None], "d": ["y", "x", "y", "x"]})
    assert OwnKeys.of(table, graph, 0, "B", "a", KeyRule()).shown == ("3 / x", "3 / y", "7 / y")


@examples(150)
@given(studies(most_tables=4, most_rows=8), st.integers(1, 4))
def test_trainings_keep_the_bounds(study, max_depth):
    """Each table is a party. Of class summaries the number is right, and sizes are at most what was said."""
    plan, runs = planned(study, {table: table for table in study.tables}, max_depth=max_depth)
    linked = study.linked()
    sites = study.sites(linked)
    classes, splits, depth = Counter(), Counter(), {ROOT: 0}
    made, made_splits = Site.class_summary, Site.split_summary

    def largest(site, edge, message):
        to = dict(linked.graph.neighbours(site.table))[edge]
        found = [one for one in runs[site.table].sendings if (one.to, one.message) == (to, message)]
        return {one.about: one for one in found}

    def class_summary(site, edge):
        summary = made(site, edge)
        classes[site.table, edge] += 1
        (said,) = largest(site, edge, "class summary").values()
        assert len(summary.keys) <= said.entries
        assert summary.keys.nbytes + summary.counts.nbytes <= said.bytes
        return summary

    def split_summary(site, edge, nodes, children):
        summary = made_splits(site, edge, nodes, children)
        depth.update(zip(children.tolist(), (depth[node] + 1 for node in np.repeat(nodes, 2).tolist()), strict=True))
        size = sum(one.nbytes for one in vars(summary).values() if isinstance(one, np.ndarray))
        splits[site.table, edge, depth[int(nodes[0])]] += size
        return summary

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Site, "class_summary", class_summary)
        patch.setattr(Site, "split_summary", split_summary)
        propagate_classes(sites, linked.graph, study.target[0])
        grow(sites, linked.graph, Stop(max_depth), Limits())
    assert classes == plan.class_summaries()
    for (table, edge, level), size in splits.items():
        said = largest(sites[table], edge, "split summary")
        assert size <= said[f"level {level + 1}, {linked.graph.edges[edge]}"].bytes
