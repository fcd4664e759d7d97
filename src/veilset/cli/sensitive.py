"""``veilset sensitive``: what belongs on the list of sensitive items."""

from __future__ import annotations

from pathlib import Path

from cyclopts import App

from veilset import mining
from veilset.cli.app import app
from veilset.cli.forms import Whole, whole_or_share
from veilset.cli.options import Json, LimitOptions, ReadingOptions, Text
from veilset.cli.screen import Screen
from veilset.errors import InvalidArgument
from veilset.exact import support_of
from veilset.io import check_place, write_whole
from veilset.report import Suggested, print_proxies, proposed_items, proposed_list, proxy_facts

sensitive = App(name="sensitive", help="Find items that belong on the list of sensitive items.", sort_key=5.5)
app.command(sensitive)


@sensitive.command
def suggest(
    input: Path,  # noqa: A002 - the word users read
    /,
    *,
    size: Whole = 1,
    min_support: str = "5",
    top: Whole = 20,
    out: Path | None = None,
    reading: ReadingOptions | None = None,
    limits: LimitOptions | None = None,
    json: Json = False,
    text: Text = False,
) -> int:
    """Suggest additions to the list: public items that reveal a sensitive one.

    Items that raise an attacker's confidence most come first. The rise is the share of people with the item who have
    the sensitive one, minus the share of all people. The first share is a lower confidence bound, so few people do not
    rank high by chance.

    Example:

        veilset sensitive suggest baskets.csv --sensitive sensitive.txt --out proposed.txt

    Parameters
    ----------
    input
        Transactions to read.
    size
        Number of items: 1 for single items, 2 also for pairs that reveal more than each of their items.
    min_support
        Minimum number of people who have both items: 5, or a share of all such as 0.1%.
    top
        Number of suggestions to show and to write.
    out
        File for the suggested single items, with the reasons as comments. It must not exist.
    """
    screen = Screen.of(json, text)
    layout, bounds = reading or ReadingOptions(), limits or LimitOptions()
    if not (layout.sensitive_files or layout.sensitive_items):
        raise InvalidArgument(
            "No item is declared sensitive, so there is nothing to reveal.",
            "Name the sensitive items you know with --sensitive FILE or --sensitive-items NAME.",
        )
    if size not in (1, 2):
        raise InvalidArgument(f"--size is {size}.", "Give 1 for single items, or 2 for pairs too.")
    if top < 1:
        raise InvalidArgument(f"--top is {top}.", "Give at least 1.")
    least = whole_or_share(min_support)
    support_of(least, 1)  # better to hear now than after reading
    if out is not None:
        if out.exists():
            raise InvalidArgument(f"{str(out)!r} already exists.", "Choose another --out, or delete it first.")
        check_place(out, replace=False, folder=False)
    data = layout.recipe(input).read(bounds.memory_limit)
    screen.show_reading(data)
    with screen.progress() as progress:
        found = mining.proxies(data, size=size, min_support=least, top=top, progress=progress, **vars(bounds))
    proposed = proposed_items(found.first)
    if out is not None and proposed:
        write_whole(out, proposed_list(found.first, layout.encoding))
    suggested = Suggested(data, found, size, support_of(least, len(data)))

    def show() -> None:
        print_proxies(suggested, screen.console)
        if out is not None:
            many = f"{len(proposed):,} item{'s' * (len(proposed) != 1)}"
            said = f"Written: {out} proposes {many}. Protect it like the data." if proposed else "Nothing to write."
            screen.say(screen.escape(said))

    written = {} if out is None else {"written": str(out) if proposed else None}
    screen.answer({**proxy_facts(suggested), **written}, show)
    return 0
