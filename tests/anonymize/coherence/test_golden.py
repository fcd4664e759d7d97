"""Golden values of the running example, computed from the definitions by brute force."""

from collections import Counter
from fractions import Fraction

import pytest

from tests.support.golden import PROMISE, running_example
from veilset.anonymize.coherence.cover import by_mole_tree
from veilset.anonymize.coherence.task import Task
from veilset.api import anonymize, audit
from veilset.limits import Limits
from veilset.mining import items_in_moles, minimal_rare
from veilset.testing import oracles
from veilset.testing.checks import as_sets

QUESTION = (("s1", "s2", "s3"), Fraction(1, 2), 3, 3)
MINIMAL = {"c", "d", "ae", "af", "ag", "be", "bfg"}


def words(itemsets) -> set[str]:
    return {"".join(sorted(x)) for x in itemsets}


def test_all_moles():
    data = running_example()
    assert len(oracles.moles(as_sets(data), *QUESTION)) == 26
    left = oracles.moles(as_sets(data.without(["c", "d"])), *QUESTION)
    assert words(left) == {"ae", "af", "ag", "be", "abe", "abf", "abg", "aef", "afg", "bef", "beg", "bfg"}


@pytest.mark.parametrize("finder", ["oracle", "auditor", "mining"])
def test_minimal_moles(finder):
    data = running_example()
    found = {
        "oracle": lambda: oracles.minimal_moles(as_sets(data), *QUESTION),
        "auditor": lambda: [w.itemset for w in audit(data, PROMISE).witnesses],
        "mining": lambda: [names for names, *_ in minimal_rare(data, 3, h="1/2", max_size=3)],
    }[finder]()
    assert words(found) == MINIMAL


def test_ag_is_a_mole_by_what_it_gives_away():
    """Thesis Example 10 leaves it out; BPr(ag) = 2/3."""
    witness = next(w for w in audit(running_example(), PROMISE).witnesses if w.itemset == ("a", "g"))
    assert (witness.sensitive, witness.confidence, witness.support) == ("s2", Fraction(2, 3), 3)


def test_nuggets_and_scores():
    data = running_example().without(["c", "d"])
    rows = as_sets(data)
    nuggets = oracles.frequent(rows, 4)
    assert words(nuggets) == {"a", "b", "e", "f", "g", "ab", "bg", "ef", "fg"}
    moles = oracles.moles(rows, *QUESTION)
    minimal = [names for names, *_ in minimal_rare(data, 3, h="1/2", max_size=3)]
    assert Counter("".join(words(moles))) == {"a": 8, "b": 7, "e": 6, "f": 6, "g": 5}
    assert Counter("".join(words(nuggets))) == {"a": 2, "b": 3, "e": 2, "f": 3, "g": 3}
    assert Counter("".join(words(minimal))) == {"a": 3, "b": 2, "e": 2, "f": 2, "g": 2}


def test_remove_all_leaves_nothing():
    """With c and d gone, each of the five items left is in some mole."""
    data = running_example()
    assert items_in_moles(data.without(["c", "d"]), 3, h="1/2", max_size=3) == tuple("abefg")
    release = anonymize(data, PROMISE, method="remove-all")
    assert release.suppressed == tuple("abcdefg")
    assert release.certified


def test_remove_all_and_restore():
    """Back come g (6 rows) and b (5); f would make bfg a mole, a makes ag one, e makes be one."""
    release = anonymize(running_example(), PROMISE, method="remove-all", restore=True)
    assert release.suppressed == tuple("acdef")
    assert release.certified


def test_the_tree_suppresses_a_then_b():
    data = running_example().without(["c", "d"])
    task = Task.of(data, PROMISE, limits=Limits())
    assert by_mole_tree(task, task.moles()) == ("a", "b")


@pytest.mark.parametrize("method", ["auto", "tree"])
def test_the_least_loss(method):
    """c and d must go; a and b, nine occurrences, are the optimum after that."""
    release = anonymize(running_example(), PROMISE, method=method)
    assert release.suppressed == tuple("abcd")
    assert release.certified
    assert release.loss == pytest.approx(11 / 33)


def test_k_anonymity():
    """What is left of every transaction is left of three; s1, s2 and s3 are in at most half of each class."""
    release = anonymize(running_example(), PROMISE, method="k-anonymity")
    assert release.certified
    classes = Counter(tuple(set(row) - {"s1", "s2", "s3"}) for row in release.custodian_data.to_lists())
    assert min(classes.values()) >= 3
    assert release.suppressed == tuple("bcdefg")  # four hold a, three do not
