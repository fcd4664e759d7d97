"""What everything on a terminal is made of. Names go in as `Text`, so that nothing in them is taken for markup."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from veilset.report.text import NUMBERS, number, shown

_MOST_ITEMS = 8


def title(text: str, console: Console) -> None:
    """The head of what follows."""
    console.print(Text(text, style="bold underline"))


def new_table(*heads: str) -> Table:
    """An empty table with these heads."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)
    for head in heads:
        table.add_column(head, justify="right" if head in NUMBERS else "left", overflow="fold")
    return table


def indented(lines: Sequence[RenderableType], console: Console) -> None:
    """Some lines below a title, and an empty one."""
    for line in lines:
        console.print(Padding(line, (0, 0, 0, 2), expand=False), highlight=False)
    console.print()


def item_names(items: Sequence[str], sensitive: Collection[str], between: str) -> Text:
    """Names of items, the sensitive ones marked."""
    names = [
        Text(f"{shown(item)}*", style="magenta") if item in sensitive else Text(shown(item))
        for item in items[:_MOST_ITEMS]
    ]
    if len(items) > _MOST_ITEMS:
        names.append(Text(f"… ({number(len(items), 'item')})", style="dim"))
    return Text(between).join(names)
