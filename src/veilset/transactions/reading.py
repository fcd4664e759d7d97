"""How to read transactions: one description for Python, for recipes and for the command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, Literal

import pyarrow as pa
from pydantic import BaseModel, BeforeValidator, ConfigDict, StrictBool, ValidationError

from veilset.errors import InvalidArgument, UnreadableInput, said, spelled
from veilset.io import Layout
from veilset.io.frames import table_reader
from veilset.io.gaps import Gaps
from veilset.io.normalizing import STEPS, Step, normalized, steps_of
from veilset.io.sql import is_database, located
from veilset.io.trees import TREE_KINDS, read_tree
from veilset.limits import Limits
from veilset.options import Option, declared, python_type, to_write
from veilset.transactions.normalizing import with_normalized_names
from veilset.transactions.opening import read_file, read_frame, read_query
from veilset.transactions.sensitive import (
    Entry,
    absent_names,
    list_path,
    mark_sensitive,
    names_and_entries,
    parse_entries,
    read_entries,
    sought_entries,
    sought_lines,
)
from veilset.transactions.taxonomy import Taxonomy, TaxonomyLike, taxonomy_of
from veilset.transactions.transactions import Transactions

LAYOUT = {*signature(Layout.choose).parameters} - {"path"}
"""The fields of a `Reading` that say how the data is laid out."""

_GAPS = {*signature(Gaps).parameters}
_DETAILS = {"query", "encoding", "where", "normalize", *_GAPS}


class Reading(BaseModel):
    """What to read, how it is laid out, and what is sensitive in it: ``[input]`` of a recipe.

    `path` is a file, or a database that is asked the query; in a recipe, a path is relative to the recipe's folder.
    `sensitive` holds exact names, as a release writes them down; those in `sensitive_where_present` need not occur.
    `sensitive_sought` records the patterns that found these names, and listed names that do not occur: they find
    nothing again, but tell `apply` which new items would have been sensitive.
    `sensitive_items` and the lines of `sensitive_files` are entries (`veilset.transactions.sensitive`), whose branches
    are those of `taxonomy`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    path: str
    sha256: str | None = None
    format: Annotated[
        str | None,
        Option(
            "text",
            "Format, if the file name does not indicate it: fimi, spmf, basket, jsonl, parquet, arrow; "
            "or anatomy, for the table next to a release.",
        ),
    ] = None
    delimiter: Annotated[
        str | None, Option("character", "Character between fields. Default: a comma, or a tab for .tsv.")
    ] = None
    header: Annotated[StrictBool, Option("switch", "Read the first line of a basket file as column names.")] = False
    column: Annotated[
        str | None,
        Option(
            "text",
            "Column (or key of JSON objects) that holds the lists of items. Default: the only column of lists.",
        ),
    ] = None
    long: Annotated[
        tuple[str, str] | None,
        Option(
            "pair",
            "Columns with the id and the item, such as order,product: a table with one item per row.",
            example="order,product",
        ),
    ] = None
    wide: Annotated[StrictBool, Option("switch", "Read a table with one column per item, holding 0 and 1.")] = False
    person: Annotated[
        str | None,
        Option(
            "text",
            "Column that identifies the person; their rows are merged. Without it, each row counts as one person.",
        ),
    ] = None
    ignore: Annotated[tuple[str, ...], Option("texts", "Columns of a wide table that are not items.")] = ()
    counts: Annotated[
        StrictBool, Option("switch", "Read whole numbers in a wide table: an item is present if its number is above 0.")
    ] = False
    where: Annotated[
        str | None,
        Option(
            "text",
            "SQL condition; only rows of the table that satisfy it are read. In text files, all values are text.",
            example="Country = 'France'",
        ),
    ] = None
    unknown_person: Annotated[
        tuple[str, ...],
        Option("listed", "Ids that stand for unknown people, such as 0,NA. Their rows are not merged.", example="0,NA"),
    ] = ()
    unknown_rows: Annotated[
        Literal["separate", "skip"] | None,
        Option(
            "choice",
            "Treatment of rows of unknown people or without an id. separate: each transaction is its own person.",
            choices=("separate", "skip"),
        ),
    ] = None
    missing: Annotated[
        Literal["refuse", "skip"],
        Option(
            "choice", "Treatment of missing ids and items: refuse, or skip and count them.", choices=("refuse", "skip")
        ),
    ] = "refuse"
    query: Annotated[
        str | None, Option("text", "Query to run on a database (a .duckdb file or a postgresql:// URL).")
    ] = None
    encoding: Annotated[str, Option("text", "Encoding of the text.")] = "utf-8"
    normalize: Annotated[
        tuple[Step, ...] | None,
        BeforeValidator(steps_of),
        Option(
            "words",
            "Unify item names that differ only in blanks (strip), case (case) or Unicode form (nfc). "
            "Person ids are not changed.",
            example="strip,case,nfc",
            choices=STEPS,
        ),
    ] = None
    sensitive: tuple[str, ...] = ()
    sensitive_where_present: tuple[str, ...] = ()
    sensitive_sought: tuple[str, ...] = ()
    sensitive_items: Annotated[
        tuple[str, ...],
        Option("texts", "Sensitive item: a name, 'glob: PATTERN' or 'branch: GROUP'."),
    ] = ()
    sensitive_files: Annotated[
        tuple[str, ...],
        Option(
            "files",
            "File with the sensitive items, one per line: a name, 'glob: insulin*', 'branch: pharmacy' or '# comment'.",
            flag="sensitive",
        ),
    ] = ()
    taxonomy: Annotated[
        str | None,
        Option(
            "file",
            "File with the groups of the items (.csv, .tsv, .txt or .json). Used by 'branch:', methods with coarser "
            "names, and multi-anatomy.",
        ),
    ] = None
    taxonomy_columns: Annotated[
        tuple[str, ...] | None,
        Option(
            "names",
            "Columns of the taxonomy, such as label,level2,level1: the item, then its groups, the most general last.",
            example="label,level2,level1",
        ),
    ] = None
    taxonomy_kind: Annotated[
        str | None,
        Option("choice", "Form of the taxonomy. Default: by its file name.", choices=TREE_KINDS),
    ] = None

    @classmethod
    def of(cls, data: Transactions) -> Reading:
        """What reads these transactions again. Of those that came from no file or database, it has no path."""
        source = data.source
        found: dict[str, Any] = {"sensitive": data.sensitive, "sensitive_sought": sought_lines(data.sought)}
        if source is None:
            return cls(path="", **found)
        told, from_file = source.layout.told(), source.origin is not None and source.query is None
        return cls(
            path=source.origin or "",
            sha256=None if source.origin is None else source.sha256,
            **told if from_file else {**told, "format": None},
            query=source.query,
            encoding=source.encoding,
            where=source.where,
            normalize=source.normalize,
            **asdict(source.gaps),
            **found,
        )

    def beside(self, folder: Path) -> Reading:
        """The same for a recipe in this folder, with its paths made absolute."""
        return self.model_copy(
            update={
                "path": located(self.path, folder) if self.path else "",
                "sensitive_files": tuple(str(folder / name) for name in self.sensitive_files),
                "taxonomy": None if self.taxonomy is None else str(folder / self.taxonomy),
            }
        )

    def laid_out_as(self, other: Reading) -> Reading:
        """The same, with what it leaves open as in the other.

        The layout is that of one of them, with its encoding: a layout said anew says all of it. What decides about
        rows, people and names is always as in the other unless said itself. FIMI and SPMF have no column for a person.
        """
        own = self.model_dump(include=LAYOUT | _DETAILS, exclude_defaults=True)
        kept = {"query", "where", "normalize", "person", *_GAPS}
        if not own.keys() & LAYOUT - {"person"}:
            kept |= LAYOUT | {"encoding"}
        elif self.format in ("fimi", "spmf"):
            kept -= {"person", "unknown_person", "unknown_rows"}
        return self.model_copy(update={**other.model_dump(include=kept), **own})

    def compared(self, data: Transactions) -> tuple[str, ...]:
        """How other data was read differently, in notes; an error if its item names were normalized otherwise."""
        if not self.model_dump(include=LAYOUT, exclude_defaults=True):
            return ()  # nobody knows how this one was read
        source, steps = data.source, self.normalize or ()
        if source is None:
            changed = next((name for name in data.names if self._normalized(name) != name), None)
            if changed is not None:
                raise InvalidArgument(
                    f"The item {changed!r} is not normalized as in the earlier release: {said('normalize', steps)}.",
                    f"Read the data with vs.read(..., {said('normalize', steps)}).",
                )
        elif steps != source.normalize:
            before, now = (said("normalize", words or None) for words in (steps, source.normalize))
            how = f"vs.read(..., {before})" if steps else f"vs.read(...) without {now}"
            raise InvalidArgument(
                f"The earlier release was read with {before}, this data with {now}.", f"Read this data with {how}."
            )
        notes = []
        if self.person is not None and data.persons is None:
            who = said("person", self.person)
            notes.append(f"The earlier release merged the rows of each person ({who}); here each row is one person.")
        elif self.person is None and data.persons is not None:
            notes.append("The rows of each person are merged here; in the earlier release each row was one person.")
        elif source is not None:
            earlier = Gaps(**self.model_dump(include=_GAPS))
            for name in ("unknown_person", "unknown_rows"):
                before, now = (said(name, getattr(gaps, name) or None) for gaps in (earlier, source.gaps))
                if before != now:
                    notes.append(f"The earlier release was read with {before}, this data with {now}.")
        return tuple(map(spelled, notes))

    def entries(self) -> list[Entry]:
        """What the files and the items here say is sensitive."""
        listed = [entry for path in self.sensitive_files for entry in read_entries(path, self.encoding)]
        entries = [*parse_entries(self.sensitive_items), *listed]
        return [replace(entry, text=self._normalized(entry.text)) for entry in entries]

    def sought(self) -> list[Entry]:
        """What an earlier reading looked for."""
        entries = sought_entries(self.sensitive_sought)
        return [replace(entry, text=self._normalized(entry.text)) for entry in entries]

    def groups(self) -> dict[str, tuple[str, ...]] | None:
        """The groups of each item, as the taxonomy says, if there is one."""
        if self.taxonomy is None:
            return None
        details = {"kind": self.taxonomy_kind, "columns": self.taxonomy_columns}
        try:
            tree = read_tree(self.taxonomy, **details, encoding=self.encoding)  # type: ignore[arg-type]
        except (InvalidArgument, UnreadableInput) as error:
            raise error.calling(**{name: f"taxonomy_{name}" for name in details}) from None
        return self.normalized_groups(tree)

    def normalized_groups(self, tree: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
        """The groups of each item of a tree under the names that this reading gives to items."""
        groups: dict[str, tuple[str, ...]] = {}
        for item, above in tree.items():
            label, path = self._normalized(item), tuple(map(self._normalized, above))
            if groups.setdefault(label, path) != path:
                raise UnreadableInput(
                    f"{item!r} and another item of the taxonomy both become {label!r}, but are in different groups.",
                    f"Give them the same groups, or change {said('normalize')}.",
                )
        return groups

    def _normalized(self, name: str) -> str:
        return normalized(name, self.normalize) if self.normalize else name

    def read(
        self,
        memory_limit: int | str | None = None,
        *,
        frame: pa.RecordBatchReader | None = None,
        taxonomy: Taxonomy | None = None,
    ) -> Transactions:
        """The transactions at the path, or of a frame; an error if their hash is not the one named here.

        A *taxonomy* takes the place of the one in a file.
        """
        entries, sought = self.entries(), self.sought()
        groups = self.groups() if taxonomy is None else self.normalized_groups(taxonomy.to_paths())
        tree = None if groups is None else Taxonomy.from_paths(groups)
        data = self._transactions(Limits(memory_limit=memory_limit), frame)
        assert data.source is not None  # noqa: S101 - everything that is read has one
        if self.sha256 not in (None, data.source.sha256):
            raise UnreadableInput(
                f"{self.path!r} is not the input this recipe was made for: its sha256 differs.",
                "Use the original input (in a query, add ORDER BY), or remove the sha256 from the recipe.",
            )
        if self.normalize:
            data = with_normalized_names(data, self.normalize)
        perhaps = [*map(self._normalized, self.sensitive_where_present)]
        absent = absent_names(data, perhaps)
        missing = {entry.text for entry in absent}
        named = [*map(self._normalized, self.sensitive), *(name for name in perhaps if name not in missing)]
        return mark_sensitive(data.marked(named, sought=[*absent, *sought]), entries, tree)

    def _transactions(self, limits: Limits, frame: pa.RecordBatchReader | None) -> Transactions:
        is_file = frame is None and not is_database(self.path)
        # What frames and queries give is laid out like a Parquet file.
        gaps = Gaps(**self.model_dump(include=_GAPS))
        layout = Layout.choose(self.path if is_file else "answer.parquet", **self.model_dump(include=LAYOUT))
        if is_file:
            if self.query is not None:
                raise InvalidArgument("A query needs a database.", f"Leave {said('query')} out.")
            return read_file(
                Path(self.path), layout, encoding=self.encoding, where=self.where, gaps=gaps, limits=limits
            )
        if layout.form.container != "parquet" or layout.form.shape == "anatomy":
            raise InvalidArgument(
                f"The format {self.format} does not apply to a frame or a database.", f"Leave {said('format')} out."
            )
        if frame is not None:
            return read_frame(frame, layout, self.where, gaps, limits)
        if self.where is not None:
            raise InvalidArgument(
                f"{said('where', self.where)} does not apply to a database.", f"Put it into {said('query')}."
            )
        return read_query(self.path, self.query, layout, gaps, limits)


def read(
    source: str | Path | Any,
    *,
    sensitive: Iterable[str | int] | str | Path = (),
    format: str | None = None,  # noqa: A002 - the word users type
    delimiter: str | None = None,
    header: bool = False,
    column: str | None = None,
    long: Sequence[str] | None = None,
    wide: bool = False,
    person: str | None = None,
    ignore: Sequence[str] = (),
    counts: bool = False,
    where: str | None = None,
    unknown_person: Sequence[str] = (),
    unknown_rows: str | None = None,
    missing: str = "refuse",
    query: str | None = None,
    encoding: str = "utf-8",
    normalize: str | Sequence[str] | None = None,
    taxonomy: TaxonomyLike | None = None,
    memory_limit: int | str | None = None,
) -> Transactions:
    """Read transactions from a file, a database or a frame.

    Parameters
    ----------
    source : path, URL or frame
        A file, whose name indicates the format (``.dat`` FIMI, ``.spmf``, ``.csv`` and ``.tsv`` baskets, ``.jsonl``,
        ``.parquet``, ``.arrow``); text may be compressed (``.gz``, ``.zst``). A database: ``postgresql://…``, or a
        ``.duckdb`` file. A frame: pandas, polars, Arrow, or anything else with the Arrow interface.
    sensitive : names, or path
        The items to protect; each must occur. ``"glob: insulin*"`` stands for all that match, ``"branch: pharmacy"``
        for all below a node of *taxonomy*, ``"name: glob: x"`` for the item "glob: x". A path names a file with one
        entry per line.
    {details}
    taxonomy : Taxonomy, mapping, frame or path
        Groups of the items, for the branches among the sensitive ones.
    memory_limit : int or str, optional
        Maximum memory of the process, such as ``"2GB"``. Larger data is kept on disk, in the folder ``TMPDIR``.

    Examples
    --------
    >>> import pyarrow as pa
    >>> read(pa.table({"who": [1, 1, 2], "what": ["tea", "milk", "tea"]}), long=("who", "what")).to_lists()
    [['milk', 'tea'], ['tea']]
    >>> read(pa.table({"items": [["Tea ", "tea"], ["milk"]]}), normalize="strip,case").to_lists()
    [['tea'], ['milk']]
    """
    told = {name: value for name, value in locals().items() if name in Reading.model_fields}
    listed = list_path(sensitive)
    names, entries = names_and_entries(sensitive) if listed is None else ([], [])
    in_file = taxonomy is None or isinstance(taxonomy, (str, Path))
    tree = None if in_file else taxonomy_of(taxonomy)
    told |= {"sensitive": names, "sensitive_items": [entry.written for entry in entries]}
    told["sensitive_files"] = () if listed is None else (listed,)
    told["taxonomy"] = str(taxonomy) if in_file and taxonomy is not None else None
    frame = None if isinstance(source, (str, Path)) else table_reader(source)
    try:
        reading = Reading(**{**told, "path": str(source) if frame is None else ""})
    except ValidationError as error:
        wrong = error.errors()[0]["loc"][0]
        option = next(one.option for one in declared(Reading) if one.name == wrong)
        given = told[str(wrong)]
        raise InvalidArgument(f"{said(str(wrong))} is {given!r}.", to_write(option, given)) from None
    return reading.read(memory_limit, frame=frame, taxonomy=tree)


read.__doc__ = (read.__doc__ or "").replace(
    "{details}\n    ",
    "".join(
        f"{one.name} : {python_type(one.option)}\n        {one.option.help}\n    "
        for one in declared(Reading)
        if one.name in {*signature(read).parameters} - {"taxonomy"}
    ),
)
