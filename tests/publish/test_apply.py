"""The changes of an earlier release made to other data: by ``vs.apply`` and on the command line."""

import shutil
import tomllib
from pathlib import Path

import pytest

import veilset as vs
from tests.publish.conftest import EARLIER, LATER
from tests.support.commands import refusal, run
from tests.support.errors import refused
from tests.support.releases import PROMISE, certificate, edits, write_rows
from veilset.publish import recipe_like


@pytest.fixture
def copy(earlier, tmp_path) -> Path:
    """The earlier release, to be changed."""
    return shutil.copytree(earlier, tmp_path / "earlier")


def test_the_same_changes_for_the_same_promise(earlier):
    release = vs.apply(earlier, vs.Transactions.from_lists(LATER))
    assert release.promise == PROMISE
    assert release.custodian_data.to_lists() == [[item for item in row if item != "fig"] for row in LATER]
    assert (release.suppressed, release.custodian_data.sensitive) == (("fig",), ("cure",))
    assert release.certified


def test_an_earlier_release_without_losses(copy):
    path = copy / "custodian" / "edits.csv"
    path.write_text("".join(line.rsplit(",", 1)[0] + "\n" for line in path.read_text().splitlines()))
    assert vs.apply(copy, vs.Transactions.from_lists(LATER)).suppressed == ("fig",)


def test_on_the_command_line_and_once_more_byte_for_byte(earlier, tmp_path, capsys):
    later = write_rows(tmp_path / "later.csv", LATER)
    code, said = run(capsys, "apply", earlier, later, "--out", tmp_path / "new", "--seed", "s")
    assert (code, said["verdict"], said["method"]) == (0, "GO", "replay")
    assert said["parameters"] == {"h": "1/2", "k": 2, "p": 2}
    assert vs.verify(tmp_path / "new").holds
    recipe = tmp_path / "new" / "custodian" / "recipe.toml"
    assert tomllib.loads(recipe.read_text())["method"]["options"]["unknown"] == "refuse"
    code, _ = run(capsys, "publish", recipe, "--out", tmp_path / "again", "--yes")
    assert code == 0
    for file in ("public/data.csv", "public/certificate.json", "public/SHA256SUMS", "custodian/rows.parquet"):
        assert (tmp_path / "again" / file).read_bytes() == (tmp_path / "new" / file).read_bytes(), file
    assert (tmp_path / "again/custodian/recipe.toml").read_text() == recipe.read_text()


def test_the_reports_count_what_was_given(earlier, tmp_path, capsys):
    run(capsys, "apply", earlier, write_rows(tmp_path / "later.csv", LATER), "--out", tmp_path / "new")
    page = (tmp_path / "new" / "custodian" / "report.html").read_text()
    assert "(suppressed=1 item, known=4 items, unknown=refuse)" in page  # nothing empty


@pytest.mark.parametrize("rows", [[[*row, "gin"] for row in LATER], [["ale", "bun", "gin"], *LATER]])
def test_unknown_items(earlier, rows):
    data = vs.Transactions.from_lists(rows)
    with refused(vs.InvalidArgument, "'gin'", "suppress", "keep"):
        vs.apply(earlier, data)
    suppressed = vs.apply(earlier, data, unknown="suppress")
    assert suppressed.suppressed == ("fig", "gin")
    assert suppressed.certified
    kept = vs.apply(earlier, data, unknown="keep")
    assert "gin" in kept.custodian_data.names
    assert kept.certified == (len(rows) == len(LATER)), "What is kept is audited."
    with refused(vs.InvalidArgument, "unknown", "'drop'", "refuse", "suppress", "keep"):
        vs.apply(earlier, data, unknown="drop")


def test_many_unknown_items_are_counted(earlier):
    data = vs.Transactions.from_lists([[f"new {number}" for number in range(2000)]] * 3)
    with refused(vs.InvalidArgument, "2,000", "'new 0'") as caught:
        vs.apply(earlier, data)
    assert len(str(caught.value)) < 300


def test_no_go_writes_nothing(earlier, tmp_path, capsys, snapshot):
    later = write_rows(tmp_path / "later.csv", [["ale", "gin"], *LATER])
    ask = ("apply", earlier, later, "--unknown", "keep", "--out", tmp_path / "new")
    assert refusal(capsys, *ask, exit_code=1, values=("NO-GO", "gin")) == snapshot
    assert [p.name for p in tmp_path.iterdir()] == ["later.csv"]


