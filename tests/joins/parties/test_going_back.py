"""What is done again in a run: a party does not tell more by it than a run tells."""

import asyncio
import secrets
from contextlib import AsyncExitStack, asynccontextmanager

import numpy as np
import pyarrow as pa
import pytest

from tests.support.parties import Parties, Tapped, run
from veilset.joins.parties import intersection, links
from veilset.joins.parties.audit_log import AuditLog
from veilset.joins.parties.control import LARGEST, hear, tell
from veilset.joins.parties.disrupted import Disrupted
from veilset.joins.parties.key_bytes import encode_keys
from veilset.joins.parties.levels import Level

NAMES = ("p1", "p2")


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr("veilset.joins.parties.coordinator._PAUSE", 0.05)


def both_split(folder) -> Parties:
    """Two parties, each with a column that splits the root."""
    keys = [0, 1, 2, 3] * 6
    tables = {
        "p1": {"T1": pa.table({"J": keys, "Class": ["a", "b", "b", "a", "a", "b"] * 4, "u": [*range(24)]})},
        "p2": {"T2": pa.table({"J": keys, "w": [one * 7 % 24 for one in range(24)]})},
    }
    join = {"on": "T1.J = T2.J", "type": "whole number", "keys": {"T1": 9, "T2": 9}, "policy": "report"}
    return Parties(folder, {"hub": {}, **tables}, [join], "T1.Class", ["a", "b"])


class Driver:
    """A coordinator that asks what it is told to ask."""

    def __init__(self, parties: Parties) -> None:
        self.hub, self.run = parties.coordinator(), secrets.token_hex(16)
        self.channels: dict = {}

    async def ask(self, kind: str, answer: str, fields=None, arrays=None) -> dict:
        """Tell all parties something, and hear what they answer."""
        await asyncio.gather(*(tell(name, self.channels[name], kind, fields, arrays) for name in NAMES))
        heard = await asyncio.gather(*(hear(name, self.channels[name], answer, LARGEST) for name in NAMES))
        return dict(zip(NAMES, heard, strict=True))

    @asynccontextmanager
    async def begun(self, stages: int):
        """A session that begins after so many stages."""
        async with AsyncExitStack() as stack:
            self.channels = await self.hub.connect(self.run, secrets.randbits(31), stack)
            await self.ask("train", "ready")
            await self.ask("begin", "linked", {"stages": stages, "wide": False})
            if stages == 0:
                await self.ask("intersect", "intersected")
                await self.ask("settle", "settled")
                await self.ask("propagate", "propagated")
            else:
                await asyncio.gather(*(hear(name, self.channels[name], "propagated", LARGEST) for name in NAMES))
            yield

    async def level(self, node: int, children: list[int], table: int, leaves: bool) -> None:
        """Let a table split a node."""
        await self.ask("level", "info", {}, {"nodes": np.array([node])})
        told = (await self.ask("split", "children", {}, family(node, children, table, 0, [])))[NAMES[table]]
        counts = told.arrays["counts"].reshape(len(children), -1)
        pure = [child for child, one in zip(children, counts, strict=True) if np.count_nonzero(one) == 1]
        ended = [node, *(children if leaves else pure)]
        await self.ask("follow", "followed", {}, family(node, children, table, int(not leaves), ended))


def family(node: int, children: list[int], table: int, onward: int, ended: list[int]) -> dict:
    arrays = [np.array([node]), np.array(children), np.array([table], np.int32), np.array([onward], np.uint8)]
    return vars(Level(*arrays, np.array(ended, np.int64)))


def test_a_level_is_not_done_again_with_another_winner(tmp_path):
    parties, tapped = both_split(tmp_path), Tapped()

    async def attack():
        driver = Driver(parties)
        async with parties.serving(tap=tapped):
            async with driver.begun(0):
                await driver.level(0, [1, 2], 0, leaves=False)
            async with driver.begun(2):
                await driver.level(0, [1, 2], 0, leaves=False)
            async with driver.begun(2):
                await driver.level(0, [1, 2], 1, leaves=False)

    with pytest.raises(Disrupted, match="hub wants to do stages of a run again") as caught:
        run(attack())
    assert (caught.value.party, caught.value.fault) == ("hub", "refused")
    assert {one.by for one in tapped.between("split summary")} == {"p1"}


