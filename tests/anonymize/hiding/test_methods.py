"""The plain methods (certify=False) are the paper's, entry for entry and row for row: shown against literal twins."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import veilset as vs
from tests.support import golden
from tests.support.hiding_questions import METHODS, Question, by_name, questions, run, sets
from tests.support.hiding_twins import hidden_first, matrix, maximal_keep, non_hidden_first, product, support
from veilset import _native
from veilset.audit import edits_account_for
from veilset.transactions import Transactions


def plain(question: Question, method: str, **options) -> vs.Release:
    asked = {"keep_patterns": question.keep, "random_state": 1, "certify": False, **options}
    return run(question.data, question.promise, method, **asked)


@given(questions())
def test_hidden_first_is_its_twin(question):
    names, asked = question.data.names, (question.hidden, question.keep)
    for spare in (False, True):
        release = plain(question, "hidden-first", spare_shared_pairs=spare)
        assert by_name(release.matrix, names) == matrix(names, *asked, "hf", spare)
        assert sets(release.custodian_data) == hidden_first(question.rows, names, *asked, spare)


@given(questions())
def test_non_hidden_first_is_its_twin(question):
    names, asked = question.data.names, (question.hidden, question.keep)
    release = plain(question, "non-hidden-first")
    assert by_name(release.matrix, names) == matrix(names, *asked, "nhf")
    assert sets(release.custodian_data) == non_hidden_first(question.rows, names, *asked)


@given(questions(), st.integers(0, 2**64 - 1))
def test_hpcme_is_its_twin_at_both_ends_and_between_them(question, seed):
    """What is restored is decided for each occurrence by itself, so that lower odds restore fewer of the same."""
    names, asked = question.data.names, (question.hidden, question.keep)
    few, half, most, every = (plain(question, "hpcme", p_r=p_r, random_state=seed) for p_r in (0, 0.5, "0.9", 1))
    assert sets(every.custodian_data) == non_hidden_first(question.rows, names, *asked)
    assert sets(few.custodian_data) == hidden_first(question.rows, names, *asked, spare=True)
    for release in (few, half, most, every):
        assert by_name(release.matrix, names) == matrix(names, *asked, "nhf")
    for less, more in ((few, half), (half, most), (most, every)):
        assert (less.kept <= more.kept).all()


@given(questions(), st.integers(0, 2**64 - 1), st.sampled_from(["0.35", "1/3", "0.8"]))
def test_hpcme_follows_the_kernel_chances(question, seed, p_r):
    """Asked about all occurrences at once, the kernel tells which would be restored; the twin follows these answers.

    Chance is that of what a row holds of all patterns, and of which one it is of such rows that lose something.
    """
    data, odds = question.data, int(Fraction(p_r) * 2**53 // 1)
    matter = {item for pattern in (*question.hidden, *question.keep) for item in pattern}
    matters = np.array([name in matter for name in data.names])
    listed = list(enumerate(np.split(data.items, data.offsets[1:-1])))
    met: set[int] = set()
    product(question.rows, matrix(data.names, question.hidden, question.keep, "nhf"), lambda t, _: met.add(t) or True)
    gone = non_hidden_first(question.rows, data.names, question.hidden, question.keep)
    met |= {t for t, row in enumerate(question.rows) if row != gone[t]}
    copies: Counter[bytes] = Counter()
    decided = {}
    for t, row in sorted(listed, key=lambda each: each[1].tobytes()):
        kind = row[matters[row]]
        every = np.full(len(kind), 2, dtype=np.uint8)
        copy = np.array([copies[kind.tobytes()]])
        ends = np.array([0, len(kind)])
        restored = _native.hiding.restored(ends, kind, len(data.names), every, copy, odds=odds, seed=seed)
        decided |= {(t, data.names[item]): bool(back) for item, back in zip(kind, restored, strict=True)}
        copies[kind.tobytes()] += t in met
    s = matrix(data.names, question.hidden, question.keep, "nhf")
    release = plain(question, "hpcme", p_r=p_r, random_state=seed)
    assert sets(release.custodian_data) == product(question.rows, s, lambda t, item: decided[t, item])


@given(questions())
def test_kept_patterns_are_the_maximal_ones_where_none_are_given(question):
    keep = maximal_keep(question.rows, question.hidden, question.least)
    for method in METHODS:
        release = plain(question, method, keep_patterns=None)
        found = release.sanitization.keep_patterns
        assert len(found) == len(keep)
        assert set(map(frozenset, found)) == keep
        assert "keep_patterns" not in release.options
        same = plain(question, method, keep_patterns=found)
        assert same.custodian_data == release.custodian_data


@given(questions())
def test_the_account_of_a_plain_release(question):
    """Which occurrences are left, which items are gone, how many the product removed."""
    for method in METHODS:
        release = plain(question, method)
        data, done = question.data, release.sanitization
        assert release.original is data
        assert release.custodian_data == data.thinned(release.kept)
        assert set(release.suppressed) == set(data.names).difference(release.custodian_data.names)
        assert (done.levels, done.by_victims, done.put_back) == ((), 0, 0)
        assert done.by_matrix == len(data.items) - len(release.custodian_data.items)
        assert set(map(frozenset, done.keep_patterns)) == set(map(frozenset, question.keep))
        assert (
            edits_account_for(
                data,
                release.custodian_data,
                suppressed=release.suppressed,
                generalized={},
                withheld=(),
                kept=release.kept,
            )
            is None
        )


@pytest.mark.parametrize("method", METHODS)
def test_a_pattern_of_one_item_has_no_pair(method):
    """The paper's matrix cannot hide it; that is left to certified hiding."""
    data = Transactions.from_lists([["a", "b"], ["a"]])
    release = run(data, vs.HiddenPatterns([["a"]], min_support=1), method, certify=False)
    assert release.custodian_data == data
    assert release.matrix.toarray().tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("method", METHODS)
