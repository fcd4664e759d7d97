"""The changes of an earlier release made to other data: by ``vs.apply`` and on the command line."""

import csv
import json
import tomllib
from pathlib import Path

import pytest

import veilset as vs
from veilset.cli import main
from veilset.publish import recipe_like

pytestmark = pytest.mark.no_sanitizer(reason="slow there, and kernels see nothing that other tests do not show them")

PROMISE = vs.Coherence(h="1/2", k=2, p=2)
EARLIER = [["ale", "bun", "cure"], ["ale", "bun"], ["ale", "fig"], ["ale", "bun"], ["bun"], ["ale"]]
LATER = [["ale", "bun"], ["ale", "bun", "cure"], ["bun", "fig"], ["ale", "fig"], ["ale"], ["bun"], []]


def write(path: Path, rows: list[list[str]]) -> Path:
    path.write_text("".join(",".join(row) + "\n" for row in rows))
    return path


@pytest.fixture
def earlier(tmp_path) -> Path:
    """A release that has suppressed fig, in which cure is sensitive."""
    data = vs.read(write(tmp_path / "earlier.csv", EARLIER), sensitive=["cure"])
    release = vs.anonymize(data, PROMISE)
    assert (release.suppressed, release.certified) == (("fig",), True)
    return vs.publish(release, tmp_path / "earlier").path


@pytest.fixture
def coarser(tmp_path) -> Path:
    """A release in which ale and mead are both drinks; its taxonomy knows wine besides."""
    rows = [["ale", "bun"], ["mead", "bun"], ["bun"], ["bun"]]
    tree = {"ale": ["drinks"], "mead": ["drinks"], "wine": ["drinks"], "bun": []}
    release = vs.anonymize(
        vs.read(write(tmp_path / "drinks.csv", rows)), vs.Coherence(h=1, k=2, p=2), method="generalize", taxonomy=tree
    )
    assert release.generalized == {"ale": "drinks", "mead": "drinks"}
    return vs.publish(release, tmp_path / "coarser").path


def run(capsys, *arguments: str | Path) -> tuple[int, dict]:
    code = main(list(map(str, arguments)))
    return code, json.loads(capsys.readouterr().out)


def error(capsys, *arguments: str | Path) -> tuple[int, str]:
    code, said = run(capsys, *arguments)
    return code, f"{said['error']['what']} {said['error']['next_step']}"


def edits(release: Path) -> dict[str, dict[str, str]]:
    with (release / "custodian" / "edits.csv").open(newline="") as file:
        return {line["item"]: line for line in csv.DictReader(file)}


def test_the_same_changes_for_the_same_promise(earlier):
    release = vs.apply(earlier, vs.Transactions.from_lists(LATER))
    assert release.promise == PROMISE
    assert release.data.to_lists() == [[item for item in row if item != "fig"] for row in LATER]
    assert (release.suppressed, release.data.sensitive) == (("fig",), ("cure",))
    assert release.certified


def test_an_earlier_release_without_losses(earlier):
    path = earlier / "custodian" / "edits.csv"
    path.write_text("".join(line.rsplit(",", 1)[0] + "\n" for line in path.read_text().splitlines()))
    assert vs.apply(earlier, vs.Transactions.from_lists(LATER)).suppressed == ("fig",)


def test_on_the_command_line_and_once_more_byte_for_byte(earlier, tmp_path, capsys):
    later = write(tmp_path / "later.csv", LATER)
    code, said = run(capsys, "apply", earlier, later, "--out", tmp_path / "new", "--seed", "s")
    assert (code, said["verdict"], said["method"]) == (0, "GO", "given")
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
    run(capsys, "apply", earlier, write(tmp_path / "later.csv", LATER), "--out", tmp_path / "new")
    page = (tmp_path / "new" / "custodian" / "report.html").read_text()
    assert "suppressed=1 item, generalized=for 0 items" in page
    assert "known=4 items, unknown=refuse" in page


@pytest.mark.parametrize("rows", [[[*row, "gin"] for row in LATER], [["ale", "bun", "gin"], *LATER]])
def test_unknown_items(earlier, rows):
    data = vs.Transactions.from_lists(rows)
    with pytest.raises(
        vs.WrongUsage, match=r"^The item 'gin' was not known when .* Say --unknown suppress, or --unknown keep"
    ):
        vs.apply(earlier, data)
    suppressed = vs.apply(earlier, data, unknown="suppress")
    assert suppressed.suppressed == ("fig", "gin")
    assert suppressed.certified
    kept = vs.apply(earlier, data, unknown="keep")
    assert "gin" in kept.data.names
    assert kept.certified == (len(rows) == len(LATER)), "What is kept is audited."
    with pytest.raises(vs.WrongUsage, match=r"^unknown is 'drop'\. Say one of refuse, suppress, keep\.$"):
        vs.apply(earlier, data, unknown="drop")


