"""The language of sensitive lists: what an entry takes, what is refused, and that a release replays it exactly."""

import fnmatch
import json
import re
import shlex
import string

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import veilset as vs
from tests.support.errors import names, refused
from tests.support.places import DOCS
from veilset import InvalidArgument, Taxonomy, Transactions, UnreadableInput, matching_items
from veilset.cli import main
from veilset.publish import Recipe
from veilset.transactions import list_line, mark_sensitive, parse_entries, read_entries

PAGE = DOCS / "sensitive.md"
NAMES = ["insulin", "insulin pump", "Aspirin", "a*", "ab", "glob: a*", "#5", "milk", "7", "x[1]"]
DATA = Transactions.from_lists([NAMES, ["milk"]])
TREE = Taxonomy.from_paths(
    {"insulin": ["diabetes", "pharmacy"], "Aspirin": ["pain", "pharmacy"], "morphine": ["pain", "pharmacy"]}
    | {"milk": ["dairy", "food"], "soap": ["care", "household"]}
)


# What an entry takes


@pytest.mark.parametrize(
    ("entry", "taken"),
    [
        ("insulin", ["insulin"]),
        ("  insulin\t", ["insulin"]),
        ("a*", ["a*"]),
        ("name: a*", ["a*"]),
        ("name:a*", ["a*"]),
        ("name: glob: a*", ["glob: a*"]),
        ("#5", ["#5"]),
        ("x[1]", ["x[1]"]),
        ("glob: insulin*", ["insulin", "insulin pump"]),
        ("glob:insulin ?*", ["insulin pump"]),
        ("glob: [0-9]", ["7"]),
        ("glob: [!A-Za-z#]", ["7"]),
        ("glob: a[*]", ["a*"]),
        ("glob: x[[]1]", ["x[1]"]),
        ("glob: ??", ["#5", "a*", "ab"]),
        ("glob: *", sorted(NAMES)),
        ("branch: pharmacy", ["Aspirin", "insulin"]),
        ("branch: diabetes", ["insulin"]),
        ("branch: milk", ["milk"]),
    ],
)
def test_what_an_entry_takes(entry, taken):
    tree = TREE if entry.startswith("branch:") else None
    assert matching_items(DATA, [entry], taxonomy=tree) == tuple(taken)


def test_entries_are_united():
    assert matching_items(DATA, ["milk", "glob: ins*", "insulin", "milk"]) == ("insulin", "insulin pump", "milk")
    assert matching_items(DATA, []) == ()


TEXT = st.text(alphabet="ab*?[]!-", min_size=1, max_size=5)


@given(st.lists(TEXT, min_size=1, max_size=8, unique=True), TEXT)
def test_globs_are_those_of_the_shell(names, pattern):
    data = Transactions.from_lists([names])
    expected = tuple(name for name in data.names if fnmatch.fnmatchcase(name, pattern))
    try:
        assert matching_items(data, [f"glob: {pattern}"]) == expected != ()
    except InvalidArgument as error:
        closed = "unclosed" not in str(error)
        assert not closed or expected == ()
        assert closed or "[" in pattern


@pytest.mark.parametrize("pattern", ["[", "[]", "[!]", "[]a", "[!]a", "[a", "x[y]z[", "[a]["])
def test_open_brackets(pattern):
    with refused(InvalidArgument, "'['"):
        parse_entries([f"glob: {pattern}"])


@pytest.mark.parametrize("pattern", ["]", "[]]", "[!]]", "[[]", "[]a]", "a]", "[!a]", "[a][b]"])
def test_closed_brackets(pattern):
    assert parse_entries([f"glob: {pattern}"])[0].text == pattern


@given(st.lists(st.text(alphabet="ab#:* \tglobnamech", min_size=1, max_size=8), min_size=1, max_size=6, unique=True))
def test_every_name_that_can_stand_on_a_line_does(names):
    names = [name for name in names if name == name.strip(" \t")]
    data = Transactions.from_lists([names, list(string.ascii_lowercase)])
    for name in names:
        assert matching_items(data, [list_line(name)]) == (name,)


