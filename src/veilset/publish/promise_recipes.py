"""The section [promise] of a recipe: one class a promise, with its parameters as a person writes them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Discriminator, StrictFloat, StrictInt, Tag, field_validator

from veilset.models import Promise
from veilset.publish.certificate import known_promise, make_promise

__all__ = [
    "CoherenceRecipe",
    "HiddenPatternsRecipe",
    "HiddenRulesRecipe",
    "LDiverseAnatomyRecipe",
    "PromiseRecipe",
    "RhoUncertaintyRecipe",
    "Section",
]


class Section(BaseModel):
    """A part of a recipe: what it does not know is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class CoherenceRecipe(Section):
    """What to promise, if nothing else is named. ``p = "unlimited"`` is written for no limit."""

    model: Literal["coherence"] = "coherence"
    h: str | float | int | None = None
    k: int
    p: int | Literal["unlimited"]
    sensitive_groups: tuple[tuple[str, ...], ...] = ()

    @field_validator("p", mode="before")
    @classmethod
    def _written(cls, p: Any) -> Any:
        return "unlimited" if p is None else p  # TOML has no word for None

    def make(self) -> Promise:
        """The promise itself."""
        parameters = self.model_dump(exclude={"model"})
        return make_promise(self.model, {**parameters, "p": None if self.p == "unlimited" else self.p})


class RhoUncertaintyRecipe(Section):
    """What to promise with ``model = "rho-uncertainty"``."""

    model: Literal["rho-uncertainty"] = "rho-uncertainty"
    rho: str | float | int

    def make(self) -> Promise:
        """The promise itself."""
        return make_promise(self.model, {"rho": self.rho})


class HiddenPatternsRecipe(Section):
    """What to promise with ``model = "hidden-patterns"``: the patterns, and from what support they count as found."""

    model: Literal["hidden-patterns"] = "hidden-patterns"
    patterns: tuple[tuple[str, ...], ...]
    min_support: StrictInt | StrictFloat | str

    def make(self) -> Promise:
        """The promise itself."""
        return make_promise(self.model, self.model_dump(exclude={"model"}))


class HiddenRulesRecipe(Section):
    """What to promise with ``model = "hidden-rules"``; a rule is a list of two, antecedent and consequent."""

    model: Literal["hidden-rules"] = "hidden-rules"
    rules: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    min_support: StrictInt | StrictFloat | str
    min_confidence: str | float | int

    def make(self) -> Promise:
        """The promise itself."""
        return make_promise(self.model, self.model_dump(exclude={"model"}))


class LDiverseAnatomyRecipe(Section):
    """What to promise with ``model = "l-diverse-anatomy"``."""

    model: Literal["l-diverse-anatomy"] = "l-diverse-anatomy"
    l: str | float | int  # noqa: E741 - the paper's letter
    empty: str = "value"

    def make(self) -> Promise:
        """The promise itself."""
        return make_promise(self.model, self.model_dump(exclude={"model"}))


def _model_of(section: Any) -> str | None:
    """Which promise a section is about; an error if there is no such promise."""
    model = section.get("model", "coherence") if isinstance(section, dict) else getattr(section, "model", None)
    if model is not None:
        known_promise(str(model))
    return model


PromiseRecipe: TypeAlias = Annotated[
    Annotated[CoherenceRecipe, Tag("coherence")]
    | Annotated[RhoUncertaintyRecipe, Tag("rho-uncertainty")]
    | Annotated[HiddenPatternsRecipe, Tag("hidden-patterns")]
    | Annotated[HiddenRulesRecipe, Tag("hidden-rules")]
    | Annotated[LDiverseAnatomyRecipe, Tag("l-diverse-anatomy")],
    Discriminator(_model_of),
]
"""What to promise: the parameters of the promise that *model* names, and no others."""
