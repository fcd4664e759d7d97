"""Anatomies by brute force: in what is published, read with ``csv``, nobody's value can be guessed above 1/l.

All arrangements of a bucket's values that leave no transaction empty are gone through; nothing of `veilset.testing` is
used. Buckets that are too large for that are counted, and must be few.
"""

import csv
import random
from collections import Counter, defaultdict
from collections.abc import Iterable
from fractions import Fraction
from itertools import chain, combinations, permutations, product

import pytest

import veilset as vs
from tests.support.effort import repeats
from veilset.transactions import Anatomy

pytestmark = [
    pytest.mark.attack,
    pytest.mark.no_sanitizer(reason="slow there, and kernels see nothing that other tests do not show them"),
]

MOST = 5  # transactions of a bucket whose arrangements are gone through
Bucket = list[tuple[frozenset[str], ...]]


def published(path) -> dict[str, Bucket]:
    """The rows of each bucket, as values of columns."""
    buckets = defaultdict(list)
    with path.open(newline="") as file:
        for number, *cells in list(csv.reader(file))[1:]:
            buckets[number].append(tuple(frozenset(cell.split(",")) - {""} for cell in cells))
    return buckets


def people(bucket: Bucket) -> Counter[tuple[frozenset[str], ...]]:
    """How often each combination of values is somebody's, over all arrangements in which nobody is empty."""
    first, *others = zip(*bucket, strict=True)
    found: Counter[tuple[frozenset[str], ...]] = Counter()
    for arrangement in product(*({*permutations(values)} for values in others)):
        rows = list(zip(first, *arrangement, strict=True))
        if all(any(row) for row in rows):
            found.update(rows)
    return found


def limited(buckets: Iterable[Bucket], promise: vs.LDiverseAnatomy) -> set[str]:
    """The items of which, if items are limited, at most 1/l have one of those who have anything in its column."""
    columns = list(zip(*chain.from_iterable(buckets), strict=True)) if promise.items else []
    counts = [(Counter(chain.from_iterable(column)), sum(map(bool, column))) for column in columns]
    return {item for held, people in counts for item in held if held[item] * promise.l <= people}


def surest(bucket: Bucket, sensitive: set[int], items: set[str], *, free: bool) -> Fraction:
    """How sure somebody who knows any columns of a person gets of another, of one of these items in it, or that the
    person has a sensitive item.
    """
    counted, columns = people(bucket), range(len(bucket[0]))
    best = Fraction(0)
    for wanted in columns:
        for known in (part for size in columns for part in combinations([c for c in columns if c != wanted], size)):
            fitting, having = Counter(), Counter()
            for row, times in counted.items():
                if free and wanted not in sensitive and not row[wanted]:
                    continue  # that may be known: of the others, who has what?
                held = tuple(row[column] for column in known)
                fitting[held] += times
                having[held, bool(row[wanted]) if wanted in sensitive else row[wanted]] += times
                for item in items & row[wanted]:
                    having[held, item] += times
            for (held, value), times in having.items():
                if wanted not in sensitive or value:
                    best = max(best, Fraction(times, fitting[held]))
    return best


def a_promise(dice: random.Random, empty: str) -> vs.LDiverseAnatomy:
    return vs.LDiverseAnatomy(dice.choice(["3/2", "2", "5/2", "3"]), empty=empty, items=dice.random() < 0.3)


@pytest.mark.parametrize("empty", ["value", "free"])
def test_audits_against_the_definition(empty):
    """Of anatomies that no method made, good and bad ones."""
    dice, answers = random.Random(f"audits {empty}"), Counter()
    for _ in range(repeats(1000)):
        columns, secret = dice.choice([(["abc", "de"], ""), (["ab", "c", "de"], ""), (["ab", "cd", "xy"], "xy")])
        odds = {item: dice.choice([0.2, 0.4, 0.6]) for item in "".join(columns)}
        size = dice.choice([2, 3, 4])
        rows = [{item for item in odds if dice.random() < odds[item]} for _ in range(size * dice.randint(1, 3))]
        rows = [row or {"a"} for row in rows]
        present = set().union(*rows)
        parts = [part for part in (sorted(present & {*column}) for column in columns) if part]
        if len(parts) < 2:
            continue
        data = vs.Transactions.from_lists(map(sorted, rows), sensitive=sorted(present & {*secret}))
        numbers = [row // size for row in range(len(rows))]
        promise = a_promise(dice, empty)
        answer = vs.audit(data.anatomized(Anatomy.of(parts, numbers)), promise).holds
        buckets = defaultdict(list)
        for number, row in zip(numbers, rows, strict=True):
            buckets[number].append(tuple(frozenset(row & {*part}) for part in parts))
        sensitive, items = ({len(parts) - 1} if present & {*secret} else set()), limited(buckets.values(), promise)
        most = max(surest(bucket, sensitive, items, free=empty == "free") for bucket in buckets.values())
        assert answer == (most <= 1 / promise.l), (rows, parts, size, secret, promise)
        answers[answer] += 1
    assert min(answers[True], answers[False]) > 0, answers


@pytest.mark.parametrize("empty", ["value", "free"])
def test_nobody_is_guessed(empty, tmp_path):
    dice = random.Random(f"anatomies {empty}")
    checked = skipped = released = 0
    for number in range(repeats(300)):
        items = [f"i{item}" for item in range(dice.randint(4, 14))]
        odds = {item: dice.choice([0.1, 0.2, 0.4, 0.6]) for item in items}
        rows = [[item for item in items if dice.random() < odds[item]] for _ in range(dice.randint(4, 30))]
        present = sorted({item for row in rows for item in row})
        secret = set(dice.sample(present, min(len(present), dice.choice([0, 0, 1, 2]))))
        promise = a_promise(dice, empty)
        try:
            data = vs.Transactions.from_lists(rows, sensitive=secret)
            release = vs.anonymize(data, promise, columns=dice.randint(2, 4), random_state=number)
        except vs.Infeasible:
            continue
        out = tmp_path / f"{number}"
        assert vs.publish(release, out, with_what_if=False).path == out
        assert vs.verify(out / "public").holds
        released += 1
        buckets = published(out / "public" / "anatomy.csv")
        items = limited(buckets.values(), promise)
        sensitive = {c for rows in buckets.values() for row in rows for c, held in enumerate(row) if held & secret}
        for bucket in buckets.values():
            assert all(any(row) for row in bucket)
            if len(bucket) > MOST:
                skipped += 1
                continue
            checked += 1
            assert surest(bucket, sensitive, items, free=empty == "free") <= 1 / promise.l
    assert released
    assert checked > 4 * skipped
