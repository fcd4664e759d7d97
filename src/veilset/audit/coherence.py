"""The auditor of (h,k,p)-coherence.

Finds all minimal moles of up to p items (thesis Definitions 5, 6 and 9): public itemsets that occur, are held by fewer
than k transactions or give a sensitive item away with more than h certainty, and none of whose subsets does. The data
is coherent if and only if there is none (thesis Observation 3). For an unlimited p, distinct rows decide instead of
itemsets (docs/coherence.md). The counting is in ``native/audit/coherence.cpp``.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.audit.findings import item_names, sure_of, witness_rows
from veilset.audit.passes import coherence_passes, finished, kernel_limits
from veilset.limits import Limits
from veilset.models import Audit, Coherence, Margin, Reach, Witness
from veilset.transactions import Transactions

if TYPE_CHECKING:
    from veilset.audit.returning import Returned

_SMALL = 3  # items: sizes up to here are asked one by one
_WITNESSES = 100
_WORK = 400_000_000
"""Steps that counting all moles of any size may take once it is known that there are some: a second or two."""


def audit_coherence(data: Transactions, promise: Coherence, *, witnesses: int, limits: Limits) -> Audit:
    """Whether *data* is (h,k,p)-coherent, with the most severe moles and how close to the limits it comes.

    Severity is by how many times a limit is exceeded: k / Sup(X), or Pr(s|X) / h. A mole held by fewer than k
    transactions is reported as such, whatever else it gives away.

    The transactions are read where they lie, never copied as a whole: they may be a file larger than the memory limit.
    """
    h = promise.share
    kind, things = sensitive_things(data, promise)
    passes = coherence_passes(data, promise)
    with limits.guard("The audit", "choose a smaller p."):
        found = _native.audit.coherence(
            data.offsets,
            data.items,
            kind,
            kinds=len(things),
            h_num=h.numerator,
            h_den=h.denominator,
            k=promise.k,
            p=promise.p or 0,
            witness_limit=witnesses,
            batch_limit=0,
            work_limit=_WORK,
            threads=limits.thread_count,
            **kernel_limits(limits, passes),
        )
    finished(limits, passes)
    return audit_of(data, promise, things, found, transactions=len(data), reach=reach_of(data, promise.p))


def audit_of(
    data: Transactions,
    promise: Coherence,
    things: list[str],
    found: _native.audit._CoherenceResult,
    *,
    transactions: int,
    reach: Reach | None,
) -> Audit:
    """The answer, from what the kernel found; of *data*, only the names and roles of items are asked."""
    by_size = [i + a for i, a in zip(found["identity_by_size"], found["attribute_by_size"], strict=True)]
    while by_size and by_size[-1] == 0:
        by_size.pop()
    nobody = not found["feasible"]
    listed = _nothing_known(transactions, things, found, promise) if nobody else _witnesses(data, things, found)
    total = len(listed) if nobody else sum(by_size)
    return Audit(
        promise=promise,
        holds=total == 0,
        witnesses=tuple(listed),
        found=total,
        found_by_size=tuple(by_size),
        margins=_margins(data, things, found),
        checked=found["checked"],
        feasible=found["feasible"],
        transactions=transactions,
        reach=reach,
        has_sensitive=bool(data.sensitive),
        complete=found["complete"],
    )


def coherence_with(returned: Returned, promise: Coherence, *, limits: Limits) -> Witness | None:
    """The smallest mole that an item brings along if it returns, or what gives it away if it is sensitive.

    An itemset with the item has the transactions that the rest of it has among the holders of the item. So the moles of
    up to p items with it are those of up to p - 1 items there.
    """
    item, original = returned.item, returned.original
    if item in set(original.sensitive):
        data = returned.data
        group = next((group for group in promise.sensitive_groups if item in group), (item,))
        data = data.without(set(data.sensitive).difference(group))  # an attacker knows public items only
        only_it = Coherence(h=promise.share, k=1, p=promise.p, sensitive_groups=promise.sensitive_groups)
        return _smallest(data, only_it.restricted_to(data), limits)
    holders = returned.holders
    promise = promise.restricted_to(holders)
    found = _alone(holders, promise)
    if found is None and promise.p != 1:
        fewer = None if promise.p is None else promise.p - 1
        among = Coherence(h=promise.share, k=promise.k, p=fewer, sensitive_groups=promise.sensitive_groups)
        found = _smallest(holders, among, limits)
    if found is None:
        return None
    known = tuple(sorted({*found.itemset, item}))
    return _mole(known, found.support, found.sensitive, found.confidence)


def _alone(holders: Transactions, promise: Coherence) -> Witness | None:
    """What breaks the promise of those who share one item, known or not."""
    count = len(holders)
    if count < promise.k:
        return Witness((), count, None, None, "")
    seen = promise.as_seen_by_attacker(holders)
    of_each = np.where(seen.is_sensitive == 1, seen.supports, 0)
    if not of_each.any():
        return None
    commonest = int(of_each.argmax())
    share = Fraction(int(of_each[commonest]), count)
    return Witness((), count, seen.names[commonest], share, "") if share > promise.share else None


def _smallest(data: Transactions, promise: Coherence, limits: Limits) -> Witness | None:
    """The most severe of the smallest moles; sizes are asked one after the other, since small ones are found fast."""
    longest = int(data.lengths.max(initial=0))
    largest = longest if promise.p is None else min(promise.p, longest)
    for size in dict.fromkeys([*range(1, min(_SMALL, largest) + 1), max(1, largest)]):
        asked = Coherence(h=promise.h, k=promise.k, p=size, sensitive_groups=promise.sensitive_groups)
        if found := audit_coherence(data, asked, witnesses=_WITNESSES, limits=limits).witnesses:
            return min(found, key=lambda one: len(one.itemset))
    return None


def reach_of(data: Transactions, p: int | None) -> Reach | None:
    """What a choice of *p* means for this data (thesis §4.1.1)."""
    return reach_from(_native.audit.row_sizes(data.offsets, data.items, data.is_sensitive), p) if len(data) else None


def reach_from(sizes: npt.NDArray[np.int64], p: int | None) -> Reach:
    """The same from the number of transactions with 0, 1, … public items."""
    up_to = np.cumsum(sizes)  # up_to[i] transactions have i public items at most
    everybody, count = len(up_to) - 1, int(up_to[-1])
    covered = count if p is None else int(up_to[min(p, everybody)])
    most = int(np.searchsorted(up_to, -(-9 * count // 10)))
    return Reach(Fraction(covered, count), max(1, most), max(1, everybody))


def sensitive_things(data: Transactions, promise: Coherence) -> tuple[npt.NDArray[np.int32], list[str]]:
    """For each item, which sensitive thing it is (-1: none), and the names of those: an item, or a group of them."""
    group_names = promise.group_names(data)
    number: dict[str, int] = {}
    kind = np.full(len(data.names), -1, dtype=np.int32)
    for code in np.flatnonzero(data.is_sensitive).tolist():
        name = data.names[code]
        kind[code] = number.setdefault(group_names.get(name, name), len(number))
    return kind, list(number)


def _witnesses(data: Transactions, things: list[str], found: _native.audit._CoherenceResult) -> list[Witness]:
    listed = []
    for itemset, support, sensitive, together in witness_rows(data, found):
        if sensitive < 0:
            listed.append(_mole(itemset, support, None, None))
        else:
            listed.append(_mole(itemset, support, things[sensitive], Fraction(together, support)))
    return listed


def _mole(itemset: tuple[str, ...], support: int, sensitive: str | None, confidence: Fraction | None) -> Witness:
    if sensitive is None or confidence is None:
        reason = f"only {support} matching transaction{'s' * (support != 1)}"
        return Witness(itemset, support, None, None, reason)
    return Witness(itemset, support, sensitive, confidence, sure_of(sensitive, itemset, support, confidence))


def _nothing_known(
    n: int, things: list[str], found: _native.audit._CoherenceResult, promise: Coherence
) -> list[Witness]:
    """The empty itemset breaks the promise: one witness per reason, the worst first."""
    listed = []
    if n < promise.k:
        listed.append(Witness((), n, None, None, f"the data has only {n} transactions in total"))
    for name, support in zip(things, found["sensitive_support"].tolist(), strict=True):
        if (confidence := Fraction(support, n)) > promise.share:
            listed.append(Witness((), n, name, confidence, sure_of(name, (), n, confidence)))
    return sorted(listed, key=lambda w: -(w.confidence or 2))


def _margins(data: Transactions, things: list[str], found: _native.audit._CoherenceResult) -> dict[str, Margin]:
    margins = {}
    support, where = found["smallest_support"]
    least, one, some = found["exact"]
    if support:
        margins["smallest_support"] = Margin(support, item_names(data, where), is_extreme=least)
    for name, key, exact in (
        ("largest_breach", "largest_breach", one),
        ("largest_any_breach", "largest_any", some),
    ):
        together, support, sensitive, where = found[key]  # type: ignore[literal-required]
        if together:
            item = things[sensitive] if sensitive >= 0 else None
            margins[name] = Margin(Fraction(together, support), item_names(data, where), item, is_extreme=exact)
    return margins
