"""Every promise by brute force, on random small data: what is published, read with ``csv``, keeps it; audits are right.

The definitions are written here once more, as an attacker would: they share no line with `veilset.testing`.
"""

import csv
import math
import random
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import chain, combinations
from pathlib import Path
from typing import NamedTuple

import pytest

import veilset as vs
from tests.support.effort import repeats
from veilset.anonymize import methods_of
from veilset.models import PROMISES, Promise

pytestmark = [
    pytest.mark.attack,
    pytest.mark.no_sanitizer(reason="slow there, and kernels see nothing that other tests do not show them"),
]

Rows = list[set[str]]
PUBLIC, SENSITIVE = "abcdef", "xyz"


def parts(items: set[str], most: int | None = None) -> Iterator[set[str]]:
    """All that an attacker may know of somebody with these items, from nothing on."""
    sizes = range(min(len(items), len(items) if most is None else most) + 1)
    return map(set, chain.from_iterable(combinations(sorted(items), size) for size in sizes))


def surest(rows: Rows, known: set[str], items: set[str]) -> Fraction:
    """The confidence in the likeliest of these items among those who match what is known; 0 if nobody does."""
    match = [row for row in rows if known <= row]
    return max(
        (Fraction(sum(item in row for row in match), len(match)) for item in items - known if match), default=Fraction()
    )


def coherent(rows: Rows, sensitive: set[str], promise: vs.Coherence) -> bool:
    """Whoever knows up to p public items of somebody is left with k people, and at most h sure of a sensitive item."""
    knowledge = [set(), *(known for row in rows for known in parts(row - sensitive, promise.p))]
    return all(
        sum(known <= row for row in rows) >= promise.k
        and (not sensitive or surest(rows, known, sensitive) <= promise.h)
        for known in knowledge
    )


def uncertain(rows: Rows, sensitive: set[str], promise: vs.RhoUncertainty) -> bool:
    """Whoever knows any items of somebody is less than rho sure of any other sensitive item."""
    return all(surest(rows, known, sensitive) < promise.rho for row in rows for known in parts(row))


def hidden(rows: Rows, sensitive: set[str], promise: vs.HiddenPatterns) -> bool:
    """No pattern is in min_support transactions."""
    return all(sum(set(pattern) <= row for row in rows) < least(rows, promise) for pattern in promise.patterns)


def ruled_out(rows: Rows, sensitive: set[str], promise: vs.HiddenRules) -> bool:
    """No rule is in min_support transactions and true of min_confidence of those with its antecedent."""
    return not any(
        sum({*given, *then} <= row for row in rows) >= least(rows, promise)
        and surest([row | {"then"} if set(then) <= row else row for row in rows], set(given), {"then"})
        >= promise.min_confidence
        for given, then in promise.rules
    )


def least(rows: Rows, promise: vs.HiddenPatterns | vs.HiddenRules) -> int:
    asked = promise.min_support
    return asked if isinstance(asked, int) else max(1, math.ceil(asked * len(rows)))


def share(dice: random.Random) -> Fraction:
    return Fraction(dice.randint(1, 9), 10)


def a_coherence(dice: random.Random, rows: Rows) -> vs.Coherence:
    return vs.Coherence(h=share(dice), k=dice.randint(1, 4), p=dice.choice([1, 2, 3, None]))


def an_uncertainty(dice: random.Random, rows: Rows) -> vs.RhoUncertainty:
    return vs.RhoUncertainty(rho=share(dice))


def a_pattern(dice: random.Random, rows: Rows, most: int = 3) -> list[str]:
    occurring = sorted(set().union(*rows))
    return dice.sample(occurring, dice.randint(1, min(most, len(occurring))))


def a_support(dice: random.Random, rows: Rows) -> int | Fraction:
    return dice.choice([dice.randint(1, len(rows)), share(dice)])


def patterns(dice: random.Random, rows: Rows) -> vs.HiddenPatterns:
    return vs.HiddenPatterns([a_pattern(dice, rows) for _ in range(dice.randint(1, 3))], a_support(dice, rows))


def rules(dice: random.Random, rows: Rows) -> vs.HiddenRules:
    drawn = [a_pattern(dice, rows, 4) for _ in range(dice.randint(1, 3))]
    split = [(items[:1], items[1:]) for items in drawn if len(items) > 1] or [(["a"], ["b"])]
    return vs.HiddenRules(split, a_support(dice, rows), share(dice))


