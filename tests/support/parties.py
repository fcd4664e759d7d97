"""Studies with several parties in one process, over loopback TLS."""

import asyncio
import contextlib
import json
import socket
import weakref
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.support.fault_proxy import FaultProxy, NetworkFault
from tests.support.joins import Study
from veilset.joins.parties.certificates import as_text, make_identity
from veilset.joins.parties.channel import Channel
from veilset.joins.parties.coordinator import Coordinator
from veilset.joins.parties.frames import Chunk, Header, Message, parse
from veilset.joins.parties.home import Home
from veilset.joins.parties.party_file import PartyFile
from veilset.joins.parties.server import PartyServer
from veilset.limits import Limits

TIME_OUT = 20


def reserved(count: int) -> list[socket.socket]:
    """Sockets that keep a port each for a listener: nobody else is given it, as long as they are open."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.bind(("127.0.0.1", 0))
    return sockets


def _close(sockets: list[socket.socket]) -> None:
    for one in sockets:
        one.close()


def toml(value) -> str:
    """A value in TOML."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {toml(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


@dataclass
class Parties:
    """Files of all parties of a study, in one folder.

    Parameters
    ----------
    folder : Path
        Where they are.
    holdings : dict
        For each party its tables, by name.
    joins : list
        Entries of [[joins]], as dictionaries.
    target : str
        The target table, and its column with the class, as "table.column".
    study : dict
        More that the study says.
    proxies : dict
        For parties that are reached at another port than the one they listen at: this port.
    new : dict
        Records to predict for, by table; their column "id" identifies them.
    """

    folder: Path
    holdings: dict[str, dict[str, pa.Table]]
    joins: list[dict]
    target: str
    classes: list
    study: dict = field(default_factory=dict)
    options: dict = field(default_factory=dict)
    keys: dict = field(default_factory=dict)
    proxies: dict[str, int] = field(default_factory=dict)
    new: dict[str, pa.Table] = field(default_factory=dict)
    time_out: float = TIME_OUT

    def __post_init__(self) -> None:
        self.names = list(self.holdings)
        sockets = reserved(len(self.names))
        weakref.finalize(self, _close, sockets)
        self.ports = {name: one.getsockname()[1] for name, one in zip(self.names, sockets, strict=True)}
        self.folder.mkdir(exist_ok=True, parents=True)
        for name in self.names:
            if not (self.folder / f"{name}-keys").exists():
                make_identity(self.folder / f"{name}-keys", name)
        self.write()

    def write(self) -> None:
        """Write the study, the tables, and the party files, which approve the study."""
        self.study_path.write_text(self.study_text())
        for name in self.names:
            self.path(name).write_text(self.party_text(name, None))
        approved = PartyFile.load(self.path(self.names[0])).study.hash
        for name in self.names:
            self.path(name).write_text(self.party_text(name, approved))

    @property
    def study_path(self) -> Path:
        """The study."""
        return self.folder / "study.toml"

    def path(self, name: str) -> Path:
        """The file of a party."""
        return self.folder / f"{name}.toml"

    def study_text(self) -> str:
        """The study in TOML."""
        head = {
            "target": self.target.partition(".")[0],
            "classes": self.classes,
            "coordinator": self.names[0],
            "time_out": self.time_out,
            **self.study,
        }
        lines = [f"{key} = {toml(value)}" for key, value in head.items()]
        for name, tables in self.holdings.items():
            lines += [f"[parties.{name}]", f'address = "127.0.0.1:{self.proxies.get(name, self.ports[name])}"']
            pem = PartyIdentity(self.folder / f"{name}-keys", name)
            lines += [f'certificate = "{pem.text}"', f"tables = {toml(list(tables))}"]
        for join in self.joins:
            lines += ["[[joins]]", *(f"{key} = {toml(value)}" for key, value in join.items())]
        if self.options:
            lines += ["[options]", *(f"{key} = {toml(value)}" for key, value in self.options.items())]
        return "\n".join(lines) + "\n"

    def party_text(self, name: str, approved: str | None) -> str:
        """A party file in TOML."""
        lines = ['study = "study.toml"', f'party = "{name}"', f'identity = "{name}-keys"', f'state = "{name}-state"']
        lines += [f'listen = "127.0.0.1:{self.ports[name]}"']
        if approved is not None:
            lines += [f'approve = "{approved}"', f"class_known_to = {toml([one for one in self.names if one != name])}"]
        of, column = self.target.split(".", 1)
        for table, content in self.holdings[name].items():
            pq.write_table(content, self.folder / f"{table}.parquet")
            joined = {side.strip().split(".", 1)[1] for side in self._sides() if side.strip().startswith(f"{table}.")}
            asked = [one for one in content.column_names if one not in joined and (table, one) != (of, column)]
            lines += [f"[tables.{table}]", f'path = "{table}.parquet"', f"columns = {toml(asked)}"]
            lines += [f'class = "{column}"'] * (table == of)
        for table in [table for table in self.holdings[name] if table in self.new]:
            pq.write_table(self.new[table], self.folder / f"new_{table}.parquet")
            lines += [f"[predict.{table}]", f'path = "new_{table}.parquet"', 'id = "id"']
        return "\n".join(lines) + "\n"

    def _sides(self) -> list[str]:
        on = [[join["on"]] if isinstance(join["on"], str) else join["on"] for join in self.joins]
        return [side for equalities in on for one in equalities for side in one.split("=")]

    def home(self, name: str) -> Home:
        """The tables of a party, ready for a run."""
        return Home(PartyFile.load(self.path(name)), Limits(threads=1))

    @contextlib.asynccontextmanager
    async def serving(self, names=None, tap=None, tell=None):
        """All parties with tables, listening."""
        async with contextlib.AsyncExitStack() as stack:
            servers = {}
            for name in names or [name for name in self.names if self.holdings[name]]:
                server = PartyServer(self.home(name), tell or (lambda sentence: None), _tap(tap, name))
                stack.push_async_callback(server.close)
                await stack.enter_async_context(server.listener())
                servers[name] = server
            yield servers

    @contextlib.asynccontextmanager
    async def behind_proxies(self, scripts: dict[str, list[NetworkFault]]):
        """Proxies in front of all parties with tables, at whose addresses the study has them."""
        async with contextlib.AsyncExitStack() as stack:
            found = {}
            for name in [name for name in self.names if self.holdings[name]]:
                proxy = FaultProxy(f"127.0.0.1:{self.ports[name]}", scripts.get(name, []))
                found[name] = await stack.enter_async_context(proxy)
                self.proxies[name] = int(proxy.address.rpartition(":")[2])
            self.write()
            yield found

    async def train(self, tap=None, tell=None, watch=lambda growth: None):
        """Train with all parties in this process."""
        async with self.serving(tap=tap, tell=tell):
            return await self.coordinator(tap, tell, watch).train()

    def coordinator(self, tap=None, tell=None, watch=lambda growth: None) -> Coordinator:
        """The party that coordinates."""
        return Coordinator(
            PartyFile.load(self.path(self.names[0])), tell or (lambda sentence: None), watch, _tap(tap, "coordinator")
        )


