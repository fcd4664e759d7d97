"""``veilset search profile forget``: rules that work backwards."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from cyclopts import Parameter

from veilset.cli.options import Flag, Json, Text
from veilset.cli.screen import Screen
from veilset.cli.search import PassphraseFile, StoreFile, opened_store
from veilset.cli.search_profile import profile
from veilset.errors import InvalidArgument, unknown
from veilset.search.forgetting import Forgotten
from veilset.search.rules import Kind, Rule
from veilset.views import Count

_SHOWN = 10

Names = Annotated[tuple[str, ...], Flag]


@profile.command(sort_key=3)
def forget(
    *,
    site: Names = (),
    folder: Names = (),
    sender: Names = (),
    word: Names = (),
    source: Names = (),
    document: Names = (),
    store: StoreFile = None,
    passphrase_file: PassphraseFile = None,
    dry_run: Annotated[bool, Flag] = False,
    readmit: Annotated[bool, Flag] = False,
    yes: Annotated[bool, Parameter(help="Remove without asking."), Flag] = False,
    json: Json = False,
    text: Text = False,
) -> int:
    """Remove documents from the profile, and every trace of them from its file.

    It shows what would go, and asks. A hash of the rule is kept, so that a later build does not bring them back.

    Examples:

        veilset search profile forget --site example.org --dry-run
        veilset search profile forget --word divorce --yes

    Parameters
    ----------
    site
        Site to forget, with its subdomains and its mail. Repeatable.
    folder
        Folder to forget, by path or name. Repeatable.
    sender
        Address to forget the mail of, from and to it. Repeatable.
    word
        Word to forget, with all documents that contain it. Repeatable.
    source
        Source to forget, by its name. Repeatable.
    document
        Document to forget, by its address. Repeatable.
    dry_run
        Show what would go, and remove nothing.
    readmit
        Let later builds read what was to stay forgotten. Remove nothing.
    """
    screen = Screen.of(json, text)
    given: dict[Kind, tuple[str, ...]] = {
        "site": site,
        "folder": folder,
        "sender": sender,
        "word": word,
        "source": source,
        "document": document,
    }
    rules = [Rule.of(kind, value) for kind, values in given.items() for value in values]
    if not rules:
        raise InvalidArgument("Nothing to forget is given.", "Name it, for example: --site example.org")
    with opened_store(store, passphrase_file) as opened:
        if readmit:
            readmitted = {str(rule): opened.readmit(rule) for rule in rules}
            screen.answer({"readmitted": readmitted}, lambda: _print_readmitted(readmitted, screen))
            return 0
        for name in source:
            if name not in opened.sources():
                raise unknown("source", name, opened.sources())
        forgotten = [opened.forget(rule, dry_run=dry_run or not yes) for rule in rules]
        for one in forgotten:
            screen.show(partial(_print, one, screen))
        if not dry_run and not yes:
            if not screen.confirm("Remove them for ever?"):
                raise InvalidArgument("Nothing was removed.", "Use --yes to remove without being asked.")
            forgotten = [opened.forget(rule) for rule in rules]
        where = f"Removed from {opened.path}. Backups of the file still have them."
        if not any(one.documents for one in forgotten):
            where = "No document was there to remove. Later builds leave out what this covers."
        screen.answer(
            {"forgotten": [one.to_json() for one in forgotten], "removed": not dry_run},
            lambda: screen.say(screen.escape("Nothing was removed." if dry_run else where)),
        )
    return 0


def _print(forgotten: Forgotten, screen: Screen) -> None:
    many = Count(len(forgotten.documents))
    screen.say(f"[bold]{screen.escape(forgotten.rule)}[/]: {many:,} {many:document goes|documents go}")
    for document in forgotten.documents[:_SHOWN]:
        screen.say(f"  {screen.escape(document.title or '(no title)')} [dim]{screen.escape(document.key)}[/]")
    if len(forgotten.documents) > _SHOWN:
        screen.say(f"  … and {len(forgotten.documents) - _SHOWN:,} more; --json lists all")
    if forgotten.gone:
        screen.say(f"  Terms that go: {screen.escape(_listed(list(forgotten.gone)))}")
    if forgotten.smaller:
        told = [f"{term} {float(had):,.1f} → {float(has):,.1f}" for term, (had, has) in forgotten.smaller.items()]
        screen.say(f"  Terms that shrink: {screen.escape(_listed(told))}")
    for log, terms in forgotten.logged.items():
        screen.say(f"  [yellow]The log {log!r} keeps[/]: {screen.escape(_listed(list(terms)))}")
    if forgotten.judged:
        screen.say(f"  {forgotten.judged:,} of your judgements lose what they say of it.")
    if not forgotten.remembered:
        screen.say("  A rule with * is not remembered: add it to your sources file, or a later build reads them again.")


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - 2 * _SHOWN:,} more" if len(names) > 2 * _SHOWN else ""
    return ", ".join(names[: 2 * _SHOWN]) + more


def _print_readmitted(readmitted: dict[str, bool], screen: Screen) -> None:
    for rule, was in readmitted.items():
        said = "later builds may read it again" if was else "it was not to stay forgotten"
        screen.say(screen.escape(f"{rule}: {said}."))
