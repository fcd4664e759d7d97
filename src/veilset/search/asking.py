"""One request over HTTP: exactly the bytes that a preview shows, and an answer within bounds.

No cookies, no proxies or passwords from the environment, no redirects, no second try, no compression (a small answer
could unfold into a large one). A new connection for each request: on an old one, a server would know that two queries
come from one person. The headers are those of `HEADERS`, in this order, whoever asks.
"""

from __future__ import annotations

import re
import ssl
import time
from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from queue import Empty, Queue
from threading import Thread
from typing import Any, cast
from urllib.parse import unquote

import httpcore
import httpx

from veilset.errors import InvalidArgument, VeilsetError
from veilset.search.public_addresses import resolved
from veilset.views import clipped

HEADERS = (
    "Host",
    "User-Agent",
    "Accept",
    "Accept-Encoding",
    "Connection",
    "Authorization",
    "Content-Type",
    "Content-Length",
)
"""All headers that are ever sent: Authorization only if the address has a password, the last two only with a body."""

Addresses = Callable[[str, int], Sequence[str]]
_SCHEMES = ("http", "https")
_PASSWORD = re.compile(r"(?m)^(Authorization: Basic ).*$")
_HOST = re.compile(rb"[A-Za-z0-9._:-]+")


class NoAnswer(VeilsetError):
    """Somebody who was asked and gave no usable answer: down, slow, refusing, or talking nonsense."""


