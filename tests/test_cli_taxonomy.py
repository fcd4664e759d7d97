"""``veilset taxonomy``: checking, showing and making trees; and publishing with trees of every form."""

import json
import shlex
import tomllib

import pytest

import veilset as vs
from veilset.cli import main

pytestmark = pytest.mark.no_sanitizer(reason="slow there, and kernels see nothing that other tests do not show them")

TREE = "item,kind,shelf\nale,beer,drinks\nrum,beer,drinks\nbun,food,\nfig,food,\n"
FORMS = {
    "tree.csv": "item,shelf\nale,drinks\nbun,food\nfig,food\n",
    "edges.csv": "child,parent\nale,drinks\nbun,food\nfig,food\n",
    "tree.txt": "ale;drinks;*\nbun;food;*\nfig;food;*\n",
    "tree.json": '{"drinks": ["ale"], "food": ["bun", "fig"]}',
}


def run(capsys, line: str) -> tuple[int, str, str]:
    code = main(["taxonomy", *shlex.split(line)])
    out, err = capsys.readouterr()
    return code, out, err


def facts(capsys, line: str) -> dict:
    code, out, err = run(capsys, line)
    assert (code, err) == (0, ""), err
    return json.loads(out)


@pytest.fixture
def tree(shop):
    (shop / "tree.csv").write_text(TREE)
    return shop


def test_check(tree, capsys):
    size = {"items": 4, "nodes": 8, "depth": 3}
    assert facts(capsys, "check tree.csv") == {**size, "notes": []}
    found = facts(capsys, "check tree.csv baskets.csv --sensitive sensitive.txt")
    assert found == {**size, "notes": ["1 leaf does not occur in the data: 'rum'."]}


def test_check_on_a_terminal(tree, capsys, terminal):
    (tree / "sensitive.txt").write_text("cure\nfig\n")
    code, out, _ = run(capsys, "check tree.csv baskets.csv --sensitive sensitive.txt")
    assert code == 0
    assert "OK tree.csv: 4 items below 3 groups; up to 3 levels below the root." in " ".join(out.split())
    assert "note: 1 leaf does not occur in the data: 'rum'." in out
    assert "note: 1 sensitive item is among the leaves and is not generalized: 'fig'." in out
    assert "All public items are among its leaves." in out


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("check none.csv", "There is no file 'none.csv'"),
        ("check tree.csv baskets.csv", "1 of 4 public items are no leaves: 'cure'"),
        ("check tree.csv --sensitive sensitive.txt", "There is no data that these options could be about"),
        ("check tree.csv --threads 2", "There is no data that these options could be about"),
        ("check twice.csv", "line 3: the item 'ale' stands on line 2 already"),
        ("check tree.csv --columns item", "--columns is 'item'"),
        ("check tree.csv --columns item,,kind", "--columns is 'item,,kind'"),
        ("check tree.csv --columns item,knid", "There is no column 'knid'"),
        ("check tree.csv --kind tables", "tables"),
        ("check baskets.dat", "does not say what form the tree has"),
        ("show tree.csv --item aie", "There is no item 'aie' in the taxonomy. Did you mean 'ale'?"),
        ("show tree.csv --item ale --depth 1", "--depth does not go with --item"),
        ("show tree.csv --depth 101", "--depth is 101"),
        ("show tree.csv --depth -1", "--depth is -1"),
        ("make baskets.csv --out new.csv", "Neither of --fan-out and --co-occurrence"),
        ("make baskets.csv --fan-out 4 --co-occurrence 4 --out new.csv", "Both --fan-out and --co-occurrence"),
        ("make baskets.csv --fan-out 4 --min-support 2 --out new.csv", "--min-support goes only with"),
        ("make baskets.csv --fan-out 1 --out new.csv", "The fan-out is 1"),
        ("make baskets.csv --fan-out 0 --out new.csv", "The fan-out is 0"),
        ("make baskets.csv --co-occurrence 1 --min-support 2 --out new.csv", "The fan-out is 1"),
        ("make baskets.csv --co-occurrence 4 --out new.csv", "--co-occurrence needs --min-support"),
        ("make baskets.csv --co-occurrence 4 --min-support 0 --out new.csv", "The min_support is 0"),
        ("make baskets.csv --fan-out 4 --out new.dat", "does not say what form the tree has"),
        ("make baskets.csv --fan-out 4 --out tree.csv", "'tree.csv' exists already"),
        ("make baskets.csv --fan-out 4 --out baskets.csv --replace", "is an input of this run"),
        ("make baskets.csv --fan-out 4 --out none/new.csv", "does not exist"),
    ],
)
def test_what_cannot_be_meant(tree, capsys, line, message):
    (tree / "twice.csv").write_text("item,kind\nale,beer\nale,wine\n")
    before = {path.name: path.read_bytes() for path in tree.iterdir()}
    code, out, err = run(capsys, line)
    assert code == 2
    said = json.loads(out)["error"]
    assert message in f"{said['what']} {said['next_step']}"
    assert said["next_step"] in " ".join(err.split("\n"))
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


