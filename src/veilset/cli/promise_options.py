"""The options that say what is promised. Each belongs to one model; with another it is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter

from veilset.cli.options import check_lists, whole_or_share
from veilset.errors import WrongUsage
from veilset.io import read_item_list
from veilset.io.pattern_files import Listed, read_patterns, read_rules
from veilset.publish.certificate import known_promise
from veilset.publish.recipe import (
    CoherenceRecipe,
    HiddenPatternsRecipe,
    HiddenRulesRecipe,
    LDiverseAnatomyRecipe,
    PromiseRecipe,
    RhoUncertaintyRecipe,
)

__all__ = ["PromiseOptions"]

PROMISE = Group("Promise", sort_key=1)


@Parameter(name="*", group=PROMISE)
@dataclass(frozen=True)
class PromiseOptions:
    """What is promised."""

    model: str = "coherence"
    "The kind of promise: coherence (needs --k and --p), rho-uncertainty (needs --rho), hidden-patterns (needs \
--patterns and --min-support), hidden-rules (needs --rules, --min-support and --min-confidence) or l-diverse-anatomy \
(needs --l)."
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
    patterns: Annotated[tuple[Path, ...], Parameter(name="--patterns", negative=(), show_default=False)] = ()
    "For hidden-patterns: file with the patterns to hide, one a line, with commas between the items; or a table with \
the column items, as veilset mine writes it (.csv, .json, .jsonl, .parquet). May be given several times."
    rules: Annotated[tuple[Path, ...], Parameter(name="--rules", negative=(), show_default=False)] = ()
    "For hidden-rules: file with the rules to hide, one a line, such as bread, butter -> milk; or a table with the \
columns antecedent and consequent, as veilset mine --rules writes it. May be given several times."
    min_support: str | None = None
    "For hidden-patterns and hidden-rules: so many transactions make a pattern, or both sides of a rule, found: 30, or \
a share of all such as 1%."
    min_confidence: str | None = None
    "For hidden-rules: a rule is found only if it is at least this sure, too: 0.4, 40% or 2/5."
    l: str | None = None  # noqa: E741 - the paper's letter
    "For l-diverse-anatomy: in every bucket and column, no value belongs to more than 1 in l transactions: 2, 2.5 or \
5/2."
    empty: Literal["value", "free"] | None = None
    "For l-diverse-anatomy: whether having no item of a column is a value like others, or free for everybody to know; \
by default a value."

    def listed(self, encoding: str = "utf-8") -> list[Listed]:
        """The patterns or rules that files list, each with its place; an error if an option is of another model."""
        self.check_model()
        patterns = [entry for path in self.patterns for entry in read_patterns(path, encoding)]
        return [*patterns, *(entry for path in self.rules for entry in read_rules(path, encoding))]

    def recipe(self, encoding: str = "utf-8", listed: Sequence[Listed] = ()) -> PromiseRecipe:
        """The same as a part of a recipe, with what `listed` gave; an error if an option is missing or does not fit."""
        self.check_model()
        return _RECIPES[self.model](self, encoding, listed)

    def check_model(self) -> None:
        """Raise if there is no such model, or an option of another one was given."""
        known_promise(self.model)
        for option, models in _MODELS_OF.items():
            if self.model not in models and getattr(self, option) not in (None, ()):
                letter = f"--{option.replace('_', '-')}"
                raise WrongUsage(
                    f"{letter} belongs to --model {' and '.join(models)}, but the model is {self.model}.",
                    f"Leave {letter} out, or say --model {models[0]}.",
                )

    @property
    def lacks_only_p(self) -> bool:
        """Whether all is said but how much an attacker may know."""
        return self.model == "coherence" and self.k is not None and self.p is None


_MODELS_OF = {
    **dict.fromkeys(("k", "p", "h", "sensitive_group"), ("coherence",)),
    "rho": ("rho-uncertainty",),
    "patterns": ("hidden-patterns",),
    "rules": ("hidden-rules",),
    "min_support": ("hidden-patterns", "hidden-rules"),
    "min_confidence": ("hidden-rules",),
    **dict.fromkeys(("l", "empty"), ("l-diverse-anatomy",)),
}


def _coherence(asked: PromiseOptions, encoding: str, listed: Sequence[Listed]) -> CoherenceRecipe:
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


def _rho_uncertainty(asked: PromiseOptions, encoding: str, listed: Sequence[Listed]) -> RhoUncertaintyRecipe:
    if asked.rho is None:
        raise WrongUsage("--rho must be given.", "For example: --model rho-uncertainty --rho 0.5.")
    return RhoUncertaintyRecipe(rho=asked.rho)


def _hidden_patterns(asked: PromiseOptions, encoding: str, listed: Sequence[Listed]) -> HiddenPatternsRecipe:
    _check_given(asked, "patterns", "min_support")
    patterns = tuple(pattern for (pattern,) in (entry.sides for entry in listed if entry.sides))
    return HiddenPatternsRecipe(patterns=patterns, min_support=whole_or_share(asked.min_support or ""))


def _hidden_rules(asked: PromiseOptions, encoding: str, listed: Sequence[Listed]) -> HiddenRulesRecipe:
    _check_given(asked, "rules", "min_support", "min_confidence")
    rules = tuple((left, right) for left, right in (entry.sides for entry in listed if entry.sides))
    return HiddenRulesRecipe(
        rules=rules, min_support=whole_or_share(asked.min_support or ""), min_confidence=asked.min_confidence or ""
    )


def _l_diverse_anatomy(asked: PromiseOptions, encoding: str, listed: Sequence[Listed]) -> LDiverseAnatomyRecipe:
    if asked.l is None:
        raise WrongUsage("--l must be given.", "For example: --model l-diverse-anatomy --l 2.")
    return LDiverseAnatomyRecipe(l=asked.l, empty=asked.empty or "value")


def _check_given(asked: PromiseOptions, *options: str) -> None:
    """Raise if one of these options, all of which the model needs, is missing."""
    missing = [f"--{option.replace('_', '-')}" for option in options if getattr(asked, option) in (None, ())]
    if missing:
        example = " ".join(_HIDING_EXAMPLE[option] for option in options)
        raise WrongUsage(f"{' and '.join(missing)} must be given.", f"For example: --model {asked.model} {example}.")


_HIDING_EXAMPLE = {
    "patterns": "--patterns patterns.txt",
    "rules": "--rules rules.txt",
    "min_support": "--min-support 1%",
    "min_confidence": "--min-confidence 40%",
}

_RECIPES: Mapping[str, Callable[[PromiseOptions, str, Sequence[Listed]], PromiseRecipe]] = {
    "coherence": _coherence,
    "rho-uncertainty": _rho_uncertainty,
    "hidden-patterns": _hidden_patterns,
    "hidden-rules": _hidden_rules,
    "l-diverse-anatomy": _l_diverse_anatomy,
}