class Attack(NamedTuple):
    """How to draw a promise, and its definition."""

    draw: Callable[[random.Random, Rows], Promise]
    kept: Callable[[Rows, set[str], Promise], bool]


ATTACKS = {
    "coherence": Attack(a_coherence, coherent),
    "rho-uncertainty": Attack(an_uncertainty, uncertain),
    "hidden-patterns": Attack(patterns, hidden),
    "hidden-rules": Attack(rules, ruled_out),
}
PROMISE_NOTHING = {"replay", "select-a-size"}
"""Methods whose result the auditor may refuse: changes that were made for other data, and chance."""
METHODS = [(name, method) for name in ATTACKS for method in methods_of(PROMISES[name]) if method not in PROMISE_NOTHING]


def test_every_promise_is_attacked():
    """Those about buckets in `tests.attacks.test_anatomies`."""
    elsewhere = {name for name, kind in PROMISES.items() if kind.edits == "buckets"}
    assert {*ATTACKS, *elsewhere} == {*PROMISES} and elsewhere == {"l-diverse-anatomy"}
    assert len(METHODS) >= 16


def drawn(dice: random.Random) -> tuple[Rows, set[str]]:
    """Some people, the items they have, and which of these are sensitive."""
    odds = {
        item: dice.choice([0.1, 0.3, 0.6, 0.9])
        for item in PUBLIC[: dice.randint(2, 6)] + SENSITIVE[: dice.randint(1, 3)]
    }
    rows = [{item for item in odds if dice.random() < odds[item]} for _ in range(dice.randint(2, 12))]
    rows[0] |= {"a", "b", "x"}
    return rows, set().union(*rows).intersection(SENSITIVE)


@pytest.mark.parametrize("name", ATTACKS)
def test_audits_against_the_definition(name):
    dice, answers = random.Random(name), Counter()
    for _ in range(repeats(2000)):
        rows, sensitive = drawn(dice)
        promise = ATTACKS[name].draw(dice, rows)
        data = vs.Transactions.from_lists(map(sorted, rows), sensitive=sorted(sensitive))
        answer = vs.audit(data, promise).holds
        assert answer == ATTACKS[name].kept(rows, sensitive, promise), (rows, sensitive, promise)
        answers[answer] += 1
    assert min(answers[True], answers[False]) > 0, answers


def published(rows: Rows, sensitive: set[str], promise: Promise, method: str, drop_empty: bool, folder: Path) -> Rows:
    """What a reader finds in public/, without any code of ours."""
    with (folder / "baskets.csv").open("w", newline="") as file:
        csv.writer(file).writerows(map(sorted, rows))
    options = (
        {"taxonomy": {item: ("abc" if item in "abc" else "def",) for item in PUBLIC}} if method == "generalize" else {}
    )
    data = vs.read(folder / "baskets.csv", format="basket", sensitive=sorted(sensitive))
    release = vs.anonymize(data, promise, method=method, drop_empty=drop_empty, **options)
    vs.publish(release, folder / "out", with_what_if=False)
    with (folder / "out" / "public" / "data.csv").open(newline="") as file:
        return list(map(set, csv.reader(file)))


@pytest.mark.parametrize(("name", "method"), METHODS)
def test_releases_against_the_definition(name, method, tmp_path):
    dice, outcomes = random.Random(f"{name} {method}"), Counter()
    while outcomes["published"] < repeats(10):
        rows, sensitive = drawn(dice)
        promise = ATTACKS[name].draw(dice, rows)
        folder = tmp_path / str(outcomes.total())
        folder.mkdir()
        may_drop = not isinstance(getattr(promise, "min_support", 1), Fraction)
        try:
            found = published(rows, sensitive, promise, method, may_drop and dice.random() < 0.3, folder)
        except (vs.Infeasible, vs.InvalidArgument) as refusal:  # it cannot be kept, or excludes nothing
            outcomes[type(refusal).__name__] += 1
            assert not (folder / "out").exists()
            if name == "coherence" and isinstance(refusal, vs.Infeasible):
                assert len(rows) < promise.k or surest(rows, set(), sensitive) > promise.h
            continue
        outcomes["published"] += 1
        assert ATTACKS[name].kept(found, sensitive, promise), (rows, sensitive, promise, found)
        before, after = (Counter(chain.from_iterable(those)) for those in (rows, found))
        assert len(found) <= len(rows)
        assert method == "generalize" or after <= before, "Nobody gets an item that nobody had."