@pytest.mark.parametrize("name", [" a", "a\t", "a\nb", "a\rb"])
def test_names_that_no_line_can_hold(name):
    with refused(InvalidArgument, "with_sensitive"):
        list_line(name)


def test_lines_of_a_file(tmp_path):
    path = tmp_path / "list.txt"
    path.write_bytes("\ufeff# diabetes\r\n\r\n glob: insulin*\r#\n#5\n#\tand so on\nmilk".encode())
    entries = read_entries(path)
    assert [(entry.kind, entry.text) for entry in entries] == [
        ("comment", "diabetes"), ("glob", "insulin*"), ("comment", ""), ("name", "#5"), ("comment", "and so on"),
        ("name", "milk"),
    ]  # fmt: skip
    assert [entry.place.rpartition(" ")[2] for entry in entries] == ["1", "3", "4", "5", "6", "7"]
    assert mark_sensitive(DATA, entries).sensitive == ("#5", "insulin", "insulin pump", "milk")


def test_another_encoding(tmp_path):
    (tmp_path / "list.txt").write_text("glob: t*e\n# für später\n", "utf-16")
    assert [entry.text for entry in read_entries(tmp_path / "list.txt", "utf-16")] == ["t*e", "für später"]


# Marking


def test_with_sensitive_marks_these_and_no_others():
    data = DATA.with_sensitive(["milk"])
    assert (data.sensitive, DATA.sensitive) == (("milk",), ())
    assert data.with_sensitive(iter(["ab", "ab"])).sensitive == ("ab",)
    assert data.with_sensitive([]) == DATA
    assert data.to_lists() == DATA.to_lists()
    with refused(InvalidArgument, "'mild'", "'milk'"):
        data.with_sensitive(["mild"])
    with refused(InvalidArgument, "'milk'", "list"):
        data.with_sensitive("milk")


def test_marking_keeps_what_is_marked_and_notes_what_was_taken(tmp_path, snapshot):
    DATA.write(tmp_path / "data.csv")
    data = vs.read(tmp_path / "data.csv", sensitive=["ab"])
    marked = mark_sensitive(
        data, parse_entries(["glob: insulin*", "milk", "branch: pharmacy", "branch: diabetes"]), TREE
    )
    assert marked.sensitive == ("Aspirin", "ab", "insulin", "insulin pump", "milk")
    assert marked.source.notes == snapshot
    assert data.source.notes == ()
    assert mark_sensitive(DATA, parse_entries(["milk"])).source is None


def test_a_note_names_eight(tmp_path):
    Transactions.from_lists([range(10, 40)]).write(tmp_path / "data.dat")
    data = mark_sensitive(vs.read(tmp_path / "data.dat"), parse_entries(["glob: [12]?"]))
    listed = ", ".join(repr(str(i)) for i in range(10, 18))
    assert data.source.notes == (f"'glob: [12]?' matched 20 items: {listed}, ….",)


# What is refused: every line of the table in docs/sensitive.md


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("insulim", ("'insulim'", "'insulin'")),
        ("zebra", ("'zebra'",)),
        ("name: milk*", ("'milk*'", "'glob: milk*'")),
        ("insulin*", ("'insulin*'", "'glob: insulin*'")),
        ("#diabetes", ("'#diabetes'", "comment")),
        ("Glob: i*", ("'Glob: i*'", "'glob: i*'")),
        ("glob: insuline*", ("'glob: insuline*'", "'insulin'")),
        ("glob: zebra*", ("'glob: zebra*'",)),
        ("glob: aspirin*", ("'glob: aspirin*'", "'Aspirin'")),
        ("glob: [0-9", ("'glob: [0-9'", "'['", "[0-9]")),
        ("glob:", ("'glob:'", "'name: glob:'")),
        ("branch:", ("'branch:'",)),
        ("name:", ("'name:'", "'name: name:'")),
        ("glob: a*", ("'glob: a*'", "'name: glob: a*'")),
        ("branch: pharmacy", ("'branch: pharmacy'", "taxonomy")),
    ],
)
def test_bad_lines_are_named_with_file_and_line(tmp_path, line, named, snapshot):
    path = tmp_path / "list.txt"
    path.write_text(f"# one line before\nmilk\n{line}\n")
    with refused(InvalidArgument, repr(str(path)), "line 3", *named, said=snapshot):
        mark_sensitive(DATA, read_entries(path))