def test_many_unknown_items_are_counted(earlier):
    data = vs.Transactions.from_lists([[f"new {number}" for number in range(2000)]] * 3)
    with pytest.raises(vs.WrongUsage, match=r"^2,000 items \('new 0', .*, …\) were not known") as caught:
        vs.apply(earlier, data)
    assert len(str(caught.value)) < 300


def test_no_go_writes_nothing(earlier, tmp_path, capsys):
    later = write(tmp_path / "later.csv", [["ale", "gin"], *LATER])
    code, said = error(capsys, "apply", earlier, later, "--unknown", "keep", "--out", tmp_path / "new")
    assert code == 1
    assert said.startswith("NO-GO: nothing was written. ")
    assert said.endswith("decide anew with publish, from all data or a larger sample.")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["earlier", "earlier.csv", "later.csv"]


def test_why_an_item_is_gone(earlier, tmp_path):
    rows = [*LATER, *LATER, ["ale", "gin"], ["gin"]]
    release = vs.apply(earlier, vs.read(write(tmp_path / "later.csv", rows)), unknown="suppress")
    vs.publish(release, tmp_path / "new")
    told = edits(tmp_path / "new")
    assert told["fig"]["why"] == "as in the earlier release"
    assert told["gin"]["why"] == "was not known when the changes were decided"
    assert told["ale"]["action"] == "kept"


def test_sensitive_items(earlier, tmp_path, capsys):
    without = vs.apply(earlier, vs.Transactions.from_lists([["ale"], ["ale"], ["bun"], ["bun"]]))
    assert (without.data.sensitive, without.certified) == ((), True), "Sensitive items need not occur."
    new = vs.Transactions.from_lists([*LATER, ["ale", "hiv"]], sensitive=["hiv"])
    for unknown in ("refuse", "suppress", "keep"):
        with pytest.raises(vs.WrongUsage, match=r"^The item 'hiv' was not known as sensitive when .* Decide anew"):
            vs.apply(earlier, new, unknown=unknown)
    rows = [*LATER, ["ale"], ["ale"]]
    more = vs.apply(earlier, vs.Transactions.from_lists(rows, sensitive=["bun"]))
    assert (more.data.sensitive, more.certified) == (("bun", "cure"), True), "A public item may become sensitive."
    options = ["--sensitive-items", "bun", "--out", tmp_path / "new"]
    code, said = run(capsys, "apply", earlier, write(tmp_path / "later.csv", rows), *options)
    assert (code, said["sensitive"]) == (0, 2)


def test_groups_of_sensitive_items_of_which_some_do_not_occur(tmp_path, capsys):
    rows = [["ale", "flu"], ["ale", "hiv"], ["ale", "aids"], *[["ale"]] * 6]
    data = vs.read(write(tmp_path / "earlier.csv", rows), sensitive=["flu", "hiv", "aids"])
    promise = vs.Coherence(h="1/2", k=2, p=2, sensitive_groups=[["flu", "hiv", "aids"]])
    vs.publish(vs.anonymize(data, promise), tmp_path / "earlier")
    for later, groups in (
        ([["ale", "flu"], ["ale", "hiv"], *[["ale"]] * 4], (("flu", "hiv"),)),
        ([["ale", "flu"], ["ale"], ["ale"]], ()),
    ):
        release = vs.apply(tmp_path / "earlier", vs.Transactions.from_lists(later))
        assert release.promise.sensitive_groups == groups
        assert release.certified
        file = write(tmp_path / "later.csv", later)
        code, said = run(capsys, "apply", tmp_path / "earlier", file, "--out", tmp_path / "new", "--replace")
        assert (code, said["verdict"]) == (0, "GO")


def test_sensitive_items_that_had_to_go_go_again(tmp_path):
    rows = [["ale", "cure"], ["ale", "cure"], ["ale", "cure"], ["ale"]]
    data = vs.read(write(tmp_path / "earlier.csv", rows), sensitive=["cure"])
    vs.publish(vs.anonymize(data, PROMISE, allow_sensitive=True), tmp_path / "earlier")
    release = vs.apply(tmp_path / "earlier", vs.Transactions.from_lists([["ale", "cure"], ["ale"], ["ale"], ["ale"]]))
    assert (release.suppressed, release.certified) == (("cure",), True)


