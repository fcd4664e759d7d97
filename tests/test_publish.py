"""The release on disk: what is in it, what is not, and that it is whole or absent."""

import csv
import hashlib
import json
import os
import stat
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import veilset as vs
from veilset.cli import main
from veilset.publish import Recipe

pytestmark = pytest.mark.no_sanitizer(reason="slow there, and kernels see nothing that other tests do not show them")

PROMISE = vs.Coherence(h="1/2", k=2, p=2)
ROWS = [["ale", "bun", "cure"], ["ale", "bun"], ["ale", "fig"], ["ale", "bun"], ["bun"], ["ale"], []]


def baskets(folder: Path) -> vs.Transactions:
    path = folder / "baskets.csv"
    path.write_text("".join(",".join(row) + "\n" for row in ROWS))
    return vs.read(path, sensitive=["cure"])


def published(folder: Path, **options) -> vs.Bundle:
    release = vs.anonymize(baskets(folder), PROMISE)
    assert release.certified
    return vs.publish(release, folder / "out", **options)


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_two_folders_and_what_is_in_them(tmp_path):
    bundle = published(tmp_path)
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
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_certificate(tmp_path):
    bundle = published(tmp_path)
    certificate = json.loads((bundle.public / "certificate.json").read_text())
    data = (bundle.public / "data.csv").read_bytes()
    assert certificate["promise"] == {"name": "coherence", "parameters": {"h": "1/2", "k": 2, "p": 2}}
    assert certificate["sensitive"] == ["cure"]
    assert certificate["transactions"] == 7
    assert certificate["one_transaction_is"] == "taken as one person"
    assert certificate["data"]["sha256"] == hashlib.sha256(data).hexdigest()
    assert certificate["loss_percent"] == 9  # 1 of 11 occurrences
    assert certificate["made_by"] == f"veilset {vs.__version__}"
    assert any("more than 2 public items" in sentence for sentence in certificate["not_promised"])


def test_nothing_of_the_original_is_public(tmp_path):
    bundle = published(tmp_path)
    for name, content in files(bundle.public).items():
        assert b"fig" not in content.replace(b"figure", b"").replace(b"config", b""), name
        assert str(tmp_path).encode() not in content, name


