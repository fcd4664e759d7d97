"""How transactions are laid out in a file or a table: the format, and where in it things stand.

A format is a container (how bytes become fields) with a shape (how fields become transactions): ``lists``, one
transaction a row; ``long``, one item a row; ``wide``, one column an item; ``anatomy``, a bucket and a list for each
column of items a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from veilset.errors import InvalidArgument, said, unknown

Container = Literal["fimi", "spmf", "csv", "json", "parquet", "arrow"]
Shape = Literal["lists", "long", "wide", "anatomy"]

PACKED = (".gz", ".zst")
"""Ends of the names of compressed text files."""

_COLUMNS = said("long", ("ID", "ITEM"))
_BLANK = " "  # how the ids of FIMI and SPMF files are separated


class Form(NamedTuple):
    """What a format is made of, what the name of such a file ends in, and what it is in words."""

    container: Container
    shape: Shape
    suffix: str
    words: str


FORMATS: dict[str, Form] = {
    "fimi": Form("fimi", "lists", ".dat", "FIMI (ids, one transaction per line)"),
    "spmf": Form("spmf", "lists", ".spmf", "SPMF (ids, one transaction per line)"),
    "basket": Form("csv", "lists", ".csv", "basket CSV (names, one transaction per line)"),
    "long": Form("csv", "long", ".csv", "long CSV (one item per line)"),
    "wide": Form("csv", "wide", ".csv", "wide CSV (one column per item)"),
    "jsonl": Form("json", "lists", ".jsonl", "JSON lines (one transaction per line)"),
    "jsonl-long": Form("json", "long", ".jsonl", "JSON lines (one item per line)"),
    "parquet": Form("parquet", "lists", ".parquet", "Parquet (one list of items per row)"),
    "parquet-long": Form("parquet", "long", ".parquet", "Parquet (one item per row)"),
    "parquet-wide": Form("parquet", "wide", ".parquet", "Parquet (one column per item)"),
    "arrow": Form("arrow", "lists", ".arrow", "Arrow (one list of items per row)"),
    "arrow-long": Form("arrow", "long", ".arrow", "Arrow (one item per row)"),
    "arrow-wide": Form("arrow", "wide", ".arrow", "Arrow (one column per item)"),
}

ANATOMIES: dict[str, Form] = {
    "anatomy": Form("csv", "anatomy", ".csv", "anatomized CSV (one bucket row per line)"),
    "jsonl-anatomy": Form("json", "anatomy", ".jsonl", "anatomized JSON lines (one bucket row per line)"),
    "parquet-anatomy": Form("parquet", "anatomy", ".parquet", "anatomized Parquet (one bucket row per row)"),
}
"""Formats that also say what is in which bucket and column; ``anatomy`` in a file of another suffix means another."""

_OTHER_SUFFIXES = {".tsv": "basket", ".ndjson": "jsonl", ".pq": "parquet", ".feather": "arrow", ".ipc": "arrow"}
_BY_SUFFIX = {form.suffix: name for name, form in FORMATS.items() if form.shape == "lists"} | _OTHER_SUFFIXES


@dataclass(frozen=True)
class Layout:
    """How transactions stand in a file, or are to stand there.

    Parameters
    ----------
    format : str
        One of `FORMATS`, or of `ANATOMIES`.
    delimiter : str
        One character; empty where nothing delimits.
    header : bool
        Whether the first line of a basket file holds column names (long and wide files always have a header).
    columns : tuple of str
        Of a long table, the names of the id and the item column; of lists in a table or in JSON objects, the column
        they stand in; else empty.
    person : str, optional
        The column that says whose a row is.
    ignore : tuple of str
        The columns of a wide table that are no items.
    counts : bool
        Whether the cells of a wide table may hold any whole number; those above 0 say that the item is there.
    assumed : bool
        Whether nothing but the name of the file says its format.
    """

    format: str
    delimiter: str = ""
    header: bool = False
    columns: tuple[str, ...] = ()
    person: str | None = None
    ignore: tuple[str, ...] = ()
    counts: bool = False
    assumed: bool = field(default=False, compare=False)

    @property
    def form(self) -> Form:
        """What the format is made of."""
        return FORMATS[self.format] if self.format in FORMATS else ANATOMIES[self.format]

    @classmethod
    def choose(
        cls,
        path: str | Path,
        *,
        format: str | None = None,  # noqa: A002 - the word users type
        delimiter: str | None = None,
        header: bool = False,
        column: str | None = None,
        long: Sequence[str] | None = None,
        wide: bool = False,
        person: str | None = None,
        ignore: Sequence[str] = (),
        counts: bool = False,
    ) -> Layout:
        """The layout of *path*: what the caller says, else what its name says; never a guess from its content."""
        if format in ANATOMIES:
            others = (header, column, long, wide, person, ignore, counts)
            if any(others) or delimiter not in (None, ","):
                raise InvalidArgument(
                    f"The format {format} already defines the layout.", "Leave out all other reading options."
                )
            return _anatomized(path, format)
        by_name = _BY_SUFFIX.get(Path(unpacked_name(path)).suffix.lower())
        if long is not None and wide:
            raise InvalidArgument("A table cannot be both long and wide.", f"Use {said('long')} or {said('wide')}.")
        shape = "long" if long is not None else "wide" if wide else None
        if format is None and by_name is None:
            raise _no_format(path)
        chosen = format or by_name or ""
        if chosen not in FORMATS:
            raise unknown("format", chosen, [*FORMATS, "anatomy"])
        if shape is not None:
            if format == "basket":  # says that a line is a transaction; other names say less
                raise InvalidArgument(
                    f"{said(shape)} cannot be combined with {said('format', 'basket')}.", "Leave one of them out."
                )
            chosen = _of_shape(chosen, shape)
        form = FORMATS[chosen]
        if delimiter is None:
            delimiter = {"csv": delimiter_of(path), "fimi": _BLANK, "spmf": _BLANK}.get(form.container, "")
        _check_names(long, column, ignore)
        if column is None and person is not None and chosen == "jsonl":
            column = "items"  # only an object has room for a person, and calls its items so
        layout = cls(
            chosen,
            delimiter,
            header or (form.container == "csv" and form.shape != "lists"),
            tuple(long) if long is not None else (column,) if column is not None else (),
            person,
            tuple(ignore),
            counts,
            assumed=format is None and shape is None,
        )
        _check_together(layout, Path(path), header=header)
        return layout

    def told(self) -> dict[str, Any]:
        """What `choose` has to be told to choose this layout, whatever the name of the file."""
        shape = self.form.shape
        return {
            "format": self.format,
            "delimiter": self.delimiter or None,
            "header": self.header and self.format == "basket",
            "column": self.columns[0] if shape == "lists" and self.columns else None,
            "long": self.columns if shape == "long" else None,
            "wide": shape == "wide",
            "person": self.person,
            "ignore": self.ignore,
            "counts": self.counts,
        }


def _anatomized(path: str | Path, format: str) -> Layout:  # noqa: A002 - the word users type
    """The layout of an anatomized table, by the end of the file's name."""
    name, packing = Path(unpacked_name(path)), Path(path).suffix.lower()
    by_name = _BY_SUFFIX.get(name.suffix.lower())
    container = FORMATS[by_name].container if by_name else None
    fitting = next((other for other, form in ANATOMIES.items() if form.container == container), None)
    if fitting is None or name.suffix.lower() == ".tsv" or format not in ("anatomy", fitting):
        raise InvalidArgument(
            f"The name {Path(path).name!r} does not indicate the layout of an anatomized table.",
            f"End it in {' or '.join(form.suffix for form in ANATOMIES.values())}.",
        )
    if container == "parquet" and packing in PACKED:
        raise _packed_table(Path(path), container)
    return Layout(fitting, "," if container == "csv" else "", header=container == "csv")


