"""``veilset search profile build``, ``show`` and ``exclusions``: what the profile is made from, and what is in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from veilset.cli.options import Flag, Json, LimitOptions, Text
from veilset.cli.screen import Screen
from veilset.cli.search import (
    PassphraseFile,
    StoreFile,
    asked_passphrase,
    opened_store,
    read_passphrase,
    search,
    store_path,
)
from veilset.cli.search_sources import SourceOptions
from veilset.errors import InvalidArgument
from veilset.limits import Limits
from veilset.search.building import Built, preview
from veilset.search.building import build as fill
from veilset.search.exclusions import Exclusions
from veilset.search.node import BETWEEN_WORDS, Node
from veilset.search.profile import Profile
from veilset.search.sources.source import Notes
from veilset.search.store import Store

profile = App(name="profile", help="Build, show and shrink the profile.", sort_key=1)
search.command(profile)

_SHOWN = 10  # documents or problems of a source
_WORDS = 5  # of an interest
_TOLD = Fraction(1, 10)  # the least support that is not printed as 0.0


@profile.command(sort_key=1)
def build(
    file: Path | None = None,
    /,
    *,
    store: StoreFile = None,
    dry_run: Annotated[bool, Flag] = False,
    passphrase: Annotated[bool, Flag] = False,
    passphrase_file: PassphraseFile = None,
    sources: SourceOptions | None = None,
    limits: LimitOptions | None = None,
    json: Json = False,
    text: Text = False,
) -> int:
    """Build a profile from sources of this machine, or bring it up to date.

    Only what you name is read, and nothing is fetched. The documents of a source replace those it had before.

    Examples:

        veilset search profile build sources.toml --dry-run
        veilset search profile build --firefox ~/.mozilla/firefox/x1y2.default --folder ~/notes
        veilset search profile build sources.toml --passphrase

    Parameters
    ----------
    file
        Sources file with sources, exclusions and settings. See docs/search-sources.md.
    dry_run
        Show every document that would be read, and what is left out. Keep nothing.
    passphrase
        Seal a new profile under a passphrase, which the terminal asks for.
    """
    screen = Screen.of(json, text)
    chosen = (sources or SourceOptions()).chosen(file)
    bounds = limits or LimitOptions()
    exists = store_path(store).exists()
    if passphrase and (exists or passphrase_file):
        why = f"{str(store_path(store))!r} exists" if exists else "--passphrase-file is given"
        raise InvalidArgument(f"--passphrase is for a new profile, and {why}.", "Leave it out.")
    if dry_run:
        opened = opened_store(store, passphrase_file) if exists else None
        with screen.progress() as progress:
            built = preview(chosen.sources, chosen.exclusions, opened, Limits(**vars(bounds), progress=progress))
        if opened is not None:
            opened.close()
        _raise_if_nothing_could_be_read(built)
        facts = {**_facts(built), "exclusions": chosen.exclusions.to_json()}
        screen.answer(facts, lambda: _print_preview(built, chosen.exclusions, screen))
        return 0
    with (
        _filled(_opened_or_new(store, passphrase, passphrase_file), new=not exists) as opened,
        screen.progress() as progress,
    ):
        reading = Limits(**vars(bounds), progress=progress)
        built = fill(chosen.sources, chosen.exclusions, opened, reading)
        _raise_if_nothing_could_be_read(built)
        if chosen.settings is not None:
            opened.set("profile", chosen.settings)
        reading.step("Building the profile")
        made = opened.profile(**replace(reading, progress=progress).bounds())
        where, documents = str(opened.path), len(opened)

    def show() -> None:
        for name, notes in built.notes.items():
            _print_notes(name, notes, screen)
        if built.excluded:
            screen.say(f"{built.excluded:,} documents of earlier builds are covered by a rule now, and were removed.")
        _print_top(made, documents, screen)
        screen.say(screen.escape(f"Written: {where}. Only you can read it. Nothing has left this machine."))

    facts = {**built.to_json(), "documents": documents, "profile": _summary(made), "written": where}
    screen.answer(facts, show)
    return 0


def _opened_or_new(store: Path | None, passphrase: bool, passphrase_file: Path | None) -> Store:
    path = store_path(store)
    if path.exists():
        return opened_store(store, passphrase_file)
    if passphrase_file is not None:
        return Store.create(path, passphrase=read_passphrase(passphrase_file))
    if not passphrase:
        return Store.create(path)
    first = asked_passphrase("New passphrase: ")
    if first != asked_passphrase("Once more: "):
        raise InvalidArgument("The two passphrases differ.", "Try again.")
    return Store.create(path, passphrase=first)


@contextmanager
def _filled(store: Store, *, new: bool) -> Iterator[Store]:
    """The store; a new one is kept only if nothing stops its first build."""
    with store:
        try:
            yield store
        except BaseException:
            if new:
                store.erase()
            raise


def _raise_if_nothing_could_be_read(built: Built) -> None:
    failures = [notes.failed for notes in built.notes.values()]
    if failures and failures[0] is not None and all(failures):
        raise failures[0]


def _facts(built: Built) -> dict[str, Any]:
    """What would be read, document by document."""
    return {
        "sources": {
            name: {
                **notes.to_json(),
                "documents": [
                    {
                        "key": document.key,
                        "title": document.title,
                        "place": document.place,
                        "when": None if document.when is None else document.when.isoformat(),
                    }
                    for document in notes.documents
                ],
            }
            for name, notes in built.notes.items()
        }
    }


def _print_preview(built: Built, exclusions: Exclusions, screen: Screen) -> None:
    for name, notes in built.notes.items():
        _print_notes(name, notes, screen)
        for document in notes.documents[:_SHOWN]:
            screen.say(f"  {screen.escape(document.title or '(no title)')} [dim]{screen.escape(document.key)}[/]")
        if len(notes.documents) > _SHOWN:
            screen.say(f"  … and {len(notes.documents) - _SHOWN:,} more; --json lists all")
    subjects = ", ".join(exclusions.subjects) or "nothing"
    rules = "; ".join(map(str, exclusions.rules)) or "none"
    screen.say(screen.escape(f"Left out by default: {subjects}. Your rules: {rules}."))
    screen.say("Nothing was kept.")


def _print_notes(name: str, notes: Notes, screen: Screen) -> None:
    screen.say(f"[bold]{screen.escape(name)}[/]: {notes.read:,} documents")
    if notes.failed is not None:
        screen.say(f"  [bold red]not read[/]: {screen.escape(notes.failed)}")
    for why, count in notes.left_out.most_common():
        screen.say(f"  {count:,} left out: {screen.escape(why)}")
    for what, why in notes.passed_over[:_SHOWN]:
        screen.say(f"  [yellow]passed over[/] {screen.escape(what)}: {screen.escape(why)}")
    if len(notes.passed_over) > _SHOWN:
        screen.say(f"  … and {len(notes.passed_over) - _SHOWN:,} more passed over; --json lists all")


def _summary(made: Profile) -> dict[str, Any]:
    nodes = list(_below(made.root))
    return {
        "interests": len(nodes),
        "min_support": made.min_support,
        "top": [{"name": node.name, "support": float(node.support)} for node in made.root.children[:_SHOWN]],
    }


def _print_top(made: Profile, documents: int, screen: Screen) -> None:
    facts = _summary(made)
    screen.say(f"[bold]{facts['interests']:,} interests[/] in {documents:,} documents")
    if facts["top"]:
        names = ", ".join(_short(one) for one in made.root.children[:_SHOWN])
        screen.say(screen.escape(f"Best supported: {names}. See all: veilset search profile show"))


def _below(node: Node) -> Iterator[Node]:
    return (one for one in node.walk() if one is not node)


@profile.command(sort_key=2)
def show(
    *,
    store: StoreFile = None,
    passphrase_file: PassphraseFile = None,
    why: Annotated[str | None, Parameter(help="Term to explain by the documents that put it there.")] = None,
    depth: Annotated[int | None, Parameter(help="Number of levels to print. JSON has all. Default: all.")] = None,
    json: Json = False,
    text: Text = False,
) -> int:
    """Show the profile as a tree of interests with their words and supports.

    Examples:

        veilset search profile show --depth 2
        veilset search profile show --why jazz
    """
    screen = Screen.of(json, text)
    if depth is not None and depth < 1:
        raise InvalidArgument(f"--depth is {depth}.", "Give a whole number from 1 on.")
    with opened_store(store, passphrase_file) as opened:
        with screen.progress() as progress:
            made = opened.profile(progress=progress)
        counts = opened.sources()
        if why is not None:
            keys, sharing = ([str(key) for key in found] for found in (made.because(why), made.sharing(why)))
            titles = opened.titles(keys)
            documents = [{"key": key, "title": titles.get(key, "")} for key in keys]
            told = {"term": why, "in_profile": bool(made.find(why)), "documents": documents, "sharing": sharing}
            screen.answer(told, lambda: _print_why(why, documents, len(sharing), screen))
            return 0
    facts = {**_summary(made), "documents": sum(counts.values()), "sources": counts, "profile": _tree(made.root)}
    facts["total"] = float(made.total)
    del facts["top"]
    screen.answer(facts, lambda: _print_tree(made, counts, depth, screen))
    return 0


def _tree(node: Node) -> dict[str, Any]:
    return {
        "words": list(node.label),
        "support": float(node.support),
        "share": float(node.probability),
        "others": float(node.others),
        "children": [_tree(child) for child in node.children],
    }


def _print_tree(made: Profile, counts: dict[str, int], depth: int | None, screen: Screen) -> None:
    told = ", ".join(f"{name} {count:,}" for name, count in counts.items())
    screen.say(screen.escape(f"{sum(counts.values()):,} documents ({told})"))
    if not made.root.children:
        screen.say(f"No term is in {made.min_support} documents or more: add sources, or lower min_support.")
    else:
        screen.say("[dim]Support, and share of all. A document in several interests counts in part for each.[/]")
    for node in _below(made.root):
        level = len(node.path)
        if depth is not None and level > depth:
            continue
        screen.say(
            f"{'  ' * level}{screen.escape(node.name)} [dim]{float(node.support):,.1f} "
            f"({float(node.probability):.1%})[/]"
        )
        if depth == level and node.children:
            screen.say(f"{'  ' * (level + 1)}[dim]… {sum(1 for _ in _below(node)):,} within[/]")
        elif node.children and node.others >= _TOLD:
            screen.say(f"{'  ' * (level + 1)}[dim]others {float(node.others):,.1f}[/]")


def _short(node: Node) -> str:
    """The name of an interest with its first words."""
    more = len(node.label) - _WORDS
    return node.name if more <= 1 else f"{BETWEEN_WORDS.join(node.label[:_WORDS])} and {more} more words"


def _print_why(term: str, documents: list[dict[str, str]], sharing: int, screen: Screen) -> None:
    if not documents and not sharing:
        screen.say(f"[bold]{screen.escape(term)}[/] is not in the profile.")
        return
    screen.say(f"[bold]{screen.escape(term)}[/] is in the profile because of {len(documents):,} documents:")
    for document in documents:
        screen.say(f"  {screen.escape(document['title'] or '(no title)')} [dim]{screen.escape(document['key'])}[/]")
    if sharing:
        screen.say(f"{sharing:,} more do not contain it, but share its interest through other words of it.")


@profile.command(sort_key=4)
def exclusions(*, json: Json = False, text: Text = False) -> int:
    """Show what is left out of a profile unless you say otherwise.

    Example:

        veilset search profile exclusions
    """
    screen = Screen.of(json, text)
    facts = Exclusions().to_json()

    def show() -> None:
        for subject, found in facts["means"].items():
            screen.say(f"[bold]{subject}[/]: {screen.escape(found['means'])}")
            if found["sites"]:
                screen.say(f"  {screen.escape(', '.join(found['sites']))}")
        names = ", ".join(f'"{subject}"' for subject in facts["defaults"])
        screen.say(screen.escape(f"In a sources file: [exclude] defaults = [{names}]"))

    screen.answer(facts, show)
    return 0
