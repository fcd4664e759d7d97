"""A release in buckets from end to end: what is public, what the custodian keeps, and what `verify` says of changes."""

import dataclasses
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import veilset as vs
from tests.support.bundles import edit_certificate
from tests.support.errors import names, refused
from tests.support.releases import answer, certificate, files, message, replayed, write_rows
from veilset import _native
from veilset.errors import InvalidArgument, NotCertified
from veilset.io import sha256_of
from veilset.publish import Recipe
from veilset.release import Partition
from veilset.run import certify
from veilset.transactions import Anatomy
from veilset.utility import Account

TABLE = ["abcdefgh", "abdeh", "abcfh", "abfh", "abcd", "abce", "aefg", "bfh", "fh", "dg"]
COLUMNS = (("a", "b", "c", "g"), ("d", "e", "f", "h"))
BUCKETS = ((5, 6, 7, 8, 9), (0, 1, 2, 3, 4))
ORDERS = (((9, 5, 8, 6, 7), (7, 8, 9, 5, 6)), ((3, 0, 4, 1, 2), (2, 1, 0, 4, 3)))  # of each column in each bucket


def read(folder: Path, rows=TABLE) -> vs.Transactions:
    return vs.read(write_rows(folder / "baskets.csv", rows))


def by_hand(data: vs.Transactions, promise=None) -> vs.Release:
    """The paper's ten transactions in its buckets, with the second bucket first."""
    rows = []
    for orders in ORDERS:
        for places in zip(*orders, strict=True):
            cells = [set(data[at]).intersection(column) for at, column in zip(places, COLUMNS, strict=True)]
            rows.append(sorted(set().union(*cells)))
    released = vs.Transactions.from_lists(rows, sensitive=data.sensitive)
    released = released.anatomized(Anatomy.of(COLUMNS, [0] * 5 + [1] * 5))
    members = np.array([row for bucket in BUCKETS for row in bucket])
    partition = Partition(members, wished=2, medoids=(), merges=(), left_over=0, joined=0)
    options = {"columns": COLUMNS, "level": None, "open_buckets": 32, "random_state": 8675309}
    promise = promise or vs.LDiverseAnatomy(2)
    return certify(vs.Release(data, released, promise, "multi-anatomy", options, (), partition=partition))


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> vs.Bundle:
    """To be looked at only."""
    folder = tmp_path_factory.mktemp("paper")
    return vs.publish(by_hand(read(folder)), folder / "release", random_state="s3cret")


def fix(public: Path) -> None:
    """Make certificate and sums fit the tables as they are now."""

    def update(told: dict) -> None:
        for table in (told["data"], told["anatomy"]):
            table["sha256"] = sha256_of(public / table["file"])

    edit_certificate(public, update, fix_sums=True)


def test_the_release_is_certified(tmp_path):
    release = by_hand(read(tmp_path))
    assert release.certified, (release.audit, release.discrepancy)
    assert release.loss == 0


def test_what_is_public(bundle):
    public = files(bundle.public)
    assert public.keys() == {"data.csv", "anatomy.csv", "certificate.json", "report.html", "SHA256SUMS"}
    lines = public["anatomy.csv"].decode().splitlines()
    assert lines[:3] == ["bucket,column_1,column_2", '1,g,"f,h"', '1,"a,b,c","f,h"']
    assert public["data.csv"].decode().splitlines()[:2] == ["f,g,h", "a,b,c,f,h"]
    told = certificate(bundle.path)
    assert told["anatomy"] == {
        "file": "anatomy.csv",
        "sha256": sha256_of(bundle.public / "anatomy.csv"),
        "columns": 2,
        "buckets": 2,
        "smallest_bucket": 5,
        "largest_bucket": 5,
        "largest_item_share": "1",
        "assumed": "all arrangements of a bucket's values without an empty transaction are equally likely",
    }
    assert told["promise"] == {"name": "l-diverse-anatomy", "parameters": {"l": "2", "empty": "value"}}
    assert told["loss_percent"] == 0
    sums = dict(line.split("  ")[::-1] for line in public["SHA256SUMS"].decode().splitlines())
    assert sums.keys() == public.keys() - {"SHA256SUMS"}
    assert b"8675309" not in b"".join(public.values())
    assert b"s3cret" not in b"".join(public.values())


