"""What a protocol between two parties asks of the connection that carries it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class Message(Protocol):
    """What arrives: fields are few and small, arrays may be large."""

    @property
    def fields(self) -> Mapping[str, Any]:
        """Numbers and text by name."""

    @property
    def arrays(self) -> Mapping[str, Any]:
        """NumPy arrays by name."""


class Channel(Protocol):
    """A connection to one other party, whose name is certain. Both sides may send at once."""

    @property
    def peer(self) -> str:
        """The other party."""

    async def send(self, kind: str, fields: Mapping[str, Any] = ..., arrays: Mapping[str, Any] = ...) -> None:
        """Send a message."""

    async def expect(self, *kinds: str, most: int = ...) -> Message:
        """The next message, which must be of one of these kinds and have at most so many bytes in arrays."""
