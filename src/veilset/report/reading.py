"""What is worth knowing about how data was read, and which of its items look like identifiers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from veilset.errors import in_python, said, spelled
from veilset.io.normalizing import STEPS
from veilset.report.text import in_quotes, number
from veilset.transactions import Identifiers, Transactions

_MOST_TWINS = 10
_ONE = {
    "e-mail addresses": "an e-mail address",
    "UUIDs": "a UUID",
    "dates or times": "a date or time",
    "long numbers": "a long number",
}


def reading_notes(data: Transactions, spell: Callable[..., str] = in_python) -> list[str]:
    """What a careful reader would want to know about how data was read; for nobody but its custodian.

    The notes of the reader, items that look like identifiers, and public items that resemble sensitive ones.
    *spell* writes the options that they name.
    """
    notes = [] if data.source is None else data.source.notes_in(spell)
    twins = [spelled(sentence, spell)] if (sentence := twins_sentence(data)) else []
    return [*notes, *(_sentence(found, data) for found in data.identifiers), *twins]


def reading_facts(data: Transactions, *, secret: bool, spell: Callable[..., str] = in_python) -> dict[str, Any]:
    """The same for programs; if what is promised is *secret*, without anything that names an item."""
    found = [{"kind": one.kind, "count": one.count, "examples": list(one.examples)} for one in data.identifiers]
    if secret:
        return {"identifiers": [{"kind": one["kind"], "count": one["count"]} for one in found]}
    return {"notes": [] if data.source is None else list(data.source.notes_in(spell)), "identifiers": found}


def _sentence(found: Identifiers, data: Transactions) -> str:
    """What was found, with examples, and what to do about it.

    >>> data = Transactions.from_lists([["milk", "2024-01-03"], ["2024-01-04", "2024-01-05"]])
    >>> print(_sentence(data.identifiers[0], data))
    3 items look like dates or times: '2024-01-03', '2024-01-04' and 1 more. If they identify people or visits, leave \
them out.
    """
    source = data.source
    column = source.layout.columns[-1] if source is not None and source.layout.form.shape == "long" else None
    there = "" if column is None else f" of the column {in_quotes(column)}"
    one = found.count == 1
    if found.kind in ("unique", "rare"):  # never one alone
        few = "only one transaction" if found.kind == "unique" else "only one or two transactions"
        what = f"{found.count:,} of {number(len(data.names), 'item')}{there} occur in {few}"
    elif found.kind == "recurring":  # nor these
        what = f"Nearly every transaction holds exactly one of {found.count:,} numbers or codes{there}"
    else:
        what = f"{number(found.count, 'item')}{there} {'looks' if one else 'look'} like "
        what += _ONE[found.kind] if one else found.kind
    more = found.count - len(found.examples)
    examples = [*map(in_quotes, found.examples), *([f"{more:,} more"] if more else [])]
    listed = " and ".join([", ".join(examples[:-1]), examples[-1]] if len(examples) > 1 else examples)
    who = "it identifies a person or a visit" if one else "they identify people or visits"
    leave = f"leave {'it' if one else 'them'} out" if column is None else "name another column"
    return f"{what}: {listed}. If {who}, {leave}."


def twins_sentence(data: Transactions) -> str:
    """A warning about public items that resemble sensitive ones, and what to do; empty if there are none.

    >>> twins_sentence(Transactions.from_lists([["HIV"], ["hiv "]], sensitive=["HIV"]))[:80]
    "1 public item resembles a sensitive one, and may be released: 'hiv ' like 'HIV' "
    """
    twins = data.twins
    if not twins:
        return ""
    listed = [
        f"{in_quotes(twin.item)} like {in_quotes(twin.resembles)} ({number(twin.support, 'transaction')})"
        for twin in twins[:_MOST_TWINS]
    ]
    more = f"; and {len(twins) - _MOST_TWINS:,} more" if len(twins) > _MOST_TWINS else ""
    what = "item resembles a sensitive one" if len(twins) == 1 else "items resemble sensitive ones"
    return (
        f"{len(twins):,} public {what}, and may be released: {'; '.join(listed)}{more}. Add those that are sensitive "
        f"to the list, or read with {said('normalize', list(STEPS))}: names that differ only in these ways become one "
        "item."
    )
