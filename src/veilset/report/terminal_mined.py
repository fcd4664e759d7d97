"""What was mined, on a terminal."""

from __future__ import annotations

from rich.bar import Bar
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from veilset.exact import percent
from veilset.report.mined import Mined, found_sentence, large, notes, sizes_sentence, sureness
from veilset.report.proxies import CAUTION, Suggested, proxies_sentence, proxy_sentence
from veilset.report.terminal_parts import indented, item_names, new_table, title
from veilset.report.text import number, shares

_BAR = 16


def print_mined(mined: Mined, console: Console) -> None:
    """How much was found, and what comes first of it."""
    kind = mined.asked.kind
    title(
        {"rare": "Rare itemsets", "rules": "Rules", "count": "Itemset counts"}.get(kind, "Frequent itemsets"), console
    )
    below = [Text(note, style="yellow") for note in notes(mined)]
    if sizes := sizes_sentence(mined):
        below.append(Text(sizes, style="dim"))
    indented([Text(found_sentence(mined)), *below], console)
    if mined.first:
        show = {"rare": _moles, "rules": _rules, "count": _counts}.get(kind, _itemsets)
        indented([show(mined), *_rest(mined)], console)


def _rest(mined: Mined) -> list[Text]:
    """How many are not in the table, and how to see them."""
    if mined.asked.kind == "count":
        there = sum(many > 0 for many in mined.per_item.values())
        left, ways = number(there - len(mined.first), "more item"), "--top shows more"
    else:
        left, ways = f"{mined.found - len(mined.first):,} more", "--top shows more, --out writes all"
    return [] if left.startswith("0 ") else [Text(f"… and {left} ({ways}).", style="dim")]


def _itemsets(mined: Mined) -> Table:
    cut = mined.data.anatomy is not None
    table = new_table("Itemset", "Transactions", "Share", *(["Expected"] if cut else []), "")
    by = "expected" if cut else "support"
    most = max(row[by] for row in mined.first)
    for row in mined.first:
        held = row["support"]
        table.add_row(
            item_names(row["items"], mined.data.sensitive, " + "),
            f"{held:,}",
            shares(held / mined.transactions),
            *([f"{row['expected']:,.1f}"] if cut else []),
            Bar(most, 0, row[by], width=_BAR),
        )
    return table


def _counts(mined: Mined) -> Table:
    table = new_table("Item", "Itemsets with it")
    for row in mined.first:
        table.add_row(item_names([row["item"]], mined.data.sensitive, ""), large(row["itemsets"]))
    return table


def _moles(mined: Mined) -> Table:
    """With a limit *h*, only the sensitive items that are given away; without one, the surest of each."""
    table = new_table("Itemset", "Transactions", *(["Sensitive item", "Confidence"] if mined.data.sensitive else []))
    limit = 0 if mined.asked.h in (None, 1) else mined.asked.h or 0
    for row in mined.first:
        cells: list[RenderableType] = [item_names(row["items"], (), " + "), f"{row['support']:,}"]
        sure = sureness(row, mined.transactions)
        if row["sensitive"] is not None and sure > limit:
            cells += [item_names([row["sensitive"]], [row["sensitive"]], ""), percent(sure)]
        table.add_row(*cells)
    return table


def _rules(mined: Mined) -> Table:
    cut = mined.data.anatomy is not None
    expected = ["Expected", "Expected confidence"] if cut else []
    table = new_table("Rule", "Confidence", "Transactions", "Lift", *expected)
    for row in mined.first:
        sides = (item_names(names, mined.data.sensitive, " + ") for names in (row["antecedent"], [row["consequent"]]))
        sure = percent(sureness(row, mined.transactions))
        means = [f"{row['expected']:,.1f}", shares(row["expected_confidence"])] if cut else []
        table.add_row(Text(" → ").join(sides), sure, f"{row['support']:,}", f"{row['lift']:.2f}", *means)
    return table


def print_proxies(suggested: Suggested, console: Console) -> None:
    """Which public items give a sensitive one away, the most telling first, and what to make of it."""
    found = suggested.proxies
    title("Items that reveal a sensitive item", console)
    indented([Text(proxies_sentence(suggested))], console)
    if not found.first:
        return
    table = new_table("Proxy", "At least", "Lift")
    for proxy in found.first:
        table.add_row(Text(proxy_sentence(proxy)), shares(proxy.lower), f"{float(proxy.lift):.1f}")
    left = found.found - len(found.first)
    more = [Text(f"… and {left:,} more (--top shows more).", style="dim")] if left else []
    indented([table, *more], console)
    indented([Text(CAUTION, style="yellow")], console)