def _no_format(path: str | Path) -> InvalidArgument:
    suffix = Path(unpacked_name(path)).suffix.lower()
    advice = {
        ".json": f"If it contains one JSON value per line, use {said('format', 'jsonl')}.",
        ".xlsx": "Save the sheet as CSV.",
        ".xls": "Save the sheet as CSV.",
        ".txt": f"Use {said('format', 'fimi')} (ids), {said('format', 'basket')} (names), {said('format', 'spmf')}, "
        f"or {said('format', 'long')} with {_COLUMNS}.",
    }
    return InvalidArgument(
        f"The name {Path(path).name!r} does not indicate the file's layout.",
        advice.get(suffix, f"Set {said('format')}: {', '.join(FORMATS)}."),
    )


def _of_shape(format: str, shape: str) -> str:  # noqa: A002 - the word users type
    """The format with the same container and this shape."""
    container = FORMATS[format].container
    fitting = next((name for name, form in FORMATS.items() if (form.container, form.shape) == (container, shape)), None)
    if fitting is None or FORMATS[format].shape not in ("lists", shape):
        raise InvalidArgument(f"{said(shape)} cannot be combined with the format {format}.", "Leave one of them out.")
    return fitting


def _check_names(long: Sequence[str] | None, column: str | None, ignore: Sequence[str]) -> None:
    if long is not None and (isinstance(long, str) or len(long) != 2):
        raise InvalidArgument(f"{said('long')} is {long!r}.", "Give the names of two columns: the id and the item.")
    if long is not None and long[0] == long[1]:
        raise InvalidArgument(f"The column {long[0]!r} cannot be both the id and the item.", "Name two columns.")
    if long is not None and column is not None:
        raise InvalidArgument(
            f"{said('column', column)} cannot be combined with {said('long')}.",
            f"{_COLUMNS} names the item column.",
        )
    if isinstance(ignore, str):
        raise InvalidArgument(f"{said('ignore')} is {ignore!r}, not a list of columns.", f"Write [{ignore!r}].")


