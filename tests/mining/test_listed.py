"""Asking a growing list of moles: the answers of `Keeping`, which asks the data."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.spread import longest, point_of_sale
from veilset import BudgetExceeded, Transactions
from veilset.engines import Local
from veilset.mining import InMemory, OnEngine, listed, spread
from veilset.testing import oracles, strategies
from veilset.testing.checks import as_sets


def question(promise, data):
    return {"k": promise.k, "h": promise.share, "max_size": promise.p or longest(data)}


@examples(400)
@given(strategies.transactions(max_rows=14), strategies.coherence_promises(), st.integers(1, 4), st.data())
def test_the_answers_of_keeping(data, promise, block, draw):
    assume(not oracles.empty_set_breaks(as_sets(data), data.sensitive, promise.share, promise.k))
    asked = question(promise, data)
    engine = OnEngine(Local(pieces=2).read(data))
    alone = set(InMemory(data).moles({**asked, "max_size": 1}).items.tolist())
    items = [name for code, name in enumerate(data.names) if name in data.public and code not in alone]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(listed, "FIRST_BLOCK", block)
        for _ in range(2):  # what was listed for the first is there for the second
            here, there = InMemory(data).keeping(asked), engine.keeping(asked)
            kept = set()
            for item in draw.draw(st.lists(st.sampled_from(items), max_size=12)) if items else ():
                if item in kept:
                    here.drop(item)
                    there.drop(item)
                    kept.remove(item)
                    continue
                brings = here.brings_mole(item)
                assert there.brings_mole(item) == brings
                if not brings:
                    here.keep(item)
                    there.keep(item)
                    kept.add(item)


def test_the_question_may_change_afterwards():
    """As that of `generalize` does, which asks for single items next."""
    data = Transactions.from_lists([["a"], ["b"], ["a", "b"], ["a"], ["b"]])
    asked = {"k": 2, "h": 1, "max_size": 2}
    kept = OnEngine(Local().read(data)).keeping(asked)
    asked["max_size"] = 1
    kept.keep("a")
    assert kept.brings_mole("b")


def test_blocks_are_halved_until_the_list_is_short_enough(monkeypatch):
    data = point_of_sale(500).with_sensitive([])
    asked = {"k": 5, "h": 1, "max_size": 2}
    here, engine = InMemory(data), OnEngine(Local(pieces=2).read(data))
    alone = set(here.moles({**asked, "max_size": 1}).items.tolist())
    frequent = [data.names[code] for code in (-data.supports).argsort(kind="stable").tolist() if code not in alone]
    monkeypatch.setattr(spread, "MOST_MOLES", 20)
    kept = engine.keeping(asked)
    for item in frequent[:8]:
        expected = here.keeping(asked)
        for other in frequent[: frequent.index(item)]:
            expected.keep(other)
        assert kept.brings_mole(item) == expected.brings_mole(item)
        kept.keep(item)
    with refused(BudgetExceeded, "More than 20 sets"):
        for item in frequent[8:]:
            if not kept.brings_mole(item):
                kept.keep(item)
