"""What leaves a release as a frame is what `publish` writes: no persons, another order, new ids."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import veilset as vs
from tests.support.errors import refused
from tests.support.releases import PROMISE, ROWS, baskets, certificate, files
from veilset.publish.handover import secret_order

MANY = 2000


@pytest.fixture(scope="module")
def merged() -> vs.Release:
    """Many persons, each with an item that tells where in the original they stood."""
    numbers = [n for n in range(MANY) for _ in range(2)]
    lines = pd.DataFrame(
        {
            "InvoiceNo": [f"i{place}" for place in range(2 * MANY)],
            "Description": [item for n in range(MANY) for item in (f"g{n // 20}", "ale")],
            "Customer": [f"person {n}" for n in numbers],
        }
    )
    data = vs.read(lines, long=("InvoiceNo", "Description"), person="Customer")
    release = vs.anonymize(data, vs.Coherence(k=5, p=2))
    assert release.certified and release.custodian_data.persons is not None
    return release


@pytest.fixture(scope="module")
def cut() -> vs.Release:
    rows = [["ale", "figs"], ["bun", "gin"], ["ale", "gin"], ["bun", "figs"]] * 5
    data = vs.Transactions.from_lists(rows, persons=[f"person {n}" for n in range(20)])
    return vs.anonymize(data, vs.LDiverseAnatomy(2), columns=[["ale", "bun"], ["figs", "gin"]], random_state=3)


def test_a_frame_is_the_published_file(merged, tmp_path):
    written = pq.read_table(vs.publish(merged, tmp_path / "out", random_state="seed").public / "data.parquet")
    assert merged.to_arrow(random_state="seed").equals(written)
    assert merged.to_pandas(random_state="seed").equals(written.to_pandas())
    assert merged.to_polars(random_state="seed").equals(pl.from_arrow(written))


@pytest.mark.parametrize("kind", ["lists", "long", "wide"])
def test_a_frame_has_the_shape_of_what_was_read(kind, tmp_path):
    """Text has no types: there the rows are the same, in the same order."""
    baskets(tmp_path).write(tmp_path / "d.csv", long=("who", "what") if kind == "long" else None, wide=kind == "wide")
    told = {"long": {"long": ("who", "what")}, "wide": {"wide": True}}.get(kind, {})
    release = vs.anonymize(vs.read(tmp_path / "d.csv", sensitive=["cure"], **told), PROMISE)
    table = release.to_arrow(random_state=1)
    written = vs.publish(release, tmp_path / "out", random_state=1).public / "data.csv"
    again = {"long": {"long": table.column_names}, "wide": {"wide": True}}.get(kind, {})
    assert vs.read(table, **again).to_lists() == vs.read(written, **again).to_lists()
    assert len(table.column_names) == {"lists": 1, "long": 2, "wide": 3}[kind]


def test_no_person_and_no_original_order_is_left(merged):
    table = merged.to_arrow()
    assert "person" not in str(table.to_pydict().values()) and "Customer" not in table.column_names
    ids, items = (table.column(name).to_pylist() for name in table.column_names)
    assert sorted(set(ids)) == list(range(1, MANY + 1))
    pairs = [(number, int(item[1:])) for number, item in zip(ids, items, strict=True) if item[:1] == "g"]
    # Without any order left, the correlation has the standard deviation 1 / sqrt(rows): 5 of them is one in a million.
    assert abs(np.corrcoef(np.array(pairs).T)[0, 1]) < 5 / np.sqrt(len(pairs))


def test_each_frame_draws_an_order(merged):
    assert not merged.to_arrow().equals(merged.to_arrow())
    assert merged.to_arrow(random_state=1).equals(merged.to_arrow(random_state=1))


def test_releases_with_one_seed_do_not_align():
    """Whoever has two of them must not find the same person in the same line of both."""
    rows = [[f"g{n}", "ale", *(["bun"] if n % 2 else [])] for n in range(MANY) for _ in range(2)]
    data = vs.Transactions.from_lists(rows)
    one = vs.anonymize(data, vs.Coherence(k=2, p=1))
    releases = [
        vs.anonymize(data, vs.Coherence(k=2, p=2)),  # another promise
        vs.anonymize(vs.Transactions.from_lists([*rows[:-2], rows[0], rows[0]]), vs.Coherence(k=2, p=1)),  # other rows
        vs.anonymize(data.without(["bun"]), vs.Coherence(k=2, p=1)),  # other items
    ]
    aligned = [np.sum(secret_order(one, "seed") == secret_order(other, "seed")) for other in releases]
    # Of two random orders, one line is the same on average; that 12 are has a probability below 1e-9.
    assert max(aligned) < 12
    assert np.array_equal(secret_order(one, "seed"), secret_order(one, "seed"))


def test_other_libraries_take_a_release_for_that_table(merged):
    table = pa.table(merged)
    assert table.schema == merged.to_arrow().schema
    assert sorted(table.column(1).to_pylist()) == sorted(merged.to_arrow().column(1).to_pylist())


def test_buckets_stay_with_their_columns(cut, tmp_path):
    bundle = vs.publish(cut, tmp_path / "out", out_format="parquet")
    assert cut.to_arrow().equals(pq.read_table(bundle.public / "anatomy.parquet"))
    assert cut.to_arrow().column_names == ["bucket", "column_1", "column_2"]


def test_only_a_certified_release_is_handed_over(tmp_path, snapshot):
    data = vs.Transactions.from_lists(ROWS, sensitive=["cure"])
    release = vs.anonymize(data, vs.RhoUncertainty(rho=0.5), method="select-a-size", random_state=1)
    with refused(vs.NotCertified) as published:
        vs.publish(release, tmp_path / "out")
    for hand_over in (release.to_arrow, release.to_pandas, release.to_polars, release.__arrow_c_stream__):
        with refused(vs.NotCertified, said=snapshot(name="uncertified")) as caught:
            hand_over()
        assert caught.value.next_step == published.value.next_step


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_library_that_is_missing_is_named(library, merged, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with refused(vs.InvalidArgument, library, f"to_{library}"):
        getattr(merged, f"to_{library}")()


def test_a_seed_that_no_file_can_hold_is_refused(merged):
    with refused(vs.InvalidArgument, "random_state"):
        merged.to_arrow(random_state="\udcff")


@pytest.mark.parametrize("item", ["Description", "row", "Row"])
@pytest.mark.parametrize("out_format", [None, "long", "jsonl-long", "arrow-long"])
def test_ids_are_called_what_they_are(item, out_format, tmp_path):
    """They number released rows: no column of the source tells that."""
    lines = pd.DataFrame({"InvoiceNo": [1, 2, 3, 4], item: ["ale"] * 4, "Customer": ["ann", "bob", "bob", "cem"]})
    release = vs.anonymize(vs.read(lines, long=("InvoiceNo", item), person="Customer"), vs.Coherence(k=2, p=1))
    bundle = vs.publish(release, tmp_path / "out", out_format=out_format)
    called = "row" if item == "Description" else "row_number"
    assert certificate(bundle.path)["data"]["columns"] == [called, item]
    assert release.to_arrow().column_names == [called, item]
    assert vs.verify(bundle.public).holds
    again = vs.read(next(bundle.public.glob("data.*")), long=(called, item))
    assert again.to_lists() == [["ale"]] * 3


def test_rows_of_buckets_are_called_no_persons(tmp_path):
    rows = [(f"p{n}", item) for n, row in enumerate([["ale", "figs"], ["bun", "gin"]] * 4) for item in row]
    lines = pd.DataFrame(rows, columns=["patient_id", "item"])
    data = vs.read(lines, long=("patient_id", "item"))
    release = vs.anonymize(data, vs.LDiverseAnatomy(2), columns=[["ale", "bun"], ["figs", "gin"]])
    bundle = vs.publish(release, tmp_path / "out")
    assert certificate(bundle.path)["data"]["columns"] == ["row", "item"]
    assert not any(b"patient_id" in content for content in files(bundle.public).values())
