"""One file with documents, profile, settings and logs; nothing that was forgotten is left in it."""

import sqlite3
import stat
import threading
from dataclasses import replace
from datetime import UTC, date, datetime
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.errors import refused
from veilset.errors import CannotWrite, InvalidArgument, UnreadableInput
from veilset.search import sealed
from veilset.search.documents import Document
from veilset.search.forgetting import supports_of
from veilset.search.profile import Profile
from veilset.search.rules import Rule
from veilset.search.store import Store
from veilset.search.weighing import SourceWeight, Weighing

PASSPHRASE = "correct horse battery"  # noqa: S105
WORDS = {"cello": 9, "violin": 7, "jazz": 12, "orchestra": 6, "football": 8, "harpsichord": 1}


@pytest.fixture(autouse=True)
def cheap_keys(monkeypatch):
    """The usual costs are to slow down who tries passphrases; tests need not pay them."""
    monkeypatch.setattr(sealed, "_USUAL", (4, 8, 1))


@pytest.fixture(params=[None, PASSPHRASE], ids=["plain", "sealed"])
def passphrase(request):
    return request.param


def some_documents(source: str = "notes") -> list[Document]:
    """Each word in so many documents; a document about football is of another site."""
    found = []
    for position in range(12):
        said = " ".join(word for word, count in WORDS.items() if position < count)
        site = "ball.example.org" if position >= 10 else "music.example.org"
        when = datetime(2024, 1, 1 + position, tzinfo=UTC)
        found.append(Document(f"https://{site}/{position}", source, f"Title {position}", said, site, when))
    return found


@pytest.fixture
def store(tmp_path, passphrase):
    with Store.create(tmp_path / "profile.db", passphrase=passphrase) as made:
        made.put(some_documents())
        yield made


def everything_under(folder) -> bytes:
    return b"\n".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def test_what_is_put_is_there_when_it_is_opened_again(tmp_path, passphrase):
    path = tmp_path / "new" / "profile.db"
    with Store.create(path, passphrase=passphrase) as store:
        assert store.put(some_documents()) == 12
        assert store.put(some_documents()) == 0
        store.set("dial", {"ratio": "0.5"})
        store.append("sent", {"query": "jazz"})
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    with Store.open(path, passphrase=passphrase) as store:
        assert sorted(store.documents(), key=lambda one: one.when) == some_documents()
        assert len(store) == 12
        assert store.sources() == {"notes": 12}
        assert store.get("dial") == {"ratio": "0.5"}
        assert store.get("alpha", "0.1") == "0.1"
        (entry,) = store.entries("sent")
        assert entry["query"] == "jazz"
        assert datetime.fromisoformat(entry["at"]).tzinfo is not None
        assert store.to_json()["logs"] == {"sent": [entry]}
        store.erase()
    assert list(path.parent.iterdir()) == []


def test_under_a_passphrase_nothing_plain_touches_the_disk(tmp_path):
    with Store.create(tmp_path / "profile.db", passphrase=PASSPHRASE) as store:
        store.put(some_documents())
        store.set("hidden", ["harpsichord"])
        found = everything_under(tmp_path)
        assert not any(word.encode() in found for word in (*WORDS, "SQLite", "Title"))


def test_openings_that_are_refused(tmp_path):
    plain, locked, other = tmp_path / "plain.db", tmp_path / "sealed.db", tmp_path / "other.db"
    Store.create(plain).close()
    Store.create(locked, passphrase=PASSPHRASE).close()
    with refused(InvalidArgument, str(plain)):
        Store.create(plain)
    with refused(InvalidArgument, "empty"):
        Store.create(tmp_path / "empty.db", passphrase="")
    with refused(InvalidArgument, str(plain)):
        Store.open(plain, passphrase=PASSPHRASE)
    with refused(InvalidArgument, str(locked)):
        Store.open(locked)
    with refused(UnreadableInput, str(locked)):
        Store.open(locked, passphrase=PASSPHRASE.upper())
    with refused(UnreadableInput, str(tmp_path / "none.db")):
        Store.open(tmp_path / "none.db")
    sqlite3.connect(other).execute("CREATE TABLE a (b)").connection.close()
    with refused(UnreadableInput, str(other)):
        Store.open(other)
    other.write_text("hello")
    with refused(UnreadableInput, str(other)):
        Store.open(other)
    newer = sqlite3.connect(plain)
    newer.execute("PRAGMA user_version = 99")
    newer.close()
    with refused(UnreadableInput, 99):
        Store.open(plain)
    with refused(CannotWrite, str(tmp_path / "other.db" / "below.db")):
        Store.create(tmp_path / "other.db" / "below.db")


