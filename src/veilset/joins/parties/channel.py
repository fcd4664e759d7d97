"""A connection to a party that has shown its certificate: messages in both directions, heart-beats in between.

The first thing that goes wrong ends the channel: every call that waits, and every later one, raises the same error.
What had arrived in full before is still given out first.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
from collections import deque
from collections.abc import Mapping
from typing import Any, get_args

import numpy as np

from veilset.errors import VeilsetError
from veilset.joins.parties import frames
from veilset.joins.parties.disrupted import Disrupted, Fault, one_line
from veilset.joins.parties.framed import BEATS, FrameStream, Tap, Traffic
from veilset.joins.parties.frames import Alive, Array, Chunk, Header, Malformed, Message
from veilset.joins.parties.hello import Hello
from veilset.joins.parties.reasons import Reasons
from veilset.joins.parties.tls import NotTls, SecureStream

GOODBYE = "goodbye"
_FRAMES_WAITING = 4  # until we are busy


class Channel:
    """One authenticated connection to a named peer.

    Parameters
    ----------
    stream : SecureStream
        The connection, after its handshake.
    reasons : Reasons
        What is known of it, to say why it failed.
    tap : callable, optional
        Sees every frame.
    """

    hello: Hello
    """What the peer said first."""

    def __init__(self, stream: SecureStream, reasons: Reasons, tap: Tap | None = None) -> None:
        self.peer = reasons.party
        self.traffic = Traffic()
        self._stream, self._reasons = stream, reasons
        self._framed = FrameStream(stream, reasons, self.traffic, tap)
        self._beat_time = reasons.time_out / BEATS
        self._waiting: deque[Header | Chunk] = deque()
        self._arrived, self._room = asyncio.Event(), asyncio.Event()
        self._sending, self._taking = asyncio.Lock(), asyncio.Lock()
        self._busy = False
        self._failure: VeilsetError | None = None
        self._reader = asyncio.create_task(self._read())
        self._tasks = {self._reader, asyncio.create_task(self._beat())}

    async def send(
        self, kind: str, fields: Mapping[str, Any] | None = None, arrays: Mapping[str, Array] | None = None
    ) -> None:
        """Send a message; return when the system has taken (nearly) all of it."""
        header = frames.header_frame(kind, fields or {}, arrays or {})
        async with self._sending:
            try:
                await self._put(header)
                for array in (arrays or {}).values():
                    for chunk in frames.chunk_frames(array):
                        await self._put(chunk)
            except asyncio.CancelledError:
                if arrays:
                    self._fail(self._ended(f"Message {kind!r} to {self.peer} was not sent to its end."))
                raise

    async def expect(self, *kinds: str, most: int = 1 << 20) -> Message:
        """The next message, which must be of one of these kinds and have at most this many bytes of arrays."""
        async with self._taking:
            try:
                header = await self._next()
                if not isinstance(header, Header):
                    raise Malformed("a piece of an array outside of a message")
                self._check(header, kinds, most)
                return Message(header.kind, header.fields, await self._arrays(header))
            except Malformed as error:
                raise await self.refuse(self.garbage(str(error))) from None
            except Disrupted as error:
                raise await self.refuse(error) from None

    async def close(self, reason: str = "") -> None:
        """Say goodbye, if that is possible, and close the connection."""
        if self._failure is None:
            await self.refuse(self._ended(f"The connection to {self.peer} is closed. {reason}".strip()), reason)
        await self._finished()

    async def refuse(self, error: Disrupted, reason: str | None = None) -> VeilsetError:
        """End the session for a reason that the peer is told: that of the error, or this one.

        The error that all who wait get is returned, to be raised.
        """
        if self._failure is not None:
            return copy.copy(self._failure)
        self._failure = error
        blocked = self._sending.locked()
        self._stop()
        try:
            await self._finished()
            if not blocked:
                sentence = one_line(error.what if reason is None else reason)
                frame = frames.header_frame(GOODBYE, {"reason": sentence, "fault": error.fault}, {})
                with contextlib.suppress(OSError, VeilsetError):
                    self._framed.put(frame)
                await self._stream.end(self._beat_time)
        finally:
            self._stream.abort()
        return copy.copy(error)

    def garbage(self, what: str) -> Disrupted:
        """The error, to `refuse` with, for a message that no honest peer sends; *what* does not quote it."""
        return self._reasons.disrupted(
            "garbage",
            f"{self.peer} sent {what}.",
            "Install the same version of Veilset at all parties, and start again.",
        )

    def silent(self) -> Disrupted:
        """The error, likewise, for a peer that has not said in time what it should."""
        return self._reasons.silent()

    def _check(self, header: Header, kinds: tuple[str, ...], most: int) -> None:
        if header.kind not in kinds:
            raise self._reasons.disrupted(
                "unexpected",
                f"{self.peer} sent a message {one_line(header.kind)[:40]!r} where "
                f"{' or '.join(map(repr, kinds))} was expected.",
                "Install the same version of Veilset at all parties, and start again.",
            )
        if header.size > most:
            raise Malformed(f"arrays of {header.size:,} bytes in {header.kind!r}, where {most:,} are possible")

    async def _arrays(self, header: Header) -> dict[str, Array]:
        """The arrays that follow a header."""
        try:
            arrays = frames.empty_arrays(header.layout)
        except (MemoryError, ValueError):
            raise self._reasons.disrupted(
                "refused",
                f"{self.peer} wants to send {header.size:,} bytes in {header.kind!r}, more than there is room for.",
                "Agree on fewer keys or a smaller depth, or use a machine with more memory.",
            ) from None
        try:
            for array in arrays.values():
                content = array.view("u1")
                for start in range(0, len(content), frames.CHUNK):
                    room = content[start : start + frames.CHUNK]
                    chunk = await self._next()
                    if not isinstance(chunk, Chunk) or len(chunk.content) != len(room):
                        raise Malformed(f"an array of {header.kind!r} in wrong pieces")
                    room[:] = np.frombuffer(chunk.content, "u1")
        except asyncio.CancelledError:
            self._fail(self._ended(f"Message {header.kind!r} of {self.peer} was not received to its end."))
            raise
        return arrays

    async def _next(self) -> Header | Chunk:
        while not self._waiting:
            if self._failure is not None:
                raise copy.copy(self._failure)
            self._arrived.clear()
            await self._arrived.wait()
        self._room.set()
        return self._waiting.popleft()

    async def _read(self) -> None:
        """Take frames off the network, as long as somebody takes them from here."""
        try:
            while True:
                item = self._parsed(await self._framed.read())
                if item is not None:
                    self._waiting.append(item)
                    self._arrived.set()
                self._busy = len(self._waiting) >= _FRAMES_WAITING
                while len(self._waiting) >= _FRAMES_WAITING:
                    self._room.clear()
                    await self._room.wait()
                self._busy = False
        except Malformed as error:
            await self.refuse(self.garbage(str(error)))
        except (OSError, EOFError, NotTls) as error:
            await self._lose(self._reasons.of(error))
        except VeilsetError as error:
            await self._lose(error)
        except asyncio.CancelledError:
            if self._failure is None:  # the loop ends, and nobody has closed the channel
                self._fail(self._ended(f"The connection to {self.peer} was given up."))
            raise

    async def _lose(self, error: VeilsetError) -> None:
        """End the channel after the network failed; if that was in one direction only, the peer may still be told."""
        if isinstance(error, Disrupted) and error.fault in ("silent", "garbage"):
            await self.refuse(error)
        self._fail(error)

    def _parsed(self, frame: bytes) -> Header | Chunk | None:
        """What is to be given out of a frame."""
        item = frames.parse(frame)
        if isinstance(item, Alive):
            self._framed.peer_busy = item.busy
            return None
        if isinstance(item, Header) and item.kind == GOODBYE:
            raise self._farewell(item.fields)
        return item

    async def _beat(self) -> None:
        """Tell the peer now and then that we are here; while a message is being sent, its frames tell it."""
        with contextlib.suppress(VeilsetError):
            while True:
                await asyncio.sleep(self._beat_time)
                if not self._sending.locked():
                    async with self._sending:
                        await self._put(frames.alive_frame(self._busy))

    async def _put(self, frame: bytes) -> None:
        """Send a frame; wait until there is room for the next."""
        if self._failure is None:
            try:
                self._framed.put(frame)
                await self._framed.drained()
            except VeilsetError as error:
                self._fail(error)
            except OSError as error:
                await asyncio.wait({self._reader}, timeout=self._beat_time)  # it may have heard why
                self._fail(self._reasons.of(error))
        if self._failure is not None:
            raise copy.copy(self._failure)

    def _fail(self, error: VeilsetError) -> None:
        """End the channel, now; the first failure counts."""
        if self._failure is None:
            self._failure = error
        self._stop()
        self._stream.abort()

    def _stop(self) -> None:
        """Wake all who wait, and end the tasks in the background, except if this is one of them."""
        self._arrived.set()
        self._room.set()
        for task in self._tasks - {asyncio.current_task()}:
            task.cancel()

    async def _finished(self) -> None:
        if others := self._tasks - {asyncio.current_task()}:
            await asyncio.wait(others)

    def _farewell(self, fields: Mapping[str, Any]) -> Disrupted:
        """What to say after the peer has said goodbye."""
        reason = fields.get("reason")
        fault: Any = fields.get("fault")
        if not isinstance(reason, str) or fault not in get_args(Fault):
            raise Malformed("a goodbye without a reason")
        said = f" and says: “{one_line(reason).rstrip('.')}”" if reason else ""
        return self._reasons.disrupted(
            fault,
            f"{self.peer} has ended the session{said}.",
            f"Clear up with {self.peer} what it says, then start again." if reason else "Start again: the run resumes.",
        )

    def _ended(self, what: str) -> Disrupted:
        return self._reasons.disrupted("closed", what, "Connect again.")
