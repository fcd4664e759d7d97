"""The attacker that the auditor of anatomies simulates: all worlds, the bound, and what a broken bucket tells."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.anatomies import cut, of_ten
from tests.support.errors import refused
from veilset import LDiverseAnatomy, Transactions, _native, audit
from veilset.audit import anatomy_attacker, l_diverse_anatomy
from veilset.audit.anatomy_attacker import posterior, surest_guess
from veilset.audit.anatomy_cut import Cut
from veilset.limits import Limits
from veilset.models import Margin
from veilset.testing import oracles_anatomy as brute
from veilset.testing import strategies

ONE = LDiverseAnatomy(1)


def small() -> st.SearchStrategy[Transactions]:
    """All worlds of a bucket of three can be gone through."""
    both = strategies.diverse(max_size=3) | strategies.anatomized(max_rows=4, max_size=3)
    return both.filter(lambda data: len(data.anatomy.columns) > 1)


@st.composite
def questions(draw) -> tuple[Transactions, int, int, list[int]]:
    """Data, a target, a column that is wanted, and up to two that are known."""
    data = draw(small())
    wanted, *others = draw(st.permutations(range(len(data.anatomy.columns))))
    return data, draw(st.integers(0, len(data) - 1)), wanted, others[: draw(st.integers(1, min(2, len(others))))]


def beliefs(data: Transactions, promise: LDiverseAnatomy, target: int, wanted: int, known: list[int]):
    """What the oracle's attacker believes of each value; where having nothing is free, if there is something."""
    columns = data.anatomy.columns
    rows, buckets = [frozenset(row) for row in data], data.anatomy.buckets.tolist()
    values = [brute.values_of(row, columns) for row in rows]
    held = {column: values[target][column] for column in known}
    believed = {
        value: brute.attacker_posterior(rows, columns, buckets, held, wanted, value)
        for value in {row[wanted] for row in values}
    }
    if promise.empty_is_free(sensitive=set(columns[wanted]) <= set(data.sensitive)):
        nothing = believed.pop(frozenset(), Fraction(0))
        believed = {value: sure / (1 - nothing) for value, sure in believed.items() if nothing < 1}
    return believed


def matching_buckets(data: Transactions, held: dict[int, tuple[str, ...]]) -> list[int]:
    """Definition 7: those that have, in each known column, the known value."""
    columns, met = data.anatomy.columns, set()
    for row, bucket in zip(data, data.anatomy.buckets.tolist(), strict=True):
        met |= {(bucket, column, value) for column, value in enumerate(brute.values_of(row, columns))}
    wanted = {column: frozenset(value) for column, value in held.items()}
    return [b for b in range(data.anatomy.count) if all((b, *one) in met for one in wanted.items())]


def guess(data: Transactions, seen: Cut, asked, *, row_limit: int = 10**6, threads: int = 1):
    targets, wanted, known = zip(*asked, strict=True)
    return _native.audit.surest_guess(
        data.offsets,
        data.items,
        seen.starts,
        seen.column_of,
        seen.free,
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


@given(questions(), st.sampled_from(["value", "free"]))
def test_beliefs_are_those_over_all_worlds(question, empty):
    data, target, wanted, known = question
    promise = LDiverseAnatomy(1, empty=empty)
    seen, columns = Cut.of(data, promise), data.anatomy.columns
    held = {column: tuple(brute.values_of(data[target], columns)[column]) for column in known}
    believed = beliefs(data, promise, target, wanted, known)
    for value, sure in believed.items():
        assert posterior(data, seen, held, wanted, tuple(value)) == sure
    probabilities, rows, surest, buckets = guess(data, seen, [(target, wanted, known)])
    matching = matching_buckets(data, held)
    assert (surest, buckets.tolist()) == (0, matching)
    if not believed:
        assert (probabilities.tolist(), rows.tolist()) == ([0.0], [-1])
        return
    most = max(believed.values())
    assert probabilities[0] == pytest.approx(float(most))
    guessed = brute.values_of(data[int(rows[0])], columns)[wanted]
    assert believed[guessed] == most == posterior(data, seen, held, wanted, tuple(guessed), buckets)


@given(strategies.diverse(), st.sampled_from(["value", "free"]))
def test_no_guess_is_surer_than_the_largest_share(data, empty):
    """Theorem 1; and where all is known but one column, some guess often is as sure."""
    answer = audit(data, LDiverseAnatomy(1, empty=empty))
    if "surest_guess" in answer.margins:
        largest = Fraction(answer.margins["largest_share"].value)
        assert answer.margins["surest_guess"].value <= largest
        assert audit(data, LDiverseAnatomy(1 / largest, empty=empty)).holds


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
    nothing = {key: np.array([], dtype=np.int64) for key in ("bucket", "column", "count", "size", "row")}
    monkeypatch.setattr(_native.audit, "anatomy", lambda *a, **k: (0, nothing, counted(*a, **k)[2]))
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
    margin = Margin(third, ("a",), column=("a",))
    assert l_diverse_anatomy._rounded(margin, Fraction(1, 3)).value == Fraction(1, 3)
    assert l_diverse_anatomy._rounded(margin, Fraction(1, 2)).value == Fraction(333_334, 10**6)
    above = dataclasses.replace(margin, value=Fraction(10**12 + 1, 3 * 10**12))
    assert l_diverse_anatomy._rounded(above, Fraction(1, 3)).value == Fraction(333_334, 10**6)


def test_nothing_to_guess():
    one, none = cut(["ab", "a"], ["ab"], [0, 0]), cut([], [], [])
    for data in (one, none):
        assert surest_guess(data, Cut.of(data, ONE), limits=Limits()) is None
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
    fewer = guess(data, seen, asked, row_limit=len(first[3]) * 10 * 2)
    assert 1 < len(fewer[0]) < 30
    assert fewer[0].tolist() == first[0][: len(fewer[0])].tolist()
    assert len(guess(data, seen, asked, row_limit=0)[0]) == 1
    alone = audit(data, ONE, threads=1)
    assert audit(data, ONE, threads=3) == alone
    assert 0 < alone.margins["surest_guess"].value <= alone.margins["largest_share"].value


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
        _native.audit.surest_guess(data.offsets, data.items, seen.starts, seen.column_of, seen.free, guesses, **limits)
