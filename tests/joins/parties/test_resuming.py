"""A run that was interrupted goes on from its last level; one that cannot go on begins anew, or says why not."""

import asyncio
import errno
import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from tests.support.errors import refused
from tests.support.joins import random_study
from tests.support.parties import Parties, Tapped, of_study, run
from veilset.errors import CannotWrite, InvalidArgument
from veilset.io import write_durably
from veilset.joins import JoinClassifier
from veilset.joins.parties import server
from veilset.joins.parties.audit_log import AuditLog
from veilset.joins.parties.disrupted import Disrupted
from veilset.joins.parties.server import PartyServer, own_hello
from veilset.joins.parties.wire import dial

STUDY = random_study(np.random.default_rng(8), 4, rows=24)
OPTIONS = {"max_depth": 5, "prune": 0.9}
GROUPS = {"hub": [], "p0": ["T0"], "p1": ["T1", "T3"], "p2": ["T2"]}


class Stopped(Exception):
    """A process dies."""


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr("veilset.joins.parties.coordinator._PAUSE", 0.05)


@pytest.fixture
def parties(tmp_path) -> Parties:
    return of_study(tmp_path, STUDY, GROUPS, options=OPTIONS, time_out=10)


def nodes(trained) -> list:
    return listed(trained.tree)


def listed(tree) -> list:
    return [(one.counts, one.gain, one.split and one.split.table) for one in tree.root.walk()]


def expected(parties: Parties) -> list:
    """The tree of an undisturbed run."""
    tables = {name: table for held in parties.holdings.values() for name, table in held.items()}
    return listed(JoinClassifier(**OPTIONS).fit(tables, joins=STUDY.joins, target="T0.Class").tree_)


def dies_at(stage: str):
    """A watcher that ends its process when a stage begins, once."""
    left = [stage]

    def watch(growth) -> None:
        if left and growth.stage.endswith(left[0]):
            left.clear()
            raise Stopped

    return watch


def kinds(tapped: Tapped) -> Counter:
    return Counter(one.kind for one in tapped.messages)


def interrupted(parties: Parties, stage: str = "level 3 of the tree") -> None:
    with pytest.raises(Stopped):
        run(parties.train(watch=dies_at(stage)))


def test_coordinator_that_is_started_again(parties):
    """Nothing is done again but the level that was going on."""
    whole = expected(parties)
    interrupted(parties)
    tapped = Tapped()
    assert nodes(run(parties.train(tap=tapped))) == whole
    seen = kinds(tapped)
    assert not seen.keys() & {"intersect", "blinded keys", "class summary", "propagate"}
    depth = max(len(path) for path in _paths(whole))
    assert seen["level"] == 3 * (depth - 2), (seen, depth)


def _paths(listed: list) -> list[str]:
    """The way to each node, from the order in which nodes are listed."""
    found, todo = [], [""]
    for _, _, table in listed:
        path = todo.pop()
        found.append(path)
        if table is not None:
            todo += [path + "1", path + "0"]
    return found


@pytest.mark.parametrize("stage", ["Intersecting keys", "Propagating classes", "Finished"])
def test_coordinator_that_dies_at_any_stage(parties, stage):
    whole = expected(parties)
    interrupted(parties, stage)
    assert nodes(run(parties.train())) == whole
    assert not [*parties.folder.glob("*-state/checkpoints/*")]


@pytest.mark.parametrize("name", ["p0", "p1", "p2"])
def test_party_that_dies_and_comes_back(parties, name):
    """Its process ends in the middle of a level; the coordinator waits for it, and goes on where it was."""
    whole = expected(parties)
    tapped, gone, said = Tapped(), asyncio.Event(), []

    def watch(growth) -> None:
        if growth.stage.endswith("level 3 of the tree"):
            gone.set()

    async def dies_and_comes_back():
        others = [other for other in ("p0", "p1", "p2") if other != name]
        async with parties.serving(others, tap=tapped):
            task = asyncio.create_task(parties.coordinator(tapped, said.append, watch).train())
            async with parties.serving([name], tap=tapped):
                await gone.wait()
            await asyncio.sleep(0.3)
            async with parties.serving([name], tap=tapped):
                return await task

    assert nodes(run(dies_and_comes_back())) == whole
    assert any(name in one and one.endswith("Trying again.") for one in said)
    seen = kinds(tapped)
    assert seen["intersect"] == 3
    assert seen["propagate"] == 3
    levels = max(map(len, _paths(whole)))
    assert seen["level"] <= 3 * (levels + 1)


