"""The sentences. Terminal, pages and JSON all say what is written here: they cannot contradict each other.

What differs from promise to promise is in `words_coherence`, `words_rho`, `words_hiding` and `words_anatomy`; what is
common is here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

from veilset.errors import WrongUsage
from veilset.models import (
    Audit,
    Coherence,
    HiddenPatterns,
    HiddenRules,
    LDiverseAnatomy,
    Margin,
    Promise,
    Reach,
    RhoUncertainty,
    Sealed,
    Witness,
)
from veilset.release import Attempt, Bound, Release
from veilset.report.text import by_size, knowledge, number, quoted, shares, shown
from veilset.report.words_anatomy import LDiverseAnatomyWords, published_whole, value_in
from veilset.report.words_coherence import CoherenceWords
from veilset.report.words_hiding import HiddenPatternsWords, HiddenRulesWords, SealedWords
from veilset.report.words_rho import RhoUncertaintyWords
from veilset.transactions import Transactions

__all__ = [
    "Curve",
    "Decision",
    "Limit",
    "Words",
    "attempts_sentence",
    "bound_sentence",
    "counted_sentence",
    "curve_sentence",
    "decide",
    "limits_met",
    "more_ways",
    "one_person",
    "perhaps_worse",
    "state",
    "too_dear_sentence",
    "verdict",
    "ways_by_size",
    "why_gone",
    "words_of",
    "worth_listing",
]


class Words(Protocol):
    """What is said about one promise in words of its own."""

    @property
    def title(self) -> str:
        """What the promise is called."""

    @property
    def reason(self) -> str:
        """What `Audit.found` counts, one of them."""

    @property
    def ways(self) -> str:
        """What `Audit.found_by_size` counts, in the plural; empty if sizes say nothing."""

    @property
    def counted(self) -> str:
        """What `Audit.checked` counts, one of them."""

    @property
    def heads(self) -> tuple[str, ...]:
        """What stands above the columns of a table of witnesses, whose cells `row` gives."""

    @property
    def about_people(self) -> bool:
        """Whether it is people that are protected."""

    @property
    def extremes_known(self) -> bool:
        """Whether the margins are the most extreme values even where it does not hold."""

    @property
    def may_be_recoded(self) -> bool:
        """Whether what breaks it alone might stay under a coarser name."""

    @property
    def none_alone(self) -> str:
        """Why nothing had to go; empty if no item has to go as a whole."""

    @property
    def none_sensitive(self) -> str:
        """What it means that a released file has no sensitive item."""

    @property
    def recount(self) -> str:
        """What ``veilset verify`` does for whoever has the public part of a release."""

    @property
    def fewest(self) -> int:
        """How many transactions an item must have, at least, to be nobody's alone; a bin of charts starts there."""

    def verdict(self, audit: Audit, taken: str) -> str:
        """The auditor's answer; *taken* says what was taken as one person, and stands after it."""

    def row(self, witness: Witness, audit: Audit) -> tuple[str, ...]:
        """A witness in a table, a cell for each of `heads`."""

    def over(self, witness: Witness, audit: Audit) -> Fraction:
        """How many times the limit is exceeded."""

    def limits(self, audit: Audit) -> Mapping[str, tuple[str, str]]:
        """Each margin of an audit by its name: what it is, and what is allowed."""

    def met(self, margin: Margin) -> str:
        """The value of a margin."""

    def reach(self, reach: Reach) -> str:
        """How far the promise reaches; empty if that goes without saying."""

    def parameters(self, *, sensitive: bool) -> list[tuple[str, str, str]]:
        """Each parameter, its value, and what it means for data with or without sensitive items."""

    def how_checked(self, audit: Audit) -> str:
        """What the auditor did to answer."""

    def rare(self, original: Transactions) -> str:
        """How many items of the original are too rare; empty if that does not matter."""

    def why_gone(self, method: str, *, sensitive: bool, alone: bool) -> str:
        """Why a method suppressed an item, which may be sensitive or break the promise *alone*."""


_WORDS: Mapping[type[Promise], Callable[[Any], Words]] = {
    Coherence: CoherenceWords,
    RhoUncertainty: RhoUncertaintyWords,
    HiddenPatterns: HiddenPatternsWords,
    HiddenRules: HiddenRulesWords,
    Sealed: SealedWords,
    LDiverseAnatomy: LDiverseAnatomyWords,
}


def words_of(promise: Promise) -> Words:
    """The words for this promise, if there are any."""
    make = _WORDS.get(type(promise))
    if make is None:
        known = ", ".join(kind.__name__ for kind in _WORDS)
        raise WrongUsage(f"There are no words for {type(promise).__name__}.", f"Available: {known}.")
    return make(promise)


def verdict(audit: Audit, *, merged: bool) -> str:
    """The auditor's answer in one true sentence.

    Parameters
    ----------
    audit : Audit
    merged : bool
        Whether the transactions of one person were merged; if not, the sentence says what it takes as one.
    """
    return words_of(audit.promise).verdict(audit, "" if merged else " (one transaction taken as one person)")


