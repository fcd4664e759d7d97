"""The changes of an earlier release made to what an engine holds: those that are made in memory."""

import pytest

import veilset as vs
from tests.publish.conftest import EARLIER, LATER
from tests.support.errors import refused
from tests.support.releases import PROMISE, write_rows
from veilset.engines import Local


def held(rows, **how):
    return Local(pieces=3).read(vs.Transactions.from_lists(rows, **how))


def same(here, there):
    rows = there.custodian_data.to_transactions()
    assert sorted(rows.to_lists()) == sorted(here.custodian_data.to_lists())
    assert rows.sensitive == here.custodian_data.sensitive
    assert (there.method, there.suppressed, there.promise) == (here.method, here.suppressed, here.promise)
    assert (there.certified, there.loss, there.notes) == (here.certified, here.loss, here.notes)


NEW = [*LATER, ["ale", "yam"], ["ale", "yam"], ["bun", "nut"]]


@pytest.mark.parametrize(
    ("rows", "options"),
    [
        (LATER, {}),
        (NEW, {"unknown": "suppress"}),
        (NEW, {"unknown": "keep"}),
        (NEW, {"unknown": "keep", "repair": True}),
    ],
)
def test_the_changes_of_memory(earlier, rows, options):
    here = vs.apply(earlier, vs.Transactions.from_lists(rows), **options)
    there = vs.apply(earlier, held(rows), **options)
    same(here, there)
    assert there.promise == PROMISE
    assert there.certified == (options != {"unknown": "keep"})
    if options.get("repair"):
        assert there.options["chosen"] == here.options["chosen"]


def test_a_repair_by_a_method_that_no_engine_has_is_refused(tmp_path):
    data = vs.read(write_rows(tmp_path / "rows.csv", EARLIER), sensitive=["cure"])
    promise = vs.RhoUncertainty(rho=0.9)
    vs.publish(vs.anonymize(data, promise), tmp_path / "earlier")
    later = held(LATER)
    here = vs.apply(tmp_path / "earlier", vs.Transactions.from_lists(LATER))
    same(here, vs.apply(tmp_path / "earlier", later))
    with refused(vs.InvalidArgument, "rho-uncertainty", "vs.read"):
        vs.apply(tmp_path / "earlier", later, repair=True)


@pytest.mark.parametrize(
    ("rows", "options", "named"),
    [
        (NEW, {}, ["'yam'", "'nut'"]),
        ([*LATER, ["Cure"]], {"unknown": "keep"}, ["'Cure'", "'cure'"]),
        (LATER, {"unknown": "maybe"}, ["'maybe'"]),
        (LATER, {"threads": 2}, ["threads=2"]),
    ],
)
def test_what_memory_refuses_is_refused(earlier, rows, options, named):
    with refused(vs.InvalidArgument, *named):
        vs.apply(earlier, held(rows), **options)


def test_coarser_names_are_not_applied_yet(coarser):
    with refused(vs.InvalidArgument, "recode", "vs.read"):
        vs.apply(coarser, held([["ale", "bun"], ["mead", "bun"]]))