def test_a_receiver_can_check_it(bundle, tmp_path, snapshot):
    assert (answer(bundle.path), answer(bundle.public)) == (("holds", 0), ("holds", 0))
    said = vs.verify(shutil.copytree(bundle.public, tmp_path / "handed over"))
    assert said.audit.transactions == 10
    assert said.message == snapshot


def test_what_the_custodian_keeps(bundle):
    custodian = files(bundle.custodian)
    assert custodian["columns.csv"].decode() == "item,column\na,1\nb,1\nc,1\ng,1\nd,2\ne,2\nf,2\nh,2\n"
    edits = custodian["edits.csv"].decode().splitlines()
    assert edits[1] == "a,public,kept,,7,,0"
    assert len(edits) == 9
    assert "DO-NOT-SHARE.txt" in custodian
    rows = pq.read_table(bundle.custodian / "rows.parquet")
    assert rows.column_names == ["bucket", "original_row"]
    assert rows.to_pydict() == {"bucket": [1] * 5 + [2] * 5, "original_row": [6, 7, 8, 9, 10, 1, 2, 3, 4, 5]}


def test_persons_are_in_the_row_map(tmp_path):
    (tmp_path / "long.csv").write_text(
        "who,what\n" + "".join(f"p{row},{item}\n" for row, items in enumerate(TABLE) for item in items)
    )
    data = vs.read(tmp_path / "long.csv", long=("who", "what"), person="who")
    bundle = vs.publish(by_hand(data), tmp_path / "release")
    rows = pq.read_table(bundle.custodian / "rows.parquet").to_pylist()
    assert rows[0] == {"bucket": 1, "original_row": 6, "person": "p5"}
    assert b"p5" not in b"".join(files(bundle.public).values())


@pytest.mark.parametrize(
    ("out_format", "data_file", "anatomy_file"),
    [
        ("basket", "data.csv", "anatomy.csv"),
        ("long", "data.csv", "anatomy.csv"),
        ("wide", "data.csv", "anatomy.csv"),
        ("spmf", "data.spmf", "anatomy.csv"),
        ("jsonl", "data.jsonl", "anatomy.jsonl"),
        ("jsonl-long", "data.jsonl", "anatomy.jsonl"),
        ("parquet", "data.parquet", "anatomy.parquet"),
        ("parquet-wide", "data.parquet", "anatomy.parquet"),
        ("arrow", "data.arrow", "anatomy.parquet"),
    ],
)
def test_the_formats(tmp_path, out_format, data_file, anatomy_file):
    release = by_hand(read(tmp_path))
    bundle = vs.publish(release, tmp_path / "release", out_format=out_format)
    assert {data_file, anatomy_file} < files(bundle.public).keys()
    assert vs.read(bundle.public / anatomy_file, format="anatomy") == release.custodian_data
    assert answer(bundle.public) == ("holds", 0)


@pytest.mark.parametrize("out_format", ["anatomy", "jsonl-anatomy"])
def test_the_anatomized_table_is_no_format_of_the_data(tmp_path, out_format):
    with refused(InvalidArgument, repr(out_format)):
        vs.publish(by_hand(read(tmp_path)), tmp_path / "release", out_format=out_format)
    assert not (tmp_path / "release").exists()


