"""The sentences. Terminal, pages and JSON all say what is written here: they cannot contradict each other.

What differs from promise to promise is in `words_coherence`, `words_rho`, `words_hiding` and `words_anatomy`; what is
common is here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

from veilset.anonymize import methods_of
from veilset.errors import in_python, said, spelled
from veilset.exact import percent
from veilset.limits import Limits
from veilset.models import (
    EXCLUDES_NOTHING,
    NO_INFERENCE,
    NONE_SENSITIVE,
    Audit,
    Margin,
    PerPromise,
    Promise,
    Reach,
    Witness,
)
from veilset.options import declared
from veilset.release import Bound, HeldRelease, Release, by_support
from veilset.report.text import in_quotes, knowledge, number, people, quoted, rounded_up, shares, shown
from veilset.transactions import Transactions
from veilset.views import Count, by_size, visible

WEIGHT = "sensitive_weight"
"""The option that makes sensitive occurrences count more."""


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
    reason: ClassVar[str] = "violation"
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
    none_explained: ClassVar[str] = "not examined: only the most frequent items are, within a time limit"
    """Why an item is gone of which nobody has counted what it would break."""
    none_sensitive: ClassVar[str] = "No item in this file was declared sensitive."
    """What it means that a released file has no sensitive item."""
    of_sensitive: ClassVar[str] = ""
    """The parameter that limits what can be inferred of sensitive items; empty if none does."""
    recount: ClassVar[str] = (
        "It checks the files against their checksums, reads the data and counts everything from scratch. Its code is "
        "independent of the code that changed the data."
    )
    """What ``veilset verify`` does for whoever has the public part of a release."""

    @abstractmethod
    def verdict(self, audit: Audit, taken: str) -> str:
        """The auditor's answer; *taken* says what was taken as one person, and stands after it."""

    def state(self, audit: Audit) -> str:
        """The answer in capitals, so that colour never stands alone."""
        if audit.holds:
            return "EXCLUDES NOTHING" if audit.excludes_nothing else "HOLDS"
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
        if audit.found > listed:
            return f"… and {at_least(audit)}{number(audit.found - listed, f'more {self.reason}')}."
        return "" if audit.complete else "There may be more than these."

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

    def why_alone(self, support: int, *, sensitive: bool) -> str:
        """Why an item that so many transactions hold cannot stay, whatever else goes; counted nowhere else."""
        return "breaks the promise on its own"

    def why_gone(self, item: str, witness: Witness) -> str:
        """What would break the promise if a suppressed item returned: its partners, what they give away, the limit."""
        return f"{partners(item, witness)}: {visible(witness.reason)}"

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


def at_least(audit: Audit) -> str:
    """What stands before the number of violations if there may be more than were counted."""
    return "" if audit.complete else "at least "


def for_example(audit: Audit) -> str:
    """What stands before the worst of all reasons."""
    return ":" if audit.found == 1 else "; for example"


def inferred(witness: Witness) -> tuple[str, Fraction, int]:
    """What is inferred from the itemset of a witness, how surely, and how many transactions hold both."""
    assert witness.sensitive is not None and witness.confidence is not None  # noqa: S101 - its auditor sees to it
    return witness.sensitive, witness.confidence, int(witness.confidence * witness.support)


