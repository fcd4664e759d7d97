"""What decides coherence for any number of known items, for transactions that an engine holds.

Every itemset that occurs is part of a transaction, and all that hold this transaction's public items hold it. So each
has k holders if and only if each *distinct row* of public items has (docs/coherence.md). A share of branches has all
rows with one of its items; a row is asked about in the branch of its rarest item, where all that hold it are
(``native/audit/whole_rows_share.cpp``). Whether a sensitive thing can be inferred is decided for each by itself
(`inferences_spread`): items that are one thing become one item first, and nobody knows it.

The same steps as in ``native/audit/coherence.cpp``, with the same answers. One is left out where it would need nearly
all rows in one task: the largest confidence in *any* of the sensitive items, which has no limit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.audit.dealing import costs_of_branches, dealt_overlaps, dealt_whole
from veilset.audit.inferences_spread import TASK, Finding, Inferences, Threshold
from veilset.audit.shares import MOST_IN_SHARE, share_count, stretches
from veilset.engines import Held, Work
from veilset.limits import Limits
from veilset.models import Coherence

_WORST_ROWS = 100  # as many as native/audit/coherence.cpp keeps
_SHRUNK = 20
"""Rows, and antecedents, in which moles are looked for: each takes what all transactions hold of it."""

_Array = npt.NDArray[np.int64]
_Codes = npt.NDArray[np.int32]
Mole = tuple[list[int], int, int, int]
"""An itemset, its holders, the sensitive thing (-1: none), and how many hold that as well."""


class Inferred(NamedTuple):
    """The largest confidence in a sensitive thing, or in any of them: holders with it, holders, the itemset."""

    together: int
    support: int
    thing: int
    items: list[int]
    exact: bool


class _Rows(NamedTuple):
    """Distinct rows: how many, the fewest holders of one, which, and the rows with less than k."""

    distinct: int
    smallest: int
    row: list[int]
    worst: list[list[int]]


@dataclass
class WholeRows:
    """Whether the promise holds for any number of known items, and the margins if it does.

    *order*: the public items that can be in a larger mole, from the rarest on; *kind*: of each item, the sensitive
    thing it is; *totals*: as `veilset.audit.dealing.survey` counts them.
    """

    data: Held
    promise: Coherence
    kind: _Codes
    order: _Codes
    totals: dict[str, _Array]
    limits: Limits
    begin: Callable[[str], None]
    checked: int = 0
    smallest: tuple[int, list[int]] = (0, [])
    one: Inferred | None = None
    some: Inferred | None = None
    exposed: list[list[int]] = field(default_factory=list)
    inferred_from: list[list[int]] = field(default_factory=list)

    def hold(self) -> bool:
        """Whether no attacker learns too much, however many items are known."""
        self.begin("Comparing whole transactions")
        rows = self._look_at_rows()
        self.checked = rows.distinct
        if rows.smallest:
            self.smallest = rows.smallest, self._part(rows.row, rows.smallest + 1)
        self.exposed = rows.worst[:_SHRUNK]
        holds = not self.exposed
        if self.kind.max(initial=-1) >= 0:
            self.begin("Checking inferences from any knowledge")
            holds &= self._things_hold(holds)
        return holds

    def moles(self) -> list[Mole]:
        """Minimal moles in rows that too few hold, and in what gives a sensitive thing away."""
        self.begin("Counting what breaks the promise")
        itemsets = [*self.exposed, *self.inferred_from]
        dealt = self.data.dealt(partial(dealt_overlaps, itemsets=itemsets, kind=self.kind), len(itemsets))
        question = {
            "h_num": self.promise.share.numerator,
            "h_den": self.promise.share.denominator,
            "k": self.promise.k,
            "kinds": int(self.kind.max(initial=-1)) + 1,
            "kind": self.kind,
        }
        try:
            found = dealt.each(partial(_moles_in, itemsets=itemsets, shrunk=len(self.exposed), question=question))
        finally:
            dealt.close()
        return sorted({tuple(mole[0]): mole for moles in found for mole in moles}.values())

    def _look_at_rows(self) -> _Rows:
        rank = np.full(len(self.kind), -1, dtype=np.int32)
        rank[self.order] = np.arange(len(self.order))
        costs = self.data.totals(partial(costs_of_branches, rank=rank)).get("costs", np.zeros(0, np.int64))
        share = stretches(costs, share_count(costs, self.data.parallelism))
        ends = np.searchsorted(share, np.arange(int(share.max(initial=-1)) + 2)).tolist()
        question = {
            "order": self.order,
            "supports": self.totals["supports"][self.order],
            "vocabulary": len(self.kind),
            "k": self.promise.k,
            "row_limit": _WORST_ROWS,
        }
        dealt = self.data.dealt(partial(dealt_whole, rank=rank, order=self.order, share=share), len(ends) - 1)
        try:
            found = dealt.each(partial(_look_at_share, question=question, bounds=list(pairwise(ends))))
        finally:
            dealt.close()
        smallest, row = min(
            (share["smallest_support"] for share in found if share["rows"]), key=lambda met: met[0], default=(0, [])
        )
        worst = sorted((mole for share in found for mole in _moles(share)), key=lambda mole: (mole[1], mole[0]))
        return _Rows(sum(share["rows"] for share in found), smallest, row, [mole[0] for mole in worst[:_WORST_ROWS]])

    def _part(self, row: list[int], k: int) -> list[int]:
        """A minimal part of a row with less than k holders."""
        nothing = np.full(len(self.kind), -1, dtype=np.int32)
        dealt = self.data.dealt(partial(dealt_overlaps, itemsets=[row], kind=nothing), 1)
        try:
            ((part, _),) = dealt.each(partial(_exposed_part, row=row, vocabulary=len(self.kind), k=k))
        finally:
            dealt.close()
        return list(part)

    def _things_hold(self, rows_hold: bool) -> bool:
        """Whether nothing known makes a sensitive thing too sure; if the promise holds, the margins."""
        inferences, thing = self._inferences(self.kind, self.totals["with"])
        try:
            inferences.decide(Threshold(self.promise.share, strict=True))
            self.checked += inferences.checked
            broken = [finding for finding in inferences.findings if finding.broken]
            self.inferred_from = [finding.items for finding in broken[:_SHRUNK]]
            if not rows_hold or broken:
                return not broken
            self.begin("Searching for the highest confidence")
            exact = inferences.find_surest()
            self.one = _inferred(inferences.surest_in_short(), thing, exact)
        finally:
            inferences.close()
        if int(self.totals["supports"].sum()) > MOST_IN_SHARE:
            return True
        any_of_them, _ = self._inferences(np.minimum(self.kind, 0), self.totals["with_any"])
        try:
            any_of_them.decide(Threshold(Fraction(1), strict=True))
            exact = any_of_them.find_surest()
            self.some = _inferred(any_of_them.surest_in_short(), None, exact)
        finally:
            any_of_them.close()
        return True

    def _inferences(self, kind: _Codes, holders: _Array) -> tuple[Inferences, _Codes]:
        """About things that so many transactions hold; each thing becomes its first item."""
        things, first = np.unique(kind[kind >= 0], return_index=True)
        stands = np.flatnonzero(kind >= 0)[first].astype(np.int32)
        code = np.arange(len(kind), dtype=np.int32)
        code[kind >= 0] = stands[np.searchsorted(things, kind[kind >= 0])]
        thing = np.full(len(kind), -1, dtype=np.int32)
        thing[stands] = things
        supports = np.where(kind >= 0, 0, self.totals["supports"])
        supports[stands] = holders[things]
        asked = stands[np.argsort(-holders[things], kind="stable")]
        self.limits.check_time(TASK, "choose a smaller p.")
        seen = self.data.changed(code, self.data.vocabulary)
        return Inferences(seen, asked[supports[asked] > 0], supports, thing, self.limits), thing


def _inferred(finding: Finding, thing: _Codes | None, exact: bool) -> Inferred:
    number = -1 if thing is None else int(thing[finding.sensitive])
    return Inferred(finding.together, finding.support, number, finding.items, exact)


def _moles(found: Any) -> list[Mole]:
    offsets, items = found["witness_offsets"].tolist(), found["witness_items"].tolist()
    columns = (found[f"witness_{name}"].tolist() for name in ("support", "sensitive", "with"))
    return [
        (items[offsets[number] : offsets[number + 1]], *numbers)
        for number, numbers in enumerate(zip(*columns, strict=True))
    ]


def _limited() -> Limits:
    return Limits(threads=1)


def _look_at_share(number: int, rows: Work, *, question: dict[str, Any], bounds: list[tuple[int, int]]) -> Any:
    limits = _limited()
    first, end = bounds[number]
    with limits.guard(TASK, "choose a smaller p."):
        return _native.audit.whole_rows_share(
            *rows, **question, first=first, end=end, threads=1, **limits.for_kernel(lambda _: TASK)
        )


def _exposed_part(_: int, rows: Work, *, row: list[int], vocabulary: int, k: int) -> tuple[list[int], int]:
    limits = _limited()
    itemset = np.array(row, dtype=np.int32)
    with limits.guard(TASK, "choose a smaller p."):
        bounds = limits.for_kernel(lambda _: TASK)
        return _native.audit.exposed_part(*rows, itemset, vocabulary=vocabulary, k=k, **bounds)


def _moles_in(
    number: int, rows: Work, *, itemsets: list[list[int]], shrunk: int, question: dict[str, Any]
) -> list[Mole]:
    itemset = itemsets[number]
    if number < shrunk:
        itemset, _ = _exposed_part(number, rows, row=itemset, vocabulary=len(question["kind"]), k=question["k"])
    limits = _limited()
    with limits.guard(TASK, "choose a smaller p."):
        bounds = limits.for_kernel(lambda _: TASK)
        return _moles(_native.audit.moles_in(*rows, itemset=np.array(itemset, np.int32), **question, **bounds))
