"""The options that say how the data is changed, as the methods declare them; one that a method lacks is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from cyclopts import Group, Parameter

from veilset.anonymize import METHODS, check_options, methods_of, resolve
from veilset.anonymize.methods import option_names
from veilset.cli.forms import Check, Typed, given, was_given
from veilset.cli.options import Flag
from veilset.cli.promise_options import and_joined, grouped, with_grouped
from veilset.errors import InvalidArgument
from veilset.models import PROMISES, Promise
from veilset.options import Declared, Form, declared
from veilset.publish.recipe import MethodRecipe
from veilset.transactions import Reading

METHOD = Group("Method", sort_key=1.5)

_METHODS = {kind: METHODS.of(kind).by_name for kind in PROMISES.values()}
_FLAGS = grouped(
    [
        (name, option)
        for method, name in {method: name for named in _METHODS.values() for name, method in named.items()}.items()
        for option in declared(method)
        if not option.option.recorded and option.name not in Reading.model_fields  # it is typed there
    ]
)


_FILES: dict[Form, str] = {
    "items": "A file with one name per line.",
    "patterns": "A file with one pattern per line, or a table.",
    "weights": "A CSV file item,weight, or: equal.",
    "columns": "A number, or a CSV file item,column.",
}  # what is typed where Python takes lists and mappings


def _names() -> str:
    """The methods of each promise, as they are registered."""
    named = {kind.name: [f"{next(iter(methods))} (default)", *list(methods)[1:]] for kind, methods in _METHODS.items()}
    texts = [f"For {kind}: {', '.join(names)}." for kind, names in named.items()]
    return " ".join([*texts, "The papers' names, such as TDControl or Tree-Cohesion, mean the algorithm as published."])


def _described(owners: list[tuple[str, Declared]]) -> str:
    file = _FILES.get(owners[0][1].option.form)
    texts = dict.fromkeys([*(option.option.help for _, option in owners), *([file] if file else [])])
    return f"{' '.join(texts)} For {and_joined([*dict.fromkeys(owner for owner, _ in owners)])}."


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
        method, meant = resolve(promise, self.method)
        takes = option_names(methods_of(promise)[method])
        others = {name for other in methods_of(promise).values() for name in option_names(other)}
        options: dict[str, Any] = {}
        checks = []
        for flag, owners in _FLAGS.items():
            if not was_given(typed := getattr(self, flag.replace("-", "_"))):
                continue
            named = [option for _, option in owners]
            option = min(named, key=lambda one: (one.name not in takes, one.name not in others))
            check_options(promise, self.method, {option.name: typed})
            options[option.name], check = given(option, typed, encoding)
            checks += [] if check is None else [check]
        wanted = "taxonomy" in takes and ("level" not in takes or was_given(options.get("level")))
        if groups is not None and (wanted or not only_branches):
            if "columns" in options:
                raise InvalidArgument(
                    "--columns and --taxonomy both define the columns.",
                    "Leave one of them out; a taxonomy used only for 'branch:' must not have --level.",
                )
            check_options(promise, self.method, {"taxonomy": groups})
            options["taxonomy"] = groups
        content = {
            "name": self.method and method,
            "drop_empty": self.drop_empty,
            "allow_sensitive": self.allow_sensitive,
        }
        return MethodRecipe.model_validate({**content, "options": {**meant, **options}}), checks
