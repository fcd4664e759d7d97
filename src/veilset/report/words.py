"""The sentences. Terminal, pages and JSON all say what is written here: they cannot contradict each other.

What differs from promise to promise is in `words_coherence`, `words_rho`, `words_hiding` and `words_anatomy`; what is
common is here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

from veilset.anonymize import methods_of
from veilset.errors import in_python, said, spelled
from veilset.exact import percent
from veilset.limits import Limits
from veilset.models import EXCLUDES_NOTHING, Audit, Margin, PerPromise, Promise, Reach, Witness
from veilset.options import declared
from veilset.release import Attempt, Bound, Release
from veilset.report.text import in_quotes, knowledge, number, quoted, shares, shown
from veilset.transactions import Transactions
from veilset.views import by_size, visible

_WEIGHT = "sensitive_weight"


class Words(ABC):
    """What is said about one promise in words of its own; what is common to promises about people is here.

    Parameters
    ----------
    promise : Promise
        The one that is spoken of.
    """

    promise: Any

    title: ClassVar[str]
    """What the promise is called."""
    reason: ClassVar[str] = "way"
    """What `Audit.found` counts, one of them."""
    violations: ClassVar[str] = "Smallest sets of known items that break it"
    """What `Audit.found_by_size` counts, in the plural; empty if sizes say nothing."""
    counted: ClassVar[str] = "set of items"
    """What `Audit.checked` counts, one of them."""
    heads: ClassVar[tuple[str, ...]] = ("What an attacker knows", "People left", "What they learn")
    """What stands above the columns of a table of witnesses, whose cells `row` gives."""
    extremes_known: ClassVar[bool] = False
    """Whether the margins are the most extreme values even where it does not hold."""
    may_be_recoded: ClassVar[bool] = False
    """Whether what breaks it alone might stay under a coarser name."""
    none_alone: ClassVar[str] = ""
    """Why nothing had to go; empty if no item has to go as a whole."""
    none_sensitive: ClassVar[str] = "No item of this file was declared sensitive."
    """What it means that a released file has no sensitive item."""
    of_sensitive: ClassVar[str] = ""
    """The parameter that limits what can be inferred of sensitive items; empty if none does."""
    recount: ClassVar[str] = (
        "It compares the files with their checksums, reads the data again and counts everything anew, with code that "
        "shares nothing with the code that changed the data."
    )
    """What ``veilset verify`` does for whoever has the public part of a release."""

    @abstractmethod
    def verdict(self, audit: Audit, taken: str) -> str:
        """The auditor's answer; *taken* says what was taken as one person, and stands after it."""

    def state(self, audit: Audit) -> str:
        """The answer in capitals, so that colour never stands alone."""
        if audit.holds:
            return "EXCLUDES NOTHING" if audit.promise.excludes_nothing else "HOLDS"
        return "DOES NOT HOLD" if audit.feasible else "INFEASIBLE"

    def row(self, witness: Witness, audit: Audit) -> tuple[str, ...]:
        """A witness in a table, a cell for each of `heads`."""
        return knowledge(witness.itemset), f"{witness.support:,}", self.learned(witness)

    def learned(self, witness: Witness) -> str:
        """What an attacker learns who knows the itemset of a witness."""
        return visible(witness.reason)

    def over(self, witness: Witness, audit: Audit) -> Fraction:
        """How many times the limit is exceeded."""
        return Fraction(max(1, self.promise.support_floor), max(1, witness.support))

    def limits(self, audit: Audit) -> Mapping[str, tuple[str, str]]:
        """Each margin of an audit by its name: what it is, and what is allowed."""
        return {}

    def met(self, margin: Margin) -> str:
        """The value of a margin: a number, or how sure somebody is."""
        return f"{margin.value:,}" if isinstance(margin.value, int) else percent(margin.value)

    def where(self, margin: Margin) -> str:
        """Where a margin was met."""
        gives = "" if margin.sensitive is None else f" → {shown(margin.sensitive)}"
        return knowledge(margin.itemset) + gives

    def reach(self, reach: Reach) -> str:
        """How far the promise reaches; empty if that goes without saying."""
        return ""

    def worth_listing(self, audit: Audit, most: int) -> tuple[Witness, ...]:
        """The reasons that a table of so many lines shows."""
        return audit.witnesses[:most]

    def more(self, audit: Audit, listed: int) -> str:
        """How many reasons are not in a list of this length; empty if none."""
        return f"… and {number(audit.found - listed, f'more {self.reason}')}." if audit.found > listed else ""

    def parameters(self, *, sensitive: bool) -> list[tuple[str, str, str]]:
        """Each parameter, its value, and what it means for data with or without sensitive items."""
        values = self.promise.parameters()
        options = declared(type(self.promise))
        return [(one.name, str(values[one.name]), one.option.help) for one in options if one.name in values]

    def how_checked(self, audit: Audit) -> str:
        """What the auditor did to answer."""
        return f"An auditor counted {number(audit.checked, 'set')} of items in this file to make sure."

    def rare(self, original: Transactions) -> str:
        """How many items of the original are too rare; empty if that does not matter."""
        return ""

    def why_gone(self, method: str, *, sensitive: bool, alone: bool) -> str:
        """Why a method suppressed an item, which may be sensitive or break the promise *alone*."""
        return "breaks the promise by itself" if alone else "breaks the promise together with other items"

    def cut(self, data: Transactions, limits: Limits | None) -> Any:
        """What a page shows of columns and buckets; None where the promise is not about any."""
        return None

    def measured(self, cost: float) -> str:
        """What a limit costs, as `Methods.cost` measures it."""
        return f"{shares(cost)} lost"

    @classmethod
    def suggestion(cls, missing: str, data: Transactions) -> str:
        """What the data suggests for a parameter that was not given; empty if nothing."""
        return ""


