"""What the tests of hiding methods ask, and what a release must be by definition: brute force, on small data."""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from hypothesis import strategies as st
from scipy.sparse import csr_array

import veilset as vs
from tests.support.hiding_twins import Matrix, Row, support
from veilset.anonymize import find_method
from veilset.limits import Limits
from veilset.transactions import Transactions

Pattern = tuple[str, ...]
Rule = tuple[Pattern, Pattern]
METHODS = ["hpcme", "hidden-first", "non-hidden-first"]


class Question(NamedTuple):
    """Data, patterns to hide, at which support; *keep* has none that contains a hidden one."""

    data: Transactions
    hidden: list[Pattern]
    least: int
    keep: list[Pattern]

    @property
    def rows(self) -> list[Row]:
        return sets(self.data)

    @property
    def promise(self) -> vs.HiddenPatterns:
        return vs.HiddenPatterns(self.hidden, min_support=self.least)


def run(
    data: Transactions, promise: vs.HiddenPatterns | vs.HiddenRules, method: str, threads: int = 1, **options
) -> vs.Release:
    """What the method makes, before any auditor has seen it."""
    return find_method(promise, method)(data, promise, limits=Limits(threads), **options)


def sets(data: Transactions) -> list[Row]:
    return list(map(frozenset, data.to_lists()))


# Integers among themselves are sorted as numbers, with others as text: a pattern by itself may have another order.
VOCABULARIES = ["abcdef", ["2", "9", "10", "11", "100", "30"], ["2", "9", "10", "11", "x", "y"]]


@st.composite
def dense_transactions(draw: st.DrawFn, most: int = 6) -> Transactions:
    """Rows of few items and rows that lack few, so that patterns of four items occur; repeated and empty rows."""
    names = draw(st.sampled_from(VOCABULARIES))[:most]
    few = st.sets(st.sampled_from(names), max_size=3)
    rows = draw(st.lists(few | few.map(set(names).difference), min_size=1, max_size=8))
    rows += rows[: draw(st.integers(0, len(rows)))]
    occurring = sorted(set().union(*rows)) or ["a"]
    return Transactions.from_lists([sorted(row) for row in rows] + [[]] * draw(st.integers(0, 2)) + [occurring[:1]])


def patterns_of(names: Sequence[str], *, least: int = 1) -> st.SearchStrategy[Pattern]:
    """One to four items."""
    most = min(4, len(names))
    return st.lists(st.sampled_from(names), min_size=min(least, most), max_size=most, unique=True).map(tuple)


@st.composite
def questions(draw: st.DrawFn) -> Question:
    """Patterns overlap, contain each other and are listed twice, in another order; some are in no row."""
    data = draw(dense_transactions())
    hidden = draw(st.lists(patterns_of(data.names), min_size=1, max_size=4))
    keep = draw(st.lists(patterns_of(data.names), max_size=4))
    may_be_kept = [one for one in keep if not any(set(one).issuperset(pattern) for pattern in hidden)]
    twice = draw(st.integers(0, 2))
    hidden += [one[::-1] for one in hidden[:twice]]
    may_be_kept += [one[::-1] for one in may_be_kept[:twice]]
    return Question(data, hidden, draw(st.integers(1, 4)), may_be_kept)


@st.composite
def rule_questions(draw: st.DrawFn) -> tuple[Transactions, vs.HiddenRules]:
    """Rules over few items, so that they overlap: hiding one can make another surer."""
    data = draw(dense_transactions(most=4).filter(lambda data: len(data.names) > 1))
    rules = []
    for _ in range(draw(st.integers(1, 4))):
        items = draw(st.permutations(data.names))[: draw(st.integers(2, min(4, len(data.names))))]
        cut = draw(st.integers(1, len(items) - 1))
        rules.append((tuple(items[:cut]), tuple(items[cut:])))
    confidence = draw(st.sampled_from([Fraction(n, d) for d in (2, 3, 4, 5) for n in range(1, d + 1)]))
    return data, vs.HiddenRules(rules, min_support=draw(st.integers(1, 4)), min_confidence=confidence)


def by_name(s: csr_array, names: tuple[str, ...]) -> Matrix:
    """The entries that are not zero."""
    entries = s.tocoo()
    places = zip(*(axis.tolist() for axis in entries.coords), entries.data.tolist(), strict=True)
    return {(names[i], names[j]): value for i, j, value in places if value}


def rule_is_found(rows: Sequence[Row], rule: Rule, least: Fraction | int, confidence: Fraction) -> bool:
    """Whether as many rows hold both sides, and this share of those with the antecedent."""
    together, held = support(rows, (*rule[0], *rule[1])), support(rows, rule[0])
    return together >= least and together >= confidence * held


def stays_above(rows: Sequence[Row], promise: vs.HiddenPatterns | vs.HiddenRules, levels: Sequence[Fraction]) -> list:
    """The patterns or rules that reach their level in these rows."""
    least = promise.least_support(len(rows))
    if isinstance(promise, vs.HiddenPatterns):
        pairs = zip(promise.patterns, levels, strict=True)
        return [pattern for pattern, level in pairs if support(rows, pattern) >= level * least]
    return [
        rule
        for rule, level in zip(promise.rules, levels, strict=True)
        if rule_is_found(rows, rule, level * least, level * promise.min_confidence)
    ]
