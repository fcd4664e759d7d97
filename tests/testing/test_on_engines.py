"""The battery of methods on engines: it accepts ours, and rejects what is broken."""

from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.batteries import ON_ENGINES, asked_of, check_on
from tests.support.effort import examples
from veilset import Coherence, RhoUncertainty, Transactions, anonymize
from veilset.anonymize import METHODS
from veilset.anonymize.held import renamed
from veilset.engines import Local
from veilset.testing import check_anonymizer

DATA = Transactions.from_lists([["a", "b", "s"], ["a", "b"], ["a", "c"], ["a", "b"], [], ["d"]], sensitive=["s"])
PROMISE = Coherence(h="1/2", k=2, p=2)


@pytest.mark.parametrize(("kind", "method", "maximal"), ON_ENGINES)
@examples(40)
@given(st.data())
def test_methods_on_engines(kind, method, maximal, draw):
    check_on(Local(pieces=3), method, draw.draw(asked_of(kind, method)), maximal=maximal)


@pytest.mark.parametrize("kind", [Coherence, RhoUncertainty])
def test_every_method_that_changes_whole_items_is_looked_at(kind):
    looked_at = {method for other, method, _ in ON_ENGINES if other is kind}
    assert looked_at >= set(METHODS.of(kind).on_engines) - {"partial"}


def rejected(changed, saying):
    """The battery rejects a method that does something else with what `auto` makes."""

    def method(held, promise):
        return changed(held, anonymize(held, promise))

    with pytest.raises(AssertionError, match=saying):
        check_anonymizer(method, DATA, PROMISE, engine=Local(pieces=2))


def without(names, held, release):
    return replace(release, custodian_data=renamed(held, held.vocabulary.without(names), {}))


def test_what_does_not_keep_the_promise_is_rejected():
    rejected(partial(without, []), "does not hold")


def test_a_change_that_is_not_declared_is_rejected():
    rejected(partial(without, DATA.public), "do not explain")


def test_other_rows_than_the_original_has_are_rejected():
    def other(held, release):
        return replace(release, custodian_data=Local(pieces=1).read(Transactions.from_lists([["a"]] * len(held))))

    rejected(other, "do not explain")


def test_chance_is_rejected():
    counted = iter(range(10))

    def sometimes(held, release):
        gone = ("a",) if next(counted) else ()
        more = sorted({*release.suppressed, *gone})
        return replace(without(more, held, release), suppressed=tuple(more))

    rejected(sometimes, "Two runs")