WORDS = PerPromise[type[Words]]("report text")


def words_of(promise: Promise) -> Words:
    """The words for this promise, if there are any."""
    make: Callable[[Promise], Words] = WORDS.of(promise)
    return make(promise)


def for_example(audit: Audit) -> str:
    """What stands before the worst of all reasons."""
    return ":" if audit.found == 1 else "; for example"


def inferred(witness: Witness) -> tuple[str, Fraction, int]:
    """What is inferred from the itemset of a witness, how surely, and how many transactions hold both."""
    assert witness.sensitive is not None and witness.confidence is not None  # noqa: S101 - its auditor sees to it
    return witness.sensitive, witness.confidence, int(witness.confidence * witness.support)


def verdict(audit: Audit, *, merged: bool) -> str:
    """The auditor's answer in one true sentence.

    Parameters
    ----------
    audit : Audit
    merged : bool
        Whether the transactions of one person were merged; if not, the sentence says what it takes as one.
    """
    words = words_of(audit.promise)
    if says_nothing(audit):
        return EXCLUDES_NOTHING
    return words.verdict(audit, "" if merged else " (one transaction taken as one person)")


def says_nothing(audit: Audit) -> bool:
    """Whether the promise is kept, and any file keeps it."""
    return audit.holds and bool(audit.promise.excludes_nothing)


@dataclass(frozen=True)
class Decision:
    """Whether a release may go out, and why; *empty*: its promise excludes nothing, so that this is nobody's gain."""

    go: bool
    why: str
    empty: bool = False

    @property
    def word(self) -> str:
        """GO, NO-GO, or what there is to know before a release goes out that promises nothing."""
        return "EXCLUDES NOTHING" if self.empty else "GO" if self.go else "NO-GO"


def decide(release: Release) -> Decision:
    """Whether a release may go out, and the sentence that says why."""
    if release.audit is None:
        return Decision(False, "Nobody has audited this release.")
    if release.discrepancy is not None:
        return Decision(False, f"The account of the edits is wrong: {release.discrepancy}")
    if release.audit.holds and not release.certified:
        return Decision(False, "The audit is about other data or another promise.")
    why = verdict(release.audit, merged=release.original.persons is not None)
    return Decision(release.certified, why, empty=says_nothing(release.audit))


