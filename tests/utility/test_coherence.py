"""What a missing item tells: against brute force, on generated data, in the report; and nothing of it in public."""

from fractions import Fraction

import pytest
from hypothesis import assume, given

import veilset as vs
from tests.support.effort import examples
from tests.support.runs import run_of
from veilset import report
from veilset.testing import strategies
from veilset.transactions import Transactions
from veilset.utility import Account

pytestmark = pytest.mark.no_sanitizer(reason="slow there, and kernels see nothing that other tests do not show them")


def told_alone(data: Transactions, item: str) -> Fraction:
    """How sure an attacker becomes of one sensitive item who knows this item of somebody."""
    holders = [set(row) for row in data.to_lists() if item in row]
    return max((Fraction(sum(one in row for row in holders), len(holders)) for one in data.sensitive), default=0)


def missing_and_popular(release: vs.Release) -> list[str]:
    data, k = release.original, release.promise.k
    support = dict(zip(data.names, data.supports.tolist(), strict=True))
    return [item for item in release.suppressed if item in data.public and support[item] >= k]


@pytest.mark.parametrize("h", ["10%", "20%", "40%", "60%"])
def test_at_p_1_every_popular_item_that_is_missing_was_above_h(h):
    """The attack: nothing but the absence of an item, and that people are known to have it."""
    data = vs.generate.grocery_pharmacy()
    release = vs.anonymize(data, vs.Coherence(h=h, k=10, p=1))
    missing = missing_and_popular(release)
    assert missing
    assert [item for item in missing if told_alone(data, item) <= release.promise.share] == []
    assert {one.item for one in Account(release).telling} == {*missing}, "The custodian knows all of them."


def test_at_p_2_some_were_and_these_are_listed():
    data = vs.generate.grocery_pharmacy()
    release = vs.anonymize(data, vs.Coherence(h="10%", k=10, p=2))
    missing = missing_and_popular(release)
    above = [item for item in missing if told_alone(data, item) > release.promise.share]
    assert {one.item for one in Account(release).telling} == {*above}
    assert round(100 * len(above) / len(missing)) == 41, "docs/limits.md and what is not promised have this number."


@given(strategies.transactions(max_public=6), strategies.coherence_promises())
@examples(100)
def test_what_is_listed_by_brute_force(data, promise):
    assume(promise.h is not None or not data.sensitive)
    try:
        release = vs.anonymize(data, promise)
    except vs.Infeasible:
        assume(False)
    support = dict(zip(data.names, data.supports.tolist(), strict=True))
    seen = promise.as_seen_by_attacker(data)
    expected = {item for item in missing_and_popular(release) if told_alone(seen, item) > promise.share}
    telling = Account(release).telling
    assert {one.item for one in telling} == expected
    for one in telling:
        assert (one.support, one.confidence) == (support[one.item], told_alone(seen, one.item))
        assert one.rank == 1 + sum(support[other] > one.support for other in data.public)
    assert [one.rank for one in telling] == sorted(one.rank for one in telling)


ROWS = [["zwieback", "flu"], ["zwieback", "flu"], ["zwieback"], *[["bun"]] * 4, ["bun", "flu"], ["fig"]]


def test_the_custodian_reads_it_and_nobody_else(tmp_path, snapshot):
    data = Transactions.from_lists(ROWS, sensitive=["flu"])
    release = vs.anonymize(data, vs.Coherence(h="1/2", k=2, p=1))
    assert release.suppressed == ("fig", "zwieback"), "Fig is rare, which everybody may know."
    assert report.release_facts(run_of(release))["telling_by_absence"] == [
        {
            "item": "zwieback",
            "support": 3,
            "rank": 2,
            "sensitive": "flu",
            "confidence": {"exact": "2/3", "value": pytest.approx(2 / 3)},
        }
    ]
    bundle = vs.publish(release, tmp_path / "out")
    page = (bundle.custodian / "report.html").read_text()
    assert "Items whose absence tells something" in page
    assert "66.7%" in page
    public = b"".join(path.read_bytes() for path in bundle.public.iterdir())
    assert b"zwieback" not in public
    assert [sentence for sentence in release.promise.not_promised() if "does not find it" in sentence] == snapshot


@pytest.mark.parametrize(
    ("promise", "told"),
    [
        (vs.Coherence(h="10%", k=10, p=1), True),
        (vs.Coherence(h="10%", k=1, p=None), True),
        (vs.Coherence(h=1, k=10, p=1), False),
        (vs.Coherence(k=10, p=1), False),
    ],
)
def test_it_is_said_where_h_limits_anything(promise, told, snapshot):
    sentences = [sentence for sentence in promise.not_promised() if "does not find it" in sentence]
    assert bool(sentences) == told
    assert sentences == snapshot
