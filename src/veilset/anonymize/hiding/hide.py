"""What the three algorithms share: the matrix, the product, and certified hiding.

The paper's product removes an item from every transaction that holds a pair of a hidden pattern, whether or not it
holds the pattern, and whether or not that is enough. `certify` makes it a promise that costs no more than it must:

1. Every pattern gets a **level** of its own, a secret share of min_support (for a rule, of min_confidence too), so
   that it does not stand out more than it has to: see `veilset.anonymize.hiding.levels`.
2. Where the product leaves a pattern at its level or above, **victims** go from more transactions, those whose loss
   costs the patterns to keep least: one that is barely frequent weighs more than one with transactions to spare. A
   hidden pattern that is as rare as if its items were independent weighs as much, so that it does not fall further.
3. What need not have gone is **put back**, the most valuable first, until nothing could return by itself.
4. The product fixes one victim for each pair, which is not always the cheapest. So the same is done **without it**:
   with any victims, with one item of each pattern (better in dense data), and with more weight on the patterns that
   were lost before. What loses the fewest of them is taken.

A rule is judged by what the data is in the end: taking an item out of its antecedent can make it surer again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import NamedTuple, overload

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from veilset import _native
from veilset.anonymize.chance import Share, odds_of, probability, seed_of
from veilset.anonymize.hiding.counts import Counts, Edits, InMemory, InPieces
from veilset.anonymize.hiding.keep_patterns import itemsets_of, patterns_to_keep, patterns_to_spare
from veilset.anonymize.hiding.kinds import ByProduct, Chosen, Matter, different, rows_of, taken_by_product
from veilset.anonymize.hiding.levels import levels_for, margins_for, narrowed
from veilset.anonymize.hiding.matrix import sanitization_matrix
from veilset.engines import Held, Piece, Work
from veilset.limits import Limits
from veilset.mining import Itemsets, OnEngine, supports_in
from veilset.models import HiddenPatterns, HiddenRules
from veilset.release import Attempt, HeldRelease, Release, Sanitization
from veilset.transactions import Transactions

Hidden = HiddenPatterns | HiddenRules
Patterns = Iterable[Iterable[str]]

_STRATEGIES = (
    "matrix, then further removals",
    "without the matrix",
    "one item of each pattern",
    "lost patterns weigh more",
    "lost patterns weigh still more",
)
_PLAIN = (
    "Only the matrix product was used. No levels were drawn, so a hidden pattern that disappeared completely may be "
    "conspicuous."
)
_STEPS = 10  # in which p_r is lowered
_ROUNDS = 5  # in which levels are drawn
_STAGES = {
    1: "Finding transactions with hidden patterns",
    2: "Finding what the patterns to keep need",
    3: "Choosing what to remove",
}


@dataclass(frozen=True)
class Wish:
    """What all three algorithms are told; see `veilset.anonymize.options`. *others* is for a recipe."""

    keep_patterns: Patterns | None
    certify: bool
    margin: Share | None
    random_state: int | None
    others: Mapping[str, object] = field(default_factory=dict)


class _Decision(NamedTuple):
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


@overload
def hide(
    data: Transactions,
    promise: Hidden,
    method: str,
    wish: Wish,
    *,
    spare: bool,
    reinforce: bool,
    p_r: Fraction | None = None,
    limits: Limits,
) -> Release: ...
@overload
def hide(
    data: Held,
    promise: Hidden,
    method: str,
    wish: Wish,
    *,
    spare: bool,
    reinforce: bool,
    p_r: Fraction | None = None,
    limits: Limits,
) -> HeldRelease: ...
def hide(
    data: Transactions | Held,
    promise: Hidden,
    method: str,
    wish: Wish,
    *,
    spare: bool,
    reinforce: bool,
    p_r: Fraction | None = None,
    limits: Limits,
) -> Release | HeldRelease:
    """Hide what the promise lists; *spare* and *reinforce* make the matrix, see `sanitization_matrix`.

    *p_r* is the restoration probability of HPCME; None: what the product leaves stays. Transactions that an engine
    holds become the same rows as in memory.
    """
    counts: InMemory | InPieces = InMemory(data, limits) if isinstance(data, Transactions) else InPieces(data, limits)
    seed = seed_of(wish.random_state)
    spread = None if wish.margin is None else probability(wish.margin, "margin")
    hiding = _Hiding.of(counts, promise, wish, spare=spare, reinforce=reinforce, seed=seed)
    if wish.certify:
        done = hiding.at_levels(spread, p_r)
    else:
        chance = odds_of(Fraction(1) if p_r is None else p_r)
        done = _Decision(ByProduct(hiding.matter, chance, seed), p_r=p_r)
    to_keep = tuple(items for items, _ in hiding.keep)
    options: dict[str, object] = {
        **wish.others,
        **({} if p_r is None else {"p_r": str(p_r)}),
        **({} if wish.keep_patterns is None else {"keep_patterns": to_keep}),
        "certify": wish.certify,
        **({} if spread is None else {"margin": str(spread)}),
        "random_state": seed,
    }
    notes = () if wish.certify else (_PLAIN,)
    if isinstance(counts, InMemory):
        return _release(counts, hiding, done, method, options, notes)
    return _held_release(counts, hiding, done, method, options, notes)


def _release(
    counts: InMemory, hiding: _Hiding, done: _Decision, method: str, options: dict[str, object], notes: tuple[str, ...]
) -> Release:
    data, kept = counts.names, counts.kept(done.edits)
    changed = data.thinned(kept)
    return Release(
        original=data,
        custodian_data=changed,
        promise=hiding.promise,
        method=method,
        options=options,
        suppressed=data.in_order(set(data.names).difference(changed.names)),
        kept=kept,
        sanitization=hiding.sanitization(done, int(np.count_nonzero(~kept))),
        notes=notes,
        attempts=done.strategies,
    )


def _held_release(
    counts: InPieces, hiding: _Hiding, done: _Decision, method: str, options: dict[str, object], notes: tuple[str, ...]
) -> HeldRelease:
    """Its loss is counted in the rows that were released, like what went from all of them."""
    thinned = counts.held.thinned(done.edits.mark, done.edits.thin)
    left = OnEngine(thinned).supports
    gone = counts.names.in_order(name for name, some in zip(counts.names.names, left.tolist(), strict=True) if not some)
    vocabulary = counts.names.without(gone)
    code = np.full(len(left), -1, dtype=np.int32)
    code[left > 0] = np.arange(len(vocabulary.names))
    removed = counts.items - left
    return HeldRelease(
        original=counts.held,
        custodian_data=thinned.changed(code, vocabulary),
        promise=hiding.promise,
        method=method,
        options=options,
        suppressed=gone,
        supports=counts.items,
        removed=removed,
        sanitization=hiding.sanitization(done, int(removed.sum())),
        notes=notes,
        attempts=done.strategies,
    )


@dataclass(frozen=True)
class _Hiding:
    """One question: what to hide, what to spare, and the matrix of both."""

    counts: Counts
    promise: Hidden
    hidden: Itemsets
    keep: Itemsets
    matrix: csr_array
    seed: int

    @classmethod
    def of(cls, counts: Counts, promise: Hidden, wish: Wish, *, spare: bool, reinforce: bool, seed: int) -> _Hiding:
        names, limits = counts.names, counts.limits
        hidden = itemsets_of(names, list(map(names.in_order, promise.itemsets)))
        limits.step("Searching for the patterns to keep")
        if wish.keep_patterns is None:
            keep = patterns_to_spare(counts, hidden, promise.least_support(len(counts.held)))
        else:
            keep = patterns_to_keep(counts, wish.keep_patterns, hidden if isinstance(promise, HiddenPatterns) else None)
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

    def sanitization(self, done: _Decision, removed: int) -> Sanitization:
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

    def _by_matrix(self, done: _Decision) -> int:
        """How many occurrences the product removes, most of which may return."""
        if not done.from_product:
            return 0
        counts, odds = self.counts, odds_of(Fraction(1) if done.p_r is None else done.p_r)
        return taken_by_product(counts.held, self.matter, odds, self.seed, counts.limits, in_task=counts.in_task)

    def at_levels(self, spread: Fraction | None, p_r: Fraction | None) -> _Decision:
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

    hiding: _Hiding
    matter: Matter
    kinds: Work
    rows: Piece
    copies: npt.NDArray[np.int64]
    antecedents: Itemsets
    everything: _native.hiding.All

    @classmethod
    def of(cls, hiding: _Hiding) -> _Contested:
        counts, promise, matter = hiding.counts, hiding.promise, hiding.matter
        names, limits = counts.names, counts.limits
        limits.step("Finding transactions with hidden patterns")
        kinds = different(counts.held, partial(matter.contested, limits=counts.in_task), limits)
        rows, copies = rows_of(kinds, limits)
        rules = promise.rules if isinstance(promise, HiddenRules) else ()
        antecedents = itemsets_of(names, [names.in_order(left) for left, _ in rules] or [()] * len(hiding.hidden))
        elsewhere = np.zeros(len(antecedents), dtype=np.int64)
        if rules:
            elsewhere = counts.of(antecedents) - supports_in(rows, antecedents)
        everything = _native.hiding.All(rows=len(counts.held), support=counts.items, elsewhere=elsewhere)
        return cls(hiding, matter, kinds, rows, copies, antecedents, everything)

    def certified(self, levels: Sequence[Fraction], p_r: Fraction | None) -> tuple[_Decision, Chosen]:
        """What goes so that all patterns are below their levels."""
        hiding, hidden, keep, limits = self.hiding, self.hiding.hidden, self.hiding.keep, self.hiding.counts.limits
        sure = hiding.promise.min_confidence if isinstance(hiding.promise, HiddenRules) else Fraction(0)
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
                    most=np.array([-(-level * hiding.least // 1) - 1 for level in levels], dtype=np.int64),
                    share_num=np.array([share.numerator for share in shares], dtype=np.int64),
                    share_den=np.array([share.denominator for share in shares], dtype=np.int64),
                ),
                _native.hiding.ToKeep(offsets=keep.offsets, items=keep.items, spare=keep.supports - hiding.least),
                np.array([odds_of(Fraction(1) if share is None else share) for share in steps], dtype=np.uint64),
                seed=hiding.seed,
                most_strategies=len(_STRATEGIES),
                threads=limits.thread_count,
                **limits.for_kernel(_STAGES.__getitem__),
            )
        strategies = tuple(
            Attempt(
                name=_STRATEGIES[number],
                loss=removed / max(1, int(hiding.counts.items.sum())),
                seconds=seconds,
                note=f"loses {lost:,} of {len(keep):,} patterns to keep",
                state="chosen" if number == found["chosen"] else "not chosen",
            )
            for number, (lost, removed, seconds) in enumerate(found["strategies"])
        )
        edits = Chosen(self.matter, self.kinds, found["kept"].view(np.bool_))
        return _Decision(edits, tuple(levels), steps[found["step"]], found["victims"], strategies), edits
