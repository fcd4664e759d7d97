"""What the coordinator makes of what parties say."""

import asyncio

import pytest

from tests.support.channels import connected
from tests.support.errors import refused
from veilset.joins.parties.control import Failed, all_of, hear
from veilset.joins.parties.disrupted import Disrupted

SAID = {"reason": "refused", "party": "p1", "sentence": "p1 will not.", "next": "Ask p1."}


def heard(fields: dict) -> Exception:
    """The error that a "failed" of p1 is."""

    async def one():
        ours, theirs = connected("hub", "p1")
        await theirs.send("failed", fields)
        await hear("p1", ours, "ready")

    with pytest.raises((Disrupted, Failed)) as caught:
        asyncio.run(one())
    return caught.value


def test_party_that_stops():
    error = heard(SAID)
    assert (error.party, error.fault, str(error)) == ("p1", "refused", "p1 will not. Ask p1.")
    error = heard(SAID | {"party": "p2", "reason": "silent"})
    assert (error.party, error.fault, str(error)) == ("p2", "silent", "p1 says: p1 will not. Ask p1.")
    assert heard(SAID | {"reason": "own"}).fault == "refused"
    assert heard(SAID | {"reason": ["x"]}).fault == "refused"


def test_party_that_stops_for_a_reason_of_the_run():
    error = heard(SAID | {"reason": "withheld", "nodes": [3, 4]})
    assert (error.reason, error.nodes, error.party) == ("withheld", {3, 4}, "p1")
    assert heard(SAID | {"reason": "wide"}).reason == "wide"


@pytest.mark.parametrize("changed", [{"sentence": 3}, {"party": None}, {"next": b"x"}])
def test_reasons_that_make_no_sense(changed):
    assert heard(SAID | changed).fault == "unexpected"
    assert heard({}).fault == "unexpected"


def test_signs_that_steer_a_terminal_are_not_shown():
    assert "\x1b" not in str(heard(SAID | {"sentence": "\x1b[31mred"}))


def about(party: str, fault: str) -> Disrupted:
    return Disrupted(f"{party} {fault}", "Wait.", party=party, fault=fault)


@pytest.mark.parametrize(
    ("first", "second", "raised"),
    [
        (about("p2", "closed"), about("p2", "refused"), ("p2", "refused")),  # p1 reports about p2, which says why
        (about("p2", "unexpected"), about("p1", "closed"), ("p2", "unexpected")),  # what p2 says explains nothing
        (about("p2", "closed"), about("p1", "unexpected"), ("p1", "unexpected")),
        (about("p2", "closed"), None, ("p2", "closed")),
        (about("p1", "silent"), about("p2", "refused"), ("p1", "silent")),  # its own connection
    ],
)
def test_whose_words_count(monkeypatch, first, second, raised):
    monkeypatch.setattr("veilset.joins.parties.control._GRACE", 30 if second else 0.05)

    async def later(error) -> str:
        await (asyncio.sleep(0.05) if error else asyncio.Event().wait())
        raise error

    async def at_once() -> str:
        raise first

    with refused(Disrupted) as caught:
        asyncio.run(all_of_two(at_once(), later(second)))
    assert (caught.value.party, caught.value.fault) == raised


async def all_of_two(one, other) -> dict:
    return await all_of({"p1": one, "p2": other})


def test_answers_of_all():
    async def said(word: str) -> str:
        return word

    assert asyncio.run(all_of_two(said("a"), said("b"))) == {"p1": "a", "p2": "b"}