def test_a_pattern_that_is_listed_twice_counts_once(method):
    """a and b are in one pattern to keep each, so that a, the first, is the victim; ca is ac."""
    data = Transactions.from_lists([["a", "b"], ["a", "b", "c"]])
    promise = vs.HiddenPatterns([["a", "b"], ["b", "a"]], min_support=1)
    keep = [["a", "c"], ["c", "a"], ["b", "c", "b"]]
    release = run(data, promise, method, keep_patterns=keep, certify=False)
    assert release.matrix[1, 0] == -1
    assert release.sanitization.keep_patterns == (("a", "c"), ("b", "c"))


def test_rules_are_hidden_by_both_sides_together():
    data = Transactions.from_lists(map(list, golden.FIGURE_4))
    rules = vs.HiddenRules([("4", "5"), (["1", "2"], ["5"])], min_support="30%", min_confidence="1/2")
    patterns = vs.HiddenPatterns(map(list, golden.FIGURE_4_HIDDEN), min_support="30%")
    for method in METHODS:
        asked = {"keep_patterns": [*map(list, golden.FIGURE_4_KEEP)], "certify": False, "random_state": 1}
        release, same = (run(data, promise, method, **asked) for promise in (rules, patterns))
        assert release.custodian_data == same.custodian_data
        assert (release.matrix != same.matrix).nnz == 0


def crowd(rows: int = 5000) -> Transactions:
    """More rows than a thread takes at once."""
    draw = np.random.default_rng(5)
    held = draw.random((rows, 12)) < 0.6
    return Transactions.from_lists([[f"i{j:02}" for j in np.flatnonzero(row)] for row in held])


@pytest.mark.parametrize("certify", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_threads_change_nothing_and_a_seed_repeats_itself(method, certify):
    data = crowd()
    promise = vs.HiddenPatterns([["i00", "i01"], ["i01", "i02", "i03"], ["i04", "i05"]], min_support=600)
    asked = {"keep_patterns": [["i00", "i02"], ["i01", "i04"]], "certify": certify}
    releases = [run(data, promise, method, random_state=7, threads=threads, **asked) for threads in (1, 2, 3)]
    for release in releases:
        assert release.custodian_data == releases[0].custodian_data
        assert release.kept.tobytes() == releases[0].kept.tobytes()
        assert release.sanitization == releases[0].sanitization
        assert release.options == releases[0].options
    other = run(data, promise, method, random_state=8, **asked)
    chance = method == "hpcme" or certify
    assert (other.kept.tobytes() != releases[0].kept.tobytes()) is chance


def test_p_r_is_how_often_an_occurrence_is_restored():
    """Where 1 would go by 2 and stay by 3, in each of 5000 rows: 0.35 of them keep it, give or take five deviations."""
    data = Transactions.from_lists([["1", "2", "3"]] * 5000)
    promise = vs.HiddenPatterns([["1", "2"]], min_support=1)
    asked = {"keep_patterns": [["1", "3"], ["2"], ["2", "3"]], "certify": False, "p_r": "0.35", "random_state": 11}
    release = run(data, promise, "hpcme", **asked)
    left = support(sets(release.custodian_data), ["1"])
    deviation = (5000 * 0.35 * 0.65) ** 0.5
    assert abs(left - 5000 * 0.35) < 5 * deviation
    assert len(release.custodian_data.items) == 10_000 + left
