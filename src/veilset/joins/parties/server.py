"""A party that listens: it waits for the coordinator and for neighbours, and takes part in what was approved."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from functools import partial
from importlib.metadata import version

from veilset.errors import VeilsetError
from veilset.joins.parties import audit_log
from veilset.joins.parties.answering import answer
from veilset.joins.parties.audit_log import AuditLog, Begin
from veilset.joins.parties.checkpoint import Checkpoint
from veilset.joins.parties.control import all_of
from veilset.joins.parties.disrupted import Disrupted
from veilset.joins.parties.guard import Guard, Refused, Withheld, decisions
from veilset.joins.parties.home import Home
from veilset.joins.parties.party_file import PartyFile
from veilset.joins.parties.policies import Decision
from veilset.joins.parties.secure_tree import SecureModel
from veilset.joins.parties.session import Session, TooManyRows
from veilset.joins.parties.split_check import Cells
from veilset.joins.parties.wire import PROTOCOL, Channel, Hello, Listener, Tap, dial
from veilset.joins.parties.workers import Workers

Tell = Callable[[str], None]
Done = Callable[[SecureModel, Mapping[int, Cells]], None]
_RUN = re.compile("[0-9a-f]{32}")
_MOST_WAITING = 8  # channels of a neighbour to sessions that have not begun here
_Place = tuple[str, int, str]
"""A neighbour's place in a session: the run, the attempt, and who it is."""


