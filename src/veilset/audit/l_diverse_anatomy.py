"""The auditor of l-diverse anatomies.

Counts, in every bucket and column, how many transactions have the most common value, item or nothing, and how many have
a sensitive item (``native/audit/anatomy.cpp``); `anatomy_nothing` says what it means for these that nobody's
transaction is empty. Then it lets an attacker guess (`anatomy_attacker`), and tells how sure an item of a sensitive
column is to who knows others of the same column, which is not promised.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.audit.anatomy_attacker import surest_guess
from veilset.audit.anatomy_cut import Cut, Profiles
from veilset.audit.anatomy_findings import findings, rounded
from veilset.audit.anatomy_nothing import nothing_at_most
from veilset.audit.findings import item_names, shortened
from veilset.audit.rho_uncertainty import rules_found, surest
from veilset.exact import percent
from veilset.limits import Limits, OutOfWork
from veilset.models import Audit, LDiverseAnatomy, Margin, Witness
from veilset.transactions import Transactions

_WORK = 1_000_000_000
"""Steps for what is only reported: a second. No clock counts them: the public page must be the same anywhere."""


def audit_l_diverse_anatomy(data: Transactions, promise: LDiverseAnatomy, *, witnesses: int, limits: Limits) -> Audit:
    """Whether *data* is an l-diverse anatomy, with the buckets and columns where it is not.

    Columns that hold sensitive and public items come first, then empty transactions; then each bucket and column in
    which something is too probable, the most probable first. Margins, in millionths rounded up where they are finer
    fractions: ``largest_probability`` of a value of a public column, ``largest_item_share`` of an item of one,
    ``largest_sensitive_share`` of having any sensitive item, and ``surest_guess`` of the attacker. If single items are
    limited, ``unlimited_items`` are those too common for that: fewer than l times the mean length. Where there are
    sensitive items, ``surest_within_column`` is how likely one of them is if others of its column are known. That one
    is left out where it would take long, on any machine and within any limits.
    """
    cut = Cut.of(data, promise)
    profiles = Profiles.counted(data, cut, limits)
    bound = 1 / promise.l
    limited = _limited_items(data, cut, profiles, promise)
    found, empty, listed, value, item, sensitive = _counted(data, cut, profiles, limited, bound, witnesses, limits)
    wrong = [] if cut.whole else [*_mixed_columns(data, cut), *_empty_transactions(empty)]
    found += len(wrong)
    wrong += [finding.witness(bound) for finding in findings(data, cut, listed)]
    margins = {
        name: finding.margin(bound)
        for name, largest in [
            ("largest_probability", value),
            *([] if cut.whole else [("largest_item_share", item), ("largest_sensitive_share", sensitive)]),
        ]
        for finding in findings(data, cut, largest)  # one, if there is any
    }
    if promise.items and not cut.whole and (common := _public(data, ~limited)):
        margins["unlimited_items"] = Margin(len(common), common)
    guess = None if empty else surest_guess(data, cut, profiles, limits=limits)
    if guess:
        if guess.value > bound and not found:  # no mixture is above all its parts: one of the two has miscounted
            wrong, found = [_guessed(guess)], 1
        margins["surest_guess"] = Margin(
            rounded(Fraction(guess.value), bound), guess.itemset, guess.sensitive, column=guess.column
        )
    if not cut.whole and (within := _surest_within_column(data, cut, limits)):
        margins["surest_within_column"] = within
    return Audit(
        promise=promise,
        holds=found == 0,
        witnesses=tuple(wrong[:witnesses]),
        found=found,
        found_by_size=(),
        margins=margins,
        checked=cut.buckets * len(cut.columns),
        feasible=True,
        transactions=len(data),
        counted="groups of values",
        has_sensitive=bool(data.sensitive),
    )


def _counted(
    data: Transactions,
    cut: Cut,
    profiles: Profiles,
    limited: npt.NDArray[np.bool_],
    bound: Fraction,
    witnesses: int,
    limits: Limits,
) -> _native.audit._AnatomyResult:
    above, below = nothing_at_most(profiles, cut, bound, limits)
    with limits.guard("The audit", "look at fewer transactions."):
        return _native.audit.anatomy(
            data.offsets,
            data.items,
            cut.starts,
            cut.column_of,
            cut.rules,
            limited.astype(np.uint8),
            _native.audit.Nothing(profile_of=profiles.of, offsets=profiles.offsets, above=above, below=below),
            l_num=bound.denominator,
            l_den=bound.numerator,
            witness_limit=witnesses,
            threads=limits.thread_count,
            **limits.for_kernel(lambda _: "Counting values in buckets"),
        )


def _limited_items(data: Transactions, cut: Cut, profiles: Profiles, promise: LDiverseAnatomy) -> npt.NDArray[np.bool_]:
    """Of each item, whether it is limited by itself: if in all of the data, its share is within the bound."""
    if not promise.items or cut.whole:
        return np.zeros(len(data.names), dtype=np.bool_)
    among = profiles.totals[cut.column_of]
    within: npt.NDArray[np.bool_] = data.supports * promise.l.numerator <= among * promise.l.denominator
    return within


def _public(data: Transactions, chosen: npt.NDArray[np.bool_]) -> tuple[str, ...]:
    """The public items among the chosen ones."""
    secret = set(data.sensitive)
    return tuple(name for name in item_names(data, np.flatnonzero(chosen).tolist()) if name not in secret)


def _mixed_columns(data: Transactions, cut: Cut) -> Iterator[Witness]:
    secret = set(data.sensitive)
    for column in cut.columns:
        if (inside := data.in_order(secret.intersection(column))) and len(inside) < len(column):
            support = int(data.supports[data.codes(inside[:1])[0]])
            reason = f"it is sensitive, and its column {shortened(column)} has public items, too"
            yield Witness(inside[:1], support, inside[0], None, reason, column=column)


def _empty_transactions(empty: int) -> Iterator[Witness]:
    if empty:
        these = "1 transaction is empty" if empty == 1 else f"{empty:,} transactions are empty"
        yield Witness((), empty, None, None, f"{these}, and an anatomy must have none")


def _guessed(guess: Margin) -> Witness:
    sure = Fraction(guess.value)
    reason = f"who knows other columns guesses this of {shortened(guess.column)} with {percent(sure)} certainty"
    return Witness(guess.itemset, 0, guess.sensitive, sure, reason, column=guess.column)


def _surest_within_column(data: Transactions, cut: Cut, limits: Limits) -> Margin | None:
    """The largest Pr(s | X) for a sensitive item s and any other items X of its column; None: it is not known."""
    surest = None
    secret = set(data.sensitive)
    try:
        for column in cut.columns:
            if secret.isdisjoint(column):
                continue
            sure = _surest_rule(data.only(column), limits)
            if surest is None or sure.value > surest.value:
                surest = replace(sure, column=column)
    except OutOfWork:
        return None  # nothing is promised about it, so nothing depends on it
    return surest


def _surest_rule(data: Transactions, limits: Limits) -> Margin:
    bounds = limits.for_kernel(lambda _: "Looking at sensitive columns")
    found = rules_found(data, Fraction(1), 1, bounds, limits, work_limit=_WORK)
    if (margin := surest(data, found)) is not None:
        return margin
    sensitive, known = found["witness_sensitive"].tolist()[0], found["witness_items"].tolist()  # it is certain
    return Margin(Fraction(1), item_names(data, known), data.names[sensitive])
