"""Objects on a card, as notebooks show them: in the look of the pages, without anything outside."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from veilset.joins import Tree
from veilset.report.join_tree import paint
from veilset.report.pages import render
from veilset.views import Summary, clipped

_NODES, _OPEN = 127, 15  # of a tree on a card: drawn, and to be seen at once


def as_card(summary: Summary) -> str:
    """The summary as HTML; everything in it is escaped, and long texts are cut as on the terminal."""
    return _card(summary, "card.html")


def tree_card(tree: Tree) -> str:
    """A tree as nested lists; branches with few joined rows are folded or left out."""
    tables = list(dict.fromkeys(node.split.table for node in tree.root.walk() if node.split is not None))
    painted = paint(tree, tables, _NODES, _OPEN)
    left = painted.nodes - painted.drawn
    summary = Summary(
        "Tree",
        facts=[(len(tree), "node(s)"), (tree.depth, "level(s) of splits"), (tree.root.rows, "joined row(s)")],
        notes=[f"{left:,} nodes with few joined rows are not shown; to_text() has all."] if left else [],
    )
    return _card(summary, "tree_card.html", painted=painted, tables=max(1, len(tables)))


def _card(summary: Summary, template: str, **more: Any) -> str:
    rows = [[clipped(cell) for cell in row] for row in summary.rows]
    columns = [(head, "") for head in summary.head]
    told = replace(summary, says=clipped(summary.says), notes=[clipped(note) for note in summary.notes])
    caption = f"The first {len(rows):,} of {summary.count:,}" if summary.more else ""
    return render(template, summary=told, columns=columns, rows=rows, caption=caption, **more)
