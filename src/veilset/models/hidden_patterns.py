"""Hidden patterns: Lee, Chang, Chen (2004); and hidden rules, which are what users ask for."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, ClassVar

from veilset.errors import InvalidArgument, said
from veilset.exact import Support, exact_share, exact_support, support_of
from veilset.models.promise import Edit, Parameter, Promise, Vacuous
from veilset.options import Option
from veilset.transactions import Transactions
from veilset.transactions.vocabulary import item_name, vocabulary_order

Side = str | Iterable[str]
"""One side of a rule: an item, or several."""

_NOT_PROMISED = (
    "No person is protected: only patterns are hidden.",
    "Anyone who knows or suspects a hidden pattern can count how often it still occurs, and compare that with similar "
    "data.",
    "Patterns that are not listed are not hidden, nor is what they imply.",
)


_MinSupport = Annotated[
    Support,
    Option(
        "count or share",
        "Number of transactions at which a pattern (or both sides of a rule) counts as discoverable: 30, or 1%.",
        "1%",
    ),
]


class _Hidden(Promise):
    """What both promises have: a list of itemsets, and the support at which one is discoverable."""

    secret: ClassVar[bool] = True
    edits: ClassVar[Edit] = "occurrences"
    about_people: ClassVar[bool] = False
    may_lack_items: ClassVar[bool] = True

    min_support: int | Fraction

    @property
    @abstractmethod
    def itemsets(self) -> tuple[tuple[str, ...], ...]:
        """The sets of items whose support must be reduced."""

    @property
    def secrets(self) -> int:
        """How many patterns or rules are listed."""
        return len(self.itemsets)

    def __eq__(self, other: object) -> bool:
        # Not the fields: to Python 1 is Fraction(1), but one stands for a transaction and the other for all of them.
        return isinstance(other, type(self)) and self.parameters() == other.parameters()

    def __hash__(self) -> int:
        return hash(tuple(self.parameters().values()))

    def least_support(self, transactions: int) -> int:
        """The support at which an itemset is discoverable among so many transactions."""
        return support_of(self.min_support, transactions)

    def excludes_nothing_in(self, data: Transactions, *, transactions: int | None = None) -> Vacuous | None:
        """No pattern is in more transactions than there are.

        >>> data = Transactions.from_lists([["tea", "milk"], ["tea"]])
        >>> HiddenPatterns([["tea", "milk"]], min_support=3).excludes_nothing_in(data).instead
        {'min_support': '1%'}
        """
        count = len(data) if transactions is None else transactions
        if isinstance(self.min_support, int) and self.min_support > count:
            why = (
                f"{said('min_support', self.min_support)} is more than the {count:,} transactions, so the promise "
                f"excludes nothing: none of the listed {self.listed} can be in so many."
            )
            return Vacuous(why, {"min_support": "1%"})
        return super().excludes_nothing_in(data, transactions=transactions)

    def check_items(self, data: Transactions) -> None:
        """Raise if a listed item is not in the original: a misspelled name would hide nothing."""
        data.codes(item for itemset in self.itemsets for item in itemset)

    def check_drop_empty(self) -> None:
        """Raise if min_support is a share: with fewer transactions, hidden patterns could reach it."""
        if isinstance(self.min_support, Fraction):
            raise InvalidArgument(
                f"{said('drop_empty')} cannot be combined with {said('min_support', str(self.min_support))}, a share: "
                "of "
                "fewer transactions, the same share is a lower number, and hidden patterns would be discoverable "
                "again.",
                f"Give {said('min_support')} as a number of transactions, or leave {said('drop_empty')} out.",
            )


@dataclass(frozen=True, init=False, eq=False)
class HiddenPatterns(_Hidden):
    """Protects the listed patterns: none of them reaches *min_support* in the release.

    Parameters
    ----------
    patterns : iterable of iterables of str
        Sets of items that must not be discoverable.
    min_support : int, float or str
        Number of transactions at which a pattern counts as discoverable: a whole number, or a share of the
        transactions such as 0.01 or ``"1%"``.

    Examples
    --------
    >>> HiddenPatterns([["tea", "milk"]], min_support="1%")
    HiddenPatterns((('milk', 'tea'),), min_support=1/100)
    """

    name: ClassVar[str] = "hidden-patterns"
    listed: ClassVar[str] = "patterns"

    patterns: tuple[tuple[str, ...], ...]
    min_support: int | Fraction

    def __init__(
        self,
        patterns: Annotated[
            Iterable[Iterable[str]],
            Option(
                "patterns",
                "File with the patterns to hide, one per line with commas, or a table from veilset mine.",
                "patterns.txt",
            ),
        ],
        min_support: _MinSupport,
    ) -> None:
        object.__setattr__(self, "patterns", _patterns(patterns))
        object.__setattr__(self, "min_support", exact_support(min_support))

    def __repr__(self) -> str:
        return f"HiddenPatterns({_shown(self.patterns)}, min_support={_written(self.min_support)})"

    @property
    def itemsets(self) -> tuple[tuple[str, ...], ...]:
        """The sets of items whose support must be reduced."""
        return self.patterns

    def parameters(self) -> dict[str, Parameter]:
        """A share as text, so that it stays exact."""
        return {"patterns": self.patterns, "min_support": _written(self.min_support)}

    def not_promised(self) -> tuple[str, ...]:
        """What the promise leaves open."""
        return (*_NOT_PROMISED, "Parts of a hidden pattern may still be discoverable.")


@dataclass(frozen=True, init=False, eq=False)
class HiddenRules(_Hidden):
    """Protects the listed rules: none has both *min_support* and *min_confidence* in the release.

    Parameters
    ----------
    rules : iterable of pairs
        Antecedent and consequent of each, an item or several; or rules from `veilset.mining.rules`.
    min_support : int, float or str
        Number of transactions with both sides at which a rule counts as discoverable: a whole number, or a share of
        the transactions such as 0.01 or ``"1%"``.
    min_confidence : share
        Confidence at which a rule counts as discoverable: the share of transactions with the antecedent that contain
        the consequent.

    Examples
    --------
    >>> HiddenRules([(["tea", "scones"], "milk")], min_support=3, min_confidence=0.4)
    HiddenRules(((('scones', 'tea'), ('milk',)),), min_support=3, min_confidence=2/5)
    """

    name: ClassVar[str] = "hidden-rules"
    listed: ClassVar[str] = "rules"

    rules: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    min_support: int | Fraction
    min_confidence: Fraction

    def __init__(
        self,
        rules: Annotated[
            Iterable[tuple[Side, Side]],
            Option(
                "rules",
                "File with the rules to hide, one per line such as bread, butter -> milk, or a table from veilset "
                "mine.",
                "rules.txt",
            ),
        ],
        min_support: _MinSupport,
        min_confidence: Annotated[
            float | str | Fraction,
            Option("share", "Confidence at which a rule counts as discoverable: 0.4, 40% or 2/5.", "40%"),
        ],
    ) -> None:
        object.__setattr__(self, "rules", _rules(rules))
        object.__setattr__(self, "min_support", exact_support(min_support))
        object.__setattr__(self, "min_confidence", exact_share(min_confidence, "min_confidence"))

    def __repr__(self) -> str:
        asked = f"min_support={_written(self.min_support)}, min_confidence={self.min_confidence}"
        return f"HiddenRules({_shown(self.rules)}, {asked})"

    @property
    def itemsets(self) -> tuple[tuple[str, ...], ...]:
        """Both sides of each rule together: the sets of items whose support must be reduced."""
        return tuple(_in_order((*antecedent, *consequent), "A rule") for antecedent, consequent in self.rules)

    def parameters(self) -> dict[str, Parameter]:
        """Shares as text, so that they stay exact."""
        return {
            "rules": self.rules,
            "min_support": _written(self.min_support),
            "min_confidence": str(self.min_confidence),
        }

    def not_promised(self) -> tuple[str, ...]:
        """What the promise leaves open."""
        return (*_NOT_PROMISED, "Rules with some of the items may still be discoverable.")


def _patterns(patterns: Iterable[Iterable[str]]) -> tuple[tuple[str, ...], ...]:
    found = []
    for number, pattern in enumerate(_several(patterns, "patterns"), start=1):
        if isinstance(pattern, (str, bytes)) or not isinstance(pattern, Iterable):
            raise InvalidArgument(f"Pattern {number} is {pattern!r}.", f"Give a list of items, such as [{pattern!r}].")
        items = _in_order(pattern, f"Pattern {number}")
        if not items:
            raise InvalidArgument(f"Pattern {number} has no items.", "Name at least one.")
        found.append(items)
    if not found:
        raise InvalidArgument("There is no pattern to hide.", "List at least one.")
    return tuple(dict.fromkeys(found))


def _rules(rules: Iterable[tuple[Side, Side]]) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    found = []
    for number, rule in enumerate(_several(rules, "rules"), start=1):
        sides = (rule.antecedent, rule.consequent) if hasattr(rule, "antecedent") else rule
        try:
            antecedent, consequent = ([side] if isinstance(side, str) else [*side] for side in sides)
        except (TypeError, ValueError):
            raise InvalidArgument(
                f"Rule {number} is {rule!r}.", "Give a pair: its antecedent and its consequent, as lists of items."
            ) from None
        left, right = (_in_order(side, f"Rule {number}") for side in (antecedent, consequent))
        if not left or not right:
            raise InvalidArgument(f"Rule {number} has an empty side.", "Name at least one item on either side.")
        if both := set(left).intersection(right):
            raise InvalidArgument(f"Rule {number} has {min(both)!r} on both sides.", "Remove it from one side.")
        found.append((left, right))
    if not found:
        raise InvalidArgument("There is no rule to hide.", "List at least one.")
    return tuple(dict.fromkeys(found))


def _several(values: Iterable[Any], what: str) -> Iterable[Any]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InvalidArgument(f"{what} is {values!r}.", "Give a list.")
    return values


def _in_order(items: Iterable[str], where: str) -> tuple[str, ...]:
    """The items in the order of a vocabulary. One that is named twice is a slip: the pattern would be a smaller one."""
    names = [item_name(item, where) for item in items]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidArgument(f"{where} lists {twice!r} twice.", "Remove or correct one of them.")
    return tuple(names[place] for place in vocabulary_order(names))


def _shown(listed: tuple[object, ...]) -> str:
    return str(listed) if len(listed) <= 3 else f"<{len(listed)} of them>"


def _written(support: int | Fraction) -> int | str:
    # All transactions are "1/1": "1" would be one transaction.
    return support if isinstance(support, int) else f"{support.numerator}/{support.denominator}"
