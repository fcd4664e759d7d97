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

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from veilset import _native
from veilset.anonymize.chance import Share, odds_of, probability, seed_of
from veilset.anonymize.hiding.keep_patterns import itemsets_of, patterns_to_keep, patterns_to_spare
from veilset.anonymize.hiding.levels import levels_for, margins_for, narrowed
from veilset.anonymize.hiding.matrix import sanitization_matrix
from veilset.limits import Limits
from veilset.mining import Itemsets, standings
from veilset.models import HiddenPatterns, HiddenRules
from veilset.release import Attempt, Release, Sanitization
from veilset.transactions import Transactions

Hidden = HiddenPatterns | HiddenRules
Patterns = Iterable[Iterable[str]]
_Hiding = tuple[npt.NDArray[np.bool_], Fraction | None, int, tuple[Attempt, ...]]

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
) -> Release:
    """Hide what the promise lists; *spare* and *reinforce* make the matrix, see `sanitization_matrix`.

    *p_r* is the restoration probability of HPCME; None: what the product leaves stays.
    """
    seed, spread = seed_of(wish.random_state), None if wish.margin is None else probability(wish.margin, "margin")
    certify, least = wish.certify, promise.least_support(len(data))
    hidden = itemsets_of(data, list(map(data.in_order, promise.itemsets)))
    limits.step("Searching for the patterns to keep")
    if wish.keep_patterns is None:
        keep = patterns_to_spare(data, hidden, least, limits)
    else:
        forbidden = hidden if isinstance(promise, HiddenPatterns) else None
        keep = patterns_to_keep(data, wish.keep_patterns, forbidden, limits)
    matrix = sanitization_matrix(hidden, keep, spare=spare, reinforce=reinforce, limits=limits)
    states = product(data, matrix, limits)
    levels: tuple[Fraction, ...] = ()
    if certify:
        certified = partial(_certified, data, promise, states, hidden, keep, least, p_r=p_r, seed=seed, limits=limits)
        levels, (kept, chance, victims, strategies) = _at_levels(data, promise, certified, spread, seed, limits)
    else:
        kept, chance, victims, strategies = _restored(data, states, p_r, seed), p_r, 0, ()
    # Only the first strategy starts from the product; in another, the product removes nothing.
    from_product = not strategies or strategies[0].won
    by_matrix = len(states) - int(np.count_nonzero(_restored(data, states, chance, seed))) if from_product else 0
    changed, to_keep = data.thinned(kept), tuple(items for items, _ in keep)
    return Release(
        original=data,
        custodian_data=changed,
        promise=promise,
        method=method,
        options={
            **wish.others,
            **({} if p_r is None else {"p_r": str(p_r)}),
            **({} if wish.keep_patterns is None else {"keep_patterns": to_keep}),
            "certify": certify,
            **({} if spread is None else {"margin": str(spread)}),
            "random_state": seed,
        },
        suppressed=data.in_order(set(data.names).difference(changed.names)),
        kept=kept,
        sanitization=Sanitization(
            matrix=matrix,
            keep_patterns=to_keep,
            p_r=chance if from_product else None,
            levels=levels,
            by_matrix=by_matrix,
            by_victims=victims,
            put_back=by_matrix + victims - int(np.count_nonzero(~kept)),
        ),
        notes=() if certify else (_PLAIN,),
        attempts=strategies,
    )


def product(data: Transactions, matrix: csr_array, limits: Limits) -> npt.NDArray[np.uint8]:
    """D·S under the paper's multiplication: for each occurrence 0 (gone), 1 (stays) or 2 (stays if restored)."""
    columns = matrix.tocsc()
    columns.setdiag(0)
    columns.eliminate_zeros()
    columns.sort_indices()
    with limits.guard("The product", "hide from fewer transactions at once."):
        return _native.hiding.sanitize(
            data.offsets,
            data.items,
            len(data.names),
            columns.indptr.astype(np.int64),
            columns.indices.astype(np.int32),
            columns.data,
            threads=limits.thread_count,
            **limits.for_kernel(lambda _: "Multiplying with the sanitization matrix"),
        )


def _restored(
    data: Transactions, states: npt.NDArray[np.uint8], p_r: Fraction | None, seed: int
) -> npt.NDArray[np.bool_]:
    """Which occurrences are left when those that need chance get it."""
    odds = odds_of(Fraction(1) if p_r is None else p_r)
    return _native.hiding.restored(data.offsets, data.items, len(data.names), states, odds=odds, seed=seed).view(
        np.bool_
    )


def _at_levels(
    data: Transactions,
    promise: Hidden,
    certified: Callable[[Sequence[Fraction]], _Hiding],
    spread: Fraction | None,
    seed: int,
    limits: Limits,
) -> tuple[tuple[Fraction, ...], _Hiding]:
    """The levels, and what is hidden at them; drawn again as long as that keeps patterns from standing out."""
    margins = margins_for(data, promise, limits) if spread is None else [spread] * len(promise.itemsets)
    for _ in range(_ROUNDS):
        levels = levels_for(promise, margins, seed)
        found = certified(levels)
        if spread is not None:
            break
        standing = standings(data.thinned(found[0]), promise.itemsets, limits)
        narrower = narrowed(margins, standing, promise.least_support(len(data)))
        if narrower == margins:
            break
        margins = narrower
    return levels, found


def _certified(
    data: Transactions,
    promise: Hidden,
    states: npt.NDArray[np.uint8],
    hidden: Itemsets,
    keep: Itemsets,
    least: int,
    levels: Sequence[Fraction],
    *,
    p_r: Fraction | None,
    seed: int,
    limits: Limits,
) -> _Hiding:
    """What is kept in the end, the p_r that was reached, how many victims there were, and the strategies tried."""
    rules = promise.rules if isinstance(promise, HiddenRules) else ()
    antecedents = itemsets_of(data, [data.in_order(left) for left, _ in rules] or [()] * len(hidden))
    sure = promise.min_confidence if isinstance(promise, HiddenRules) else Fraction(0)
    shares = [level * sure for level in levels]
    steps = [p_r * (_STEPS - step) / _STEPS for step in range(_STEPS + 1)] if p_r else [p_r]
    with limits.guard("Hiding patterns", "hide fewer of them at once."):
        found = _native.hiding.hide(
            data.offsets,
            data.items,
            len(data.names),
            states,
            _native.hiding.ToHide(
                offsets=hidden.offsets,
                items=hidden.items,
                antecedent_offsets=antecedents.offsets,
                antecedent_items=antecedents.items,
                # Support < level * least, in whole numbers.
                most=np.array([-(-level * least // 1) - 1 for level in levels], dtype=np.int64),
                share_num=np.array([share.numerator for share in shares], dtype=np.int64),
                share_den=np.array([share.denominator for share in shares], dtype=np.int64),
            ),
            _native.hiding.ToKeep(offsets=keep.offsets, items=keep.items, spare=keep.supports - least),
            np.array([odds_of(Fraction(1) if share is None else share) for share in steps], dtype=np.uint64),
            seed=seed,
            most_strategies=len(_STRATEGIES),
            threads=limits.thread_count,
            **limits.for_kernel(_STAGES.__getitem__),
        )
    strategies = tuple(
        Attempt(
            name=_STRATEGIES[number],
            loss=removed / max(1, len(data.items)),
            seconds=seconds,
            note=f"loses {lost:,} of {len(keep):,} patterns to keep",
            state="chosen" if number == found["chosen"] else "not chosen",
        )
        for number, (lost, removed, seconds) in enumerate(found["strategies"])
    )
    return found["kept"].view(np.bool_), steps[found["step"]], found["victims"], strategies
