"""What goes so that patterns are hidden: the question, the rows that matter for it, and the decision.

`veilset.anonymize.hiding.hide` says how; the choice among contested occurrences is ``native/hiding/certified.cpp``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from veilset import _native
from veilset.anonymize.chance import odds_of
from veilset.anonymize.hiding.counts import Counts, Edits
from veilset.anonymize.hiding.keep_patterns import itemsets_of, patterns_to_keep, patterns_to_spare
from veilset.anonymize.hiding.kinds import Chosen, Matter, different, rows_of, taken_by_product
from veilset.anonymize.hiding.levels import levels_for, margins_for, narrowed
from veilset.anonymize.hiding.matrix import sanitization_matrix
from veilset.engines import Piece, Work
from veilset.mining import Itemsets, supports_in
from veilset.models import HiddenPatterns, HiddenRules
from veilset.release import Attempt, Sanitization

Hidden = HiddenPatterns | HiddenRules
Patterns = Iterable[Iterable[str]]

_STRATEGIES = (
    "matrix, then further removals",
    "without the matrix",
    "one item of each pattern",
    "lost patterns weigh more",
    "lost patterns weigh still more",
)
_STEPS = 10  # in which p_r is lowered
_ROUNDS = 5  # in which levels are drawn
_STAGES = {
    1: "Finding transactions with hidden patterns",
    2: "Finding what the patterns to keep need",
    3: "Choosing what to remove",
}


class Decision(NamedTuple):
    """What goes, and how that was found."""

    edits: Edits
    levels: tuple[Fraction, ...] = ()
    p_r: Fraction | None = None  # that was reached
    victims: int = 0
    strategies: tuple[Attempt, ...] = ()

    @property
    def from_product(self) -> bool:
        """Only the first strategy starts from the product; in another, the product removes nothing."""
        return not self.strategies or self.strategies[0].won


@dataclass(frozen=True)
class Question:
    """One question: what to hide, what to spare, and the matrix of both."""

    counts: Counts
    promise: Hidden
    hidden: Itemsets
    keep: Itemsets
    matrix: csr_array
    seed: int

    @classmethod
    def of(
        cls,
        counts: Counts,
        promise: Hidden,
        keep_patterns: Patterns | None,
        *,
        spare: bool,
        reinforce: bool,
        seed: int,
    ) -> Question:
        """The question; *keep_patterns* None: what the data has."""
        names, limits = counts.names, counts.limits
        hidden = itemsets_of(names, list(map(names.in_order, promise.itemsets)))
        limits.step("Searching for the patterns to keep")
        if keep_patterns is None:
            keep = patterns_to_spare(counts, hidden, promise.least_support(len(counts.held)))
        else:
            keep = patterns_to_keep(counts, keep_patterns, hidden if isinstance(promise, HiddenPatterns) else None)
        matrix = sanitization_matrix(hidden, keep, spare=spare, reinforce=reinforce, limits=limits)
        return cls(counts, promise, hidden, keep, matrix, seed)

    @property
    def matter(self) -> Matter:
        """What of the rows matters."""
        return Matter.of(self.hidden, self.keep, self.matrix)

    @property
    def least(self) -> int:
        """How many transactions make a pattern found."""
        return self.promise.least_support(len(self.counts.held))

    def sanitization(self, done: Decision, removed: int) -> Sanitization:
        """The account, if so many occurrences were removed."""
        by_matrix = removed
        if isinstance(done.edits, Chosen):
            by_matrix = self._by_matrix(done)
        return Sanitization(
            matrix=self.matrix,
            keep_patterns=tuple(items for items, _ in self.keep),
            p_r=done.p_r if done.from_product else None,
            levels=done.levels,
            by_matrix=by_matrix,
            by_victims=done.victims,
            put_back=by_matrix + done.victims - removed,
        )

    def _by_matrix(self, done: Decision) -> int:
        """How many occurrences the product removes, most of which may return."""
        if not done.from_product:
            return 0
        counts, odds = self.counts, odds_of(Fraction(1) if done.p_r is None else done.p_r)
        return taken_by_product(counts.held, self.matter, odds, self.seed, counts.limits, in_task=counts.in_task)

    def at_levels(self, spread: Fraction | None, p_r: Fraction | None) -> Decision:
        """What is hidden at levels, which are drawn again as long as that keeps patterns from standing out."""
        counts, promise = self.counts, self.promise
        margins = margins_for(counts, promise) if spread is None else [spread] * len(promise.itemsets)
        contested = _Contested.of(self)
        for _ in range(_ROUNDS):
            done, edits = contested.certified(levels_for(promise, margins, self.seed), p_r)
            if spread is not None:
                break
            narrower = narrowed(margins, counts.standings(edits, promise.itemsets), self.least)
            if narrower == margins:
                break
            margins = narrower
        return done


@dataclass(frozen=True)
class _Contested:
    """The rows that hold hidden patterns, reduced to what matters, and what is told of all others."""

    question: Question
    matter: Matter
    kinds: Work
    rows: Piece
    copies: npt.NDArray[np.int64]
    antecedents: Itemsets
    everything: _native.hiding.All

    @classmethod
    def of(cls, question: Question) -> _Contested:
        counts, promise, matter = question.counts, question.promise, question.matter
        names, limits = counts.names, counts.limits
        limits.step("Finding transactions with hidden patterns")
        kinds = different(counts.held, partial(matter.contested, limits=counts.in_task), limits)
        rows, copies = rows_of(kinds, limits)
        rules = promise.rules if isinstance(promise, HiddenRules) else ()
        antecedents = itemsets_of(names, [names.in_order(left) for left, _ in rules] or [()] * len(question.hidden))
        elsewhere = np.zeros(len(antecedents), dtype=np.int64)
        if rules:
            elsewhere = counts.of(antecedents) - supports_in(rows, antecedents)
        everything = _native.hiding.All(rows=len(counts.held), support=counts.items, elsewhere=elsewhere)
        return cls(question, matter, kinds, rows, copies, antecedents, everything)

    def certified(self, levels: Sequence[Fraction], p_r: Fraction | None) -> tuple[Decision, Chosen]:
        """What goes so that all patterns are below their levels."""
        question, hidden, keep, limits = (
            self.question,
            self.question.hidden,
            self.question.keep,
            self.question.counts.limits,
        )
        sure = question.promise.min_confidence if isinstance(question.promise, HiddenRules) else Fraction(0)
        shares = [level * sure for level in levels]
        steps = [p_r * (_STEPS - step) / _STEPS for step in range(_STEPS + 1)] if p_r else [p_r]
        with limits.guard("Hiding patterns", "hide fewer of them at once."):
            found = _native.hiding.hide(
                *self.rows,
                self.everything,
                self.copies,
                self.matter.matrix.product(self.rows, limits),
                _native.hiding.ToHide(
                    offsets=hidden.offsets,
                    items=hidden.items,
                    antecedent_offsets=self.antecedents.offsets,
                    antecedent_items=self.antecedents.items,
                    # Support < level * least, in whole numbers.
                    most=np.array([-(-level * question.least // 1) - 1 for level in levels], dtype=np.int64),
                    share_num=np.array([share.numerator for share in shares], dtype=np.int64),
                    share_den=np.array([share.denominator for share in shares], dtype=np.int64),
                ),
                _native.hiding.ToKeep(offsets=keep.offsets, items=keep.items, spare=keep.supports - question.least),
                np.array([odds_of(Fraction(1) if share is None else share) for share in steps], dtype=np.uint64),
                seed=question.seed,
                most_strategies=len(_STRATEGIES),
                threads=limits.thread_count,
                **limits.for_kernel(_STAGES.__getitem__),
            )
        strategies = tuple(
            Attempt(
                name=_STRATEGIES[number],
                loss=removed / max(1, int(question.counts.items.sum())),
                seconds=seconds,
                note=f"loses {lost:,} of {len(keep):,} patterns to keep",
                state="chosen" if number == found["chosen"] else "not chosen",
            )
            for number, (lost, removed, seconds) in enumerate(found["strategies"])
        )
        edits = Chosen(self.matter, self.kinds, found["kept"].view(np.bool_))
        return Decision(edits, tuple(levels), steps[found["step"]], found["victims"], strategies), edits
