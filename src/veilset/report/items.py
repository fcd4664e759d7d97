"""What became of the items: why some are gone, which are left, and which strategies were tried for that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from veilset.models import Witness
from veilset.release import Attempt, HeldRelease, Release, by_support
from veilset.report.text import number, shares, shown
from veilset.report.words import WEIGHT, words_of
from veilset.run import Run

_MOST_REASONS = 5
_MOST_KEPT = 12
_NOWHERE = "no transactions were found in which it could be restored, with all others as they are"


def why_gone(run: Run) -> dict[str, str]:
    """Why each suppressed item went, the most frequent first: what would break if it returned alone."""
    release, words = run.release, words_of(run.release.promise)
    alone, sensitive = set(run.account.unavoidable or ()), set(release.original.sensitive)
    support = dict(zip(release.original.names, release.original.supports.tolist(), strict=True))
    chosen_by = _chosen_by(release)
    why = {}
    for item in release.suppressed_by_support:
        remark = chosen_by.get(item, "")
        if item in run.reasons:
            why[item] = _returning(run, item, run.reasons[item], remark)
        elif item in alone:
            why[item] = words.why_alone(support[item], sensitive=item in sensitive)
        elif release.thinned:
            why[item] = _NOWHERE
        else:
            why[item] = remark or words.none_explained
    return why


def _returning(run: Run, item: str, witness: Witness | None, remark: str) -> str:
    if witness is not None:
        return words_of(run.release.promise).why_gone(item, witness)
    return f"could be restored alone{remark and f'; {remark}'}"


def _chosen_by(release: Release) -> dict[str, str]:
    """Items that went for another reason than what they break, with that reason."""
    known = release.options.get("known")  # what somebody had in mind who decided changes that are given
    new = set(release.suppressed).difference(known) if isinstance(known, tuple) else set()
    earlier = _given(release) if release.method == "replay" else ()
    remarks = dict.fromkeys(earlier, "suppressed as in the earlier release")
    remarks |= dict.fromkeys(new.intersection(earlier), "not known in the earlier release")
    return remarks | dict.fromkeys(release.undecided, "removed because the check exceeded its work limit")


@dataclass(frozen=True)
class Repair:
    """What was changed beyond the earlier release.

    *suppressed* and *recoded* are the items that this concerns, the most frequent first; *before* is the share of all
    occurrences that the earlier changes alone would have lost.
    """

    suppressed: tuple[str, ...]
    recoded: tuple[str, ...]
    before: float


def repair_of(release: Release) -> Repair | None:
    """What a repair has added to the changes that were given; None: there was none."""
    if not (release.method == "replay" and release.options.get("repair")):
        return None
    given, original = _given(release), release.original
    earlier = _mapping(release.options.get("generalized"))
    lost = int(original.supports[original.codes(given)].sum())
    coarser = [item for item, name in release.generalized.items() if earlier.get(item) != name]
    return Repair(
        by_support(original, set(release.suppressed) - given),
        by_support(original, coarser),
        lost / max(1, len(original.items)),
    )


def _given(release: Release) -> set[str]:
    """The items that were to be suppressed before anything was repaired."""
    options, occur = release.options, set(release.original.names)
    given, known = options.get("suppressed"), options.get("known")
    gone = occur.intersection(given if isinstance(given, tuple) else ())
    if options.get("unknown") == "suppress" and isinstance(known, tuple):
        gone |= occur.difference(known)
    return gone


def _mapping(value: object) -> Mapping[str, str]:
    return value if isinstance(value, Mapping) else {}


def repair_sentence(release: Release) -> str:
    """What a repair has added to the earlier changes, and to the loss; empty if there was none."""
    repair = repair_of(release)
    if repair is None:
        return ""
    added = []
    for what, items in (("", repair.suppressed), (" under a coarser name", repair.recoded)):
        if items:
            added.append(f"{number(len(items), 'item')} more than in the earlier release{what}: {_listed(items)}")
    loss = f"loss {shares(repair.before)} → {shares(release.loss)}"
    return f"{'; '.join([*added, loss])}" if added else "nothing beyond the earlier release had to be removed"


def _listed(items: Sequence[str]) -> str:
    more = f" and {len(items) - _MOST_KEPT:,} more" if len(items) > _MOST_KEPT else ""
    return ", ".join(map(shown, items[:_MOST_KEPT])) + more


def reasons_sentence(run: Run) -> str:
    """Why the most frequent suppressed items went, without those that had to go whatever else does; may be empty."""
    alone, why = set(run.account.unavoidable or ()), why_gone(run)
    first = [item for item in run.reasons if item not in alone][:_MOST_REASONS]
    return "; ".join(f"{shown(item)}: {why[item]}" for item in first)


def kept_items(release: Release, most: int) -> list[tuple[str, int]]:
    """The items of the release with their numbers of transactions, the most frequent first."""
    data = release.custodian_data
    support = dict(zip(data.names, data.supports.tolist(), strict=True))
    return [(item, support[item]) for item in release.kept_by_support[:most]]


def kept_sentence(release: Release) -> str:
    """What survives, the most frequent first; empty if nothing does."""
    kept = len(release.custodian_data.names)
    if not kept:
        return ""
    listed = [f"{shown(item)} ({support:,})" for item, support in kept_items(release, _MOST_KEPT)]
    more = f" and {kept - len(listed):,} more" if kept > len(listed) else ""
    return f"{number(kept, 'item')}, the most frequent first: {', '.join(listed)}{more}"


def attempts_sentence(release: Release | HeldRelease) -> str:
    """What each strategy that was tried lost, the chosen one first; empty if there was only one."""
    if len(release.attempts) < 2:
        return ""
    weighed = any(release.options.get(name) for name in ("weights", WEIGHT))
    rows = (f"{name}{loss and f' {loss}'} ({state})" for name, loss, state, _ in attempt_rows(release))
    return ", ".join(rows) + "; weights decided" * weighed


def attempt_rows(release: Release | HeldRelease) -> list[tuple[str, str, str, str]]:
    """Each strategy: its name, what it lost, whether its result is the release or why not, and its seconds."""
    chosen = next((one for one in release.attempts if one.won), None)
    best_first = sorted(release.attempts, key=lambda one: (not one.won, one.loss is None, one.loss))
    return [
        (one.name, "" if one.loss is None else shares(one.loss), _state(one, chosen), f"{one.seconds:.1f}")
        for one in best_first
    ]


def _state(attempt: Attempt, chosen: Attempt | None) -> str:
    """What became of a strategy, with its note."""
    state: str = attempt.state
    least = None if chosen is None else chosen.loss
    if state == "not chosen" and attempt.loss is not None and least is not None and attempt.loss >= least:
        state = "more loss" if attempt.loss > least else "same loss"
    return f"{state}: {attempt.note.rstrip('.')}" if attempt.note else state
