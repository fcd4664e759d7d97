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


@dataclass(frozen=True, init=False)
class LDiverseAnatomy(Promise):
    """Protects what goes together: who knows a person's items in some columns cannot be sure of those in another.

    Items are cut into columns, transactions into buckets (`Transactions.anatomy`). In every bucket and column no value
    (the set of a transaction's items in that column) belongs to more than a share 1/l of the bucket. So an attacker
    who knows other columns and finds the bucket, and to whom all arrangements inside it are equally likely, guesses a
    value with a probability of at most 1/l. Transactions without buckets and columns, or with a single column, are
    published whole: each is a bucket of its own.

    Parameters
    ----------
    l : number
        1 or more, such as 2, 2.5 or ``"5/2"``.
    empty : {"value", "free"}
        Whether having no item of a column is a value like others. If it is free, no other value may belong to more
        than a share 1/l of those who have one. In columns of sensitive items it is always free; such columns hold no
        public item.

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
    ) -> None:
        if empty not in get_args(Empty):
            raise InvalidArgument(f"{said('empty')} is {empty!r}.", f"Say {' or '.join(map(repr, get_args(Empty)))}.")
        object.__setattr__(self, "l", exact_factor(l, "l"))
        object.__setattr__(self, "empty", empty)

    def __repr__(self) -> str:
        free = ", empty='free'" if self.empty == "free" else ""
        return f"LDiverseAnatomy(l={self.l}{free})"

    @property
    def excludes_nothing(self) -> Mapping[str, object]:
        """No value can belong to more than all."""
        return {"l": 2} if self.l == 1 else {}

    def empty_is_free(self, *, sensitive: bool) -> bool:
        """Whether having no item is free in a column of sensitive, or of public, items."""
        return sensitive or self.empty == "free"

    def check_drop_empty(self) -> None:
        """Raise: an empty row has its place in a bucket, and is nobody's."""
        raise InvalidArgument(
            f"{said('drop_empty')} cannot be combined with {self.name}: an empty row has its place in a bucket.",
            f"Remove empty transactions from the data first, or leave {said('drop_empty')} out.",
        )

    def parameters(self) -> dict[str, Parameter]:
        """l as text, so that it stays exact."""
        return {"l": str(self.l), "empty": self.empty}

    def not_promised(self) -> tuple[str, ...]:
        """What it does not cover."""
        sentences = [
            "Items of one column are published together, unchanged: an attacker who knows some of them may learn the "
            "others, "
            "sensitive ones too.",
            "The release does not hide who is in the data, or in which bucket.",
            "The promise does not cover an attacker who knows, or learns by comparing many buckets, which values of "
            "different columns tend to occur together.",
            "The promise does not cover an attacker who knows the values of others in the same bucket.",
            "The promise does not cover an attacker who reasons from how the buckets were made.",
            "The columns may have been chosen from the original data. If so, items that share one tend to occur "
            "together.",
        ]
        if self.empty == "free":
            sentences.append("An attacker may be certain that a person has no item of a column.")
        else:
            sentences.append("If items are sensitive, an attacker may be certain that a person has none of them.")
        return tuple(sentences)