def test_why_an_item_is_gone(earlier, tmp_path, snapshot):
    rows = [*LATER, *LATER, ["ale", "gin"], ["gin"]]
    release = vs.apply(earlier, vs.read(write_rows(tmp_path / "later.csv", rows)), unknown="suppress")
    vs.publish(release, tmp_path / "new")
    told = edits(tmp_path / "new")
    assert {item: line["action"] for item, line in told.items()} == {
        "ale": "kept",
        "bun": "kept",
        "cure": "kept",
        "fig": "suppressed",
        "gin": "suppressed",
    }
    assert {item: line["why"] for item, line in told.items() if line["why"]} == snapshot


def test_sensitive_items(earlier, tmp_path, capsys):
    without = vs.apply(earlier, vs.Transactions.from_lists([["ale"], ["ale"], ["bun"], ["bun"]]))
    assert (without.custodian_data.sensitive, without.certified) == ((), True), "Sensitive items need not occur."
    new = vs.Transactions.from_lists([*LATER, ["ale", "hiv"]], sensitive=["hiv"])
    for unknown in ("refuse", "suppress", "keep"):
        with refused(vs.InvalidArgument, "'hiv'", "sensitive"):
            vs.apply(earlier, new, unknown=unknown)
    rows = [*LATER, ["ale"], ["ale"]]
    more = vs.apply(earlier, vs.Transactions.from_lists(rows, sensitive=["bun"]))
    assert (more.custodian_data.sensitive, more.certified) == (("bun", "cure"), True), (
        "A public item may become sensitive."
    )
    options = ["--sensitive-items", "bun", "--out", tmp_path / "new"]
    code, said = run(capsys, "apply", earlier, write_rows(tmp_path / "later.csv", rows), *options)
    assert (code, said["sensitive"]) == (0, 2)


def test_groups_of_sensitive_items_of_which_some_do_not_occur(tmp_path, capsys):
    rows = [["ale", "flu"], ["ale", "hiv"], ["ale", "aids"], *[["ale"]] * 6]
    data = vs.read(write_rows(tmp_path / "earlier.csv", rows), sensitive=["flu", "hiv", "aids"])
    promise = vs.Coherence(h="1/2", k=2, p=2, sensitive_groups=[["flu", "hiv", "aids"]])
    vs.publish(vs.anonymize(data, promise), tmp_path / "earlier")
    for later, groups in (
        ([["ale", "flu"], ["ale", "hiv"], *[["ale"]] * 4], (("flu", "hiv"),)),
        ([["ale", "flu"], ["ale"], ["ale"]], ()),
    ):
        release = vs.apply(tmp_path / "earlier", vs.Transactions.from_lists(later))
        assert release.promise.sensitive_groups == groups
        assert release.certified
        file = write_rows(tmp_path / "later.csv", later)
        code, said = run(capsys, "apply", tmp_path / "earlier", file, "--out", tmp_path / "new", "--replace")
        assert (code, said["verdict"]) == (0, "GO")


def test_sensitive_items_that_had_to_go_go_again(tmp_path):
    rows = [["ale", "cure"], ["ale", "cure"], ["ale", "cure"], ["ale"]]
    data = vs.read(write_rows(tmp_path / "earlier.csv", rows), sensitive=["cure"])
    vs.publish(vs.anonymize(data, PROMISE, allow_sensitive=True), tmp_path / "earlier")
    release = vs.apply(tmp_path / "earlier", vs.Transactions.from_lists([["ale", "cure"], ["ale"], ["ale"], ["ale"]]))
    assert (release.suppressed, release.certified) == (("cure",), True)


def test_coarser_names_stand_for_what_readers_were_told(coarser, tmp_path):
    before = certificate(coarser)["generalized"]
    assert before == {"drinks": ["ale", "mead", "wine"]}
    # Wine is new, but readers were told that drinks may mean it: nobody has to decide anything.
    data = vs.read(write_rows(tmp_path / "later.csv", [["wine", "bun"], ["ale", "bun"], ["bun"], ["wine"], []]))
    release = vs.apply(coarser, data)
    assert release.custodian_data.to_lists() == [["bun", "drinks"], ["bun", "drinks"], ["bun"], ["drinks"], []]
    bundle = vs.publish(release, tmp_path / "new")
    assert certificate(bundle.path)["generalized"] == before
    none = vs.apply(coarser, vs.Transactions.from_lists([["bun"], ["bun"]]))
    assert none.stands_for == {}, "A name that does not occur is not explained."
    with refused(vs.InvalidArgument, "'wine'", "sensitive"):
        vs.apply(coarser, data.with_sensitive(["wine"]))


