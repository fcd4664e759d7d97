"""The section [promise] of a recipe, made from what a promise declares."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, TypeAlias

from pydantic import BeforeValidator, SerializeAsAny, create_model, model_validator

from veilset.io.toml_files import WRITTEN, Section
from veilset.models import Coherence, Promise, known_promise
from veilset.options import declared
from veilset.publish.certificate import make_promise


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
        written = WRITTEN[said.option.form]
        fields[said.name] = (written, ...) if said.required else (written | None, None)
    return create_model(f"{kind.__name__}Section", __base__=PromiseSection, model=(str, kind.name), **fields)


def promise_section(content: Any) -> Any:
    """The section of the promise that *model* names, by default coherence; an error if there is no such promise."""
    if not isinstance(content, dict):
        return content
    return _section_for(known_promise(str(content.get("model", Coherence.name)))).model_validate(content)


AnyPromise: TypeAlias = Annotated[SerializeAsAny[PromiseSection], BeforeValidator(promise_section)]
"""What to promise: the parameters of the promise that *model* names, and no others."""
