"""Parties with certificates, who meet over loopback; nothing may be left behind when they part."""

import asyncio
import contextlib
import re
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.support.fault_proxy import FaultProxy, NetworkFault
from veilset.joins.parties import certificates
from veilset.joins.parties.certificates import Identity
from veilset.joins.parties.wire import PROTOCOL, Channel, Hello, Listener, dial

TIME_OUT = 20.0  # ample: nobody is silent because the machine is busy
_LONGEST = 60.0


def run(work: Coroutine[Any, Any, Any]) -> Any:
    """What a coroutine gives; it must leave no task behind, and no error that nobody has seen."""
    unseen: list[dict[str, Any]] = []

    async def watched() -> Any:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: unseen.append(context))
        async with asyncio.timeout(_LONGEST):
            result = await work
        left = asyncio.all_tasks() - {asyncio.current_task()}
        if left:
            _, left = await asyncio.wait(left, timeout=TIME_OUT)
        assert not left
        return result

    result = asyncio.run(watched())
    assert not unseen
    return result


def identity(folder: Path, name: str, begins: float = -1.0, ends: float = 1.0) -> Identity:
    """A party of this name; its certificate is valid from and until so many days from now."""
    now = datetime.now(UTC).replace(microsecond=0)
    key, certificate = certificates._self_signed(name, now + timedelta(days=begins), now + timedelta(days=ends))
    folder = folder / f"{name}{time.monotonic_ns()}"
    folder.mkdir()
    (folder / "key.pem").write_bytes(key)
    (folder / "key.pem").chmod(0o600)
    (folder / "certificate.pem").write_bytes(certificate)
    return Identity.load(folder, name)


def hello(party: str, **other: Any) -> Hello:
    """What a party says first."""
    usual = {"role": "neighbour", "study": "1f2e", "run": "7", "attempt": 1, "protocol": PROTOCOL, "version": "0.1"}
    return Hello(**{"party": party, **usual, "time": time.time(), **other})


@dataclass
class Shop:
    """A party that listens, and what came of it."""

    identity: Identity
    certificates: dict[str, bytes]
    greet: Callable[[str, Hello], Hello] = lambda peer, theirs: hello("shop")
    time_out: float = TIME_OUT
    complaints: list[str] = field(default_factory=list)
    channels: asyncio.Queue[Channel] = field(default_factory=asyncio.Queue)

    def listener(self, arrived: Callable[[Channel, Hello], Any] | None = None, port: int = 0, **more: Any) -> Listener:
        """Its listener; who arrives waits in `channels`, unless something else is to be done."""
        return Listener(
            "127.0.0.1",
            port,
            self.identity,
            {name: one for name, one in self.certificates.items() if name != self.identity.name},
            self.greet,
            arrived or self._keep,
            time_out=self.time_out,
            complain=self.complaints.append,
            **more,
        )

    async def complaint(self) -> str:
        """The next complaint, which may take a moment."""
        async with asyncio.timeout(TIME_OUT):
            while not self.complaints:
                await asyncio.sleep(0.01)
        return self.complaints.pop(0)

    async def _keep(self, channel: Channel, theirs: Hello) -> None:
        self.channels.put_nowait(channel)


@dataclass
class Pair:
    """Two parties who may talk: the bank dials, the shop listens."""

    folder: Path

    def __post_init__(self) -> None:
        self.bank, self.shop = identity(self.folder, "bank"), identity(self.folder, "shop")
        self.certificates = {one.name: one.certificate for one in (self.bank, self.shop)}

    @contextlib.asynccontextmanager
    async def met(self, *script: NetworkFault, time_out: float = TIME_OUT, tap: Any = None) -> AsyncIterator[tuple]:
        """The channels of bank and shop, over a network that fails as the script says."""
        shop = Shop(self.shop, self.certificates, time_out=time_out)
        async with shop.listener(tap=tap) as listener, FaultProxy(listener.address, script) as proxy:
            there = await self.dial(proxy.address, time_out=time_out)
            back = await shop.channels.get()
            try:
                yield there, back
            finally:
                await asyncio.gather(there.close(), back.close())

    async def dial(self, address: str, time_out: float = TIME_OUT, **more: Any) -> Channel:
        """The bank calls the shop."""
        return await dial(address, "shop", self.bank, self.shop.certificate, hello("bank"), time_out=time_out, **more)


def without_details(text: str) -> str:
    """A sentence without what differs from run to run."""
    text = re.sub(r"(?:[0-9a-f]{4} ){15}[0-9a-f]{4}", "FINGERPRINT", text)
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?", "TIME", text)
    return re.sub(r"(127\.0\.0\.1):\d+", r"\1:PORT", text)
