"""What binds: which limit of a promise costs what, and what one step milder would cost.

A promise says of each of its limits how it could be eased (`Eased`), always as another promise, or as the same promise
for data that lacks some items. What is then lost is measured, never guessed: whoever asks says how, as a run of the
same method does. All of it may take as long as the method has taken, or one second. What is not known by then is
undecided, and is told as such.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from veilset.errors import BudgetExceeded, Infeasible
from veilset.limits import Limits
from veilset.models import Promise

Value = int | Fraction | None
"""Of a limit; None: unlimited."""

MOST_ITEMS = 3
"""Of so many sensitive items, or hidden patterns, the cost is measured."""

_LEAST = 1.0  # seconds
_SHARE = 1 / 3  # of the time left, for one question: the first ones tell most


@dataclass(frozen=True)
class Eased:
    """One limit of a promise, and how it could be eased.

    Parameters
    ----------
    name : str
        The parameter, or what the items are.
    value : int, Fraction or None
        What is promised; None: unlimited, or no number.
    steps : sequence of (value, promise)
        Milder values, each milder than the one before.
    without : Promise or None
        As if this limit were not there; None: nothing would be left of the promise, or there is no such thing.
    stricter : sequence of (value, promise)
        Values that a chart shows besides.
    items : tuple of str
        The items that the limit is about, if it is not about all.
    left_out : bool
        Whether *without* is for data that lacks these items, which are lost then.
    charted : bool
        Whether there is a chart of this limit: then all its values are tried.
    """

    name: str
    value: Value
    steps: Sequence[tuple[Value, Promise]] = ()
    without: Promise | None = None
    stricter: Sequence[tuple[Value, Promise]] = ()
    items: tuple[str, ...] = ()
    left_out: bool = False
    charted: bool = False

    @property
    def milder(self) -> Value:
        """The value one step milder; None: there is none."""
        return self.steps[0][0] if self.steps else None


Measure = Callable[[Promise, tuple[str, ...], Limits], float]
"""What is lost for another promise where these items are left out."""


@dataclass
class Limit:
    """What was found out about one limit."""

    eased: Eased
    without: float | None = None
    """What is lost without the limit; None: undecided, or there is no such thing."""
    losses: dict[Value, float] = field(default_factory=dict)
    """Milder (and stricter) values to what is lost then; the promise's own is not among them."""
    undecided: list[Value] = field(default_factory=list)
    """Values for which there was no time."""
    infeasible: list[Value] = field(default_factory=list)
    """Values at which what must be kept cannot be: stricter ones, or milder ones that let more sensitive items stay."""
    without_undecided: bool = False
    """Whether there was no time for what is lost without the limit."""

    @property
    def loss(self) -> float | None:
        """What is lost one step milder; None: undecided, or there is no such step."""
        return self.losses.get(self.eased.milder)

    def saves_without(self, now: float) -> float:
        """How much less than *now* is lost without the limit; 0 where nothing is, or that is not known."""
        return 0.0 if self.without is None else max(0.0, now - self.without)

    def saves(self, now: float) -> float:
        """How much less than *now* is lost if the limit is eased, at most; 0 where nothing is."""
        return max(0.0, *(now - eased for eased in (self.without, self.loss) if eased is not None), 0.0)


@dataclass(frozen=True)
class Binding:
    """What each limit of a promise costs."""

    now: float = 0.0
    """What is lost as it is; where *holds*, 0."""
    limits: tuple[Limit, ...] = ()
    """What saves most first."""
    holds: bool = False
    """Whether the release does not keep the promise: 1 then says of an eased one that it would be kept, else 0."""
    stand_in: str = ""
    """What was run in place of the method, because it is quicker; empty: the method."""
    average: bool = False
    """Whether the average loss is measured, in which coarser names count; else it is what `Methods.cost` says."""
    why_not: str = ""
    """Why nothing is known; empty: it is, or the promise has no limits that could be eased."""

    @cached_property
    def curve(self) -> Mapping[Value, float]:
        """What is lost at each value of the limit that has a chart, in order, as far as it is known."""
        charted = next((limit for limit in self.limits if limit.eased.charted), None)
        if charted is None or self.holds:
            return {}
        known = {**charted.losses, charted.eased.value: self.now}
        return {value: known[value] for value in sorted(known, key=lambda value: (value is None, value or 0))}

    @cached_property
    def half(self) -> Mapping[str, Value]:
        """For each limit the first milder value found at which half survives; or at which the promise is kept."""
        found: dict[str, Value] = {}
        for limit in self.limits:
            for value, _ in limit.eased.steps:
                loss = limit.losses.get(value)
                if loss is not None and (loss == 1 if self.holds else loss <= 0.5):
                    found[limit.eased.name] = value
                    break
        return found


def what_binds(
    all_eased: Sequence[Eased], measure: Measure, *, now: float, holds: bool = False, stand_in: str = "", limits: Limits
) -> Binding:
    """What is lost as each limit is eased, one step for all of them first.

    What is not known in its share of the time is left undecided.
    """
    found = [*map(Limit, all_eased)]
    questions = [*_questions(found, further=now > 0.5 or holds)]
    for at, (limit, value, promise) in enumerate(questions):
        part = limits.part(max(_SHARE, 1 / (len(questions) - at)))
        left_out = limit.eased.items if limit.eased.left_out else ()
        try:
            lost = 0.0 if promise.excludes_nothing and not holds else _in_time(measure, promise, left_out, part)
        except Infeasible:
            if not isinstance(value, Without):
                limit.infeasible.append(value)
            continue
        if isinstance(value, Without):
            limit.without, limit.without_undecided = lost, lost is None
        elif lost is None:
            limit.undecided.append(value)
        else:
            limit.losses[value] = lost
    found.sort(key=lambda limit: -limit.saves(now))
    return Binding(now, tuple(found), holds=holds, stand_in=stand_in)


def in_tenths(share: Fraction) -> list[Fraction]:
    """The tenths above a share.

    >>> [str(tenth) for tenth in in_tenths(Fraction(5, 7))]
    ['4/5', '9/10', '1']
    """
    return [Fraction(tenth, 10) for tenth in range(1, 11) if Fraction(tenth, 10) > share]


def time_for(seconds: float, limits: Limits) -> Limits:
    """The limits of all questions about a method that has taken so many seconds."""
    return limits.part(0.5, max(_LEAST, seconds))


def _in_time(measure: Measure, promise: Promise, left_out: tuple[str, ...], limits: Limits) -> float | None:
    """What is measured; None: there was no time. What came to mind first when time was up is nothing to go by."""
    try:
        lost = measure(promise, left_out, limits) if limits.seconds_left() > 0 else None
    except BudgetExceeded:
        return None
    return lost if limits.seconds_left() > 0 else None


class Without:
    """In place of a value: as if the limit were not there."""


def _questions(found: Sequence[Limit], *, further: bool) -> Iterator[tuple[Limit, Value | Without, Promise]]:
    """What to find out, the most telling first: one step milder, then without, then what charts show, then the rest."""
    for limit in found:
        yield from ((limit, *step) for step in limit.eased.steps[:1])
    for limit in found:
        if limit.eased.without is not None:
            yield limit, Without(), limit.eased.without
    for limit in found:
        if limit.eased.charted or further:
            yield from ((limit, *step) for step in limit.eased.steps[1:])
        yield from ((limit, *step) for step in limit.eased.stricter)
