"""Servers that record every byte they are sent, and answer with bytes that a test names."""

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field


@dataclass
class Recorded:
    """What a server was sent, connection by connection, and where it listens."""

    port: int
    requests: list[bytes] = field(default_factory=list)

    @property
    def address(self) -> str:
        """Its address without a path."""
        return f"http://127.0.0.1:{self.port}"


def answer(body: bytes, status: str = "200 OK", kind: str = "application/json", **headers: str) -> bytes:
    """A response over HTTP."""
    named = {"Content-Type": kind, "Content-Length": str(len(body)), "Connection": "close"}
    lines = {**named, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return "\r\n".join([f"HTTP/1.1 {status}", *(f"{k}: {v}" for k, v in lines.items()), "", ""]).encode() + body


@contextlib.contextmanager
def recording(
    *answers: bytes | Callable[[bytes], bytes],
    drip: float | None = None,
    silent: bool = False,
    tls: ssl.SSLContext | None = None,
) -> Iterator[Recorded]:
    """A server that gives these answers in turn, the last one again and again; *drip*: a byte after so many seconds."""
    listener = socket.create_server(("127.0.0.1", 0))
    recorded = Recorded(listener.getsockname()[1])
    ended = threading.Event()

    def content(request: bytes) -> bytes:
        chosen = answers[min(len(recorded.requests), len(answers)) - 1]
        return chosen(request) if callable(chosen) else chosen

    def talk(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            request = _request(connection)
            recorded.requests.append(request)
            if silent:
                ended.wait(10)
            else:
                _give(connection, content(request), drip, ended)

    def listen() -> None:
        while not ended.is_set():
            with contextlib.suppress(OSError):  # the end, or a handshake that failed
                connection, _ = listener.accept()
                connection.settimeout(10)
                talk(connection if tls is None else tls.wrap_socket(connection, server_side=True))

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    try:
        yield recorded
    finally:
        ended.set()
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)


def _give(connection: socket.socket, content: bytes, drip: float | None, ended: threading.Event) -> None:
    if drip is None:
        connection.sendall(content)
        return
    for at in range(len(content)):
        if ended.wait(drip):
            return
        connection.sendall(content[at : at + 1])


def _request(connection: socket.socket) -> bytes:
    """A request with its body, whose length it says."""
    content = b""
    while b"\r\n\r\n" not in content:
        piece = connection.recv(65536)
        if not piece:
            return content
        content += piece
    head, _, body = content.partition(b"\r\n\r\n")
    length = next((int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0)
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body
