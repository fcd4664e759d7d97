"""What a person is asked, or told to say, before a release is written that is hardly worth it."""

from __future__ import annotations

from veilset.cli.screen import Screen
from veilset.errors import InvalidArgument, said
from veilset.models import Promise
from veilset.transactions import Transactions


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
