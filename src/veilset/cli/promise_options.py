"""The options that say what is promised. Each belongs to one model; with another it is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter

from veilset.cli.options import check_lists
from veilset.errors import WrongUsage
from veilset.io import read_item_list
from veilset.publish.certificate import known_promise
from veilset.publish.recipe import CoherenceRecipe, PromiseRecipe, RhoUncertaintyRecipe

__all__ = ["PromiseOptions"]

PROMISE = Group("Promise", sort_key=1)


@Parameter(name="*", group=PROMISE)
@dataclass(frozen=True)
class PromiseOptions:
    """What is promised."""

    model: str = "coherence"
    "The kind of promise: coherence (needs --k and --p) or rho-uncertainty (needs --rho)."
    k: int | None = None
    "For coherence: at least this many people fit whatever the attacker knows."
    p: str | None = None
    "For coherence: the attacker knows up to this many public items of a person; or: unlimited."
    h: str | None = None
    "For coherence: the attacker is at most this sure of any one sensitive item: 0.4, 40% or 2/5. Needed if there are \
sensitive items."
    sensitive_group: Annotated[
        tuple[Path, ...], Parameter(name="--sensitive-group", negative=(), show_default=False)
    ] = ()
    "For coherence: file with sensitive items, one name a line, that say the same about a person: for h, they are one \
item. May be given several times, once for each group."
    rho: str | None = None
    "For rho-uncertainty: the attacker, whatever they know of a person, is less sure than this of any other sensitive \
item: 0.5, 50% or 1/2."

    def recipe(self, encoding: str = "utf-8") -> PromiseRecipe:
        """The same as a part of a recipe; an error if an option is missing or belongs to another model."""
        self.check_model()
        return _RECIPES[self.model](self, encoding)

    def check_model(self) -> None:
        """Raise if there is no such model, or an option of another one was given."""
        known_promise(self.model)
        for option, model in _MODEL_OF.items():
            if model != self.model and getattr(self, option) not in (None, ()):
                letter = f"--{option.replace('_', '-')}"
                raise WrongUsage(
                    f"{letter} belongs to --model {model}, but the model is {self.model}.",
                    f"Leave {letter} out, or say --model {model}.",
                )

    @property
    def lacks_only_p(self) -> bool:
        """Whether all is said but how much an attacker may know."""
        return self.model == "coherence" and self.k is not None and self.p is None


_MODEL_OF = {
    **dict.fromkeys(("k", "p", "h", "sensitive_group"), "coherence"),
    "rho": "rho-uncertainty",
}


def _coherence(asked: PromiseOptions, encoding: str) -> CoherenceRecipe:
    missing = [f"--{letter}" for letter in ("k", "p") if getattr(asked, letter) is None]
    if missing or asked.k is None or asked.p is None:
        raise WrongUsage(f"{' and '.join(missing)} must be given.", "For example: --k 20 --p 4 --h 0.4.")
    if asked.p != "unlimited" and not (asked.p.isdecimal() and len(asked.p) <= 10):
        raise WrongUsage(f"--p is {asked.p!r}.", "Give a whole number such as --p 4, or --p unlimited.")
    check_lists(asked.sensitive_group, "--sensitive-group", "items of a group")
    return CoherenceRecipe(
        h=asked.h,
        k=asked.k,
        p="unlimited" if asked.p == "unlimited" else int(asked.p),
        sensitive_groups=tuple(tuple(read_item_list(path, encoding)) for path in asked.sensitive_group),
    )


def _rho_uncertainty(asked: PromiseOptions, encoding: str) -> RhoUncertaintyRecipe:
    if asked.rho is None:
        raise WrongUsage("--rho must be given.", "For example: --model rho-uncertainty --rho 0.5.")
    return RhoUncertaintyRecipe(rho=asked.rho)


_RECIPES: Mapping[str, Callable[[PromiseOptions, str], PromiseRecipe]] = {
    "coherence": _coherence,
    "rho-uncertainty": _rho_uncertainty,
}
