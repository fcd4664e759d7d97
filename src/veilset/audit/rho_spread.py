"""The auditor of ρ-uncertainty for transactions that an engine holds, with the answer of `audit_rho_uncertainty`.

Every sensitive item is decided by itself. Its rules have antecedents that occur with it. So of all transactions it
needs the items that share one with it, its *company*; transactions without any of these are only counted. A *share* is
a stretch of the sensitive items, the most frequent first. It is given the transactions as sets of items that are
company to one of its own; equal ones come once, with their number (`rho_dealing`).

**Why the answers are the same.** What the local auditor finds about an item is a function of the supports of all items
and of what transactions hold of its company. Rows are read in an order, and steps of work are counted in a way, that
depend on nothing else, also where rows that are equal there are one (``native/audit/rho_item.hpp``). The same code
looks at the items of a share (``native/audit/rho_share.cpp``). If none is given away, the largest confidence is looked
for in rounds: an item starts from what the rounds before have found, and all end when so many steps are used up. This
is done here as ``native/audit/inferences.hpp`` does it. So verdict, witnesses, margin and `checked` are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.audit.rho_dealing import dealt_by_company, supports_of
from veilset.audit.rho_uncertainty import audit_of
from veilset.engines import Dealt, Held, Work
from veilset.limits import Limits
from veilset.models import Audit, RhoUncertainty

_TASK, _ADVICE = "The audit", "declare fewer items sensitive."
_FIRST_ROUND, _A_MOMENT = 64, 20_000_000  # items and steps, as native/audit/inferences.hpp has them
_PASSES = ("Comparing transactions", "Checking inferences from any knowledge", "Searching for the highest confidence")

_Array = npt.NDArray[np.int64]
_Codes = npt.NDArray[np.int32]


def audit_rho_uncertainty_spread(data: Held, promise: RhoUncertainty, *, witnesses: int, limits: Limits) -> Audit:
    """Whether transactions that an engine holds are ρ-uncertain, with one rule for each item that is given away."""
    search = _Search(data, promise.rho, limits)
    search.run()
    limits.step(_PASSES[-1], len(_PASSES), len(_PASSES))
    return audit_of(data.vocabulary, promise, search.found(witnesses), transactions=len(data))


class _Finding(NamedTuple):
    """What is known about one sensitive item: the codes of an antecedent, and how many hold it."""

    sensitive: int
    broken: bool
    items: list[int]
    support: int
    together: int

    @property
    def confidence(self) -> Fraction:
        return Fraction(self.together, self.support)

    @property
    def severity(self) -> tuple[Fraction, int, int, list[int], int]:
        """The most severe come first: the surer, what more people are affected by, fewer items, then their order."""
        return -self.confidence, -self.together, len(self.items), self.items, self.sensitive


@dataclass
class _Search:
    """The audit in the driver."""

    data: Held
    rho: Fraction
    limits: Limits
    supports: _Array = field(init=False)
    shares: list[_Codes] = field(init=False)
    findings: list[_Finding] = field(default_factory=list)
    checked: int = 0
    exact: bool = True

    def run(self) -> None:
        """Decide every sensitive item; if nothing is given away, find the largest confidence."""
        self._begin(0)
        known = self.data.vocabulary
        if not known.sensitive or not len(self.data):
            return
        self.supports = self.data.totals(partial(supports_of, items=len(known.names)))["supports"]
        order = np.argsort(self.supports, kind="stable")[::-1]
        asked = order[(known.is_sensitive[order] == 1) & (self.supports[order] > 0)].astype(np.int32)
        if not len(asked):
            return
        dealt, self.shares = dealt_by_company(self.data, asked, self.supports)
        try:
            self._begin(1)
            proof = self._decide(dealt)
            if not any(finding.broken for finding in self.findings):
                self._begin(2)
                self.exact = self._find_surest(dealt, max(proof, _A_MOMENT))
        finally:
            dealt.close()

    def _begin(self, number: int) -> None:
        self.limits.check_time(_TASK, _ADVICE)
        self.limits.step(_PASSES[number], number, len(_PASSES))

    def _decide(self, dealt: Dealt) -> int:
        """Whether each item can be inferred; the answer is how many steps that took."""
        question = {"rho_num": self.rho.numerator, "rho_den": self.rho.denominator}
        found = self._look(dealt, "rho_share", self.shares, question)
        self.findings = [finding for share in found for finding in _findings(share)]
        self.checked += sum(share["checked"] for share in found)
        return sum(share["steps"] for share in found)

    def _find_surest(self, dealt: Dealt, left: int) -> bool:
        """In rounds; each has as many items as those before it. False if so many steps are not enough."""
        begins = np.cumsum([0, *map(len, self.shares)]).tolist()[:-1]
        first = 0
        while first < len(self.findings):
            self.limits.check_time(_TASK, _ADVICE)
            last = min(max(2 * first, _FIRST_ROUND), len(self.findings))
            most = self._surest()
            asked = [
                share[max(0, first - begin) : max(0, last - begin)]
                for share, begin in zip(self.shares, begins, strict=True)
            ]
            question = {"together": most.together, "support": most.support, "left": left}
            found = self._look(dealt, "rho_share_surer", asked, question)
            left -= sum(share["steps"] for share in found)
            if left < 0:
                return False
            surer = [finding for share in found for finding in _findings(share)]
            for place, finding in enumerate(surer, start=first):
                if finding.together:
                    self.findings[place] = finding
            self.checked += sum(share["checked"] for share in found)
            first = last
        return True

    def _look(self, dealt: Dealt, kernel: str, asked: Sequence[_Codes], question: dict[str, Any]) -> list[Any]:
        """What shares find about these items of theirs, in their order."""
        question = {"supports": self.supports, "transactions": len(self.data), **question}
        work = partial(_look_at_share, kernel=kernel, asked=asked, question=question)
        return [found for found in dealt.each(work) if found is not None]

    def _surest(self) -> _Finding:
        return max(self.findings, key=lambda finding: finding.confidence)

    def found(self, witnesses: int) -> Any:
        """The same as the kernel of the local auditor finds."""
        broken = [finding for finding in self.findings if finding.broken]
        listed = sorted(broken, key=lambda finding: finding.severity)[:witnesses]
        most = None if broken or not self.findings else self._surest()
        return {
            "found": len(broken),
            "checked": self.checked,
            "exact": self.exact,
            "witness_offsets": np.append(0, np.cumsum([len(one.items) for one in listed], dtype=np.int64)),
            "witness_items": np.array([code for one in listed for code in one.items], dtype=np.int32),
            "witness_support": np.array([one.support for one in listed], dtype=np.int64),
            "witness_sensitive": np.array([one.sensitive for one in listed], dtype=np.int32),
            "witness_with": np.array([one.together for one in listed], dtype=np.int64),
            "largest": most and (most.together, most.support, most.sensitive, most.items),
        }


def _findings(share: Any) -> list[_Finding]:
    offsets, items = share["witness_offsets"].tolist(), share["witness_items"].tolist()
    columns = (share[name].tolist() for name in ("witness_sensitive", "broken", "witness_support", "witness_with"))
    return [
        _Finding(sensitive, bool(broken), items[offsets[number] : offsets[number + 1]], support, together)
        for number, (sensitive, broken, support, together) in enumerate(zip(*columns, strict=True))
    ]


def _look_at_share(
    number: int, rows: Work, *, kernel: str, asked: Sequence[_Codes], question: dict[str, Any]
) -> Any | None:
    """What one share finds; None: it is not asked."""
    if not len(asked[number]):
        return None
    limits = Limits(threads=1)
    with limits.guard(_TASK, _ADVICE):
        return getattr(_native.audit, kernel)(
            rows.offsets,
            rows.items,
            rows.weights,
            asked=asked[number],
            threads=1,
            **question,
            **limits.for_kernel(lambda _: _TASK),
        )
