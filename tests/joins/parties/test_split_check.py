"""What split summaries tell: the example of the thesis by hand, random trees by brute force."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.joins import THESIS, studies
from veilset.joins.growing import Stop, grow
from veilset.joins.parties.leakage import leakage_of
from veilset.joins.parties.split_check import Cells, SplitCheck, check_split
from veilset.joins.propagation import propagate_classes, propagate_splits
from veilset.joins.site import ROOT, Criterion, Site
from veilset.joins.summaries import SplitSummary, to_words
from veilset.limits import Limits


@pytest.fixture
def checks(monkeypatch):
    """What was found about each split summary when it was sent."""
    found = []
    made = Site.split_summary

    def spied(site, edge, nodes, children):
        summary = made(site, edge, nodes, children)
        found.append((site.table, edge, summary, check_split(site, edge, summary)))
        return summary

    monkeypatch.setattr(Site, "split_summary", spied)
    return found


def split_at(age):
    """The sites of the thesis once T2 has split the root at this age, and the others have followed."""
    linked = THESIS.linked()
    sites = THESIS.sites(linked)
    propagate_classes(sites, linked.graph, "T1")
    sites["T2"].criteria[ROOT] = Criterion(0, sites["T2"].attributes[0].values.to_pylist().index(age))
    nodes, children = np.array([ROOT]), np.array([1, 2])
    sites["T2"].split(nodes, children)
    propagate_splits(sites, linked.graph, "T2", nodes, children)


def test_example_4(checks, snapshot):
    """T2: of the rows with a, one is on either side; the row with b is pinned.

    T1 follows. R11 reaches both children, so x tells no side; it shows R12, which is not in the second child. All rows
    with y are in the first.
    """
    split_at(7)
    numbers = ("entries", "pinned_keys", "pinned_rows", "pinned_alone", "pinned_few", "one_apart", "small")
    told = [(table, *(int(getattr(check, name)[0]) for name in numbers)) for table, _, _, check in checks]
    assert told == [("T2", 2, 1, 1, 1, 1, 1, 2), ("T1", 2, 1, 2, 0, 2, 1, 2)]
    assert [check.withheld.tolist() for *_, check in checks] == [[True], [True]]
    assert [check.told("bank") for *_, check in checks] == snapshot
    assert checks[0][3].to_dict() == snapshot


def test_cells_of_example_4(checks):
    """a reaches both children, b the first: each is alone in its cell. So are x and y."""
    split_at(7)
    for *_, summary, _ in checks:
        cells = Cells(2)
        assert (cells.count, cells.smallest, cells.alone) == (1, 2, 0)
        cells.refine(summary)
        assert (cells.count, cells.smallest, cells.alone) == (2, 1, 2)


def split_summary(node, sides):
    """A split summary of one node: for each join value, whether its rows reach the first and the second child."""
    counts = [2**64 * reached for side in sides.values() for reached in side]  # in the second word only
    return SplitSummary(
        np.array([node]),
        np.array([2 * node + 1, 2 * node + 2]),
        np.array([0, len(sides)]),
        np.array(list(sides), np.int32),
        to_words(counts, 2),
        1,
        2,
    )


def test_cells_hold_only_what_is_alive():
    assert Cells(0).smallest == 0
    cells = Cells(4, np.array([True, True, False, True]))
    assert (cells.count, cells.smallest, cells.alone) == (1, 3, 0)
    cells.refine(split_summary(0, {0: (True, False), 1: (False, True), 3: (True, False)}))
    assert sorted(cells.sizes.tolist()) == [1, 2]


@examples(200)
@given(
    st.lists(
        st.dictionaries(st.integers(0, 7), st.sampled_from([(True, False), (False, True), (True, True)]), min_size=1),
        max_size=8,
    )
)
def test_cells_by_brute_force(levels):
    """Join values with the same history share a cell."""
    cells = Cells(8)
    history = {key: [] for key in range(8)}
    for node, sides in enumerate(levels):
        ordered = dict(sorted(sides.items()))
        cells.refine(split_summary(node, ordered))
        for key, side in ordered.items():
            history[key].append((node, side))
        expected = [list(history.values()).count(one) for one in {tuple(one): one for one in history.values()}.values()]
        assert sorted(cells.sizes.tolist()) == sorted(expected)
        assert (cells.count, cells.smallest, cells.alone) == (len(expected), min(expected), expected.count(1))


@examples(200)
@given(studies(most_tables=3, most_rows=14), st.integers(2, 4), st.sampled_from([None, 1, 2, 3]))
def test_trees_by_brute_force(study, floor, max_depth):
    linked = study.linked()
    sites = study.sites(linked)
    propagate_classes(sites, linked.graph, study.target[0])
    cells = {(name, edge): Cells(count) for name, site in sites.items() for edge, (_, count) in site.keys.items()}
    made = Site.split_summary

    def spied(site, edge, nodes, children):
        summary = made(site, edge, nodes, children)
        assert_as_counted(site, edge, summary, check_split(site, edge, summary, floor), floor)
        cells[site.table, edge].refine(summary)
        return summary

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Site, "split_summary", spied)
        grow(sites, linked.graph, Stop(max_depth), Limits())
    for (name, edge), told in cells.items():
        codes, count = sites[name].keys[edge]
        assert told.count <= max(1, leakage_of(codes, count, max_depth=max_depth).cells)


def assert_as_counted(site, edge, summary, check, floor):
    """By sets of rows, entry by entry."""
    codes = site.keys[edge][0]
    pairs = zip(summary.children[::2], summary.children[1::2], strict=True)
    for at, (node, pair, entries) in enumerate(zip(summary.nodes, pairs, summary.entries(), strict=True)):
        rows = [set(site.rows_at(one)[0].tolist()) for one in (node, *pair)]
        assert rows[0] == rows[1] | rows[2]
        groups = [[{row for row in some if codes[row] == key} for some in rows[1:]] for key in entries]
        assert counted(check, at) == expected(groups, floor)


def counted(check, at):
    return {name: int(one[at]) for name, one in vars(check).items() if name not in ("floor", "nodes")}


def expected(groups, floor):
    """What is told about these join values, each with its rows in the first child and those in the second."""
    found = Counter(entries=len(groups))
    for left, right in groups:
        here = left | right
        pinned = not left or not right
        found["pinned_keys"] += pinned
        found["pinned_rows"] += pinned * len(here)
        found["pinned_alone"] += pinned and len(here) == 1
        found["pinned_few"] += pinned * len(here) * (len(here) < floor)
        found["one_apart"] += len(here) > 1 and 1 in (len(here - left), len(here - right))
        found["small"] += any(0 < len(some) < floor for some in (left, right, here - left, here - right))
    names = ("entries", "pinned_keys", "pinned_rows", "pinned_alone", "pinned_few", "one_apart", "small")
    return {name: found[name] for name in names}


_SIDES = st.lists(st.sampled_from(["first", "second", "both"]), min_size=1, max_size=9)


@examples(300)
@given(st.lists(st.lists(_SIDES, min_size=1, max_size=3), min_size=1, max_size=3), st.integers(2, 5))
def test_groups_by_brute_force(nodes, floor):
    """For each node, for each join value, where its rows go."""
    groups = [
        [
            tuple({row for row, at in enumerate(rows) if at in (side, "both")} for side in ("first", "second"))
            for rows in one
        ]
        for one in nodes
    ]
    every = [pair for one in groups for pair in one]
    count = len(every)
    summary = SplitSummary(
        np.arange(len(nodes)),
        np.arange(2 * len(nodes)),
        np.cumsum([0, *map(len, groups)]),
        np.arange(count, dtype=np.int32),
        np.zeros(2 * count, np.uint64),
        1,
        1,
    )
    rows = [[len(left | right), len(left), len(right)] for left, right in every]
    check = SplitCheck.of(summary, tuple(np.array(rows, np.int32).T), floor)
    for at, one in enumerate(groups):
        assert counted(check, at) == expected(one, floor)
        assert bool(check.withheld[at]) == (expected(one, floor)["small"] > 0)