def test_every_line_of_the_table_on_the_page(tmp_path):
    section = PAGE.read_text().partition("## Entries that are refused")[2].partition("\n## ")[0]
    table = re.findall(r'^\| `(.+)` \| "(.+)" \|$', section, re.MULTILINE)
    assert len(table) >= 12
    data = Transactions.from_lists(
        [["insulin", "milk"], ["insulin pump", "bread"], ["Aspirin", "milk"], ["a*", "glob: x"], ["# 5"]]
    )
    for line, answer in table:
        (tmp_path / "list.txt").write_text(f"milk\n{line}\n")
        with pytest.raises(InvalidArgument) as error:
            mark_sensitive(data, read_entries(tmp_path / "list.txt"), TREE if line.startswith("branch:") else None)
        assert f"list.txt', line 2: {answer}" in str(error.value)


@pytest.mark.parametrize(
    ("entry", "named"), [("branch: pharmcy", ("'pharmcy'", "'pharmacy'")), ("branch: household", ("'household'",))]
)
def test_bad_branches(entry, named, snapshot):
    with refused(InvalidArgument, "entry 2", *named, said=snapshot):
        matching_items(DATA, ["milk", entry], taxonomy=TREE)


def test_all_unknown_names_are_counted():
    with refused(InvalidArgument, "entry 1", "'q'", "2 listed names"):
        matching_items(DATA, ["q", "milk", "r"])


def test_a_comment_that_is_an_item():
    data = Transactions.from_lists([["# 5", "milk"]])
    with refused(InvalidArgument, "entry 1", "'# 5'"):
        matching_items(data, ["# 5"])
    assert matching_items(data, ["name: # 5"]) == ("# 5",)


def test_a_taxonomy_without_branches():
    with refused(InvalidArgument, "'branch:'"):
        matching_items(DATA, ["milk"], taxonomy=TREE)


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("", ("list.txt'", "empty")),
        ("\n \n", ("list.txt'", "sensitive")),
        ("# nothing yet\n", ("list.txt'", "sensitive")),
    ],
)
def test_a_list_of_nothing(tmp_path, content, named, snapshot):
    (tmp_path / "list.txt").write_text(content)
    with refused(UnreadableInput, *named, said=snapshot):
        read_entries(tmp_path / "list.txt")


@pytest.mark.parametrize(
    ("entries", "named"),
    [
        ([" "], ("entry 1", "blank")),
        ([""], ("entries", "empty")),
        ("milk", ("entries", "'milk'")),
        ([None], ("entries", "None")),
    ],
)
def test_bad_entries_in_python(entries, named, snapshot):
    with refused(InvalidArgument, *named, said=snapshot):
        matching_items(DATA, entries)


# On the command line, and in recipes


@pytest.fixture
def pharmacy(tmp_path, monkeypatch):
    """A folder with data, a list and a taxonomy."""
    monkeypatch.chdir(tmp_path)
    rows = [["milk", "bread"]] * 20 + [["milk", "insulin"], ["milk", "insulin pump"]]
    Transactions.from_lists(rows).write("data.csv")
    (tmp_path / "list.txt").write_text("# diabetes\nglob: insulin*\n")
    (tmp_path / "tree.csv").write_text(
        "item,shelf\nmilk,food\nbread,food\ninsulin,pharmacy\ninsulin pump,pharmacy\naspirin,pharmacy\n"
    )
    return tmp_path


PROMISE = "--k 2 --p 1 --h 0.5"
NOTES = {
    "--sensitive list.txt": "'glob: insulin*' matched 2 items",
    "--sensitive-items 'glob: insulin*'": "'glob: insulin*' matched 2 items",
    "--sensitive-items insulin --sensitive-items 'insulin pump'": "2 of them sensitive",
    "--sensitive-items 'branch: pharmacy' --taxonomy tree.csv": "matched 2 of the 3 items below it",
}