def _check_together(layout: Layout, path: Path, *, header: bool) -> None:
    """Options that contradict each other are refused: none is ignored silently."""
    container, shape, _, words = layout.form
    _check_delimiter(layout)
    _check_person(layout)
    if header and container != "csv":
        raise InvalidArgument(f"A header cannot be combined with {words}.", f"Leave {said('header')} out.")
    if shape == "long" and not layout.columns:
        raise InvalidArgument("A long table needs the names of its id and item columns.", f"Use {_COLUMNS}.")
    if layout.columns and (shape == "wide" or (shape == "lists" and container in ("fimi", "spmf", "csv"))):
        raise InvalidArgument(f"{said('column', layout.columns[0])} does not apply to {words}.", "Leave it out.")
    if (layout.ignore or layout.counts) and shape != "wide":
        raise InvalidArgument(
            f"{said('ignore')} and {said('counts')} are for wide tables.",
            f"Add {said('wide', True)}, or leave them out.",
        )
    if container in ("parquet", "arrow") and path.suffix.lower() in PACKED:
        raise _packed_table(path, container)


def _packed_table(path: Path, container: str) -> InvalidArgument:
    return InvalidArgument(
        f"{path.name!r} is compressed, but {container} files cannot be read from {path.suffix}.",
        "Unpack it first; Parquet is compressed by itself.",
    )


def _check_delimiter(layout: Layout) -> None:
    container, _, _, words = layout.form
    delimiter = layout.delimiter
    if container != "csv":
        if delimiter != (_BLANK if container in ("fimi", "spmf") else ""):
            raise InvalidArgument(
                f"The delimiter is {delimiter!r}, but {words} has a fixed separator.",
                f"Leave {said('delimiter')} out, or use {said('format', 'basket')}.",
            )
    elif len(delimiter) != 1 or not delimiter.isascii() or delimiter.isalnum() or delimiter in '"\r\n\0':
        raise InvalidArgument(f"The delimiter is {delimiter!r}.", "Give one plain character, for example ';' or a tab.")


def _check_person(layout: Layout) -> None:
    container, _, _, words = layout.form
    if layout.person is None:
        return
    if container in ("fimi", "spmf"):
        raise InvalidArgument(f"{words} has no person column.", f"Leave {said('person')} out.")
    if layout.format == "basket" and not layout.header:
        raise InvalidArgument(
            f"Finding the person column {layout.person!r} needs a header.", f"Add {said('header', True)}."
        )
    if layout.person in layout.columns[-1:]:
        raise InvalidArgument(
            f"The column {layout.person!r} cannot be both the item and the person.", "Name two columns."
        )


def says_its_format(path: str | Path) -> bool:
    """Whether the name of a file says how it is laid out."""
    return Path(unpacked_name(path)).suffix.lower() in _BY_SUFFIX


def unpacked_name(path: str | Path) -> str:
    """The name of a file without the ending that says how it is compressed."""
    name = Path(path).name
    return Path(name).stem if Path(name).suffix.lower() in PACKED else name


def delimiter_of(path: str | Path) -> str:
    """The delimiter a file's name says: a tab for ``.tsv``, else a comma."""
    return "\t" if unpacked_name(path).lower().endswith(".tsv") else ","
