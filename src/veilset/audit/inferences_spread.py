"""Which sensitive items of transactions on an engine can be inferred, in shares of these items.

Every sensitive item is decided by itself. Its rules have antecedents that occur with it. So of all transactions it
needs the items that share one with it, its *company*; transactions without any of these are only counted. A *share* is
a stretch of the sensitive items, the most frequent first. It is given the transactions as sets of items that are
company to one of its own; equal ones come once, with their number (`rho_dealing`).

**Why the answers are the same.** What the local auditor finds about an item is a function of the supports of all items
and of what transactions hold of its company. Rows are read in an order, and steps of work are counted in a way, that
depend on nothing else, also where rows that are equal there are one (``native/audit/rho_item.hpp``). The same code
looks at the items of a share (``native/audit/rho_share.cpp``). If none is given away, the largest confidence is looked
for in rounds: an item starts from what the rounds before have found, and all end when so many steps are used up. This
is done here as ``native/audit/inferences.hpp`` does it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.audit.rho_dealing import dealt_by_company
from veilset.engines import Held, Work
from veilset.limits import Limits

TASK = "The audit"
_ADVICE = "declare fewer items sensitive."
_FIRST_ROUND, _A_MOMENT = 64, 20_000_000  # items and steps, as native/audit/inferences.hpp has them

_Array = npt.NDArray[np.int64]
_Codes = npt.NDArray[np.int32]


class Threshold(NamedTuple):
    """Confidences of this share or more can be inferred; if strict, only those above."""

    share: Fraction
    strict: bool


class Finding(NamedTuple):
    """What is known about one sensitive item: the codes of an antecedent, and how many hold it."""

    sensitive: int
    broken: bool
    items: list[int]
    support: int
    together: int

    @property
    def confidence(self) -> Fraction:
        """How sure the antecedent makes."""
        return Fraction(self.together, self.support)

    @property
    def severity(self) -> tuple[Fraction, int, int, list[int], int]:
        """The most severe come first: the surer, what more people are affected by, fewer items, then their order."""
        return -self.confidence, -self.together, len(self.items), self.items, self.sensitive


class Inferences:
    """Some sensitive items (*asked*, in the order of their findings) and what makes them sure.

    *thing* numbers the items that cannot be known, -1 for all others; *supports* has the transactions of each item. The
    shares are dealt out at once: `close` lets the engine forget them.
    """

    def __init__(self, data: Held, asked: _Codes, supports: _Array, thing: _Codes, limits: Limits) -> None:
        self._limits = limits
        self._question = {"thing": thing, "supports": supports, "transactions": len(data)}
        self._dealt, self._shares = dealt_by_company(data, asked, supports, thing < 0)
        self.findings: list[Finding] = []
        self.checked = 0
        self._proof = 0

    def close(self) -> None:
        """Let the engine forget the rows."""
        self._dealt.close()

    def decide(self, threshold: Threshold) -> None:
        """Whether each item can be inferred."""
        share, strict = threshold
        question = {"rho_num": share.numerator, "rho_den": share.denominator, "strict": strict, "threads": 1}
        found = self._look("rho_share", self._shares, question)
        self.findings = [finding for share in found for finding in _findings(share)]
        self.checked += sum(share["checked"] for share in found)
        self._proof = sum(share["steps"] for share in found)

    @property
    def all_hold(self) -> bool:
        """Whether none can be inferred."""
        return not any(finding.broken for finding in self.findings)

    def find_surest(self) -> bool:
        """In rounds; each has as many items as those before it. False if it takes more steps than it may."""
        left = max(self._proof, _A_MOMENT)
        begins = np.cumsum([0, *map(len, self._shares)]).tolist()[:-1]
        first = 0
        while first < len(self.findings):
            self._limits.check_time(TASK, _ADVICE)
            last = min(max(2 * first, _FIRST_ROUND), len(self.findings))
            most = self.surest()
            asked = [
                share[max(0, first - begin) : max(0, last - begin)]
                for share, begin in zip(self._shares, begins, strict=True)
            ]
            question = {"together": most.together, "support": most.support, "left": left, "threads": 1}
            found = self._look("rho_share_surer", asked, question)
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

    def surest(self) -> Finding:
        """Of those that are equal, the first in the order of the findings."""
        return max(self.findings, key=lambda finding: finding.confidence)

    def surest_in_short(self) -> Finding:
        """A rule as sure as the surest, and short."""
        most = self.surest()
        antecedent = np.array(most.items, dtype=np.int32)
        asked = [share[share == most.sensitive] for share in self._shares]
        question = {"antecedent": antecedent, "together": most.together, "support": most.support}
        (found,) = self._look("rho_share_shorter", asked, question)
        return _findings(found)[0]

    def _look(self, kernel: str, asked: Sequence[_Codes], question: dict[str, Any]) -> list[Any]:
        """What shares find about these items of theirs, in their order."""
        work = partial(_look_at_share, kernel=kernel, asked=asked, question={**self._question, **question})
        return [found for found in self._dealt.each(work) if found is not None]


def _findings(share: Any) -> list[Finding]:
    offsets, items = share["witness_offsets"].tolist(), share["witness_items"].tolist()
    columns = (share[name].tolist() for name in ("witness_sensitive", "broken", "witness_support", "witness_with"))
    return [
        Finding(sensitive, bool(broken), items[offsets[number] : offsets[number + 1]], support, together)
        for number, (sensitive, broken, support, together) in enumerate(zip(*columns, strict=True))
    ]


def _look_at_share(
    number: int, rows: Work, *, kernel: str, asked: Sequence[_Codes], question: dict[str, Any]
) -> Any | None:
    """What one share finds; None: it is not asked."""
    if not len(asked[number]):
        return None
    limits = Limits(threads=1)
    with limits.guard(TASK, _ADVICE):
        return getattr(_native.audit, kernel)(
            rows.offsets,
            rows.items,
            rows.weights,
            asked=asked[number],
            **question,
            **limits.for_kernel(lambda _: TASK),
        )
