"""``certificate.json``: what is promised about the file beside it, for machines and people."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

from veilset.errors import InvalidArgument
from veilset.io import FORMATS, Layout, as_written
from veilset.models import Audit, Names, Parameter, Promise, Sealed, known_promise
from veilset.transactions import Counted, Transactions

SCHEMA_VERSION: Final = 1
MOST_PARTS: Final = 400
"""Files that data may have: each is open while a release is verified, and a process may open 1,024 by default."""

_SHOWN = 200  # characters of parameters, in a message

OneTransaction: TypeAlias = Literal[
    "one person, whose transactions were merged",
    "one person, whose transactions were merged; those of unknown people were not",
    "taken as one person",
]
"""What one transaction is."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class PromiseRecord(_Strict):
    """A promise by name, with its parameters."""

    name: Annotated[str, Field(max_length=100)]
    parameters: dict[str, Parameter]


class DataFile(_Strict):
    """The released file and how to read it."""

    file: Annotated[str, Field(pattern=r"^data\.[a-z]{1,8}$")]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    format: Annotated[str, Field(max_length=100)]
    delimiter: Annotated[str, Field(max_length=1)] = ""
    columns: Annotated[tuple[Annotated[str, Field(max_length=100)], ...], Field(fail_fast=True)] | None = None

    @classmethod
    def of(cls, file: str, sha256: str, layout: Layout) -> DataFile:
        """A file of this layout."""
        return cls(
            file=file,
            sha256=sha256,
            format=layout.format,
            delimiter=layout.delimiter,
            columns=layout.columns or None,
        )

    def layout(self) -> Layout:
        """The layout, as the readers take it; an error if there is no such layout, or not in a file of this name."""
        if self.format not in FORMATS or Path(self.file).suffix != FORMATS[self.format].suffix:
            raise InvalidArgument(
                f"{self.file!r} is not a file of the format {self.format!r}.", "Ask for the release again."
            )
        shape = FORMATS[self.format].shape
        return as_written(
            Layout.choose(
                self.file,
                format=self.format,
                delimiter=self.delimiter or None,
                long=self.columns if shape == "long" else None,
                column=self.columns[0] if shape == "lists" and self.columns else None,
            )
        )


