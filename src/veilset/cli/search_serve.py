"""``veilset search serve`` and ``wrapper``: the page for one person, and the server of the exposing mode."""

from __future__ import annotations

import sys
from contextlib import ExitStack, suppress
from typing import Annotated

from cyclopts import Parameter

from veilset.cli.options import Json, Text
from veilset.cli.screen import Screen
from veilset.cli.search import PassphraseFile, StoreFile, opened_store, search
from veilset.cli.search_query import needs_search
from veilset.errors import InvalidArgument, unknown
from veilset.search.ranking import AUTO, DEFAULT_SCORING, SCORINGS, alpha_for
from veilset.search.terms import SEARCH_EXTRA
from veilset.views import installed

Port = Annotated[int, Parameter(help="Port on this machine. 0 takes a free one.")]


def _check_port(port: int) -> None:
    if not 0 <= port < 65536:
        raise InvalidArgument(f"--port is {port}.", "Give a number from 0 to 65535.")


@search.command(sort_key=4)
def serve(
    *,
    port: Port = 0,
    store: StoreFile = None,
    passphrase_file: PassphraseFile = None,
    json: Json = False,
    text: Text = False,
) -> int:
    """Open your search as a web page, for this machine only.

    Prints an address with a secret: open it in your browser. Ctrl-C ends the page.

    Example:

        veilset search serve
    """
    screen = Screen.of(json, text)
    _check_port(port)
    needs_search()
    installed("starlette", "The page", SEARCH_EXTRA)
    installed("uvicorn", "The page", SEARCH_EXTRA)
    from veilset.search.desk import Desk  # noqa: PLC0415 - they need the extra
    from veilset.search.fetching import Fetcher  # noqa: PLC0415
    from veilset.search.page import SearchPage, search_site  # noqa: PLC0415
    from veilset.search.page_text import PageTexts  # noqa: PLC0415
    from veilset.web.serving import serve_site  # noqa: PLC0415
    from veilset.web.worker import Worker  # noqa: PLC0415

    with opened_store(store, passphrase_file) as opened, PageTexts() as page_texts, Worker() as worker:
        desk = Desk(opened, Fetcher(page_texts))
        with screen.progress() as progress:
            worker.do(lambda: opened.profile(progress=progress))  # the first look at the page shall not wait for it
        site = search_site(SearchPage(desk), worker)

        def tell(address: str) -> None:
            screen.answer(
                {"address": address},
                lambda: screen.say(screen.escape(f"Open {address}\nThe address is a secret. Ctrl-C ends the page.")),
            )
            sys.stdout.flush()

        with suppress(KeyboardInterrupt):  # nothing is lost: every choice is stored when it is made
            serve_site(site.app, port=port, opened=tell)
    return 0


@search.command(sort_key=5)
def wrapper(
    *,
    engine: str,
    alpha: str = AUTO,
    scoring: str = DEFAULT_SCORING,
    port: Port = 8600,
    store: StoreFile = None,
    json: Json = False,
    text: Text = False,
) -> int:
    """Run the search wrapper of the exposing mode: a server that ranks results by the terms it is sent.

    It knows no profile, and writes nothing down. It listens on this machine; for others, put a web server with TLS
    before it.

    Example:

        veilset search wrapper --engine searxng:https://searx.example.org

    Parameters
    ----------
    engine
        Engine to ask: searxng:ADDRESS, opensearch:ADDRESS/INDEX, or local for the documents of --store.
    alpha
        Weight of the terms, from 0 to 1, or auto: 0.5 for queries of one or two words, and 0 for others.
    scoring
        Scoring of results: interest, which prefers what is most frequent in the profile, or thesis.
    """
    screen = Screen.of(json, text)
    _check_port(port)
    alpha_for("", alpha)  # refuses what is none
    if scoring not in SCORINGS:
        raise unknown("scoring", scoring, SCORINGS)
    needs_search()
    installed("uvicorn", "The wrapper", SEARCH_EXTRA)
    from veilset.search.engines import engine_named  # noqa: PLC0415 - they need the extra
    from veilset.search.exposing_server import serve_wrapper  # noqa: PLC0415
    from veilset.web.serving import listening  # noqa: PLC0415

    if engine.strip() == "local" and store is None:
        raise InvalidArgument("--engine local needs --store.", "Name the file with the documents to search.")
    with ExitStack() as stack:
        documents = stack.enter_context(opened_store(store)) if engine.strip() == "local" else None
        listener = stack.enter_context(listening(port))
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"

        def tell() -> None:
            screen.answer({"address": address}, lambda: screen.say(f"Answers at {address}. Ctrl-C ends it."))
            sys.stdout.flush()

        with suppress(KeyboardInterrupt):
            serve_wrapper(engine_named(engine, documents), alpha, scoring, listener, tell)
    return 0