def test_what_was_not_told_then_is_not_told_now():
    data = vs.Transactions.from_lists([["ale"], ["mead"], ["ale"]])
    options = {"method": "replay", "generalized": {"ale": "drinks", "mead": "drinks"}}
    promise = vs.Coherence(k=2, p=1)
    assert vs.anonymize(data, promise, **options).stands_for == {"drinks": ("ale", "mead")}
    assert vs.anonymize(data, promise, **options, stands_for={}).stands_for == {}
    with refused(vs.InvalidArgument, "'ale'"):
        vs.anonymize(data, promise, **options, suppressed=["ale"])


def test_out_format(earlier, tmp_path, capsys):
    later = write_rows(tmp_path / "later.csv", LATER)
    code, said = run(capsys, "apply", earlier, later, "--out-format", "parquet", "--out", tmp_path / "new")
    assert code == 0
    assert (Path(said["public"]) / "data.parquet").is_file()
    code, _ = run(capsys, "apply", tmp_path / "new", later, "--out", tmp_path / "once-more")
    assert code == 0
    assert (tmp_path / "once-more" / "public" / "data.parquet").is_file(), "By default as the earlier release."


def test_the_layout_is_the_earlier_one_unless_options_say_how(tmp_path, capsys):
    lines = [f"{number};{item}\n" for number, row in enumerate(EARLIER) for item in row]
    (tmp_path / "earlier.csv").write_text("who;what\n" + "".join(lines))
    data = vs.read(tmp_path / "earlier.csv", long=("who", "what"), delimiter=";", sensitive=["cure"])
    vs.publish(vs.anonymize(data, PROMISE), tmp_path / "earlier")
    apply = ["apply", tmp_path / "earlier"]
    (tmp_path / "long.csv").write_text("who;what\n" + "".join(lines))
    for number, options in enumerate([[], ["--sensitive-items", "cure"], ["--encoding", "latin-1"]]):
        code, _ = run(capsys, *apply, tmp_path / "long.csv", *options, "--out", tmp_path / f"long-{number}")
        assert code == 0, options
        assert (tmp_path / f"long-{number}" / "public" / "data.csv").read_text().startswith("row;what\n")
    later = write_rows(tmp_path / "later.csv", LATER)
    code, said = run(capsys, *apply, later, "--delimiter", ",", "--out", tmp_path / "new")
    assert (code, said["transactions"]) == (0, len(LATER))


def test_other_columns_are_about_the_same_rows_and_people(tmp_path, capsys):
    """The condition, the unknown people and the names of the earlier release decide under a new layout."""
    lines = [f"{number},{number},{item},fr\n" for number, row in enumerate(EARLIER) for item in row]
    lines += [f"{90 + number},0,{item},fr\n" for number, item in enumerate(("ale", "bun"))]
    (tmp_path / "earlier.csv").write_text("order,cust,what,land\n" + "".join(lines))
    told = {"person": "cust", "where": "land = 'fr'", "unknown_person": ["0"], "unknown_rows": "separate"}
    data = vs.read(tmp_path / "earlier.csv", long=("order", "what"), normalize="case", sensitive=["cure"], **told)
    vs.publish(vs.anonymize(data, PROMISE), tmp_path / "earlier")
    abroad = "95,50,ale,uk\n"
    (tmp_path / "later.csv").write_text("inv,cust,item,land\n" + "".join(lines).replace("ale", "Ale") + abroad)
    options = ["--long", "inv,item", "--out", tmp_path / "new"]
    code, said = run(capsys, "apply", tmp_path / "earlier", tmp_path / "later.csv", *options)
    assert (code, said["transactions"]) == (0, len(EARLIER) + 2)
    read_as = tomllib.loads((tmp_path / "new" / "custodian" / "recipe.toml").read_text())["input"]
    assert {name: read_as[name] for name in told} == told
    assert (read_as["long"], read_as["normalize"]) == (["inv", "item"], ["case"])


