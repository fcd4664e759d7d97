"""The release on disk: what is in it, what is not, and that it is whole or absent."""

import errno
import hashlib
import os
import shutil
import signal
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import veilset as vs
from tests.support.errors import refused
from tests.support.faults import Killed, every_fault
from tests.support.releases import PROMISE, ROWS, baskets, certificate, edits, files, published, replayed
from veilset.cli import main
from veilset.publish import bundle as module
from veilset.run import certify


@pytest.fixture(scope="module")
def bundle(tmp_path_factory) -> vs.Bundle:
    """To be looked at only."""
    return published(tmp_path_factory.mktemp("shop"), random_state=1)


def unfinished(folder: Path) -> list[Path]:
    """What a run has not finished, and was to be cleared away."""
    return [path for path in folder.iterdir() if path.name.startswith(".")]


def test_two_folders_and_what_is_in_them(bundle):
    assert set(files(bundle.path)) == {
        "public/data.csv",
        "public/certificate.json",
        "public/report.html",
        "public/SHA256SUMS",
        "custodian/DO-NOT-SHARE.txt",
        "custodian/recipe.toml",
        "custodian/edits.csv",
        "custodian/rows.parquet",
        "custodian/report.html",
    }
    assert stat.S_IMODE(bundle.custodian.stat().st_mode) == 0o700
    assert unfinished(bundle.path.parent) == []


def test_certificate(bundle):
    told = certificate(bundle.path)
    data = (bundle.public / "data.csv").read_bytes()
    assert told["promise"] == {"name": "coherence", "parameters": {"h": "1/2", "k": 2, "p": 2}}
    assert told["sensitive"] == ["cure"]
    assert told["transactions"] == 7
    assert told["one_transaction_is"] == "taken as one person"
    assert told["data"]["sha256"] == hashlib.sha256(data).hexdigest()
    assert told["loss_percent"] == 9  # 1 of 11 occurrences
    assert told["made_by"] == f"veilset {vs.__version__}"
    assert told["not_promised"] == list(PROMISE.open_ends(sensitive=True, merged=False))


def test_nothing_of_the_original_is_public(bundle):
    for name, content in files(bundle.public).items():
        assert b"fig" not in content.replace(b"figure", b"").replace(b"config", b""), name
        assert str(bundle.path.parent).encode() not in content, name


