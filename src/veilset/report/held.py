"""What is said of a release that an engine holds: the custodian's page, the facts, and the lines on a terminal.

Less is known than of a release in memory: what follows from counts of items and lengths, the audits before and after,
and what the method tells. The page names what is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from veilset.errors import in_python
from veilset.report.caveats import no_public_sentence
from veilset.report.custodian import MOST_FOLDED, MOST_SUPPRESSED, option_words, risks_of
from veilset.report.facts import audit_facts, plain, told_options
from veilset.report.items import attempt_rows, attempts_sentence
from veilset.report.pages import Figure, can_draw, length_figure, render, support_figure
from veilset.report.terminal import print_verdict
from veilset.report.terminal_parts import indented, title
from veilset.report.text import number, shares, shown
from veilset.report.words import Decision, removed_sentence, says_nothing, verdict, words_of
from veilset.run import HeldRun

_MOST_KEPT = 50
_FIRST = 12  # items that are named on a terminal
_CHOSEN = "chosen by the method; what it would break alone is not looked up on an engine"
_LEFT_OUT = (
    "which original row became which released row: nobody keeps the order in which an engine reads rows;",
    "what each limit of the promise costs, and what a milder one would;",
    "what a suppressed item would break if it returned, unless it is too rare by itself;",
    "which items any method would have to remove, and whose absence tells something;",
    "which frequent itemsets and rules were lost;",
    "which items look like identifiers, or like sensitive items.",
)


def held_custodian_report(run: HeldRun) -> str:
    """A self-contained HTML page about a release on an engine, for the custodian only."""
    release, before = run.release, run.before
    original, released = run.original, run.released
    support = dict(zip(original.names, original.supports.tolist(), strict=True))
    return render(
        "custodian_held.html",
        charts=can_draw(run.limits()),
        release=release,
        original=original,
        released=released,
        decision=decide_held(run),
        warnings=[*filter(None, (removed_sentence(release), no_public_sentence(release)))],
        open_ends=release.promise.open_ends(
            sensitive=bool(released.sensitive),
            merged=False,
            empty=release.audit is not None and release.audit.excludes_nothing,
        ),
        emptied=released.length_counts.get(0, 0) - original.length_counts.get(0, 0),
        risks=None if before is None else risks_of(before, merged=False, unknown=False),
        options=option_words(release.options),
        attempts=attempt_rows(release),
        suppressed=[(shown(name), support[name], why) for name, why in why_gone_held(run).items()],
        most_rows=MOST_SUPPRESSED,
        most_folded=MOST_FOLDED,
        kept=[(shown(name), count) for name, count in _kept(run, _MOST_KEPT)],
        supports=_supports(run),
        lengths=_lengths(run),
        read=_read(run),
        left_out=_LEFT_OUT,
    )


def held_facts(run: HeldRun) -> dict[str, Any]:
    """The facts about a release on an engine for programs: those of `release_facts` that are known."""
    release, decision = run.release, decide_held(run)
    why = why_gone_held(run)
    return {
        "verdict": decision.word,
        "sentence": decision.why,
        "engine": release.original.engine.told["engine"],
        "method": release.method,
        "options": {name: plain(value) for name, value in release.options.items() if name in told_options(release)},
        "promise": release.promise.name,
        "parameters": release.promise.parameters(),
        "transactions": len(run.released),
        "items": len(run.released.names),
        "sensitive": len(run.released.sensitive),
        "all_sensitive_removed": release.all_sensitive_removed,
        "all_public_removed": release.all_public_removed,
        "suppressed": {"count": len(why), "items": [*why], "why": why},
        "kept": {"count": len(run.released.names), "most_frequent": dict(_kept(run, 2 * _MOST_KEPT))},
        "loss": {"items_lost": {"value": release.loss, "meaning": "share of all item occurrences that were removed"}},
        "attempts": [{**vars(attempt)} for attempt in release.attempts],
        "seconds": release.seconds,
        "audit": None if release.audit is None else audit_facts(release.audit, merged=False),
    }


def print_held_release(run: HeldRun, console: Console, spell: Callable[..., str] = in_python) -> None:
    """What was at risk, what was changed, what it cost; then GO or NO-GO."""
    release, decision, before = run.release, decide_held(run), run.before
    told = Table.grid(padding=(0, 2))
    told.add_column(style="bold", no_wrap=True)
    told.add_column()
    if before is not None:
        told.add_row("At risk before", Text(verdict(before, merged=False)))
    gone = release.suppressed_by_support
    changed = f"{number(len(gone), 'item')} suppressed: {_first(gone)}" if gone else "nothing: no item was suppressed"
    told.add_row("Changed", Text(changed))
    kept = [f"{shown(name)} ({count:,})" for name, count in _kept(run, _FIRST)]
    all_kept = len(run.released.names)
    told.add_row(
        "Kept", Text(f"{number(all_kept, 'item')}, the most frequent first: {', '.join(kept)}" if kept else "no item")
    )
    told.add_row("Cost", Text(f"{shares(release.loss)} of all item occurrences removed"))
    if tried := attempts_sentence(release):
        told.add_row("Tried", Text(tried))
    title("Release", console)
    indented([told], console)
    besides = [*filter(None, (removed_sentence(release, spell), no_public_sentence(release)))]
    print_verdict(decision.word, decision.go and not decision.empty, decision.why, console, besides)


def decide_held(run: HeldRun) -> Decision:
    """Whether the release may go out, and the sentence that says why."""
    answer = run.release.audit
    if answer is None:
        return Decision(False, "This release has not been audited.")
    return Decision(run.release.certified, verdict(answer, merged=False), empty=says_nothing(answer))


def why_gone_held(run: HeldRun) -> dict[str, str]:
    """Why each suppressed item went, the most frequent first, as far as its own support tells."""
    words, known = words_of(run.promise), run.original
    support = dict(zip(known.names, known.supports.tolist(), strict=True))
    sensitive, floor = set(known.sensitive), run.promise.support_floor
    return {
        item: words.why_alone(support[item], sensitive=False)
        if item not in sensitive and support[item] < floor
        else _CHOSEN
        for item in run.release.suppressed_by_support
    }


def _kept(run: HeldRun, most: int) -> list[tuple[str, int]]:
    counted = zip(run.released.names, run.released.supports.tolist(), strict=True)
    return sorted(counted, key=lambda one: (-one[1], one[0]))[:most]


def _first(items: tuple[str, ...]) -> str:
    more = f" and {len(items) - _FIRST:,} more" if len(items) > _FIRST else ""
    return ", ".join(map(shown, items[:_FIRST])) + more


def _read(run: HeldRun) -> str:
    """Where the original came from."""
    origin, told = run.release.original.origin, run.release.original.engine.told
    what = repr(origin.path) if origin.path else "a frame, or made in memory: the recipe cannot read it again"
    return f"By the engine {told['engine']}: {what}."


def _supports(run: HeldRun) -> Figure | None:
    before, after = run.original, run.released
    says = f"{number(len(before.names), 'different item')} before, {len(after.names):,} after."
    series = {"before": before.supports, "after": after.supports}
    return support_figure(series, ["before", "main"], k=run.promise.support_floor, says=says)


def _lengths(run: HeldRun) -> Figure | None:
    before, after = (counts.occurrences / len(counts) for counts in (run.original, run.released))
    series = {"before": run.original.length_counts, "after": run.released.length_counts}
    says = f"{before:.1f} items on average before, {after:.1f} after."
    return length_figure(series, ["before", "main"], says=says)
