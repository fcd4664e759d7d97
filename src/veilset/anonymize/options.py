"""Options that methods share, declared once: a method takes one by naming its type here.

What they mean is said here too: the docstring of a method describes only the options that are its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal, TypeAlias

from veilset.anonymize.chance import Share
from veilset.anonymize.weights import Weights
from veilset.exact import Support
from veilset.options import Option
from veilset.transactions import TaxonomyLike

Chosen: TypeAlias = Annotated[
    Iterable[str] | None,
    Option("texts", "What an earlier run chose, as its recipe names it: nothing is searched anew.", recorded=True),
]
"""What an earlier run chose to suppress (with a taxonomy, or for ρ-uncertainty: to keep): the same again, without a
search, which might choose otherwise where a time limit decided."""

LargestListed: TypeAlias = Annotated[
    int | None,
    Option(
        "whole", "Largest size of itemsets that an earlier run listed one by one, as its recipe says.", recorded=True
    ),
]
"""None: all sizes, if that does not take too long."""

WeightsOption: TypeAlias = Annotated[
    Weights,
    Option(
        "weights",
        "Cost of losing an item. Default: its occurrences. Items that are not listed weigh 1.",
    ),
]
Items: TypeAlias = Annotated[
    Iterable[str],
    Option("items", "Items that must survive.", flag="keep"),
]
SensitiveWeight: TypeAlias = Annotated[
    int,
    Option(
        "whole",
        "Weight of a sensitive occurrence. A larger weight keeps more of them, with coarser public names.",
        most=1000,
    ),
]
NuggetSupport: TypeAlias = Annotated[
    Support | None,
    Option("count or share", "Number of transactions at which an itemset is worth keeping: 30, or a share such as 1%."),
]
"""k'; None: 1% of the transactions, but at least k."""

NuggetSize: TypeAlias = Annotated[int | None, Option("whole", "Largest size of an itemset worth keeping.")]
_AS_PUBLISHED = "Run the published algorithm only: restore no item, try no other strategy."
AsPublished: TypeAlias = Annotated[bool, Option("switch", _AS_PUBLISHED)]
Restore: TypeAlias = Annotated[bool, Option("switch", _AS_PUBLISHED, flag="as-published", means=False)]
"""Put back what need not have gone: the result is maximal. False: the algorithm as published."""

Exchange: TypeAlias = Annotated[
    bool,
    Option("switch", "Restore an item only if nothing else has to be removed for it.", flag="no-exchange", means=False),
]
"""Restore items also where something cheaper has to be removed or recoded for them."""

TaxonomyOption: TypeAlias = Annotated[
    TaxonomyLike | None,
    Option("taxonomy", "Groups of the items."),
]
"""None: as the method says. Its flag is that of reading: the same taxonomy serves sensitive branches."""

NameLeavesFrom: TypeAlias = Annotated[
    int | None,
    Option(
        "whole",
        "Minimum number of transactions with an item for the certificate to list it under a coarser name; 0: list all.",
        least=0,
    ),
]
"""None: 0 for a taxonomy that is given, whose items need not occur; `RARE` for a tree made from the data, in which
every item does."""

RARE = 5
"""Fewer people than this have an item that is rare: it is listed nowhere, and no group is named after it."""

Certify: TypeAlias = Annotated[
    bool,
    Option(
        "switch",
        "Run the published algorithm only. If a pattern stays discoverable, nothing is written.",
        flag="no-certify",
        means=False,
        public=True,
    ),
]
"""Go on until everything is hidden: p_r is lowered in ten steps until all is hidden that a lower p_r can hide, then
victims go, and what need not have gone is put back. False: the product alone, which promises nothing."""

Truthful: TypeAlias = Annotated[
    bool,
    Option(
        "switch",
        "Limit what the released rows give away, whatever the original says: confidences in the release may be false.",
        flag="untruthful",
        means=False,
    ),
]
"""The limits on sensitive items hold for everything that occurs in the release, also as counted in the original. False:
only in the release; how much would exceed them in truth is counted and told."""

Effort: TypeAlias = Annotated[
    Literal["normal", "high"],
    Option(
        "choice",
        "Work spent on losing less. high: minutes instead of seconds, with a random seed.",
        choices=("normal", "high"),
    ),
]
"""With high, long random searches compete with what normal finds, and the best result wins."""

Partial: TypeAlias = Annotated[
    bool,
    Option("switch", "Delete single occurrences of what still breaks the promise, so that names stay finer."),
]
"""After recoding, names leave only the transactions in which they do harm, instead of all: see `partial`."""

KeepPatterns: TypeAlias = Annotated[
    Iterable[Iterable[str]] | None,
    Option("patterns", "Patterns to keep. Default: all frequent ones."),
]
"""The non-sensitive patterns, whose loss is to be avoided. None: the maximal ones among the itemsets that reach
min_support and contain no hidden pattern."""

Margin: TypeAlias = Annotated[
    Share | None,
    Option(
        "share",
        "Range of the random levels: hidden patterns end below a share, from 1 - margin to 1, of the minimum support. "
        "Default: at most 1/2.",
        public=True,
    ),
]
"""For each pattern, a level between 1 - margin and 1 times min_support is drawn. With 0 all end just below min_support,
and point at themselves. None: each pattern has its own margin, so that it does not stand out more than it must."""

RandomState: TypeAlias = Annotated[
    int | None,
    Option(
        "whole",
        "Secret seed of random choices. Default: random. Kept in the release's custodian/recipe.toml.",
        least=0,
        most=2**64 - 1,
        secret=True,
    ),
]
"""Whoever knows it can undo what chance did. None: one that nobody can guess; ``release.options`` has it."""
