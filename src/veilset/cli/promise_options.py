"""The options that say what is promised, as the promises declare them; one of another promise is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from cyclopts import Group, Parameter

from veilset.cli.forms import Check, Typed, given, nothing, was_given, with_flags
from veilset.errors import InvalidArgument
from veilset.models import PROMISES, Coherence, Promise, known_promise
from veilset.options import Declared, declared
from veilset.publish.sections import PromiseSection, promise_section

PROMISE = Group("Promise", sort_key=1)


def and_joined(names: list[str]) -> str:
    """Names in a sentence: "a", "a and b", "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def grouped(declarations: list[tuple[str, Declared]]) -> dict[str, list[tuple[str, Declared]]]:
    """For each flag, who declares it."""
    flags: dict[str, list[tuple[str, Declared]]] = {}
    for owner, option in declarations:
        owners = flags.setdefault(option.flag, [])
        if owners and owners[0][1].option.form != option.option.form:
            raise InvalidArgument(
                f"--{option.flag} of {owner} is a {option.option.form}, that of {owners[0][0]} a "
                f"{owners[0][1].option.form}.",
                "Give one of them another flag.",
            )
        owners.append((owner, option))
    return flags


def with_grouped(
    flags: dict[str, list[tuple[str, Declared]]], described: Callable[[list[tuple[str, Declared]]], str]
) -> Callable[[type[Any]], type[Any]]:
    """A decorator that gives a class one field for each flag, whoever declares it."""
    first = {flag: owners[0][1] for flag, owners in flags.items()}
    fields = {
        flag.replace("-", "_"): (option, described(flags[flag]), nothing(option)) for flag, option in first.items()
    }
    return lambda cls: with_flags(cls, fields)


_FLAGS = grouped([(name, option) for name, kind in PROMISES.items() for option in declared(kind)])


def _kinds() -> str:
    """The kinds of promises, with what each needs."""
    needs = {
        name: and_joined([f"--{option.flag}" for option in declared(kind) if option.required])
        for name, kind in PROMISES.items()
    }
    return " ".join(["Kind of promise.", *(f"{name} needs {flags}." for name, flags in needs.items())])


def _described(owners: list[tuple[str, Declared]]) -> str:
    text = owners[0][1].option.help
    return f"For {and_joined([owner for owner, _ in owners])}: {text[0].lower()}{text[1:]}"


@Parameter(name="*", group=PROMISE)
@with_grouped(_FLAGS, _described)
class PromiseOptions(Typed):
    """What is promised: the parameters of all promises, as they are typed."""

    model: Annotated[str, Parameter(help=_kinds())] = Coherence.name

    @property
    def kind(self) -> type[Promise]:
        """The promise that is meant; an error if there is none, or an option of another one was given."""
        kind = known_promise(self.model)
        for flag, owners in _FLAGS.items():
            models = [owner for owner, _ in owners]
            if self.model not in models and was_given(self._typed(flag)):
                raise InvalidArgument(
                    f"--{flag} applies to --model {' and '.join(models)}, but the model is {self.model}.",
                    f"Leave --{flag} out, or use --model {models[0]}.",
                )
        return kind

    @property
    def missing(self) -> list[str]:
        """The parameters that the promise needs and that were not given."""
        needed = (option for option in declared(self.kind) if option.required)
        return [option.name for option in needed if not was_given(self._typed(option.flag))]

    def section(self, encoding: str = "utf-8") -> tuple[PromiseSection, list[Check]]:
        """The same as a part of a recipe, and what is to be checked once the data is there."""
        if missing := self.missing:
            raise self.lacking(missing)
        content: dict[str, Any] = {"model": self.model}
        checks = []
        for option in declared(self.kind):
            if was_given(typed := self._typed(option.flag)):
                content[option.name], check = given(option, typed, encoding)
                checks += [] if check is None else [check]
        return promise_section(content), checks

    def lacking(self, missing: list[str], advice: str = "") -> InvalidArgument:
        """The error for parameters that were not given."""
        options = declared(self.kind)
        flags = [f"--{option.flag}" for option in options if option.name in missing]
        typical = " ".join(f"--{option.flag} {option.option.example}" for option in options if option.option.example)
        model = "" if self.model == type(self).model else f"--model {self.model} "
        return InvalidArgument(f"{and_joined(flags)} must be given.", advice or f"For example: {model}{typical}.")

    def _typed(self, flag: str) -> Any:
        return getattr(self, flag.replace("-", "_"))
