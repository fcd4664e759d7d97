"""``veilset search query``: search, and rank the results by the profile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from veilset.cli.forms import Natural
from veilset.cli.options import Flag, Json, Text
from veilset.cli.screen import Screen
from veilset.cli.search import PassphraseFile, StoreFile, opened_store, search
from veilset.search.terms import SEARCH_EXTRA
from veilset.views import installed, visible

if TYPE_CHECKING:
    from veilset.search.wrapper import Reply

Switch = Annotated[bool, Flag]
EngineName = Annotated[
    str | None,
    Parameter(
        help="Engine to ask from home: local, searxng:ADDRESS, opensearch:ADDRESS/INDEX. Default: as on the page."
    ),
]


def needs_search() -> None:
    """Raise unless what asks over HTTP is installed."""
    installed("httpx", "Private personalised search", SEARCH_EXTRA)


@search.command(sort_key=3)
def query(
    words: str,
    /,
    *,
    engine: EngineName = None,
    alpha: str | None = None,
    scoring: str | None = None,
    original: Switch = False,
    limit: Natural = 10,
    store: StoreFile = None,
    passphrase_file: PassphraseFile = None,
    json: Json = False,
    text: Text = False,
) -> int:
    """Search, and rank the results by your profile.

    By default, results are ranked on this machine, so only the query leaves; of the engine local, not even that. What
    is sent is logged: veilset search expose --log.

    Examples:

        veilset search query jaguar
        veilset search query 'python packaging' --engine searxng:https://searx.example.org

    Parameters
    ----------
    words
        Query, as you would type it into a search box.
    alpha
        Weight of the profile, from 0 to 1, or auto: 0.5 for queries of one or two words, 0 for others.
        Default: as on the page.
    scoring
        Scoring of results: interest, which prefers what is most frequent in the profile, or thesis.
    original
        Leave the engine's order alone. Nothing of the profile is used or sent.
    limit
        Number of results to print. JSON has all.
    """
    screen = Screen.of(json, text)
    needs_search()
    from veilset.search.desk import Desk  # noqa: PLC0415 - it needs the extra
    from veilset.search.fetching import Fetcher  # noqa: PLC0415
    from veilset.search.page_text import PageTexts  # noqa: PLC0415

    given = {
        name: value for name, value in (("engine", engine), ("alpha", alpha), ("scoring", scoring)) if value is not None
    }
    with opened_store(store, passphrase_file) as opened, PageTexts() as page_texts:
        desk = Desk(opened, Fetcher(page_texts))
        desk.try_out(**given, **({"mode": "home"} if engine else {}))
        reply = desk.search(words, personal=not original)
    screen.answer(_facts(reply), lambda: _print(reply, screen, limit, personal=not original))
    return 0


def _facts(reply: Reply) -> dict[str, Any]:
    results = [
        {
            "position": one.position,
            "rank": one.result.rank,
            "title": one.result.title,
            "address": one.result.address,
            "snippet": one.result.snippet,
            "up_score": one.up_score,
            "up_rank": float(one.up_rank),
            "pp_rank": float(one.pp_rank),
            "reasons": one.reasons,
        }
        for one in reply.ranked
    ]
    return {"query": reply.query, "results": results, "notes": list(reply.notes)}


def _print(reply: Reply, screen: Screen, limit: int, *, personal: bool) -> None:
    for one in reply.ranked[:limit]:
        why = ", ".join(f"{term} ×{count}" for term, count in list(one.reasons.items())[:6])
        rank = f"{one.position}." + (
            f" (was {one.result.rank})" if personal and one.position != one.result.rank else ""
        )
        screen.say(f"[bold]{screen.escape(f'{rank} {visible(one.result.title)}')}[/]")
        screen.say(f"   {screen.escape(visible(one.result.address))}")
        if why:
            screen.say(f"   {screen.escape(visible(why))}")
    if not reply.ranked:
        screen.say("Nothing was found.")
    elif len(reply.ranked) > limit:
        screen.say(f"… and {len(reply.ranked) - limit:,} more.")
    for note in reply.notes:
        screen.say(f"[yellow]{screen.escape(visible(note))}[/]")
