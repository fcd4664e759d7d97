"""The attacker that the auditor of anatomies simulates: all worlds, the bound, and what a broken bucket tells."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.anatomies import cut, of_ten
from tests.support.effort import examples
from tests.support.errors import refused
from veilset import LDiverseAnatomy, Transactions, _native, audit
from veilset.audit import anatomy_attacker, anatomy_beliefs, anatomy_findings
from veilset.audit.anatomy_attacker import surest_guess
from veilset.audit.anatomy_beliefs import beliefs_in
from veilset.audit.anatomy_cut import Cut, Profiles
from veilset.limits import Limits
from veilset.models import Margin
from veilset.testing import oracles_anatomy as brute
from veilset.testing import strategies

ONE = LDiverseAnatomy(1)


def small() -> st.SearchStrategy[Transactions]:
    """All worlds of a bucket of three can be gone through, but for more than four columns."""
    both = strategies.diverse(max_size=3) | strategies.anatomized(max_rows=4, max_size=3)
    return both.filter(lambda data: 1 < len(data.anatomy.columns) < 5 and all(data))


@st.composite
def questions(draw) -> tuple[Transactions, int, int, list[int]]:
    """Data, a target, a column that is wanted, and up to two that are known."""
    data = draw(small())
    wanted, *others = draw(st.permutations(range(len(data.anatomy.columns))))
    return data, draw(st.integers(0, len(data) - 1)), wanted, others[: draw(st.integers(1, min(2, len(others))))]


def beliefs(data: Transactions, target: int, wanted: int, known: list[int]):
    """What the oracle's attacker believes of each value."""
    columns = data.anatomy.columns
    rows, buckets = [frozenset(row) for row in data], data.anatomy.buckets.tolist()
    values = [brute.values_of(row, columns) for row in rows]
    held = {column: values[target][column] for column in known}
    return {
        value: brute.attacker_posterior(rows, columns, buckets, held, wanted, value)
        for value in {frozenset(), *(row[wanted] for row in values)}
    }


def matching_buckets(data: Transactions, held: dict[int, tuple[str, ...]]) -> list[int]:
    """Definition 7: those that have, in each known column, the known value."""
    columns, met = data.anatomy.columns, set()
    for row, bucket in zip(data, data.anatomy.buckets.tolist(), strict=True):
        met |= {(bucket, column, value) for column, value in enumerate(brute.values_of(row, columns))}
    wanted = {column: frozenset(value) for column, value in held.items()}
    return [b for b in range(data.anatomy.count) if all((b, *one) in met for one in wanted.items())]


def guess(data: Transactions, seen: Cut, asked, *, row_limit: int = 10**6, threads: int = 1):
    targets, wanted, known = zip(*asked, strict=True)
    return _native.audit.anatomy_guesses(
        data.offsets,
        data.items,
        seen.starts,
        seen.column_of,
        seen.rules,
        _native.audit.Guesses(
            targets=np.array(targets, dtype=np.int64),
            wanted=np.array(wanted, dtype=np.int32),
            known_offsets=np.cumsum([0, *map(len, known)], dtype=np.int64),
            known_columns=np.concatenate(known).astype(np.int32),
        ),
        row_limit=row_limit,
        threads=threads,
        memory_limit=10**9,
        time_limit=60.0,
        progress=None,
    )


def guessed(data: Transactions, promise: LDiverseAnatomy) -> Margin | None:
    seen = Cut.of(data, promise)
    return surest_guess(data, seen, Profiles.counted(data, seen, Limits()), limits=Limits())


def exactly(data: Transactions, buckets: list[int], held: dict[int, tuple[str, ...]], wanted: int, value):
    """What our attacker believes of a value, and of having nothing."""
    seen = Cut.of(data, ONE)
    profiles = Profiles.counted(data, seen, Limits())
    return beliefs_in(data, seen, profiles, np.array(buckets), held, wanted, tuple(sorted(value)), Limits())


@examples(400)
@given(questions())
def test_beliefs_are_those_over_all_worlds_in_which_nobody_is_empty(question):
    data, target, wanted, known = question
    values = brute.values_of(data[target], data.anatomy.columns)
    held = {column: tuple(sorted(values[column])) for column in known}
    believed = beliefs(data, target, wanted, known)
    matching = matching_buckets(data, held)
    for value, sure in believed.items():
        assert exactly(data, matching, held, wanted, value) == (sure, believed[frozenset()])


