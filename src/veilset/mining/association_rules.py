"""Association rules: transactions with X often contain y, too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, Unpack, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from veilset import _native
from veilset.engines import Held
from veilset.errors import BudgetExceeded, InvalidArgument, said
from veilset.exact import Support, check_whole, exact_share, is_whole
from veilset.limits import Bounds, Limits
from veilset.mining.frequent_itemsets import LARGEST, allowed, frequent
from veilset.mining.frequent_spread import supports_on_engine
from veilset.mining.itemsets import Itemsets, Selection
from veilset.transactions import Transactions, check_transactions
from veilset.views import MOST_ROWS, Shown, Summary, Tabular, listed

_ADVICE = (
    f"use a higher {said('min_support')} or {said('min_confidence')}, a smaller {said('max_size')}, "
    f"or fewer {said('consequents')}."
)


class Rule(NamedTuple):
    """*support* transactions contain both sides; *confidence* is their share of those with the antecedent."""

    antecedent: tuple[str, ...]
    consequent: str
    support: int
    confidence: Fraction


@dataclass(frozen=True, eq=False, repr=False)
class Rules(Shown, Tabular):
    """Association rules as arrays; names are looked up on access.

    Rule i is ``antecedents[i]``, with the support of the antecedent alone, and the item ``names[consequents[i]]``;
    ``supports[i]`` transactions hold both.

    >>> from veilset import mining
    >>> data = Transactions.from_lists([["a", "b"], ["a", "b", "c"], ["a", "c"], ["c"]])
    >>> found = mining.rules(data, 2, "2/3")
    >>> found[0]
    Rule(antecedent=('b',), consequent='a', support=2, confidence=Fraction(1, 1))
    >>> found[found.confidences == 1].to_lists()
    [(['b'], 'a', 2, Fraction(1, 1))]
    """

    antecedents: Itemsets
    consequents: npt.NDArray[np.int32]
    supports: npt.NDArray[np.int64]
    item_supports: npt.NDArray[np.int64]
    transactions: int

    def __len__(self) -> int:
        return len(self.supports)

    @property
    def names(self) -> tuple[str, ...]:
        """The vocabulary."""
        return self.antecedents.names

    @property
    def itemsets(self) -> Itemsets:
        """Both sides of each rule together, with the support of the rule.

        >>> from veilset import mining
        >>> data = Transactions.from_lists([["a", "b"], ["a", "b", "c"], ["a", "c"], ["c"]])
        >>> mining.rules(data, 2, "2/3").itemsets[0]
        (('a', 'b'), 2)
        """
        left = self.antecedents
        offsets = left.offsets + np.arange(len(self) + 1)
        items = np.insert(left.items, left.offsets[1:], self.consequents)
        order = np.lexsort((items, np.repeat(np.arange(len(self)), np.diff(offsets))))
        return Itemsets(self.names, offsets, items[order], self.supports)

    @property
    def confidences(self) -> npt.NDArray[np.float64]:
        """The share of transactions with the antecedent that contain the consequent; a `Rule` has it exactly."""
        return np.asarray(self.supports / self.antecedents.supports, dtype=np.float64)

    @property
    def lifts(self) -> npt.NDArray[np.float64]:
        """The confidence divided by the share of all transactions that contain the consequent."""
        by_chance = self.antecedents.supports * self.item_supports[self.consequents]
        return np.asarray(self.supports * self.transactions / by_chance, dtype=np.float64)

    def __iter__(self) -> Iterator[Rule]:
        for first in range(0, len(self), _AT_ONCE):
            part = self[first : first + _AT_ONCE]
            for (antecedent, held), consequent, support in zip(
                part.antecedents, part.consequents.tolist(), part.supports.tolist(), strict=True
            ):
                yield Rule(antecedent, self.names[consequent], support, Fraction(support, held))

    @overload
    def __getitem__(self, which: int) -> Rule: ...
    @overload
    def __getitem__(self, which: Selection) -> Rules: ...
    def __getitem__(self, which: int | Selection) -> Rule | Rules:
        """One as `Rule`, or several as `Rules`: a slice, a mask or an array of positions."""
        if isinstance(which, (int, np.integer)):
            antecedent, held = self.antecedents[int(which)]
            support = int(self.supports[which])
            return Rule(antecedent, self.names[self.consequents[which]], support, Fraction(support, held))
        return Rules(
            self.antecedents[which],
            self.consequents[which],
            self.supports[which],
            self.item_supports,
            self.transactions,
        )

    def to_lists(self) -> list[tuple[list[str], str, int, Fraction]]:
        """(names of the antecedent, consequent, support, confidence) of each."""
        return [(list(rule.antecedent), rule.consequent, rule.support, rule.confidence) for rule in self]

    def to_arrow(self) -> pa.Table:
        """A table: antecedent (lists of names), consequent, support, antecedent_support, confidence, lift."""
        names = pa.array(self.names, pa.string())
        return pa.table(
            {
                "antecedent": self.antecedents.names_to_arrow(),
                "consequent": pa.DictionaryArray.from_arrays(pa.array(self.consequents), names),
                "support": self.supports,
                "antecedent_support": self.antecedents.supports,
                "confidence": self.confidences,
                "lift": self.lifts,
            }
        )

    def _summary(self) -> Summary:
        rows = [
            (f"{listed(rule.antecedent)} → {rule.consequent}", f"{rule.support:,}", f"{float(rule.confidence):.1%}")
            for rule in self[:MOST_ROWS]
        ]
        head = ("rule", "support", "confidence")
        return Summary("Rules", facts=[(len(self), "rule(s)")], head=head, rows=rows, count=len(self))


_AT_ONCE = 4096  # rules whose names are looked up at once


def rules(
    data: Transactions | Held,
    min_support: Support,
    min_confidence: float | str | Fraction,
    *,
    consequents: Iterable[str] | None = None,
    min_size: int = 2,
    max_size: int | None = None,
    items: Iterable[str] | None = None,
    **bounds: Unpack[Bounds],
) -> Rules:
    """The rules X → y: at least *min_support* transactions contain X and y, and these are at least a share
    *min_confidence* of those that contain X. Sensitive items are treated like others.

    Parameters
    ----------
    data, min_support, items
        As for `frequent`.
    min_confidence : float, str or Fraction
        A share above 0 and up to 1; compared exactly.
    consequents : iterable of str, optional
        Only rules with one of these on the right side, such as ``data.sensitive``.
    min_size, max_size : int, optional
        Leave out rules with fewer or more items, both sides together.

    Examples
    --------
    >>> data = Transactions.from_lists([["beer", "chips"], ["beer", "chips", "milk"], ["beer"], ["milk"]])
    >>> for rule in rules(data, 2, 0.6):
    ...     print(rule.antecedent, "→", rule.consequent, rule.support, rule.confidence)
    ('chips',) → beer 2 1
    ('beer',) → chips 2 2/3
    """
    if not isinstance(data, Held):
        check_transactions(data)
    known = data.vocabulary if isinstance(data, Held) else data
    limits = Limits(**bounds)
    share = exact_share(min_confidence, "min_confidence")
    check_whole(min_size, "min_size", "A rule has at least 2 items, one on each side.", least=2)
    if max_size is not None and not is_whole(max_size, min_size):
        raise InvalidArgument(
            f"{said('max_size')} is {max_size} and {said('min_size')} {min_size}.",
            f"Give a {said('max_size')} of at least {said('min_size')}, or none; both sides count.",
        )
    mined = allowed(known, items)
    right = _right_sides(known, consequents, mined)
    itemsets = _mine(data, known, min_support, max_size, mined, limits)
    with limits.guard("The search for rules", _ADVICE):
        offsets, left, left_supports, chosen, together = _native.mining.rules(
            itemsets.offsets,
            itemsets.items,
            itemsets.supports,
            right,
            confidence_num=share.numerator,
            confidence_den=share.denominator,
            min_size=min(min_size, LARGEST),
            threads=limits.thread_count,
            **limits.for_kernel(lambda _: "Searching for rules"),
        )
    alone = supports_on_engine(data) if isinstance(data, Held) else data.supports
    return Rules(Itemsets(known.names, offsets, left, left_supports), chosen, together, alone, len(data))


def _right_sides(
    data: Transactions, consequents: Iterable[str] | None, mined: npt.NDArray[np.uint8]
) -> npt.NDArray[np.uint8]:
    """A mask over the vocabulary: what may stand on the right side."""
    if consequents is None:
        return mined
    right = allowed(data, consequents)
    left_out = np.flatnonzero(right > mined)
    if len(left_out):
        raise InvalidArgument(
            f"The consequent {data.names[left_out[0]]!r} is not among the items.",
            f"Add it to {said('items')}, or remove it from {said('consequents')}.",
        )
    return right


def _mine(
    data: Transactions | Held,
    known: Transactions,
    min_support: Support,
    max_size: int | None,
    mined: npt.NDArray[np.uint8],
    limits: Limits,
) -> Itemsets:
    """All frequent itemsets, the single items too: they are the smallest antecedents."""
    items = [known.names[code] for code in np.flatnonzero(mined).tolist()]
    try:
        return frequent(data, min_support, max_size=max_size, items=items, **limits.bounds())
    except BudgetExceeded as stop:  # its advice speaks of options that rules do not have
        advice = f"Raise the limit, or use a higher {said('min_support')} or a smaller {said('max_size')}."
        raise stop.within("", advice) from None
