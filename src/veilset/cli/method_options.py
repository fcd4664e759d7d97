"""The options that say how the data is changed, as the methods declare them; one that a method lacks is refused."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from cyclopts import Group, Parameter

from veilset.anonymize import METHODS, check_options, find_method
from veilset.cli.forms import Check, Typed, given, was_given
from veilset.cli.options import Flag
from veilset.cli.promise_options import and_joined, grouped, with_grouped
from veilset.errors import InvalidArgument
from veilset.models import PROMISES, Promise
from veilset.options import Declared, declared
from veilset.publish.recipe import MethodRecipe

METHOD = Group("Method", sort_key=1.5)

_METHODS = {kind: METHODS.of(kind).by_name for kind in PROMISES.values()}
_FLAGS = grouped(
    [
        (name, option)
        for method, name in {method: name for named in _METHODS.values() for name, method in named.items()}.items()
        for option in declared(method)
    ]
)


def _names() -> str:
    """The methods of each promise, as they are registered."""
    named = {kind.name: [f"{next(iter(methods))} (default)", *list(methods)[1:]] for kind, methods in _METHODS.items()}
    return " ".join(f"For {kind}: {', '.join(names)}." for kind, names in named.items())


def _described(owners: list[tuple[str, Declared]]) -> str:
    texts = dict.fromkeys(option.option.help for _, option in owners)
    return f"{' '.join(texts)} For {and_joined([owner for owner, _ in owners])}."


@Parameter(name="*", group=METHOD)
@with_grouped(_FLAGS, _described)
class MethodOptions(Typed):
    """How the data is changed: the options of all methods, as they are typed."""

    method: Annotated[str | None, Parameter(help=_names())] = None
    allow_sensitive: Annotated[bool, Flag] = False
    "Suppress sensitive items that are too common for the promise to hold."
    drop_empty: Annotated[bool, Flag] = False
    "Withhold transactions that end up empty."

    def recipe(
        self, promise: type[Promise], encoding: str, groups: Mapping[str, Sequence[str]] | None, *, only_branches: bool
    ) -> tuple[MethodRecipe, list[Check]]:
        """The same as a part of a recipe, and what is to be checked once the data is there.

        *groups* are those of the taxonomy. If it is there for branches (*only_branches*), a method has it only if it
        has a use for it; where it would be the columns, that has to be said by ``--level``.
        """
        takes = inspect.signature(find_method(promise, self.method)).parameters
        options: dict[str, Any] = {}
        checks = []
        for flag, owners in _FLAGS.items():
            if not was_given(typed := getattr(self, flag.replace("-", "_"))):
                continue
            named = [option for _, option in owners]
            option = next((option for option in named if option.name in takes), named[0])
            check_options(promise, self.method, {option.name: typed})
            options[option.name], check = given(option, typed, encoding)
            checks += [] if check is None else [check]
        wanted = "taxonomy" in takes and ("level" not in takes or was_given(options.get("level")))
        if groups is not None and (wanted or not only_branches):
            if "columns" in options:
                raise InvalidArgument(
                    "--columns and --taxonomy both say what the columns are.",
                    "Leave one of them out; a taxonomy that is there for 'branch:' only goes without --level.",
                )
            check_options(promise, self.method, {"taxonomy": groups})
            options["taxonomy"] = groups
        content = {"name": self.method, "drop_empty": self.drop_empty, "allow_sensitive": self.allow_sensitive}
        return MethodRecipe.model_validate({**content, "options": options}), checks
