"""What an attacker finds out by comparing buckets, for the custodian: nothing of it is ever published."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from veilset.attack import Carriers, Linked, Share
from veilset.errors import in_python, said, spelled
from veilset.report.text import number, shares
from veilset.run import Run
from veilset.views import Count

_TRIED = (
    "An attacker who knows a person's bucket, and the values in all columns but one, compares the buckets to learn "
    "which values tend to occur together"
)
_UNKNOWN = (
    "Not measured: there were no two columns and buckets to compare, all buckets were too large, or the time or memory "
    "limit was reached."
)


def compared_sentence(run: Run, spell: Callable[..., str] = in_python) -> str:
    """How often the guess is right; empty where nothing is in buckets. *spell* writes options."""
    found = run.compared
    if run.release.partition is None:
        return ""
    if found is None:
        return _UNKNOWN
    right = (
        f"{_TRIED}. {_share(found.main)} of the guesses are right, and {_share(found.confident)} of the most confident "
        f"fifth. Betting on a bucket's most common value is right in {shares(found.baseline.estimate)} and "
        f"{shares(found.confident_baseline.estimate)}."
    )
    gains = [(found.main, found.baseline.high), (found.confident, found.confident_baseline.high)]
    if (linked := found.linked) is not None:
        right += _linked(linked)
        gains += [(linked.right, linked.baseline), (linked.confident, linked.confident_baseline)]
    if (carriers := found.carriers) is not None:
        right += _carriers(carriers)
        gains += [(carriers.right, carriers.baseline)]
    if all(share.low <= baseline for share, baseline in gains):
        return f"{right} The difference is within the margin of error."
    return f"{right} The promise does not cover this. A larger {spelled(said('bucket_size'), spell)} makes it harder."


def _linked(found: Linked) -> str:
    return (
        f" Without knowing any value, the attacker puts all columns together correctly in {_share(found.right)} of the "
        f"buckets of two, and in {_share(found.confident)} of the most confident fifth. Chance would give "
        f"{shares(found.baseline)} and {shares(found.confident_baseline)}."
    )


def _carriers(found: Carriers) -> str:
    people = Count(found.people)
    return (
        f" Of the {people:,} {people:person|people} most suspected of having a sensitive item, {_share(found.right)} "
        f"have one. Their buckets alone would suggest {shares(found.baseline)}, and the promise allows 1/l. Of all "
        f"people, {shares(found.prior)} have one."
    )


def compared_rows(run: Run) -> list[tuple[str, str, str]]:
    """The same as a table: who guesses, the share that is right, and its interval."""
    found = run.compared
    if found is None:
        return []
    return [
        (who, shares(share.estimate), f"{shares(share.low)} to {shares(share.high)}")
        for who, share in (
            ("Comparing buckets", found.main),
            ("– the most confident fifth", found.confident),
            ("Baseline: the most common value of the bucket", found.baseline),
            ("– for the same fifth", found.confident_baseline),
            ("Control: comparing buckets, but about released rows, which are nobody's", found.control),
        )
    ]


def compared_title(run: Run) -> str:
    """How many guesses there were."""
    found = run.compared
    return "" if found is None else f"{found.guesses:,} guesses about {number(found.buckets, 'bucket')}"


def compared_facts(run: Run) -> dict[str, Any] | None:
    """The same for programs; None: nothing was measured."""
    return None if run.compared is None else asdict(run.compared)


def _share(share: Share) -> str:
    return f"{shares(share.estimate)} ({shares(share.low)} to {shares(share.high)})"
