"""The safe itemsets that a share gets: all that it needs of the trie, in its order, and little else."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.spread import point_of_sale
from veilset import Coherence, Transactions, audit
from veilset.audit import safe_itemsets
from veilset.audit.safe_itemsets import Level, SafeItemsets, needed
from veilset.engines import Local

ITEMS = 6
HELD = Local().read(Transactions.from_lists([["a"]]))
ITEMSETS = st.lists(st.sets(st.integers(0, ITEMS - 1), min_size=2), max_size=5)


def closed(itemsets):
    """All subsets of two items or more, by size."""
    found = {part for one in itemsets for size in range(2, len(one) + 1) for part in combinations(sorted(one), size)}
    return [sorted(one for one in found if len(one) == size) for size in range(2, max(map(len, found), default=1) + 1)]


def levels_of(sizes):
    above = [(item,) for item in range(ITEMS)]
    for itemsets in sizes:
        children = [sum(one[:-1] == prefix for one in itemsets) for prefix in above]
        supports = [hash(one) % 1000 for one in itemsets]
        yield Level(
            np.array([one[-1] for one in itemsets], np.int32),
            np.array(supports, np.int64),
            np.array(children, np.int32),
        )
        above = itemsets


def itemsets_of(levels):
    """The itemsets of a trie with their supports, by size."""
    above = [(item,) for item in range(ITEMS)]
    for items, supports, children in levels:
        prefixes = [prefix for prefix, count in zip(above, children.tolist(), strict=True) for _ in range(count)]
        above = [(*prefix, item) for prefix, item in zip(prefixes, items.tolist(), strict=True)]
        yield dict(zip(above, supports.tolist(), strict=True))


@given(ITEMSETS, st.integers(0, ITEMS - 1), st.integers(1, ITEMS), st.integers(0, ITEMS), st.integers(1, 8))
def test_a_share_gets_its_itemsets_and_the_parts_of_larger_ones(itemsets, first, branches, second, in_part):
    sizes, end = closed(itemsets), min(first + branches, ITEMS)
    second = second if end == first + 1 and second > first else 0
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(safe_itemsets, "IN_PART", in_part)
        safe = SafeItemsets(HELD, triples=True)
        for level in levels_of(sizes):
            safe.add(level)
    assert safe.any_in_last == (not sizes or bool(sizes[-1]))
    found = list(itemsets_of(needed(safe.parts, first, end, second)))
    whole = {one: hash(one) % 1000 for same in sizes for one in same}
    got = {one: support for same in found for one, support in same.items()}
    assert got.items() <= whole.items()
    mine = {one for one in whole if first <= one[0] < end and one[1] >= second}
    assert {one for one in got if first <= one[0] < end} == mine
    assert set(got) >= {one[1:] for one in mine if len(one) > 2}
    extending = set(range(first, end)).union(*mine)
    assert all(set(one) <= extending for one in got)


def test_no_part_that_is_opened_is_all_of_them(monkeypatch):
    """The same answer, though a task opens few itemsets at once, and keeps fewer than there are."""
    data, promise = point_of_sale(3000), Coherence(h=1, k=8, p=4)
    held = Local(pieces=3).read(data)
    whole = audit(held, promise, witnesses=50)
    opened, kept, keep = [], [], safe_itemsets._kept

    def watched(part, levels, *asked):
        found = keep(part, levels, *asked)
        opened.append(sum(len(level.items) for level in levels))
        kept.append(sum(len(level.items) for level in found))
        return found

    monkeypatch.setattr(safe_itemsets, "IN_PART", 100)
    monkeypatch.setattr(safe_itemsets, "_kept", watched)
    assert audit(held, promise, witnesses=50) == whole
    assert max(opened) < whole.checked / 10
    assert sum(kept) < sum(opened)
