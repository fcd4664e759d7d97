"""Objects on a card, as notebooks show them: in the look of the pages, without anything outside."""

from __future__ import annotations

from dataclasses import replace

from veilset.report.pages import render
from veilset.views import Summary, clipped


def as_card(summary: Summary) -> str:
    """The summary as HTML; everything in it is escaped, and long texts are cut as on the terminal."""
    rows = [[clipped(cell) for cell in row] for row in summary.rows]
    columns = [(head, "") for head in summary.head]
    told = replace(summary, says=clipped(summary.says), notes=[clipped(note) for note in summary.notes])
    caption = f"The first {len(rows):,} of {summary.count:,}" if summary.more else ""
    return render("card.html", summary=told, columns=columns, rows=rows, caption=caption)
