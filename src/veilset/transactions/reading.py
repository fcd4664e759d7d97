"""Reading transactions from a file, and remembering how it was done."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from veilset.io import TextOptions, count_fields, parse_text, read_bytes, sha256_of, text_of
from veilset.limits import Limits
from veilset.transactions.transactions import Transactions
from veilset.transactions.vocabulary import item_names

__all__ = ["Source", "read"]


@dataclass(frozen=True)
class Source:
    """Where transactions came from: enough to read them again, to know that nothing changed, and to find a row there.

    `ids` are what a long file calls its transactions, one for each.
    """

    path: Path
    sha256: str
    options: TextOptions
    encoding: str
    notes: tuple[str, ...]
    ids: tuple[str, ...] | None = None

    def taken(self, rows: npt.NDArray[np.int64]) -> Source:
        """The same for the transactions at these positions."""
        return self if self.ids is None else replace(self, ids=tuple(self.ids[i] for i in rows.tolist()))

    def describe(self) -> str:
        """One sentence: what the file was taken to be."""
        options = self.options
        kind = {
            "fimi": "FIMI (ids, one transaction a line)",
            "basket": "basket CSV (names, one transaction a line)",
        }
        text = kind.get(options.format) or f"long CSV (one item a line, columns {', '.join(options.columns or ())})"
        details = [] if options.format == "fimi" else [f"delimiter {options.delimiter!r}"]
        if options.format == "basket":
            details.append("with a header" if options.header else "no header")
        if self.encoding != "utf-8":
            details.append(self.encoding)
        return f"{text}, {', '.join(details)}" if details else text


def read(
    path: str | Path,
    *,
    sensitive: Iterable[str | int] = (),
    format: str | None = None,  # noqa: A002 - the word users type
    delimiter: str | None = None,
    header: bool = False,
    long: tuple[str, str] | None = None,
    person: str | None = None,
    encoding: str = "utf-8",
    memory_limit: int | str | None = None,
) -> Transactions:
    """Read transactions from a file.

    Parameters
    ----------
    path : path
        ``.dat`` is FIMI, ``.csv`` and ``.tsv`` are baskets unless *long* is given; each may end in ``.gz``.
    sensitive : names
        The items to protect; each must occur.
    format : {"fimi", "basket", "long"}, optional
        Overrides what the file's name says.
    delimiter : str, optional
        One character; by default what the file's name says.
    header : bool
        The first line of a basket file holds column names.
    long : (str, str), optional
        The file holds one item a line; names of the columns with the transaction's id and the item.
    person : str, optional
        The column that says whose a line is; transactions of one person are merged.
    encoding : str
        Of the text.
    memory_limit : int or str, optional
        What the process may use, like ``"2GB"``.
    """
    path = Path(path)
    limits = Limits(memory_limit=memory_limit)
    with limits.guard(f"Reading {str(path)!r}", "split the file."):
        raw = read_bytes(path, limits)
        options = TextOptions.choose(path, format=format, delimiter=delimiter, header=header, long=long, person=person)
        text = text_of(path, raw, encoding, limits)
        # An item takes 4 bytes as it is parsed, 4 in its sorted row, and as many again while vectors grow. A field has
        # two characters or more, so most files need no counting.
        if 8 * len(text) > limits.bytes_left():
            limits.require(16 * count_fields(text, options), f"Reading {str(path)!r}", "split the file.")
        rows = parse_text(text, options)
        ids = None if rows.ids is None else tuple(rows.ids)
        source = Source(path.resolve(), sha256_of(raw), options, encoding, rows.notes, ids)
        return Transactions.from_rows(rows, sensitive=item_names(sensitive, "sensitive"), source=source)
