"""Damaged stores: what is in them, or a plain refusal; never a traceback."""

import random

import pytest

from tests.support.effort import repeats
from tests.support.mutating import mutated
from veilset.errors import CannotWrite, UnreadableInput
from veilset.search import sealed
from veilset.search.documents import Document
from veilset.search.rules import Rule
from veilset.search.store import Store

pytestmark = pytest.mark.attack

PASSPHRASE = "correct horse battery"  # noqa: S105


def use(path, passphrase):
    """All that is done with a store."""
    with Store.open(path, passphrase=passphrase) as store:
        list(store.documents())
        store.find("jazz cello")
        store.get("dial")
        store.entries("sent")
        store.profile()
        store.to_json()
        store.put([Document("mid:new", "mail", "jazz")])
        store.forget(Rule.of("word", "cello"))


@pytest.mark.parametrize("passphrase", [None, PASSPHRASE], ids=["plain", "sealed"])
def test_damaged_stores(tmp_path, monkeypatch, passphrase):
    monkeypatch.setattr(sealed, "_USUAL", (4, 8, 1))
    monkeypatch.setattr(sealed, "_MOST", (10, 16, 4))
    path = tmp_path / "profile.db"
    with Store.create(path, passphrase=passphrase) as store:
        store.put(Document(f"https://example.org/{n}", "notes", f"jazz {n}", "cello " * n) for n in range(30))
        store.set("dial", {"ratio": "0.5"})
        store.append("sent", {"query": "jazz"})
        store.profile()
    whole, dice, refused = path.read_bytes(), random.Random(7), 0
    for _ in range(repeats(300)):
        damaged = mutated(whole, whole, dice, near_ends=dice.random() < 0.5)
        path.write_bytes(damaged)
        try:
            use(path, passphrase)
        except (UnreadableInput, CannotWrite) as error:
            assert error.next_step
            refused += 1
        else:
            assert passphrase is None or damaged == whole  # a mutation may put back what was there
    assert refused
