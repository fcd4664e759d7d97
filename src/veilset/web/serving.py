"""A page served to this machine alone, until Ctrl-C."""

from __future__ import annotations

import socket
from collections.abc import Callable

import uvicorn

from veilset.errors import CannotWrite, said
from veilset.web.guard import App
from veilset.web.session import HOST, Session


def listening(port: int) -> socket.socket:
    """A socket on the loopback interface; port 0: a free one."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
    except OSError as error:
        listener.close()
        raise CannotWrite(
            f"Cannot listen at {HOST}:{port}: {error.strerror}.", f"Use another {said('port')}; 0 takes a free one."
        ) from None
    return listener


def serve_site(app: Callable[[Session], App], *, port: int, opened: Callable[[str], None]) -> None:
    """Serve a page until Ctrl-C; *opened* is told the address to open."""
    with listening(port) as listener:
        session = Session(listener.getsockname()[1])
        run_app(app(session), listener, lambda: opened(session.address))


def run_app(app: App, listener: socket.socket, started: Callable[[], None]) -> None:
    """Answer at a socket until Ctrl-C. Nothing is logged: requests hold what people look for."""
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        h11_max_incomplete_event_size=65_536,
        limit_concurrency=64,
        timeout_graceful_shutdown=2,
    )
    server = _Server(config)
    server.started_callback = started
    server.run(sockets=[listener])


class _Server(uvicorn.Server):
    """A server that says when it can be reached."""

    started_callback: Callable[[], None]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.started_callback()