@pytest.mark.parametrize("given_as", NOTES)
def test_every_way_marks_the_same(pharmacy, terminal, capsys, given_as):
    assert main(["publish", "data.csv", *shlex.split(f"{given_as} {PROMISE} --out out")]) == 0
    assert NOTES[given_as] in " ".join(capsys.readouterr().out.split())
    recipe = Recipe.load(pharmacy / "out" / "custodian" / "recipe.toml")
    assert recipe.input.sensitive == ("insulin", "insulin pump")
    assert (recipe.input.sensitive_items, recipe.input.sensitive_files, recipe.input.taxonomy) == ((), (), None)


def test_a_replay_does_not_look_at_the_lists_again(pharmacy, capsys):
    ask = f"--sensitive list.txt --sensitive-items 'branch: pharmacy' --taxonomy tree.csv {PROMISE} --out out"
    assert main(["publish", "data.csv", *shlex.split(ask)]) == 0
    (pharmacy / "list.txt").unlink()
    (pharmacy / "tree.csv").unlink()
    assert main(["publish", "out/custodian/recipe.toml", "--out", "again"]) == 0, capsys.readouterr().err
    for name in ("data.csv", "certificate.json"):
        assert (pharmacy / "out/public" / name).read_bytes() == (pharmacy / "again/public" / name).read_bytes()


def test_a_recipe_takes_entries_relative_to_its_folder(pharmacy, monkeypatch, tmp_path_factory):
    (pharmacy / "run.toml").write_text(
        '[input]\npath = "data.csv"\nsensitive = ["bread"]\nsensitive_items = ["branch: pharmacy"]\n'
        'sensitive_files = ["list.txt"]\ntaxonomy = "tree.csv"\n[promise]\nk = 2\np = 1\nh = 0.5\n'
    )
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    data = Recipe.load(pharmacy / "run.toml").read_data()
    assert data.sensitive == ("bread", "insulin", "insulin pump")


def test_names_in_a_recipe_are_exact(pharmacy):
    Transactions.from_lists([["glob: x", "x"]]).write("data.csv")
    (pharmacy / "run.toml").write_text(
        '[input]\npath = "data.csv"\nsensitive = ["glob: x"]\n[promise]\nk = 1\np = 1\nh = 1\n'
    )
    assert Recipe.load(pharmacy / "run.toml").read_data().sensitive == ("glob: x",)


def test_one_tree_for_branches_and_for_generalize(pharmacy, capsys):
    ask = f"--sensitive-items 'branch: pharmacy' --taxonomy tree.csv --method generalize {PROMISE} --out out"
    assert main(["publish", "data.csv", *shlex.split(ask)]) == 0, capsys.readouterr().err
    found = json.loads(capsys.readouterr().out)
    assert (found["method"], found["sensitive"]) == ("generalize", 2)


@pytest.mark.parametrize(
    ("ask", "named"),
    [
        ("audit data.csv --taxonomy tree.csv", ("taxonomy", "tree.csv")),
        ("audit data.csv --sensitive-items 'branch: pharmacy'", ("'branch: pharmacy'", "taxonomy")),
        ("audit data.csv --sensitive-items 'glob: insulim*'", ("'glob: insulim*'",)),
        ("audit data.csv --sensitive-items 'branch: x' --taxonomy none.csv", ("'none.csv'",)),
        ("audit data.csv --sensitive insulin", ("--sensitive-items 'insulin'",)),
        ("publish data.csv --taxonomy tree.csv --out out", ("'auto'", "taxonomy")),
    ],
)
def test_bad_commands(pharmacy, capsys, ask, named, snapshot):
    assert main([*shlex.split(ask), *PROMISE.split()]) == 2
    told = capsys.readouterr().err
    assert all(names(told, value) for value in named)
    assert told == snapshot
    assert not (pharmacy / "out").exists()


