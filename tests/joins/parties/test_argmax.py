"""The winner of each node from secret shares, against the largest of plain gains; and parties that fail."""

import asyncio
import json
import sys
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.channels import MemoryChannel
from tests.support.effort import examples
from veilset.errors import BudgetExceeded, InvalidArgument, VeilsetError
from veilset.joins.parties import argmax, argmax_process
from veilset.joins.parties.argmax import secret_argmax
from veilset.joins.parties.disrupted import Disrupted

AMPLE = 60.0
LARGEST = (1 << 56) - 1
NAMES = ("bank", "shop", "clinic", "club", "court")


class Line(MemoryChannel):
    """A channel that can be cut."""

    async def expect(self, *kinds, most=1 << 20):
        message = await self.inbox.get()
        if isinstance(message, Exception):
            raise message
        assert message.kind in kinds
        return message

    def cut(self, by):
        self.outbox.put_nowait(Disrupted(f"{by} is gone.", party=by))


def lines(numbers):
    """Channels between all parties: the ends of each, by the number of the other."""
    ends = {number: {} for number in numbers}
    for one, other in combinations(numbers, 2):
        there, back = asyncio.Queue(), asyncio.Queue()
        ends[one][other] = Line(NAMES[numbers.index(other)], back, there)
        ends[other][one] = Line(NAMES[numbers.index(one)], there, back)
    return ends


def within_time(work):
    """What it gives, or an error if it hangs."""
    return asyncio.run(asyncio.wait_for(work, 4 * AMPLE))


def plain_argmax(gains):
    return [row.index(max(row)) if max(row) else None for row in gains]


def parts_of(gains, owners, numbers):
    """What each party calls with."""
    for number in numbers:
        mine = [table for table, owner in enumerate(owners) if owner == number]
        own = [[row[table] for table in mine] for row in gains]
        yield number, {"gains": own, "mine": mine, "tables": len(owners), "me": number}


async def ask(ends, gains, owners, *, only=(), time_out=AMPLE):
    """The answers or errors of all parties; of *only* some, then the others are cancelled."""
    calls = {
        number: asyncio.ensure_future(secret_argmax(**part, channels=ends[number], time_out=time_out))
        for number, part in parts_of(gains, owners, list(ends))
    }
    answers = await asyncio.gather(*(calls[number] for number in only or calls), return_exceptions=True)
    for call in calls.values():
        call.cancel()
    await asyncio.gather(*calls.values(), return_exceptions=True)
    return answers


def forge(channels, kind, change):
    """Let a party send something else than it should."""
    for line in channels.values():
        line.forge[kind] = change


@pytest.fixture(autouse=True)
def all_reaped(monkeypatch):
    """No process outlives a call, and MPyC is loaded in none but those."""
    started = []
    start = asyncio.create_subprocess_exec

    async def noted(*args, **kwargs):
        started.append(await start(*args, **kwargs))
        return started[-1]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", noted)
    yield started
    assert all(process.returncode is not None for process in started)
    assert "mpyc" not in sys.modules


@st.composite
def studies(draw):
    numbers = sorted(draw(st.sets(st.integers(0, 9), min_size=3, max_size=5)))
    owners = draw(st.lists(st.sampled_from(numbers), min_size=1, max_size=5))
    gain = st.sampled_from((0, 0, 1, 2, LARGEST - 1, LARGEST)) | st.integers(0, LARGEST)
    row = st.lists(gain, min_size=len(owners), max_size=len(owners))
    return draw(st.lists(row, min_size=1, max_size=5)), owners, numbers


@examples(20)
@given(study=studies())
@example(
    study=(
        [
            [0, 0, 0, 0],
            [7, 7, 7, 7],
            [0, 7, 0, 7],
            [0, 0, 0, 1],
            [LARGEST, 0, LARGEST, 0],
            [1, 2, LARGEST, LARGEST - 1],
        ],
        [5, 2, 5, 2],  # two tables a party, in turns, and a party without any
        [2, 5, 9],
    )
)
def test_all_parties_find_the_first_largest_gain(study):
    gains, owners, numbers = study

    async def run():
        return await ask(lines(numbers), gains, owners)

    assert within_time(run()) == [plain_argmax(gains)] * len(numbers)


