"""The kernels behind suppress and top-down against their literal twins, at their limits, and given nonsense."""

import random
from collections import Counter
from collections.abc import Collection
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from tests.support import rho_kernels, rho_twins
from tests.support.arrays import csr, marks, named
from tests.support.effort import repeats
from veilset import _native
from veilset.testing import oracles

Row = frozenset[int]
SHARES = [Fraction(1, 4), Fraction(1, 3), Fraction(2, 5), Fraction(1, 2), Fraction(2, 3), Fraction(1)]


class Case:
    """Random weighted rows; rules with few items known are mostly harmless, so that late rounds have work to do."""

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)
        self.draw = draw
        public, secret = draw.randint(3, 6), draw.randint(1, 3)
        self.many = public + secret
        numbers = draw.sample(range(self.many), self.many)  # sensitive items stand anywhere in the order
        self.sensitive = set(numbers[:secret])
        self.public = set(numbers[secret:])
        rows = [self._row(0.6, 0.5) for _ in range(draw.randint(2, 6))]
        rows += [self._row(0.55, 0.02) for _ in range(draw.randint(0, 10))]
        rows += [frozenset({item}) for item in self.public] * draw.randint(0, 2)
        rows += draw.choices(rows, k=draw.randint(0, 4))  # equal ones
        self.rows = [*rows, frozenset()][: draw.choice([len(rows), len(rows) + 1])]
        self.weights = [draw.choice([1, 1, 1, 2, 3]) for _ in self.rows]
        self.cost = [draw.choice([0, 1, 1, 2, 3, 5, 8]) for _ in range(self.many)]
        self.rho = draw.choice(SHARES)
        self.fixed = set(draw.sample(sorted(self.public), draw.choice([0, 0, 1, 2])))
        self.required = set(draw.sample(sorted(self.public), draw.randint(0, 2))) if draw.random() < 0.5 else None

    def _row(self, public: float, secret: float) -> Row:
        share = {item: secret if item in self.sensitive else public for item in range(self.many)}
        return frozenset(item for item in share if self.draw.random() < share[item])

    @property
    def repeated(self) -> list[Row]:
        return [row for row, weight in zip(self.rows, self.weights, strict=True) for _ in range(weight)]

    def twin(self) -> list[int]:
        return rho_twins.suppress_control(
            self.repeated,
            self.sensitive,
            self.rho,
            cost=dict(enumerate(self.cost)),
            fixed=self.fixed,
            required=self.required,
            order=range(self.many),
        )

    @property
    def asked(self) -> dict:
        """What every kernel is given; empty rows are only in the population, as those who call it have it."""
        filled = [number for number, row in enumerate(self.rows) if row]
        return {
            **named("", [self.rows[number] for number in filled]),
            "weights": np.array([self.weights[number] for number in filled], dtype=np.int64),
            "sensitive": marks(self.sensitive, self.many),
            "rho_num": self.rho.numerator,
            "rho_den": self.rho.denominator,
            "population": sum(self.weights),
        }

    def suppress(self, **changes) -> dict:
        cost, fixed = np.array(self.cost, dtype=np.int64), marks(self.fixed, self.many)
        required = {} if self.required is None else {"required": marks(self.required, self.many)}
        bounds = {"search_budget": 10**8, "rules_budget": 10**7, "threads": 1}
        return rho_kernels.suppress(self.asked, cost=cost, fixed=fixed, **required | bounds | changes)

    def keeping(self) -> _native.rules.Keeping:
        return rho_kernels.keeping(self.asked)

    def weighted(self) -> _native.rules.WeightedRows:
        weights = np.array(self.weights, dtype=np.int64)
        return _native.rules.WeightedRows(*csr(self.rows), weights, vocabulary=self.many)

    def broken_without(self, gone: Collection[int]) -> list[tuple[Row, int]]:
        """The violating rules that count and hold none of these."""
        rows = [row.difference(gone) for row in self.repeated]
        found = oracles.rho_violations(rows, self.sensitive, self.rho)
        return [(x, s) for x, s in found if self.required is None or x.intersection(self.required)]