def test_a_query_is_for_a_database_only(copy):
    asked = recipe_like(copy, "later.csv").input
    assert asked is not None
    recipe = copy / "custodian" / "recipe.toml"
    recipe.write_text(recipe.read_text().replace("[input]\n", '[input]\nquery = "SELECT"\n'))
    assert recipe_like(copy, "later.csv").input == asked
    other = recipe_like(copy, "later.duckdb").input
    assert other.query == "SELECT"


@pytest.mark.parametrize(
    ("old", "new", "values"),
    [
        ("item,role", "thing,role", ("line 1", "thing", "item")),
        ("ale,public,kept", "ale,public,gone", ("line 2", "'gone'", "kept")),
        ("ale,public,kept", "ale,secret,kept", ("line 2", "'secret'")),
        ("ale,public,kept", ",public,kept", ("line 2",)),
        ("bun,public,kept", "ale,public,kept", ("line 3", "'ale'", "line 2")),
        ("bun,public,kept,", "bun,public,kept,food", ("line 3", "kept", "'food'")),
        ("bun,public,kept,", "bun,public,generalized,", ("line 3", "generalized", "''")),
        ("cure,sensitive,kept,", "cure,sensitive,generalized,x", ("line 4", "'cure'", "generalized")),
        ("fig,public,suppressed", '"fig,public,suppressed', ("line 5",)),
        ("bun,public,kept,", "bun,public,", ("line 3", 7, 6)),
    ],
)
def test_edits_that_were_edited(copy, old, new, values, snapshot):
    path = copy / "custodian" / "edits.csv"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with refused(vs.UnreadableInput, path, *values) as caught:
        vs.apply(copy, vs.Transactions.from_lists(LATER))
    assert str(caught.value).replace(str(copy), "EARLIER") == snapshot


def test_no_release_or_only_its_public_part(earlier, tmp_path, capsys):
    later = write_rows(tmp_path / "later.csv", LATER)
    for wrong in (tmp_path, earlier / "public"):
        refusal(capsys, "apply", wrong, later, "--out", tmp_path / "new", values=("edits.csv", wrong, "custodian/"))


def test_a_damaged_certificate(coarser, tmp_path):
    copy = shutil.copytree(coarser, tmp_path / "coarser")
    (copy / "public" / "certificate.json").write_text("{}")
    with refused(vs.UnreadableInput, copy / "public" / "certificate.json"):
        vs.apply(copy, vs.Transactions.from_lists([["ale"]]))


def test_notes_on_who_is_a_person(tmp_path, snapshot):
    lines = [f"{number},{number % 9},{item}\n" for number in range(18) for item in ("ale", "bun")]
    (tmp_path / "visits.csv").write_text("visit,who,item\n" + "".join(lines))
    long, gaps = {"long": ("visit", "item")}, {"unknown_person": ["0"], "unknown_rows": "separate"}

    def read(**how) -> vs.Transactions:
        return vs.read(tmp_path / "visits.csv", **long, **how)

    vs.publish(vs.anonymize(read(person="who", **gaps), PROMISE), tmp_path / "merged")
    vs.publish(vs.anonymize(read(), PROMISE), tmp_path / "single")
    assert vs.apply(tmp_path / "merged", read(person="who", **gaps)).notes == ()
    assert vs.apply(tmp_path / "single", read()).notes == ()
    told = {
        "no person": vs.apply(tmp_path / "merged", read()).notes,
        "no unknown people": vs.apply(tmp_path / "merged", read(person="who")).notes,
        "merged now": vs.apply(tmp_path / "single", read(person="who")).notes,
        "lists": vs.apply(tmp_path / "merged", vs.Transactions.from_lists(EARLIER[1:2] * 9), unknown="keep").notes,
    }
    assert told == snapshot


def test_the_no_go_proposes_no_option_that_apply_does_not_have(tmp_path, capsys, snapshot):
    rows = [["ale", "bun"]] * 6 + [["ale"]] * 6
    data = vs.read(write_rows(tmp_path / "earlier.csv", rows))
    vs.publish(vs.anonymize(data, vs.Coherence(k=6, p=2)), tmp_path / "earlier")
    later = write_rows(tmp_path / "later.csv", [["ale", "bun"]] * 5 + [["ale"]] * 6 + [["bun"]])
    ask = ("apply", tmp_path / "earlier", later, "--out", tmp_path / "new")
    assert refusal(capsys, *ask, exit_code=1, values=("NO-GO", "publish this data anew")) == snapshot