@given(questions(), st.sampled_from(["value", "free"]))
def test_guesses_are_right_where_everybody_has_something(question, empty):
    """With another column in which all do, every world is possible: what the kernel estimates is exact."""
    data, target, wanted, known = question
    rows = [[*row, "z"] for row in data]
    columns = [*data.anatomy.columns, ("z",)]
    data = cut(rows, columns, data.anatomy.buckets.tolist(), data.sensitive)
    promise = LDiverseAnatomy(1, empty=empty)
    seen = Cut.of(data, promise)
    believed = beliefs(data, target, wanted, known)
    nothing = believed.pop(frozenset())
    rule = promise.rule(sensitive=set(columns[wanted]) <= set(data.sensitive))
    sure = {
        "value": max([nothing, *believed.values()]),
        "free": max(believed.values(), default=0) / (1 - nothing) if nothing < 1 else 0,
        "sensitive": 1 - nothing,
    }[rule]
    probabilities, found, offsets, buckets = guess(data, seen, [(target, wanted, known)])
    held = {column: tuple(brute.values_of(data[target], columns)[column]) for column in known}
    assert (offsets.tolist(), buckets.tolist()) == ([0, len(buckets)], matching_buckets(data, held))
    assert probabilities[0] == pytest.approx(float(sure))
    assert (found[0] < 0) == (sure == 0)


@given(strategies.diverse(), st.sampled_from(["value", "free"]))
def test_no_guess_is_surer_than_what_is_most_probable(data, empty):
    """Theorem 1; and where all is known but one column, some guess often is as sure."""
    answer = audit(data, LDiverseAnatomy(1, empty=empty))
    if "surest_guess" in answer.margins:
        most = max(
            Fraction(answer.margins[name].value)
            for name in ("largest_probability", "largest_sensitive_share")
            if name in answer.margins
        )
        assert answer.margins["surest_guess"].value <= most
        assert audit(data, LDiverseAnatomy(1 / most, empty=empty)).holds


def test_what_is_guessed():
    """x or y, and one of them; of sensitive items, that there is any; where having nothing is free, what it is."""
    known = {"x": ("x",), "nothing": ()}
    pairs = cut(["x", "y"], ["x", "y"], [0, 0])
    for held, sure in ((known["x"], (0, 1)), (known["nothing"], (1, 0))):
        assert exactly(pairs, [0], {0: held}, 1, "y") == sure
    assert guessed(pairs, LDiverseAnatomy(2)).value == 1
    secret = cut(["as", "bt", "a", "b"], ["ab", "st"], [0] * 4, "st")
    assert guessed(secret, LDiverseAnatomy(2)) == Margin(Fraction(1, 2), ("s",), "s", column=("s", "t"))
    free = cut(["ax", "by", "ay", "a"], ["ab", "xy"], [0] * 4)
    assert guessed(free, LDiverseAnatomy(2, empty="free")).value == Fraction(3, 4)


def test_where_it_would_take_long_nothing_is_computed(monkeypatch):
    """Only in buckets where nobody's emptiness is decided by a column: in others it is quick."""
    monkeypatch.setattr(anatomy_beliefs, "_LARGE", 3)
    sparse = cut(["x", "y", "xy", "y"], ["x", "y"], [0] * 4)
    assert exactly(sparse, [0], {0: ("x",)}, 1, "y") is None
    assert guessed(sparse, ONE) is None
    assert exactly(cut(["x", "xy", "xy", "x"], ["x", "y"], [0] * 4), [0], {0: ("x",)}, 1, "y") is not None


