"""The same on a terminal, by rich. Names go in as `Text`, so that nothing in them is taken for markup."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rich.bar import Bar
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from veilset.exact import percent
from veilset.models import Audit
from veilset.release import Release
from veilset.report.costs import Cost, cost
from veilset.report.hiding import p_r_reached, taken_sentence
from veilset.report.mined import Mined, found_sentence, large, notes, sizes_sentence, sureness
from veilset.report.proxies import CAUTION, Suggested, proxies_sentence, proxy_sentence
from veilset.report.text import number, shares, shown
from veilset.report.words import (
    Curve,
    attempts_sentence,
    bound_sentence,
    curve_sentence,
    decide,
    limits_met,
    more_ways,
    one_person,
    perhaps_worse,
    state,
    too_dear_sentence,
    verdict,
    ways_by_size,
    words_of,
)
from veilset.transactions import Transactions

__all__ = ["print_audit", "print_mined", "print_proxies", "print_reading", "print_release"]

_MOST_ITEMS = 8
_MOST_NAMES = 12
_BAR = 16
_NUMBERS = (
    "People left",
    "Found from",
    "Here",
    "Transactions",
    "Share",
    "Itemsets that hold it",
    "Certainty",
    "At least",
    "Lift",
)


def print_reading(data: Transactions, console: Console) -> None:
    """How the file was read: what it was taken to be, its first three transactions, and how much there is."""
    _title("How the data was read", console)
    source = data.source
    lines = [Text(f"{shown(source.name)}: {source.describe()}" if source else "made in memory")]
    lines += [Text(f"note: {note}", style="yellow") for note in (source.notes if source else ())]
    lines.append(Text(one_person(data)))
    sensitive = set(data.sensitive)
    lines += [_transaction(row, data[row], sensitive) for row in range(min(3, len(data)))]
    marked = " (marked *)" if sensitive else ""
    lines.append(
        Text(
            f"{number(len(data), 'transaction')}, {number(len(data.names), 'different item')}, "
            f"{len(sensitive):,} of them sensitive{marked}"
        )
    )
    _indented(lines, console)


def _transaction(row: int, items: Sequence[str], sensitive: Collection[str]) -> Text:
    return Text.assemble((f"{row + 1}: ", "dim"), _items(items, sensitive, ", ") if items else ("(empty)", "dim"))


def _items(items: Sequence[str], sensitive: Collection[str], between: str) -> Text:
    """Names of items, the sensitive ones marked."""
    names = [
        Text(f"{shown(item)}*", style="magenta") if item in sensitive else Text(shown(item))
        for item in items[:_MOST_ITEMS]
    ]
    if len(items) > _MOST_ITEMS:
        names.append(Text(f"… ({number(len(items), 'item')})", style="dim"))
    return Text(between).join(names)


def print_audit(audit: Audit, console: Console, *, merged: bool) -> None:
    """The verdict, the most severe reasons against it, and how close to the limits the data comes."""
    _title("Audit", console)
    _verdict(state(audit), audit.holds, verdict(audit, merged=merged), console)
    if audit.witnesses:
        _witnesses(audit, console)
    below = [
        ways_by_size(audit),
        "" if audit.reach is None else words_of(audit.promise).reach(audit.reach),
        f"{number(audit.checked, 'set')} of items counted in {number(audit.transactions, 'transaction')}.",
    ]
    _indented([Text(line, style="dim") for line in below if line], console)
    if audit.margins:
        _margins(audit, console)


def _witnesses(audit: Audit, console: Console) -> None:
    words = words_of(audit.promise)
    table = _table(*words.heads)
    for risk in audit.witnesses:
        table.add_row(*map(Text, words.row(risk, audit)))
    _indented([table, *([Text(more)] if (more := more_ways(audit, len(audit.witnesses))) else [])], console)


def _margins(audit: Audit, console: Console) -> None:
    table = _table("How close it comes", "Here", "Allowed", "Where")
    for limit in limits_met(audit):
        table.add_row(limit.what, limit.met, limit.allowed, Text(limit.where))
    _indented([table, *([Text(more, style="dim")] if (more := perhaps_worse(audit)) else [])], console)


def print_release(
    release: Release, console: Console, *, before: Audit | None = None, curve: Curve | None = None
) -> None:
    """What was at risk, what had to go, what was changed, what it cost; then GO or NO-GO.

    Parameters
    ----------
    before : Audit, optional
        The auditor's answer about the original; without it, what was at risk is left out.
    curve : mapping, optional
        p to what is lost at that p.
    """
    paid = cost(release)
    decision = decide(release)
    told = Table.grid(padding=(0, 2))
    told.add_column(style="bold", no_wrap=True)
    told.add_column()
    if before is not None:
        told.add_row("At risk before", Text(verdict(before, merged=release.original.persons is not None)))
    words = words_of(release.promise)
    might_stay = words.may_be_recoded and release.generalized
    if words.none_alone or paid.must_go:
        told.add_row("Could not stay" if might_stay else "Had to go", Text(_had_to_go(paid, words.none_alone)))
    told.add_row("Changed", Text(_changed(release)))
    told.add_row("Cost", Text(_lost(release, paid)))
    further = {
        "p_r": p_r_reached(release),
        "Noted": " ".join(release.notes),
        "Not proven": too_dear_sentence(release),
        "Ways tried": attempts_sentence(release),
        "How good": "" if release.bound is None else bound_sentence(release.bound),
        "Loss by p": curve_sentence(curve or {}),
    }
    for head, sentence in further.items():
        if sentence:
            told.add_row(head, Text(sentence))
    _title("Release", console)
    _indented([told], console)
    _verdict(decision.word, decision.go, decision.why, console)


def _had_to_go(paid: Cost, why_none: str) -> str:
    items = paid.must_go
    if items is None:
        return "whatever is suppressed, the original cannot be made to keep this promise"
    if not items:
        return f"nothing: {why_none}"
    lost = paid.values["items_lost_unavoidably"]
    what = f"{number(len(items), 'item')} whatever the method ({shares(lost)} of all occurrences)"
    return f"{what}: {_names(items)}"


def _changed(release: Release) -> str:
    done = [taken] if (taken := taken_sentence(release)) else []
    if release.suppressed:
        hidden = set(release.original.sensitive).intersection(release.suppressed)
        of_them = f", {len(hidden):,} of them sensitive" if hidden else ""
        done.append(f"{number(len(release.suppressed), 'item')} suppressed{of_them}: {_names(release.suppressed)}")
    if release.generalized:
        done.append(f"{number(len(release.generalized), 'item')} given a coarser name")
    if release.withheld:
        done.append(f"{number(len(release.withheld), 'transaction')} withheld")
    return f"{'; '.join(done) or 'nothing'} (method {release.method}, {release.seconds:.1f} s)"


def _lost(release: Release, paid: Cost) -> str:
    values = paid.values
    nuggets = values.get("nuggets_lost")
    often = f"itemsets held by {number(paid.nugget_support, 'transaction')} or more"
    gone = [
        f"{shares(values['items_lost'])} of all item occurrences",
        f"{shares(values['kinds_lost'])} of the different items",
        *([] if nuggets is None else [f"{shares(nuggets)} of the {often}"]),
    ]
    coarser = f"; average loss with coarser names {shares(values['average_loss'])}" if release.generalized else ""
    lost = values.get("hiding_wrongness")
    patterns = "" if lost is None else f"; {shares(lost)} of the patterns that were to stay are lost"
    kept = f"; {shares(values['sensitive_kept'])} of sensitive occurrences kept" if release.original.sensitive else ""
    emptied = number(int(values["transactions_emptied"]), "transaction")
    return (
        f"{', '.join(gone[:-1])} and {gone[-1]} are gone{patterns}{coarser}{kept}; {emptied} emptied; "
        f"{values['length_before']:.1f} items in a transaction before, {values['length_after']:.1f} after"
    )


def print_mined(mined: Mined, console: Console) -> None:
    """How much was found, and what comes first of it."""
    kind = mined.asked.kind
    _title({"rare": "What is rare", "rules": "Rules", "count": "How many"}.get(kind, "What is frequent"), console)
    below = [Text(note, style="yellow") for note in notes(mined)]
    if sizes := sizes_sentence(mined):
        below.append(Text(sizes, style="dim"))
    _indented([Text(found_sentence(mined)), *below], console)
    if mined.first:
        show = {"rare": _moles, "rules": _rules, "count": _counts}.get(kind, _itemsets)
        _indented([show(mined), *_rest(mined)], console)


def _rest(mined: Mined) -> list[Text]:
    """How many are not in the table, and how to see them."""
    if mined.asked.kind == "count":
        there = sum(many > 0 for many in mined.per_item.values())
        left, ways = number(there - len(mined.first), "more item"), "--top shows more"
    else:
        left, ways = f"{mined.found - len(mined.first):,} more", "--top shows more, --out writes all"
    return [] if left.startswith("0 ") else [Text(f"… and {left} ({ways}).", style="dim")]


def _itemsets(mined: Mined) -> Table:
    table = _table("Itemset", "Transactions", "Share", "")
    most = max(row["support"] for row in mined.first)
    for row in mined.first:
        held = row["support"]
        table.add_row(
            _items(row["items"], mined.data.sensitive, " + "),
            f"{held:,}",
            shares(held / len(mined.data)),
            Bar(most, 0, held, width=_BAR),
        )
    return table


def _counts(mined: Mined) -> Table:
    table = _table("Item", "Itemsets that hold it")
    for row in mined.first:
        table.add_row(_items([row["item"]], mined.data.sensitive, ""), large(row["itemsets"]))
    return table


def _moles(mined: Mined) -> Table:
    """With a limit *h*, only the sensitive items that are given away; without one, the surest of each."""
    table = _table("Itemset", "Transactions", *(["Sensitive item", "Certainty"] if mined.data.sensitive else []))
    limit = 0 if mined.asked.h in (None, 1) else mined.asked.h or 0
    for row in mined.first:
        cells: list[RenderableType] = [_items(row["items"], (), " + "), f"{row['support']:,}"]
        sure = sureness(row, len(mined.data))
        if row["sensitive"] is not None and sure > limit:
            cells += [_items([row["sensitive"]], [row["sensitive"]], ""), percent(sure)]
        table.add_row(*cells)
    return table


def _rules(mined: Mined) -> Table:
    table = _table("Rule", "Certainty", "Transactions", "Lift")
    for row in mined.first:
        sides = (_items(names, mined.data.sensitive, " + ") for names in (row["antecedent"], [row["consequent"]]))
        sure = percent(sureness(row, len(mined.data)))
        table.add_row(Text(" → ").join(sides), sure, f"{row['support']:,}", f"{row['lift']:.2f}")
    return table


def print_proxies(suggested: Suggested, console: Console) -> None:
    """Which public items give a sensitive one away, the most telling first, and what to make of it."""
    found = suggested.proxies
    _title("What gives a sensitive item away", console)
    _indented([Text(proxies_sentence(suggested))], console)
    if not found.first:
        return
    table = _table("In plain words", "At least", "Lift")
    for proxy in found.first:
        table.add_row(Text(proxy_sentence(proxy)), shares(proxy.lower), f"{float(proxy.lift):.1f}")
    left = found.found - len(found.first)
    more = [Text(f"… and {left:,} more (--top shows more).", style="dim")] if left else []
    _indented([table, *more], console)
    _indented([Text(CAUTION, style="yellow")], console)


def _names(items: tuple[str, ...]) -> str:
    more = f" and {len(items) - _MOST_NAMES:,} more" if len(items) > _MOST_NAMES else ""
    return ", ".join(map(shown, items[:_MOST_NAMES])) + more


def _title(text: str, console: Console) -> None:
    console.print(Text(text, style="bold underline"))


def _verdict(word: str, good: bool, sentence: str, console: Console) -> None:
    colour = "green" if good else "red"
    _indented([Text(word, style=f"bold {colour}") + Text(f"  {sentence}", style="not bold default")], console)


def _table(*heads: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)
    for head in heads:
        table.add_column(head, justify="right" if head in _NUMBERS else "left", overflow="fold")
    return table


def _indented(lines: Sequence[RenderableType], console: Console) -> None:
    for line in lines:
        console.print(Padding(line, (0, 0, 0, 2), expand=False), highlight=False)
    console.print()
