"""What a method is, which methods a promise has, and how its limits could be eased."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

from veilset.anonymize.binding import Eased
from veilset.anonymize.replay import replay
from veilset.anonymize.replay_on_engine import replay_on_engine
from veilset.engines import Held
from veilset.errors import InvalidArgument, lookalikes, near_misses, said
from veilset.exact import exact_share, is_whole
from veilset.limits import Bounds, Limits
from veilset.models import PROMISES, PerPromise, Promise
from veilset.options import declared, python_type
from veilset.release import HeldRelease, Release
from veilset.transactions import Transactions

_OF_EVERY_RUN = ("method", "allow_sensitive", "drop_empty", *Bounds.__annotations__)
_FOR_THIS_PROMISE = {"chosen", "drop_empty", "allow_sensitive"}  # options that are not the method's, or not for others


class Method(Protocol):
    """What an anonymizer is: options of its own are keyword-only and have defaults.

    Those that users of the command line may give carry an `veilset.options.Option`. Its promise is always of the kind
    that `METHODS` lists it under.
    """

    def __call__(self, data: Transactions, promise: Any, /, *, limits: Limits) -> Release:
        """Change *data* so that it keeps *promise*, and say what was changed."""


class HeldMethod(Protocol):
    """A method for transactions that an engine holds."""

    def __call__(self, data: Held, promise: Any, /, *, limits: Limits) -> HeldRelease:
        """The same as a `Method`."""


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
    on_engines: Mapping[str, HeldMethod] = field(default_factory=dict)
    """Those of the same name for transactions that an engine holds, with the same answers."""
    aliases: Mapping[str, tuple[str, Mapping[str, object]]] = field(default_factory=dict)
    """What papers call a method, with the options that make it the published algorithm (which keep the promise)."""


METHODS = PerPromise[Methods]("method")


def methods_of(promise: Promise | type[Promise]) -> dict[str, Method]:
    """The methods of a promise by name; changes to items can also be *given*, as an earlier release made them."""
    named = dict(METHODS.of(promise).by_name)
    return {**named, "replay": replay} if promise.edits == "items" else named


def resolve(promise: Promise | type[Promise], name: str | None) -> tuple[str, dict[str, object]]:
    """The method's own name, and what else a paper's name for it means; None: the promise's default.

    Capitals, hyphens, underscores and blanks do not count.

    >>> from veilset.models import Coherence
    >>> resolve(Coherence, "Tree-Cohesion"), resolve(Coherence, "remove_all"), resolve(Coherence, None)
    (('tree', {'restore': False}), ('remove-all', {}), ('auto', {}))
    """
    available, aliases = methods_of(promise), METHODS.of(promise).aliases
    if name is None:
        return next(iter(available)), {}
    known = {_bare(alias): meant for alias, meant in aliases.items()}
    known |= {_bare(own): (own, {}) for own in available}
    if not isinstance(name, str) or _bare(name) not in known:
        raise InvalidArgument(
            f"There is no method {name!r} for {promise.name}. Available: {', '.join(map(repr, available))}.",
            _other_promise(name) or near_misses(str(name), [*available, *aliases]) or "Use one of these.",
        )
    own, options = known[_bare(name)]
    return own, dict(options)


def _bare(name: str) -> str:
    return re.sub("[-_ ]", "", name).lower()


def _other_promise(name: object) -> str:
    """The promises that have a method of this name."""
    methods = {kind.name: METHODS.of(kind) for kind in PROMISES.values() if kind in METHODS}
    named = {promise: map(_bare, (*ours.by_name, *ours.aliases)) for promise, ours in methods.items()}
    able = [promise for promise, names in named.items() if isinstance(name, str) and _bare(name) in names]
    return f"It is a method for {' and '.join(able)}." if able else ""


def find_method(promise: Promise | type[Promise], name: str | None) -> Method:
    """The method called *name* for this promise, or its default."""
    return methods_of(promise)[resolve(promise, name)[0]]


def find_held_method(promise: Promise, name: str | None) -> HeldMethod:
    """The method called *name* for what an engine holds, or the promise's default."""
    own, on_engines = resolve(promise, name)[0], METHODS.of(promise).on_engines
    if own == "replay":
        return replay_on_engine
    if own not in on_engines:
        able = f"Choose {' or '.join(map(repr, on_engines))}, or read" if on_engines else "Read"
        raise InvalidArgument(
            f"The method {own!r} for {promise.name} does not run on an engine yet.",
            f"{able} the data into memory, with vs.read.",
        )
    return on_engines[own]


