"""The report that stays at home: what was at risk, what was changed and what it cost."""

from __future__ import annotations

from collections.abc import Mapping

from veilset.errors import in_python, spelled
from veilset.exact import percent
from veilset.models import Audit
from veilset.release import ColumnMerge, Release
from veilset.report.anatomy import cut_sentence, how_it_was_cut
from veilset.report.binding import binding_lines, binding_title
from veilset.report.caveats import doubt_sentence, no_public_sentence
from veilset.report.comparing import compared_rows, compared_sentence, compared_title
from veilset.report.fidelity import fidelity_sentence, occurrences_sentence
from veilset.report.hiding import how_it_was_hidden, ledger, matrix_figure, standing_sentences, taken_sentence
from veilset.report.items import attempt_rows, kept_items, repair_sentence, why_gone
from veilset.report.pages import (
    Figure,
    can_draw,
    curve_figure,
    length_figure,
    render,
    support_figure,
    violations_figure,
)
from veilset.report.reading import reading_notes
from veilset.report.recoding import recoding_sentence
from veilset.report.text import NUMBERS, ROUNDED_UP, braced, number, rounded_up, shares, shown
from veilset.report.words import (
    Words,
    bound_sentence,
    decide,
    in_original_sentence,
    one_person,
    removed_sentence,
    undecided_sentence,
    verdict,
    violations_by_size,
    words_of,
)
from veilset.run import Run
from veilset.utility import UTILITIES, Account, Metric

_MOST_RISKS = 10
_MOST_MERGES = 50
MOST_SUPPRESSED = 20  # more are folded away
_MOST_KEPT = 50
MOST_FOLDED = 500  # more are left to edits.csv, which opens faster than such a page


def custodian_report(run: Run) -> str:
    """A self-contained HTML page about a run, for the custodian only.

    Where its limits leave too little memory, the page has no charts.
    """
    release, account, before, limits = run.release, run.account, run.before, run.limits()
    words = words_of(release.promise)
    original = release.original
    merged, unknown = original.persons is not None, original.has_unknown
    support = dict(zip(original.names, original.supports.tolist(), strict=True))
    return render(
        "custodian.html",
        charts=can_draw(limits),
        release=release,
        decision=decide(release),
        warnings=[
            *filter(
                None,
                (
                    removed_sentence(release),
                    no_public_sentence(release),
                    doubt_sentence(release),
                    in_original_sentence(release) if release.truthful else "",  # else the decision says it
                ),
            )
        ],
        open_ends=release.promise.open_ends(
            sensitive=bool(release.custodian_data.sensitive),
            merged=merged,
            unknown=unknown,
            empty=release.audit is not None and release.audit.excludes_nothing,
            coarser=bool(release.stands_for),
            listed_from=release.listed_from if release.generalized else 0,
            thinned=release.thinned,
            broken_in_original=None if release.in_original is None else release.in_original.broken,
        ),
        recoded=recoding_sentence(account),
        person=one_person(original) if release.promise.about_people or original.persons is not None else "",
        reading_notes=reading_notes(original),
        options=option_words(release.options),
        taken=taken_sentence(release),
        cut=words.cut(release.custodian_data, limits),
        cut_says=cut_sentence(release),
        compared=compared_sentence(run),
        compared_title=compared_title(run),
        compared_rows=compared_rows(run),
        steps=[*how_it_was_hidden(release), *how_it_was_cut(release)],
        matrix=matrix_figure(release),
        ledger=ledger(run),
        standing=standing_sentences(run),
        hides=account.hides,
        undecided=undecided_sentence(release),
        fidelity=fidelity_sentence(run),
        another_way=spelled(occurrences_sentence(run), in_python),
        bound="" if release.bound is None else bound_sentence(release.bound),
        curve=curve_figure(run.binding) if run.binding.curve else None,
        binding_title=binding_title(run),
        binding=binding_lines(run),
        attempts=attempt_rows(release),
        suppressed=[(shown(name), support[name], why) for name, why in why_gone(run).items()],
        telling=[
            (shown(one.item), one.support, one.rank, f"{shown(one.sensitive)}, {percent(one.confidence)}")
            for one in account.telling
        ],
        repaired=repair_sentence(release),
        kept=[(shown(name), count) for name, count in kept_items(release, _MOST_KEPT)],
        renamed=[(shown(old), shown(new)) for old, new in release.generalized.items()],
        merges=[_merge(merge) for merge in release.partition.merges] if release.partition else [],
        most_rows=MOST_SUPPRESSED,
        most_merges=_MOST_MERGES,
        most_folded=MOST_FOLDED,
        account=account,
        costs=[
            (metric.meaning, value, "–" if metric.better == "neither" else metric.better)
            for metric, value in cost_rows(account)
        ],
        decisive=len(_decisive(account)),
        might_stay=words.may_be_recoded and bool(release.generalized),
        supports=_supports(release, words),
        lengths=_lengths(release),
        before=before,
        risks=None if before is None else risks_of(before, merged=merged, unknown=unknown),
    )