def test_mining_does_not_write_over_the_taxonomy(pharmacy, capsys):
    ask = "mine data.csv --min-support 1 --sensitive-items 'branch: food' --taxonomy tree.csv --out tree.csv --replace"
    before = (pharmacy / "tree.csv").read_bytes()
    assert main(shlex.split(ask)) == 2
    assert "tree.csv" in capsys.readouterr().err
    assert (pharmacy / "tree.csv").read_bytes() == before


def test_the_commands_on_the_page_run(tmp_path, monkeypatch, terminal, capsys):
    """The page shows what suggest shows, and the note that audit gives."""
    text = PAGE.read_text()
    audits = re.findall(r"^\$ veilset (audit .*)$", text, re.MULTILINE)
    generate, suggest = re.findall(r"^\$ veilset ((?:generate|sensitive) .*)$", text, re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(generate)) == 0
    capsys.readouterr()
    assert main(shlex.split(suggest)) == 0
    shown = "\n".join(line.rstrip() for line in capsys.readouterr().out.splitlines())
    block = re.search(r"```text\n(Items that reveal.*?)```", text, re.DOTALL)
    assert block is not None
    assert block[1].strip() in shown
    assert len(audits) == 2
    notes = re.findall(r"```text\n(note: .*)\n```", text)
    assert len(notes) == 1
    said = ""
    for command in audits:
        assert main(shlex.split(command)) == 1  # it does not hold, but it was read
        said += " ".join(capsys.readouterr().out.split())
    assert notes[0] in said


# The same in Python

FRAME = pa.table({"items": [[*NAMES, " B20.3"], ["b20.5", "milk"]]})


@pytest.mark.parametrize("way", ["read", "from_lists", "with_sensitive"])
@pytest.mark.parametrize(
    ("sensitive", "taken"),
    [
        (["glob: insulin*"], ("insulin", "insulin pump")),
        (["glob: insulin*", "milk"], ("insulin", "insulin pump", "milk")),
        (["name: glob: a*"], ("glob: a*",)),
        (["name: milk"], ("milk",)),
        (["a*", "#5", 7, " B20.3"], (" B20.3", "#5", "7", "a*")),
        (["branch: pharmacy", "ab"], ("Aspirin", "ab", "insulin")),
        ([], ()),
    ],
)
def test_entries_in_python(way, sensitive, taken, tmp_path):
    """A text that begins with no word is a name to the letter, blanks and number signs included."""
    rows = FRAME.column("items").to_pylist()
    tree = {"taxonomy": TREE} if "branch: pharmacy" in sensitive else {}
    if way == "read":
        data = vs.read(FRAME, sensitive=sensitive, **tree)
    elif way == "from_lists" and not tree:
        data = Transactions.from_lists(rows, sensitive=sensitive)
    else:
        data = Transactions.from_lists(rows, sensitive=["milk"]).with_sensitive(sensitive, **tree)
    assert data.sensitive == taken
    TREE.write(tmp_path / "tree.csv")
    if tree:
        assert vs.read(FRAME, sensitive=sensitive, taxonomy=tmp_path / "tree.csv").sensitive == taken


@pytest.mark.parametrize("keep", [lambda data: data, lambda data: data.without(["milk"]).take(range(2))])
def test_patterns_given_in_python_find_twins(keep):
    rows = [["B20.3", "milk"], ["b20.5"], [" B20.7"]]
    for data in (
        vs.read(pa.table({"items": rows}), sensitive=["glob: B20*"]),
        Transactions.from_lists(rows, sensitive=["glob: B20*"]),
        Transactions.from_lists(rows).with_sensitive(["glob: B20*"]),
    ):
        assert {twin.resembles for twin in keep(data).twins} == {"glob: B20*"}
        assert "b20.5" in {twin.item for twin in keep(data).twins}
        assert not data.with_sensitive([]).twins
        assert not data.anonymous().sought
    assert vs.read(pa.table({"items": rows}), sensitive=["glob: b20*"], normalize="strip,case").public == ("milk",)