def check_options(promise: Promise | type[Promise], name: str | None, options: Mapping[str, object]) -> None:
    """Raise if the method does not have one of these options, or a number among them cannot be meant.

    The error names the options that it has, and the methods that have the one that was given.
    """
    own, _ = resolve(promise, name)
    methods = methods_of(promise)
    chosen = methods[own]
    takes = option_names(chosen)
    wrong = next((option for option in options if option not in takes), None)
    if wrong is None:
        _check_numbers(chosen, options)
        return
    close = lookalikes(wrong, takes)
    shown = [*close, *(one.name for one in declared(chosen) if not one.option.recorded and one.name not in close)]
    listed = ", ".join(map(said, shown))
    raise InvalidArgument(
        f"The method {own!r} has no option {said(wrong)}. It has {listed or 'no options'}.",
        _instead(promise, wrong, takes),
    )


def _instead(promise: Promise | type[Promise], wrong: str, takes: Sequence[str]) -> str:
    """What to do about an option that a method does not have."""
    able = [other for other, method in METHODS.of(promise).by_name.items() if wrong in option_names(method)]
    if able:
        return f"Leave it out, or choose {' or '.join(able)}."
    kind = promise if isinstance(promise, type) else type(promise)
    if wrong in (one.name for one in declared(kind)):
        return f"It is a parameter of the promise: give it to {kind.__name__}."
    own = [*takes, *_OF_EVERY_RUN]
    others: dict[str, list[str]] = {}
    for name, method in methods_of(promise).items():
        for option in declared(method):
            if option.name not in own and not option.option.recorded:
                others.setdefault(option.name, []).append(name)
    if (close := lookalikes(wrong, [*own, *others])) and close[0] in others:
        return f"Did you mean {close[0]!r}, an option of {' and '.join(others[close[0]])}?"
    return near_misses(wrong, own) or "Leave it out."


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


def described() -> str:
    """All methods and their options, as they are declared: a section for a docstring."""
    lines = ["Methods", "-------"]
    options: dict[str, dict[str, None]] = {}
    for kind in (kind for kind in PROMISES.values() if kind in METHODS):
        lines += [f"{kind.__name__} : str"]
        methods = METHODS.of(kind)
        for name, method in methods.by_name.items():
            takes = [one for one in declared(method) if not one.option.recorded]
            for one in takes:
                switch = f"={one.option.means}" * (one.option.form == "switch")
                options.setdefault(f"{one.name}{switch} : {python_type(one.option)}", {})[one.option.help] = None
            default = " (default)" if method is next(iter(methods.by_name.values())) else ""
            lines += _wrapped(f"``{name}``{default}: {', '.join(one.name for one in takes) or 'no options'}.")
        for alias, (name, means) in methods.aliases.items():
            also = "".join(f", {option}={value!r}" for option, value in means.items())
            lines += _wrapped(f'"{alias}" means method="{name}"{also}.')
    lines += ["", "Options of methods", "------------------"]
    for option, helps in options.items():
        lines += [option, *_wrapped(" ".join(helps))]
    return "\n".join(lines)


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, 112, initial_indent="    ", subsequent_indent="    ")


def reject_anatomized(data: Transactions) -> None:
    """Raise if it is the outcome of a method whose rows are nobody's, and so nothing to start from."""
    if data.anatomy is not None:
        raise InvalidArgument(
            "This data is already in columns and buckets. Its rows mix people of a bucket, so a promise about "
            "rows would say nothing about a person.",
            "Anonymize the original. To check this data as it is, audit it.",
        )
