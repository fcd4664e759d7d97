"""What the custodian is told about attackers who compare buckets, and what nobody else is."""

import dataclasses
import json

import pytest

import veilset as vs
from tests.support.anatomies import anatomized_release, pairs
from tests.support.runs import run_of
from tests.support.texts import page_text
from veilset import report
from veilset.attack import Carriers, ComparingBuckets, Linked, Share
from veilset.report.comparing import compared_facts, compared_rows, compared_sentence, compared_title
from veilset.run import Run

EVEN = Share(0.5, 0.48, 0.52)
FOUND = ComparingBuckets(
    main=Share(0.634, 0.611, 0.657),
    confident=Share(0.86, 0.82, 0.895),
    baseline=EVEN,
    confident_baseline=EVEN,
    control=EVEN,
    guesses=6000,
    buckets=996,
)
NOTHING = dataclasses.replace(FOUND, main=EVEN, confident=EVEN)
LINKED = Linked(Share(0.58, 0.55, 0.61), Share(0.9, 0.85, 0.94), baseline=0.31, confident_baseline=0.46, buckets=987)
CARRIERS = Carriers(Share(0.62, 0.53, 0.7), baseline=0.5, prior=0.064, people=131)
WHOLE = dataclasses.replace(NOTHING, linked=LINKED)
SENSITIVE = dataclasses.replace(NOTHING, carriers=CARRIERS)


def told(found: ComparingBuckets | None) -> Run:
    run = run_of(anatomized_release(["ax", "by", "ax", "by"], ["ay", "bx", "ax", "by"], ("ab", "xy"), size=2))
    run.__dict__["compared"] = found
    return run


@pytest.mark.parametrize(
    "found",
    [FOUND, NOTHING, WHOLE, SENSITIVE, None],
    ids=["linked", "nothing gained", "whole buckets", "carriers", "not measured"],
)
def test_sentences(found, snapshot):
    assert compared_sentence(told(found)) == snapshot


def test_every_gain_counts():
    """Also if nothing but whole buckets, or carriers, are told."""
    for found in (WHOLE, SENSITIVE):
        assert "margin of error" not in compared_sentence(told(found))
    no_more = dataclasses.replace(CARRIERS, right=EVEN)
    assert "margin of error" in compared_sentence(told(dataclasses.replace(NOTHING, carriers=no_more)))


def test_table_and_facts(snapshot):
    run = told(FOUND)
    assert (compared_title(run), compared_rows(run)) == snapshot
    assert json.loads(json.dumps(compared_facts(run)))["main"] == {"estimate": 0.634, "low": 0.611, "high": 0.657}
    assert (compared_title(told(None)), compared_rows(told(None)), compared_facts(told(None))) == ("", [], None)


def test_the_option_is_spelled_as_asked():
    assert "--bucket-size" in compared_sentence(told(FOUND), lambda name, *_: f"--{name.replace('_', '-')}")


def test_other_releases_say_nothing():
    run = run_of(dataclasses.replace(told(None).release, partition=None))
    assert (compared_sentence(run), compared_rows(run), compared_facts(run)) == ("", [], None)


def test_the_custodian_reads_it_and_nobody_else(tmp_path):
    """On the page, in the facts for programs and on the terminal; in no public file."""
    data = pairs(200, linked=0.9)
    columns = [[name for name in data.names if name[0] == letter] for letter in "vw"]
    release = vs.anonymize(data, vs.LDiverseAnatomy(2), columns=columns, random_state=5)
    bundle = vs.publish(release, tmp_path / "release", random_state="s3cret")
    run = run_of(release)
    rows = compared_rows(run)
    assert len(rows) == 5
    page = page_text(report.custodian_report(run))
    assert compared_sentence(run) in page
    assert report.release_facts(run)["comparing_buckets"] == compared_facts(run)
    assert "compare buckets" in page_text((tmp_path / "release" / "custodian" / "report.html").read_text())
    public = [path.read_bytes() for path in (bundle.public).rglob("*") if path.is_file()]
    assert public
    assert not any(words in content for content in public for words in (b"compare buckets", b"comparing_buckets"))