@pytest.mark.parametrize(
    ("sensitive", "values"),
    [
        (["glob: morphin*"], ("'glob: morphin*'",)),
        (["glob: [a"], ("'glob: [a'",)),
        (["glob:"], ("'glob:'",)),
        (["glob: a*"], ("'glob: a*'", "'name: glob: a*'")),  # the pattern, or the item of this name?
        (["branch: pharmacy"], ("'branch: pharmacy'", "taxonomy")),
        (["name: morphine"], ("'morphine'",)),
        (["insulim"], ("'insulim'", "'insulin'")),
        (["milk", 2.5], (2.5,)),
    ],
)
def test_entries_that_are_refused_in_python(sensitive, values):
    for use in (DATA.with_sensitive, lambda wrong: vs.read(FRAME, sensitive=wrong)):
        with refused(InvalidArgument, *values):
            use(sensitive)


def test_a_name_that_can_only_be_a_name():
    """What was found is sensitive again, although an item is called like a pattern that takes nothing."""
    data = Transactions.from_lists([["glob: zz*", "name: y", "milk"]])
    marked = data.with_sensitive(["name: glob: zz*", "name: name: y"])
    assert data.with_sensitive(marked.sensitive).sensitive == ("glob: zz*", "name: y")


def test_a_release_of_patterns_given_in_python_repeats_itself(tmp_path):
    (tmp_path / "baskets.csv").write_text("insulin,milk\ninsulin pump,milk\nmilk\nmilk\nb,milk\nb\n")
    data = vs.read(tmp_path / "baskets.csv", sensitive=["glob: insulin*"])
    assert any("glob: insulin*" in note for note in data.source.notes)
    vs.publish(vs.anonymize(data, vs.Coherence(h=0.5, k=2, p=2)), tmp_path / "release")
    recipe = Recipe.load(tmp_path / "release/custodian/recipe.toml")
    assert recipe.input.sensitive == ("insulin", "insulin pump")
    assert (
        main(["publish", str(tmp_path / "release/custodian/recipe.toml"), "--out", str(tmp_path / "again"), "--yes"])
        == 0
    )


def test_a_file_with_a_list_in_python(tmp_path, monkeypatch, snapshot):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "list.txt"
    path.write_text("# heart\nglob: insulin*\nmilk\n")
    table = pa.table({"items": [NAMES, ["milk"]]})
    for given_as in (path, str(path), "list.txt"):
        assert vs.read(table, sensitive=given_as).sensitive == ("insulin", "insulin pump", "milk")
        assert DATA.with_sensitive(given_as).sensitive == ("insulin", "insulin pump", "milk")
        assert Transactions.from_lists([NAMES], sensitive=given_as).sensitive == ("insulin", "insulin pump", "milk")
    path.write_text("milk\nMilk\n")
    with refused(InvalidArgument, str(path), "line 2", "'Milk'"):
        vs.read(table, sensitive=path)
    with refused(UnreadableInput, "nowhere.txt"):
        vs.read(table, sensitive=tmp_path / "nowhere.txt")
    with refused(InvalidArgument, "file"):
        vs.read(table, sensitive="x" * 9000)
    with refused(InvalidArgument, "'nowhere.txt'", "['nowhere.txt']", "file") as caught:
        vs.read(table, sensitive="nowhere.txt")
    assert str(caught.value) == snapshot


@pytest.mark.parametrize("sensitive", [["glob: E1*"], ["E10 ", "name: e11"], "list.txt"])
def test_what_is_sensitive_later_is_normalized_as_what_was_read(sensitive, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "list.txt").write_text("glob: E1*\n")
    table = pa.table({"items": [["E10", "e11 "], ["E20"], ["e10"]]})
    at_once = vs.read(table, sensitive=sensitive, normalize="strip,case")
    assert at_once.sensitive == ("e10", "e11")
    later = vs.read(table, normalize="strip,case").with_sensitive(sensitive)
    assert (later, later.twins) == (at_once, at_once.twins)
    coarser = later.renamed({"e20": "Eyes"}).with_sensitive(["Eyes"])
    assert coarser.sensitive == ("Eyes",), "A name that occurs is this name."
