"""The section [promise] of a recipe, made from what a promise declares."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    SerializeAsAny,
    StrictFloat,
    StrictInt,
    create_model,
    model_validator,
)

from veilset.models import Coherence, Promise, known_promise
from veilset.options import Form, declared
from veilset.publish.certificate import make_promise

__all__ = ["AnyPromise", "PromiseSection", "Section", "promise_section"]

_WRITTEN: dict[Form, Any] = {
    "text": str,
    "texts": tuple[str, ...],
    "character": str,
    "pair": tuple[str, str],
    "names": tuple[str, ...],
    "whole": int,
    "whole or unlimited": int | Literal["unlimited"],
    "share": str | float | int,
    "count or share": StrictInt | StrictFloat | str,
    "switch": bool,
    "choice": str,
    "file": str,
    "files": tuple[str, ...],
    "items": tuple[str, ...],
    "groups": tuple[tuple[str, ...], ...],
    "patterns": tuple[tuple[str, ...], ...],
    "rules": tuple[tuple[tuple[str, ...], tuple[str, ...]], ...],
    "weights": dict[str, float] | str,
    "columns": int | tuple[tuple[str, ...], ...],
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
        unlimited = [said.name for said in declared(known_promise(cls.kind())) if "unlimited" in said.option.form]
        named = {name: "unlimited" for name in unlimited if name in content and content[name] is None}
        return {**content, **named}

    @classmethod
    def kind(cls) -> str:
        """Which promise this is a section for."""
        return str(cls.model_fields["model"].default)

    def make(self) -> Promise:
        """The promise itself."""
        parameters = self.model_dump(exclude={"model"}, exclude_unset=True)
        unlimited = {said.name for said in declared(known_promise(self.model)) if "unlimited" in said.option.form}
        written = {
            name: None if name in unlimited and value == "unlimited" else value for name, value in parameters.items()
        }
        return make_promise(self.model, written)


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
