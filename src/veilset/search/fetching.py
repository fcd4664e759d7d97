"""The pages of results, fetched before they are ranked: only if the user wants it, and then all of them.

To fetch some pages would tell their servers which ones matter to the profile. So all are asked for, in random order and
with the same headers; each server learns the address of this machine, as if the user had clicked. An address must be
one of the public internet at the usual ports, at every redirect anew, and the connection goes to the very address that
was checked. If one page cannot be read, titles and snippets rank them all: otherwise it would be one measure for some
results and another for the rest.
"""

from __future__ import annotations

import random
import ssl
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import httpx

from veilset.errors import VeilsetError
from veilset.search.asking import Addresses, Answer, Message, NoAnswer, ask, checked_url
from veilset.search.public_addresses import NotPublic, public_addresses, resolved
from veilset.search.ranking import Result

ACCEPT = "text/html, application/xhtml+xml, text/plain"
MOST_REDIRECTS = 3

_PORTS = {"http": 80, "https": 443}
_LARGEST = 3_000_000  # bytes of a page
_AT_ONCE = 10
_REDIRECTS = (301, 302, 303, 307, 308)


def public_ones(host: str, port: int) -> list[str]:
    """The addresses of a host as the system finds them, if all are public."""
    return public_addresses(host, port, resolved)


@dataclass(frozen=True)
class Fetched:
    """Results with their pages.

    Parameters
    ----------
    results : list of Result
        The results, each with its page if all could be read; else, as they were.
    failed : dict of str to str
        For each address that could not be read, why.
    asked : list of str
        The addresses that were asked for, in order, redirects included.
    """

    results: list[Result]
    failed: dict[str, str]
    asked: list[str]


@dataclass(frozen=True)
class Fetcher:
    """Fetches pages from the public internet.

    Parameters
    ----------
    text_of : callable
        Makes the text of a page from its bytes and its kind (``text/html``); called for one page after the other.
    seconds : float
        How long each page may take, with its redirects.
    addresses : callable
        The addresses that may be connected to for a host; an error if one of them is not public.
    trust : SSLContext, optional
        Which certificates are good.
    ports : mapping
        The port that addresses must have.
    """

    text_of: Callable[[bytes, str], str]
    seconds: float = 8
    addresses: Addresses = public_ones
    trust: ssl.SSLContext | None = None
    ports: tuple[tuple[str, int], ...] = tuple(_PORTS.items())

    def pages(self, results: Sequence[Result]) -> Fetched:
        """All pages of some results."""
        asked: list[str] = []
        order = random.SystemRandom().sample(range(len(results)), len(results))
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            work = {at: threads.submit(self._page, results[at].address, asked) for at in order}
        pages, failed = {}, {}
        for at, result in enumerate(results):
            try:
                pages[at] = self.text_of(*work[at].result())
            except VeilsetError as error:
                failed[result.address] = error.what
        if failed:
            return Fetched(list(results), failed, asked)
        return Fetched([replace(result, page=pages[at]) for at, result in enumerate(results)], {}, asked)

    def _page(self, address: str, asked: list[str]) -> tuple[bytes, str]:
        """A page and its kind, after at most a few redirects."""
        deadline = time.monotonic() + self.seconds
        for _ in range(MOST_REDIRECTS + 1):
            message = Message("GET", address, accept=ACCEPT)
            self._check(message)
            asked.append(address)
            left = max(0.01, deadline - time.monotonic())
            answer = ask(message, seconds=left, most=_LARGEST, addresses=self.addresses, trust=self.trust)
            if answer.status not in _REDIRECTS:
                return _body(message, answer)
            address = _next(message, answer)
        raise NoAnswer(f"{message.host} leads on more than {MOST_REDIRECTS} times.", "Open the page yourself.")

    def _check(self, message: Message) -> None:
        """Raise unless the address is that of a public web page: no other port, no password."""
        url = message.url
        port = dict(self.ports)[url.scheme]
        if (url.port or _PORTS[url.scheme]) != port or url.userinfo:
            raise NotPublic(f"{message.host} is not at the usual port, or has a password.", "Open the page yourself.")


def _body(message: Message, answer: Answer) -> tuple[bytes, str]:
    """The bytes of an answer, if it is a page."""
    if answer.status != 200:
        raise NoAnswer(f"{message.host} answered with the status {answer.status}.", "Open the page yourself.")
    if answer.kind not in ACCEPT.split(", "):
        what = answer.kind or "an unnamed kind"
        raise NoAnswer(f"{message.host} answered with {what}, which is no page.", "Open it yourself.")
    if answer.headers.get("content-encoding", "identity").lower() != "identity":
        raise NoAnswer(f"{message.host} answered with compressed text.", "Open the page yourself.")
    return answer.body, answer.kind


def _next(message: Message, answer: Answer) -> str:
    """Where a redirect leads, without the fragment: whatever a stranger's server names, an address of the web."""
    where = answer.headers.get("location", "").strip().partition("#")[0]
    if not where:
        raise NoAnswer(f"{message.host} leads on, but not where.", "Open the page yourself.")
    try:
        address = str(message.url.join(where))
    except (httpx.InvalidURL, ValueError):  # no port, no name, a character that is none
        address = where
    checked_url(address)
    return address
