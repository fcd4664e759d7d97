"""What is told of counts in a release from which single occurrences are gone."""

from fractions import Fraction
from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from veilset import Coherence, RhoUncertainty, Transactions, anonymize
from veilset.release import Release
from veilset.report.fidelity import fidelity_sentence, occurrences_sentence
from veilset.run import Run
from veilset.testing import oracles
from veilset.testing.checks import as_sets
from veilset.utility import fidelity


def strong(rows: list[frozenset[str]], least: int) -> set[tuple[frozenset[str], str]]:
    """Rules of two or three items, by the definition."""
    found = set()
    for items in oracles.occurring(rows, (), 3):
        for head in items if len(items) > 1 else ():
            both, left = oracles.support(rows, items), oracles.support(rows, items - {head})
            if both >= least and Fraction(both, left) >= Fraction(1, 2):
                found.add((items - {head}, head))
    return found


@examples(200)
@given(st.lists(st.sets(st.sampled_from("abcd")), max_size=9), st.integers(1, 3), st.randoms(use_true_random=False))
def test_pairs_and_rules_are_counted_as_defined(rows, least, chance):
    data = Transactions.from_lists([sorted(row) for row in rows])
    kept = np.array([chance.random() < 0.7 for _ in data.items], dtype=bool)
    changed = data.thinned(kept)
    release = Release(data, changed, Coherence(k=1, p=1), "by hand", {}, (), kept=kept)
    found = fidelity(release, least)
    before, after = as_sets(data), as_sets(changed)
    pairs = [pair for pair in combinations(data.names, 2) if oracles.support(before, pair) >= least]
    assert found.pairs == len(pairs)
    assert found.pairs_kept == sum(oracles.support(after, pair) >= least for pair in pairs)
    errors = [1 - Fraction(oracles.support(after, pair), oracles.support(before, pair)) for pair in pairs]
    assert found.support_error == (float(sum(errors) / len(errors)) if errors else 0)
    true, there = strong(before, least), strong(after, least)
    assert (found.rules, found.rules_lost) == (len(true), len(true - there))
    assert (found.rules_found, found.rules_false) == (len(there), len(there - true))


def sparse() -> Transactions:
    rng = np.random.default_rng(1)
    return Transactions.from_lists(
        [rng.choice(40, size=rng.integers(1, 5), replace=False).tolist() for _ in range(300)]
    )


def test_who_loses_more_than_half_is_told_of_single_occurrences():
    run = Run(sparse(), Coherence(k=6, p=3))
    assert run.release.loss > 0.5
    better = Run(sparse(), Coherence(k=6, p=3), method="partial")
    assert 1 - run.release.loss < run.by_occurrences <= 1 - better.release.loss
    assert "method='partial'" in occurrences_sentence(run).replace('"', "'") or "partial" in occurrences_sentence(run)
    assert fidelity_sentence(run) == ""
    assert better.by_occurrences is None
    assert "are lower bounds" in fidelity_sentence(better)
    assert Run(sparse(), Coherence(k=6, p=3), with_what_if=False).by_occurrences is None
    assert Run(sparse(), Coherence(k=2, p=1)).by_occurrences is None


def test_a_rule_that_dilution_makes_is_false():
    """Half of those with tea have buns; where tea is deleted from those without, more do."""
    rows = [["bun", "tea"]] * 4 + [["tea", "figs"]] * 5 + [["figs"]] * 8
    data = Transactions.from_lists(rows)
    kept = np.array([not (item == "tea" and "figs" in row) for row in data for item in row])
    release = Release(data, data.thinned(kept), Coherence(k=1, p=1), "by hand", {}, (), kept=kept)
    assert fidelity(release, 4).rules_false == 1


def test_sensitive_occurrences_are_told_of_too():
    data = Transactions.from_lists([["tea", "flu"]] * 8 + [["tea"]] * 12 + [["bun"]] * 4, sensitive=["flu"])
    release = anonymize(data, RhoUncertainty(rho="1/3"), method="partial")
    assert release.thinned
    assert "are lower bounds" in fidelity_sentence(Run.of(release))


def test_one_rule_is_told_as_one():
    """The rules of test_a_rule_that_dilution_makes_is_false: buns imply tea, tea implies buns in the release only."""
    rows = [["bun", "tea"]] * 4 + [["tea", "figs"]] * 5 + [["figs"]] * 8
    data = Transactions.from_lists(rows)
    kept = np.array([not (item == "tea" and "figs" in row) for row in data for item in row])
    release = Release(data, data.thinned(kept), Coherence(k=4, p=1), "by hand", {}, (), kept=kept)
    said = fidelity_sentence(Run.of(release))
    assert "1 is lost; of 2 in the release, 1 is false: below 50% in the original." in said