def test_coarser_names_stand_for_what_readers_were_told(coarser, tmp_path):
    before = json.loads((coarser / "public" / "certificate.json").read_text())["generalized"]
    assert before == {"drinks": ["ale", "mead", "wine"]}
    # Wine is new, but readers were told that drinks may mean it: nobody has to decide anything.
    data = vs.read(write(tmp_path / "later.csv", [["wine", "bun"], ["ale", "bun"], ["bun"], ["wine"], []]))
    release = vs.apply(coarser, data)
    assert release.data.to_lists() == [["bun", "drinks"], ["bun", "drinks"], ["bun"], ["drinks"], []]
    bundle = vs.publish(release, tmp_path / "new")
    assert json.loads((bundle.public / "certificate.json").read_text())["generalized"] == before
    none = vs.apply(coarser, vs.Transactions.from_lists([["bun"], ["bun"]]))
    assert none.stands_for == {}, "A name that does not occur is not explained."
    with pytest.raises(vs.WrongUsage, match=r"^The item 'wine' was not known as sensitive when"):
        vs.apply(coarser, data.with_sensitive(["wine"]))


def test_what_was_not_told_then_is_not_told_now():
    data = vs.Transactions.from_lists([["ale"], ["mead"], ["ale"]])
    options = {"method": "given", "generalized": {"ale": "drinks", "mead": "drinks"}}
    promise = vs.Coherence(k=2, p=1)
    assert vs.anonymize(data, promise, **options).stands_for == {"drinks": ("ale", "mead")}
    assert vs.anonymize(data, promise, **options, stands_for={}).stands_for == {}
    with pytest.raises(vs.WrongUsage, match=r"^The item 'ale' is to be suppressed and to be recoded\. Say one"):
        vs.anonymize(data, promise, **options, suppressed=["ale"])


def test_out_format(earlier, tmp_path, capsys):
    later = write(tmp_path / "later.csv", LATER)
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
        assert (tmp_path / f"long-{number}" / "public" / "data.csv").read_text().startswith("who;what\n")
    later = write(tmp_path / "later.csv", LATER)
    code, said = run(capsys, *apply, later, "--delimiter", ",", "--out", tmp_path / "new")
    assert (code, said["transactions"]) == (0, len(LATER))


def test_a_query_is_for_a_database_only(earlier):
    asked = recipe_like(earlier, "later.csv").input
    assert asked is not None
    recipe = earlier / "custodian" / "recipe.toml"
    recipe.write_text(recipe.read_text().replace("[input]\n", '[input]\nquery = "SELECT"\n'))
    assert recipe_like(earlier, "later.csv").input == asked
    other = recipe_like(earlier, "later.duckdb").input
    assert other is not None
    assert other.query == "SELECT"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("item,role", "thing,role", r"line 1: its columns are thing, role, .* They must be item, role"),
        ("ale,public,kept", "ale,public,gone", r"line 2: the action is 'gone', not kept, .* Use the file as"),
        ("ale,public,kept", "ale,secret,kept", r"line 2: the role is 'secret', neither"),
        ("ale,public,kept", ",public,kept", r"line 2: the item has no name"),
        ("bun,public,kept", "ale,public,kept", r"line 3: the item 'ale' stands on line 2 already"),
        ("bun,public,kept,", "bun,public,kept,food", r"line 3: the item is kept, to 'food'"),
        ("bun,public,kept,", "bun,public,generalized,", r"line 3: the item is generalized, to ''"),
        ("cure,sensitive,kept,", "cure,sensitive,generalized,x", r"line 4: the sensitive item 'cure' is generalized"),
        ("bun,public,kept", '"bun,public,kept', r"line 3"),
        ("bun,public,kept,", "bun,public,", r"line 3: the header has 7 columns, not 6"),
    ],
)
def test_edits_that_were_edited(earlier, old, new, said):
    path = earlier / "custodian" / "edits.csv"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(vs.UnreadableInput, match=said) as caught:
        vs.apply(earlier, vs.Transactions.from_lists(LATER))
    assert str(path) in str(caught.value)


def test_no_release_or_only_its_public_part(earlier, tmp_path, capsys):
    later = write(tmp_path / "later.csv", LATER)
    for wrong in (tmp_path, earlier / "public"):
        code, said = error(capsys, "apply", wrong, later, "--out", tmp_path / "new")
        assert code == 2
        assert "There is no edits.csv in" in said
        assert "with its custodian/ folder" in said


def test_a_damaged_certificate(coarser):
    (coarser / "public" / "certificate.json").write_text("{}")
    with pytest.raises(vs.UnreadableInput, match=r"certificate\.json' is not a certificate: .* as it was made"):
        vs.apply(coarser, vs.Transactions.from_lists([["ale"]]))