def option_words(options: Mapping[str, object]) -> str:
    """The options of a method that say something, in short."""
    return ", ".join(
        f"{name}={_option(name, value)}"
        for name, value in options.items()
        if name != "chosen" and (value or not isinstance(value, (Mapping, tuple, type(None))))
    )


def _option(name: str, value: object) -> str:
    if isinstance(value, Mapping):
        return number(len(value), "item")
    if isinstance(value, tuple):
        lists = "column" if name == "columns" else "pattern"
        return number(len(value), lists if value and isinstance(value[0], tuple) else "item")
    return str(value)


def _merge(merge: ColumnMerge) -> tuple[str, ...]:
    return braced(merge.column), braced(merge.other), shares(float(merge.probability)), shares(float(merge.reached))


def cost_rows(account: Account) -> list[tuple[Metric, str]]:
    """Each metric with its value, those that decide first; without those that can say nothing new here."""
    mixed = account.promise.edits == "buckets"
    told = [metric for metric in account.metrics if not (mixed and metric.about_deletion)]
    first = _decisive(account)
    told.sort(key=lambda metric: first.index(metric.name) if metric.name in first else len(first))
    return [(metric, _measured(account.values.get(metric.name), metric)) for metric in told]


def _decisive(account: Account) -> list[str]:
    """The five numbers that decide; where items got coarser names, what that costs is among them."""
    coarser = ["items_recoded", "average_loss", "items_lost", "nuggets_kept_or_coarser", "top_rules_kept_or_coarser"]
    recoded = coarser if account.release.generalized else []
    there = {metric.name for metric in account.metrics}
    named = dict.fromkeys([*recoded, *UTILITIES.of(account.promise).decisive])
    return [name for name in named if name in there][:5]


def _measured(value: float | None, metric: Metric) -> str:
    if value is None:
        return "not counted: over the time or memory limit"
    if metric.highest == 1 or metric.relative:
        return shares(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"


def _supports(release: Release, words: Words) -> Figure | None:
    before, after = release.original, release.custodian_data
    rare = f"; {rare}" if (rare := words.rare(before)) else ""
    says = f"{number(len(before.names), 'different item')} before, {len(after.names):,} after{rare}."
    series = {"before": before.supports, "after": after.supports}
    return support_figure(series, ["before", "main"], k=release.promise.support_floor, says=says)


def _lengths(release: Release) -> Figure | None:
    before, after = release.original, release.custodian_data
    if not len(before):
        return None
    says = f"{len(before.items) / len(before):.1f} items on average before"
    if len(after):
        says += f", {len(after.items) / len(after):.1f} after"
    series = {"before": before.length_counts, "after": after.length_counts}
    return length_figure(series, ["before", "main"], says=f"{says}.")


def risks_of(before: Audit, *, merged: bool, unknown: bool) -> dict[str, object]:
    """What the page says of the audit of the original."""
    words = words_of(before.promise)
    listed = words.worth_listing(before, _MOST_RISKS)
    return {
        "state": words.state(before),
        "verdict": verdict(before, merged=merged, unknown=unknown),
        "columns": [(head, "n" if head in NUMBERS else "") for head in (*words.heads, "Over the limit")],
        "rows": [(*words.row(risk, before), _times(float(words.over(risk, before)))) for risk in listed],
        "more": words.more(before, len(listed)),
        "rounding": ROUNDED_UP if any(risk.confidence and rounded_up(risk.confidence) for risk in listed) else "",
        "by_size": violations_figure(before.found_by_size, says=says) if (says := violations_by_size(before)) else None,
    }


def _times(over: float) -> str:
    return f"{over:,.2f}×" if over < 10 else f"{over:,.0f}×"
