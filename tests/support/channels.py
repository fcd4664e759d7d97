"""Connections between parties of one process, for protocols without a network."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class Delivered:
    kind: str
    fields: dict[str, Any]
    arrays: dict[str, Any]

    @property
    def all_bytes(self) -> bytes:
        return repr((self.kind, self.fields)).encode() + b"".join(array.tobytes() for array in self.arrays.values())


@dataclass
class MemoryChannel:
    """One end; *forge* may change what it sends, by kind."""

    peer: str
    inbox: Any
    outbox: Any
    sent: list[Delivered] = field(default_factory=list)
    forge: dict[str, Any] = field(default_factory=dict)

    async def send(self, kind, fields=None, arrays=None):
        arrays = {name: np.array(array) for name, array in (arrays or {}).items()}
        message = self.forge.get(kind, lambda same: same)(Delivered(kind, dict(fields or {}), arrays))
        self.sent.append(message)
        await self.outbox.put(message)

    async def expect(self, *kinds, most=1 << 20):
        message = await self.inbox.get()
        assert message.kind in kinds, message.kind
        assert sum(array.nbytes for array in message.arrays.values()) <= most
        return message


def connected(one: str, other: str) -> tuple[MemoryChannel, MemoryChannel]:
    """The ends of a connection, that of *one* first. Each holds a single message, so that to send is to wait."""
    there, back = asyncio.Queue(1), asyncio.Queue(1)
    return MemoryChannel(other, back, there), MemoryChannel(one, there, back)
