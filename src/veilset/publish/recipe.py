"""``recipe.toml``: a run as a file. What a user writes to repeat a run, and what every release keeps at home."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, StrictBool, ValidationError

from veilset.anonymize import find_method, resolve
from veilset.errors import InvalidArgument
from veilset.io.toml_files import Section, check_written, read_toml
from veilset.models import Promise, known_promise
from veilset.publish.sections import AnyPromise, PromiseSection, promise_section
from veilset.release import HeldRelease, Release
from veilset.transactions import Reading, Transactions, sought_lines

__all__ = ["RECIPE", "MethodRecipe", "PromiseSection", "Recipe", "promise_section"]

RECIPE = "recipe.toml"
"""The file in ``custodian/``."""

_ADVICE = "Compare it with the recipe of a release."

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


class MethodRecipe(Section):
    """How to change the data. Text for `columns` or `taxonomy` is a path, relative to the recipe's folder.

    *name* may be a paper's name for a method.
    """

    name: str | None = None
    drop_empty: StrictBool = False
    allow_sensitive: StrictBool = False
    options: dict[str, Option] = Field(default_factory=dict)

    def resolved(self, promise: str) -> MethodRecipe:
        """The same under the method's own name, with the options that a paper's name stands for."""
        if self.name is None:
            return self
        name, meant = resolve(known_promise(promise), self.name)
        return self.model_copy(update={"name": name, "options": {**meant, **self.options}})

    def beside(self, folder: Path) -> MethodRecipe:
        """The same for a recipe in this folder, with its paths made absolute."""
        files = {name: self.options.get(name) for name in ("columns", "taxonomy")}
        absolute = {name: str(folder / path) for name, path in files.items() if isinstance(path, str)}
        return self.model_copy(update={"options": {**self.options, **absolute}})


class Recipe(Section):
    """A run of ``publish``, complete: the same input and recipe give the same release, byte for byte.

    With an *engine*, the path of the input is as that reads it, and nothing tells whether the input is the same.
    """

    schema_version: Literal[1] = 1
    made_by: str | None = None
    seed: Annotated[str, Field(min_length=1)] | None = None
    out_format: str | None = None
    engine: Literal["in-process", "spark"] | None = None
    master: str | None = None
    input: Reading | None = None
    promise: AnyPromise
    method: MethodRecipe = MethodRecipe()

    @classmethod
    def load(cls, path: Path, *, needs_input: bool = True) -> Recipe:
        """The recipe in a file; its paths made absolute."""
        content = read_toml(path, _ADVICE)
        where = "promise."
        try:
            if isinstance(content.get("promise"), dict):
                content["promise"] = promise_section(content["promise"])
                if needs_input:
                    _check_method(path, content["promise"].model, content.get("method"))
            where = ""
            recipe = cls.model_validate(content)
            if needs_input:
                recipe = recipe.model_copy(update={"method": recipe.method.resolved(recipe.promise.model)})
        except ValidationError as error:
            first = error.errors()[0]
            place = where + ".".join(map(str, first["loc"]))
            if not where and first["type"].endswith("_type"):  # the values of a promise may be secret
                place += f" is {first['input']!r}"
            raise InvalidArgument(f"{str(path)!r}: {place}: {first['msg']}.", _ADVICE) from None
        here = path.resolve().parent
        recipe = recipe.model_copy(update={"method": recipe.method.beside(here)})
        if needs_input and (recipe.input is None or not recipe.input.path):
            raise InvalidArgument(
                f"{str(path)!r} names no input file.", "Its data did not come from a file: give [input] a path."
            )
        recipe._check_engine(path)
        if recipe.input is None:
            return recipe
        placed = recipe.input.beside(here)
        if recipe.engine == "spark":
            placed = placed.model_copy(update={"path": recipe.input.path})
        return recipe.model_copy(update={"input": placed})

    def _check_engine(self, path: Path) -> None:
        """Raise if what it says of its engine cannot be meant."""
        wrong = {
            "master": self.master is not None and self.engine != "spark",
            "out_format": self.out_format is not None and self.engine is not None,
        }
        if name := next((name for name, is_wrong in wrong.items() if is_wrong), None):
            where = "the engine spark" if name == "master" else "releases that no engine writes"
            raise InvalidArgument(f"{str(path)!r}: {name} is for {where}.", "Leave it out, or change the engine.")

    @classmethod
    def of(cls, release: Release | HeldRelease, *, seed: str, version: str, out_format: str | None = None) -> Recipe:
        """The recipe that makes this release again."""
        switches = {name: bool(release.options.get(name)) for name in ("drop_empty", "allow_sensitive")}
        options = {key: value for key, value in release.options.items() if key not in switches and value is not None}
        return cls.model_validate(
            {
                "made_by": version,
                "seed": seed,
                "input": _read_again(release),
                "out_format": out_format,
                **({} if isinstance(release, Release) else release.original.engine.told),
                "promise": promise_section({"model": release.promise.name, **release.promise.parameters()}),
                "method": {"name": release.method, **switches, "options": options},
            }
        )

    def promise_for(self, data: Transactions) -> Promise:
        """The promise; items that need not occur may be in its groups, and are left out there if they do not."""
        promise = self.promise.make()
        optional = self.input is not None and self.input.sensitive_where_present
        return promise.restricted_to(data) if optional else promise

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


def _read_again(release: Release | HeldRelease) -> Reading:
    """What reads the original again."""
    if isinstance(release, Release):
        return Reading.of(release.original)
    known = release.original.vocabulary
    return release.original.origin.model_copy(
        update={"sensitive": known.sensitive, "sensitive_sought": sought_lines(known.sought)}
    )


def _check_method(path: Path, promise: str, content: Any) -> None:
    """Raise if an option of the method is not written as it should be; other faults of the section are found later."""
    options = content.get("options") if isinstance(content, dict) else None
    if isinstance(options, dict) and isinstance(name := content.get("name"), (str, type(None))):
        check_written(find_method(known_promise(promise), name), options, f"{str(path)!r}: method.options.")


def _toml(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml(key)} = {_toml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, str):
        # JSON's escapes are TOML's, but for DEL, which TOML wants escaped too.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, float):
        return repr(value)  # inf and nan too, which JSON calls otherwise
    return json.dumps(value)