def _tap(tap, name):
    return None if tap is None else (lambda direction, peer, frame: tap(name, direction, peer, frame))


class PartyIdentity:
    """The certificate of a party as the study has it."""

    def __init__(self, folder: Path, name: str) -> None:
        from veilset.joins.parties.certificates import Identity

        self.text = as_text(Identity.load(folder, name).certificate)


def run(work, seconds: float = 60):
    """Run to the end, or fail after some time. Nothing is left running, and nobody waits for the disk."""

    async def limited():
        before = asyncio.all_tasks()
        result = await asyncio.wait_for(work, seconds)
        if left := asyncio.all_tasks() - before:
            _, left = await asyncio.wait(left, timeout=1)
        assert not left, left
        return result

    with mock.patch("os.fsync", lambda file: None):
        return asyncio.run(limited())


@dataclass(frozen=True)
class Sent:
    """A message that somebody has sent."""

    by: str
    to: str
    message: Message

    @property
    def kind(self) -> str:
        """What it is."""
        return self.message.kind

    @property
    def edge(self) -> int:
        """The edge that a summary is about."""
        return self.message.fields["edge"]

    def counts(self, classes: int) -> dict[int, list]:
        """The class counts of a summary by join value; for a split summary of one node, those of both children."""
        keys, counts = self.message.arrays["keys"], self.message.arrays["counts"]
        shape = (len(keys), classes) if self.kind == "class summary" else (len(keys), 2, classes)
        return dict(zip(keys.tolist(), counts.reshape(shape).tolist(), strict=True))


