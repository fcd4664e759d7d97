"""What a method is, which methods a promise has, and what milder promises would cost."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

from veilset.anonymize.replay import replay
from veilset.errors import BudgetExceeded, InvalidArgument, near_misses, said
from veilset.exact import exact_share, is_whole
from veilset.limits import Limits
from veilset.models import PerPromise, Promise
from veilset.options import declared
from veilset.release import Release
from veilset.transactions import Transactions

Curve = Mapping[int | None, float]
"""p (None: unlimited) to the share of all item occurrences that would be lost."""

_SECONDS = 60.0
_FOR_THIS_PROMISE = {"chosen", "drop_empty", "allow_sensitive"}  # options that are not the method's, or not for others


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
    find_milder: Callable[[Milder, Any], Iterator[tuple[str, int | Fraction]]] = lambda milder, promise: iter(())
    """The promise's parameters and their values at which half of the occurrences survive."""
    curve: Callable[[Release, Limits], Curve] | None = None
    """What a release's method loses for each p; None: the promise has no p."""


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


@dataclass
class Milder:
    """What a milder promise of the same kind would ask for, where half of the item occurrences survive it."""

    release: Release
    """What the promise as it is has cost."""
    curve: Curve
    """What is lost at each p, as far as it is known."""
    limits: Limits
    found: dict[str, int | Fraction] = field(default_factory=dict)
    """Parameter to the value at which half survives; empty: there is none, or none was found within the limits."""

    @property
    def strategy(self) -> str:
        """In which way a promise is milder."""
        return METHODS.of(self.release.promise).milder

    def loss(self, promise: Promise) -> float:
        """What the same method with the same options loses for another promise."""
        return run_again(self.release, promise, self.release.original, self.limits).loss


def run_again(release: Release, promise: Promise, data: Transactions, limits: Limits) -> Release:
    """What the same method with the same options makes of *data* for another promise."""
    limits.step(f"Trying another {promise.name}" if promise.secret else f"Trying {promise}")  # progress may be logged
    options = {name: value for name, value in release.options.items() if name not in _FOR_THIS_PROMISE}
    return find_method(promise, release.method)(data, promise, limits=limits, **options)


def milder_that_keep_half(release: Release, curve: Curve, *, limits: Limits) -> Milder:
    """The least that has to be given up of a promise, one parameter at a time, for half of the occurrences to survive.

    A courtesy, within a minute: one that takes too long is left incomplete.
    """
    milder = Milder(release, curve, limits.part(1, _SECONDS))
    if release.method == "replay":
        return milder
    try:
        for letter, value in METHODS.of(release.promise).find_milder(milder, release.promise):
            milder.found[letter] = value
    except BudgetExceeded:
        pass
    return milder


def loss_by_p(release: Release, *, limits: Limits) -> Curve:
    """What the release's method loses at several p, the release's own among them; empty if the promise has no p."""
    curve = METHODS.of(release.promise).curve
    return {} if curve is None else curve(release, limits)
