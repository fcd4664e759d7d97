"""Transactions in classes, here and on an engine: which items may join, one after the other."""

from fractions import Fraction
from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from veilset import Coherence, Transactions
from veilset.engines import Local
from veilset.mining import InMemory, OnEngine
from veilset.testing import strategies


def safe(rows, joined, sensitive, k, h):
    """Whether transactions that are equal in some items are k at least, and no sensitive item is too frequent."""
    part = {id(row): tuple(sorted(row & joined)) for row in rows}
    for _, members in groupby(sorted(rows, key=lambda row: part[id(row)]), key=lambda row: part[id(row)]):
        equal = list(members)
        if len(equal) < k or any(sum(item in row for row in equal) > h * len(equal) for item in sensitive):
            return False
    return True


@given(strategies.sparse_or_dense(), strategies.coherence_promises(), st.integers(1, 4), st.randoms())
def test_an_item_joins_if_classes_stay_large_and_safe(data, promise, pieces, random):
    order = random.sample(data.public, len(data.public))
    question = {"k": promise.k, "h": promise.share, "max_size": None}
    rows = [set(row) for row in data]
    if not order or not safe(rows, set(), data.sensitive, promise.k, Fraction(promise.share)):
        return
    joined = set()
    for item in order:
        if safe(rows, joined | {item}, data.sensitive, promise.k, Fraction(promise.share)):
            joined.add(item)
    for miner in (InMemory(data), OnEngine(Local(pieces=pieces).read(data))):
        may_join = miner.splitting(question, order)
        assert {item for item in order if may_join(item)} == joined


def test_rounds_are_as_many_as_items_that_join(monkeypatch):
    rows = [["a", "b"], ["a"], ["b"], []] * 3 + [[f"rare{number}", "a"] for number in range(50)]
    data = Transactions.from_lists(rows)
    held = Local(pieces=2).read(data)
    dealt, rounds = type(held).dealt, []
    monkeypatch.setattr(type(held), "dealt", lambda *asked: rounds.append(asked) or dealt(*asked))
    may_join = OnEngine(held).splitting({"k": 3, "h": Coherence(k=3, p=1).share, "max_size": None}, data.public)
    joined = [item for item in data.public if may_join(item)]
    assert joined == ["a", "b"]
    assert len(rounds) == 2
