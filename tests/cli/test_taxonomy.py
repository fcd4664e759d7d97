"""``veilset taxonomy``: checking, showing and making trees; and publishing with trees of every form."""

import json
import shlex
import tomllib
from functools import partial

import pytest

import veilset as vs
from tests.support.commands import refusal
from tests.support.errors import names
from tests.support.texts import as_read
from tests.support.typing_commands import piped, typed
from veilset.cli import main

TREE = "item,kind,shelf\nale,beer,drinks\nrum,beer,drinks\nbun,food,\nfig,food,\n"
FORMS = {
    "tree.csv": "item,shelf\nale,drinks\nbun,food\nfig,food\n",
    "edges.csv": "child,parent\nale,drinks\nbun,food\nfig,food\n",
    "tree.txt": "ale;drinks;*\nbun;food;*\nfig;food;*\n",
    "tree.json": '{"drinks": ["ale"], "food": ["bun", "fig"]}',
}


run, facts = partial(typed, "taxonomy"), partial(piped, "taxonomy")


@pytest.fixture
def tree(shop):
    (shop / "tree.csv").write_text(TREE)
    return shop


def test_check(tree, capsys):
    size = {"items": 4, "nodes": 8, "depth": 3}
    assert facts(capsys, "check tree.csv") == {**size, "notes": []}
    found = facts(capsys, "check tree.csv baskets.csv --sensitive sensitive.txt")
    (note,) = found.pop("notes")
    assert found == size
    assert names(note, "'rum'")


def test_check_normalizes_both(shop, capsys):
    (shop / "loud.csv").write_text("ALE,Bun\nale,FIG \n")
    (shop / "tree.csv").write_text("item,shelf\nAle,Drinks\nale,drinks\nbun,food\nfig,food\n")
    found = facts(capsys, "check tree.csv loud.csv --normalize case")
    assert found == {"items": 3, "nodes": 6, "depth": 2, "notes": []}


def test_check_on_a_terminal(tree, capsys, terminal, snapshot):
    (tree / "sensitive.txt").write_text("cure\nfig\n")
    code, out, _ = run(capsys, "check tree.csv baskets.csv --sensitive sensitive.txt")
    assert code == 0
    assert as_read(out) == snapshot


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("check none.csv", ("'none.csv'",)),
        ("check tree.csv baskets.csv", (1, 4, "'cure'")),
        ("check tree.csv --sensitive sensitive.txt", ()),
        ("check tree.csv --threads 2", ()),
        ("check twice.csv", ("line 3", "'ale'", "line 2")),
        ("check tree.csv --columns item", ("--columns", "'item'")),
        ("check tree.csv --columns item,,kind", ("--columns", "'item,,kind'")),
        ("check tree.csv --columns item,knid", ("'knid'",)),
        ("check tree.csv --kind tables", ("tables",)),
        ("check baskets.dat", ("'baskets.dat'",)),
        ("show tree.csv --item aie", ("'aie'", "'ale'")),
        ("show tree.csv --item ale --depth 1", ("--depth", "--item")),
        ("show tree.csv --depth 101", ("--depth", 101)),
        ("show tree.csv --depth -1", ("--depth", -1)),
        ("make baskets.csv --out new.csv", ("--fan-out", "--co-occurrence")),
        ("make baskets.csv --fan-out 4 --co-occurrence 4 --out new.csv", ("--fan-out", "--co-occurrence")),
        ("make baskets.csv --fan-out 4 --min-support 0 --out new.csv", (0, 1)),
        ("make baskets.csv --fan-out 1 --out new.csv", (1, 2)),
        ("make baskets.csv --fan-out 0 --out new.csv", (0, 2)),
        ("make baskets.csv --co-occurrence 1 --min-support 2 --out new.csv", (1, 2)),
        ("make baskets.csv --co-occurrence 4 --out new.csv", ("--co-occurrence", "--min-support")),
        ("make baskets.csv --co-occurrence 4 --min-support 0 --out new.csv", (0,)),
        ("make baskets.csv --fan-out 4 --out new.dat", ("'new.dat'",)),
        ("make baskets.csv --fan-out 4 --out tree.csv", ("'tree.csv'",)),
        ("make baskets.csv --fan-out 4 --out baskets.csv --replace", ("'baskets.csv'",)),
        ("make baskets.csv --fan-out 4 --out none/new.csv", ("none'",)),
        ("make --fan-out 4 --out new.csv", ("--catalogue",)),
        ("make baskets.csv --catalogue sensitive.txt --fan-out 4 --out new.csv", ("--catalogue",)),
        ("make --catalogue none.txt --fan-out 4 --out new.csv", ("'none.txt'", "--catalogue")),
        ("make --catalogue sensitive.txt --fan-out 4 --min-support 2 --out new.csv", ("--catalogue",)),
        ("make --catalogue sensitive.txt --co-occurrence 4 --min-support 2 --out new.csv", ("--catalogue",)),
        ("make --catalogue sensitive.txt --fan-out 4 --threads 2 --out new.csv", ("--catalogue",)),
    ],
)
def test_what_cannot_be_meant(tree, capsys, line, values, snapshot):
    (tree / "twice.csv").write_text("item,kind\nale,beer\nale,wine\n")
    before = {path.name: path.read_bytes() for path in tree.iterdir()}
    code, out, err = run(capsys, f"{line} --json")
    assert code == 2
    said = json.loads(out)["error"]
    sentence = f"{said['what']} {said['next_step']}"
    assert [value for value in values if not names(sentence, value)] == []
    assert sentence.replace(str(tree), "HERE") == snapshot
    assert err == ""
    assert {path.name: path.read_bytes() for path in tree.iterdir()} == before