def told_by(item: str, witness: Witness, limit: str) -> str:
    """How an item, if it returned, would give a sensitive one away, or be given away itself, against this limit.

    >>> from fractions import Fraction
    >>> told_by("figs", Witness(("figs", "tea"), 4, "hiv", Fraction(3, 4), ""), "h = 40%")
    "with 'tea': 75% of 4 people have 'hiv', h = 40%"
    >>> told_by("hiv", Witness(("figs", "tea"), 4, "hiv", Fraction(3, 4), ""), "h = 40%")
    "75% of 4 people with 'figs' and 'tea' have it, h = 40%"
    >>> told_by("hiv", Witness((), 4, "hiv", Fraction(3, 4), ""), "h = 40%")
    '75% of all 4 people have it, h = 40%'
    """
    sensitive, sure, _ = inferred(witness)
    told = "it" if sensitive == item else quoted([sensitive])
    if item not in witness.itemset:
        those = f"{people(witness.support)} with {quoted(witness.itemset)}"
        those = those if witness.itemset else f"all {people(witness.support)}"
        return f"{percent(sure)} of {those} {_have(witness)} {told}, {limit}"
    return f"{partners(item, witness)}: {percent(sure)} of {people(witness.support)} {_have(witness)} {told}, {limit}"


def _have(witness: Witness) -> str:
    return "has" if witness.support == 1 else "have"


def partners(item: str, witness: Witness) -> str:
    """What an attacker knows besides the item.

    >>> [partners("figs", Witness(known, 3, None, None, "")) for known in (("figs", "tea"), ("figs",))]
    ["with 'tea'", 'on its own']
    """
    others = [other for other in witness.itemset if other != item]
    return f"with {quoted(others)}" if others else "on its own"


def verdict(audit: Audit, *, merged: bool, unknown: bool = False, none_sensitive: str = NONE_SENSITIVE) -> str:
    """The auditor's answer in one true sentence.

    Parameters
    ----------
    audit : Audit
    merged : bool
        Whether the transactions of one person were merged; if not, the sentence says what it takes as one.
    unknown : bool
        Whether those of unknown people were not.
    none_sensitive : str
        What is said if the promise limits what can be inferred of sensitive items, and there are none.
    """
    words = words_of(audit.promise)
    if says_nothing(audit):
        return EXCLUDES_NOTHING
    taken = "" if merged else " (counting each transaction as one person)"
    sentence = words.verdict(audit, " (counting each transaction of an unknown person as one)" if unknown else taken)
    silent = audit.holds and audit.promise.about_sensitive and not audit.has_sensitive
    return f"{sentence} {none_sensitive}".strip() if silent else sentence


def says_nothing(audit: Audit) -> bool:
    """Whether the promise is kept, and any file keeps it."""
    return audit.holds and audit.excludes_nothing


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
        return Decision(False, "This release has not been audited.")
    if release.discrepancy is not None:
        return Decision(False, f"The list of edits is wrong: {release.discrepancy}")
    if not release.truthful and release.options.get("truthful") is not False:
        return Decision(False, in_original_sentence(release))
    if release.audit.holds and not release.certified:
        return Decision(False, "The audit covers other data or another promise.")
    why = verdict(
        release.audit,
        merged=release.original.persons is not None,
        unknown=release.original.has_unknown,
        none_sensitive=_none_sensitive(release),
    )
    if not release.truthful:
        why = f"{why} {in_original_sentence(release)}"
    return Decision(release.certified, why, empty=says_nothing(release.audit))


def in_original_sentence(release: Release) -> str:
    """Whether the limits on sensitive items are true of the original; empty if that follows from the audit."""
    found = release.in_original
    if found is None:
        return "" if release.truthful else "Whether its limits hold in the original, too, was not checked."
    if found.holds:
        return (
            "Its limits on sensitive items hold as counted in the original, too. Only you can check that: recipients "
            "do not have the original."
        )
    worst = f"; for example {visible(str(found.witnesses[0]))}" if found.witnesses else ""
    many = Count(found.broken)
    return (
        f"Counted in the original, {many:,} of its {found.counted} {many:exceeds|exceed} a limit on sensitive "
        f"items{worst}. "
        "It keeps the limits only because items were removed from single transactions."
    )


def _none_sensitive(release: Release) -> str:
    """What it means that nothing sensitive is left, for the custodian, who may know why."""
    why = "All sensitive items were removed" if release.original.sensitive else "No item was named as sensitive"
    return f"{why}: {NO_INFERENCE}."


