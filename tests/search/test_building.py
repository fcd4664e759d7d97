"""From sources to a store: windows, caps, rules that work backwards, and sources that fail."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

import pytest

from tests.support.browsers import chromium, firefox
from tests.support.errors import first_progress
from tests.support.mail import mbox, message
from veilset.errors import UnreadableInput
from veilset.limits import Limits
from veilset.search.building import build, preview
from veilset.search.exclusions import Exclusions
from veilset.search.rules import Rule
from veilset.search.sources.reading import read_source
from veilset.search.sources.source import Notes, Source
from veilset.search.store import Store
from veilset.search.weighing import Weighing

NOW = datetime.now(UTC).replace(microsecond=0)
PAGES = [(f"https://music.example.org/{n}", f"Jazz page {n}", NOW - timedelta(days=10 * n)) for n in range(12)]
PLAIN = Exclusions.of(defaults=())


@pytest.fixture
def store(tmp_path):
    with Store.create(tmp_path / "store" / "profile.db") as made:
        yield made


@pytest.fixture
def browsing(tmp_path):
    return Source("browsing", "firefox", firefox(tmp_path / "places.sqlite", PAGES))


def notes_folder(tmp_path, **texts):
    folder = tmp_path / "notes"
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text)
    return Source("notes", "folder", folder)


def test_time_window_and_cap_take_the_newest(tmp_path):
    path = firefox(tmp_path / "places.sqlite", PAGES)
    notes = Notes()
    source = Source("browsing", "firefox", path, days=65, most=3)
    found = read_source(source, PLAIN, notes, extractor=None)
    assert [one.key for one in found] == [address for address, _, _ in PAGES[:3]]
    assert notes.read == 3
    assert notes.left_out == {"older than the time window": 5, "beyond the newest 3": 4}


def test_progress_is_told(tmp_path, store):
    source = notes_folder(tmp_path, a="jazz")
    what, done, total = first_progress(lambda progress: build([source], PLAIN, store, Limits(progress=progress)))
    assert ("notes" in what, done, total) == (True, 0, 1)


def test_a_store_is_filled_and_brought_up_to_date(tmp_path, store, browsing):
    notes = notes_folder(tmp_path, a="cello", b="violin")
    built = build([browsing, notes], PLAIN, store, Limits())
    assert (built.changed, built.removed, built.excluded) == (14, 0, 0)
    assert store.sources() == {"browsing": 12, "notes": 2}
    (tmp_path / "notes" / "a.txt").unlink()
    again = build([notes], PLAIN, store, Limits())
    assert (again.changed, again.removed) == (0, 1)
    assert store.sources() == {"browsing": 12, "notes": 1}
    assert [(one["source"], one["read"]) for one in store.entries("read")] == [
        ("browsing", 12),
        ("notes", 2),
        ("notes", 1),
    ]


def test_a_preview_keeps_nothing_and_says_what_would_be_read(tmp_path, store, browsing):
    built = preview([browsing], PLAIN, store, Limits())
    assert [one.key for one in built.notes["browsing"].documents] == sorted(address for address, _, _ in PAGES)
    assert len(store) == 0
    assert store.entries("read") == []
    assert preview([browsing], PLAIN, None, Limits()).to_json()["sources"] == built.to_json()["sources"]


def test_a_source_that_fails_leaves_the_rest_and_what_it_had_alone(tmp_path, store, browsing):
    notes = notes_folder(tmp_path, a="cello")
    build([browsing, notes], PLAIN, store, Limits())
    browsing.path.write_bytes(b"SQLite format 3\0 and then nothing")
    (tmp_path / "notes" / "b.txt").write_text("violin")
    built = build([browsing, notes], PLAIN, store, Limits())
    assert isinstance(built.notes["browsing"].failed, UnreadableInput)
    assert store.sources() == {"browsing": 12, "notes": 2}
    assert [one["failed"] for one in store.entries("read")] == [False, False, True, False]


def test_rules_hold_for_what_is_stored_too(tmp_path, store, browsing):
    notes = notes_folder(tmp_path, a="cello", b="the divorce")
    build([browsing, notes], PLAIN, store, Limits())
    rules = Exclusions.of(words=["divorce"], sites=["music.example.org"], defaults=())
    built = build([notes], rules, store, Limits())
    assert built.notes["notes"].left_out == {"word divorce": 1}
    assert (built.removed, built.excluded) == (1, 12)
    assert store.sources() == {"notes": 1}
    assert b"divorce" not in (store.path.read_bytes())


def test_what_was_forgotten_does_not_come_back(tmp_path, store, browsing):
    build([browsing], PLAIN, store, Limits())
    store.forget(Rule.of("document", PAGES[0][0]))
    built = build([browsing], PLAIN, store, Limits())
    assert built.notes["browsing"].left_out == {"document that was forgotten": 1}
    assert len(store) == 11
    store.readmit(Rule.of("document", PAGES[0][0]))
    build([browsing], PLAIN, store, Limits())
    assert len(store) == 12


def test_the_name_of_a_forgotten_source_is_in_no_log(tmp_path, store, browsing):
    source = replace(notes_folder(tmp_path, a="cello"), name="folder /home/me/divorce", half_life=3)
    build([browsing, source], PLAIN, store, Limits())
    store.forget(Rule.of("folder", "notes"))
    assert [one["source"] for one in store.entries("read")] == ["browsing"]
    assert b"divorce" not in store.path.read_bytes()
    assert store.profile().total == 12


def test_correspondents_are_cut_out_of_all_sources_for_good(tmp_path, store):
    box = mbox(
        tmp_path / "box",
        [message("Jazz with Miller", sender="Ann Miller <ann@example.org>", to="", number=n) for n in range(6)],
    )
    mail = Source("mail", "mbox", box)
    build([mail, notes_folder(tmp_path, a="Lunch with MILLER about jazz")], Exclusions(), store, Limits())
    assert not [one for one in store.documents() if "miller" in f"{one.title} {one.text}".lower()]
    build([notes_folder(tmp_path, b="miller again, jazz")], Exclusions(), store, Limits())
    assert not [one for one in store.documents() if "miller" in f"{one.title} {one.text}".lower()]
    assert store.profile(min_support=5).root.children[0].label == ("rehearsal", "jazz")


def test_people_are_cut_out_of_what_is_stored_when_that_is_asked_for_later(tmp_path, store):
    build([notes_folder(tmp_path, a="Lunch with Robert Brown")], PLAIN, store, Limits())
    other = Source("history", "chromium", chromium(tmp_path / "History", PAGES))
    build([other], Exclusions.of(people=["lunch"]), store, Limits())
    assert [one.text for one in store.documents() if one.source == "notes"] == [" with "]
    assert b"Brown" not in store.path.read_bytes()


def test_weights_and_ages_reach_the_profile(tmp_path, store):
    path = firefox(tmp_path / "places.sqlite", PAGES)
    source = Source("browsing", "firefox", path, weight=Fraction(3), half_life=30)
    build([source], PLAIN, store, Limits())
    expected = sum(Fraction(3) / 2 ** (10 * n // 30) for n in range(12))
    assert store.profile().total == expected
    assert Weighing.of_setting(store.get("weighing")).today == date.today()
    notes = notes_folder(tmp_path, a="cello")
    build([notes], PLAIN, store, Limits())
    assert store.profile().total == expected + 1
