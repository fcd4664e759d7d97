"""Itemsets on an engine, in this process: the counts in memory."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from veilset import mining
from veilset.engines import Local
from veilset.limits import Limits
from veilset.mining.spread_itemsets import pairs_held
from veilset.testing import strategies

PIECES = st.integers(1, 4)


@given(strategies.transactions(), PIECES, st.lists(st.sets(st.integers(0, 5)), max_size=5))
def test_supports(data, pieces, drawn):
    names = [[data.names[code] for code in sorted(codes) if code < len(data.names)] for codes in drawn]
    ends = np.cumsum([0, *map(len, names)], dtype=np.int64)
    codes = data.codes(name for itemset in names for name in itemset).astype(np.int32)
    asked = mining.Itemsets(data.names, ends, codes, np.zeros(len(names), dtype=np.int64))
    found = mining.supports_held(Local(pieces=pieces).read(data), asked, Limits())
    assert found.tolist() == mining.supports(data, names).tolist()


@given(strategies.transactions(), PIECES, st.sets(st.integers(0, 5)))
def test_pairs(data, pieces, drawn):
    codes = np.array(sorted(code for code in drawn if code < len(data.names)), dtype=np.int64)
    found = pairs_held(Local(pieces=pieces).read(data), codes, Limits())
    told = {
        ((data.names[one], data.names[other]), count)
        for one, other, count in zip(*map(np.ndarray.tolist, found), strict=True)
    }
    assert told == set(mining.pairs(data, items=[data.names[code] for code in codes.tolist()]))
    assert len(told) == len(found.supports)
