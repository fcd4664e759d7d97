"""The sentences. Terminal, pages and JSON all say what is written here: they cannot contradict each other."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from veilset.errors import Infeasible, WrongUsage
from veilset.exact import percent
from veilset.limits import Limits
from veilset.models import Audit, Coherence, Margin, Promise, Reach, Witness
from veilset.release import Bound, Release
from veilset.transactions import Transactions
from veilset.utility import METRICS, Metric, measure, nugget_support_of, unavoidable

__all__ = [
    "Cost",
    "Curve",
    "Decision",
    "Limit",
    "attempts_sentence",
    "bound_sentence",
    "by_size",
    "coherence",
    "cost",
    "curve_sentence",
    "decide",
    "knowledge",
    "learned",
    "limits_met",
    "more_ways",
    "number",
    "one_person",
    "reach_sentence",
    "shares",
    "shown",
    "state",
    "verdict",
    "visible",
    "ways_by_size",
]

_LONGEST_NAME = 60
_MOST_NAMES = 6


def verdict(audit: Audit, *, merged: bool) -> str:
    """The auditor's answer in one true sentence.

    Parameters
    ----------
    audit : Audit
    merged : bool
        Whether the transactions of one person were merged; if not, the sentence says what it takes as one.
    """
    promise = coherence(audit.promise)
    taken = "" if merged else " (one transaction taken as one person)"
    if audit.holds:
        known = {None: "any number of published public items", 1: "one published public item"}.get(
            promise.p, f"up to {promise.p} published public items"
        )
        left = f"{_people(promise.k)}{taken}{_sureness(audit, promise)}"
        return f"An attacker who knows {known} of someone in this file is left with at least {left}."
    if not audit.feasible:
        why = _breaks(audit.witnesses[0], promise, taken)
        return f"Someone who knows nothing already breaks this promise: the file has {why}."
    ways = f"There {'is' if audit.found == 1 else 'are'} {number(audit.found, 'way')} to break this promise"
    if not audit.witnesses:
        return f"{ways}{taken}."
    worst = audit.witnesses[0]
    most_severe = "" if audit.found == 1 else " the most severe:"
    known, left = _quoted(worst.itemset), _breaks(worst, promise, taken)
    return f"{ways};{most_severe} an attacker who knows {known} of someone is left with {left}."


def _sureness(audit: Audit, promise: Coherence) -> str:
    """How sure an attacker can become of sensitive items: what is promised of one, what was measured of any.

    The auditor starts from an attacker who knows nothing: without a margin, no sensitive item occurs.
    """
    one, some = audit.margins.get("largest_breach"), audit.margins.get("largest_any_breach")
    if promise.h is None or one is None or some is None:
        return ""
    of_some = f"of some sensitive item or other: up to {percent(Fraction(some.value))}"
    here = percent(Fraction(one.value))
    if promise.h == 1:
        return f", and is up to {here} sure of one particular sensitive item (h=1 sets no limit); {of_some}"
    # Less for some item or other than is allowed for one: the measured value for one explains that.
    measured = f" (in this file {here})" if some.value < promise.h else ""
    most = percent(promise.h)
    one_item = "any one particular sensitive item" + (" or group of them" if promise.sensitive_groups else "")
    return f", and is at most {most} sure of {one_item}{measured}; {of_some}"


def _breaks(witness: Witness, promise: Coherence, taken: str) -> str:
    left = f"{_people(witness.support)}{taken}"
    if witness.sensitive is None or witness.confidence is None:
        return f"{left}, fewer than {promise.k:,}"
    holders = int(witness.confidence * witness.support)
    return (
        f"{left}, of whom {holders:,} ({percent(witness.confidence)}) {'has' if holders == 1 else 'have'} "
        f"{_quoted([witness.sensitive])}, more than {percent(promise.share)}"
    )


def coherence(promise: Promise) -> Coherence:
    """The promise, if it is one that there are words for."""
    if not isinstance(promise, Coherence):
        raise WrongUsage(f"There are no words for {type(promise).__name__}.", "Available: Coherence.")
    return promise


def state(audit: Audit) -> str:
    """The answer in capitals, so that colour never stands alone."""
    return "HOLDS" if audit.holds else "DOES NOT HOLD" if audit.feasible else "INFEASIBLE"


@dataclass(frozen=True)
class Decision:
    """Whether a release may go out, and why."""

    go: bool
    why: str

    @property
    def word(self) -> str:
        """GO or NO-GO."""
        return "GO" if self.go else "NO-GO"


def decide(release: Release) -> Decision:
    """Whether a release may go out, and the sentence that says why."""
    if release.audit is None:
        return Decision(False, "Nobody has audited this release.")
    if release.discrepancy is not None:
        return Decision(False, f"The account of the edits is wrong: {release.discrepancy}")
    if release.audit.holds and not release.certified:
        return Decision(False, "The audit is about other data or another promise.")
    return Decision(release.certified, verdict(release.audit, merged=release.original.persons is not None))


def reach_sentence(reach: Reach, p: int | None) -> str:
    """What the choice of p means for the people in the data, and which other p would mean more."""
    if reach.covered == 1:
        within = "p has no limit" if p is None else f"no transaction has more than p={p:,} public items"
        return f"All that could be known is covered: {within}."
    covered = shares(float(reach.covered))
    more = [f"p={reach.most:,} would cover 90%"] if p is not None and p < reach.most < reach.everybody else []
    more.append(f"p={reach.everybody:,} would cover all" if not more else f"p={reach.everybody:,} all")
    return (
        f"With p={p:,}, all that could be known is covered for {covered} of the transactions, which have no more "
        f"public items; {', '.join(more)}."
    )


Curve: TypeAlias = Mapping[int | None, float]
"""p (None: unlimited) to the share of all item occurrences that would be lost."""


def curve_sentence(curve: Curve) -> str:
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


def attempts_sentence(release: Release) -> str:
    """What each way that was tried would have lost, the one that was taken first; empty if there was only one."""
    tried = [attempt for attempt in release.attempts if attempt.loss is not None]
    if len(tried) < 2:
        return ""
    best = sorted(tried, key=lambda attempt: (not attempt.won, attempt.loss))
    taken = {attempt.name: " (taken)" if attempt.won else "" for attempt in best}
    return ", ".join(f"{attempt.name} {shares(attempt.loss or 0)}{taken[attempt.name]}" for attempt in best)


def bound_sentence(bound: Bound) -> str:
    """What is proven about the loss.

    >>> bound_sentence(Bound(0.354, 0.354, "share of all item occurrences"))
    'proven: nothing that keeps this promise by the same means loses less than 35.4% (share of all item occurrences)'
    """
    least = shares(bound.least) if bound.least <= 1 else f"{bound.least:,.0f}"
    if bound.proven:
        return f"proven: nothing that keeps this promise by the same means loses less than {least} ({bound.of})"
    reached = shares(bound.reached) if bound.reached <= 1 else f"{bound.reached:,.0f}"
    return f"{reached} lost, and at least {least} must be ({bound.of}): a gap of {shares(bound.gap)}"


def learned(witness: Witness, promise: Promise) -> str:
    """What an attacker learns who knows the itemset of a witness."""
    if witness.sensitive is not None and witness.confidence is not None:
        return f"{shown(witness.sensitive)}, {percent(witness.confidence)} sure"
    if witness.support == 1:
        return "who it is"
    return f"that it is one of {witness.support:,}, not of {coherence(promise).k:,}"


def more_ways(audit: Audit, listed: int) -> str:
    """How many reasons are not in a list of this length; empty if none."""
    return f"… and {number(audit.found - listed, 'more way')}." if audit.found > listed else ""


def ways_by_size(audit: Audit) -> str:
    """How many smallest sets of known items break the promise, by their size; empty if none does."""
    counted = by_size(audit.found_by_size)
    return f"Smallest sets of known items that break it: {counted}." if counted else ""


def by_size(counts: Sequence[int]) -> str:
    """How many itemsets there are of one item, of two items, and so on; empty if none.

    >>> by_size((3, 0, 1))
    '3 of 1 item, 1 of 3 items'
    """
    return ", ".join(f"{count:,} of {number(size, 'item')}" for size, count in enumerate(counts, start=1) if count)


@dataclass(frozen=True)
class Limit:
    """How close the data comes to one limit."""

    what: str
    met: str
    allowed: str
    where: str


def limits_met(audit: Audit) -> list[Limit]:
    """Each margin of the audit in words."""
    promise = coherence(audit.promise)
    bound = "no limit" if promise.share == 1 else f"at most {percent(promise.share)}"
    rows = {
        "smallest_support": ("Fewest people who fit what an attacker knows", f"at least {promise.k:,}"),
        "largest_breach": ("How sure an attacker gets of one particular sensitive item", bound),
        "largest_any_breach": ("How sure an attacker gets of some sensitive item or other", "no limit"),
    }
    return [
        Limit(what, _value(audit.margins[name]), allowed, _where(audit.margins[name]))
        for name, (what, allowed) in rows.items()
        if name in audit.margins
    ]


def _value(margin: Margin) -> str:
    return f"{margin.value:,}" if isinstance(margin.value, int) else percent(margin.value)


def _where(margin: Margin) -> str:
    gives = "" if margin.sensitive is None else f" → {shown(margin.sensitive)}"
    return knowledge(margin.itemset) + gives


@dataclass(frozen=True)
class Cost:
    """What a release cost.

    Parameters
    ----------
    values : mapping
        Metrics by name.
    must_go : tuple of str or None
        The items that had to go whatever the method; None if no suppression could make the original keep the promise,
        and then the metrics about them are missing, too.
    nugget_support : int
        How many transactions hold a nugget, at least.
    """

    values: Mapping[str, float]
    must_go: tuple[str, ...] | None
    nugget_support: int

    @property
    def metrics(self) -> list[tuple[Metric, float | None]]:
        """Each metric that there is a number for; None: it was not counted, since that takes too long."""
        return [
            (metric, self.values.get(metric.name))
            for metric in METRICS
            if not (metric.only_feasible and self.must_go is None)
        ]

    @property
    def rows(self) -> list[tuple[Metric, str]]:
        """Each metric with its value as a person reads it."""
        return [(metric, _measured(value, metric)) for metric, value in self.metrics]


_SECONDS_TO_COUNT = 20.0
_costs: dict[int, Cost] = {}  # by the id of a release that is still alive


def cost(release: Release, *, limits: Limits | None = None) -> Cost:
    """What a release cost, also where a method was let loose on data that cannot keep the promise.

    Measured once for each release: terminal, pages and JSON all ask, and counting may take 20 seconds.
    """
    if id(release) not in _costs:
        bounded = (limits or Limits()).part(1, _SECONDS_TO_COUNT)
        try:
            must_go = unavoidable(release)
        except Infeasible:
            must_go = None
        _costs[id(release)] = Cost(measure(release, limits=bounded), must_go, nugget_support_of(release))
        weakref.finalize(release, _costs.pop, id(release)).atexit = False
    return _costs[id(release)]


def _measured(value: float | None, metric: Metric) -> str:
    if value is None:
        return "not counted: took too long or too much memory"
    if metric.highest == 1:
        return shares(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"


def knowledge(itemset: Sequence[str]) -> str:
    """What an attacker knows, for a table."""
    more = f" and {len(itemset) - _MOST_NAMES:,} more" if len(itemset) > _MOST_NAMES else ""
    return " + ".join(map(shown, itemset[:_MOST_NAMES])) + more if itemset else "(nothing)"


def one_person(data: Transactions) -> str:
    """What stands for one person."""
    if data.persons is not None:
        column = None if data.source is None else data.source.layout.person
        return "lines of one person merged" + (f" (column {shown(column)!r})" if column else "")
    by_line = data.source is not None and data.source.layout.form.shape != "long"
    return "one line = one person" if by_line else "one transaction = one person"


def shown(name: str) -> str:
    """An item's name as it may be shown: shortened, and nothing in it steers a terminal or turns text around.

    >>> print(shown("beer" + chr(27) + "[2J"))
    beer\\x1b[2J
    """
    return visible(name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…")


def visible(text: str) -> str:
    """A text in which nothing steers a terminal or turns text around; what would is spelled out."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def _quoted(names: Sequence[str]) -> str:
    listed = [f"'{shown(name)}'" for name in names[:_MOST_NAMES]]
    if len(names) > _MOST_NAMES:
        listed.append(f"{len(names) - _MOST_NAMES:,} more")
    return " and ".join([", ".join(listed[:-1]), listed[-1]] if len(listed) > 1 else listed)


def _people(count: int) -> str:
    return f"{count:,} {'person' if count == 1 else 'people'}"


def number(count: int, thing: str) -> str:
    """A count with its noun.

    >>> number(1, "item"), number(2000, "item")
    ('1 item', '2,000 items')
    """
    return f"{count:,} {thing}{'s' * (count != 1)}"


def shares(value: float) -> str:
    """A measured share, rounded to a tenth of a percent; only nothing is 0% and only everything is 100%.

    >>> shares(0.36551), shares(0.00001), shares(0.99999), shares(0), shares(1)
    ('36.6%', 'below 0.1%', 'above 99.9%', '0%', '100%')
    """
    if 0 < value < 0.001:
        return "below 0.1%"
    if 0.999 < value < 1:
        return "above 99.9%"
    return f"{100 * value:.1f}".removesuffix(".0") + "%"
