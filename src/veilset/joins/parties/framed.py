"""Frames over a secured connection, and how long one waits for the other side.

The peer is silent if nothing came from it for a whole time-out, or if it took nothing, although its heart-beats do not
say that it is busy. If this process itself was held up, that counts as one missed beat of four, not as silence.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from veilset.errors import CannotWrite
from veilset.joins.parties.frames import LARGEST_FRAME, PREFIX, Malformed
from veilset.joins.parties.reasons import Reasons
from veilset.joins.parties.tls import SecureStream

Tap = Callable[[str, str, bytes], None]
"""Called as tap("sent" or "received", peer, frame) with each frame before it is encrypted, or after it is decrypted."""

BEATS = 4
"""Heart-beats in a time-out."""
_Result = TypeVar("_Result")


@dataclass
class Traffic:
    """Bytes of frames, with their lengths."""

    sent: int = 0
    received: int = 0


class FrameStream:
    """Frames to and from a peer.

    Besides what `SecureStream` raises, calls raise `Disrupted` if the peer is silent.
    """

    def __init__(self, stream: SecureStream, reasons: Reasons, traffic: Traffic, tap: Tap | None) -> None:
        self._stream, self._reasons, self._traffic, self._tap = stream, reasons, traffic, tap
        self.peer_busy = False

    async def read(self) -> bytes:
        """The next frame; raise `Malformed` if it is too large."""
        size = PREFIX.unpack(await self._exactly(PREFIX.size))[0]
        if not 0 < size <= LARGEST_FRAME:
            raise Malformed(f"a frame of {size:,} bytes; at most {LARGEST_FRAME:,} are allowed")
        frame = await self._exactly(size)
        self._traffic.received += PREFIX.size + size
        self._show("received", frame)
        return frame

    def put(self, frame: bytes) -> None:
        """Leave a frame to be sent."""
        self._show("sent", frame)
        self._stream.put(PREFIX.pack(len(frame)) + frame)
        self._traffic.sent += PREFIX.size + len(frame)

    async def drained(self) -> None:
        """Wait until there is room for another frame."""
        left = self._stream.waiting

        def excused() -> bool:
            nonlocal left
            before, left = left, self._stream.waiting
            return self.peer_busy or left < before

        await self._in_time(self._stream.drained, excused)

    async def _exactly(self, size: int) -> bytes:
        pieces: list[bytes] = []
        while size:
            piece = await self._in_time(partial(self._stream.read, size), lambda: False)
            if not piece:
                raise EOFError
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    async def _in_time(self, step: Callable[[], Awaitable[_Result]], excused: Callable[[], bool]) -> _Result:
        """Wait for a step; raise if it takes four beats for which there is no excuse."""
        missed = 0
        while missed < BEATS:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._reasons.time_out / BEATS):
                    return await step()
            missed = 0 if excused() else missed + 1
        raise self._reasons.silent()

    def _show(self, direction: str, frame: bytes) -> None:
        if self._tap is not None:
            try:
                self._tap(direction, self._reasons.party, frame)
            except OSError as error:
                raise CannotWrite(
                    f"What is {direction} in the session with {self._reasons.party} cannot be recorded: {error}.",
                    "Make room on the disk, and start again: the run resumes.",
                ) from None