def test_sums_are_what_sha256sum_checks(tmp_path):
    bundle = published(tmp_path)
    done = subprocess.run(
        ["sha256sum", "--check", "--strict", "SHA256SUMS"],
        cwd=bundle.public,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_same_transactions_in_another_order(tmp_path):
    bundle = published(tmp_path, random_state=1)
    released = vs.read(bundle.public / "data.csv", sensitive=["cure"])
    expected = [sorted(set(row) - {"fig"}) for row in ROWS]
    assert released.to_lists() != expected
    assert sorted(released.to_lists()) == sorted(expected)


def test_row_map_leads_back(tmp_path):
    bundle = published(tmp_path)
    released = vs.read(bundle.public / "data.csv").to_lists()
    table = pq.read_table(bundle.custodian / "rows.parquet").to_pylist()
    assert sorted(row["original_row"] for row in table) == list(range(1, 8))
    for row in table:
        assert released[row["released_row"] - 1] == sorted(set(ROWS[row["original_row"] - 1]) - {"fig"})


def test_edits_say_what_and_why(tmp_path):
    bundle = published(tmp_path)
    *kept, gone = csv.DictReader((bundle.custodian / "edits.csv").read_text().splitlines())
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
        "why": "breaks the promise by itself",
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
    assert lines[0] == "order,product"
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
    certificate = json.loads((bundle.public / "certificate.json").read_text())
    assert certificate["one_transaction_is"] == "one person, whose transactions were merged"
    assert {row["person"] for row in pq.read_table(bundle.custodian / "rows.parquet").to_pylist()} == {
        "ann",
        "bob",
    }


@pytest.mark.parametrize("suffix", ["dat", "csv", "tsv"])
def test_same_recipe_same_bytes(tmp_path, suffix):
    path = tmp_path / f"in.{suffix}"
    data = vs.generate.quest(transactions=300, average_length=4, pattern_length=2, items=30, random_state=3)
    data.write(path)
    first = vs.publish(vs.anonymize(vs.read(path), vs.Coherence(k=5, p=2)), tmp_path / "first")
    recipe = Recipe.load(first.custodian / "recipe.toml")
    again = vs.anonymize(recipe.read_data(), recipe.promise.make(), method=recipe.method.name, **recipe.method.options)
    second = vs.publish(again, tmp_path / "second", random_state=recipe.seed)
    assert files(first.public) == files(second.public)


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


def test_existing_folder_is_refused_and_replaced_when_told(tmp_path):
    first = published(tmp_path, random_state=1)
    before = files(first.path)
    release = vs.anonymize(baskets(tmp_path), PROMISE)
    with pytest.raises(vs.WrongUsage, match=r"exists already.*--replace"):
        vs.publish(release, tmp_path / "out")
    assert files(first.path) == before
    vs.publish(release, tmp_path / "out", replace=True, random_state=2)
    assert files(first.path) != before
    assert vs.verify(tmp_path / "out").holds


def test_replace_does_not_delete_a_stranger(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "thesis.tex").write_text("years of work")
    release = vs.anonymize(baskets(tmp_path), PROMISE)
    with pytest.raises(vs.WrongUsage, match=r"not a release of veilset; replacing it would delete it"):
        vs.publish(release, home, replace=True)
    assert (home / "thesis.tex").read_text() == "years of work"


def test_uncertified_is_refused(tmp_path):
    release = vs.Release(baskets(tmp_path), baskets(tmp_path), PROMISE, "none", {}, ())
    with pytest.raises(vs.NotCertified, match=r"No auditor has looked"):
        vs.publish(release, tmp_path / "out")
    assert not (tmp_path / "out").exists()


# Imports take longer than publishing: one process has them, and each publish is a child of it.
KILLED = """
    import os, signal, sys
    import veilset as vs
    import veilset.report.charts
    release = vs.anonymize(vs.read(sys.argv[1], sensitive=["cure"]), vs.Coherence(h="1/2", k=2, p=2), threads=1)
    while seed := sys.stdin.readline().strip():
        child = os.fork()
        if child == 0:
            vs.publish(release, sys.argv[2], replace=True, random_state=seed)
            os._exit(0)
        print("started", flush=True)
        sys.stdin.readline()
        os.kill(child, signal.SIGKILL)  # nobody has waited for it yet: it is there even if it has ended
        os.waitpid(child, 0)
        print("over", flush=True)
"""


@pytest.mark.parametrize("old", [False, True], ids=["first release", "replacing one"])
def test_killed_at_any_moment_leaves_the_old_release_or_a_whole_new_one(tmp_path, old):
    """SIGKILL at a few dozen moments between the start of publish and its end."""
    out = tmp_path / "out"
    baskets(tmp_path)
    if old:
        published(tmp_path, random_state="old")
    previous = files(out) if old else {}
    outcomes = set()
    killed_while_writing = 0
    moments = 18
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(KILLED), str(tmp_path / "baskets.csv"), str(out)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for moment in range(moments):
            print(moment, file=process.stdin, flush=True)
            assert process.stdout.readline() == "started\n"
            time.sleep(1.2 * moment / moments)
            print("kill", file=process.stdin, flush=True)
            assert process.stdout.readline() == "over\n"
            killed_while_writing += any(p.name.startswith(".out.unfinished-") for p in tmp_path.iterdir())
            if not out.exists():
                outcomes.add("none")
                assert not old
            elif files(out) == previous:
                outcomes.add("old")
            else:
                outcomes.add("new")
                assert vs.verify(out).holds
                previous = files(out)
                old = True
    assert outcomes - {"new"}, "No kill came before the end: the moments must be spread differently."
    assert killed_while_writing, "No kill came while files were written: the moments must be spread differently."
    vs.publish(vs.anonymize(baskets(tmp_path), PROMISE), out, replace=True)
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == [], "Leftovers must be cleared away."


def test_full_disk_leaves_nothing(tmp_path, monkeypatch):
    from veilset.publish import bundle

    def fails(path, content):
        if path.name == "report.html":
            raise OSError(28, os.strerror(28))
        path.write_bytes(content.encode() if isinstance(content, str) else content)

    monkeypatch.setattr(bundle, "write_durably", fails)
    with pytest.raises(OSError, match="No space left"):
        published(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["baskets.csv"]
