"""What the three algorithms share: the matrix, the product, and certified question.

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

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import overload

import numpy as np

from veilset.anonymize.chance import Share, odds_of, probability, seed_of
from veilset.anonymize.hiding.certified import Decision, Hidden, Patterns, Question
from veilset.anonymize.hiding.counts import InMemory, InPieces
from veilset.anonymize.hiding.kinds import ByProduct
from veilset.engines import Held
from veilset.limits import Limits
from veilset.mining import supports_on_engine
from veilset.release import HeldRelease, Release
from veilset.transactions import Transactions

_PLAIN = (
    "Only the matrix product was used. No levels were drawn, so a hidden pattern that disappeared completely may be "
    "conspicuous."
)


@dataclass(frozen=True)
class Wish:
    """What all three algorithms are told; see `veilset.anonymize.options`. *others* is for a recipe."""

    keep_patterns: Patterns | None
    certify: bool
    margin: Share | None
    random_state: int | None
    others: Mapping[str, object] = field(default_factory=dict)


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
    question = Question.of(counts, promise, wish.keep_patterns, spare=spare, reinforce=reinforce, seed=seed)
    if wish.certify:
        done = question.at_levels(spread, p_r)
    else:
        chance = odds_of(Fraction(1) if p_r is None else p_r)
        done = Decision(ByProduct(question.matter, chance, seed), p_r=p_r)
    to_keep = tuple(items for items, _ in question.keep)
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
        return _release(counts, question, done, method, options, notes)
    return _held_release(counts, question, done, method, options, notes)


def _release(
    counts: InMemory,
    question: Question,
    done: Decision,
    method: str,
    options: dict[str, object],
    notes: tuple[str, ...],
) -> Release:
    data, kept = counts.names, counts.kept(done.edits)
    changed = data.thinned(kept)
    return Release(
        original=data,
        custodian_data=changed,
        promise=question.promise,
        method=method,
        options=options,
        suppressed=data.in_order(set(data.names).difference(changed.names)),
        kept=kept,
        sanitization=question.sanitization(done, int(np.count_nonzero(~kept))),
        notes=notes,
        attempts=done.strategies,
    )


def _held_release(
    counts: InPieces,
    question: Question,
    done: Decision,
    method: str,
    options: dict[str, object],
    notes: tuple[str, ...],
) -> HeldRelease:
    """Its loss is counted in the rows that were released, like what went from all of them."""
    thinned = counts.held.thinned(done.edits.mark, done.edits.thin)
    left = supports_on_engine(thinned)
    gone = counts.names.in_order(name for name, some in zip(counts.names.names, left.tolist(), strict=True) if not some)
    vocabulary = counts.names.without(gone)
    code = np.full(len(left), -1, dtype=np.int32)
    code[left > 0] = np.arange(len(vocabulary.names))
    removed = counts.items - left
    return HeldRelease(
        original=counts.held,
        custodian_data=thinned.changed(code, vocabulary),
        promise=question.promise,
        method=method,
        options=options,
        suppressed=gone,
        supports=counts.items,
        removed=removed,
        sanitization=question.sanitization(done, int(removed.sum())),
        notes=notes,
        attempts=done.strategies,
    )
