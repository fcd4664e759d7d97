"""``veilset search expose``: see what leaves the machine, and agree to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from rich.table import Table

from veilset.cli.options import Flag, Json, Text
from veilset.cli.screen import Screen
from veilset.cli.search import PassphraseFile, StoreFile, opened_store, search
from veilset.cli.search_query import Switch, needs_search
from veilset.errors import InvalidArgument
from veilset.views import visible

if TYPE_CHECKING:
    from veilset.search.desk import Desk
    from veilset.search.sending import Frozen

Names = Annotated[tuple[str, ...], Flag]
_EXAMPLE = "your query"


@search.command(sort_key=2)
def expose(
    words: str | None = None,
    /,
    *,
    ratio: str | None = None,
    terms: int | None = None,
    min_detail: str | None = None,
    hide: Names = (),
    unhide: Names = (),
    allow: Names = (),
    deny: Names = (),
    related: Switch = False,
    all_terms: Switch = False,
    server: str | None = None,
    home: Switch = False,
    agree: Switch = False,
    log: Switch = False,
    store: StoreFile = None,
    passphrase_file: PassphraseFile = None,
    json: Json = False,
    text: Text = False,
) -> int:
    """Show exactly what would leave this machine, and agree to it.

    Sends nothing, and changes nothing without --agree. Sensitive terms are left out until you --allow them.

    Examples:

        veilset search expose jaguar
        veilset search expose --terms 12 --server https://wrapper.example.org
        veilset search expose --terms 12 --hide diet --allow church --agree

    Parameters
    ----------
    words
        Query to show the request for.
    ratio
        Largest share of the profile's information to expose, such as 0.3.
    terms
        Largest number of terms to expose.
    min_detail
        Least probability of an exposed interest, as in the thesis.
    hide
        Interest to hide, with all within it. Repeatable.
    unhide
        Hidden interest to show again. Repeatable.
    allow
        Sensitive term that may be sent. Repeatable.
    deny
        Sensitive term that must not be sent. Repeatable.
    related
        Send with a query only those of the terms that are related to it.
    all_terms
        Send all of them with each query again.
    server
        Address of a search wrapper that shall get the terms with each query.
    home
        Rank on this machine again, so that only queries leave.
    agree
        Store these choices. From now on, queries take exactly these terms along.
    log
        Print everything that was ever sent instead.
    """
    screen = Screen.of(json, text)
    needs_search()
    from veilset.search.desk import Desk  # noqa: PLC0415 - it needs the extra

    dial = {"ratio": ratio, "terms": terms, "min_detail": min_detail}
    chosen = _choices(dial, related=related, all_terms=all_terms, server=server, home=home)
    with opened_store(store, passphrase_file) as opened:
        if log:
            sent = opened.entries("sent")
            screen.answer({"sent": sent}, lambda: _print_log(sent, screen))
            return 0
        desk = Desk(opened)
        desk.try_out(**_named(desk, hide, unhide, allow, deny), **chosen)
        facts = {**_exposed_facts(desk, words), **(_agreed(desk, words) if agree else {}), "agreed": agree}
        screen.answer(facts, lambda: _print_exposed(facts, desk, screen, agreed=agree))
    return 0


def _choices(
    dial: Mapping[str, object], *, related: bool, all_terms: bool, server: str | None, home: bool
) -> dict[str, Any]:
    """What the flags say of the dial, of queries and of where results are ranked."""
    if server is not None and home:
        raise InvalidArgument("--server and --home cannot be combined.", "Give one of them.")
    if related and all_terms:
        raise InvalidArgument("--related and --all-terms cannot be combined.", "Give one of them.")
    choices: dict[str, Any] = {}
    if turned := {name: value for name, value in dial.items() if value is not None}:
        choices["dial"] = turned
    if related or all_terms:
        choices["per_query"] = related
    if server is not None:
        choices |= {"mode": "exposing", "server": server}
    if home:
        choices["mode"] = "home"
    return choices


def _named(desk: Desk, hide: Names, unhide: Names, allow: Names, deny: Names) -> dict[str, Any]:
    """What is hidden, and what may be sent. A name with a slip of the pen must not look as if it were obeyed."""
    for name in (*hide, *allow, *deny):
        if not desk.profile.find(name) and name not in {*desk.hidden, *desk.allowed}:
            raise InvalidArgument(f"The profile has no interest {name!r}.", "See veilset search profile show.")
    for name in unhide:
        if name not in desk.hidden:
            known = ", ".join(desk.hidden) or "nothing"
            raise InvalidArgument(f"{name!r} is not hidden.", f"Hidden: {known}.")
    return {
        "hidden": [name for name in desk.hidden if name not in {*hide, *unhide}] + list(hide),
        "allowed": {**desk.allowed, **dict.fromkeys(allow, True), **dict.fromkeys(deny, False)},
    }


def _agreed(desk: Desk, words: str | None) -> dict[str, Any]:
    """Store what was tried out; what is sent from now on."""
    digest = desk.proposed().digest
    desk.keep()
    if desk.mode != "exposing":
        return {}
    desk.refresh(digest)
    return {"sent_from_now_on": desk.frozen.to_setting(), "request": _request(desk, words)}


def _request(desk: Desk, words: str | None, agreed: Frozen | None = None) -> str | None:
    message = desk.preview(words or _EXAMPLE, agreed=agreed).message
    return None if message is None else message.shown


def _exposed_facts(desk: Desk, words: str | None) -> dict[str, Any]:
    exposure, difference = desk.exposure(), desk.difference()
    proposed = desk.proposed() if difference and desk.mode == "exposing" else None
    preview = desk.preview(words or _EXAMPLE, agreed=proposed)
    return {
        "mode": desk.mode,
        "to": preview.destination,
        "fetches_pages": desk.fetches and desk.mode == "home" and bool(preview.destination),
        "exposed": {
            "ratio": exposure.ratio,
            "min_detail": float(exposure.min_detail),
            "terms": [[term, float(weight)] for term, weight in sorted(exposure.rounded().items())],
        },
        "to_ask": desk.to_ask() if desk.mode == "exposing" else {},
        "hidden": desk.hidden,
        "related_only": desk.per_query,
        "sent_now": desk.frozen.to_setting() if desk.mode == "exposing" else [],
        "difference": {
            "added": [[term, float(weight)] for term, weight in difference.added],
            "removed": [[term, float(weight)] for term, weight in difference.removed],
            "changed": [[term, float(one), float(other)] for term, one, other in difference.changed],
        }
        if desk.mode == "exposing"
        else None,
        "request": None if preview.message is None else preview.message.shown,
    }


def _print_exposed(facts: Mapping[str, Any], desk: Desk, screen: Screen, *, agreed: bool) -> None:
    exposed = facts["exposed"]
    if facts["mode"] == "home":
        what = (
            f"Only the query leaves this machine, to {facts['to']}." if facts["to"] else "Nothing leaves this machine."
        )
        screen.say(screen.escape(f"{what} Results are ranked here, by these terms:"))
        if facts["fetches_pages"]:
            screen.say("[yellow]The pages of all results are fetched, so their servers learn your address.[/]")
    else:
        screen.say(screen.escape(f"With each query, terms go to {facts['to']}. The dial stands at these:"))
    table = Table(box=None, pad_edge=False)
    table.add_column("Term", overflow="fold")  # what may leave is never cut off
    table.add_column("Weight", justify="right")
    for term, weight in exposed["terms"]:
        table.add_row(screen.escape(visible(term)), f"{weight:.1f}")
    screen.console.print(table)
    detail = "above all" if exposed["min_detail"] > 1 else f"{exposed['min_detail']:.4f}"
    screen.say(f"{len(exposed['terms']):,} terms, expRatio {exposed['ratio']:.1%}, minDetail {detail}")
    if facts["hidden"]:
        screen.say(screen.escape(f"Hidden: {visible(', '.join(facts['hidden']))}"))
    for topic in dict.fromkeys(facts["to_ask"].values()):
        asked = ", ".join(visible(term) for term, about in facts["to_ask"].items() if about == topic)
        screen.say(screen.escape(f"Left out, since it may be sensitive ({topic}): {asked}. --allow or --deny each."))
    if facts["mode"] == "exposing":
        _print_change(facts["difference"], screen, agreed=agreed)
        if facts["related_only"]:
            screen.say("Each query takes only those of them along that are related to it.")
        from veilset.search.sending import pseudonym  # noqa: PLC0415 - it needs the extra

        if said := pseudonym(len(exposed["terms"])):
            screen.say(f"[yellow]The profile is a pseudonym. {said}[/]")
    if facts["request"]:
        when = "as of now" if agreed or not any((facts["difference"] or {}).values()) else "with --agree"
        screen.say(f"\n[bold]The request {when}, byte for byte[/]\n{screen.escape(facts['request'])}")


def _print_change(difference: Mapping[str, Any], screen: Screen, *, agreed: bool) -> None:
    lines = [f"+ {term} {weight:.1f}" for term, weight in difference["added"]]
    lines += [f"− {term} {weight:.1f}" for term, weight in difference["removed"]]
    lines += [f"  {term} {before:.1f} → {after:.1f}" for term, before, after in difference["changed"]]
    if agreed:
        screen.say("Agreed: from now on, queries take these terms along and no others.")
    elif lines:
        screen.say("With --agree, what is sent changes:\n" + screen.escape("\n".join(map(visible, lines))))
    else:
        screen.say("This is what you agreed to.")


def _print_log(sent: Sequence[Mapping[str, Any]], screen: Screen) -> None:
    for entry in sent:
        pages = entry.get("addresses")
        what = f"pages: {', '.join(pages)}" if pages is not None else repr(entry.get("query", ""))
        terms = ", ".join(f"{term} {weight}" for term, weight in entry.get("terms", ()))
        screen.say(
            screen.escape(visible(f"{entry['at']}  {entry['to']}  {what}" + (f"  with {terms}" if terms else "")))
        )
    if not sent:
        screen.say("Nothing was ever sent.")
