"""Releases in parts: what an engine writes, and what `verify` says of it, in memory and on an engine."""

import json
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import veilset as vs
from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.in_parts import PROMISE, SEED, TAMPERED, released, small_parts, written
from tests.support.releases import certificate, copied, edits, files, published
from tests.support.spread import longest, point_of_sale
from veilset import CannotWrite, Coherence, Infeasible, InvalidArgument, NotCertified
from veilset.engines import Local
from veilset.engines.local import LocalDealt
from veilset.publish import Recipe
from veilset.testing import strategies


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The shop's release, in four parts or so."""
    with pytest.MonkeyPatch.context() as patch:
        small_parts(patch)
        bundle = written(tmp_path_factory.mktemp("shop") / "out")
    assert len(list((bundle.public / "data").iterdir())) > 2
    return bundle


def rows(folder):
    return sorted(row for path in folder.glob("data/*") for row in vs.read(path).to_lists())


def test_it_holds_in_memory_and_on_an_engine(made):
    for path in (made.path, made.public):
        for engine in (None, Local(), Local(pieces=4)):
            found = vs.verify(path, engine=engine)
            assert (found.verdict, found.unchecked) == ("holds", ()), found.message
            assert found.audit.promise == PROMISE


def test_rows_and_facts_are_those_of_the_release_in_memory(made, tmp_path):
    here = vs.publish(vs.anonymize(point_of_sale(1500), PROMISE), tmp_path / "out", with_what_if=False)
    table = vs.read(next(here.public.glob("data.*")))
    assert rows(made.public) == sorted(table.to_lists())
    told, there = certificate(here.path), certificate(made.path)
    assert {**told, "data": None} == {**there, "data": None}
    assert {name: line["action"] for name, line in edits(here.path).items()} == {
        name: line["action"] for name, line in edits(made.path).items()
    }
    assert {name: line["loss"] for name, line in edits(here.path).items()} == {
        name: line["loss"] for name, line in edits(made.path).items()
    }


@st.composite
def questions(draw):
    data, promise = draw(strategies.transactions(max_rows=14)), draw(strategies.coherence_promises())
    return data, Coherence(h=promise.h, k=promise.k, p=promise.p or longest(data))


@examples(60)
@given(questions(), st.integers(1, 3), st.integers(1, 12), st.randoms(use_true_random=False))
def test_the_same_bytes_whatever_the_order_and_the_pieces(tmp_path_factory, asked, pieces, size, chance):
    data, promise = asked
    assume(promise.k > 1 or data.sensitive)
    folder = tmp_path_factory.mktemp("out")
    order = chance.sample(range(len(data)), len(data))
    with pytest.MonkeyPatch.context() as patch:
        small_parts(patch, size)
        try:
            releases = [released(*one, promise) for one in ((1, data), (pieces, data.take(np.array(order))))]
        except Infeasible:
            assume(False)
        one, other = (
            written(folder / name, release, allow_empty_promise=True)
            for name, release in zip("ab", releases, strict=True)
        )
    assert files(one.public) == files(other.public)
    assert vs.verify(one.public).verdict == "holds"


def test_another_seed_gives_another_order(made, tmp_path, monkeypatch):
    small_parts(monkeypatch)
    other = written(tmp_path / "out", random_state="another")
    assert rows(other.public) == rows(made.public)
    firsts = [vs.read(next(iter(sorted((one.public / "data").iterdir())))).to_lists() for one in (made, other)]
    assert firsts[0] != firsts[1]


@pytest.mark.parametrize("engine", [None, Local(pieces=2)], ids=["memory", "engine"])
@pytest.mark.parametrize(("change", "verdict"), TAMPERED)
def test_what_was_tampered_with_is_refused(made, tmp_path, change, verdict, engine):
    bundle = copied(made, tmp_path)
    change(bundle.public)
    found = vs.verify(bundle.public, engine=engine)
    assert found.verdict == verdict, found.message


def test_a_part_that_changes_between_two_readings_is_refused(made, tmp_path, monkeypatch):
    bundle, gathered = copied(made, tmp_path), Local.gathered

    def late(engine, things, look):
        (bundle.public / "data/part-00001.parquet").write_bytes(b"something else")
        return gathered(engine, things, look)

    monkeypatch.setattr(Local, "gathered", late)
    found = vs.verify(bundle.public, engine=Local())
    assert found.verdict == "altered" and "part-00001" in found.message


def test_a_task_that_runs_twice_leaves_one_file(made, tmp_path, monkeypatch):
    """The second answer counts; what the first attempt wrote is forgotten, and has the same bytes."""
    each, attempts = LocalDealt.each, []

    def twice(dealt, work):
        attempts.extend(each(dealt, work))
        return each(dealt, work)

    monkeypatch.setattr(
        LocalDealt, "each", lambda dealt, work: (twice if "Writing" in repr(work) else each)(dealt, work)
    )
    small_parts(monkeypatch)
    again = written(tmp_path / "out")
    assert files(again.public) == files(made.public)
    assert [one.sha256 for one in attempts] == [one["sha256"] for one in certificate(made.path)["data"]["parts"]]


