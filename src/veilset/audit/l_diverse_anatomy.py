"""The auditor of l-diverse anatomies.

Counts, in every bucket and column, how many transactions have the commonest value (the paper's Definition 5; the
counting is in ``native/audit/anatomy.cpp``). Then it lets an attacker guess (`anatomy_attacker`), and tells how sure an
item of a sensitive column is to who knows others of the same column, which is not promised.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from veilset import _native
from veilset.audit.anatomy_attacker import surest_guess
from veilset.audit.anatomy_cut import Cut
from veilset.audit.findings import item_names, shortened
from veilset.audit.rho_uncertainty import rules_found, surest
from veilset.errors import BudgetExceeded
from veilset.exact import at_least, percent
from veilset.limits import Limits
from veilset.models import Audit, LDiverseAnatomy, Margin, Witness
from veilset.transactions import Transactions

_SECONDS = 1.0  # for what is only reported


def audit_l_diverse_anatomy(data: Transactions, promise: LDiverseAnatomy, *, witnesses: int, limits: Limits) -> Audit:
    """Whether *data* is an l-diverse anatomy, with the buckets and columns where it is not.

    Columns that hold sensitive and public items come first; then, with its commonest value, each bucket and column in
    which that is too common, the largest share first. Margins: ``largest_share`` of a value in a bucket;
    ``surest_guess`` of the attacker, in millionths rounded up where it is a finer fraction; and, where there are
    sensitive items, ``surest_within_column``: how likely one of them is if others of its column are known. That one is
    left out where it would take long.
    """
    cut = Cut.of(data, promise)
    with limits.guard("The audit", "look at fewer transactions."):
        found, listed, largest = _native.audit.anatomy(
            data.offsets,
            data.items,
            cut.starts,
            cut.column_of,
            cut.free,
            l_num=promise.l.numerator,
            l_den=promise.l.denominator,
            witness_limit=witnesses,
            threads=limits.thread_count,
            **limits.for_kernel(lambda _: "Counting values in buckets"),
        )
    bound = 1 / promise.l
    mixed = [] if cut.whole else list(_mixed_columns(data, cut))
    wrong = [*mixed, *_witnesses(data, cut, listed)]
    found += len(mixed)
    margins = {}
    for itemset, _, share, bucket, column in _values(data, cut, largest):  # one, if there is any
        margins["largest_share"] = Margin(share, itemset, bucket=bucket, column=column)
    if guess := surest_guess(data, cut, limits=limits):
        if guess.value > bound and not found:  # no mixture is above all its parts: one of the two has miscounted
            wrong, found = [_guessed(guess)], 1
        margins["surest_guess"] = _rounded(guess, bound)
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


def _mixed_columns(data: Transactions, cut: Cut) -> Iterator[Witness]:
    secret = set(data.sensitive)
    for column in cut.columns:
        if (inside := data.in_order(secret.intersection(column))) and len(inside) < len(column):
            support = int(data.supports[data.codes(inside[:1])[0]])
            reason = f"it is sensitive, and its column {shortened(column)} has public items, too"
            yield Witness(inside[:1], support, inside[0], None, reason, column=column)


def _values(
    data: Transactions, cut: Cut, found: _native.audit._AnatomyFindings
) -> Iterator[tuple[tuple[str, ...], int, Fraction, int, tuple[str, ...]]]:
    """Each value, how many have it, their share, the bucket (from 1) and the column; none of what is whole."""
    lists = (found[key].tolist() for key in ("bucket", "column", "count", "size", "row"))
    for bucket, column, count, size, row in zip(*lists, strict=True):
        codes = data.items[data.offsets[row] : data.offsets[row + 1]] if row >= 0 else data.items[:0]
        itemset = item_names(data, codes[cut.column_of[codes] == column].tolist())
        yield itemset, count, Fraction(count, size), bucket + 1, () if cut.whole else cut.columns[column]


def _witnesses(data: Transactions, cut: Cut, found: _native.audit._AnatomyFindings) -> Iterator[Witness]:
    sizes, numbers = found["size"].tolist(), found["column"].tolist()
    for (itemset, count, share, bucket, column), size, number in zip(
        _values(data, cut, found), sizes, numbers, strict=True
    ):
        if cut.whole:
            reason = f"transaction {bucket:,} is published whole, as a bucket of its own"
        else:
            reason = _reason(itemset, count, size, bucket, column, free=bool(cut.free[number]))
        yield Witness(itemset, count, None, share, reason, bucket, column)


def _reason(
    itemset: tuple[str, ...], count: int, size: int, bucket: int, column: tuple[str, ...], *, free: bool
) -> str:
    where, shown = f"of bucket {bucket:,}", shortened(column)
    these = f"transaction{'s' * (size > 1)} {where}{f' with any of {shown}' * free}"
    how_many = "the only" if size == 1 else f"all {size:,}" if count == size else f"{count:,} of the {size:,}"
    verb = "has" if count == 1 else "have"
    what = "exactly this" if free else f"exactly this of {shown}" if itemset else f"none of {shown}"
    return f"{how_many} {these} {verb} {what}"


def _guessed(guess: Margin) -> Witness:
    sure = Fraction(guess.value)
    reason = f"who knows other columns guesses this of {shortened(guess.column)} with {percent(sure)} certainty"
    return Witness(guess.itemset, 0, None, sure, reason, column=guess.column)


def _rounded(guess: Margin, bound: Fraction) -> Margin:
    """A mixture over many buckets can have thousands of digits. What is rounded up stays within what it is within."""
    exact = Fraction(guess.value)
    shown = min(at_least(exact), bound) if exact <= bound else at_least(exact)
    return Margin(shown, guess.itemset, column=guess.column)


def _surest_within_column(data: Transactions, cut: Cut, limits: Limits) -> Margin | None:
    """The largest Pr(s | X) for a sensitive item s and any other items X of its column; None: it is not known."""
    part, surest = limits.part(0.25, _SECONDS), None
    secret = set(data.sensitive)
    try:
        for column in cut.columns:
            if secret.isdisjoint(column):
                continue
            sure = _surest_rule(data.only(column), part)
            if surest is None or sure.value > surest.value:
                surest = Margin(sure.value, sure.itemset, sure.sensitive, column=column)
    except BudgetExceeded:
        return None  # nothing is promised about it, so nothing depends on it
    return surest


def _surest_rule(data: Transactions, limits: Limits) -> Margin:
    found = rules_found(data, Fraction(1), 1, lambda _: "Looking at sensitive columns", limits)
    if (margin := surest(data, found)) is not None:
        return margin
    sensitive, known = found["witness_sensitive"].tolist()[0], found["witness_items"].tolist()  # it is certain
    return Margin(Fraction(1), item_names(data, known), data.names[sensitive])