class PartyServer:
    """A party at its address.

    Parameters
    ----------
    home : Home
        Its tables.
    tell : callable
        Is told in words what happens.
    tap : callable, optional
        Sees all frames, for tests.
    done : callable, optional
        Is given each tree that is finished, and what neighbours can put together on each edge.
    """

    def __init__(self, home: Home, tell: Tell, tap: Tap | None = None, done: Done | None = None) -> None:
        home.file.check_approval()
        self._decisions = decisions(home)
        for decision in self._decisions.values():
            decision.check()
        self._home, self._tell, self._tap, self._done = home, tell, tap, done
        self._file, self._study = home.file, home.study
        self._workers = Workers(home.limits.thread_count)
        self._log = AuditLog(self._file.state / audit_log.NAME)
        self._session: asyncio.Task[None] | None = None
        self._arrivals: dict[_Place, asyncio.Future[Channel]] = {}
        self.finished = asyncio.Event()

    def listener(self) -> Listener:
        """What accepts callers, as long as it is open."""
        host, _, port = self._file.address.rpartition(":")
        return Listener(
            host.strip("[]"),
            int(port),
            self._file.identity,
            self._callers(),
            self._greet,
            self._arrived,
            time_out=float(self._study.time_out),
            complain=self._tell,
            tap=self._tap,
        )

    def _callers(self) -> dict[str, bytes]:
        """The certificates of those who may call: all others, and this party if it coordinates."""
        known = self._study.certificates
        return {name: one for name, one in known.items() if name != self._file.party or name == self._study.coordinator}

    @property
    def busy(self) -> bool:
        """Whether a session is going on."""
        return self._session is not None and not self._session.done()

    async def first_training(self) -> None:
        """Wait until a training has finished, and its session has ended."""
        await self.finished.wait()
        if self._session is not None:
            await asyncio.wait({self._session})

    async def close(self) -> None:
        """End what is going on."""
        if self._session is not None:
            self._session.cancel()
            await asyncio.gather(self._session, return_exceptions=True)
        self._workers.close()

    def _greet(self, peer: str, hello: Hello) -> Hello:
        if hello.role == "coordinator" and peer != self._study.coordinator:
            raise Disrupted(
                f"{peer} wants to coordinate; by the study, {self._study.coordinator} does.",
                "Agree on who coordinates, and approve the study again.",
                party=peer,
                fault="refused",
            )
        if hello.role == "neighbour" and peer not in self._others():
            raise Disrupted(
                f"{peer} calls as a neighbour; by the study, its tables are not joined with ours.",
                "Agree on one study, and approve it again.",
                party=peer,
                fault="refused",
            )
        if not _RUN.fullmatch(hello.run):
            raise Disrupted(
                f"{peer} has sent a name of a run that is none.", "Train again.", party=peer, fault="unexpected"
            )
        return own_hello(self._file, hello.role, hello.run, hello.attempt)

    async def _arrived(self, channel: Channel, hello: Hello) -> None:
        if hello.role == "neighbour":
            await self._meet(channel, hello)
            return
        while (old := self._session) is not None and not old.done():  # again: another call may have come in between
            old.cancel()  # the coordinator has begun anew
            await asyncio.gather(old, return_exceptions=True)
        session = self._session = asyncio.create_task(self._take_part(channel, hello))
        await asyncio.wait({session})
        if session.cancelled():
            await channel.close("The coordinator has begun anew.")  # the session may not have come to it
        elif (error := session.exception()) is not None:
            raise error

    async def _meet(self, channel: Channel, hello: Hello) -> None:
        """Keep a neighbour's channel until its session takes it over; if none does in time, close it."""
        place = hello.run, hello.attempt, channel.peer
        if sum(one.done() for (*_, name), one in self._arrivals.items() if name == channel.peer) >= _MOST_WAITING:
            await channel.close("Too many connections wait for sessions that have not begun.")
            return
        arrival = self._arrival(place)
        if arrival.done():
            await channel.close("A second connection for one session.")
            return
        arrival.set_result(channel)
        await asyncio.sleep(float(self._study.time_out))
        if self._arrivals.get(place) is arrival:
            del self._arrivals[place]
            await channel.close("The coordinator has not begun this session here.")

    def _arrival(self, place: _Place) -> asyncio.Future[Channel]:
        return self._arrivals.setdefault(place, asyncio.get_running_loop().create_future())

    async def _take_part(self, control: Channel, hello: Hello) -> None:
        """A session with the coordinator, to its end; then the party waits for the next."""
        begin = begin_of(self._home, self._decisions, hello.run)
        failure: BaseException | None = None
        try:
            async with AsyncExitStack() as stack:
                stack.push_async_callback(control.close)
                try:
                    await self._asked(control, hello, begin, stack)
                except (TooManyRows, VeilsetError) as error:
                    failure = error
                    await self._confess(control, error)
        except BaseException as error:  # the end of the process, or a mistake in the program
            failure = error
            if not isinstance(error, asyncio.CancelledError):
                self._tell(f"This is a mistake in Veilset: {error!r}. Please report it.")
            raise
        finally:
            self._log.end(begin, "stopped" if failure else "finished", failure)

    async def _asked(self, control: Channel, hello: Hello, begin: Begin, stack: AsyncExitStack) -> None:
        purpose = (await control.expect("train", "predict")).kind
        for warning in self._log.warnings_for(begin):
            self._tell(warning)
        self._log.begin(begin)
        record = partial(self._log.sending, begin)
        if purpose == "predict":
            await answer(self._home, control, hello.run, record, self._tell)
            self._tell("The predictions are answered.")
            return
        checkpoint = await asyncio.to_thread(
            Checkpoint.find,
            self._file.state / "checkpoints" / self._study.hash[:16],
            {"study": self._study.hash, "tables": self._home.tables_hash},
        )

        async def connect() -> dict[str, Channel]:
            return await self._neighbours(hello, stack)

        guard = Guard(self._home, self._decisions)
        session = Session(self._home, control, connect, checkpoint, record, self._workers, guard, self._tell)
        model = await session.train(hello.run, self._compared(hello.run))
        if self._done is not None:
            self._done(model, guard.cells)
        self.finished.set()
        self._tell(f"The tree is finished. This party's splits are in {self._file.state / 'models' / hello.run}.")

    def _compared(self, run: str) -> dict[str, int]:
        """How often keys of each edge were compared in a run before; it is said which attempt at the run this is."""
        logged = self._log.session(run)
        if logged is None:
            return {}
        if logged.attempts:
            self._tell(f"This is attempt {logged.attempts + 1:,} at the run.")
        return logged.compared

    def _others(self) -> list[str]:
        """The parties that tables are joined with; all others with tables if the winner is secret."""
        if self._study.winner == "secret":
            return [name for name, party in self._study.parties.items() if party.tables and name != self._file.party]
        return list(dict.fromkeys(self._study.shared_edges(self._file.party).values()))

    async def _neighbours(self, hello: Hello, stack: AsyncExitStack) -> dict[str, Channel]:
        """Channels to the other parties that this one speaks to; they are closed with the stack."""

        async def one(other: str) -> Channel:
            channel = await self._channel(other, hello)
            stack.push_async_callback(channel.close)
            return channel

        return await all_of({other: one(other) for other in self._others()})

    async def _channel(self, other: str, hello: Hello) -> Channel:
        """The party that is listed first in the study calls the other."""
        order = list(self._study.parties)
        time_out = float(self._study.time_out)
        if order.index(self._file.party) < order.index(other):
            return await dial(
                self._study.parties[other].address,
                other,
                self._file.identity,
                self._study.certificates[other],
                own_hello(self._file, "neighbour", hello.run, hello.attempt),
                time_out=time_out,
                others=self._study.certificates,
                tap=self._tap,
            )
        place = hello.run, hello.attempt, other
        try:
            return await asyncio.wait_for(self._arrival(place), time_out)
        except TimeoutError:
            raise Disrupted(
                f"{other} has not called within {time_out:g} seconds.",
                f"Check that {other} runs and can reach {self._study.parties[self._file.party].address}.",
                party=other,
                fault="unreachable",
            ) from None
        finally:
            self._arrivals.pop(place, None)

    async def _confess(self, control: Channel, error: TooManyRows | VeilsetError) -> None:
        """Tell the coordinator why this party stops. Sentences about its own files and values stay at home."""
        party = self._file.party
        what, next_step = f"{party} had to stop; its own screen says why.", f"Ask {party}, then train again."
        fields: dict[str, object] = {"reason": "own", "party": party}
        if isinstance(error, TooManyRows):
            fields["reason"] = "wide"
        elif isinstance(error, Disrupted):
            fields |= {"reason": error.fault, "party": error.party}
            what, next_step = error.what, error.next_step
        elif isinstance(error, Refused):
            fields["reason"] = "refused"
            what, next_step = error.public, "Agree on another policy for this join, or a smaller depth."
        elif isinstance(error, Withheld):
            fields |= {"reason": "withheld", "nodes": list(error.nodes)}
        fields |= {"sentence": what, "next": next_step}
        self._tell(str(error))
        with contextlib.suppress(VeilsetError):  # the coordinator may be gone itself
            await control.send("failed", fields)


def begin_of(home: Home, decided: Mapping[int, Decision], run: str = "") -> Begin:
    """What the log has about the begin of a session."""
    edges, study, file = home.study.graph.edges, home.study, home.file
    return Begin(
        run,
        study.hash,
        neighbours={str(edges[at]): name for at, name in study.shared_edges(home.party).items()},
        tables=home.hashes,
        rows=home.row_hashes,
        policies={str(edges[at]): one.policy for at, one in decided.items()},
        approvals={"study": str(file.approve), "class known to": ", ".join(file.class_known_to or ())},
    )


def own_hello(file: PartyFile, role: str, run: str, attempt: int) -> Hello:
    """What a party says first."""
    return Hello(
        party=file.party,
        role="coordinator" if role == "coordinator" else "neighbour",
        study=file.study.hash,
        run=run,
        attempt=attempt,
        protocol=PROTOCOL,
        version=version("veilset"),
        time=time.time(),
    )
