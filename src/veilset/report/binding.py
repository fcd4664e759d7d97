"""What is said of the limits of a promise: what each costs, and what one step milder would."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from veilset.anonymize import METHODS, Binding, Limit, Value
from veilset.errors import said
from veilset.exact import percent
from veilset.report.text import quoted, shares
from veilset.report.words import Words, words_of
from veilset.run import Run

_NEARLY_ALL = 0.9
_LEAST = 0.0005  # of all occurrences: less is shown as 0%


def binding_lines(run: Run) -> list[str]:
    """A sentence for each limit, what saves most first, and how it was measured. It may name what is secret.

    Of items, only those are told whose limit costs something.
    """
    binding, words = run.binding, words_of(run.promise)
    if binding.why_not:
        return [f"Not computed: {binding.why_not}."]
    say = _kept if binding.holds else _cost
    lines = [say(limit, run, words) for limit in binding.limits if not limit.eased.items or _matters(limit, run)]
    if never := [one for limit in binding.limits for one in _worth_telling(limit, limit.infeasible)]:
        lines.append(f"Impossible with the items that must be kept: {', '.join(never)}.")
    if late := [one for limit in binding.limits for one in _late(limit)]:
        lines.append(f"Not computed within the time the method took: {', '.join(late)}.")
    if binding.stand_in and any(limit.losses for limit in binding.limits):
        lines.append(f"Measured with {binding.stand_in}; the whole method may lose less.")
    return [line for line in lines if line]


def binding_title(run: Run) -> str:
    """What stands above these lines."""
    return "What would help" if run.binding.holds else "Cost by limit"


def half_sentence(run: Run) -> str:
    """Which milder values keep half of the occurrences, as options that are `said`; at a NO-GO: keep the promise."""
    found = [said(name, _plain(value)) for name, value in sorted(run.binding.half.items())]
    average = "an average loss of at most 50%"
    if run.binding.holds:
        found = [] if run.promise.secret else found  # errors end up in logs
        milder = " or with ".join(found)
        if found and run.release.method == "replay":  # `apply` takes the promise of the earlier release
            return f"These edits keep a milder promise, with {milder}: for that one, publish this data anew."
        return f"The promise would be kept with {milder}." if found else ""
    if not found:
        half = f"with {average}" if run.binding.average else "that keeps half"
        return f"No {METHODS.of(run.promise).milder} was found {half}."
    if run.binding.average:
        return f"There is {average} with {' or with '.join(found)}."
    return f"Half survives with {' or with '.join(found)}."


def curve_sentence(curve: Mapping[Value, float]) -> str:
    """What each p would cost, in one line.

    >>> curve_sentence({1: 0.01, 2: 0.354, None: 0.9})
    'p=1 loses 1%, p=2 35.4%, p unlimited 90%'
    >>> curve_sentence({None: 0.9})
    'p unlimited loses 90%'
    """
    at = ["p unlimited" if p is None else f"p={p:,}" for p in curve]
    losses = [shares(loss) for loss in curve.values()]
    return (
        ", ".join(f"{p} {loss}" for p, loss in zip(at, [f"loses {losses[0]}", *losses[1:]], strict=True)) if at else ""
    )


def binding_facts(binding: Binding) -> dict[str, Any]:
    """The same for programs."""
    return {
        "of": "whether the promise would be kept" if binding.holds else _of(binding, "what would be lost"),
        "measured_with": binding.stand_in or "the method",
        "why_not": binding.why_not or None,
        "limits": [
            {
                "limit": limit.eased.name,
                "items": list(limit.eased.items),
                "value": _plain(limit.eased.value),
                "without": limit.without,
                "milder": _plain(limit.eased.milder),
                "loss": limit.loss,
                "undecided": limit.without_undecided or limit.eased.milder in limit.undecided,
            }
            for limit in binding.limits
        ],
    }


def curve_facts(binding: Binding) -> list[dict[str, Any]]:
    """What each p would cost, for programs."""
    measure = "average_loss" if binding.average else "loss"
    return [{"p": p, measure: loss} for p, loss in binding.curve.items()]


def curve_title(binding: Binding) -> str:
    """What stands before `curve_sentence`."""
    return "Average loss by p" if binding.average else "Loss by p"


def _of(binding: Binding, otherwise: str) -> str:
    return "average loss" if binding.average else otherwise


def _cost(limit: Limit, run: Run, words: Words) -> str:
    """What one limit costs. The items of a limit are lost if they are left out, and that is counted."""
    eased, now = limit.eased, run.binding.now

    def measured(cost: float) -> str:
        return f"average loss {shares(cost)}" if run.binding.average else words.measured(cost)

    if eased.items:
        return (
            ""
            if limit.without is None
            else f"{_subject(limit)}: {_with_items(limit, measured, average=run.binding.average)}."
        )
    if now < _LEAST or (limit.without is None and limit.loss is None):
        return ""
    saved = limit.saves_without(now)
    if limit.without is not None and saved < _LEAST:
        return f"{_subject(limit)}: no saving found without it{_for_others(limit, run)}."
    if limit.without is None:
        parts, head = [measured(now)], _subject(limit)
    else:
        parts = [f"{measured(limit.without)} without it"]
        costs = f"{_difference(now, limit.without)} {_of(run.binding, 'of occurrences')}"
        head = f"{_subject(limit)} costs {costs}{_mostly(limit, run)}"
    if limit.loss is not None:
        milder = _written(eased.name, eased.milder)
        saves = now - limit.loss >= _LEAST
        parts.append(f"{measured(limit.loss)} at {milder}" if saves else f"no saving found at {milder}")
    return f"{head}: {', '.join(parts)}."


def _with_items(limit: Limit, measured: Callable[[float], str], *, average: bool) -> str:
    """What is lost if these items are left out, in all; or if this pattern is not hidden."""
    assert limit.without is not None  # noqa: S101 - asked before
    if not limit.eased.left_out:
        return f"{measured(limit.without)} if not hidden"
    own, it = ("this item", "it") if len(limit.eased.items) == 1 else ("these items", "them")
    lost = measured(limit.without) if average else f"{shares(limit.without)} of all occurrences lost"
    return f"{lost}, {own} included, if you leave {it} out of the data"


def _for_others(limit: Limit, run: Run) -> str:
    """Why there is no saving without a limit, if there are others. What stands in for the method may just miss it."""
    others = [one for one in run.binding.limits if not one.eased.items and one is not limit]
    return ": other limits forbid the same itemsets" if others and not run.binding.stand_in else ""


def _difference(now: float, then: float) -> str:
    """How much less is lost then, so that it is the difference of the two shares as they are shown.

    >>> _difference(0.2364, 0.2346), _difference(0.2364, 0.2362), _difference(0.5, 0.0004)
    ('0.1%', 'below 0.1%', '50%')
    """
    shown = [round(100 * share, 1) for share in (now, then)]
    return shares(round(shown[0] - shown[1], 1) / 100) if shown[0] > shown[1] else "below 0.1%"


def _mostly(limit: Limit, run: Run) -> str:
    """The item for which nearly all of a limit's cost is; empty if there is none."""
    name, whole = words_of(run.promise).of_sensitive, limit.saves_without(run.binding.now)
    if limit.eased.name != name or whole < _LEAST:
        return ""
    alone = [one.eased.items for one in run.binding.limits if _for_items(one, run) >= _NEARLY_ALL * whole]
    return f", nearly all for {quoted(alone[0])}" if len(alone) == 1 else ""