def test_show(tree, capsys):
    found = facts(capsys, "show tree.csv")
    drinks = {"label": "drinks", "items": 2, "children": [{"label": "beer", "items": 2}]}
    food = {"label": "food", "items": 2, "children": [{"label": "bun"}, {"label": "fig"}]}
    root = {"label": "ALL", "items": 4, "children": [drinks, food]}
    assert found == {"items": 4, "nodes": 8, "depth": 3, "tree": root}
    assert facts(capsys, "show tree.csv --depth 0")["tree"] == {"label": "ALL", "items": 4}
    assert facts(capsys, "show tree.csv --item rum")["groups"] == [
        {"label": "beer", "items": 2},
        {"label": "drinks", "items": 2},
        {"label": "ALL", "items": 4},
    ]


def test_show_on_a_terminal(tree, capsys, terminal, snapshot):
    code, out, _ = run(capsys, "show tree.csv --depth 3")
    assert code == 0
    assert as_read(out) == snapshot(name="tree")
    code, out, _ = run(capsys, "show tree.csv --item ale")
    assert code == 0
    assert as_read(out) == snapshot(name="item")


def test_a_strangers_names_do_not_steer_the_terminal(shop, capsys, terminal):
    (shop / "tree.json").write_text('{"[red]": ["\\u001b[2J", "b"]}')
    code, out, _ = run(capsys, "show tree.json")
    assert code == 0
    assert "[red]  2 items" in out
    assert "\\x1b[2J" in out
    assert "\x1b[2J" not in out


@pytest.mark.parametrize("out", ["new.csv", "new.tsv", "new.txt", "new.json", "new.csv.gz"])
def test_make(shop, capsys, out, snapshot):
    data = vs.read("baskets.csv", sensitive=["cure"])
    found = facts(capsys, f"make baskets.csv --sensitive sensitive.txt --fan-out 2 --out {out}")
    assert vs.Taxonomy.read(out) == vs.Taxonomy.by_fan_out(data, 2)
    assert (found["written"], found["items"], found["nodes"], found["depth"]) == (out, 3, 5, 2)
    assert found["notes"] == snapshot(name="by fan-out")
    options = "--co-occurrence 2 --min-support 2 --replace --threads 1"
    found = facts(capsys, f"make baskets.csv --sensitive sensitive.txt {options} --out {out}")
    assert vs.Taxonomy.read(out) == vs.Taxonomy.by_co_occurrence(data, 2, min_support=2)
    assert found["notes"] == snapshot(name="by co-occurrence")


def test_make_from_a_catalogue_that_is_not_the_data(shop, capsys):
    catalogue = ["ale", "bun", "cider", "fig", "gin", "rum", "tea", "wine"]
    (shop / "catalogue.txt").write_text("\n".join(catalogue))
    found = facts(capsys, "make --catalogue catalogue.txt --fan-out 4 --out new.csv")
    assert vs.Taxonomy.read("new.csv") == vs.Taxonomy.by_fan_out(catalogue, 4)
    assert (found["items"], found["notes"]) == (8, [])


def test_make_names_no_group_after_a_rare_item(shop, capsys):
    data = vs.read("baskets.csv")
    facts(capsys, "make baskets.csv --fan-out 2 --min-support 3 --out new.csv")
    assert vs.Taxonomy.read("new.csv") == vs.Taxonomy.by_fan_out(data, 2, min_support=3)


