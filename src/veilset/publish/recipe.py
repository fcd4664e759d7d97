"""``recipe.toml``: a run as a file. What a user writes to repeat a run, and what every release keeps at home."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, ValidationError

from veilset.errors import UnreadableInput, WrongUsage
from veilset.io.sql import located
from veilset.models import Promise
from veilset.publish.certificate import PROMISES
from veilset.publish.promise_recipes import (
    CoherenceRecipe,
    HiddenPatternsRecipe,
    HiddenRulesRecipe,
    LDiverseAnatomyRecipe,
    PromiseRecipe,
    RhoUncertaintyRecipe,
    Section,
)
from veilset.release import Release
from veilset.transactions import (
    Entry,
    Source,
    Taxonomy,
    Transactions,
    mark_sensitive,
    parse_entries,
    read,
    read_entries,
)

__all__ = [
    "RECIPE",
    "CoherenceRecipe",
    "HiddenPatternsRecipe",
    "HiddenRulesRecipe",
    "InputRecipe",
    "LDiverseAnatomyRecipe",
    "MethodRecipe",
    "PromiseRecipe",
    "Recipe",
    "RhoUncertaintyRecipe",
]

RECIPE = "recipe.toml"
"""The file in ``custodian/``."""

Option: TypeAlias = (
    str
    | int
    | float
    | bool
    | tuple[str, ...]
    | tuple[tuple[str, ...], ...]
    | dict[str, float]
    | dict[str, str]
    | dict[str, tuple[str, ...]]
)
"""What an option of a method may be; lists of lists are patterns or columns of items, the last kind a taxonomy, as each
item's groups."""


_READING = {
    "format",
    "delimiter",
    "header",
    "column",
    "long",
    "wide",
    "person",
    "ignore",
    "counts",
    "query",
    "encoding",
}
"""What `veilset.read` is told by a recipe in the same words."""


class InputRecipe(Section):
    """What to read: a file, or a database that is asked a query. A path is relative to the recipe's folder.

    `sensitive` holds exact names, as a release writes them down; those in `sensitive_where_present` need not occur.
    `sensitive_items` and the lines of `sensitive_files` are entries (`veilset.transactions.sensitive`), whose branches
    are those of `taxonomy`.
    """

    path: str
    sha256: str | None = None
    format: str | None = None
    delimiter: str | None = None
    header: bool = False
    column: str | None = None
    long: tuple[str, str] | None = None
    wide: bool = False
    person: str | None = None
    ignore: tuple[str, ...] = ()
    counts: bool = False
    query: str | None = None
    encoding: str = "utf-8"
    sensitive: tuple[str, ...] = ()
    sensitive_where_present: tuple[str, ...] = ()
    sensitive_items: tuple[str, ...] = ()
    sensitive_files: tuple[str, ...] = ()
    taxonomy: str | None = None
    taxonomy_columns: tuple[str, ...] | None = None
    taxonomy_kind: str | None = None

    @classmethod
    def of(cls, source: Source, sensitive: tuple[str, ...]) -> InputRecipe:
        """What reads this source again, with these items sensitive."""
        layout = source.layout
        form = layout.form
        return cls(
            path=source.origin or "",
            sha256=source.sha256,
            format=None if source.query is not None else layout.format,
            delimiter=layout.delimiter or None,
            header=layout.header and layout.format == "basket",
            column=layout.columns[0] if form.shape == "lists" and layout.columns else None,
            long=(layout.columns[0], layout.columns[1]) if form.shape == "long" else None,
            wide=form.shape == "wide",
            person=layout.person,
            ignore=layout.ignore,
            counts=layout.counts,
            query=source.query,
            encoding=source.encoding,
            sensitive=sensitive,
        )

    def entries(self) -> list[Entry]:
        """What the files and the items here say is sensitive."""
        listed = [entry for path in self.sensitive_files for entry in read_entries(path, self.encoding)]
        return [*parse_entries(self.sensitive_items), *listed]

    def read(self, memory_limit: int | str | None = None) -> Transactions:
        """The transactions, if the file has the hash that is named here."""
        entries = self.entries()
        tree = None
        if self.taxonomy is not None:
            form = {"kind": self.taxonomy_kind, "columns": self.taxonomy_columns}
            tree = Taxonomy.read(self.taxonomy, **form, encoding=self.encoding)  # type: ignore[arg-type]
        data = read(self.path, memory_limit=memory_limit, **self.model_dump(include=_READING))
        assert data.source is not None  # noqa: S101 - everything that is read has one
        if self.sha256 not in (None, data.source.sha256):
            raise UnreadableInput(
                f"{self.path!r} does not hold what this recipe was made for: its sha256 differs.",
                "Use the original (and say ORDER BY in a query), or take the sha256 out of the recipe.",
            )
        named = {*self.sensitive, *set(data.names).intersection(self.sensitive_where_present)}
        return mark_sensitive(data.with_sensitive(named), entries, tree)


