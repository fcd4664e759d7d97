"""The auditor of (h,k,p)-coherence for transactions that an engine holds, with the answer of `audit_coherence`.

An itemset belongs to the branch of its rarest item. A *share* is a stretch of branches, first .. end - 1 in the order
from the rarest item to the most frequent one. It is given the rows with one of its items, without all rarer items and
those that fewer than k transactions hold; equal rows come once, with their number. A frequent item is late in the
order, so few items are left in the rows of its branch and most of them are equal: an item that a share f of all
transactions with m items each hold has at most m / f items after it. A branch that may still be too large for one task
is cut by the second items of its itemsets (`shares`).

**Why the answers are the same.** The local auditor goes from level to level; at each, what a branch finds is a function
of (1) the numbering of the items and their supports, (2) the rows that hold its item, projected on that item and later
ones, with their sensitive items, (3) the safe generators of all smaller sizes and (4) the margins of the levels before
(``native/audit/branches.hpp``). Here, (1), (3) and (4) are put together in the driver and given to every share, and (2)
is what the share holds: a projection is a set, so rows that it makes equal may be counted instead of listed, and items
that fewer than k transactions hold are in no safe itemset. The same code looks at each branch
(``native/audit/coherence_share.cpp``). What branches find is put together in their order: numbers are added, safe
generators appended, and of equal margins the first stays. The worst witnesses of everything are among the worst of each
share, since their order is total. So the induction over the levels goes through, with the same verdict, counts,
witnesses and margins.

**Where work is saved.** Whole rows are asked instead of itemsets (`whole_rows`) in the same cases as there: if p is
unlimited or as large as the longest transaction; if p > 2 and no item is sensitive; and if counting takes more than a
number of steps and has found nothing. The verdict is the same, and so are the moles if all are counted. Steps are
counted in shares, which takes more of them than in one piece: so more are allowed. For a p that transactions exceed,
there is no limit once it is known that there are moles: all of them are counted.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from veilset.audit.coherence import audit_of, reach_from, sensitive_things
from veilset.audit.coherence_levels import ANY_WORK, Levels, step_of
from veilset.audit.dealing import survey
from veilset.audit.whole_rows import WholeRows
from veilset.engines import Held, Piece
from veilset.limits import Limits
from veilset.models import Audit, Coherence

_WORK = 1_000_000_000
"""Steps of counting: for moles of any size, once it is known that there are some, or before whole rows are asked."""


def audit_coherence_spread(data: Held, promise: Coherence, *, witnesses: int, limits: Limits) -> Audit:
    """Whether transactions that an engine holds are (h,k,p)-coherent."""
    kind, things = sensitive_things(data.vocabulary, promise)
    count = partial(survey, kind=kind, things=len(things))
    totals = data.totals(count) if len(data) else count(Piece(np.zeros(1, np.int64), np.zeros(0, np.int32)))
    levels = Levels(promise, kind, totals, len(data), witnesses, limits)
    if levels.feasible:
        try:
            levels.first(data)
            _decide(levels, WholeRows(data, promise, kind, levels.order, totals, limits, levels.told))
        finally:
            levels.close()
    levels.told(step_of(levels.p), done=levels.passes)
    reach = reach_from(totals["sizes"], promise.p) if len(data) else None
    return audit_of(data.vocabulary, promise, things, levels.found(), transactions=len(data), reach=reach)


def _decide(levels: Levels, rows: WholeRows) -> None:
    """Itemsets of two or more, unless whole rows decide: the same steps as in ``native/audit/coherence.cpp``."""
    if levels.any_number:
        if levels.holds_so_far and len(levels.order) and _hold(levels, rows):
            return
        levels.complete = levels.larger(_WORK)
        if not levels.complete and (rows.exposed or rows.inferred_from):
            levels.add_larger(rows.moles())
        return
    may_be_many = len(levels.order) > 0 and levels.p > 2
    if may_be_many and not levels.has_sensitive and levels.holds_so_far and _hold(levels, rows):
        if not levels.exact[0]:
            levels.exact = (levels.larger(_WORK), True, True)
        return
    if may_be_many and levels.has_sensitive:
        if levels.larger(_WORK):
            return
        if levels.holds_so_far and _hold(levels, rows):
            return
    levels.larger(ANY_WORK)


def _hold(levels: Levels, rows: WholeRows) -> bool:
    """Whether whole rows hold; then, or if any number may be known, what they show."""
    holds = rows.hold()
    support, part = rows.smallest
    fewer = support > 0 and (not levels.smallest[0] or support < levels.smallest[0])
    named = not fewer or len(part) <= levels.p
    if (holds or levels.any_number) and fewer and named:
        levels.smallest = support, part
    if holds:
        levels.checked += rows.checked
        one = not levels.has_sensitive or levels.breach.keep(rows.one, levels.p)
        some = not levels.has_sensitive or levels.any.keep(rows.some, levels.p)
        levels.exact = named, one, some
    return holds