def test_make_edges(shop, capsys):
    facts(capsys, "make baskets.csv --fan-out 2 --kind edges --out new.csv")
    assert (shop / "new.csv").read_text().startswith("child,parent\n")
    assert vs.Taxonomy.read("new.csv") == vs.Taxonomy.by_fan_out(vs.read("baskets.csv"), 2)


def test_make_on_a_terminal(shop, capsys, terminal, snapshot):
    code, out, _ = run(capsys, "make baskets.csv --co-occurrence 2 --min-support 1 --out new.csv")
    assert code == 0
    assert as_read(out) == snapshot


def publishing(arguments: str) -> list[str]:
    promise = "--sensitive sensitive.txt --h 0.5 --k 2 --p 2 --method generalize"
    return shlex.split(f"publish baskets.csv {promise} --out release --replace --yes {arguments}")


@pytest.mark.parametrize("name", FORMS)
def test_publish_takes_every_form(shop, capsys, name):
    (shop / name).write_text(FORMS[name])
    assert main(publishing(f"--taxonomy {name}")) == 0
    recipe = tomllib.loads((shop / "release/custodian/recipe.toml").read_text())
    assert recipe["method"]["options"]["taxonomy"] == {"ale": ["drinks"], "bun": ["food"], "fig": ["food"]}
    assert vs.verify(shop / "release").holds


def test_publish_with_columns_and_kind(shop, capsys):
    (shop / "wide.csv").write_text("id,label,top,note\n1,ale,drinks,x\n2,bun,food,y\n3,fig,,z\n")
    assert main(publishing("--taxonomy wide.csv --taxonomy-columns label,top")) == 0
    recipe = tomllib.loads((shop / "release/custodian/recipe.toml").read_text())
    assert recipe["method"]["options"]["taxonomy"] == {"ale": ["drinks"], "bun": ["food"], "fig": []}
    (shop / "tree.dat").write_text(FORMS["tree.txt"])
    assert main(publishing("--taxonomy tree.dat --taxonomy-kind lines")) == 0


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        ("--taxonomy-columns a,b", ("--taxonomy-columns", "--taxonomy")),
        ("--taxonomy-kind json", ("--taxonomy-kind", "--taxonomy")),
        ("--taxonomy tree.txt --taxonomy-columns a,b", ("'tree.txt'",)),
        ("--taxonomy tree.csv --taxonomy-columns a", ("--taxonomy-columns", "'a'")),
    ],
)
def test_publish_options_that_do_not_go_together(shop, capsys, arguments, values, snapshot):
    for name, text in FORMS.items():
        (shop / name).write_text(text)
    assert refusal(capsys, *publishing(arguments), values=values) == snapshot


@pytest.mark.parametrize("command", ["audit baskets.csv --k 2 --p 2", "mine baskets.csv --min-support 2"])
@pytest.mark.parametrize("option", ["--taxonomy-columns a,b", "--taxonomy-kind json"])
def test_no_command_ignores_how_a_taxonomy_is_read(shop, capsys, command, option):
    assert main(shlex.split(f"{command} {option} --json")) == 2
    sentence = json.loads(capsys.readouterr().out)["error"]["what"]
    assert names(sentence, option.split()[0])
    assert names(sentence, "--taxonomy")


def test_branches_of_a_tree_with_columns(shop, capsys):
    (shop / "wide.csv").write_text("id,label,top\n1,ale,drinks\n2,bun,food\n3,fig,food\n4,cure,pharmacy\n")
    branch = "--sensitive-items 'branch: pharmacy' --taxonomy wide.csv --taxonomy-columns label,top"
    assert main(shlex.split(f"publish baskets.csv {branch} --h 0.5 --k 2 --p 2 --out release --yes")) == 0
    recipe = tomllib.loads((shop / "release/custodian/recipe.toml").read_text())
    assert recipe["input"]["sensitive"] == ["cure"]


def test_sensitive_leaves_are_not_in_what_readers_are_told(shop, capsys):
    (shop / "tree.csv").write_text("item,shelf\nale,shop\nbun,food\nfig,food\ncure,food\njam,food\n")
    (shop / "keep.txt").write_text("fig\n")  # one person's, so it survives only as food
    assert main(publishing("--taxonomy tree.csv --keep keep.txt")) == 0
    certificate = json.loads((shop / "release/public/certificate.json").read_text())
    assert certificate["generalized"] == {"food": ["bun", "fig", "jam"]}
