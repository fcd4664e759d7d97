"""The section [promise] of a recipe, made from what a promise declares; and the forms of the options of methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    SerializeAsAny,
    StrictFloat,
    StrictInt,
    TypeAdapter,
    ValidationError,
    create_model,
    model_validator,
)

from veilset.errors import InvalidArgument
from veilset.models import Coherence, Promise, known_promise
from veilset.options import Form, declared
from veilset.publish.certificate import make_promise


def _without_zero(path: str) -> str:
    if "\0" in path:
        raise ValueError("a path without a zero character")
    return path


_Path = Annotated[str, AfterValidator(_without_zero)]

_WRITTEN: dict[Form, Any] = {
    "text": str,
    "texts": tuple[str, ...],
    "character": str,
    "pair": tuple[str, str],
    "names": tuple[str, ...],
    "listed": tuple[str, ...],
    "words": tuple[str, ...],
    "whole": StrictInt,
    "whole or unlimited": StrictInt | Literal["unlimited"],
    "share": str | float | int,
    "count or share": StrictInt | StrictFloat | str,
    "switch": bool,
    "choice": str,
    "file": _Path,
    "files": tuple[_Path, ...],
    "items": tuple[str, ...],
    "groups": tuple[tuple[str, ...], ...],
    "patterns": tuple[tuple[str, ...], ...],
    "rules": tuple[tuple[tuple[str, ...], tuple[str, ...]], ...],
    "weights": dict[str, float] | str,
    "columns": StrictInt | _Path | tuple[tuple[str, ...], ...],
    "taxonomy": _Path | dict[str, tuple[str, ...]],
    "renaming": dict[str, str],
    "meanings": dict[str, tuple[str, ...]],
}
"""How a value of each form stands in a recipe. TOML has no word for None: it is left out, or "unlimited"."""


class Section(BaseModel):
    """A part of a recipe: what it does not know is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class PromiseSection(Section):
    """What to promise: *model* names it, the rest are its parameters."""

    model: str

    @model_validator(mode="before")
    @classmethod
    def _named(cls, content: Any) -> Any:
        """A parameter that is None and can be unlimited is written as such."""
        named = {name: "unlimited" for name in cls.may_be_unlimited() if content.get(name, 0) is None}
        return {**content, **named}

    @classmethod
    def may_be_unlimited(cls) -> list[str]:
        """The parameters for which "unlimited" stands for None."""
        promise = known_promise(str(cls.model_fields["model"].default))
        return [said.name for said in declared(promise) if said.option.form == "whole or unlimited"]

    def make(self) -> Promise:
        """The promise itself."""
        parameters = self.model_dump(exclude={"model"}, exclude_unset=True)
        unlimited = {name: None for name in self.may_be_unlimited() if parameters.get(name) == "unlimited"}
        return make_promise(self.model, {**parameters, **unlimited})


@cache
def _section_for(kind: type[Promise]) -> type[PromiseSection]:
    fields: dict[str, Any] = {}
    for said in declared(kind):
        written = _WRITTEN[said.option.form]
        fields[said.name] = (written, ...) if said.required else (written | None, None)
    return create_model(f"{kind.__name__}Section", __base__=PromiseSection, model=(str, kind.name), **fields)


def promise_section(content: Any) -> Any:
    """The section of the promise that *model* names, by default coherence; an error if there is no such promise."""
    if not isinstance(content, dict):
        return content
    return _section_for(known_promise(str(content.get("model", Coherence.name)))).model_validate(content)


AnyPromise: TypeAlias = Annotated[SerializeAsAny[PromiseSection], BeforeValidator(promise_section)]
"""What to promise: the parameters of the promise that *model* names, and no others."""


def check_written(method: Callable[..., Any], options: Mapping[str, Any], where: str) -> None:
    """Raise if one of these values, as they stand in a recipe, is not of the form that the method's option has."""
    forms = {said.name: said.option for said in declared(method)}
    for name, value in options.items():
        if (option := forms.get(name)) is None:
            continue  # it is refused where options are compared with the method's
        written: Any = Literal[option.choices] if option.form == "choice" else _WRITTEN[option.form]
        try:
            TypeAdapter(written).validate_python(_as_tuples(value), strict=True)
        except ValidationError as error:
            messages = (one["msg"].removeprefix("Value error, ") for one in error.errors())
            expected = " or ".join(dict.fromkeys(text.removeprefix("Input should be ") for text in messages))
            shown = "not as expected" if option.secret else repr(value)
            raise InvalidArgument(f"{where}{name} is {shown}.", f"Give {expected}.") from None


def _as_tuples(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_tuples(inner) for key, inner in value.items()}
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value
