"""What a method is, which methods a promise has, and how its limits could be eased."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

from veilset.anonymize.binding import Eased
from veilset.anonymize.replay import replay
from veilset.errors import InvalidArgument, near_misses, said
from veilset.exact import exact_share, is_whole
from veilset.limits import Limits
from veilset.models import PerPromise, Promise
from veilset.options import declared
from veilset.release import Release
from veilset.transactions import Transactions


class Method(Protocol):
    """What an anonymizer is: options of its own are keyword-only and have defaults.

    Those that users of the command line may give carry an `veilset.options.Option`. Its promise is always of the kind
    that `METHODS` lists it under.
    """

    def __call__(self, data: Transactions, promise: Any, /, *, limits: Limits) -> Release:
        """Change *data* so that it keeps *promise*, and say what was changed."""


@dataclass(frozen=True)
class Methods:
    """The methods of one promise."""

    by_name: Mapping[str, Method]
    """By the names users type, the default first."""
    milder: str = "milder promise"
    """In which way the promise could be milder, such as "smaller k or p"."""
    eased: Callable[[Release, Limits], Iterable[Eased]] = lambda release, limits: ()
    """How the limits of a release's promise could be eased, the cheapest to measure first."""
    quicker: Mapping[str, tuple[str, Method]] = field(default_factory=dict)
    """By the name of a method, what stands in for it where it would be run often, and in words which part of it."""
    cost: Callable[[Release], float] = lambda release: release.loss
    """What a limit costs."""


METHODS = PerPromise[Methods]("method")


def methods_of(promise: Promise | type[Promise]) -> dict[str, Method]:
    """The methods of a promise by name; changes to items can also be *given*, as an earlier release made them."""
    named = dict(METHODS.of(promise).by_name)
    return {**named, "replay": replay} if promise.edits == "items" else named


def find_method(promise: Promise | type[Promise], name: str | None) -> Method:
    """The method called *name* for this promise, or its default."""
    available = methods_of(promise)
    chosen = name or next(iter(available))
    if chosen not in available:
        raise InvalidArgument(
            f"There is no method {chosen!r} for {promise.name}. Available: {', '.join(available)}.",
            near_misses(chosen, available),
        )
    return available[chosen]


def check_options(promise: Promise | type[Promise], name: str | None, options: Mapping[str, object]) -> None:
    """Raise if the method does not have one of these options, or a number among them cannot be meant.

    The error names the methods that have it.
    """
    chosen = find_method(promise, name)
    takes = option_names(chosen)
    wrong = next((option for option in options if option not in takes), None)
    if wrong is None:
        _check_numbers(chosen, options)
        return
    methods = methods_of(promise)
    able = [other for other, method in methods.items() if wrong in option_names(method)]
    raise InvalidArgument(
        f"The method {name or next(iter(methods))!r} has no option {said(wrong)}.",
        f"Leave it out, or choose {' or '.join(able)}." if able else near_misses(wrong, takes) or "Leave it out.",
    )


def _check_numbers(method: Method, options: Mapping[str, object]) -> None:
    """Raise if a whole number is out of the range that is declared, or a share is none: no data is needed for that."""
    for one in declared(method):
        value, option = options.get(one.name), one.option
        if value is None:
            continue
        if option.form == "whole" and not is_whole(value, option.least, option.most):
            shown = "not as expected" if option.secret else repr(value)
            raise InvalidArgument(
                f"{said(one.name)} is {shown}.", f"Give a whole number from {option.least} to {option.most}."
            )
        if option.form == "share" and isinstance(value, (str, float, int, Fraction)):
            exact_share(value, one.name, may_be_zero=True)


def option_names(method: Method) -> list[str]:
    """The options of a method: what it takes by keyword, but for its limits."""
    parameters = inspect.signature(method).parameters.values()
    return [one.name for one in parameters if one.kind is one.KEYWORD_ONLY and one.name != "limits"]


def reject_anatomized(data: Transactions) -> None:
    """Raise if it is the outcome of a method whose rows are nobody's, and so nothing to start from."""
    if data.anatomy is not None:
        raise InvalidArgument(
            "This data is in columns and buckets already: its rows mix people of a bucket, so that no promise about "
            "them says anything about a person.",
            "Anonymize the original. To see what the data keeps as it is, audit it.",
        )
