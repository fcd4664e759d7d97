"""``veilset taxonomy``: check, show and make trees over items."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from veilset.cli.app import app
from veilset.cli.forms import Whole, check_out, columns_of, read_lists
from veilset.cli.options import Json, LimitOptions, ReadingOptions, ReplaceFile, Text
from veilset.cli.screen import Screen
from veilset.errors import InvalidArgument
from veilset.io.trees import TreeKind, check_tree_name
from veilset.report import item_facts, print_item, print_taxonomy, taxonomy_facts, taxonomy_sentence
from veilset.transactions import Taxonomy

_DEEPEST = 100  # levels of a picture
_NAMES = (
    "The tree was made from the data: it names the items that occur in it. A release that uses it lists them, except "
    "rare ones if you give --name-leaves-from. A tree from --catalogue tells nothing about the data."
)
_TOGETHER = (
    "Its groups show which items occur together. Look at it before you release anything that contains its groups."
)

taxonomy = App(name="taxonomy", help="Check, show and make trees over items.", sort_key=7)
app.command(taxonomy)

Kind = Annotated[TreeKind | None, Parameter(name="--kind", help="Form of the tree. Default: by its file name.")]
Columns = Annotated[
    str | None,
    Parameter(
        help="Columns of the tree's table, such as label,level2,level1: the item, then its groups. Or child and parent."
    ),
]


@taxonomy.command(sort_key=1)
def check(
    tree: Path,
    data: str | None = None,
    /,
    *,
    kind: Kind = None,
    columns: Columns = None,
    reading: ReadingOptions | None = None,
    limits: LimitOptions | None = None,
    json: Json = False,
    text: Text = False,
) -> int:
    """Read a tree, and check whether it fits transactions.

    Exit code 0: usable, perhaps with notes; 2: unreadable, or a public item is not among its leaves.

    Examples:

        veilset taxonomy check tree.csv
        veilset taxonomy check hierarchy.csv baskets.csv --columns label,level2,level1 --sensitive sensitive.txt

    Parameters
    ----------
    tree
        Tree file: .csv or .tsv (item,group,… or child,parent), .txt (item;group;\\*) or .json.
    data
        Transactions to compare it with.
    """
    screen = Screen.of(json, text)
    layout = reading or ReadingOptions()
    if data is None and (limits is not None or layout.is_about_data):
        raise InvalidArgument(
            "These options are about data, but no data is given.", "Name the transactions after the tree."
        )
    read = Taxonomy.read(tree, kind=kind, columns=columns_of(columns, "--columns"), encoding=layout.encoding)
    notes: tuple[str, ...] = ()
    if data is not None:
        source = layout.recipe(data)
        transactions = source.read((limits or LimitOptions()).memory_limit)
        screen.show_reading(transactions)
        read = Taxonomy.from_paths(source.normalized_groups(read.to_paths())) if source.normalize else read
        notes = read.check(transactions)
    facts = {"items": len(read.leaves), "nodes": len(read), "depth": read.depth, "notes": list(notes)}

    def tell() -> None:
        screen.say(f"[bold green]OK[/]  {screen.escape(f'{tree}: {taxonomy_sentence(read)}')}")
        for note in notes:
            screen.say(f"[yellow]{screen.escape(f'note: {note}')}[/]")
        if data is not None:
            screen.say("All public items are among its leaves.")

    screen.answer(facts, tell)
    return 0


@taxonomy.command(sort_key=2)
def show(
    tree: Path,
    /,
    *,
    depth: Whole | None = None,
    item: str | None = None,
    kind: Kind = None,
    columns: Columns = None,
    encoding: str = "utf-8",
    json: Json = False,
    text: Text = False,
) -> int:
    """Draw a tree, or the path to one item, with the number of items below each group.

    Examples:

        veilset taxonomy show tree.csv --depth 1
        veilset taxonomy show tree.csv --item "whole milk"

    Parameters
    ----------
    tree
        Tree file: .csv or .tsv (item,group,… or child,parent), .txt (item;group;\\*) or .json.
    depth
        Number of levels below the root. Default: 2.
    item
        Show only the groups of this item.
    encoding
        Encoding of the text.
    """
    screen = Screen.of(json, text)
    if depth is not None and item is not None:
        raise InvalidArgument(
            "--depth cannot be combined with --item: all groups of an item are shown.", "Leave one of them out."
        )
    levels = 2 if depth is None else depth
    if not 0 <= levels <= _DEEPEST:
        raise InvalidArgument(f"--depth is {levels}.", f"Give a whole number from 0 to {_DEEPEST}.")
    read = Taxonomy.read(tree, kind=kind, columns=columns_of(columns, "--columns"), encoding=encoding)
    if item is not None:
        screen.answer(item_facts(read, item), lambda: print_item(read, item, screen.console))
    else:
        facts = taxonomy_facts(read, depth=levels)
        screen.answer(facts, lambda: print_taxonomy(read, screen.console, depth=levels))
    return 0


@taxonomy.command(sort_key=3)
def make(
    data: str | None = None,
    /,
    *,
    catalogue: Path | None = None,
    fan_out: Whole | None = None,
    co_occurrence: Whole | None = None,
    min_support: Whole | None = None,
    out: Path,
    kind: Annotated[Kind, Parameter(help="Form of the tree. Default: by the name of OUT.")] = None,
    replace: ReplaceFile = False,
    reading: ReadingOptions | None = None,
    limits: LimitOptions | None = None,
    json: Json = False,
    text: Text = False,
) -> int:
    """Make a tree over the public items of transactions, or over the items of a catalogue.

    Examples:

        veilset taxonomy make --catalogue assortment.txt --fan-out 4 --out tree.csv
        veilset taxonomy make baskets.csv --co-occurrence 4 --min-support 20 --out tree.csv
        veilset taxonomy make baskets.csv --sensitive sensitive.txt --fan-out 4 --min-support 20 --out tree.json

    Parameters
    ----------
    data
        Transactions to read.
    catalogue
        File with the names of all items there are, one per line, without sensitive ones. Use it in place of DATA.
    fan_out
        Size of groups of neighbours, in the order of names.
    co_occurrence
        Maximum size of groups of items that occur together.
    min_support
        Minimum number of transactions with a pair of items, and with an item that names a group. Use the k of your
        promise.
    out
        File to write: .csv or .tsv (item,group,…), .txt (item;group;\\*) or .json. Each may also end in .gz.
    """
    screen = Screen.of(json, text)
    layout, bounds = reading or ReadingOptions(), limits or LimitOptions()
    if (data is None) == (catalogue is None):
        given = "Both" if data is not None else "Neither of"
        raise InvalidArgument(f"{given} transactions and --catalogue are given.", "Give one of them.")
    _check_sizes(fan_out, co_occurrence, min_support)
    check_tree_name(out, kind)
    check_out(out, [Path(data or catalogue or ""), *layout.files], replace=replace)
    if data is None:
        if co_occurrence is not None or min_support is not None or limits is not None or layout.is_about_data:
            raise InvalidArgument(
                "These options are about transactions, but --catalogue has names only.",
                "Give --fan-out and --out, and nothing else.",
            )
        names = read_lists([catalogue] if catalogue else [], "--catalogue", layout.encoding)
        made = Taxonomy.by_fan_out(names or [], fan_out or 0)
        notes = []
    else:
        transactions = layout.recipe(data).read(bounds.memory_limit)
        screen.show_reading(transactions)
        notes = [_NAMES] if co_occurrence is None else [_NAMES, _TOGETHER]
        if co_occurrence is None:
            made = Taxonomy.by_fan_out(transactions, fan_out or 0, min_support=min_support)
        else:
            with screen.progress() as progress:
                told = {"min_support": min_support or 0, "progress": progress, **vars(bounds)}
                made = Taxonomy.by_co_occurrence(transactions, co_occurrence, **told)
    made.write(out, kind=kind)
    facts: dict[str, Any] = {"written": str(out), "items": len(made.leaves), "nodes": len(made), "depth": made.depth}
    sentences = "\n".join([f"Written: {out}: {taxonomy_sentence(made)}", *([" ".join(notes)] if notes else [])])
    screen.answer({**facts, "notes": notes}, lambda: screen.say(screen.escape(sentences)))
    return 0


def _check_sizes(fan_out: int | None, co_occurrence: int | None, min_support: int | None) -> None:
    """Raise unless one kind of groups is chosen, and the numbers can be meant."""
    if (fan_out is None) == (co_occurrence is None):
        given = "Both" if fan_out is not None else "Neither of"
        raise InvalidArgument(
            f"{given} --fan-out and --co-occurrence are given.", "Give one of them, such as --fan-out 4."
        )
    if min_support is None and co_occurrence is not None:
        raise InvalidArgument(
            "--co-occurrence needs --min-support: a tree shows what was bought together, possibly by a single person.",
            "Give the k of your promise, such as --min-support 20.",
        )
    for option, number, least in (
        ("--fan-out", fan_out, 2),
        ("--co-occurrence", co_occurrence, 2),
        ("--min-support", min_support, 1),
    ):
        if number is not None and number < least:
            raise InvalidArgument(f"{option} is {number}.", f"Give a whole number of at least {least}.")