class MethodRecipe(Section):
    """How to change the data. Text for `columns` or `taxonomy` is a path, relative to the recipe's folder."""

    name: str | None = None
    drop_empty: bool = False
    allow_sensitive: bool = False
    options: dict[str, Option] = Field(default_factory=dict)

    def beside(self, folder: Path) -> MethodRecipe:
        """The same for a recipe in this folder, with its paths made absolute."""
        files = {name: self.options.get(name) for name in ("columns", "taxonomy")}
        absolute = {name: str(folder / path) for name, path in files.items() if isinstance(path, str)}
        return self.model_copy(update={"options": {**self.options, **absolute}})


class Recipe(Section):
    """A run of ``publish``, complete: the same input and recipe give the same release, byte for byte."""

    schema_version: Literal[1] = 1
    made_by: str | None = None
    seed: Annotated[str, Field(min_length=1)] | None = None
    out_format: str | None = None
    input: InputRecipe | None = None
    promise: PromiseRecipe
    method: MethodRecipe = MethodRecipe()

    @classmethod
    def load(cls, path: Path, *, needs_input: bool = True) -> Recipe:
        """The recipe in a file; its paths made absolute."""
        try:
            content = tomllib.loads(path.read_text("utf-8"))
            recipe = cls.model_validate(content)
        except OSError as error:
            raise UnreadableInput(f"{str(path)!r} cannot be read: {error.strerror}.", "Check the path.") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise UnreadableInput(
                f"{str(path)!r} is not TOML: {error}.", "Compare it with the recipe of a release."
            ) from None
        except ValidationError as error:
            first = error.errors()[0]
            parts = [str(part) for part in first["loc"] if part not in PROMISES]  # which a file does not nest
            where = ".".join(parts)
            raise WrongUsage(
                f"{str(path)!r}: {where}: {first['msg']}.", "Compare it with the recipe of a release."
            ) from None
        here = path.resolve().parent
        recipe = recipe.model_copy(update={"method": recipe.method.beside(here)})
        if recipe.input is None and not needs_input:
            return recipe
        if recipe.input is None:
            raise WrongUsage(
                f"{str(path)!r} names no input file.",
                "Its data did not come from a file: add [input] with a path.",
            )
        absolute = recipe.input.model_copy(
            update={
                "path": located(recipe.input.path, here),
                "sensitive_files": tuple(str(here / name) for name in recipe.input.sensitive_files),
                "taxonomy": None if recipe.input.taxonomy is None else str(here / recipe.input.taxonomy),
            }
        )
        return recipe.model_copy(update={"input": absolute})

    @classmethod
    def of(cls, release: Release, *, seed: str, version: str, out_format: str | None = None) -> Recipe:
        """The recipe that makes this release again."""
        source = release.original.source
        switches = {name: bool(release.options.get(name)) for name in ("drop_empty", "allow_sensitive")}
        options = {key: value for key, value in release.options.items() if key not in switches and value is not None}
        data = None if source is None or source.origin is None else InputRecipe.of(source, release.original.sensitive)
        return cls.model_validate(
            {
                "made_by": version,
                "seed": seed,
                "input": data,
                "out_format": out_format,
                "promise": {"model": release.promise.name, **release.promise.parameters()},
                "method": {"name": release.method, **switches, "options": options},
            }
        )

    def promise_for(self, data: Transactions) -> Promise:
        """The promise; items that need not occur may be in its groups, and are left out there if they do not."""
        promise = self.promise.make()
        optional = self.input is not None and self.input.sensitive_where_present
        return promise.within(data) if optional else promise

    def read_data(self, memory_limit: int | str | None = None) -> Transactions:
        """The input, checked against its hash where the recipe has one."""
        assert self.input is not None  # noqa: S101 - load() and the command line see to it
        return self.input.read(memory_limit)

    def to_toml(self) -> str:
        """The recipe as text that `load` reads back."""
        content = self.model_dump(exclude_none=True)
        lines = [f"{key} = {_toml(value)}" for key, value in content.items() if not isinstance(value, dict)]
        for name, section in content.items():
            if isinstance(section, dict):
                lines += ["", f"[{name}]", *(f"{key} = {_toml(value)}" for key, value in section.items())]
        return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml(key)} = {_toml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, str):
        # JSON's escapes are TOML's, but for DEL, which TOML wants escaped too.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)
