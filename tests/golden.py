"""The running example of the ICDM paper (Fig. 1) and the thesis (Fig. 10)."""

from veilset.models import Coherence
from veilset.transactions import Transactions

ROWS = ["abef 1", "cefg 2", "abg 3", "abfg 2", "abdg 2", "efg 1", "befg 3"]


def running_example() -> Transactions:
    rows = [[*public, f"s{illness}"] for public, illness in map(str.split, ROWS)]
    return Transactions.from_lists(rows, sensitive=["s1", "s2", "s3"])


PROMISE = Coherence(h="1/2", k=3, p=3)
