"""TLS over a socket, such that each side learns why the other refused it.

asyncio's own TLS drops the connection before the alert is sent that says why; the other side would take a refused
certificate for a network failure. Here the alert goes out first.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Callable
from typing import TypeVar

from veilset.joins.parties.addresses import joined_address

_Result = TypeVar("_Result")
_AT_ONCE = 1 << 16
_RECORDS = (0x15, 0x16)  # an alert, or a step of the handshake: what TLS begins with


class NotTls(Exception):
    """The first byte from the other side was not that of TLS."""


class SecureStream:
    """A connection that is encrypted, and whose other side has shown one of the trusted certificates.

    Failures are those of the system (`OSError`), of TLS (`ssl.SSLError`), `EOFError` where the other side ended the
    connection without a word, and `NotTls`.
    """

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, context: ssl.SSLContext, *, server: bool
    ) -> None:
        self._reader, self._writer = reader, writer
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=server)
        self.heard = self.secured = False

    @property
    def caller(self) -> str:
        """The address at the other end."""
        host, port, *_ = self._writer.get_extra_info("peername") or ("an address that is gone", 0)
        return joined_address(host, port)

    async def handshake(self) -> bytes:
        """Agree on keys, and check certificates; the one of the other side (DER)."""
        await self._do(self._tls.do_handshake)
        self.secured = True
        return self._tls.getpeercert(binary_form=True) or b""

    async def read(self, most: int) -> bytes:
        """Some bytes, up to this many; none after the other side has ended in order."""
        try:
            return await self._do(lambda: self._tls.read(most))
        except ssl.SSLZeroReturnError:
            return b""

    def put(self, content: bytes) -> None:
        """Encrypt bytes and leave them to be sent; `drained` waits for that."""
        self._tls.write(content)
        self._flush()

    async def drained(self) -> None:
        """Wait until there is room for more."""
        await self._writer.drain()

    @property
    def waiting(self) -> int:
        """Bytes that the system has not taken yet."""
        return self._writer.transport.get_write_buffer_size()

    async def end(self, within: float) -> None:
        """Send all that was put, say that there is no more, and wait for the other side to end, too.

        Otherwise the system could take back what it has not delivered.
        """
        try:
            async with asyncio.timeout(within):
                with contextlib.suppress(ssl.SSLError):  # it wants an answer, or was not begun
                    self._tls.unwrap()
                self._flush()
                self._writer.write_eof()
                while await self._reader.read(_AT_ONCE):
                    pass
        except OSError:
            pass
        finally:
            self.abort()

    def abort(self) -> None:
        """Close the socket, now."""
        self._writer.transport.abort()

    async def _do(self, step: Callable[[], _Result]) -> _Result:
        """Do a step of TLS, which may need bytes of the other side first."""
        while True:
            try:
                result = step()
            except ssl.SSLWantReadError:
                self._flush()  # without waiting: who reads must not depend on who writes
                await self._feed()
            except ssl.SSLError:
                self._flush()  # the alert
                raise
            else:
                self._flush()
                return result

    async def _feed(self) -> None:
        content = await self._reader.read(_AT_ONCE)
        if not content:
            raise EOFError
        if not self.heard and content[0] not in _RECORDS:
            raise NotTls
        self.heard = True
        self._incoming.write(content)

    def _flush(self) -> None:
        if self._outgoing.pending and not self._writer.is_closing():
            self._writer.write(self._outgoing.read())