def test_not_more_than_the_last_stage_is_done_again(tmp_path):
    parties, said = both_split(tmp_path), []

    async def attack(back: int):
        driver = Driver(parties)
        async with parties.serving(tell=said.append):
            async with driver.begun(0):
                await driver.level(0, [1, 2], 0, leaves=False)
            async with driver.begun(back):
                return

    run(attack(2))
    assert said.count("This is attempt 2 at the run.") == len(NAMES)
    for back in (0, 1):
        with pytest.raises(Disrupted, match="hub wants to do stages of a run again"):
            run(attack(back))


def test_keys_are_not_compared_again_once_that_is_done(tmp_path):
    parties, tapped = both_split(tmp_path), Tapped()

    async def attack():
        driver = Driver(parties)
        async with parties.serving(tap=tapped):
            async with AsyncExitStack() as stack:
                driver.channels = await driver.hub.connect(driver.run, 1, stack)
                await driver.ask("train", "ready")
                await driver.ask("begin", "linked", {"stages": 0, "wide": False})
                await driver.ask("intersect", "intersected")
                await driver.ask("settle", "settled")
            async with driver.begun(0):
                return

    with pytest.raises(Disrupted, match="hub wants to do stages of a run again"):
        run(attack())
    assert len(tapped.between("blinded keys")) == 2


def test_a_run_that_is_over_does_not_begin_again(tmp_path):
    parties = both_split(tmp_path)

    async def attack():
        async with parties.serving():
            driver = Driver(parties)
            driver.run = (await parties.coordinator().train()).model.run
            async with driver.begun(0):
                return

    with pytest.raises(Disrupted, match="hub wants to do stages of a run again"):
        run(attack())


def test_a_neighbour_compares_keys_three_times_in_a_run(tmp_path, monkeypatch):
    """It stops after each time, and comes back with other guesses; the coordinator is honest."""
    parties = both_split(tmp_path)
    plain, tested, said = intersection.intersect, [], []

    async def guessing(channel, keys, **more):
        if channel.peer != "p1":
            return await plain(channel, keys, **more)
        tested.append([9 * len(tested) + at for at in range(9)])
        await plain(channel, encode_keys([pa.array(tested[-1], pa.int64())]), **more)
        raise Disrupted("p2 had to stop.", "", party="p2", fault="closed")

    monkeypatch.setattr(links, "intersect", guessing)
    with pytest.raises(Disrupted) as caught:
        run(parties.train(tell=said.append))
    assert caught.value.fault == "refused"
    assert len(tested) == 3
    again = "p2 compares keys of T1.J = T2.J again, for the {}. time in this run: so far, it can have tested {} values."
    assert [one for one in said if "p2 compares" in one] == [again.format(2, 18), again.format(3, 27)]
    assert any("Keys of T1.J = T2.J were compared with p2 3 times in this run" in one for one in said)
    (session,) = AuditLog(tmp_path / "p1-state" / "audit.jsonl").sessions()
    assert (session.compared, session.attempts) == ({"T1.J = T2.J": 3}, 4)
    monkeypatch.undo()
    run(parties.train())  # another run


def test_a_neighbour_that_always_begins_anew_ends_the_training(tmp_path, monkeypatch):
    """It loses its checkpoint at each level: the coordinator begins another run once."""
    from veilset.joins.parties.session import Session

    parties, tapped = both_split(tmp_path), Tapped()
    plain = Session._level

    async def forgetful(self, *asked):
        if self._home.party == "p2":
            self._checkpoint.delete()
            raise Disrupted("p2 had to stop.", "", party="p2", fault="closed")
        await plain(self, *asked)

    monkeypatch.setattr(Session, "_level", forgetful)
    with pytest.raises(Disrupted, match="p2 has lost again what it had of the run") as caught:
        run(parties.train(tap=tapped))
    assert (caught.value.party, caught.value.fault) == ("p2", "refused")
    assert len({one.message.fields["run"] for one in tapped.between("hello") if "run" in one.message.fields}) == 2