def test_show_on_a_terminal(tree, capsys, terminal):
    code, out, _ = run(capsys, "show tree.csv --depth 3")
    assert code == 0
    assert [line.rstrip() for line in out.splitlines()] == [
        "ALL  4 items",
        "├── drinks  2 items",
        "│   └── beer  2 items",
        "│       ├── ale",
        "│       └── rum",
        "└── food  2 items",
        "    ├── bun",
        "    └── fig",
        "4 items below 3 groups; up to 3 levels below the root.",
    ]
    code, out, _ = run(capsys, "show tree.csv --item ale")
    assert [line.rstrip() for line in out.splitlines()] == [
        "ALL  4 items",
        "└── drinks  2 items",
        "    └── beer  2 items",
        "        └── ale",
    ]


def test_a_strangers_names_do_not_steer_the_terminal(shop, capsys, terminal):
    (shop / "tree.json").write_text('{"[red]": ["\\u001b[2J", "b"]}')
    code, out, _ = run(capsys, "show tree.json")
    assert code == 0
    assert "[red]  2 items" in out
    assert "\\x1b[2J" in out
    assert "\x1b[2J" not in out


@pytest.mark.parametrize("out", ["new.csv", "new.tsv", "new.txt", "new.json", "new.csv.gz"])
def test_make(shop, capsys, out):
    data = vs.read("baskets.csv", sensitive=["cure"])
    found = facts(capsys, f"make baskets.csv --sensitive sensitive.txt --fan-out 2 --out {out}")
    assert vs.Taxonomy.read(out) == vs.Taxonomy.by_fan_out(data, 2)
    assert (found["written"], found["items"], found["nodes"], found["depth"]) == (out, 3, 5, 2)
    assert found["notes"] == ["The tree was made from the data: it names the items that occur there."]
    options = "--co-occurrence 2 --min-support 2 --replace --threads 1"
    found = facts(capsys, f"make baskets.csv --sensitive sensitive.txt {options} --out {out}")
    assert vs.Taxonomy.read(out) == vs.Taxonomy.by_co_occurrence(data, 2, min_support=2)
    assert "occur together" in found["notes"][1]


def test_make_edges(shop, capsys):
    facts(capsys, "make baskets.csv --fan-out 2 --kind edges --out new.csv")
    assert (shop / "new.csv").read_text().startswith("child,parent\n")
    assert vs.Taxonomy.read("new.csv") == vs.Taxonomy.by_fan_out(vs.read("baskets.csv"), 2)


def test_make_on_a_terminal(shop, capsys, terminal):
    code, out, _ = run(capsys, "make baskets.csv --co-occurrence 2 --min-support 1 --out new.csv")
    assert code == 0
    assert "Written: new.csv: 4 items below 2 groups; up to 2 levels below the root." in out
    assert "occur together" in out


