"""``study.toml``: tables, joins, target and options of a tree over a join, as a file.

For example:

    target = "customers.left"
    joins = ["customers.id = orders.customer", "orders.product = products.id"]

    [tables]
    customers = "customers.csv"
    orders = { path = "orders.csv", encoding = "latin-1", delimiter = ";" }
    products = { database = "shop.duckdb", query = "SELECT * FROM products" }

    [options]
    max_depth = 8

    [evaluation]
    folds = 5
    groups = "customers.household"

Paths are relative to the file. A file may stand under two names, to join a table to itself. A study that is only
used to predict needs no more than its tables.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, PrivateAttr, StrictInt, StrictStr, ValidationError

from veilset.errors import InvalidArgument, VeilsetError, in_python, unknown
from veilset.io.sql import is_database, located, without_password
from veilset.io.toml_files import FilePath, Section, read_toml, refusal
from veilset.joins.classifier import JoinClassifier
from veilset.joins.graph import JoinGraph, equalities_of, resolved
from veilset.joins.keys import KeyRule
from veilset.joins.linked import LinkedTables, read_tables
from veilset.joins.tables import Csv, Query
from veilset.joins.written import options_from
from veilset.limits import Limits

FOLDS = 5
"""Folds of a cross-validation, unless a study says otherwise."""

_ADVICE = "Compare it with the study in docs/joins.md."


class TableSection(Section):
    """A table: a file with its details, or a query of a database."""

    path: FilePath | None = None
    encoding: str | None = None
    delimiter: str | None = None
    database: FilePath | None = None
    query: str | None = None

    def source(self, folder: Path) -> Path | Csv | Query:
        """What a classifier reads, for a study in this folder."""
        given = {name for name, value in self if value is not None}
        if given == {"path"} and is_database(str(self.path)):
            address = without_password(str(self.path))
            raise InvalidArgument(
                f"{address!r} is a database.", f'Give {{ database = {_toml(address)}, query = "SELECT …" }}.'
            )
        if given == {"path"}:
            return folder / str(self.path)
        if given == {"database", "query"}:
            return Query(located(str(self.database), folder), str(self.query))
        if "path" in given and given <= {"path", "encoding", "delimiter"}:
            return Csv(folder / str(self.path), self.encoding or "utf-8", self.delimiter)
        named = [name for name in type(self).model_fields if name in given]
        raise InvalidArgument(
            f"it has {' and '.join(named) or 'neither path nor query'}.",
            "Give a path (for CSV files, also encoding or delimiter), or a database and a query.",
        )

    def details(self) -> dict[str, str]:
        """What is said about it."""
        return {name: value for name, value in self if value is not None}


def _not_one(folds: int) -> int:
    if folds == 1:
        raise ValueError("must be 2 or more, or 0 for no cross-validation")
    return folds


class EvaluationSection(Section):
    """How the accuracy is measured."""

    folds: Annotated[StrictInt, Field(ge=0), AfterValidator(_not_one)] = FOLDS
    groups: str | None = None
    random_state: Annotated[StrictInt, Field(ge=0)] = 0


_SECTIONS: dict[str, type[Section]] = {"tables": TableSection, "evaluation": EvaluationSection}


def _table(given: Any) -> Any:
    if not isinstance(given, (str, dict)):
        raise ValueError("must be a path, or a section with a path or a query")
    return {"path": given} if isinstance(given, str) else given


def _joins(given: Any) -> Any:
    """A list of equalities, each a text or a pair; what they say is checked when the columns are known."""
    right = isinstance(given, list) and all(
        isinstance(one, str) or (isinstance(one, list) and len(one) == 2 and all(isinstance(side, str) for side in one))
        for one in given
    )
    if not right:
        raise ValueError('must be a list of equalities, such as ["orders.customer = customers.id"]')
    return tuple(one if isinstance(one, str) else tuple(one) for one in given)


def _options(options: dict[str, Any]) -> dict[str, Any]:
    """Steps of keys may be one text with commas."""
    keys = options.get("keys")
    return {**options, "keys": [step.strip() for step in keys.split(",")]} if isinstance(keys, str) else options


def _named(tables: dict[str, Any]) -> dict[str, Any]:
    if not all(tables) or not tables:
        raise ValueError("must name one table at least, such as orders = 'orders.csv'")
    return tables


class Study(Section):
    """Tables, joins, target and options of a `JoinClassifier`, as a file says them."""

    tables_: Annotated[
        dict[str, Annotated[TableSection, BeforeValidator(_table)]], AfterValidator(_named), Field(alias="tables")
    ]
    joins: Annotated[tuple[Any, ...], BeforeValidator(_joins)] = ()
    target: StrictStr = ""
    options: Annotated[dict[str, Any], AfterValidator(_options)] = Field(default_factory=dict)
    evaluation: EvaluationSection = EvaluationSection()
    _folder: Path = PrivateAttr(default=Path())

    @classmethod
    def load(cls, path: str | Path, *, predicting: bool = False) -> Study:
        """The study in a file. Only for training it needs a target."""
        path = Path(path)
        content = read_toml(path, _ADVICE)
        try:
            study = cls.model_validate(content)
            for name, table in study.tables_.items():
                _check_table(name, table)
            with as_in_study():
                study.classifier().check()
            if not predicting:
                study._check_references()
        except ValidationError as error:
            raise refusal(error, cls, _SECTIONS, _ADVICE).within(f"{str(path)!r}: ") from None
        except VeilsetError as error:
            raise error.within(f"{str(path)!r}: ") from None
        study._folder = path.absolute().parent
        return study

    def _references(self) -> list[tuple[str, str]]:
        """The columns that are named outside of joins, each after its place."""
        groups = self.evaluation.groups
        return [
            ("target", self.target),
            *(("options.ignore", one) for one in self.options.get("ignore", ())),
            *([] if groups is None else [("evaluation.groups", groups)]),
        ]

    def _check_references(self) -> None:
        """Raise at a column of no table, before any table is read."""
        if not self.target:
            raise InvalidArgument("target must be given.", _ADVICE)
        for place, reference in self._references():
            if not any(reference.startswith(f"{name}.") for name in self.tables_):
                wrong = unknown("table", reference.partition(".")[0], self.tables_, "Write a column as TABLE.COLUMN.")
                raise wrong.within(f"{place} is {reference!r}: ")

    def link(self, limits: Limits) -> LinkedTables:
        """Read the tables, and link them; columns that do not exist are found before keys are compared."""
        joins = equalities_of(self.joins)
        details = {name: table.details() for name, table in self.tables_.items()}
        tables = read_tables(self.tables(), joins, limits, about=lambda name: as_in_study(name, details[name]))
        columns = {name: table.column_names for name, table in tables.items()}
        with as_in_study():
            for place, reference in self._references():
                try:
                    resolved(reference, columns)
                except VeilsetError as error:
                    raise error.within(f"{place}: ") from None
            return LinkedTables.of(tables, JoinGraph.of(columns, joins), KeyRule.of(self.options.get("keys", ())))

    def tables(self) -> dict[str, Path | Csv | Query]:
        """The tables, by name, as `JoinClassifier.fit` takes them."""
        return {name: table.source(self._folder) for name, table in self.tables_.items()}

    def classifier(self, **limits: Any) -> JoinClassifier:
        """A classifier with the options of the study; *limits* are threads, memory_limit, time_limit and progress."""
        return JoinClassifier(**options_from(JoinClassifier, self.options, "options"), **limits)


@contextmanager
def as_in_study(table: str = "", details: dict[str, str] | None = None) -> Iterator[None]:
    """Errors name options as they stand in a study; those of a CSV file in the section of its table.

    >>> from veilset.errors import said
    >>> with as_in_study("orders", {"path": "orders.csv"}):
    ...     raise InvalidArgument("Fields end in ';'.", f"Set {said('delimiter', ';')}.")
    Traceback (most recent call last):
    veilset.errors.InvalidArgument: Fields end in ';'. Set orders = { path = "orders.csv", delimiter = ";" }.
    """

    try:
        yield
    except VeilsetError as error:
        raise type(error)(*error.spelled(partial(in_study, table=table, details=details))) from None


def in_study(name: str, *value: Any, table: str = "", details: dict[str, str] | None = None) -> str:
    """How an option is spelled in a study.

    >>> in_study("keys", ["zeros", "strip"])
    'keys = ["zeros", "strip"]'
    """
    if not value or value[0] is None:
        return in_python(name, *value)
    if name not in ("encoding", "delimiter"):
        return f"{name} = {_toml(value[0])}"
    inner = ", ".join(f"{key} = {_toml(one)}" for key, one in {**(details or {"path": "…"}), name: value[0]}.items())
    return f"{_key(table)} = {{ {inner} }}" if table else f"{{ {inner} }} in a study"


def _toml(value: Any) -> str:
    """Text, a number, a truth value or a list of them in TOML, which writes them like JSON."""
    return json.dumps(value, ensure_ascii=False)


def _key(name: str) -> str:
    """A name as TOML has it before an equals sign."""
    return name if name.isascii() and name.replace("_", "").replace("-", "").isalnum() else _toml(name)


def _check_table(name: str, table: TableSection) -> None:
    try:
        table.source(Path())
    except VeilsetError as error:
        raise error.within(f"tables.{name}: ") from None
