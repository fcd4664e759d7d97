"""The same facts for programs: plain dictionaries that `json.dumps` takes as they are.

What programs print ends up in logs. Of a release whose promise is itself the secret, only numbers are told; the seed of
chance never.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from veilset.anonymize import methods_of
from veilset.errors import in_python
from veilset.models import Audit, Leftover, Margin, Reach, Witness
from veilset.options import declared
from veilset.release import HeldRelease, Release
from veilset.report.binding import binding_facts, curve_facts
from veilset.report.caveats import caveats
from veilset.report.comparing import compared_facts
from veilset.report.hiding import ledger, taken_out
from veilset.report.items import kept_items, repair_of, why_gone
from veilset.report.mined import Mined, found_sentence, notes, sureness
from veilset.report.proxies import CAUTION, Suggested, proposed_items, proxies_sentence, proxy_sentence
from veilset.report.reading import reading_facts
from veilset.report.recoding import recoding_facts
from veilset.report.words import decide, verdict, words_of
from veilset.run import Run
from veilset.transactions import Transactions

_MOST_KEPT = 100
_PUBLIC_FIELDS = (  # of the facts about a release that hides patterns
    "verdict",
    "method",
    "options",
    "promise",
    "transactions",
    "items",
    "sensitive",
    "reading",
    "withheld",
    "sanitization",
    "loss",
    "attempts",
    "seconds",
)


def audit_facts(audit: Audit, *, merged: bool, unknown: bool = False) -> dict[str, Any]:
    """What an auditor found; shares both as exact text and as a number."""
    return {
        "promise": audit.promise.name,
        "parameters": audit.promise.parameters(),
        "state": words_of(audit.promise).state(audit),
        "holds": audit.holds,
        "feasible": audit.feasible,
        "sentence": verdict(audit, merged=merged, unknown=unknown),
        "transactions": audit.transactions,
        "checked": audit.checked,
        "found": audit.found,
        "complete": audit.complete,
        "found_by_size": list(audit.found_by_size),
        "witnesses": [_witness(witness) for witness in audit.witnesses],
        "margins": {name: _margin(margin) for name, margin in audit.margins.items()},
        "reach": None if audit.reach is None else _reach(audit.reach),
        "leftovers": [_leftover(left) for left in audit.leftovers],
        "excludes_nothing": audit.excludes_nothing,
        "not_promised": list(
            audit.promise.open_ends(
                sensitive=audit.has_sensitive, merged=merged, unknown=unknown, empty=audit.excludes_nothing
            )
        ),
    }


def release_facts(run: Run, spell: Callable[..., str] = in_python) -> dict[str, Any]:
    """What a method did, what it cost (and would, if a limit were eased), and whether the result may go out.

    Where the promise is the secret, neither it nor anything that leads to it is told, but how many things it lists, and
    how many of them were found in the original: all else is in the custodian's folder.
    """
    release, account = run.release, run.account
    decision = decide(release)
    merged, unknown = release.original.persons is not None, release.original.has_unknown
    facts = {
        "verdict": decision.word,
        "sentence": decision.why,
        "method": release.method,
        "options": {name: plain(value) for name, value in release.options.items() if name in told_options(release)},
        "promise": release.promise.name,
        "parameters": release.promise.parameters(),
        "transactions": len(release.custodian_data),
        "items": len(release.custodian_data.names),
        "sensitive": len(release.custodian_data.sensitive),
        "all_sensitive_removed": release.all_sensitive_removed,
        "all_public_removed": release.all_public_removed,
        "caveats": caveats(release),
        "reading": reading_facts(release.original, secret=release.promise.secret, spell=spell),
        "suppressed": {
            "count": len(release.suppressed),
            "items": list(release.suppressed_by_support),
            "why": why_gone(run),
            "reasons": {item: None if why is None else _witness(why) for item, why in run.reasons.items()},
        },
        "kept": {
            "count": len(release.custodian_data.names),
            "most_frequent": dict(kept_items(release, _MOST_KEPT)),
        },
        "repair": _repair(release),
        "undecided": list(release.undecided),
        "notes": list(release.notes),
        "twins": twin_facts(release.original),
        "generalized": dict(release.generalized),
        "recoding": recoding_facts(account),
        "withheld": len(release.withheld),
        "sanitization": _sanitization(release),
        "anatomy": _anatomy(release),
        "comparing_buckets": compared_facts(run),
        "unavoidable": None
        if account.unavoidable is None
        else {"count": len(account.unavoidable), "items": list(account.unavoidable_by_support)},
        "telling_by_absence": [{**vars(one), "confidence": _share(one.confidence)} for one in account.telling],
        "loss": {
            metric.name: {
                "value": account.values.get(metric.name),
                "meaning": metric.meaning,
                "better": metric.better,
            }
            for metric in account.metrics
        },
        "nugget_support": account.nugget_support,
        "loss_by_p": curve_facts(run.binding),
        "binding": binding_facts(run.binding),
        "attempts": [{**vars(attempt)} for attempt in release.attempts],
        "bound": None
        if release.bound is None
        else {**vars(release.bound), "proven": release.bound.proven, "gap": release.bound.gap},
        "seconds": release.seconds,
        "fidelity": None if run.fidelity is None else vars(run.fidelity),
        "kept_by_occurrences": run.by_occurrences,
        "discrepancy": release.discrepancy,
        "in_original": None
        if release.in_original is None
        else {
            "broken": release.in_original.broken,
            "counted": release.in_original.counted,
            "witnesses": [_witness(witness) for witness in release.in_original.witnesses],
        },
        "audit": None if release.audit is None else audit_facts(release.audit, merged=merged, unknown=unknown),
    }
    return _without_secrets(facts, run) if release.promise.secret else facts


def _repair(release: Release) -> dict[str, Any] | None:
    """What a repair has added to the changes of an earlier release; None: there was none."""
    repair = repair_of(release)
    if repair is None:
        return None
    return {
        "suppressed": list(repair.suppressed),
        "recoded": list(repair.recoded),
        "loss_before": repair.before,
        "loss": release.loss,
    }


def _without_secrets(facts: dict[str, Any], run: Run) -> dict[str, Any]:
    """What of these facts may stand in a log where the promise is the secret, and numbers instead of the rest."""
    release, before, became = run.release, run.before, ledger(run)
    what, listed = release.promise.listed, release.promise.secrets
    found = None if release.audit is None else release.audit.found
    decision = decide(release)
    told = found is None or decision.empty
    effects = run.side_effects
    standing = [effect.standing for effect in effects or () if effect.standing is not None]
    return {
        **{name: facts[name] for name in _PUBLIC_FIELDS},
        "sentence": decision.why if told else f"{found:,} of {listed:,} listed {what} found.",
        "suppressed": {"count": len(release.suppressed)},
        "twins": {"count": len(release.original.twins)},
        "hidden": {
            what: listed,
            "found_before": None if before is None else before.found,
            "found": found,
            "lost_patterns_to_keep": None if became is None else len(became.lost),
            "stand_out": None if effects is None else sum(one.stands_out for one in standing),
        },
    }


def told_options(release: Release | HeldRelease) -> set[str]:
    """The options that may stand in a log: no secret ones; where the promise is secret, only those that say nothing."""
    method = methods_of(release.promise).get(release.method)
    said = {} if method is None else {one.name: one.option for one in declared(method)}
    if release.promise.secret:
        return {name for name, option in said.items() if option.public}
    return {name for name in release.options if not (name in said and said[name].secret)}


def twin_facts(data: Transactions) -> dict[str, Any]:
    """The public items that resemble sensitive ones, the most frequent first."""
    return {"count": len(data.twins), "items": [twin._asdict() for twin in data.twins]}


def mined_facts(mined: Mined) -> dict[str, Any]:
    """What a search was for, how much it found, and what comes first of it."""
    asked, transactions = mined.asked, mined.transactions
    if asked.kind == "rare":
        question: dict[str, Any] = {"k": asked.k, "h": None if asked.h is None else _share(asked.h)}
    else:
        question = {"min_support": {"count": asked.min_support, "share": asked.min_support / transactions}}
    if asked.kind == "rules":
        question["min_confidence"] = _share(asked.min_confidence)
    answer: dict[str, Any] = {"found": mined.found}
    if asked.kind == "count":
        answer["per_item"] = dict(mined.per_item)
    else:
        answer["by_size"] = list(mined.by_size)
        answer["rules" if asked.kind == "rules" else "itemsets"] = [_mined(row, transactions) for row in mined.first]
    return {
        "kind": asked.kind,
        "transactions": transactions,
        **question,
        "min_size": asked.min_size,
        "max_size": asked.max_size,
        "sentence": found_sentence(mined),
        "notes": notes(mined),
        **answer,
    }


def proxy_facts(suggested: Suggested) -> dict[str, Any]:
    """Which public items give a sensitive one away, the most telling first."""
    found = suggested.proxies
    return {
        "transactions": len(suggested.data),
        "twins": twin_facts(suggested.data),
        "size": suggested.size,
        "min_support": suggested.min_support,
        "sentence": proxies_sentence(suggested),
        "caution": CAUTION,
        "counted": found.counted,
        "found": found.found,
        "proposed": list(proposed_items(found.first)),
        "proxies": [
            {
                "items": list(proxy.items),
                "sensitive": proxy.sensitive,
                "support": proxy.support,
                "antecedent_support": proxy.held,
                "confidence": _share(proxy.confidence),
                "share_of_all": _share(proxy.share),
                "lift": float(proxy.lift),
                "lower_bound": proxy.lower,
                "gain": proxy.gain,
                "sentence": proxy_sentence(proxy),
            }
            for proxy in found.first
        ],
    }


def _reach(reach: Reach) -> dict[str, Any]:
    return {"covered": _share(reach.covered), "p_for_90_percent": reach.p_for_90_percent, "p_for_all": reach.p_for_all}


def _mined(row: dict[str, Any], transactions: int) -> dict[str, Any]:
    facts = {**row, "share": row["support"] / transactions}
    for sure in {"breach", "confidence"} & row.keys():
        facts[sure] = _share(sureness(row, transactions))
    return facts


def _share(share: Fraction) -> dict[str, Any]:
    return {"exact": str(share), "value": float(share)}


def _witness(witness: Witness) -> dict[str, Any]:
    sure = witness.confidence
    return {
        "itemset": list(witness.itemset),
        "support": witness.support,
        "sensitive": witness.sensitive,
        "confidence": None if sure is None else _share(sure),
        "reason": witness.reason,
        **_place(witness),
    }


def _place(found: Witness | Margin) -> dict[str, Any]:
    """The bucket and the column, where there are any.

    No item is in two columns, so that the first one tells which it is; a column may have thousands.
    """
    if not found.column:
        return {}
    return {"bucket": found.bucket, "column": {"first": found.column[0], "items": len(found.column)}}


def _leftover(left: Leftover) -> dict[str, Any]:
    return {
        "itemset": list(left.itemset),
        "support": left.support,
        "antecedent_support": left.antecedent_support,
        "largest": [{"itemset": list(itemset), "support": support} for itemset, support in left.largest],
        "complete": left.complete,
    }


def _sanitization(release: Release) -> dict[str, Any] | None:
    """What was taken out to hide patterns, and how; None where nothing was to be hidden."""
    how, taken = release.sanitization, taken_out(release)
    if how is None:
        return None
    return {
        "taken_out": None if taken is None else vars(taken),
        "by_matrix": how.by_matrix,
        "by_victims": how.by_victims,
        "put_back": how.put_back,
        "p_r": None if how.p_r is None else _share(how.p_r),
        "keep_patterns": len(how.keep_patterns),
        "matrix": {
            "negative": int((how.matrix.data < 0).sum()),
            "positive": int((how.matrix.data > 0).sum()) - how.matrix.shape[0],
        },
    }


def _anatomy(release: Release) -> dict[str, Any] | None:
    """The columns and buckets, and how they came about; None where transactions were not cut."""
    how, anatomy = release.partition, release.custodian_data.anatomy
    if how is None or anatomy is None:
        return None
    sizes = anatomy.sizes
    return {
        "columns_requested": how.wished,
        "columns": [list(column) for column in anatomy.columns],
        "merges": [
            {
                "column": list(merge.column),
                "other": list(merge.other),
                "probability": _share(merge.probability),
                "reached": _share(merge.reached),
            }
            for merge in how.merges
        ],
        "buckets": anatomy.count,
        "bucket_sizes": {"smallest": int(sizes.min()), "median": float(np.median(sizes)), "largest": int(sizes.max())}
        if len(sizes)
        else None,
        "left_over": how.left_over,
        "joined": how.joined,
    }


def _margin(margin: Margin) -> dict[str, Any]:
    value = margin.value if isinstance(margin.value, int) else float(margin.value)
    return {
        "exact": str(margin.value),
        "value": value,
        "is_extreme": margin.is_extreme,
        "itemset": list(margin.itemset),
        "sensitive": margin.sensitive,
        **_place(margin),
    }


def plain(value: object) -> object:
    """An option of a method, as JSON can hold it."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    return repr(value)
