"""What became of hidden and other patterns, and the paper's metrics: golden values, brute force, wrong releases."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import veilset as vs
from tests.support import golden as paper
from tests.support.effort import examples
from tests.support.errors import refused
from veilset import Coherence, HiddenPatterns, HiddenRules, InvalidArgument, Transactions
from veilset.errors import BudgetExceeded
from veilset.limits import Limits
from veilset.release import Release, Sanitization
from veilset.run import certify
from veilset.testing import check_metrics, strategies
from veilset.testing.checks import as_sets
from veilset.utility import Account, SideEffect, info_loss, metrics_of, side_effects
from veilset.utility.generalization import average_loss
from veilset.utility.hiding_metrics import HIDING_METRICS, hiding_measures

pytestmark = pytest.mark.no_sanitizer(reason="kernels see nothing that other tests do not show them")

PROMISE = HiddenPatterns(map(list, paper.FIGURE_4_HIDDEN), min_support=paper.FIGURE_4_SUPPORT)
KEEP = tuple(map(tuple, paper.FIGURE_4_KEEP))


def measures(release: Release) -> dict[str, float]:
    return hiding_measures(Account(release), Limits())


def transactions(rows):
    return Transactions.from_lists([*row] for row in rows)


def release_of(data, kept, promise, keep=(), levels=()):
    """A release in which single occurrences are gone, as if a method had made it."""
    made = data.thinned(kept)
    gone = tuple(name for name in data.names if name not in made.names)
    size = (len(data.names), len(data.names))
    sanitized = Sanitization(csr_array(size, dtype=np.int8), tuple(keep), None, tuple(levels), 0, 0, 0)
    return Release(data, made, promise, "by hand", {}, gone, kept=kept, sanitization=sanitized)


def golden(released, promise=PROMISE, keep=KEEP):
    data = transactions(paper.FIGURE_4)
    kept = [item in left for row, left in zip(paper.FIGURE_4, released, strict=True) for item in row]
    release = release_of(data, np.array(kept), promise, keep)
    assert release.custodian_data.to_lists() == [list(row) for row in released]
    return release


@pytest.mark.parametrize(
    ("released", "wrongness", "removed"),
    [(paper.HF_RELEASE, 1.0, 8), (paper.NHF_RELEASE, 0.0, 4), (paper.SPARING_RELEASE, 1.0, 7)],
)
def test_the_papers_example(released, wrongness, removed):
    """30% of six transactions are two. All items but 3 are in patterns of both kinds."""
    found = measures(golden(released))
    assert found == {
        "hiding_accuracy": 1.0,
        "hiding_wrongness": wrongness,
        "new_patterns": 0.0,
        "overlap_rate": 0.8,
        "occurrences_removed": removed,
        "patterns_found": 0,
    }


def told(release) -> tuple[SideEffect, ...]:
    """What became of the patterns; how much they stand out is for tests/utility/test_standing_out.py."""
    return tuple(replace(effect, standing=None) for effect in side_effects(release))


def test_the_papers_example_pattern_by_pattern():
    assert told(golden(paper.NHF_RELEASE)) == (
        SideEffect(("4", "5"), "hidden", "hidden", 2, 1, None, None),
        SideEffect(("1", "2", "5"), "hidden", "hidden", 2, 0, None, None),
        SideEffect(("2", "4"), "keep", "kept", 2, 2, None, None),
        SideEffect(("1", "3", "5"), "keep", "kept", 2, 2, None, None),
    )
    assert [effect.fate for effect in side_effects(golden(paper.HF_RELEASE))] == ["hidden", "hidden", "lost", "lost"]
    assert [effect.fate for effect in side_effects(golden(paper.FIGURE_4))] == ["found", "found", "kept", "kept"]


def test_an_unchanged_release_hides_nothing():
    found = measures(golden(paper.FIGURE_4))
    assert (found["hiding_accuracy"], found["patterns_found"], found["hiding_wrongness"]) == (0.0, 2, 0.0)
    assert found["occurrences_removed"] == 0


def test_parts_of_a_pattern_betray_it_unless_they_belong_to_others():
    """125 is gone, but 15 and 25 are found; 15 is part of 135, and 25 of no pattern that was to stay."""
    released = ("4", "24", "25", "135", "135", "25")
    assert measures(golden(released))["hiding_accuracy"] == 0.5
    assert measures(golden(released, keep=(*KEEP, ("2", "5"))))["hiding_accuracy"] == 1.0
    # without patterns that were to stay every pair counts; a single item never does, unless it is the pattern
    assert measures(golden(released, keep=()))["hiding_accuracy"] == 0.5
    alone = HiddenPatterns([["5"], ["4", "5"]], min_support=2)
    assert measures(golden(paper.HF_RELEASE, alone, keep=()))["hiding_accuracy"] == 0.5


def test_what_was_not_found_before_cannot_be_lost():
    release = golden(paper.HF_RELEASE, keep=(("2", "3"), ("2", "4"), ("3", "5")))
    assert [effect.items for effect in side_effects(release) if effect.kind == "keep"] == [("2", "4"), ("3", "5")]
    assert measures(release)["hiding_wrongness"] == 0.5
    assert measures(golden(paper.HF_RELEASE, keep=(("2", "3"),)))["hiding_wrongness"] == 0.0


def test_levels_and_rules_stand_beside_what_they_belong_to():
    data = Transactions.from_lists([["a", "b"], ["a", "b"], ["a"], ["b", "c"]])
    promise = HiddenRules([("a", "b"), ("b", "a"), ("c", "b")], min_support=1, min_confidence="2/3")
    kept = np.array([True, True, True, False, True, True, True])
    levels = (Fraction(1, 2), Fraction(2, 3), Fraction(1))
    release = release_of(data, kept, promise, [("a", "b")], levels)  # ab | a | a | bc
    assert told(release) == (
        SideEffect(("a", "b"), "hidden", "hidden", 2, 1, levels[0], (("a",), ("b",))),  # one of three
        SideEffect(("a", "b"), "hidden", "hidden", 2, 1, levels[1], (("b",), ("a",))),  # one of two
        SideEffect(("b", "c"), "hidden", "found", 1, 1, levels[2], (("c",), ("b",))),  # one of one
        SideEffect(("a", "b"), "keep", "kept", 2, 1, None, None),
    )
    assert measures(release)["hiding_accuracy"] == pytest.approx(2 / 3)


def test_new_patterns_are_not_assumed_away():
    release = golden(paper.NHF_RELEASE)
    added = transactions(["5", "24", "5", "135", "1345", "245"])
    with refused(InvalidArgument, "Transaction 5", "'4'"):
        measures(replace(release, custodian_data=added))
    strange = transactions(["5", "24", "5", "135", "135", "256"])
    with refused(InvalidArgument, "'6'"):
        measures(replace(release, custodian_data=strange))
    with refused(InvalidArgument, 2, 6):
        measures(replace(release, custodian_data=transactions(["5", "24"])))
    without_two = release.custodian_data.take(np.array([0, 1, 2, 4]))
    assert measures(replace(release, custodian_data=without_two, withheld=(3, 5)))["new_patterns"] == 0


def test_other_promises_have_no_patterns_to_tell_of():
    release = replace(golden(paper.FIGURE_4), promise=Coherence(k=2, p=2))
    with refused(InvalidArgument, "Coherence"):
        side_effects(release)
    assert not set(metrics_of(release.promise)).intersection(HIDING_METRICS)


def test_limits_are_kept():
    late = Limits(time_limit=1e-9)
    with pytest.raises(BudgetExceeded):
        side_effects(golden(paper.FIGURE_4), limits=late)


@st.composite
def releases(draw):
    """Any occurrences gone, any patterns or rules to hide, any patterns to stay."""
    data = draw(strategies.transactions().filter(lambda data: data.names))
    kept = np.array(draw(st.lists(st.booleans(), min_size=len(data.items), max_size=len(data.items))), dtype=bool)
    itemsets = st.lists(st.sampled_from(data.names), min_size=1, max_size=4, unique=True)
    patterns = st.lists(itemsets, min_size=1, max_size=4)
    least = draw(st.one_of(st.integers(1, 4), st.sampled_from(["1/4", "1/2"])))
    keep = draw(st.lists(itemsets.map(data.in_order), max_size=4, unique=True))
    hidden = draw(patterns)
    rules = [(pattern[:1], pattern[1:]) for pattern in hidden if len(pattern) > 1]
    if rules and draw(st.booleans()):
        promise = HiddenRules(rules, least, draw(st.sampled_from(["1/3", "1/2", "2/3", 1])))
    else:
        promise = HiddenPatterns(hidden, least)
    levels = draw(st.sampled_from([(), (Fraction(2, 3),) * len(promise.itemsets)]))
    return release_of(data, kept, promise, keep, levels)


def support(rows, items):
    return sum(row.issuperset(items) for row in rows)


@examples(200)
@given(releases())
def test_patterns_are_told_as_brute_force_counts_them(release):
    before, after, promise = as_sets(release.original), as_sets(release.custodian_data), release.promise
    least = promise.least_support(len(before))
    expected = []
    for at, items in enumerate(promise.itemsets):
        rule = promise.rules[at] if isinstance(promise, HiddenRules) else None
        found = support(after, items) >= least
        if rule and found:
            found = Fraction(support(after, items), support(after, rule[0])) >= promise.min_confidence
        level = release.sanitization.levels[at] if release.sanitization.levels else None
        counts = support(before, items), support(after, items)
        expected.append(SideEffect(items, "hidden", "found" if found else "hidden", *counts, level, rule))
    for items in release.sanitization.keep_patterns:
        counts = support(before, items), support(after, items)
        if counts[0] >= least:
            expected.append(SideEffect(items, "keep", "kept" if counts[1] >= least else "lost", *counts, None, None))
    assert told(release) == tuple(expected)


@examples(200)
@given(releases())
def test_metrics_are_those_of_the_definitions(release):
    rows, promise, keep = as_sets(release.custodian_data), release.promise, release.sanitization.keep_patterns
    least = promise.least_support(len(rows))
    fates = [effect.fate for effect in side_effects(release)]
    found = measures(release)
    if isinstance(promise, HiddenPatterns):
        hidden = 0
        for pattern in promise.patterns:
            parts = [part for size in range(2, len(pattern) + 1) for part in combinations(pattern, size)]
            hidden += not any(
                support(rows, part) >= least and not any(set(part) <= set(other) for other in keep)
                for part in (parts or [pattern])
            )
        assert found["hiding_accuracy"] == hidden / len(promise.patterns)
    else:
        assert found["hiding_accuracy"] == pytest.approx(fates.count("hidden") / len(promise.rules))
    judged = fates.count("kept") + fates.count("lost")
    assert found["hiding_wrongness"] == (fates.count("lost") / judged if judged else 0)
    assert found["patterns_found"] == fates.count("found")
    assert found["new_patterns"] == 0
    assert found["occurrences_removed"] == sum(map(len, as_sets(release.original))) - sum(map(len, rows))
    sensitive, other = ({item for pattern in listed for item in pattern} for listed in (promise.itemsets, keep))
    assert found["overlap_rate"] == len(sensitive & other) / len(sensitive | other)


@given(releases())
def test_the_auditor_sees_the_same_parts(release):
    """It counts along the rows, and tells the largest parts that are found; accuracy is decided by these."""
    audit = certify(release).audit
    fates = [effect.fate for effect in side_effects(release) if effect.kind == "hidden"]
    assert audit.found == fates.count("found")
    if isinstance(release.promise, HiddenPatterns):
        shown = [
            any(
                len(part) >= min(2, len(left.itemset))
                and not any(set(part) <= set(other) for other in release.sanitization.keep_patterns)
                for part, _ in left.largest
            )
            for left in audit.leftovers
        ]
        assert measures(release)["hiding_accuracy"] == shown.count(False) / len(shown)


@examples(50)
@given(releases())
def test_losses_of_single_occurrences(release):
    """What is gone is told of items, nuggets and rules as it is of suppressed items."""
    before, after = as_sets(release.original), as_sets(release.custodian_data)
    counts = [(support(before, {name}), support(after, {name})) for name in release.original.names]
    total = sum(there for there, _ in counts)
    gone = total - sum(left for _, left in counts)
    assert [item.loss for item in info_loss(release)] == [Fraction(all_ - left, all_) for all_, left in counts]
    assert [item.released_as is None for item in info_loss(release)] == [left == 0 for _, left in counts]
    assert average_loss(release) == pytest.approx(gone / total)
    check_metrics(metrics_of(release.promise), [release])
    found = {
        metric.name: metric.of(Account(release))
        for metric in metrics_of(release.promise)
        if metric.name in ("items_lost", "kinds_lost")
    }
    assert found["items_lost"] == pytest.approx(gone / total)
    assert found["kinds_lost"] == pytest.approx(sum(left == 0 for _, left in counts) / len(counts))


def test_all_are_measured():
    release = golden(paper.NHF_RELEASE)
    found = vs.measure(release.original, release, nugget_support=2)
    assert set(found) == {metric.name for metric in metrics_of(release.promise)}
    # before: 1 2 3 4 5, 12 13 15 24 25 35 45, 125 135; after: 1 2 3 4 5, 13 15 24 35, 135
    assert found["nuggets_lost"] == pytest.approx(4 / 14)
    assert (found["hiding_wrongness"], found["items_lost"]) == (0, pytest.approx(4 / 17))


def test_what_takes_too_long_is_left_out():
    release = golden(paper.NHF_RELEASE)
    found = vs.measure(release.original, release, time_limit=1e-9)
    assert "items_lost" in found
    assert not {metric.name for metric in HIDING_METRICS}.intersection(found)


def test_a_certified_release_leaves_nothing():
    release = vs.anonymize(transactions(paper.FIGURE_4), PROMISE, keep_patterns=KEEP, random_state=0)
    found = vs.measure(release.original, release)
    assert (found["patterns_found"], found["overlap_rate"], found["new_patterns"]) == (0, 0.8, 0)
    effects = side_effects(release)
    assert tuple(effect.level for effect in effects[:2]) == release.sanitization.levels
    assert all(effect.after < effect.level * 2 for effect in effects[:2])
    assert found["occurrences_removed"] == np.count_nonzero(~release.kept)