def test_suppresses_the_same_items_in_the_same_order():
    rounds: Counter[int] = Counter()
    for seed in (*range(repeats(400)), 76):  # the last has a fourth round
        case = Case(seed)
        answer = case.suppress(threads=1 + seed % 2)
        assert answer["chosen"].tolist() == case.twin(), seed
        assert (answer["complete"], answer["stuck"].tolist(), answer["undecided"].any()) == (True, [], False)
        assert answer["rounds"].tolist() == sorted(answer["rounds"].tolist())
        rounds.update(answer["rounds"].tolist())
    assert min(rounds[number] for number in range(4)) >= repeats(20), "The draws must show all rounds."
    assert rounds[4] > 0


def test_any_number_of_threads_chooses_the_same():
    for seed in range(repeats(100)):
        answers = [Case(seed).suppress(threads=threads) for threads in (1, 2, 3)]
        assert len({tuple(answer["chosen"].tolist()) for answer in answers}) == 1


def test_stops_exactly_when_more_is_lost_than_allowed():
    stopped = 0
    for seed in range(repeats(250)):
        case = Case(seed)
        loss = sum(case.cost[item] for item in case.twin())
        for limit in {0, loss // 2, loss - 1, loss, loss + 1} - {-1}:
            answer = case.suppress(cost_limit=limit)
            assert answer["complete"] == (loss <= limit), (seed, limit)
            assert not answer["stuck"].size
            stopped += not answer["complete"]
            if answer["complete"]:
                assert answer["chosen"].tolist() == case.twin()
    assert stopped > repeats(200)


@pytest.mark.parametrize("budget", ["search_budget", "rules_budget"])
def test_what_is_undecided_to_prove_goes(budget):
    """Not more than needed is known then, but what is left keeps the promise, and who went for that is marked."""
    marked = 0
    for seed in range(repeats(300)):
        case = Case(seed)
        enough = case.suppress()["chosen"].tolist()
        for allowed in (0, 1, 5, 20, 60):
            answer = case.suppress(**{budget: allowed, "threads": 1 + seed % 2})
            gone = answer["chosen"].tolist()
            assert len(gone) == len(set(gone)) == len(answer["undecided"])
            assert not case.fixed.intersection(gone)
            assert answer["complete"]
            assert case.broken_without(gone) == [], (seed, allowed)
            dear = answer["chosen"][answer["undecided"].astype(bool)].tolist()
            assert set(dear) <= case.sensitive
            assert dear or gone == enough
            marked += bool(dear)
    # With too little work for a search, all that is suspected is looked at one by one: nothing need go for that.
    assert (marked > repeats(100)) == (budget == "rules_budget")


def test_stuck_if_a_rule_holds_only_what_must_stay():
    sizes: Counter[int] = Counter()
    for seed in range(repeats(400)):
        case = Case(seed)
        case.fixed = {item for item in range(case.many) if case.draw.random() < 0.8}
        try:
            expected = case.twin()
        except rho_twins.Stuck:
            expected = None
        answer = case.suppress(threads=1 + seed % 2)
        if expected is not None:
            assert (answer["chosen"].tolist(), answer["stuck"].tolist()) == (expected, [])
            continue
        *known, inferred = answer["stuck"].tolist()
        assert {*known, inferred} <= case.fixed
        assert (frozenset(known), inferred) in case.broken_without(())
        assert answer["complete"]
        sizes[len(known)] += 1
    assert all(sizes[size] for size in range(4)), sizes


def test_only_fixed_items_are_undecided():
    """Nothing may go, and nothing can be proven: an error, not a wrong answer."""
    case = Case(0)
    case.rows, case.weights, case.many = [frozenset({0, 1, 2}), frozenset({0}), frozenset({1})], [1, 3, 3], 3
    case.sensitive, case.public, case.fixed, case.required = {2}, {0, 1}, {2}, None
    case.cost, case.rho = [1, 1, 1], Fraction(1, 2)
    assert case.suppress()["chosen"].tolist() == [0]
    with pytest.raises(_native.core.OutOfWork):
        case.suppress(rules_budget=0)


def test_keeping_says_what_one_more_item_brings():
    """A kept set grows as long as nothing is broken, and loses an item now and then."""
    answers: Counter[int] = Counter()
    for seed in range(repeats(150)):
        case = Case(seed)
        kept: set[int] = set()
        kernel = case.keeping()
        for _ in range(2 * case.many):
            item = case.draw.choice([other for other in range(case.many) if other not in kept] or [0])
            rows = [row.intersection(kept | {item}) for row in case.repeated]
            broken = {(x, s) for x, s in oracles.rho_violations(rows, case.sensitive, case.rho) if item in {*x, s}}
            answer, rule, work = kernel.brings_rule(item, work=10**8, time_limit=60.0)
            assert answer == bool(broken), (seed, kept, item)
            assert work >= 0
            if answer:
                assert (frozenset(rule[:-1]), rule[-1]) in broken
            else:
                kernel.keep(item)
                kept.add(item)
            answers[answer] += 1
            if kept and case.draw.random() < 0.2:
                kernel.drop(gone := case.draw.choice(sorted(kept)))
                kept.remove(gone)
    assert min(answers[0], answers[1]) > repeats(100)


def test_keeping_gives_up_and_does_not_lie():
    """With little work allowed a rule is still a rule, and none is still none; else it is not known."""
    answers: Counter[int] = Counter()
    for seed in range(repeats(100)):
        case = Case(seed)
        for allowed in (0, 3, 12, 30):
            kernel = case.keeping()
            for item in case.public:
                kernel.keep(item)
            for item in case.sensitive:
                exact = kernel.brings_rule(item, work=10**8, time_limit=60.0)[0]
                answer, rule, _ = kernel.brings_rule(item, work=allowed, time_limit=60.0)
                assert answer in (exact, 2)
                assert rule or not answer
                assert kernel.brings_rule(item, work=10**8, time_limit=60.0)[0] == exact, "It must not remember."
                answers[answer] += 1
    assert all(answers[answer] > repeats(20) for answer in range(3)), answers


def test_merging_rows():
    for seed in range(repeats(200)):
        case = Case(seed)
        names = [case.draw.randint(-1, 3) for _ in range(case.many)]
        chosen = [number for number in range(len(case.rows)) if case.draw.random() < 0.7]
        expected: Counter[Row] = Counter()
        for number in chosen:
            renamed = frozenset(names[item] for item in case.rows[number] if names[item] >= 0)
            expected[renamed] += case.weights[number]
        del expected[frozenset()]
        offsets, items, merged = case.weighted().renamed(
            np.array(chosen, dtype=np.int64), np.array(names, dtype=np.int32), vocabulary=4, memory_limit=2**30
        )
        rows = [items[a:b].tolist() for a, b in pairwise(offsets)]
        assert all(row == sorted(set(row)) for row in rows)
        assert dict(zip(map(frozenset, rows), merged.tolist(), strict=True)) == expected


def test_merging_thousands_of_different_rows():
    """The table of rows grows several times."""
    draw = random.Random(1)
    distinct = [frozenset(draw.sample(range(60), 4)) for _ in range(5000)]
    rows = distinct * 2
    kernel = _native.rules.WeightedRows(*csr(rows), np.ones(len(rows), dtype=np.int64), vocabulary=60)
    names = np.arange(60, dtype=np.int32)
    offsets, items, merged = kernel.renamed(np.arange(len(rows)), names, vocabulary=60, memory_limit=2**30)
    assert dict(zip(map(frozenset, np.split(items, offsets[1:-1])), merged.tolist(), strict=True)) == Counter(rows)


def test_rows_that_hold_something_wanted():
    for seed in range(repeats(100)):
        case = Case(seed)
        wanted = {item for item in range(case.many) if case.draw.random() < 0.3}
        chosen = case.draw.sample(range(len(case.rows)), case.draw.randint(0, len(case.rows)))
        found = case.weighted().holding(np.array(chosen, dtype=np.int64), marks(wanted, case.many))
        assert found.tolist() == [number for number in chosen if case.rows[number].intersection(wanted)]