@dataclass
class Tapped:
    """All frames in plaintext, and the messages in them. A coordinator without tables has a unique name."""

    frames: list[tuple[str, str, str, bytes]] = field(default_factory=list)

    def __call__(self, name: str, direction: str, peer: str, frame: bytes) -> None:
        self.frames.append((name, direction, peer, bytes(frame)))

    @property
    def messages(self) -> list[Sent]:
        """What was sent, in the order of the headers."""
        found: list[Sent] = []
        waiting: dict[tuple[str, str], list] = defaultdict(list)
        for name, direction, peer, frame in self.frames:
            item = parse(frame)
            if direction == "sent" and isinstance(item, Header):
                arrays = {array: bytearray() for array in item.layout}
                waiting[name, peer] = [
                    (arrays[array], dtype.itemsize * length) for array, (dtype, length) in item.layout.items() if length
                ]
                found.append(Sent(name, peer, Message(item.kind, item.fields, arrays)))
                found[-1].message.arrays["layout"] = item.layout
            elif direction == "sent" and isinstance(item, Chunk):
                content, size = waiting[name, peer][0]
                content += item.content
                if len(content) == size:
                    waiting[name, peer].pop(0)
        return [Sent(one.by, one.to, _with_arrays(one.message)) for one in found]

    def between(self, *kinds: str) -> list[Sent]:
        """Messages of these kinds."""
        return [one for one in self.messages if one.kind in kinds]


def _with_arrays(message: Message) -> Message:
    layout = message.arrays.pop("layout")
    arrays = {name: np.frombuffer(message.arrays[name], dtype) for name, (dtype, _) in layout.items()}
    return Message(message.kind, message.fields, arrays)


def of_study(folder: Path, tables: Study, groups: dict[str, Sequence[str]], **more: Any) -> Parties:
    """A study of random tables among parties, each with its tables; nothing is refused."""
    frames = tables.frames
    pairs: dict[tuple[str, str], dict] = {}
    for (left, one), (right, other) in tables.predicates:
        text = pa.types.is_string(tables.schemas[left].field(one).type)
        join = pairs.setdefault(
            (left, right), {"on": [], "type": [], "keys": {left: 99, right: 99}, "policy": "report"}
        )
        join["on"].append(f"{left}.{one} = {right}.{other}")
        join["type"].append("text" if text else "whole number")
    return Parties(
        folder,
        {party: {name: frames[name] for name in names} for party, names in groups.items()},
        [*pairs.values()],
        ".".join(tables.target),
        tables.classes,
        **more,
    )


def golden(folder: Path, **more: Any) -> Parties:
    """The tables of the thesis' running example, a party each; a fourth coordinates."""
    tables = {
        "T1": pa.table({"J1": ["a", "b", "b", "b"], "J2": ["x", "x", "y", "y"], "Class": ["C1", "C2", "C1", "C2"]}),
        "T2": pa.table({"J1": ["a", "c", "b", "a"], "Age": [3, 9, 7, 20]}),
        "T3": pa.table({"J2": ["x", "y", "x"]}),
    }
    joins = [
        {"on": f"T1.{key} = {other}.{key}", "type": "text", "keys": {"T1": 9, other: 9}, "policy": "report"}
        for key, other in (("J1", "T2"), ("J2", "T3"))
    ]
    holdings = {"hub": {}, **{name.replace("T", "p"): {name: table} for name, table in tables.items()}}
    return Parties(folder, holdings, joins, "T1.Class", ["C1", "C2"], **more)


def forging(monkeypatch, name: str, kind: str, forgery, after: int) -> list[str]:
    """From some message of this kind on, what a party sends is forged; which messages were."""
    plain, passed, forged = Channel.send, [], []

    async def send(self, kind_, fields=None, arrays=None):
        if self._reasons.ours.name == name and kind_ == kind:
            passed.append(kind)
            if len(passed) > after:
                forged.append(kind)
                kind_, fields, arrays = forgery(kind_, dict(fields or {}), dict(arrays or {}))
        await plain(self, kind_, fields, arrays)

    monkeypatch.setattr(Channel, "send", send)
    return forged