class DataPart(_Strict):
    """One file of released data that has several."""

    file: Annotated[str, Field(max_length=100)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    transactions: Annotated[int, Field(ge=1)]


class DataParts(_Strict):
    """The released data where workers wrote it: a folder of files, which belong together in this order."""

    folder: Literal["data"] = "data"
    format: Literal["parquet"] = "parquet"
    columns: tuple[Annotated[str, Field(max_length=100)]]
    parts: Annotated[tuple[DataPart, ...], Field(min_length=1, max_length=MOST_PARTS, fail_fast=True)]

    @model_validator(mode="after")
    def _named_in_order(self) -> Self:
        for number, part in enumerate(self.parts):
            if part.file != part_name(number):
                raise ValueError(f"part {number} is not called {part_name(number)}")
        return self

    @property
    def file(self) -> str:
        """What to call all of them."""
        return f"{self.folder}/"

    def layout(self) -> Layout:
        """The layout of each part."""
        return as_written(Layout.choose(self.parts[0].file, format=self.format, column=self.columns[0]))


def part_name(number: int) -> str:
    """What a part is called, from 0 on."""
    return f"data/part-{number:05d}.parquet"


def _tag(data: Any) -> str:
    in_parts = "parts" in data if isinstance(data, dict) else isinstance(data, DataParts)
    return "parts" if in_parts else "table"


AnyData: TypeAlias = Annotated[
    Annotated[DataFile, Tag("table")] | Annotated[DataParts, Tag("parts")], Discriminator(_tag)
]
"""The released data: one file, or several."""


class AnatomyTable(_Strict):
    """The anatomized table beside the data: the same rows, in the same order, with their buckets and columns.

    *largest_item_share* is the largest probability of a single public item in a bucket, *assumed* what it rests on;
    certificates of earlier versions have neither.
    """

    file: Annotated[str, Field(pattern=r"^anatomy\.(csv|jsonl|parquet)$")]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    columns: Annotated[int, Field(ge=2)]
    buckets: Annotated[int, Field(ge=1)]
    smallest_bucket: Annotated[int, Field(ge=1)]
    largest_bucket: Annotated[int, Field(ge=1)]
    largest_item_share: Annotated[str, Field(pattern=r"^([01]|[1-9]\d{0,6}/[1-9]\d{0,6})$")] | None = None
    assumed: Literal["all arrangements of a bucket's values without an empty transaction are equally likely"] | None = (
        None
    )

    @classmethod
    def made(cls, file: str, sha256: str, data: Transactions, answer: Audit) -> AnatomyTable:
        """The record of a table of this *data*, which was audited with this *answer*."""
        return cls(
            file=file,
            sha256=sha256,
            largest_item_share=cls.item_share(answer),
            assumed="all arrangements of a bucket's values without an empty transaction are equally likely",
            **cls.numbers(data),
        )

    @staticmethod
    def item_share(answer: Audit) -> str:
        """The largest share of a public item, as the auditor met it; 0 if there is none."""
        margin = answer.margins.get("largest_item_share")
        return "0" if margin is None else str(margin.value)

    @staticmethod
    def numbers(data: Counted) -> dict[str, int]:
        """What there is to count in anatomized transactions."""
        assert data.anatomy is not None  # noqa: S101 - whoever asks has looked
        sizes = data.anatomy.sizes
        return {
            "columns": len(data.anatomy.columns),
            "buckets": len(sizes),
            "smallest_bucket": int(sizes.min()),
            "largest_bucket": int(sizes.max()),
        }

    @staticmethod
    def name_beside(layout: Layout) -> str:
        """What the file is called beside data of this layout."""
        containers = {"json": "jsonl", "parquet": "parquet", "arrow": "parquet"}
        return f"anatomy.{containers.get(layout.form.container, 'csv')}"

    def layout(self) -> Layout:
        """The layout, as the readers take it."""
        return Layout.choose(self.file, format="anatomy")


class Certificate(_Strict):
    """All that is said in public. It is computed from the released data, but for the loss, rounded to 1%.

    *generalized* says what a coarser name stands for, where there are such names: all items the taxonomy has there,
    which occur in the original if the taxonomy was made from it; or, if *listed_from* is not 0, only items in so many
    transactions of the original. *thinned*: items were removed from single transactions; then
    *broken_in_original* is how many itemsets or rules of the file exceed a limit in the original, as the custodian has
    counted. *anatomy* is there where the promise is about buckets: which columns and buckets the released data has was
    chosen from the original, as was what other methods keep.
    """

    schema_version: Literal[1]
    promise: PromiseRecord
    sensitive: Names
    transactions: Annotated[int, Field(ge=0)]
    one_transaction_is: OneTransaction
    data: AnyData
    loss_percent: Annotated[int, Field(ge=0, le=100)]
    not_promised: Names
    made_by: Annotated[str, Field(pattern=r"^veilset [0-9]{1,4}(\.[0-9]{1,4}){1,3}((a|b|rc|\.dev|\.post)[0-9]{1,4})?$")]
    generalized: dict[str, Names] = Field(default_factory=dict)
    listed_from: Annotated[int, Field(ge=0)] = 0
    thinned: bool = False
    broken_in_original: Annotated[int, Field(ge=0)] | None = None
    anatomy: AnatomyTable | None = None

    def to_bytes(self) -> bytes:
        """The text of the file; of what coarser names stand for, and of an anatomy, only if there are any."""
        left_out: dict[str, Any] = {
            name: True for name in ("generalized", "listed_from", "thinned", "anatomy") if not getattr(self, name)
        }
        if self.broken_in_original is None:
            left_out["broken_in_original"] = True
        if self.anatomy is not None and self.anatomy.assumed is None:  # of an earlier version
            left_out["anatomy"] = {"largest_item_share", "assumed"}
        return self.model_dump_json(indent=2, exclude=left_out).encode() + b"\n"

    def files(self) -> dict[str, str]:
        """The names of the files with data, and the sha256 of each."""
        if isinstance(self.data, DataParts):
            return {part.file: part.sha256 for part in self.data.parts}
        named = {self.data.file: self.data.sha256}
        return named if self.anatomy is None else {**named, self.anatomy.file: self.anatomy.sha256}

    @property
    def sealed(self) -> bool:
        """Whether what is promised is secret."""
        return self.promise.name == Sealed.name

    @property
    def merged(self) -> bool:
        """Whether transactions of one person were merged."""
        return self.one_transaction_is != "taken as one person"

    @property
    def unknown(self) -> bool:
        """Whether they were, except those of unknown people."""
        return self.merged and self.one_transaction_is != "one person, whose transactions were merged"


def one_transaction(data: Transactions) -> OneTransaction:
    """What one transaction of the original is."""
    if data.persons is None:
        return "taken as one person"
    if data.has_unknown:
        return "one person, whose transactions were merged; those of unknown people were not"
    return "one person, whose transactions were merged"


def make_promise(name: str, parameters: Mapping[str, Any]) -> Promise:
    """The promise that a recipe names."""
    return _made(known_promise(name), parameters)


def certified_promise(record: PromiseRecord) -> Promise:
    """The promise that a certificate names; an error if it names one that would give away what it hides."""
    if record.name == Sealed.name:
        return _made(Sealed, record.parameters)
    kind = known_promise(record.name)
    if kind.secret:
        raise InvalidArgument(
            f"A certificate that names {record.name!r} openly would reveal what is hidden.",
            "Do not pass it on. Publish again.",
        )
    return _made(kind, record.parameters)


def _made(kind: type[Promise], parameters: Mapping[str, Any]) -> Promise:
    takes = signature(kind).parameters
    missing = [name for name, one in takes.items() if one.default is one.empty and name not in parameters]
    if missing or not set(parameters) <= set(takes):
        raise InvalidArgument(
            f"The parameters {str(dict(parameters))[:_SHOWN]} are not those of {kind.name}.",
            "Compare with the documentation.",
        )
    return kind(**parameters)