def state(audit: Audit) -> str:
    """The answer in capitals, so that colour never stands alone; of a sealed promise, that it is one."""
    if isinstance(audit.promise, Sealed) and audit.holds:
        return "SEALED"
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


def why_gone(release: Release, alone: Collection[str]) -> dict[str, str]:
    """Why each suppressed item went; those that break the promise *alone* had to."""
    words, sensitive = words_of(release.promise), set(release.original.sensitive)
    known = release.options.get("known")  # what somebody had in mind who decided changes that are given
    new = set(release.suppressed).difference(known) if isinstance(known, tuple) else set()
    decided_before = release.method == "given"
    why = {}
    for item in release.suppressed:
        if item in release.too_dear:
            why[item] = "might have stayed: to prove it would have taken too long"
        elif item in new:
            why[item] = "was not known when the changes were decided"
        elif decided_before and item not in alone:
            why[item] = "as in the earlier release"
        else:
            why[item] = words.why_gone(release.method, sensitive=item in sensitive, alone=item in alone)
    return why


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


def too_dear_sentence(release: Release) -> str:
    """What went without need, perhaps; empty if nothing did."""
    if not release.too_dear:
        return ""
    one = len(release.too_dear) == 1
    return (
        f"{number(len(release.too_dear), 'item')} went because to prove that {'it' if one else 'they'} may stay would "
        f"have taken too long; it is not known whether {'it' if one else 'they'} had to: {quoted(release.too_dear)}"
    )


def attempts_sentence(release: Release) -> str:
    """What each way that was tried would have lost, the one that was taken first; empty if there was only one."""
    if len(release.attempts) < 2:
        return ""
    best = sorted(release.attempts, key=lambda attempt: (not attempt.won, attempt.loss is None, attempt.loss))
    weighed = any(release.options.get(name) for name in ("weights", "sensitive_weight"))
    return ", ".join(_attempt(attempt) for attempt in best) + "; weights decided" * weighed


def _attempt(attempt: Attempt) -> str:
    """A way with what it lost, whether it was taken, and what ended it."""
    lost = [] if attempt.loss is None else [shares(attempt.loss)]
    remarks = [*(["taken"] if attempt.won else []), *([attempt.note.rstrip(".")] if attempt.note else [])]
    return " ".join([attempt.name, *lost, *([f"({'; '.join(remarks)})"] if remarks else [])])


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


def worth_listing(audit: Audit, most: int) -> tuple[Witness, ...]:
    """The reasons that a table of so many lines shows: where everybody is one, three are as good as all."""
    return audit.witnesses[: min(3, most) if published_whole(audit) else most]


def more_ways(audit: Audit, listed: int) -> str:
    """How many reasons are not in a list of this length; empty if none."""
    reason = "transaction" if published_whole(audit) else words_of(audit.promise).reason
    return f"… and {number(audit.found - listed, f'more {reason}')}." if audit.found > listed else ""


def ways_by_size(audit: Audit) -> str:
    """How many ways break the promise, by their size; empty if none does, or sizes say nothing."""
    ways, counted = words_of(audit.promise).ways, by_size(audit.found_by_size)
    return f"{ways}: {counted}." if ways and counted else ""


@dataclass(frozen=True)
class Limit:
    """How close the data comes to one limit."""

    what: str
    met: str
    allowed: str
    where: str


def limits_met(audit: Audit) -> list[Limit]:
    """Each margin of the audit in words."""
    words = words_of(audit.promise)
    return [
        Limit(what, words.met(audit.margins[name]), allowed, _where(audit.margins[name]))
        for name, (what, allowed) in words.limits(audit).items()
        if name in audit.margins
    ]


def perhaps_worse(audit: Audit) -> str:
    """A warning where the margins are not the most extreme values; empty where they are."""
    exact = audit.holds or words_of(audit.promise).extremes_known
    return "" if exact else "It does not hold, so there may be more extreme values than these."


def counted_sentence(audit: Audit) -> str:
    """How much the auditor has counted."""
    what, _, of = words_of(audit.promise).counted.partition(" ")
    return f"{number(audit.checked, what)} {of} counted in {number(audit.transactions, 'transaction')}."


def _where(margin: Margin) -> str:
    if (margin.column or margin.bucket) and margin.sensitive is None:
        return value_in(margin.itemset, margin.column, margin.bucket)
    gives = "" if margin.sensitive is None else f" → {shown(margin.sensitive)}"
    return knowledge(margin.itemset) + gives


def one_person(data: Transactions) -> str:
    """What stands for one person."""
    if data.anatomy is not None:
        return "a line mixes values of different people of one bucket"
    if data.persons is not None:
        column = None if data.source is None else data.source.layout.person
        return "lines of one person merged" + (f" (column {shown(column)!r})" if column else "")
    by_line = data.source is not None and data.source.layout.form.shape != "long"
    return "one line = one person" if by_line else "one transaction = one person"
