"""Profiles: against the definition, on small random documents, and what must hold whatever the documents."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.interests import documents, thesis_profile, weights
from veilset import BudgetExceeded, InvalidArgument, UnreadableInput
from veilset.search import Document, Profile
from veilset.testing import oracles_search

SHARES = st.sampled_from(["0.6", "1/2", "1/3", "0.8", "1"])


def as_tree(node):
    return {
        "label": list(node.stems),
        "support": node.support,
        "others": node.others,
        "documents": set(node.documents),
        "children": [as_tree(child) for child in node.children],
    }


@st.composite
def weighted(draw):
    rows = draw(documents())
    return rows, draw(st.none() | st.lists(weights(), min_size=len(rows), max_size=len(rows)))


@examples(2000)
@given(weighted(), st.integers(1, 4), SHARES)
def test_as_defined(rows_and_weights, min_support, delta):
    rows, given_weights = rows_and_weights
    profile = Profile.build(rows, min_support=min_support, delta=delta, weights=given_weights)
    exact = None if given_weights is None else [Fraction(weight) for weight in given_weights]
    assert as_tree(profile.root) == oracles_search.profile(rows, min_support, Fraction(delta), exact)


@examples(300)
@given(weighted(), st.integers(1, 3))
def test_supports_of_a_level_sum_to_the_parents(rows_and_weights, min_support):
    rows, given_weights = rows_and_weights
    for node in Profile.build(rows, min_support=min_support, weights=given_weights).root.walk():
        if node.children:
            assert node.others + sum(child.support for child in node.children) == node.support
            assert [child.support for child in node.children] == sorted(
                (child.support for child in node.children), reverse=True
            )


@examples(300)
@given(documents(), documents(), st.integers(1, 3))
def test_adding_is_building_anew(before, after, min_support):
    together = Profile.build(before + after, min_support=min_support)
    assert Profile.build(before, min_support=min_support).add(after).to_json() == together.to_json()


@examples(300)
@given(documents(), st.sets(st.integers(0, 13)), st.integers(1, 3))
def test_forgetting_is_never_having_known(rows, going, min_support):
    """Down to the words: nothing of a forgotten document is left."""
    keyed = [Document(f"k{at}", "notes", " ".join(f"{term}word" for term in row)) for at, row in enumerate(rows)]
    build = {"min_support": min_support, "languages": ["en"]}
    going = {one for one in going if one < len(rows)}
    expected = Profile.build([one for at, one in enumerate(keyed) if at not in going], **build)
    assert Profile.build(keyed, **build).without(f"k{at}" for at in going).to_json() == expected.to_json()


@examples(200)
@given(documents(), st.integers(1, 3))
def test_a_document_of_weight_two_is_two_documents(rows, min_support):
    heavy = Profile.build(rows, min_support=min_support, weights=[2] * len(rows))
    twice = Profile.build(rows + rows, min_support=min_support)
    assert [(node.path, node.support) for node in heavy.root.walk()] == [
        (node.path, node.support) for node in twice.root.walk()
    ]


@examples(100)
@given(weighted(), st.integers(1, 3))
def test_a_profile_returns_from_json(rows_and_weights, min_support):
    rows, given_weights = rows_and_weights
    profile = Profile.build(rows, min_support=min_support, weights=given_weights)
    again = Profile.from_json(profile.to_json())
    assert again.root == profile.root
    assert again.to_json() == profile.to_json()
    assert again.add([["a", "b"]] * 3).root == profile.add([["a", "b"]] * 3).root


def test_large_divisors_are_exact():
    """Every document has all terms but one, so shares have ever larger denominators."""
    terms = "abcdefghi"
    rows = [[term for term in terms if term != absent] for absent in terms] * 20
    profile = Profile.build(rows, min_support=1, delta="0.95")
    assert as_tree(profile.root) == oracles_search.profile(rows, 1, Fraction(19, 20))


def test_words_are_shown_and_stems_are_counted():
    texts = ["He searches the libraries", "Searching a library", "They searched libraries", "searching for a library"]
    profile = Profile.build(texts, min_support=2, languages=["en"])
    assert [(node.label, node.stems) for node in profile.root.children] == [
        (("searching", "library"), ("search", "librari"))
    ]


def test_default_support_is_a_thousandth_and_at_least_five():
    assert Profile.build([["a"]]).min_support == 5
    assert Profile.build([["a"]] * 5001).min_support == 6
    assert Profile.build([["a"]] * 4, weights=[2000] * 4).min_support == 8


def test_no_documents():
    profile = Profile.build([])
    assert (profile.root.children, profile.total, profile.expose(ratio=1).terms) == ((), 0, {})


def test_keys_are_what_because_names():
    profile = Profile.build([Document(f"mail-{at}", "mail", "tea") for at in range(5)], languages=["en"])
    assert profile.because("tea") == [f"mail-{at}" for at in range(5)]
    assert profile.find("teas") == profile.find("tea")


def test_a_site_is_a_term():
    """Of a page; the places of files and messages are none."""
    pages = [Document(f"https://{at}", "firefox", "Headlines", place="www.nytimes.com") for at in range(5)]
    files = [Document(f"file:///{at}", "folder", "Headlines", place="nytimes.com") for at in range(5)]
    assert Profile.build(pages, languages=["en"]).root.children[0].label == ("nytimes.com", "headlines")
    assert Profile.build(files, languages=["en"]).root.children[0].label == ("headlines",)


def test_what_cannot_be():
    with refused(InvalidArgument, "'k'"):
        Profile.build([Document("k", "notes", "tea"), Document("k", "notes", "jazz")])
    with refused(InvalidArgument, "'TCP/IP'", "'/'"):
        Profile.build([["TCP/IP"]])
    with refused(InvalidArgument, "weights", "0"):
        Profile.build([["a"]], weights=[0])
    with refused(InvalidArgument, "weights", "2", "1"):
        Profile.build([["a"]], weights=[1, 1])
    with refused(InvalidArgument, "weights", "decimals"):
        Profile.build([["a"]] * 3, weights=["1/1000003", "1/1000033", "90000"])
    with refused(InvalidArgument, "delta", "2"):
        Profile.build([["a"]], delta=2)
    with refused(InvalidArgument, "min_support", "0"):
        Profile.build([["a"]], min_support=0)
    with refused(InvalidArgument, "'xx'", "'en'"):
        Profile.build([["a"]], languages=["xx"])
    with refused(InvalidArgument, "'k9'"):
        thesis_profile().without(["k9"])
    with refused(UnreadableInput, "99"):
        Profile.from_json({"version": 99})


def test_limits_and_progress():
    seen = []
    thesis_profile(progress=lambda what, done, total: seen.append((done, total)))
    assert seen[-1] == (10, 10)
    with pytest.raises(BudgetExceeded):
        thesis_profile(time_limit=1e-9)