def _for_items(limit: Limit, run: Run) -> float:
    """What is lost of other items for the sake of these; 0 if that is not known."""
    if not limit.eased.items or limit.without is None:
        return 0.0
    release, own = run.release, 0
    if limit.eased.left_out:
        there = release.survivors()[release.original.codes(limit.eased.items)]
        own = int(there.sum())
    return run.binding.now - (limit.without - own / max(1, len(release.original.items)))


def _late(limit: Limit) -> list[str]:
    """For what there was no time."""
    eased = limit.eased
    without = [f"without {quoted(eased.items) if eased.items else eased.name}"] if limit.without_undecided else []
    return [*_worth_telling(limit, limit.undecided), *without]


def _worth_telling(limit: Limit, values: Sequence[Value]) -> list[str]:
    """Values of a limit; where no chart shows all, only the one that is one step milder."""
    eased = limit.eased
    return [_written(eased.name, value) for value in values if eased.charted or value == eased.milder]


def _matters(limit: Limit, run: Run) -> bool:
    return limit.without == 1 if run.binding.holds else _for_items(limit, run) >= _LEAST


def _kept(limit: Limit, run: Run, words: Words) -> str:
    """Whether a release that is a NO-GO would be none if the limit were eased."""
    eased = limit.eased
    if not eased.steps and eased.without is None:
        return ""
    if eased.items:
        return f"Without {quoted(eased.items)} the promise would be kept."
    for at in (value for value, _ in eased.steps if limit.losses.get(value) == 1):
        return f"{_subject(limit)}: at {_written(eased.name, at)} the promise would be kept."
    if limit.without == 1:
        return f"{_subject(limit)}: the promise would be kept only without it."
    return (
        "" if limit.undecided or limit.without_undecided else f"{_subject(limit)}: a milder value alone does not help."
    )


def _subject(limit: Limit) -> str:
    eased = limit.eased
    return quoted(eased.items) if eased.items else _written(eased.name, eased.value)


def _written(name: str, value: Value) -> str:
    """A limit as a person writes it.

    >>> _written("k", 1000), _written("p", None), _written("h", Fraction(2, 5)), _written("l", Fraction(5, 2))
    ('k = 1,000', 'p unlimited', 'h = 40%', 'l = 5/2')
    """
    if value is None:
        return f"{name} unlimited"
    if isinstance(value, Fraction):
        return f"{name} = {percent(value) if value <= 1 else value}"
    return f"{name} = {value:,}"


def _plain(value: Value) -> int | float | None:
    return float(value) if isinstance(value, Fraction) else value
