"""What is refused before a release is made, and what a person is asked before one hardly worth it is written."""

from __future__ import annotations

from pathlib import Path

from veilset.anonymize import check_options
from veilset.cli.screen import Screen
from veilset.errors import InvalidArgument, said
from veilset.models import Promise
from veilset.publish import Recipe, check_seed, check_target
from veilset.transactions import Transactions


def checked_promise(recipe: Recipe, out: Path, *, replace: bool, yes: bool, seed: str | None) -> Promise:
    """The promise of a recipe, once it is known that all but the data will do: before anything is read."""
    if seed is not None:
        check_seed(seed, "seed")
    check_target(out, replace=replace)
    promise = recipe.promise.make()
    if not yes:
        check_excludes(promise)
    if recipe.method.drop_empty:
        promise.check_drop_empty()
    check_options(promise, recipe.method.name, recipe.method.options)
    return promise


def check_excludes(promise: Promise, data: Transactions | None = None) -> None:
    """Raise if the promise excludes nothing; the flag is named, also where a recipe names its options otherwise."""
    try:
        promise.check_excludes(data)
    except InvalidArgument as error:
        raise InvalidArgument(
            *error.spelled(lambda name, *value: "--yes" if name == "allow_empty_promise" else said(name, *value))
        ) from None


def ask_whether_it_is_worth_it(loss: float, hint: str, screen: Screen) -> None:
    """Ask before most occurrences are lost; a program has to say --yes."""
    what = f"Only {1 - loss:.0%} of the item occurrences would survive."
    question = " ".join(filter(None, (what, hint)))
    if not screen.confirm(f"{question} Publish it anyway?"):
        raise InvalidArgument(f"Nothing was written. {what}", f"{hint} Use --yes to publish it anyway.".lstrip())