def test_sums_are_what_sha256sum_checks(bundle):
    done = subprocess.run(
        ["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=bundle.public, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_same_transactions_in_another_order(bundle):
    released = vs.read(bundle.public / "data.csv", sensitive=["cure"])
    expected = [sorted(set(row) - {"fig"}) for row in ROWS]
    assert released.to_lists() != expected
    assert sorted(released.to_lists()) == sorted(expected)


def test_row_map_leads_back(bundle):
    released = vs.read(bundle.public / "data.csv").to_lists()
    table = pq.read_table(bundle.custodian / "rows.parquet").to_pylist()
    assert sorted(row["original_row"] for row in table) == list(range(1, 8))
    for row in table:
        assert released[row["released_row"] - 1] == sorted(set(ROWS[row["original_row"] - 1]) - {"fig"})


def test_edits_say_what_and_why(bundle):
    *kept, gone = edits(bundle.path).values()
    assert [(row["item"], row["role"], row["action"]) for row in kept] == [
        ("ale", "public", "kept"),
        ("bun", "public", "kept"),
        ("cure", "sensitive", "kept"),
    ]
    assert gone == {
        "item": "fig",
        "role": "public",
        "action": "suppressed",
        "to": "",
        "support": "1",
        "why": "on its own: 1 person, k = 2",
        "loss": "1",
    }
    assert {row["loss"] for row in kept} == {"0"}


def test_withheld_rows_are_in_the_row_map(tmp_path):
    release = vs.anonymize(baskets(tmp_path), PROMISE, drop_empty=True)
    bundle = vs.publish(release, tmp_path / "out")
    table = pq.read_table(bundle.custodian / "rows.parquet").to_pylist()
    assert [row["original_row"] for row in table if row["released_row"] is None] == [7]


def test_long_files_get_fresh_ids_and_keep_emptied_transactions(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("order,product\nx9,ale\nx9,bun\nq1,ale\nq1,bun\nz,fig\n")
    release = vs.anonymize(vs.read(path, long=("order", "product")), vs.Coherence(k=2, p=2))
    bundle = vs.publish(release, tmp_path / "out", random_state=5)
    lines = (bundle.public / "data.csv").read_text().splitlines()
    assert lines[0] == "row,product"
    assert sorted({line.split(",")[0] for line in lines[1:]}) == ["1", "2", "3"]
    assert sum(line.endswith(",") for line in lines) == 1
    assert vs.verify(bundle.path).holds
    table = pq.read_table(bundle.custodian / "rows.parquet").to_pylist()
    assert {row["original_row"]: row["id"] for row in table} == {1: "x9", 2: "q1", 3: "z"}


def test_persons_are_merged_and_left_at_home(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("who,what\nann,ale\nbob,ale\nann,bun\nbob,bun\n")
    release = vs.anonymize(vs.read(path, long=("who", "what"), person="who"), vs.Coherence(k=2, p=2))
    bundle = vs.publish(release, tmp_path / "out")
    assert all(b"ann" not in content.replace(b"cannot", b"") for content in files(bundle.public).values())
    assert certificate(bundle.path)["one_transaction_is"] == "one person, whose transactions were merged"
    assert {row["person"] for row in pq.read_table(bundle.custodian / "rows.parquet").to_pylist()} == {"ann", "bob"}


@pytest.mark.parametrize("suffix", ["dat", "csv", "tsv"])
def test_same_recipe_same_bytes(tmp_path, suffix):
    path = tmp_path / f"in.{suffix}"
    data = vs.generate.quest(transactions=300, average_length=4, pattern_length=2, items=30, random_state=3)
    data.write(path)
    first = vs.publish(vs.anonymize(vs.read(path), vs.Coherence(k=5, p=2)), tmp_path / "first")
    assert replayed(first, tmp_path / "second").verification.holds


def test_same_recipe_same_bytes_with_persons(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("who,what,when\nann,ale,1\nbob,ale,2\nann,bun,3\nbob,bun,4\neve,fig,5\n")
    data = vs.read(path, long=("when", "what"), person="who")
    first = vs.publish(vs.anonymize(data, vs.Coherence(k=2, p=2), drop_empty=True), tmp_path / "first")
    assert main(["publish", str(first.custodian / "recipe.toml"), "--out", str(tmp_path / "second"), "--yes"]) == 0
    assert files(first.public) == files(tmp_path / "second" / "public")


def test_two_releases_differ_in_their_secret_order(tmp_path):
    release = vs.anonymize(vs.generate.grocery_pharmacy(transactions=400), vs.Coherence(h=0.4, k=5, p=1))
    one = vs.publish(release, tmp_path / "one")
    two = vs.publish(release, tmp_path / "two")
    assert (one.public / "data.csv").read_bytes() != (two.public / "data.csv").read_bytes()


def test_existing_folder_is_refused_and_replaced_when_told(bundle, tmp_path):
    out = shutil.copytree(bundle.path, tmp_path / "out")
    before = files(out)
    release = vs.anonymize(baskets(tmp_path), PROMISE)
    with refused(vs.InvalidArgument, out, "replace"):
        vs.publish(release, out)
    assert files(out) == before
    vs.publish(release, out, replace=True, random_state=2)
    assert files(out) != before
    assert vs.verify(out).holds


def test_replace_does_not_delete_a_stranger(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "thesis.tex").write_text("years of work")
    release = vs.anonymize(baskets(tmp_path), PROMISE)
    with refused(vs.InvalidArgument, home):
        vs.publish(release, home, replace=True)
    assert (home / "thesis.tex").read_text() == "years of work"


@pytest.mark.parametrize(
    "place",
    ["notes.txt", "public/data.xlsx", "public/README", "custodian/more/edits.csv", "public/data.csv.bak", ".git/HEAD"],
)
def test_replace_does_not_delete_what_a_stranger_put_into_a_release(bundle, tmp_path, place):
    out = shutil.copytree(bundle.path, tmp_path / "out")
    (out / place).parent.mkdir(exist_ok=True)
    (out / place).write_text("years of work")
    before = files(out)
    release = vs.anonymize(baskets(tmp_path), PROMISE)
    with refused(vs.InvalidArgument, out, Path(place).parts[0]):
        vs.publish(release, out, replace=True)
    assert files(out) == before
    assert main(["publish", str(tmp_path / "baskets.csv"), "--k", "2", "--p", "2", "--out", str(out), "--replace"]) == 2
    assert files(out) == before


def test_nor_what_they_put_there_while_it_was_replaced(bundle, release, tmp_path, monkeypatch):
    out = shutil.copytree(bundle.path, tmp_path / "out")
    verify = module.verify

    def verified(*arguments, **options):
        (out / "notes.txt").write_text("years of work")
        return verify(*arguments, **options)

    monkeypatch.setattr(module, "verify", verified)
    with refused(vs.InvalidArgument, out, "'notes.txt'"):
        vs.publish(release, out, replace=True)
    assert (out / "notes.txt").read_text() == "years of work"
    assert unfinished(tmp_path) == []


@pytest.mark.parametrize("promise", [vs.Coherence(k=2, p=2), vs.HiddenPatterns([["ale"]], 1)], ids=lambda one: one.name)
def test_a_release_of_nobody_is_refused(tmp_path, promise):
    nobody = vs.Transactions.from_lists([])
    release = certify(vs.Release(nobody, nobody, promise, "none", {}, ()))
    with refused(vs.Infeasible, "no transactions"):
        vs.publish(release, tmp_path / "out", allow_empty_promise=True)
    assert list(tmp_path.iterdir()) == []


def test_uncertified_is_refused(tmp_path):
    release = vs.Release(baskets(tmp_path), baskets(tmp_path), PROMISE, "none", {}, ())
    with refused(vs.NotCertified, "NO-GO"):
        vs.publish(release, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def release(bundle) -> vs.Release:
    return vs.anonymize(baskets(bundle.path.parent), PROMISE, method="remove-all", threads=1)


@pytest.mark.parametrize("old", [False, True], ids=["first release", "replacing one"])
@pytest.mark.parametrize("kind", [Killed, OSError], ids=["killed", "disk full"])
def test_a_fault_at_any_change_of_the_disk_leaves_the_old_release_or_a_whole_new_one(
    bundle, release, tmp_path, kind, old
):
    """What it leaves beside them only its owner can open; an earlier release is never seen in parts."""
    before, outcomes = files(bundle.path) if old else {}, []
    for fault in every_fault(kind):
        folder = tmp_path / str(fault.number)
        folder.mkdir()
        out = folder / "out"
        if old:
            shutil.copytree(bundle.path, out)
        error = fault.run(lambda: vs.publish(release, out, replace=True, random_state="new"))  # noqa: B023 - runs now
        left = unfinished(folder)
        assert all(stat.S_IMODE(path.stat().st_mode) == 0o700 for path in left)
        if files(out) == before:
            outcomes.append("old")
            assert error is not None
            assert out.exists() == old
            assert kind is Killed or not left, "Who can still clear away does."
        else:
            outcomes.append("new")
            assert vs.verify(out).holds
    assert (fault.struck, error, left) == (None, None, [])
    assert outcomes == sorted(outcomes, reverse=True), "Once it is there it stays."
    assert outcomes.count("old") > 40
    assert outcomes.count("new") > 1


def test_a_release_that_the_disk_does_not_confirm_is_said_to_be_in_place(release, tmp_path, monkeypatch):
    flush = os.fsync

    def unsure(descriptor: int) -> None:
        if os.path.samestat(os.fstat(descriptor), tmp_path.stat()):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", unsure)
    out = tmp_path / "out"
    with refused(vs.CannotWrite, str(out), "written completely", os.strerror(errno.EIO)):
        vs.publish(release, out)
    assert vs.verify(out).holds
    assert unfinished(tmp_path) == []


def test_a_seed_that_is_no_text_is_refused(release, tmp_path):
    with refused(vs.InvalidArgument, "random_state", "UTF-8"):
        vs.publish(release, tmp_path / "out", random_state="\udcff")


PUBLISHED_UNTIL_KILLED = """
    import os, sys
    import veilset as vs
    flush = os.fsync
    def flushed(stream):
        flush(stream)
        print("flushed", flush=True)
        sys.stdin.readline()
    release = vs.anonymize(vs.read(sys.argv[1], sensitive=["cure"]), vs.Coherence(h="1/2", k=2, p=2), threads=1)
    os.fsync = flushed
    vs.publish(release, sys.argv[2], random_state="s")
"""


def test_a_killed_process_leaves_nothing_that_the_next_one_keeps(tmp_path):
    """SIGKILL, once a file of the release is on the disk."""
    out = tmp_path / "out"
    baskets(tmp_path)
    command = [sys.executable, "-c", textwrap.dedent(PUBLISHED_UNTIL_KILLED), str(tmp_path / "baskets.csv"), str(out)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "flushed\n"
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert not out.exists()
    (left,) = unfinished(tmp_path)
    assert stat.S_IMODE(left.stat().st_mode) == 0o700
    published(tmp_path)
    assert unfinished(tmp_path) == []


@pytest.mark.parametrize("seed", [2.5, True, -1, b"s3cret", ["s3cret"]])
def test_a_seed_that_cannot_be_meant_is_refused_and_not_shown(tmp_path, seed):
    data = vs.Transactions.from_lists([["a"], ["a"]])
    release = vs.anonymize(data, vs.Coherence(k=2, p=1))
    with refused(vs.InvalidArgument, "random_state") as caught:
        vs.publish(release, tmp_path / "out", random_state=seed)
    assert str(seed) not in str(caught.value)
    with refused(vs.InvalidArgument, "random_state"):
        release.to_arrow(random_state=seed)
    assert not (tmp_path / "out").exists()