def test_a_store_that_others_could_read_is_made_private_again(tmp_path):
    path = tmp_path / "profile.db"
    Store.create(path).close()
    path.chmod(0o644)
    Store.open(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_sealed_store_is_open_once(tmp_path):
    with Store.create(tmp_path / "profile.db", passphrase=PASSPHRASE) as store:
        with refused(CannotWrite, str(store.path)):
            Store.open(store.path, passphrase=PASSPHRASE)
        assert store.put(some_documents()) == 12
    Store.open(tmp_path / "profile.db", passphrase=PASSPHRASE).close()


def test_a_plain_store_may_be_open_twice(tmp_path):
    with Store.create(tmp_path / "profile.db") as store, Store.open(store.path) as other:
        store.put(some_documents())
        other.append("sent", {})
        assert len(other) == 12
        assert len(store.entries("sent")) == 1


@pytest.mark.parametrize("damage", ["cut", "flip", "zero"])
def test_a_damaged_store_is_an_error(tmp_path, passphrase, damage):
    path = tmp_path / "profile.db"
    with Store.create(path, passphrase=passphrase) as store:
        store.put(some_documents())
    content = bytearray(path.read_bytes())
    if damage == "cut":
        del content[len(content) // 2 :]
    elif damage == "flip":
        content[40:4096] = bytes(byte ^ 0x55 for byte in content[40:4096])
    else:
        content[:] = bytes(len(content))
    path.write_bytes(content)
    with refused(UnreadableInput, str(path)), Store.open(path, passphrase=passphrase) as store:
        list(store.documents())
        store.profile()


def test_a_letter_that_changed_on_the_disk_is_noticed(tmp_path):
    path = tmp_path / "profile.db"
    with Store.create(path) as store:
        store.set("hidden", ["jazz"])
        store.append("sent", {"query": "jazz"})
        store.put(some_documents())
        store.profile()
    other = sqlite3.connect(path)
    other.execute("UPDATE settings SET value = replace(value, 'jazz', 'fuzz')")
    other.execute("UPDATE entries SET entry = replace(entry, 'jazz', 'fuzz')")
    other.execute("UPDATE profiles SET profile = replace(profile, 'jazz', 'fuzz')")
    other.execute("UPDATE documents SET seen = 'soon'")
    other.commit()
    other.close()
    with Store.open(path) as store:
        uses = (
            lambda: store.get("hidden"),
            lambda: store.entries("sent"),
            store.profile,
            store.to_json,
            lambda: list(store.documents()),
        )
        for use in uses:
            with refused(UnreadableInput, str(path)):
                use()


def test_costs_that_would_exhaust_the_machine_are_refused(tmp_path):
    path = tmp_path / "profile.db"
    Store.create(path, passphrase=PASSPHRASE).close()
    content = bytearray(path.read_bytes())
    content[16] = 60
    path.write_bytes(content)
    with refused(UnreadableInput, str(path)):
        Store.open(path, passphrase=PASSPHRASE)


def test_the_profile_is_that_of_the_documents_and_is_kept(store, monkeypatch):
    profile = store.profile()
    assert profile.to_json() == Profile.build(sorted(some_documents(), key=lambda one: one.key)).to_json()
    monkeypatch.setattr(Profile, "build", None)
    assert store.profile().to_json() == profile.to_json()
    monkeypatch.undo()
    store.put([Document("mid:1", "mail", "jazz", "", "ann@example.org")])
    assert supports_of(store.profile())["jazz"] == supports_of(profile)["jazz"] + 1
    store.set("profile", {"min_support": 9})
    assert "violin" not in supports_of(store.profile())


def test_sources_weigh_as_they_are_told(store):
    half = Weighing(date(2024, 1, 12), {"notes": SourceWeight(Fraction(3), 5)})
    store.weigh(half)
    weighed = half.weighed(store.documents())
    ages = {one.key: (date(2024, 1, 12) - one.when.date()).days for one in weighed.documents}
    assert weighed.weights == tuple(Fraction(3) / 2 ** (ages[one.key] // 5) for one in weighed.documents)
    assert store.profile().total == sum(weighed.weights)
    assert Weighing.of_setting(half.to_setting()) == half


def test_a_page_in_two_sources_counts_once_as_in_the_better_one(store):
    store.put(some_documents("bookmarks"))
    store.weigh(Weighing(date(2024, 1, 12), {"bookmarks": SourceWeight(Fraction(2))}))
    assert len(store) == 24
    assert store.profile().total == 24
    assert len(store.find("jazz")) == 12


def test_forgetting_a_page_of_two_sources(store, tmp_path):
    """What it counts in the other source stays."""
    store.put([replace(one, source="bookmarks", title="cello") for one in some_documents()])
    weighing = Weighing(date(2024, 1, 12), {"notes": SourceWeight(Fraction(2))})
    store.weigh(weighing)
    store.forget(Rule.of("source", "notes"))
    with Store.create(tmp_path / "never.db") as never:
        never.put(store.documents())
        never.weigh(weighing)
        assert store.profile().to_json() == never.profile().to_json()
        assert store.profile().total == 12


def test_replacing_the_documents_of_a_source(store, tmp_path):
    store.put(some_documents("bookmarks"))
    new = [one for one in some_documents() if "harpsichord" not in one.text]
    assert store.replace("notes", new) == (0, 1)
    assert store.sources() == {"bookmarks": 12, "notes": 11}
    with refused(InvalidArgument, "'notes'"):
        store.replace("bookmarks", new)
    assert store.sources() == {"bookmarks": 12, "notes": 11}
    store.replace("bookmarks", [])
    assert b"harpsichord" not in everything_under(tmp_path)


def broken(documents):
    yield from documents
    raise RuntimeError("the disk is on fire")


def test_what_breaks_off_changes_nothing(store):
    for change in (lambda: store.replace("notes", broken(some_documents()[:3])), lambda: store.put(broken([]))):
        with pytest.raises(RuntimeError):
            change()
        assert sorted(store.documents(), key=lambda one: one.when) == some_documents()


def test_found_documents_come_best_first(store):
    store.put([Document("mid:1", "mail", "Harpsichord", "a harpsichord " * 80, "ann@example.org")])
    first, second = store.find("harpsichord music")[:2]
    assert (first.address, first.title, first.rank) == ("mid:1", "Harpsichord", 1)
    assert "harpsichord" in first.snippet
    assert len(first.snippet.split()) < 60
    assert second.address == "https://music.example.org/0"
    assert [one.rank for one in store.find("jazz", limit=5)] == [1, 2, 3, 4, 5]
    assert store.find("music.example.org")
    assert store.find("nothing of this") == []


ANY_QUERY = st.text(max_size=40) | st.sampled_from(
    ['"', "jazz AND", "NEAR(jazz, 2)", "title: jazz", "jazz*", "^jazz", "-"]
)


def test_any_query_is_safe(tmp_path):
    with Store.create(tmp_path / "profile.db") as store:
        store.put(some_documents())

        @given(ANY_QUERY)
        @examples(300)
        def check(query):
            assert len(store.find(query)) <= 12
            assert len(store.find(f"{query} jazz")) == 12

        check()
        assert len(store.find("jazz " * 10_000)) == 12


@pytest.mark.parametrize(
    ("rule", "going"),
    [
        (Rule.of("word", "harpsichord"), 1),
        (Rule.of("site", "ball.example.org"), 2),
        (Rule.of("site", "*ball*"), 2),
        (Rule.of("document", "https://music.example.org/3"), 1),
        (Rule.of("source", "notes"), 12),
        (Rule.of("word", "xylophone"), 0),
    ],
)
def test_forgetting_gives_the_profile_that_was_never_built_from_it(store, tmp_path, passphrase, rule, going):
    would = store.forget(rule, dry_run=True)
    assert len(would.documents) == going
    assert len(store) == 12
    done = store.forget(rule)
    assert done == would
    assert len(store) == 12 - going
    left = [one for one in some_documents() if not rule.matches(one)]
    with Store.create(tmp_path / "never.db") as never:
        never.put(left)
        assert store.profile().to_json() == never.profile().to_json()
        assert [one.address for one in store.find("jazz")] == [one.address for one in never.find("jazz")]
    before, after = supports_of(Profile.build(some_documents())), supports_of(store.profile())
    assert dict(would.gone) == {term: before[term] for term in before.keys() - after.keys()}
    assert all(after[term] == has < had == before[term] for term, (had, has) in would.smaller.items())
    assert done.remembered is ("*" not in rule.value)
    assert would.to_json()["rule"] == {"kind": rule.kind, "value": rule.value}


def test_what_is_forgotten_is_in_no_file(tmp_path):
    """Neither in the database, nor in a journal, a log of writes, or a temporary file."""
    path = tmp_path / "profile.db"
    secret = Document(
        "https://secret.example.org/affair", "notes", "Xanadu rendezvous", "Xanadu " * 3000, "secret.example.org"
    )
    with Store.create(path) as store:
        store.put([*some_documents(), secret])
        store.put([Document(f"mid:{i}", "mail", "Xanadu again", "") for i in range(6)])
        store.set("hidden", ["xanadu", "jazz"])
        store.set("frozen", {"pairs": [["xanadu", "0.4"], ["jazz", "0.1"]]})
        assert "xanadu" in supports_of(store.profile())
        assert b"xanadu" in everything_under(tmp_path)
        forgotten = store.forget(Rule.of("word", "Xanadu"))
        assert len(forgotten.documents) == 7
        assert store.get("hidden") == ["jazz"]
        assert store.get("frozen") == {"pairs": [["jazz", "0.1"]]}
        held = everything_under(tmp_path).lower()
        assert not [word for word in (b"xanadu", b"rendezvous", b"affair", b"secret.example") if word in held]
    assert [one.name for one in tmp_path.iterdir()] == ["profile.db"]


def test_logs_keep_what_was_sent_and_forgetting_says_so(store):
    store.put([Document(f"mid:{i}", "mail", "Xanadu again", "") for i in range(6)])
    store.append("sent", {"query": "trains", "terms": {"xanadu": "0.3"}})
    assert store.forget(Rule.of("word", "xanadu")).logged == {"sent": ("xanadu",)}
    assert store.entries("sent")[0]["terms"] == {"xanadu": "0.3"}


def test_what_is_forgotten_stays_so_until_it_is_readmitted(store, tmp_path, passphrase):
    rules = [Rule.of("word", "Old Harpsichord"), Rule.of("site", "example.net"), Rule.of("folder", "Papers/Taxes")]
    covered = [
        Document("mid:1", "mail", "my old harpsichord", "", "ann@example.org"),
        Document("mid:2", "mail", "hello", "", "ann@shop.example.net me@example.org"),
        Document("file:///home/me/papers/taxes/2024/a.txt", "files", "a.txt", "hello", "/home/me/papers/taxes/2024"),
    ]
    for rule in rules:
        assert store.forget(rule).remembered
    store.close()
    with Store.open(tmp_path / "profile.db", passphrase=passphrase) as again:
        assert [again.remembered().why(one) is not None for one in covered] == [True] * 3
        assert again.remembered().why(some_documents()[0]) is None
        assert [again.readmit(rule) for rule in rules] == [True] * 3
        assert not again.readmit(rules[0])
        assert [again.remembered().why(one) for one in covered] == [None] * 3
        again.remember_names(["ann"])
        assert again.remembered().is_name("ann")
        assert not again.remembered().is_name("bob")
    assert b"example.net" not in everything_under(tmp_path)


def test_threads_share_a_store(store):
    def work(number):
        for step in range(5):
            store.append("sent", {"thread": number, "step": step})
            store.find("jazz")

    threads = [threading.Thread(target=work, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.entries("sent")) == 20


@given(st.lists(st.tuples(st.text(max_size=8), st.text(max_size=20)), max_size=6))
@examples(100)
def test_any_text_can_be_stored(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("any") / "profile.db"
    with Store.create(path) as store:
        store.put([Document(f"mid:{key}", "mail", text, text) for key, text in texts])
        keys = {f"mid:{key}".replace("\0", " ") for key, _ in texts}
        assert {one.key for one in store.documents()} == keys
    assert path.stat().st_size > 0
