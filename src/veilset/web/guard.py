"""What stands before every page: it lets only the person through who opened the printed address.

Protects the page from other sites in the same browser (cookie, origin, token in each form, the Host header against
names that somebody points at this machine) and from other programs and users of the machine (the cookie's secret). It
does not protect from a program that runs as the same user and reads the terminal or the browser's memory.

Each request passes the same steps; the first that fails answers in words for a person.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from html import escape
from typing import Any
from urllib.parse import parse_qs, parse_qsl

from veilset.web.headers import RAW
from veilset.web.session import Session

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LARGEST_FORM = 1_000_000
"""Bytes."""
MOST_FIELDS = 2_000
FORM = "veilset.form"
"""Where the guard puts the fields of a form in the scope."""

_FORM_TYPE = "application/x-www-form-urlencoded"
_REOPEN = "Open the address that veilset printed in the terminal."


class Refused(Exception):
    """A request that does not reach the page."""

    def __init__(self, status: int, why: str, next_step: str = _REOPEN) -> None:
        super().__init__(why)
        self.status, self.why, self.next_step = status, why, next_step


class Guard:
    """An ASGI application before another one.

    Parameters
    ----------
    app
        What answers those who may pass.
    session
        Who may.
    """

    def __init__(self, app: App, session: Session) -> None:
        self._app, self._session = app, session

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # no page of ours uses websockets
            await send({"type": "websocket.close"})
            return
        send = _with_headers(send)
        try:
            headers = _headers(scope)
            self._check_host(headers)
            if scope["path"] == "/open":
                await self._open(scope, send)
                return
            self._check_session(scope, headers)
            if scope["method"] == "POST":
                scope[FORM] = await self._form(headers, receive)
                receive = _nothing_more
            elif scope["method"] not in ("GET", "HEAD"):
                raise Refused(405, f"The method {scope['method']} is not allowed.")
        except Refused as refused:
            await _answer(send, refused.status, _page(refused), [])
            return
        await self._app(scope, receive, send)

    def _check_host(self, headers: dict[str, str]) -> None:
        if headers.get("host") != self._session.host:
            raise Refused(421, f"This page is only at {self._session.host}.")

    async def _open(self, scope: Scope, send: Send) -> None:
        """Set the cookie, and lead to the page; the secret is not in the address there."""
        given = dict(parse_qsl(scope["query_string"].decode("ascii", "replace")))
        if scope["method"] not in ("GET", "HEAD") or not self._session.opens(given.get("token", "")):
            raise Refused(403, "This address is not the one of the page that is running now.")
        where = [(b"location", self._session.folder.encode()), (b"set-cookie", self._session.cookie.encode())]
        await _answer(send, 303, b"", where)

    def _check_session(self, scope: Scope, headers: dict[str, str]) -> None:
        if not scope["path"].startswith(self._session.folder) or not self._session.knows(headers.get("cookie", "")):
            raise Refused(403, "This browser has not opened the page that is running now.")
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            raise Refused(403, "Another site asked for this page.")

    async def _form(self, headers: dict[str, str], receive: Receive) -> dict[str, list[str]]:
        """The fields of a form, which must come from our own page."""
        if headers.get("origin") != self._session.origin:
            raise Refused(403, "Another site sent this form.")
        if headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM_TYPE:
            raise Refused(415, "This is not a form of the page.")
        try:
            body = (await _body(receive)).decode()
            fields = parse_qs(body, keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
        except ValueError:
            raise Refused(400, "This form is damaged, or has too many fields.", "Reload the page.") from None
        if not self._session.sent(fields.pop("csrf", [""])[0]):
            raise Refused(403, "This form does not come from the page that is running now.", "Reload the page.")
        return fields


def _headers(scope: Scope) -> dict[str, str]:
    """The headers that matter here, of which none may be given twice."""
    found: dict[str, str] = {}
    for raw, value in scope["headers"]:
        name = raw.decode("latin-1").lower()
        if name in found and name in ("host", "origin", "content-type", "sec-fetch-site"):
            raise Refused(400, f"The header {name} is given twice.")
        found[name] = f"{found[name]}; {value.decode('latin-1')}" if name in found else value.decode("latin-1")
    return found


async def _body(receive: Receive) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refused(400, "The form did not arrive completely.", "Try again.")
        body += message.get("body", b"")
        if len(body) > LARGEST_FORM:
            raise Refused(413, f"The form has more than {LARGEST_FORM:,} bytes.", "Send less at once.")
        if not message.get("more_body", False):
            return bytes(body)


async def _nothing_more() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


def _with_headers(send: Send) -> Send:
    """Our headers in place of any others of the same name."""
    ours = {name for name, _ in RAW}

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            others = [(name, value) for name, value in message.get("headers", ()) if name.lower() not in ours]
            message = {**message, "headers": [*others, *RAW]}
        await send(message)

    return sending


async def _answer(send: Send, status: int, body: bytes, headers: list[tuple[bytes, bytes]]) -> None:
    about = [(b"content-type", b"text/html; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": [*about, *headers]})
    await send({"type": "http.response.body", "body": body})


def _page(refused: Refused) -> bytes:
    """Words for a person. It has no style: that would be a request that is refused, too."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><title>Veilset: not open</title></head>'
        f"<body><h1>Not open</h1><p>{escape(refused.why)}</p><p>{escape(refused.next_step)}</p></body></html>"
    ).encode()