@dataclass(frozen=True)
class Message:
    """A request before it is sent.

    Parameters
    ----------
    method : str
        GET or POST.
    address : str
        Where it goes, http or https.
    accept : str
        The kinds of answers that can be read.
    kind : str
        The kind of the body.
    body : bytes
        What is sent.
    """

    method: str
    address: str
    accept: str = "application/json"
    kind: str = ""
    body: bytes = b""

    @property
    def url(self) -> httpx.URL:
        """The address in its parts."""
        return checked_url(self.address)

    @property
    def host(self) -> str:
        """Whom the message goes to, without a name or password."""
        url = self.url
        return f"{url.host}:{url.port}" if url.port else url.host

    @property
    def headers(self) -> list[tuple[str, str]]:
        """The headers, in the order of `HEADERS`."""
        url = self.url
        given = {
            "Host": url.netloc.decode("ascii"),
            "User-Agent": "veilset",
            "Accept": self.accept,
            "Accept-Encoding": "identity",
            "Connection": "close",
        }
        if url.userinfo:
            name, _, password = url.userinfo.decode("ascii").partition(":")
            pair = f"{unquote(name)}:{unquote(password)}".encode()
            given["Authorization"] = f"Basic {b64encode(pair).decode()}"
        if self.method == "POST":
            given |= {"Content-Type": self.kind, "Content-Length": str(len(self.body))}
        return [(name, given[name]) for name in HEADERS if name in given]

    @property
    def wire(self) -> bytes:
        """All bytes that leave the machine (inside TLS, if the address is https)."""
        first = f"{self.method} {self.url.raw_path.decode('ascii')} HTTP/1.1"
        lines = [first, *(f"{name}: {value}" for name, value in self.headers)]
        return "\r\n".join([*lines, "", ""]).encode("ascii") + self.body

    @property
    def shown(self) -> str:
        """The same as text; a password in it is left out."""
        return _PASSWORD.sub(r"\1…", self.wire.decode("utf-8", "replace").replace("\r\n", "\n"))


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def kind(self) -> str:
        """The kind of the body, such as ``text/html``."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


def checked_url(address: str) -> httpx.URL:
    """An address in its parts, if it is one of the web."""
    try:
        url = httpx.URL(address)
        known = url.scheme in _SCHEMES and _HOST.fullmatch(url.raw_host) and (url.port is None or 0 < url.port < 65536)
        known = known and bool(url.host)  # a name in punycode that stands for none is an error only here
    except (httpx.InvalidURL, ValueError):
        known = False
    if not known:
        raise InvalidArgument(
            f"{clipped(address)!r} is no address of the web.", "Give one such as https://example.org."
        )
    return url


def ask(
    message: Message,
    *,
    seconds: float,
    most: int,
    addresses: Addresses = resolved,
    trust: ssl.SSLContext | None = None,
) -> Answer:
    """Send a message, and give the answer.

    Parameters
    ----------
    message : Message
        What is sent.
    seconds : float
        How long all of it may take, from the first look at the address to the last byte.
    most : int
        Bytes of the answer that are read; a longer one is an error.
    addresses : callable
        Gives the addresses that may be connected to, for a host and a port. The connection goes to one of these and
        nowhere else; the Host header and the certificate are those of the host. Default: as the system finds them.
    trust : SSLContext, optional
        Which certificates are good. Default: those that browsers trust.
    """
    url, host = message.url, message.host
    network = _Network(time.monotonic() + seconds, addresses)
    request = httpcore.Request(
        message.method,
        httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
        headers=message.headers,
        content=message.body if message.method == "POST" else None,
    )
    context = (trust or _trust()) if url.scheme == "https" else None
    try:
        with httpcore.ConnectionPool(ssl_context=context, network_backend=network) as pool:
            response = pool.handle_request(request)
            headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
            return Answer(response.status, headers, _bounded(cast("Iterable[bytes]", response.stream), most, host))
    except httpcore.TimeoutException:
        why, then = f"did not answer within {seconds:g} seconds", "Try again later, or ask another one."
    except httpcore.ConnectError as error:
        why, then = f"cannot be reached: {clipped(str(error))}", "Check the address and the network."
    except (httpcore.NetworkError, httpcore.ProtocolError) as error:
        why = f"gave no proper answer: {clipped(str(error)).rstrip('.')}"
        then = "Check that the address is one of a web server."
    raise NoAnswer(f"{host} {why}.", then)


def _bounded(stream: Iterable[bytes], most: int, host: str) -> bytes:
    body = bytearray()
    for piece in stream:
        body += piece
        if len(body) > most:
            raise NoAnswer(f"{host} answered with more than {most:,} bytes.", "Ask somebody else: this is no answer.")
    return bytes(body)


@cache
def _trust() -> ssl.SSLContext:
    return httpx.create_ssl_context(trust_env=False)


class _Network(httpcore.NetworkBackend):
    """Connections to checked addresses, of which each read and write ends at one common moment."""

    def __init__(self, deadline: float, addresses: Addresses) -> None:
        self._deadline, self._addresses = deadline, addresses
        self._inner = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """A connection to the first address that answers."""
        del timeout, local_address
        places = _looked_up(lambda: self._addresses(host, port), self._deadline)
        for place in places[:-1]:
            try:
                return self._connected(place, port, socket_options)
            except httpcore.ConnectError:
                continue  # the next address of the same host
        return self._connected(places[-1], port, socket_options)

    def _connected(self, place: str, port: int, socket_options: Iterable[Any] | None) -> httpcore.NetworkStream:
        inner = self._inner.connect_tcp(place, port, remaining(self._deadline), None, socket_options)
        return _Stream(inner, self._deadline)


class _Stream(httpcore.NetworkStream):
    """A connection that ends at some moment, however slowly bytes drip in."""

    def __init__(self, inner: httpcore.NetworkStream, deadline: float) -> None:
        self._inner, self._deadline = inner, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        del timeout
        return self._inner.read(max_bytes, remaining(self._deadline))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        del timeout
        self._inner.write(buffer, remaining(self._deadline))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        del timeout
        secured = self._inner.start_tls(ssl_context, server_hostname, remaining(self._deadline))
        return _Stream(secured, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


def _looked_up(look_up: Callable[[], Sequence[str]], deadline: float) -> Sequence[str]:
    """The addresses of a host; the system's own patience with name servers would be longer than ours."""
    found: Queue[Sequence[str] | Exception] = Queue()

    def look() -> None:
        try:
            found.put(look_up())
        except Exception as error:  # raised again where somebody waits
            found.put(error)

    Thread(target=look, daemon=True).start()
    try:
        answer = found.get(timeout=remaining(deadline))
    except Empty:
        raise httpcore.ConnectTimeout from None
    if isinstance(answer, (OSError, UnicodeError)):  # a name that is too long is no text for the system
        raise httpcore.ConnectError(getattr(answer, "strerror", None) or str(answer)) from None
    if isinstance(answer, Exception):
        raise answer
    return answer


def remaining(deadline: float) -> float:
    """The seconds that are left; out of time, an error as of a connection."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise httpcore.ReadTimeout
    return left