@pytest.mark.parametrize("name", ["data.csv", "anatomy.csv"])
class TestOneFile:
    def test_missing(self, bundle, name):
        (bundle.public / name).unlink()
        assert name in message(bundle.public, "incomplete", 2)

    def test_changed(self, bundle, name, snapshot):
        path = bundle.public / name
        path.write_text(path.read_text().replace("f,h", "h,f"))
        assert message(bundle.public, "altered", 1) == snapshot

    def test_changed_with_its_sum(self, bundle, name, snapshot):
        path = bundle.public / name
        path.write_text(path.read_text().replace("f,h", "h,f"))
        sums = bundle.public / "SHA256SUMS"
        lines = [line for line in sums.read_text().splitlines() if not line.endswith(f"  {name}")]
        lines = sorted([*lines, f"{sha256_of(path)}  {name}"], key=lambda line: line[64:])
        sums.write_text("\n".join(lines) + "\n")
        assert message(bundle.public, "altered", 1) == snapshot

    def test_changed_with_all_sums(self, bundle, name, snapshot):
        """The same rows in other words: an order of items that nobody has looked at."""
        path = bundle.public / name
        path.write_text(path.read_text().replace("f,h", "h,f"))
        fix(bundle.public)
        assert message(bundle.public, "altered", 1) == snapshot

    def test_rows_in_another_order(self, bundle, name):
        path = bundle.public / name
        lines = path.read_text().splitlines()
        lines[1], lines[2] = lines[2], lines[1]  # of one bucket
        path.write_text("\n".join(lines) + "\n")
        fix(bundle.public)
        said = message(bundle.public, "altered", 1)
        assert "data.csv" in said
        assert "anatomy.csv" in said


@pytest.mark.parametrize("stop", [_native.core.OutOfTime, _native.core.OutOfMemory])
@pytest.mark.parametrize(("room", "kernel"), [("audit", "rho"), ("anatomy", "column_values")])
def test_what_the_page_tells_is_counted_or_the_question_is_undecided(tmp_path, monkeypatch, room, kernel, stop):
    """A page that left it out would differ from the released one, as if somebody had changed that."""
    rows = [["a", "f", "s"], ["b", "f"], ["b", "g"], ["a", "g", "t"], ["a", "f"], ["b", "g"]] * 3
    data = vs.Transactions.from_lists(rows, sensitive=["s", "t"])
    release = vs.anonymize(data, vs.LDiverseAnatomy(2), columns=[["a", "b"], ["f", "g"]], random_state=1)
    public = vs.publish(release, tmp_path / "out", with_what_if=False).public
    assert answer(public) == ("holds", 0)

    def stopped(*_, **__):
        raise stop

    monkeypatch.setattr(getattr(_native, room), kernel, stopped)
    with refused(vs.BudgetExceeded, "undecided"):
        vs.verify(public, time_limit=60)


def test_rows_swapped_in_both_files_are_another_release(bundle):
    for name, first in (("data.csv", 0), ("anatomy.csv", 1)):
        lines = (bundle.public / name).read_text().splitlines()
        lines[first], lines[first + 1] = lines[first + 1], lines[first]
        (bundle.public / name).write_text("\n".join(lines) + "\n")
    assert answer(bundle.public) == ("altered", 1)
    fix(bundle.public)
    assert answer(bundle.public) == ("holds", 0)  # who can make new sums can make a release


def test_what_breaks_the_promise(bundle):
    path = bundle.public / "anatomy.csv"
    lines = path.read_text().splitlines()
    lines[2:6] = [lines[1]] * 4
    path.write_text("\n".join(lines) + "\n")
    rows = (bundle.public / "data.csv").read_text().splitlines()
    (bundle.public / "data.csv").write_text("\n".join([rows[0]] * 5 + rows[5:]) + "\n")
    fix(bundle.public)
    assert "anatomy.csv" in message(bundle.public, "broken", 1)


@pytest.mark.parametrize(
    ("changed", "verdict", "values"),
    [
        ({"columns": 3}, "altered", (3, 2)),
        ({"buckets": 1}, "altered", (1, 2)),
        ({"smallest_bucket": 1}, "altered", (1, 5, "anatomy.smallest_bucket")),
        ({"largest_bucket": 9}, "altered", (9, 5, "anatomy.largest_bucket")),
        ({"columns": 0}, "malformed", ("anatomy.columns",)),
        ({"columns": "2"}, "malformed", ("anatomy.columns",)),
        ({"file": "../anatomy.csv"}, "malformed", ("anatomy.file",)),
        ({"file": "data.csv"}, "malformed", ("anatomy.file",)),
        ({"sha256": "0" * 64}, "altered", ("anatomy.csv",)),
        ({"more": 1}, "malformed", ("anatomy.more",)),
        ({"largest_item_share": "1/2"}, "altered", ("1/2", "1")),
        ({"largest_item_share": "50%"}, "malformed", ("anatomy.largest_item_share",)),
        ({"assumed": "nothing"}, "malformed", ("anatomy.assumed",)),
    ],
)
def test_an_edited_certificate(bundle, changed, verdict, values, snapshot):
    edit_certificate(bundle.public, lambda told: told["anatomy"].update(changed), fix_sums=True)
    found = vs.verify(bundle.public)
    assert found.verdict == verdict
    assert [value for value in values if not names(found.message, value)] == []
    assert found.message == snapshot


