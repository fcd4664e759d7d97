"""Options that methods share, declared once: a method takes one by naming its type here."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Annotated, TypeAlias

from veilset.anonymize.chance import Share
from veilset.anonymize.worth import Weights
from veilset.options import Option

__all__ = [
    "Certify",
    "Items",
    "KeepPatterns",
    "Margin",
    "NuggetSize",
    "NuggetSupport",
    "Plain",
    "RandomState",
    "SensitiveWeight",
    "WeightsOption",
]

WeightsOption: TypeAlias = Annotated[
    Weights,
    Option(
        "weights",
        "Cost of losing an item: a CSV file item,weight (others weigh 1), or: equal. By default its occurrences.",
    ),
]
Items: TypeAlias = Annotated[
    Iterable[str],
    Option("items", "File with items that must survive, one name a line. Repeatable.", flag="keep"),
]
SensitiveWeight: TypeAlias = Annotated[
    int,
    Option("whole", "Number of times a sensitive occurrence counts. More of them stay, under coarser public names."),
]
NuggetSupport: TypeAlias = Annotated[
    int | float | str | Fraction | None,
    Option("count or share", "Number of transactions at which an itemset is worth keeping: 30, or a share such as 1%."),
]
NuggetSize: TypeAlias = Annotated[int | None, Option("whole", "Largest size of an itemset worth keeping.")]
Plain: TypeAlias = Annotated[
    bool, Option("switch", "Run the published algorithm alone: put nothing back, try nothing else.")
]
Certify: TypeAlias = Annotated[
    bool,
    Option(
        "switch",
        "Where patterns are hidden, the product alone may leave some: then nothing is written.",
        flag="plain",
        means=False,
        public=True,
    ),
]
KeepPatterns: TypeAlias = Annotated[
    Iterable[Iterable[str]] | None,
    Option("patterns", "File with the patterns to keep. By default all that are frequent. Repeatable."),
]
Margin: TypeAlias = Annotated[
    Share,
    Option(
        "share",
        "How far below the limit a hidden pattern may have to fall, by default 1/2. Each gets a random level.",
        public=True,
    ),
]
RandomState: TypeAlias = Annotated[
    int | None,
    Option(
        "whole",
        "Secret seed of random choices, by default a random one. Kept in OUT/custodian/recipe.toml.",
        secret=True,
    ),
]
