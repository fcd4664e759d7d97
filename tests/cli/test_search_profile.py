"""``veilset search profile``: build, show and forget, as a user types them."""

import importlib

import pytest

from tests.support.browsers import LATELY, firefox
from tests.support.papers import pdf
from tests.support.typing_commands import piped, typed
from veilset.search import sealed
from veilset.search.store import Store


@pytest.fixture(autouse=True)
def at_home(tmp_path, monkeypatch):
    """A home of its own, and cheap keys."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr(sealed, "_USUAL", (4, 8, 1))


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(6):
        (folder / f"music{number}.txt").write_text("jazz and cello")
        (folder / f"sport{number}.txt").write_text("football")
    (folder / "sealed.pdf").write_bytes(pdf("x", locked="hidden"))
    return folder


def test_a_profile_is_built_shown_and_shrunk(tmp_path, notes, capsys):
    places = firefox(
        tmp_path / "places.sqlite", [("https://paypal.com/", "Pay", LATELY), ("https://a.example/", "Jazz", LATELY)]
    )
    dry = piped("search profile build", capsys, f"--folder {notes} --firefox {places} --dry-run")
    assert not (tmp_path / "data").exists()
    assert dry["sources"][f"firefox {places}"]["left_out"] == {"banking: site paypal.com": 1}
    assert [one["key"] for one in dry["sources"][f"firefox {places}"]["documents"]] == ["https://a.example/"]
    assert len(dry["sources"][f"folder {notes}"]["documents"]) == 12

    built = piped("search profile build", capsys, f"--folder {notes} --firefox {places}")
    assert (built["documents"], built["changed"]) == (13, 13)
    assert built["written"] == str(tmp_path / "data" / "veilset" / "search.db")
    ((passed),) = built["sources"][f"folder {notes}"]["passed_over"]
    assert "encrypted" in passed["why"]

    shown = piped("search profile show", capsys, "")
    assert shown["documents"] == 13
    why = piped("search profile show", capsys, "--why football")
    assert {one["title"] for one in why["documents"]} == {f"sport{number}" for number in range(6)}

    would = piped("search profile forget", capsys, "--word football --dry-run")
    assert (would["removed"], len(would["forgotten"][0]["documents"])) == (False, 6)
    assert "football" in would["forgotten"][0]["gone"]
    assert typed("search profile forget", capsys, "--word football")[0] == 2
    done = piped("search profile forget", capsys, "--word football --yes")
    assert done["removed"]
    assert piped("search profile show", capsys, "")["documents"] == 7
    assert piped("search profile build", capsys, f"--folder {notes}")["documents"] == 7
    assert piped("search profile forget", capsys, "--word football --readmit") == {
        "readmitted": {"word football": True}
    }
    assert piped("search profile build", capsys, f"--folder {notes}")["documents"] == 13


def test_it_is_told_in_words(tmp_path, notes, capsys):
    for line in (
        f"build --folder {notes} --dry-run",
        f"build --folder {notes} --exclude-word football --days 900 --half-life 90 --min-support 3",
        "show",
        "show --why jazz",
        "forget --site '*example*' --word cello --yes",
        "forget --word violin --readmit",
    ):
        code, out, err = typed("search profile", capsys, f"{line} --text")
        assert (code, err) == (0, "")
        assert "Traceback" not in out
    assert "violin" in out
    code, out, _ = typed("search profile show", capsys, "--text")
    assert (code, "0 documents" in out) == (0, True)


def test_a_sources_file(tmp_path, notes, capsys):
    file = tmp_path / "sources.toml"
    file.write_text(
        '[sources.notes]\nkind = "folder"\npath = "notes"\n[exclude]\nwords = ["football"]\n[profile]\nmin_support = 6'
    )
    built = piped("search profile build", capsys, f"{file} --store {tmp_path / 'own.db'}")
    assert built["sources"]["notes"]["left_out"] == {"word football": 6}
    assert (built["documents"], built["profile"]["min_support"]) == (6, 6)
    assert built["profile"]["interests"] == 1
    with Store.open(tmp_path / "own.db") as store:
        assert store.profile().min_support == 6


def test_a_passphrase_from_a_file_or_the_terminal(tmp_path, notes, capsys, monkeypatch):
    secret = tmp_path / "secret"
    secret.write_text("open sesame\n")
    piped("search profile build", capsys, f"--folder {notes} --passphrase-file {secret}")
    assert piped("search profile show", capsys, f"--passphrase-file {secret}")["documents"] == 12
    assert b"jazz" not in (tmp_path / "data" / "veilset" / "search.db").read_bytes()
    assert typed("search profile show", capsys, "")[0] == 2
    search_module = importlib.import_module("veilset.cli.search")
    monkeypatch.setattr(search_module.sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(search_module, "getpass", lambda prompt: "open sesame")
    assert piped("search profile show", capsys, "")["documents"] == 12
    secret.write_text("\n")
    assert typed("search profile show", capsys, f"--passphrase-file {secret}")[0] == 2
    assert typed("search profile show", capsys, f"--passphrase-file {tmp_path / 'none'}")[0] == 2


@pytest.mark.parametrize(("second", "code"), [("open sesame", 0), ("open barley", 2)])
def test_a_new_passphrase_is_asked_for_twice(tmp_path, notes, capsys, monkeypatch, second, code):
    answers = iter(["open sesame", second])
    monkeypatch.setattr(
        importlib.import_module("veilset.cli.search_profile"), "asked_passphrase", lambda prompt: next(answers)
    )
    assert typed("search profile build", capsys, f"--folder {notes} --passphrase")[0] == code
    assert (tmp_path / "data" / "veilset" / "search.db").exists() is (code == 0)
    if code == 0:
        assert typed("search profile build", capsys, f"--folder {notes} --passphrase")[0] == 2


def test_one_source_that_fails_does_not_stop_the_others(tmp_path, notes, capsys):
    built = piped("search profile build", capsys, f"--folder {notes} --mbox {tmp_path / 'none'}")
    assert "none" in built["sources"][f"mbox {tmp_path / 'none'}"]["failed"]
    assert built["documents"] == 12
    assert typed("search profile build", capsys, f"--mbox {tmp_path / 'none'} --text")[0] == 2


def test_without_a_source_it_says_what_there_is(tmp_path, capsys):
    assert typed("search profile build", capsys, "--text")[0] == 2
    profile = tmp_path / "home" / ".mozilla" / "firefox" / "x1.default"
    profile.mkdir(parents=True)
    places = firefox(profile / "places.sqlite", [])
    code, _, err = typed("search profile build", capsys, "--text")
    assert code == 2
    assert str(places) in err


@pytest.mark.parametrize(
    "line", ["build --folder x --days 0", "build --folder x --exclude-site '*'", "show", "forget", "forget --word x"]
)
def test_what_cannot_be_done_ends_with_2(capsys, line):
    code, out, err = typed("search profile", capsys, f"{line} --text")
    assert (code, out) == (2, "")
    assert "Traceback" not in err


def test_what_is_not_there_is_said(tmp_path, notes, capsys):
    """No term, no document, no terminal: nothing looks as if it had been done."""
    secret = typed("search profile build", capsys, f"--folder {notes} --passphrase")
    assert (secret[0], "--passphrase-file" in secret[2]) == (2, True)
    assert typed("search profile build", capsys, f"--folder {tmp_path / 'none'}")[0] == 2
    assert not (tmp_path / "data" / "veilset" / "search.db").exists()  # nothing is left of a first build that failed
    piped("search profile build", capsys, f"--folder {notes}")
    code, out, _ = typed("search profile show", capsys, "--why zebra --text")
    assert (code, "zebra is not in the profile" in out) == (0, True)
    assert not piped("search profile show", capsys, "--why zebra")["in_profile"]
    code, _, err = typed("search profile forget", capsys, "--source none --yes")
    assert (code, f"folder {notes}" in err) == (2, True)
    code, out, _ = typed("search profile forget", capsys, "--word zebra --yes --text")
    assert (code, "No document was there to remove" in out, "Removed from" in out) == (0, True, False)


def test_a_tree_is_printed_down_to_a_level(tmp_path, capsys):
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(24):
        words = "alpha beta gamma delta epsilon zeta eta" + (" cello" if number % 3 else " football")
        (folder / f"text{number}.txt").write_text(words)
    _, built, _ = typed("search profile build", capsys, f"--folder {folder} --text")
    assert "and 3 more words" in built
    _, whole, _ = typed("search profile show", capsys, "--text")
    assert all(word in whole for word in words.split())
    assert "football" in whole
    _, top, _ = typed("search profile show", capsys, "--text --depth 1")
    assert ("football" in top, "… 1 within" in top or "… 2 within" in top) == (False, True)
    assert typed("search profile show", capsys, "--depth 0")[0] == 2
