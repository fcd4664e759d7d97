"""The same on a terminal, by rich. Names go in as `Text`, so that nothing in them is taken for markup."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from veilset.errors import in_python, spelled
from veilset.exact import percent
from veilset.models import Audit
from veilset.release import Release
from veilset.report.anatomy import bucket_sentence, cut_sentence, merge_sentence
from veilset.report.binding import binding_lines, binding_title, curve_sentence, curve_title
from veilset.report.caveats import caveats, no_public_sentence
from veilset.report.comparing import compared_sentence
from veilset.report.fidelity import fidelity_sentence, occurrences_sentence
from veilset.report.hiding import p_r_reached, standing_sentences, taken_sentence
from veilset.report.items import attempts_sentence, kept_sentence, reasons_sentence, repair_sentence
from veilset.report.reading import reading_notes
from veilset.report.recoding import recoding_sentence
from veilset.report.terminal_parts import indented, item_names, new_table, title
from veilset.report.text import ROUNDED_UP, number, shares, shown
from veilset.report.words import (
    bound_sentence,
    counted_sentence,
    decide,
    in_original_sentence,
    limits_met,
    one_person,
    perhaps_worse,
    removed_sentence,
    says_nothing,
    tells_shares,
    undecided_sentence,
    verdict,
    violations_by_size,
    words_of,
)
from veilset.run import Run
from veilset.transactions import Transactions
from veilset.utility import Account
from veilset.utility.rules import CONFIDENCE, SIZE

_MOST_NAMES = 12
_MOST_MERGES = 3


def print_reading(data: Transactions, console: Console, spell: Callable[..., str] = in_python) -> None:
    """How the file was read: what it was taken to be, its first three transactions, and how much there is.

    *spell* says how a note writes an option."""
    title("How the data was read", console)
    source = data.source
    lines = [Text(f"{shown(source.name)}: {source.describe()}" if source else "made in memory")]
    lines += [Text(f"note: {note}", style="yellow") for note in reading_notes(data, spell)]
    lines.append(Text(one_person(data)))
    sensitive = set(data.sensitive)
    lines += [_transaction(row, data[row], sensitive) for row in range(min(3, len(data)))]
    marked = " (marked *)" if sensitive else ""
    lines.append(
        Text(
            f"{number(len(data), 'transaction')}, {number(len(data.names), 'different item')}, "
            f"{len(sensitive):,} of them sensitive{marked}"
        )
    )
    if cut := bucket_sentence(data):
        lines.append(Text(cut))
    indented(lines, console)


def _transaction(row: int, items: Sequence[str], sensitive: Collection[str]) -> Text:
    return Text.assemble((f"{row + 1}: ", "dim"), item_names(items, sensitive, ", ") if items else ("(empty)", "dim"))


def print_audit(audit: Audit, console: Console, *, merged: bool, unknown: bool = False) -> None:
    """The verdict, the most severe reasons against it, and how close to the limits the data comes."""
    title("Audit", console)
    print_verdict(
        words_of(audit.promise).state(audit),
        audit.holds and not says_nothing(audit),
        verdict(audit, merged=merged, unknown=unknown),
        console,
    )
    if audit.witnesses:
        _witnesses(audit, console)
    below = [
        violations_by_size(audit),
        "" if audit.reach is None else words_of(audit.promise).reach(audit.reach),
        counted_sentence(audit),
    ]
    indented([Text(line, style="dim") for line in below if line], console)
    if audit.margins:
        _margins(audit, console)


def _witnesses(audit: Audit, console: Console) -> None:
    words = words_of(audit.promise)
    table = new_table(*words.heads)
    listed = words.worth_listing(audit, len(audit.witnesses))
    for risk in listed:
        table.add_row(*map(Text, words.row(risk, audit)))
    indented([table, *([Text(more)] if (more := words.more(audit, len(listed))) else [])], console)


def _margins(audit: Audit, console: Console) -> None:
    table = new_table("Closest to the limits", "In this file", "Allowed", "Where")
    for limit in limits_met(audit):
        table.add_row(limit.what, limit.met, limit.allowed, Text(limit.where))
    below = [perhaps_worse(audit), ROUNDED_UP if tells_shares(audit) else ""]
    indented([table, *(Text(line, style="dim") for line in below if line)], console)


def print_release(run: Run, console: Console, spell: Callable[..., str] = in_python) -> None:
    """What was at risk, what had to go, what was changed, what it cost; then GO or NO-GO. *spell* writes options."""
    release, account, before = run.release, run.account, run.before
    decision = decide(release)
    told = Table.grid(padding=(0, 2))
    told.add_column(style="bold", no_wrap=True)
    told.add_column()
    if before is not None:
        merged, unknown = release.original.persons is not None, release.original.has_unknown
        told.add_row("At risk before", Text(verdict(before, merged=merged, unknown=unknown)))
    words = words_of(release.promise)
    might_stay = words.may_be_recoded and release.generalized
    if words.none_alone or account.unavoidable:
        told.add_row(
            "Unavoidable", Text(_unavoidable(account, words.none_alone, "remove or recode" if might_stay else "remove"))
        )
    told.add_row("Changed", Text(_changed(release)))
    if release.promise.edits == "items":
        if repaired := repair_sentence(release):
            told.add_row("Repaired", Text(repaired))
        if why := reasons_sentence(run):
            told.add_row("Why", Text(why))
        told.add_row("Kept", Text(kept_sentence(release) or "no item"))
    told.add_row("Cost", Text(_lost(account) if release.partition is None else _parted(account)))
    further = {
        "Columns merged": _merged(release),
        "Attacked": compared_sentence(run, spell),
        "Standing out": " ".join(standing_sentences(run)),
        "p_r": p_r_reached(release),
        "Notes": " ".join(release.notes),
        "Not proven": undecided_sentence(release),
        "In the original": in_original_sentence(release) if release.truthful else "",  # else the decision says it
        "Fidelity": fidelity_sentence(run),
        "Another way": spelled(occurrences_sentence(run), spell),
        "Strategies": attempts_sentence(release),
        "Optimality": "" if release.bound is None else bound_sentence(release.bound),
        curve_title(run.binding): curve_sentence(run.binding.curve),
        binding_title(run): "\n".join(binding_lines(run)),
    }
    for head, sentence in further.items():
        if sentence:
            told.add_row(head, Text(sentence))
    title("Release", console)
    recoded, removed = recoding_sentence(account), [removed_sentence(release, spell), no_public_sentence(release)]
    first = [*([Text(recoded)] if recoded else []), *(Text(one, style="yellow") for one in removed if one)]
    indented([*first, told], console)
    print_verdict(decision.word, decision.go and not decision.empty, decision.why, console, caveats(release))


def _unavoidable(account: Account, why_none: str, what_to_do: str) -> str:
    items = account.unavoidable
    if items is None:
        return "no choice of items makes the original keep this promise"
    if not items and (least := account.values.get("floor")):
        return f"{shares(least)} average loss: sensitive items that imply each other too strongly cannot all be kept"
    if not items:
        return f"nothing: {why_none}"
    lost = account.values["items_lost_unavoidably"]
    what = f"{number(len(items), 'item')} that any method has to {what_to_do} ({shares(lost)} of all occurrences)"
    return f"{what}: {_names(account.unavoidable_by_support)}"


def _changed(release: Release) -> str:
    done = [done for done in (taken_sentence(release), cut_sentence(release)) if done]
    if release.suppressed:
        hidden = set(release.original.sensitive).intersection(release.suppressed)
        of_them = f", {len(hidden):,} of them sensitive" if hidden else ""
        done.append(
            f"{number(len(release.suppressed), 'item')} suppressed{of_them}: {_names(release.suppressed_by_support)}"
        )
    if release.generalized:
        done.append(f"{number(len(release.generalized), 'item')} with a coarser name")
    if release.withheld:
        done.append(f"{number(len(release.withheld), 'transaction')} withheld")
    return f"{'; '.join(done) or 'nothing'} (method {release.method}, {release.seconds:.1f} s)"


def _merged(release: Release) -> str:
    """Why columns became one; empty if none did."""
    merges = () if release.partition is None else release.partition.merges
    more = [f"{len(merges) - _MOST_MERGES:,} more"] if len(merges) > _MOST_MERGES else []
    return "; ".join([*map(merge_sentence, merges[:_MOST_MERGES]), *more])


def _parted(account: Account) -> str:
    """What is lost where nothing is gone."""
    lost = f"{_withheld(account)}; within a bucket, the link between values of different columns is lost"
    rules = account.values.get("rules_before")
    if not rules:
        return f"{lost}; there are no rules to lose" if rules == 0 else lost
    held = number(account.nugget_support, "transaction")
    kind = f"of at most {SIZE} items, confidence at least {percent(CONFIDENCE)}, in {held} or more"
    found = (
        f"{shares(account.values['accuracy_ratio'])} are found in the released lines and "
        f"{shares(account.values['expected_accuracy_ratio'])} by expected supports"
    )
    return f"{lost}; of {number(int(rules), 'rule')} of the original ({kind}) {found}"


def _withheld(account: Account) -> str:
    """What went with transactions that are not released."""
    if not account.release.withheld:
        return "no item was removed"
    secret = f" and {shares(1 - kept)} of the sensitive ones" if (kept := account.values["sensitive_kept"]) < 1 else ""
    lost = shares(account.values["items_lost"])
    return f"{lost} of all item occurrences{secret} are in withheld transactions"


def _lost(account: Account) -> str:
    values, release = account.values, account.release
    nuggets = values.get("nuggets_lost")
    often = f"itemsets in {number(account.nugget_support, 'transaction')} or more"
    gone = [
        f"{shares(values['items_lost'])} of all item occurrences",
        f"{shares(values['kinds_lost'])} of the different items",
        *([] if nuggets is None or release.generalized else [f"{shares(nuggets)} of the {often}"]),
    ]
    lost = values.get("hiding_wrongness")
    patterns = "" if lost is None else f"; {shares(lost)} of the patterns to keep are lost"
    kept = f"; {shares(values['sensitive_kept'])} of sensitive occurrences kept" if release.original.sensitive else ""
    emptied = number(int(values["transactions_emptied"]), "transaction")
    return (
        f"{', '.join(gone[:-1])} and {gone[-1]} were lost{patterns}{kept}; {emptied} emptied; "
        f"{values['length_before']:.1f} items per transaction before, {values['length_after']:.1f} after"
    )


def _names(items: tuple[str, ...]) -> str:
    more = f" and {len(items) - _MOST_NAMES:,} more" if len(items) > _MOST_NAMES else ""
    return ", ".join(map(shown, items[:_MOST_NAMES])) + more


def print_verdict(word: str, good: bool, sentence: str, console: Console, besides: Sequence[str] = ()) -> None:
    """An answer in colour, with what has to be known besides."""
    colour = "green" if good else "red"
    line = Text(word, style=f"bold {colour}") + Text(f"  {sentence}", style="not bold default")
    indented([line, *(Text(caveat, style="yellow") for caveat in besides)], console)
