"""Requests to a page of ours, as a browser sends them: without a network, to the application itself."""

import asyncio
import re
from dataclasses import dataclass, field
from urllib.parse import urlencode

import httpx

from veilset.web.session import Session


@dataclass
class Browser:
    """Somebody who may use the page, unless told otherwise."""

    app: object
    session: Session
    cookie: str | None = None
    headers: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.cookie is None:
            self.cookie = self.session.cookie.partition(";")[0]

    def ask(self, method: str, path: str, *, body: bytes = b"", **headers: str) -> httpx.Response:
        """One request, exactly as said; a header that is the empty text is left out."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        given = {"host": self.session.host, "cookie": self.cookie or "", **self.headers, **named}

        async def sending() -> httpx.Response:
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url=self.session.origin) as client:
                lines = [(name, value) for name, value in given.items() if value]
                request = httpx.Request(method, f"{self.session.origin}{path}", headers=lines, content=body)
                if not given["host"]:
                    del request.headers["host"]
                return await client.send(request)

        return asyncio.run(sending())

    def get(self, path: str = "", **headers: str) -> httpx.Response:
        """What is at a path in the folder of the page."""
        return self.ask("GET", self.session.folder + path, **headers)

    def send(self, action: str, *, partial: bool = True, **fields: object) -> httpx.Response:
        """A form of the page."""
        body = urlencode({"csrf": self.session.csrf, **fields}, doseq=True).encode()
        return self.post(action, body, **({"veilset_partial": "1"} if partial else {}))

    def post(self, action: str, body: bytes, **headers: str) -> httpx.Response:
        """A form with these bytes."""
        kind = "application/x-www-form-urlencoded"
        given = {"origin": self.session.origin, "content_type": kind, "sec_fetch_site": "same-origin", **headers}
        return self.ask("POST", self.session.folder + action, body=body, **given)


def part(text: str, name: str) -> str:
    """The words in a part of a page, without its markup."""
    found = re.search(rf'<(\w+)[^>]*\bid="{name}".*', text, re.DOTALL)
    assert found, f"There is no part {name}."
    return " ".join(re.sub(r"<[^>]*>", " ", found[0]).split())