def spellings(gain):
    """How a number may stand in bytes."""
    return [gain.to_bytes(7, "little"), gain.to_bytes(7, "big"), str(gain).encode(), f"{gain:x}".encode()]


def test_no_gain_passes_in_plain_and_nothing_pickled():
    generator = np.random.default_rng(8)
    gains = generator.integers(1 << 54, LARGEST, (4, 3)).tolist()

    async def run():
        ends = lines([0, 1, 2])
        answers = await ask(ends, gains, [0, 1, 2])
        return answers, b"".join(one.all_bytes for at in ends.values() for line in at.values() for one in line.sent)

    answers, sent = within_time(run())
    assert answers == [plain_argmax(gains)] * 3
    assert len(sent) > 10_000
    canaries = [spelling for row in gains for gain in row for spelling in spellings(gain)]
    assert not any(canary in sent for canary in [*canaries, b"numpy", b"pickle"])
    told = json.dumps(gains).encode() + np.array(gains).tobytes() + np.array(gains).astype(">i8").tobytes()
    assert sum(canary in told for canary in canaries) == 3 * 12  # the search would notice


def test_without_nodes_there_are_no_winners(all_reaped):
    async def run():
        return await ask(lines([0, 1, 2]), [], [0, 1, 2])

    assert within_time(run()) == [[], [], []]
    assert not all_reaped


@pytest.mark.parametrize("parties", [1, 2])
def test_two_parties_are_refused(parties, snapshot):
    async def run():
        ends = lines(list(range(parties)))
        await secret_argmax([[1]], mine=[0], tables=2, me=0, channels=ends[0], time_out=AMPLE)

    with pytest.raises(InvalidArgument) as refused:
        within_time(run())
    assert str(refused.value) == snapshot


@pytest.mark.parametrize(
    "wrong",
    [
        {"gains": [[1, -1]]},
        {"gains": [[1, LARGEST + 1]]},
        {"gains": [[1]]},
        {"gains": [[1, 0.5]]},
        {"mine": [1, 1]},
        {"mine": [0, 3]},
    ],
    ids=str,
)
def test_gains_and_tables_that_make_no_sense_are_refused(wrong):
    async def run():
        asked = {"gains": [[1, 2]], "mine": [0, 2], "tables": 3, "me": 0} | wrong
        await secret_argmax(**asked, channels=lines([0, 1, 2])[0], time_out=AMPLE)

    with pytest.raises(InvalidArgument):
        within_time(run())


def test_a_missing_extra_says_how_to_install_it(monkeypatch, snapshot):
    def missing(name):
        raise argmax.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(argmax.metadata, "version", missing)
    with pytest.raises(InvalidArgument) as refused:
        within_time(secret_argmax([], mine=[], tables=2, me=0, channels=dict.fromkeys((1, 2)), time_out=AMPLE))
    assert str(refused.value) == snapshot


@pytest.mark.parametrize(
    ("told", "fault"),
    [({"mpyc": "0.9"}, "version"), ({"nodes": 3}, "unexpected"), ({"party": 1}, "unexpected")],
    ids=str,
)
def test_a_party_that_compares_something_else_is_named(told, fault):
    def changed(message):
        message.fields.update(told)
        return message

    async def run():
        ends = lines([0, 1, 2])
        forge(ends[2], "argmax", changed)
        return await ask(ends, [[1, 2, 3]], [0, 1, 2], only=[0, 1])

    assert [(type(error), error.party, error.fault) for error in within_time(run())] == [
        (Disrupted, "clinic", fault)
    ] * 2


def test_a_party_that_disappears_is_named():
    async def run():
        ends = lines([0, 1, 2])

        def cut(message):  # amid the comparison
            if len(ends[2][0].sent) > 5:
                for line in ends[2].values():
                    line.cut("clinic")
            return message

        forge(ends[2], "shares", cut)
        return await ask(ends, [[1, 2, 3]], [0, 1, 2], only=[0, 1])

    assert [(type(error), error.party) for error in within_time(run())] == [(Disrupted, "clinic")] * 2


def agreed(number):
    return {"mpyc": argmax.metadata.version("mpyc"), "parties": 3, "tables": 3, "nodes": 1, "party": number}


