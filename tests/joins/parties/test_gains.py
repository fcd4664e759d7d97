"""Gains that the coordinator finds from class counts."""

from hypothesis import assume, given

from tests.support.effort import examples
from tests.support.joins import Study, studies
from veilset.joins.parties.gains import gain_of


@examples(100)
@given(studies())
def test_they_are_those_that_the_sites_have_found_to_the_last_bit(study: Study):
    assume(study.joined())
    for node in study.fit().unpruned_tree_.root.walk():
        if node.children:
            assert gain_of(node) == node.gain
