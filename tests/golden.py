"""The worked examples of the papers, as data."""

from fractions import Fraction

from veilset.models import Coherence
from veilset.transactions import Transactions

# The running example of the ICDM paper (Fig. 1) and the thesis (Fig. 10).
ROWS = ["abef 1", "cefg 2", "abg 3", "abfg 2", "abdg 2", "efg 1", "befg 3"]


def running_example() -> Transactions:
    rows = [[*public, f"s{illness}"] for public, illness in map(str.split, ROWS)]
    return Transactions.from_lists(rows, sensitive=["s1", "s2", "s3"])


PROMISE = Coherence(h="1/2", k=3, p=3)


# ρ-uncertainty (Cao et al. 2010): Table 1 with the hierarchy of Figure 15, at ρ = 0.7 (Examples A.1 and A.2).
RHO = Fraction(7, 10)
TABLE_1 = [row.split() for row in ("a1 b1 b2 α γ", "a1 a2 b2", "a2 b2", "a2 γ", "a1 b2 α γ")]
TABLE_1_SENSITIVE = ["α", "γ"]
TABLE_1_TREE = {"a1": ["A"], "a2": ["A"], "b1": ["B"], "b2": ["B"]}
TABLE_3 = [row.split() for row in ("a1 b2 γ", "a1 a2 b2", "a2 b2", "a2 γ", "a1 b2 γ")]

# Example 3.1 with the hierarchy of Figure 1.
EXAMPLE_3_1 = [["wine", "fish", "pregnancy test", "viagra"], ["wine", "beef"], ["beer"]]
EXAMPLE_3_1_SENSITIVE = ["pregnancy test", "viagra"]
EXAMPLE_3_1_TREE = {"beer": ["alcohol"], "wine": ["alcohol"], "fish": ["meat"], "beef": ["meat"]}

# Figure 16: no rule reaches 3/4, until a1 and a2 are generalized to A.
FIGURE_16 = [["a1", "α"], ["a2", "α"], ["a1", "a2", "α"], ["a1", "a2"]]

# Against the paper's claim that everything at ALL is ρ-uncertain (§5): ALL -> γ has 3/4. γ and δ are sensitive.
UNSAFE_AT_ALL = [["a", "γ"]] * 3 + [["b"]] + [["δ"]] * 6