def removed_sentence(release: Release | HeldRelease, spell: Callable[..., str] = in_python) -> str:
    """That nothing sensitive is left, why that is no merit, and what would keep more; empty if something is left."""
    if not release.all_sensitive_removed:
        return ""
    limit = words_of(release.promise).of_sensitive
    why = f": {limit} holds because nothing sensitive is left" if limit else ""
    more = spelled(_keeps_more_sensitive(release, limit), spell)
    return f"Every sensitive item was removed{why}. {more}".rstrip()


def _keeps_more_sensitive(release: Release | HeldRelease, limit: str) -> str:
    """The option that may keep sensitive items: of this method, or of another one; or a milder promise."""
    if release.method == "replay":
        return "The changes were decided for the earlier release."
    weighing = [
        name
        for name, method in methods_of(release.promise).items()
        if WEIGHT in {option.name for option in declared(method)}
    ]
    if weighing:
        if release.method in weighing:
            return f"A larger {said(WEIGHT)} can keep more."
        return f"Use {said('method', weighing[0])} with a larger {said(WEIGHT)} to keep more."
    return f"A larger {limit} can keep more." if limit else ""


def undecided_sentence(release: Release) -> str:
    """What went without need, perhaps; empty if nothing did."""
    if not release.undecided:
        return ""
    one = len(release.undecided) == 1
    listed = by_support(release.original, release.undecided)
    return (
        f"{number(len(release.undecided), 'item')} {'was' if one else 'were'} removed because the check exceeded its "
        f"work limit; whether this was necessary is not known: {quoted(listed)}"
    )


def bound_sentence(bound: Bound) -> str:
    """What is proven about the loss.

    >>> bound_sentence(Bound(0.354, 0.354, "share of all item occurrences"))
    'proven: no release of this kind keeps the promise and loses less than 35.4% (share of all item occurrences)'
    """
    least = shares(bound.least) if bound.least <= 1 else f"{bound.least:,.0f}"
    if bound.proven:
        return f"proven: no release of this kind keeps the promise and loses less than {least} ({bound.of})"
    reached = shares(bound.reached) if bound.reached <= 1 else f"{bound.reached:,.0f}"
    return f"{reached} lost; the proven minimum is {least} ({bound.of}), a gap of {shares(bound.gap)}"


def violations_by_size(audit: Audit) -> str:
    """How many violations there are, by their size; empty if there is none, or sizes say nothing."""
    violations, counted = words_of(audit.promise).violations, by_size(audit.found_by_size)
    return f"{violations}: {at_least(audit)}{counted}." if violations and counted else ""


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


def tells_shares(audit: Audit) -> bool:
    """Whether a margin is a share that is rounded to be told."""
    return any(isinstance(margin.value, Fraction) and rounded_up(margin.value) for margin in audit.margins.values())


def perhaps_worse(audit: Audit) -> str:
    """A warning where the margins are not the most extreme values; empty where they are."""
    if not (audit.holds or words_of(audit.promise).extremes_known):
        return "The promise does not hold, so more extreme values may exist."
    known = all(margin.is_extreme for margin in audit.margins.values())
    return "" if known else "More extreme values may exist, but none beyond the limits: that was proven."


def counted_sentence(audit: Audit) -> str:
    """How much the auditor has counted."""
    what, _, of = words_of(audit.promise).counted.partition(" ")
    return f"{number(audit.checked, what)} {of} counted in {number(audit.transactions, 'transaction')}."


def one_person(data: Transactions) -> str:
    """What stands for one person."""
    if data.anatomy is not None:
        return "each line mixes values of people in one bucket"
    if data.persons is not None:
        column = None if data.source is None else data.source.layout.person
        return "lines of the same person merged" + (f" (column {in_quotes(column)})" if column else "")
    by_line = data.source is not None and data.source.layout.form.shape != "long"
    return "one line = one person" if by_line else "one transaction = one person"
