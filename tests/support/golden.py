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

# Pattern hiding (Lee, Chang, Chen 2004): Figures 4 and 5, at a support of 30%. Figure 4 prints a wrong last row.
FIGURE_4 = ["45", "24", "125", "135", "1235", "245"]
FIGURE_4_HIDDEN = ["45", "125"]
FIGURE_4_KEEP = ["24", "135"]
FIGURE_4_SUPPORT = "30%"
HF_VICTIMS = ["21", "51", "52", "54"]  # S_21 = S_51 = S_52 = S_54 = -1
NHF_VICTIMS = ["21", "52", "54"]
NHF_KEPT = ["13", "31", "24", "42", "35", "53"]  # = 1
HF_RELEASE = ["5", "24", "5", "35", "35", "5"]
NHF_RELEASE = ["5", "24", "5", "135", "135", "245"]
SPARING_RELEASE = ["5", "24", "5", "135", "35", "5"]  # HF that spares shared pairs, and HPCME with p_r = 0