def publish(capsys, arguments: str) -> tuple[int, dict]:
    promise = "--sensitive sensitive.txt --h 0.5 --k 2 --p 2 --method generalize"
    code = main(["publish", "baskets.csv", *shlex.split(f"{promise} --out release --replace --yes {arguments}")])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", FORMS)
def test_publish_takes_every_form(shop, capsys, name):
    (shop / name).write_text(FORMS[name])
    code, _ = publish(capsys, f"--taxonomy {name}")
    assert code == 0
    recipe = tomllib.loads((shop / "release/custodian/recipe.toml").read_text())
    assert recipe["method"]["options"]["taxonomy"] == {"ale": ["drinks"], "bun": ["food"], "fig": ["food"]}
    assert vs.verify(shop / "release").holds


def test_publish_with_columns_and_kind(shop, capsys):
    (shop / "wide.csv").write_text("id,label,top,note\n1,ale,drinks,x\n2,bun,food,y\n3,fig,,z\n")
    code, _ = publish(capsys, "--taxonomy wide.csv --taxonomy-columns label,top")
    assert code == 0
    recipe = tomllib.loads((shop / "release/custodian/recipe.toml").read_text())
    assert recipe["method"]["options"]["taxonomy"] == {"ale": ["drinks"], "bun": ["food"], "fig": []}
    (shop / "tree.dat").write_text(FORMS["tree.txt"])
    assert publish(capsys, "--taxonomy tree.dat --taxonomy-kind lines")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--taxonomy-columns a,b", "--taxonomy-columns goes only with --taxonomy"),
        ("--taxonomy-kind json", "--taxonomy-kind goes only with --taxonomy"),
        ("--taxonomy tree.txt --taxonomy-columns a,b", "has none"),
        ("--taxonomy tree.csv --taxonomy-columns a", "--taxonomy-columns is 'a'"),
    ],
)
def test_publish_options_that_do_not_go_together(shop, capsys, arguments, message):
    for name, text in FORMS.items():
        (shop / name).write_text(text)
    code, said = publish(capsys, arguments)
    assert code == 2
    assert message in said["error"]["what"]


@pytest.mark.parametrize("command", ["audit baskets.csv --k 2 --p 2", "mine baskets.csv --min-support 2"])
@pytest.mark.parametrize("option", ["--taxonomy-columns a,b", "--taxonomy-kind json"])
def test_no_command_ignores_how_a_taxonomy_is_read(shop, capsys, command, option):
    assert main(shlex.split(f"{command} {option}")) == 2
    assert f"{option.split()[0]} goes only with --taxonomy" in json.loads(capsys.readouterr().out)["error"]["what"]


def test_branches_of_a_tree_with_columns(shop, capsys):
    (shop / "wide.csv").write_text("id,label,top\n1,ale,drinks\n2,bun,food\n3,fig,food\n4,cure,pharmacy\n")
    branch = "--sensitive-items 'branch: pharmacy' --taxonomy wide.csv --taxonomy-columns label,top"
    assert main(shlex.split(f"publish baskets.csv {branch} --h 0.5 --k 2 --p 2 --out release --yes")) == 0
    recipe = tomllib.loads((shop / "release/custodian/recipe.toml").read_text())
    assert recipe["input"]["sensitive"] == ["cure"]


def test_sensitive_leaves_are_not_in_what_readers_are_told(shop, capsys):
    (shop / "tree.csv").write_text("item,shelf\nale,shop\nbun,food\nfig,food\ncure,food\njam,food\n")
    (shop / "keep.txt").write_text("fig\n")  # one person's, so it survives only as food
    code, _ = publish(capsys, "--taxonomy tree.csv --keep keep.txt")
    assert code == 0
    certificate = json.loads((shop / "release/public/certificate.json").read_text())
    assert certificate["generalized"] == {"food": ["bun", "fig", "jam"]}