def test_changed_table_begins_anew(parties):
    """A checkpoint is bound to the tables."""
    interrupted(parties)
    table = parties.holdings["p2"]["T2"]
    changed = table.set_column(table.column_names.index("x"), "x", pa.array(range(len(table)), pa.int64()))
    parties.holdings["p2"]["T2"] = changed
    parties.write()
    tapped = Tapped()
    trained = run(parties.train(tap=tapped))
    assert kinds(tapped)["intersect"] == 3
    assert nodes(trained) == expected(parties)


def test_other_run_begins_anew(parties):
    """The coordinator has lost its state: it begins another run, and the checkpoints of the first are not used."""
    whole = expected(parties)
    interrupted(parties)
    for file in parties.folder.glob("hub-state/coordinator/*/*"):
        file.unlink()
    tapped = Tapped()
    assert nodes(run(parties.train(tap=tapped))) == whole
    assert kinds(tapped)["intersect"] == 3


@pytest.mark.parametrize(
    ("where", "damage"),
    [("hub-state/coordinator", "flip"), ("p1-state/checkpoints", "cut"), ("p1-state/checkpoints", "head")],
)
def test_damaged_checkpoint_is_done_again(parties, where, damage):
    whole = expected(parties)
    interrupted(parties)
    file = max(parties.folder.glob(f"{where}/*/stage-*"))
    content = bytearray(file.read_bytes())
    if damage == "flip":
        content[len(content) // 2] ^= 255
    file.write_bytes(content[:-40] if damage == "cut" else content)
    if damage == "head":
        (file.parent / "run.json").write_text("[1")
    assert nodes(run(parties.train())) == whole


def full(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def no_room(patch, folder: str, name: str) -> None:
    """The disk is full for files of checkpoints that have this name, in this folder."""

    def write(path, content) -> None:
        (full if folder in str(path) and name in path.name else write_durably)(path, content)

    patch.setattr("veilset.joins.parties.checkpoint.write_durably", write)


def test_full_disk_at_a_checkpoint(parties, monkeypatch):
    whole = expected(parties)
    told: list[str] = []
    with monkeypatch.context() as patch:
        no_room(patch, "p1-state", "stage-000003")
        with refused(Disrupted, "p1") as caught:
            run(parties.train(tell=told.append))
    assert (caught.value.party, caught.value.fault) == ("p1", "refused")
    assert "p1 had to stop; its own screen says why." in str(caught.value)
    assert str(parties.folder) not in str(caught.value)
    assert any("stage-000003.bin" in one and "No space left on device" in one for one in told)
    assert not [*parties.folder.glob("*-state/checkpoints/*/*.part")]
    assert nodes(run(parties.train())) == whole


def test_full_disk_at_the_coordinator(parties, monkeypatch):
    whole = expected(parties)
    with monkeypatch.context() as patch:
        no_room(patch, "hub-state", "stage-")
        with pytest.raises((CannotWrite, Disrupted)):
            run(parties.train())
    assert nodes(run(parties.train())) == whole


def test_full_disk_at_the_audit_log(parties, monkeypatch):
    """What cannot be recorded is not sent."""
    told: list[str] = []
    tapped = Tapped()
    plain = AuditLog.sending

    def sending(self, begin, to, kind, **about) -> None:
        with pytest.MonkeyPatch.context() as patch:
            if "p1-state" in str(self.path) and kind == "class summary":
                patch.setattr("os.write", full)
            plain(self, begin, to, kind, **about)

    monkeypatch.setattr(AuditLog, "sending", sending)
    with refused(Disrupted, "p1") as caught:
        run(parties.train(tap=tapped, tell=told.append))
    assert "p1 had to stop; its own screen says why." in str(caught.value)
    assert any("audit.jsonl" in one for one in told)
    assert not [one for one in tapped.between("class summary") if one.by == "p1"]


def test_full_disk_at_the_end(parties, monkeypatch):
    """The splits cannot be kept: the run is not over."""
    whole = expected(parties)
    with monkeypatch.context() as patch:
        patch.setattr("veilset.joins.parties.split_lists.write_durably", full)
        with refused(Disrupted) as caught:
            run(parties.train())
    assert caught.value.party in parties.names
    assert nodes(run(parties.train())) == whole


def test_port_in_use(parties):
    async def twice():
        async with parties.serving(["p0"]), parties.serving(["p0"]):
            pass

    with refused(InvalidArgument, "p0", parties.ports["p0"]):
        run(twice())


def test_nobody_there(parties):
    """A whole time-out was spent on reaching it: that is not done twice."""
    parties.time_out = 0.5
    parties.write()
    told = []

    async def alone():
        async with parties.serving(["p0", "p2"]):
            return await parties.coordinator(tell=told.append).train()

    with refused(Disrupted, "p1", f"127.0.0.1:{parties.ports['p1']}") as caught:
        run(alone())
    assert (caught.value.party, caught.value.fault) == ("p1", "unreachable")
    assert told == []


@pytest.mark.parametrize(
    ("changed", "fault"),
    [({"time": 86_400.0}, "clock"), ({"protocol": 99}, "version"), ({"study": "0" * 64}, "study")],
    ids=["clock", "version", "study"],
)
@pytest.mark.parametrize("name", ["p0", "hub"])
def test_parties_that_do_not_fit(parties, monkeypatch, changed, fault, name):
    plain = server.own_hello

    def own_hello(file, role, run, attempt):
        hello = plain(file, role, run, attempt)
        return replace(hello, **changed) if file.party == name else hello

    monkeypatch.setattr("veilset.joins.parties.server.own_hello", own_hello)
    monkeypatch.setattr("veilset.joins.parties.coordinator.own_hello", own_hello)
    with refused(Disrupted) as caught:
        run(parties.train(), 20)
    assert caught.value.fault == fault
    assert caught.value.party in parties.names


def test_two_coordinators_one_after_the_other(parties):
    """One that begins anew ends the session of one that still runs; its run goes on."""
    whole = expected(parties)

    async def both():
        began = asyncio.Event()

        def watch(growth) -> None:
            if growth.stage.endswith("level 2 of the tree"):
                began.set()

        async with parties.serving():
            first = asyncio.create_task(parties.coordinator(watch=watch).train())
            await began.wait()
            first.cancel()
            await asyncio.gather(first, return_exceptions=True)
            return await parties.coordinator().train()

    assert nodes(run(both())) == whole


async def neighbour(parties: Parties, attempt: int):
    """A call of p1 at p0 for a session that the coordinator has not begun."""
    home = parties.home("p1")
    return await dial(
        f"127.0.0.1:{parties.ports['p0']}",
        "p0",
        home.file.identity,
        home.study.certificates["p0"],
        own_hello(home.file, "neighbour", "0" * 32, attempt),
        time_out=20,
    )


def test_neighbours_whose_session_never_begins_are_let_go(parties):
    """Their channels are closed after the time-out, and nothing of them is kept."""
    parties.time_out = 0.5
    parties.write()

    async def early():
        async with parties.serving(["p0"]) as servers:
            channel = await neighbour(parties, 7)
            with pytest.raises(Disrupted) as caught:
                await channel.expect("anything")
            assert not servers["p0"]._arrivals
            await channel.close()
            return caught.value

    assert run(early()).fault == "closed"


def test_a_neighbour_cannot_keep_many_connections_open(parties):
    async def crowd():
        async with parties.serving(["p0"]) as servers:
            channels = [await neighbour(parties, attempt) for attempt in range(9)]
            with refused(Disrupted, "p0", "Too many connections wait"):
                await channels[-1].expect("anything")
            assert len(servers["p0"]._arrivals) == 8
            await asyncio.gather(*(channel.close() for channel in channels))

    run(crowd())


def test_checkpoint_files_are_their_owners(parties):
    interrupted(parties)
    files = [*parties.folder.glob("*-state/checkpoints/**/*"), *parties.folder.glob("*-state/coordinator/**/*")]
    assert {one.stat().st_mode & 0o077 for one in files} == {0}
    heads = [json.loads(one.read_bytes()) for one in files if one.name == "run.json"]
    assert len({one["run"] for one in heads}) == 1
    assert all(set(one["binding"]) >= {"study"} for one in heads)


def test_approval_comes_first(parties):
    """Nobody listens or coordinates without it."""
    path = parties.path("p0")
    path.write_text(path.read_text().replace("approve = ", "title_ = ").replace("title_", "#"))
    with refused(InvalidArgument, "p0"):
        PartyServer(parties.home("p0"), print)
    hub = parties.path("hub")
    hub.write_text("\n".join(line for line in hub.read_text().splitlines() if not line.startswith("approve")))
    with refused(InvalidArgument, "hub"):
        parties.coordinator()