def test_the_promise_without_its_table(bundle, snapshot):
    (bundle.public / "anatomy.csv").unlink()
    sums = bundle.public / "SHA256SUMS"
    sums.write_text("".join(line for line in sums.read_text().splitlines(True) if "anatomy" not in line))
    edit_certificate(bundle.public, lambda told: told.pop("anatomy"), fix_sums=True)
    assert message(bundle.public, "malformed", 2) == snapshot


def test_another_promise_with_a_table(bundle, snapshot):
    other = {"name": "rho-uncertainty", "parameters": {"rho": "1"}}
    edit_certificate(bundle.public, lambda told: told.update(promise=other), fix_sums=True)
    said = message(bundle.public, "malformed", 2)
    assert "rho-uncertainty" in said
    assert said == snapshot


def test_a_table_that_cannot_be_read(bundle):
    path = bundle.public / "anatomy.csv"
    path.write_text(path.read_text().replace("\n2,", "\n7,"))
    fix(bundle.public)
    said = message(bundle.public, "malformed", 2)
    assert "line 7" in said
    assert "bucket is 7" in said


def test_other_certificates_say_nothing_of_anatomies(tmp_path):
    release = vs.anonymize(read(tmp_path), vs.Coherence(k=2, p=1))
    bundle = vs.publish(release, tmp_path / "release")
    assert "anatomy" not in certificate(bundle.path)
    assert not (bundle.custodian / "columns.csv").exists()


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize(
    "promise",
    [
        vs.Coherence(k=2, p=1),
        vs.RhoUncertainty(rho=1),
        vs.HiddenPatterns([["a", "b"]], min_support=9),
        vs.LDiverseAnatomy(2),
    ],
    ids=lambda promise: promise.name,
)
def test_anatomized_data_is_no_original(tmp_path, suffix, promise, snapshot):
    """What stands in one row is of several people: nothing can be promised about them with it."""
    path = tmp_path / f"anatomy.{suffix}"
    by_hand(read(tmp_path)).custodian_data.write(path, format="anatomy")
    data = vs.read(path, format="anatomy")
    with refused(InvalidArgument) as by_a_method:
        vs.anonymize(data, promise)
    by_other_means = vs.Release(data, data, promise, "replay", {}, (), audit=vs.audit(data, promise))
    with refused(InvalidArgument) as by_hand_made:
        vs.publish(by_other_means, tmp_path / "release")
    assert {str(error.value) for error in (by_a_method, by_hand_made)} == snapshot
    assert not (tmp_path / "release").exists()


def test_the_recipe(made):
    recipe = Recipe.load(made.custodian / "recipe.toml")
    assert recipe.promise.make() == vs.LDiverseAnatomy(2)
    assert recipe.method.name == "multi-anatomy"
    assert recipe.method.options == {"columns": COLUMNS, "open_buckets": 32, "random_state": 8675309}
    assert recipe.read_data() == read(made.path.parent)


def recipe(folder: Path, written: str) -> Recipe:
    (folder / "run.toml").write_text(f'[promise]\nmodel = "l-diverse-anatomy"\n{written}\n')
    return Recipe.load(folder / "run.toml", needs_input=False)


@pytest.mark.parametrize(
    ("written", "promise"),
    [
        ("l = 2", vs.LDiverseAnatomy(2)),
        ("l = 2.5", vs.LDiverseAnatomy("5/2")),
        ('l = "5/2"\nempty = "free"', vs.LDiverseAnatomy("5/2", empty="free")),
    ],
)
def test_a_promise_in_a_recipe(tmp_path, written, promise):
    assert recipe(tmp_path, written).promise.make() == promise


