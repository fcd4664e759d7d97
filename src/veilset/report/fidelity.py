"""What single occurrences that are gone mean for counts; and what deleting only those would keep."""

from __future__ import annotations

from veilset.errors import said
from veilset.exact import percent
from veilset.report.text import number, shares
from veilset.run import Run
from veilset.utility.rules import CONFIDENCE, SIZE
from veilset.views import Count


def fidelity_sentence(run: Run) -> str:
    """How far pairs and rules of the release can be believed; empty if no single occurrences are gone."""
    if not run.release.thinned:
        return ""
    lower = "Counts in the release are lower bounds, and confidences may be too high."
    found = run.fidelity
    if found is None:
        return f"{lower} How far off they are was not counted: over the time or memory limit."
    held = number(found.least, "transaction")
    pairs = (
        f"Of {number(found.pairs, 'pair')} in {held} or more, {found.pairs_kept:,} still are; their supports are "
        f"{shares(found.support_error)} too low on average."
        if found.pairs
        else f"No pair was in {held} or more."
    )
    lost, false = Count(found.rules_lost), Count(found.rules_false)
    rules = (
        f"Of {number(found.rules, 'rule')} (at most {SIZE} items, confidence at least {percent(CONFIDENCE)}), "
        f"{lost:,} {lost:is|are} lost; of {found.rules_found:,} in the release, {false:,} {false:is|are} false: "
        f"below {percent(CONFIDENCE)} in the original."
        if found.rules or found.rules_found
        else "There are no rules to lose."
    )
    under = " Pairs and rules are those of the names in the release." * bool(run.release.generalized)
    return f"{lower}{under} {pairs} {rules}"


def occurrences_sentence(run: Run) -> str:
    """What deleting single occurrences would keep where whole items lose more than half; empty otherwise.

    It was counted with a quick part of the method, which keeps less.
    """
    kept = run.by_occurrences
    if kept is None:
        return ""
    return (
        f"Deleting single occurrences would keep at least about {shares(kept)} of them: use "
        f"{said('method', 'partial')}. Counts in the release are then lower bounds."
    )