def broken(size: int) -> Transactions:
    """Many buckets in which all values are unlike each other, and one in which three of four have the same."""
    rows = (
        [[f"a{n}", f"b{n}", f"c{n}"] for n in range(4)] * size
        + [[f"a{n}", "x", f"c{n}"] for n in (7, 8, 9)]
        + [["a0", "b0", "c0"]]
    )
    buckets = [n // 4 for n in range(len(rows))]
    names = sorted({name for row in rows for name in row} - {"x"})
    columns = [[name for name in names if name[0] == letter] for letter in "abc"]
    columns[1].append("x")
    return cut(rows, columns, buckets)


@pytest.mark.parametrize("size", [5, 50])
def test_a_broken_bucket_is_found_out_by_guessing(size):
    data = broken(size)
    answer = audit(data, LDiverseAnatomy(2))
    assert not answer.holds
    assert answer.margins["surest_guess"] == Margin(Fraction(3, 4), ("x",), column=("b0", "b1", "b2", "b3", "x"))


def test_what_the_attacker_exceeds_is_not_kept_whatever_was_counted(monkeypatch, snapshot):
    """If the two ways to count disagree, the answer is no."""
    data = broken(5)
    counted = _native.audit.anatomy
    keys = ("bucket", "column", "kind", "rows", "above", "below", "place")
    nothing = {key: np.array([], dtype=np.int64) for key in keys}
    monkeypatch.setattr(_native.audit, "anatomy", lambda *a, **k: (0, 0, nothing, *counted(*a, **k)[3:]))
    answer = audit(data, LDiverseAnatomy(2))
    assert (answer.holds, answer.found) == (False, 1)
    (witness,) = answer.witnesses
    assert (witness.itemset, witness.confidence, witness.bucket) == (("x",), Fraction(3, 4), None)
    assert witness.reason == snapshot
    assert audit(data, LDiverseAnatomy(2), witnesses=0).witnesses == ()
    assert audit(data, LDiverseAnatomy("4/3")).holds


def test_a_guess_with_many_digits_is_rounded_up_within_the_bound():
    """One in three of each bucket, but their sizes make a fraction with a large denominator."""
    third = Fraction(10**12 - 1, 3 * 10**12)
    assert anatomy_findings.rounded(third, Fraction(1, 3)) == Fraction(1, 3)
    assert anatomy_findings.rounded(third, Fraction(1, 2)) == Fraction(333_334, 10**6)
    assert anatomy_findings.rounded(Fraction(10**12 + 1, 3 * 10**12), Fraction(1, 3)) == Fraction(333_334, 10**6)


def test_nothing_to_guess():
    one, none = cut(["ab", "a"], ["ab"], [0, 0]), cut([], [], [])
    for data in (one, none):
        assert guessed(data, ONE) is None
    alone = cut("as", "as", [0, 1], "s")
    known = guess(alone, Cut.of(alone, ONE), [(0, 1, [0])])
    assert known[1].tolist() == [-1]  # where a is, nobody has anything of the other column


def test_guesses_do_not_depend_on_threads_and_keep_to_their_rows():
    data = of_ten(20_000)
    seen = Cut.of(data, ONE)
    asked = [(target, 2, [0, 1]) for target in range(0, 20_000, 667)]
    first = guess(data, seen, asked)
    assert len(first[0]) == 30
    for threads in (2, 5):
        again = guess(data, seen, asked, threads=threads)
        assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    fewer = guess(data, seen, asked, row_limit=int(first[2][1]) * 10 * 2)
    assert 1 < len(fewer[0]) < 30
    assert fewer[0].tolist() == first[0][: len(fewer[0])].tolist()
    assert len(guess(data, seen, asked, row_limit=0)[0]) == 1
    alone = audit(data, ONE, threads=1)
    assert audit(data, ONE, threads=3) == alone
    assert 0 < alone.margins["surest_guess"].value <= alone.margins["largest_probability"].value


def test_many_columns_are_not_too_many(monkeypatch):
    """A product of hundreds of shares is smaller than any float; the more buckets, the fewer targets."""
    columns = [[f"{n:03}a", f"{n:03}b"] for n in range(400)]
    rows = [[column[(row + number) % 2] for number, column in enumerate(columns)] for row in range(8)]
    data = cut(rows, columns, [0] * 4 + [1] * 4)
    monkeypatch.setattr(anatomy_attacker, "_MOST_KNOWN", 10_000)
    answer = audit(data, LDiverseAnatomy(2))
    assert answer.holds
    assert answer.margins["surest_guess"].value == Fraction(1, 2)
    assert len(list(anatomy_attacker._guesses(8, 400, 2))) == 2_000
    assert len(list(anatomy_attacker._guesses(8, 400, 10**7))) == 16


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"targets": [0, 4]}, ("target",)),
        ({"targets": [0, -1]}, ("target",)),
        ({"targets": [0]}, ("guesses",)),
        ({"wanted": [0, 2]}, ("column",)),
        ({"known_columns": [0, -1]}, ("column",)),
        ({"known_offsets": [0, 1]}, ("guesses",)),
        ({"known_offsets": [0, 3, 2]}, ("known", "frame")),
        ({"known_offsets": [0, 1, 1]}, ("known", "frame")),
        ({"known_offsets": [1, 1, 2]}, ("known", "frame")),
    ],
)
def test_bad_questions_are_refused(wrong, named):
    data = cut(["a", "b", "ab", ""], "ab", [0] * 4)
    seen = Cut.of(data, ONE)
    asked = {"targets": [0, 1], "wanted": [0, 1], "known_offsets": [0, 1, 2], "known_columns": [1, 0], **wrong}
    kinds = {"targets": np.int64, "wanted": np.int32, "known_offsets": np.int64, "known_columns": np.int32}
    guesses = _native.audit.Guesses(**{name: np.array(asked[name], dtype=kind) for name, kind in kinds.items()})
    limits = {"row_limit": 9, "threads": 1, "memory_limit": 10**9, "time_limit": 9.0, "progress": None}
    with refused(ValueError, *named):
        _native.audit.anatomy_guesses(
            data.offsets, data.items, seen.starts, seen.column_of, seen.rules, guesses, **limits
        )