def test_a_call_that_is_cancelled_ends_its_process(all_reaped):
    async def run():
        ends = lines([0, 1, 2])
        for number in (1, 2):
            await ends[number][0].send("argmax", agreed(number))
        call = asyncio.ensure_future(secret_argmax([[1]], mine=[0], tables=3, me=0, channels=ends[0], time_out=AMPLE))
        while not all_reaped:
            await asyncio.sleep(0.01)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    within_time(run())
    assert len(all_reaped) == 1


def with_process(monkeypatch, path, script, others=None, time_out=AMPLE):
    """The answer of one party whose process does something else; the others have theirs already, or do as told."""
    path.write_text(script)
    monkeypatch.setattr(argmax_process, "__file__", str(path))

    async def ended(line):
        await line.send("shares", {}, {"bytes": np.zeros(0, np.uint8)})

    async def run():
        ends = lines([0, 1, 2])
        for number in (1, 2):
            await ends[number][0].send("argmax", agreed(number))
        doing = [asyncio.ensure_future((others or {}).get(number, ended)(ends[number][0])) for number in (1, 2)]
        try:
            return await secret_argmax([[1]], mine=[0], tables=3, me=0, channels=ends[0], time_out=time_out)
        finally:
            for each in doing:
                each.cancel()

    return within_time(run())


WAITING = "import time; time.sleep(60)"
BUSY = f"""
import socket, sys, time
connection = socket.socket(fileno=int(sys.argv[1]))
while True:
    connection.sendall({argmax_process.frame(1, b"shares")!r})
    time.sleep(0.05)
"""


def test_a_party_that_stalls_is_named(monkeypatch, tmp_path, snapshot):
    async def busy(line):
        while True:
            await line.send("shares", {}, {"bytes": np.ones(9, np.uint8)})
            await asyncio.sleep(0.05)

    async def silent(line):
        pass

    with pytest.raises(Disrupted) as stalled:
        with_process(monkeypatch, tmp_path / "busy.py", BUSY, {1: busy, 2: silent}, time_out=3)
    assert (stalled.value.party, stalled.value.fault) == ("clinic", "silent")
    assert str(stalled.value) == snapshot


def test_a_process_that_fails_gives_its_reason(monkeypatch, tmp_path, snapshot):
    with pytest.raises(VeilsetError) as failed:
        with_process(monkeypatch, tmp_path / "fails.py", "raise SystemExit('no memory')")
    assert str(failed.value) == snapshot


def test_a_process_that_makes_no_progress_is_ended(monkeypatch, tmp_path):
    with pytest.raises(BudgetExceeded):
        with_process(monkeypatch, tmp_path / "waits.py", WAITING, time_out=0.2)


@pytest.mark.parametrize("answer", [[4], [-1], [1, 1], []], ids=str)
def test_winners_that_are_no_tables_are_refused(answer, monkeypatch, tmp_path):
    content = argmax_process.frame(0, json.dumps(answer).encode())
    script = f"import socket, sys; socket.socket(fileno=int(sys.argv[1])).sendall({content!r})"
    with pytest.raises(VeilsetError, match="do not fit together"):
        with_process(monkeypatch, tmp_path / "answers.py", script)


@pytest.mark.parametrize("shares", [{}, {"bytes": np.ones(1, np.int64)}], ids=["none", "not bytes"])
def test_shares_that_are_none_are_refused(shares, monkeypatch, tmp_path):
    async def wrong(line):
        await line.send("shares", {}, shares)

    with pytest.raises(Disrupted) as refused:
        with_process(monkeypatch, tmp_path / "waits.py", WAITING, {1: wrong})
    assert (refused.value.party, refused.value.fault) == ("shop", "garbage")


def test_a_party_cannot_take_the_place_of_another():
    def posing(message):  # begins with its number
        message.arrays["bytes"][:1] = 1
        return message

    async def run():
        ends = lines([0, 1, 2])
        forge(ends[0], "shares", posing)
        return await ask(ends, [[1, 2, 3]], [0, 1, 2], only=[2])

    (error,) = within_time(run())
    assert type(error) is VeilsetError
    assert "Party 0 calls itself 1." in str(error)