@pytest.mark.parametrize("written", ["", "l = 2\nk = 5", 'l = 2\nempty = "no"', "l = 0.5"])
def test_a_promise_that_cannot_be_made(tmp_path, written):
    with pytest.raises(InvalidArgument):
        recipe(tmp_path, written).promise.make()


def test_columns_in_a_recipe(tmp_path):
    method = '[method]\noptions = {columns = [["1", "2"], ["3"]], level = 1}'
    assert recipe(tmp_path, f"l = 2\n{method}").method.options == {"columns": (("1", "2"), ("3",)), "level": 1}


def test_its_changes_cannot_be_made_to_other_data(bundle, tmp_path):
    with refused(InvalidArgument, "columns.csv"):
        vs.apply(bundle.path, read(tmp_path))


def test_a_release_that_does_not_hold_is_not_written(tmp_path):
    release = by_hand(read(tmp_path), vs.LDiverseAnatomy(3))
    with refused(NotCertified, "NO-GO", "LDiverseAnatomy", "smaller l"):
        vs.publish(release, tmp_path / "release")
    assert not (tmp_path / "release").exists()


def test_a_release_without_buckets_is_not_written(tmp_path):
    data = read(tmp_path)
    whole = certify(vs.Release(data, data, vs.LDiverseAnatomy(1), "multi-anatomy", {}, ()))
    as_they_were = data.anatomized(Anatomy.of(COLUMNS, [0] * 5 + [1] * 5))  # each column's values still in order
    unshuffled = certify(vs.Release(data, as_they_were, vs.LDiverseAnatomy(2), "multi-anatomy", {}, ()))
    for release in (whole, unshuffled):
        with refused(NotCertified, "NO-GO"):
            vs.publish(release, tmp_path / "release")
    assert whole.certified


def test_values_from_another_bucket_are_not_accounted_for(tmp_path):
    release = by_hand(read(tmp_path))
    wrong = dataclasses.replace(release.partition, members=np.arange(10))
    with refused(NotCertified, "NO-GO", certify(dataclasses.replace(release, partition=wrong)).discrepancy):
        vs.publish(certify(dataclasses.replace(release, partition=wrong)), tmp_path / "release")


def test_nothing_has_to_go(tmp_path):
    assert Account(by_hand(read(tmp_path))).unavoidable == ()


def test_the_same_seed_gives_the_same_bytes(tmp_path):
    release = by_hand(read(tmp_path))
    one, other = (vs.publish(release, tmp_path / name, random_state=seed) for name, seed in (("a", "x"), ("b", "y")))
    assert files(one.public)["anatomy.csv"] == files(other.public)["anatomy.csv"]  # the order is the method's
    again = vs.publish(release, tmp_path / "c", random_state="x")
    assert files(one.public) == files(again.public)


def test_a_run_can_be_repeated(tmp_path):
    data = read(tmp_path)
    bundle = vs.publish(vs.anonymize(data, vs.LDiverseAnatomy("3/2"), columns=2), tmp_path / "one")
    assert replayed(bundle, tmp_path / "two").verification.holds


def test_the_columns_can_be_kept(tmp_path):
    data = read(tmp_path)
    release = vs.anonymize(data, vs.LDiverseAnatomy(2), columns=COLUMNS)
    bundle = vs.publish(release, tmp_path / "release")
    again = vs.anonymize(data, vs.LDiverseAnatomy(2), columns=bundle.custodian / "columns.csv")
    assert again.custodian_data.anatomy.columns == release.custodian_data.anatomy.columns
    recipe = Recipe.of(again, seed="x", version="")
    assert str(tmp_path / "release") not in recipe.to_toml()  # the columns themselves, not where they were


def test_switches_that_make_no_sense(tmp_path):
    data = read(tmp_path)
    with refused(InvalidArgument, "drop_empty"):
        vs.anonymize(data, vs.LDiverseAnatomy(2), drop_empty=True)
    with refused(InvalidArgument, "allow_sensitive"):
        vs.anonymize(data, vs.LDiverseAnatomy(2), allow_sensitive=True)