def test_a_folder_that_workers_cannot_write_to(tmp_path, monkeypatch):
    module = sys.modules["veilset.publish.part_writing"]

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "write_rows", full)
    with refused(CannotWrite, "No space left on device"):
        written(tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_its_recipe_makes_it_again(made, tmp_path, monkeypatch):
    recipe = Recipe.load(made.custodian / "recipe.toml", needs_input=False)
    assert (recipe.engine, recipe.master, recipe.seed) == ("in-process", None, SEED)
    held = Local(pieces=2).read(point_of_sale(1500))
    again = vs.anonymize(held, recipe.promise_for(held.vocabulary), method=recipe.method.name, **recipe.method.options)
    small_parts(monkeypatch)
    assert files(written(tmp_path / "out", again, random_state=recipe.seed).public) == files(made.public)


@pytest.mark.parametrize(
    "change",
    [
        lambda release: replace(release, suppressed=release.suppressed[1:]),
        lambda release: replace(release, custodian_data=other_rows(release.custodian_data)),
        lambda release: replace(release, custodian_data=other_rows(release.custodian_data, same_supports=True)),
    ],
    ids=["fewer items", "other supports", "other rows"],
)
def test_edits_that_are_not_true_are_not_written(tmp_path, change):
    release = change(released())
    if release.custodian_data is not None:
        release = replace(release, audit=vs.audit(release.custodian_data, PROMISE))
    assert release.certified
    with refused(NotCertified):
        written(tmp_path / "out", release)
    assert not list(tmp_path.iterdir())


def other_rows(held, *, same_supports=False):
    """The same number of transactions: the first is there twice instead of the last, or two have exchanged items."""
    data = held.to_transactions()
    lists = data.to_lists()
    if same_supports:
        here = next(number for number, row in enumerate(lists) if len(row) > 2)
        there = next(number for number, row in enumerate(lists) if row and not {*row} & {*lists[here]})
        lists[here][0], lists[there][0] = lists[there][0], lists[here][0]
    else:
        lists[-1] = next(row for row in lists if row != lists[-1] and {*lists[-1]} - {*row})
    return Local(pieces=2).read(vs.Transactions.from_lists(lists, sensitive=data.sensitive))


def test_what_is_not_there_on_an_engine_is_refused_by_name(made, tmp_path):
    release = released()
    with refused(InvalidArgument, "out_format='csv'"):
        written(tmp_path / "out", release, out_format="csv")
    with refused(InvalidArgument, "threads=2"):
        written(tmp_path / "out", release, threads=2)
    with refused(InvalidArgument, "threads=2"):
        vs.verify(made.path, engine=Local(), threads=2)
    with refused(InvalidArgument, "clean_copy"):
        vs.verify(made.path, engine=Local(), clean_copy=tmp_path / "copy")
    with refused(InvalidArgument, "data.csv"):
        vs.verify(published(tmp_path).path, engine=Local())


def test_a_clean_copy_is_one_file(made, tmp_path):
    found = vs.verify(made.public, clean_copy=tmp_path / "copy")
    assert found.verdict == "holds"
    assert sorted(path.name for path in (tmp_path / "copy").iterdir()) == [
        "SHA256SUMS",
        "certificate.json",
        "data.parquet",
        "report.html",
    ]
    assert sorted(vs.read(tmp_path / "copy/data.parquet").to_lists()) == rows(made.public)


def test_a_release_in_parts_can_be_replaced_and_nothing_else(made, tmp_path):
    bundle = copied(made, tmp_path)
    written(bundle.path, replace=True)
    (bundle.public / "data/mine.txt").write_text("keep")
    with refused(InvalidArgument, "public/data/mine.txt"):
        written(bundle.path, replace=True)


def test_the_custodian_is_told_what_is_left_out(made):
    page = (made.custodian / "report.html").read_text()
    assert "What this page does not say" in page
    assert not (made.custodian / "rows.parquet").exists()
    for text in (page, (made.custodian / "DO-NOT-SHARE.txt").read_text()):
        assert "rows.parquet" in text


def test_the_edits_apply_to_other_data(made):
    data = point_of_sale(1500)
    again = vs.apply(made.path, data, unknown="suppress")
    assert again.suppressed == released().suppressed


def test_a_certificate_of_parts_is_strict(made, tmp_path):
    for change in (
        lambda data: data.update(file="data.parquet"),
        lambda data: data["parts"][0].update(file="data/../data.csv"),
        lambda data: data.update(columns=["items", "person"]),
        lambda data: data.update(parts=[]),
        lambda data: data["parts"][0].update({f"key {number}": 1 for number in range(60)}),
    ):
        bundle = copied(made, tmp_path / str(id(change)))
        path = bundle.public / "certificate.json"
        content = json.loads(path.read_text())
        change(content["data"])
        path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n")
        assert vs.verify(bundle.public).verdict == "malformed"
