"""l-diverse multi-dimension anatomy: buckets of transactions whose columns are published apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar, Literal, get_args

from veilset.errors import InvalidArgument, said
from veilset.exact import exact_factor
from veilset.models.promise import Edit, Parameter, Promise
from veilset.options import Option

Empty = Literal["value", "free"]
"""What having no item of a column is: a value like others, or free for everybody to know."""

Rule = Literal["value", "free", "sensitive"]
"""What limits the values of a column: see `LDiverseAnatomy.rule`."""


@dataclass(frozen=True, init=False)
class LDiverseAnatomy(Promise):
    """Protects what belongs together: an attacker who knows a person's items in some columns guesses those in another.

    Items are cut into columns, transactions into buckets (`Transactions.anatomy`), and a bucket's columns are published
    apart. A transaction's value in a column is the set of its items there, perhaps none. The attacker knows a person's
    bucket and values in any other columns, and that nobody's transaction is empty. All arrangements of the bucket's
    values that leave no transaction empty are equally likely to him. Then no value of a column has a probability above
    1/l. That a person has any sensitive item has none above 1/l, either.

    An anatomy has no empty transaction. Transactions without buckets and columns, or with a single column, are
    published whole: each is a bucket of its own.

    Parameters
    ----------
    l : number
        1 or more, such as 2, 2.5 or ``"5/2"``.
    empty : {"value", "free"}
        Whether having no item of a public column is a value like others. If it is free, it may be known, and the other
        values are limited among those who have one. Columns of sensitive items hold no public item.
    items : bool
        Whether single public items are limited, too: each item that at most a share 1/l of the transactions with any
        item of its column have, has a probability of at most 1/l. Without it, an item may be in all values of a bucket.

    Examples
    --------
    >>> LDiverseAnatomy(l=2)
    LDiverseAnatomy(l=2)
    >>> LDiverseAnatomy(l="5/2", empty="free").parameters()
    {'l': '5/2', 'empty': 'free'}
    """

    name: ClassVar[str] = "l-diverse-anatomy"
    edits: ClassVar[Edit] = "buckets"

    l: Fraction  # noqa: E741 - the paper's letter
    empty: Empty
    items: bool

    def __init__(
        self,
        l: Annotated[  # noqa: E741
            float | str | Fraction,
            Option(
                "share",
                "Diversity of every bucket. At most 1 in l of its rows have the same value in a column: 2, 2.5 or 5/2.",
                "2",
            ),
        ],
        *,
        empty: Annotated[
            Empty,
            Option(
                "choice",
                "Treat having no item of a column as a value like others (default), or as free to know.",
                choices=get_args(Empty),
            ),
        ] = "value",
        items: Annotated[
            bool, Option("switch", "Limit single public items, too, not only the set of a person's items in a column.")
        ] = False,
    ) -> None:
        if empty not in get_args(Empty):
            raise InvalidArgument(f"{said('empty')} is {empty!r}.", f"Say {' or '.join(map(repr, get_args(Empty)))}.")
        object.__setattr__(self, "l", exact_factor(l, "l"))
        object.__setattr__(self, "empty", empty)
        object.__setattr__(self, "items", items)

    def __repr__(self) -> str:
        free = ", empty='free'" if self.empty == "free" else ""
        return f"LDiverseAnatomy(l={self.l}{free}{', items=True' * self.items})"

    @property
    def excludes_nothing(self) -> Mapping[str, object]:
        """No value can belong to more than all."""
        return {"l": 2} if self.l == 1 else {}

    def rule(self, *, sensitive: bool) -> Rule:
        """What limits a column of sensitive, or of public, items.

        ``value``: every value, having nothing too. ``free``: every other value, among the transactions that have one.
        ``sensitive``: all values but having nothing, taken together.
        """
        return "sensitive" if sensitive else self.empty

    def check_drop_empty(self) -> None:
        """Raise: an anatomy never has empty transactions."""
        raise InvalidArgument(
            f"{said('drop_empty')} cannot be combined with {self.name}: empty transactions are always withheld.",
            f"Leave {said('drop_empty')} out.",
        )

    def parameters(self) -> dict[str, Parameter]:
        """l as text, so that it stays exact."""
        single: dict[str, Parameter] = {"items": True} if self.items else {}  # certificates of earlier versions lack it
        return {"l": str(self.l), "empty": self.empty, **single}

    def not_promised(self) -> tuple[str, ...]:
        """What it does not cover."""
        sentences = [
            "Items of one column are published together, unchanged: an attacker who knows some of them may learn the "
            "others, sensitive ones too.",
            "The release does not hide who is in the data, or in which bucket.",
            "The promise does not cover an attacker who knows, or learns by comparing many buckets, which values of "
            "different columns tend to occur together.",
            "The promise does not cover an attacker who knows the values of others in the same bucket.",
            "The promise does not cover an attacker who reasons from how the buckets were made.",
            "The columns may have been chosen from the original data. If so, items that share one tend to occur "
            "together.",
        ]
        if not self.items:
            sentences.append("An item can be in all values of a bucket's column: then everybody in the bucket has it.")
        if self.empty == "free":
            sentences.append("An attacker may be certain that a person has no item of a column.")
        else:
            sentences.append("If items are sensitive, an attacker may be certain that a person has none of them.")
        return tuple(sentences)
