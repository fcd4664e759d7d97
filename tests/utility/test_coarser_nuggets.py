"""Frequent itemsets that are left under the same or coarser names, and what is said about a recoding."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import veilset as vs
from tests.support.effort import examples
from tests.support.runs import run_of
from tests.support.shop import printed
from veilset import report
from veilset.limits import Limits
from veilset.testing import oracles, strategies
from veilset.utility import Account

TREE = {"ale": ["drinks"], "rum": ["drinks"], "gin": ["drinks"], "bun": ["food"], "pie": ["food"], "fig": ["food"]}
ROWS = [
    ["ale", "bun"],
    ["rum", "bun"],
    ["gin", "bun"],
    ["ale", "pie"],
    ["rum", "pie"],
    ["bun"],
    ["bun"],
    ["fig", "ale"],
]


@examples(300)
@given(strategies.protected(), st.data())
def test_equals_the_definition(data, draw):
    assume(len(data))
    public = data.public
    recoded = dict.fromkeys(draw.draw(st.sets(st.sampled_from(public))), "group") if public else {}
    others = [item for item in data.names if item not in recoded]
    gone = draw.draw(st.sets(st.sampled_from(others))) if others else set()
    promise = vs.Coherence(h=1, k=1, p=1)
    drop = draw.draw(st.booleans())
    release = vs.anonymize(data, promise, method="replay", suppressed=gone, generalized=recoded, drop_empty=drop)
    least = draw.draw(st.integers(1, 4))
    found = Account(release, nugget_support=least).values
    released = [frozenset(row) for row in release.custodian_data]
    nuggets = oracles.frequent([frozenset(row) for row in data], least)
    kept = [
        nugget
        for nugget in nuggets
        if gone.isdisjoint(nugget) and oracles.support(released, {recoded.get(item, item) for item in nugget}) >= least
    ]
    expected = len(kept) / len(nuggets) if nuggets else 1
    assert found["nuggets_kept_or_coarser"] == pytest.approx(expected)
    assert found["nuggets_kept_or_coarser"] >= 1 - found["nuggets_lost"] - 1e-12
    occurrences = sum(len(row) for row in data)
    coarser = sum(item in recoded for row in data for item in row)
    assert release.recoded == pytest.approx(coarser / max(1, occurrences))


def test_what_withheld_transactions_held_is_looked_for_in_the_others():
    data = vs.Transactions.from_lists([["ale"], ["rum"], ["ale"], ["bun", "rum"], ["bun"]])
    recoded = {"ale": "drinks", "rum": "drinks"}
    made = data.renamed(recoded).take(np.array([0, 1, 3]))
    release = vs.Release(data, made, vs.Coherence(k=1, p=1), "by hand", {}, (), recoded, withheld=(2, 4))
    found = Account(release, nugget_support=2).values["nuggets_kept_or_coarser"]
    assert found == pytest.approx(2 / 3), "Of ale, rum and bun, only bun is held by fewer than two now."


@pytest.fixture(scope="module")
def recoding():
    data = vs.Transactions.from_lists(ROWS)
    return run_of(vs.anonymize(data, vs.Coherence(k=2, p=2), method="generalize", taxonomy=TREE))


def test_the_first_line_says_what_was_recoded(recoding, snapshot):
    release, values = recoding.release, recoding.account.values
    assert release.generalized and release.certified
    shown = printed(report.print_release, recoding)
    first = shown.removeprefix("Release ")
    share = f"{100 * release.recoded:.1f}".removesuffix(".0") + "%"
    assert first.startswith(f"{share} of all item occurrences have a coarser name")
    left, before = len(release.custodian_data.names), len(release.original.names)
    assert f"{left} names remain of {before} items." in shown
    assert {"nuggets_kept_or_coarser", "top_rules_kept_or_coarser"} <= set(values)
    assert shown == snapshot
    page = report.custodian_report(recoding)
    assert page.index("have a coarser name") < page.index("of all item occurrences removed")
    told = report.release_facts(recoding)["recoding"]
    assert told == {
        "share": pytest.approx(release.recoded),
        "names": left,
        "names_before": before,
        "itemsets_kept_or_coarser": values["nuggets_kept_or_coarser"],
        "rules_kept_or_coarser": values["top_rules_kept_or_coarser"],
    }
    assert "coarser name" in repr(release)


def test_rho_uncertainty_says_the_same():
    data = vs.Transactions.from_lists([*ROWS, ["hiv", "ale"], ["hiv", "rum"]], sensitive=["hiv"])
    release = vs.anonymize(
        data, vs.RhoUncertainty(rho="1/2"), method="replay", generalized={"ale": "drinks", "rum": "drinks"}
    )
    assert "have a coarser name" in printed(report.print_release, run_of(release))


def test_what_was_not_counted_is_said(recoding):
    run = run_of(recoding.release)
    run.__dict__["account"] = Account(recoding.release, limits=Limits(time_limit=1e-9))
    assert "not counted" in printed(report.print_release, run)
    assert report.release_facts(run)["recoding"]["itemsets_kept_or_coarser"] is None


def test_without_recoding_nothing_is_said_of_it():
    run = run_of(vs.anonymize(vs.Transactions.from_lists(ROWS), vs.Coherence(k=2, p=1)))
    assert "coarser" not in printed(report.print_release, run)
    assert report.release_facts(run)["recoding"] is None
