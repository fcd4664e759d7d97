"""The search wrapper as a server of its own: the thesis' mode, in which a server is sent a part of the profile.

It runs in a process of its own, which opens no store and knows no profile: all it ever gets is what `exposing_message`
shows. It writes nothing down. It listens on this machine; for others, put a web server with TLS before it.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from veilset.errors import InvalidArgument, VeilsetError
from veilset.search.engines import Engine
from veilset.search.wrapper import answer_for
from veilset.web.serving import run_app

Message = MutableMapping[str, Any]

MOST_TERMS = 10_000
LONGEST_QUERY = 10_000
_LARGEST = 1_000_000  # bytes of a request


def serve_wrapper(
    engine: Engine, alpha: str, scoring: str, listener: socket.socket, started: Callable[[], None]
) -> None:
    """Answer at a socket until Ctrl-C."""
    run_app(wrapper_app(engine, alpha, scoring), listener, started)


def wrapper_app(engine: Engine, alpha: str, scoring: str) -> Callable[..., Awaitable[None]]:
    """The server as an ASGI application."""

    async def app(scope: MutableMapping[str, Any], receive: Callable[[], Awaitable[Message]], send: Any) -> None:
        if scope["type"] != "http":
            return
        headers = dict(scope["headers"])
        if (scope["method"], scope["path"]) != ("POST", "/search"):
            await _answer(send, 404, {"error": "Send queries with POST to /search."})
            return
        from_page = any(name == b"origin" or name.startswith(b"sec-fetch-") for name in headers)
        if from_page or headers.get(b"content-type") != b"application/json":  # a page in a browser
            await _answer(send, 403, {"error": "Queries come from Veilset, as application/json, and not from a page."})
            return
        try:
            asked = _checked(await _body(receive))
            told = await asyncio.to_thread(answer_for, asked, engine, alpha, scoring)
        except VeilsetError as error:
            status = 400 if isinstance(error, InvalidArgument) else 502
            await _answer(send, status, {"error": str(error)})
            return
        await _answer(send, 200, told)

    return app


async def _body(receive: Callable[[], Awaitable[Message]]) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > _LARGEST:
            raise InvalidArgument(f"The request has more than {_LARGEST:,} bytes.", "Send fewer terms.")
        if not message.get("more_body", False):
            return bytes(body)


def _checked(body: bytes) -> dict[str, Any]:
    """A request, if it is a query with terms and weights and nothing else: a client of ours sends no more."""
    try:
        asked = json.loads(body)
        query, terms = asked["query"], [(term, weight) for term, weight in asked["terms"]]
        known = asked.keys() == {"query", "terms"} and isinstance(query, str) and len(terms) <= MOST_TERMS
        known = known and 0 < len(query) <= LONGEST_QUERY and all(_is_pair(*pair) for pair in terms)
        json.dumps(asked, ensure_ascii=False).encode()  # halves of surrogate pairs are no text
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        known = False
    if not known:
        raise InvalidArgument(
            "The request is not a query with terms.",
            'Send {"query": "…", "terms": [["term", 0.3], …]} and nothing else.',
        )
    return {"query": query, "terms": terms}


def _is_pair(term: object, weight: object) -> bool:
    named = isinstance(term, str) and 0 < len(term) <= 1_000
    return named and isinstance(weight, (int, float)) and not isinstance(weight, bool) and 0 <= weight <= 100


async def _answer(send: Any, status: int, told: dict[str, Any]) -> None:
    body = json.dumps(told, ensure_ascii=False).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
