"""What the kernels of auditors find, with the names of items."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from veilset import _native
from veilset.exact import percent
from veilset.transactions import Transactions
from veilset.views import legible

_SHOWN = 6


def item_names(data: Transactions, codes: list[int]) -> tuple[str, ...]:
    """The names of items."""
    return tuple(data.names[code] for code in codes)


def shortened(column: tuple[str, ...]) -> str:
    """The items of a column as a sentence has them: the first ones.

    >>> shortened(("a", "b")), shortened(tuple("abcdefgh"))
    ('{a, b}', '{a, b, c, d, e, f, … (8 items)}')
    """
    more = f", … ({len(column):,} items)" if len(column) > _SHOWN else ""
    return f"{{{', '.join(map(legible, column[:_SHOWN]))}{more}}}"


def sure_of(name: str, known: tuple[str, ...], support: int, confidence: Fraction) -> str:
    """How sure an attacker is of a sensitive item, as a sentence says it."""
    if not known:
        everybody = f"{percent(confidence)} of all transactions contain {name!r}"
        return f"{everybody}: even an attacker with no knowledge has this confidence"
    if support == 1:
        return f"the only matching transaction contains {name!r}"
    return f"{percent(confidence)} of the {support:,} matching transactions contain {name!r}"


def witness_rows(
    data: Transactions, found: _native.audit._CoherenceResult | _native.audit._RhoResult | _native.audit._InOriginal
) -> Iterator[tuple[tuple[str, ...], int, int, int]]:
    """Each witness: what is known, how many hold it, the number of what is inferred, and how many hold that as well."""
    offsets, codes = found["witness_offsets"].tolist(), found["witness_items"].tolist()
    columns = (found["witness_support"], found["witness_sensitive"], found["witness_with"])
    for number, (support, sensitive, together) in enumerate(zip(*(c.tolist() for c in columns), strict=True)):
        yield item_names(data, codes[offsets[number] : offsets[number + 1]]), support, sensitive, together