def why_gone(release: Release, alone: Collection[str]) -> dict[str, str]:
    """Why each suppressed item went; those that break the promise *alone* had to."""
    words, sensitive = words_of(release.promise), set(release.original.sensitive)
    known = release.options.get("known")  # what somebody had in mind who decided changes that are given
    new = set(release.suppressed).difference(known) if isinstance(known, tuple) else set()
    decided_before = release.method == "replay"
    why = {}
    for item in release.suppressed:
        if item in release.undecided:
            why[item] = "might have stayed: to prove it would have taken too long"
        elif item in new:
            why[item] = "was not known when the changes were decided"
        elif decided_before and item not in alone:
            why[item] = "as in the earlier release"
        else:
            why[item] = words.why_gone(release.method, sensitive=item in sensitive, alone=item in alone)
    return why


def removed_sentence(release: Release, spell: Callable[..., str] = in_python) -> str:
    """That nothing sensitive is left, why that is no merit, and what would keep more; empty if something is left."""
    if not release.all_sensitive_removed:
        return ""
    limit = words_of(release.promise).of_sensitive
    why = f": {limit} holds because nothing sensitive is left" if limit else ""
    more = spelled(_keeps_more_sensitive(release, limit), spell)
    return f"Every sensitive item was removed{why}. {more}".rstrip()


def _keeps_more_sensitive(release: Release, limit: str) -> str:
    """The option that may keep sensitive items: of this method, or of another one; or a milder promise."""
    if release.method == "replay":
        return "The changes were decided for the earlier release."
    weighing = [
        name
        for name, method in methods_of(release.promise).items()
        if _WEIGHT in {option.name for option in declared(method)}
    ]
    if weighing:
        if release.method in weighing:
            return f"A larger {said(_WEIGHT)} can keep more."
        return f"Use {said('method', weighing[0])} with a larger {said(_WEIGHT)} to keep more."
    return f"A larger {limit} can keep more." if limit else ""


def undecided_sentence(release: Release) -> str:
    """What went without need, perhaps; empty if nothing did."""
    if not release.undecided:
        return ""
    one = len(release.undecided) == 1
    return (
        f"{number(len(release.undecided), 'item')} went because to prove that {'it' if one else 'they'} may stay would "
        f"have taken too long; it is not known whether {'it' if one else 'they'} had to: {quoted(release.undecided)}"
    )


def attempts_sentence(release: Release) -> str:
    """What each way that was tried would have lost, the one that was taken first; empty if there was only one."""
    if len(release.attempts) < 2:
        return ""
    best = sorted(release.attempts, key=lambda attempt: (not attempt.won, attempt.loss is None, attempt.loss))
    weighed = any(release.options.get(name) for name in ("weights", _WEIGHT))
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


def ways_by_size(audit: Audit) -> str:
    """How many ways break the promise, by their size; empty if none does, or sizes say nothing."""
    violations, counted = words_of(audit.promise).violations, by_size(audit.found_by_size)
    return f"{violations}: {counted}." if violations and counted else ""


class Limit(NamedTuple):
    """How close the data comes to one limit."""

    what: str
    met: str
    allowed: str
    where: str


def limits_met(audit: Audit) -> list[Limit]:
    """Each margin of the audit in words."""
    words = words_of(audit.promise)
    return [
        Limit(what, words.met(audit.margins[name]), allowed, words.where(audit.margins[name]))
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


def one_person(data: Transactions) -> str:
    """What stands for one person."""
    if data.anatomy is not None:
        return "a line mixes values of different people of one bucket"
    if data.persons is not None:
        column = None if data.source is None else data.source.layout.person
        return "lines of one person merged" + (f" (column {in_quotes(column)})" if column else "")
    by_line = data.source is not None and data.source.layout.form.shape != "long"
    return "one line = one person" if by_line else "one transaction = one person"
