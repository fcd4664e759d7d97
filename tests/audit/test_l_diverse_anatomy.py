"""The auditor of l-diverse anatomies: the paper's tables, the oracle, the attacker, the account of edits, limits."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.anatomies import cut, of_ten, permuted
from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.interrupting import ctrl_c_stops
from veilset import BudgetExceeded, LDiverseAnatomy, _native, audit
from veilset.audit import edits_account_for
from veilset.limits import Limits
from veilset.models import Margin, Witness
from veilset.testing import check_audit, strategies

TWO = LDiverseAnatomy(2)
HALVES = [0] * 5 + [1] * 5

# Table I(A), and the partitions of Example 4. Table I(D) prints the items of (A). Table I(E) does not: it gives
# transaction 9 an a and a c, and transaction 10 an a.
TABLE_A = ["abcdefgh", "abdeh", "abcfh", "abfh", "abcd", "abce", "aefg", "bfh", "fh", "dg"]
TABLE_E = [*TABLE_A[:8], "acfh", "adg"]
COLUMNS_D = ["defh", "abcg"]
COLUMNS_E = ["ac", "beg", "dfh"]


def test_table_d_is_2_diverse(snapshot):
    answer = audit(cut(TABLE_A, COLUMNS_D, HALVES), TWO)
    assert (answer.holds, answer.witnesses, answer.found, answer.checked) == (True, (), 0, 4)
    column = ("d", "e", "f", "h")
    assert answer.margins["largest_share"] == Margin(Fraction(2, 5), ("f", "h"), bucket=1, column=column)
    assert answer.margins["surest_guess"].value == Fraction(2, 5)
    assert str(answer) == snapshot
    assert not audit(cut(TABLE_A, COLUMNS_D, HALVES), LDiverseAnatomy("13/5")).holds


def test_table_e_is_not_2_diverse_whatever_the_paper_says():
    """An erratum: 3/5 is not at most 1/2."""
    answer = audit(cut(TABLE_E, COLUMNS_E, HALVES), TWO)
    ac, beg = ("a", "c"), ("b", "e", "g")
    assert (answer.holds, answer.found) == (False, 2)
    assert answer.witnesses == (
        Witness(ac, 3, None, Fraction(3, 5), "3 of the 5 transactions of bucket 1 have exactly this of {a, c}", 1, ac),
        Witness(
            ("b",),
            3,
            None,
            Fraction(3, 5),
            "3 of the 5 transactions of bucket 1 have exactly this of {b, e, g}",
            1,
            beg,
        ),
    )
    assert answer.margins["surest_guess"].value == Fraction(3, 5)  # the attacker finds it out


def test_with_the_items_of_table_a_three_of_the_second_bucket_have_nothing():
    answer = audit(cut(TABLE_A, COLUMNS_E, HALVES), TWO)
    third = "3 of the 5 transactions of bucket 2 have none of {a, c}"
    assert answer.found == 3
    assert answer.witnesses[2] == Witness((), 3, None, Fraction(3, 5), third, 2, ("a", "c"))
    free = audit(cut(TABLE_A, COLUMNS_E, HALVES), LDiverseAnatomy(2, empty="free"))
    assert [(w.bucket, w.column) for w in free.witnesses] == [(1, ("a", "c")), (1, ("b", "e", "g"))]
    assert "with any of {a, c} have exactly this" in free.witnesses[0].reason


@examples(200)
@given(
    strategies.anatomized() | strategies.anatomized(mixed=True) | strategies.diverse(), strategies.l_diverse_promises()
)
def test_the_auditor_is_right_by_brute_force(data, promise):
    check_audit(data, promise)


@given(strategies.transactions(max_rows=6, min_rows=0), strategies.l_diverse_promises())
def test_data_that_was_not_cut_is_published_whole(data, promise):
    check_audit(data, promise)
    answer = audit(data, promise, witnesses=1)
    if promise.l == 1:
        assert answer.holds
    elif promise.empty == "value" and data.public:
        assert answer.found == len(data)
        assert [w.reason for w in answer.witnesses] == ["transaction 1 is published whole, as a bucket of its own"][
            : len(data)
        ]


@given(strategies.anatomized(mixed=True), strategies.l_diverse_promises(), st.integers(0, 3))
def test_fewer_witnesses_are_the_first_ones(data, promise, most):
    whole, some = audit(data, promise, witnesses=10**6), audit(data, promise, witnesses=most)
    assert dataclasses.replace(whole, witnesses=whole.witnesses[:most]) == some


def test_words_for_one_for_all_and_for_long_columns(snapshot):
    data = cut([["a"], ["b"], ["b"], ["x"]], ["ab", "x"], [0, 1, 1, 2])
    reasons = {(w.bucket, w.column[0]): w.reason for w in audit(data, TWO).witnesses}
    assert reasons == {
        (1, "a"): "the only transaction of bucket 1 has exactly this of {a, b}",
        (1, "x"): "the only transaction of bucket 1 has none of {x}",
        (2, "a"): "all 2 transactions of bucket 2 have exactly this of {a, b}",
        (2, "x"): "all 2 transactions of bucket 2 have none of {x}",
        (3, "a"): "the only transaction of bucket 3 has none of {a, b}",
        (3, "x"): "the only transaction of bucket 3 has exactly this of {x}",
    }

    def reasons_in(column, rows, buckets, promise):
        data = cut([[*row, "z"] for row in rows], [column, "z"], buckets)
        return [witness.reason for witness in audit(data, promise).witnesses if witness.column == tuple(column)]

    assert reasons_in("abc", "abc", [0, 0, 1], TWO) == snapshot
    assert reasons_in("ab", "ab", [0, 0], LDiverseAnatomy(3)) == snapshot
    assert reasons_in("ab", ["a", "b", ""], [0, 0, 1], LDiverseAnatomy(3, empty="free")) == snapshot
    (wide,) = reasons_in("abcdefgh", ["abcdefgh"], [0], TWO)
    assert wide.endswith("exactly this of {a, b, c, d, e, f, … (8 items)}")


def test_a_column_holds_sensitive_items_or_public_ones():
    rows = [["a", "s"], ["b"], ["a", "b"], []]
    apart, mixed = (cut(rows, columns, [0] * 4, "s") for columns in (["ab", "s"], ["as", "b"]))
    assert audit(apart, LDiverseAnatomy(1)).holds
    answer = audit(mixed, LDiverseAnatomy(1))
    reason = "it is sensitive, and its column {a, s} has public items, too"
    assert (answer.holds, answer.found) == (False, 1)
    assert answer.witnesses == (Witness(("s",), 1, "s", None, reason, None, ("a", "s")),)


def test_having_no_sensitive_item_is_free(snapshot):
    """One of four has s, and nobody else has anything there: who has, has s. At l = 2 two must be possible."""
    rows = [["a", "s"], ["b"], ["a", "b"], []]
    (witness,) = audit(cut(rows, ["ab", "s"], [0] * 4, "s"), TWO).witnesses
    assert (witness.itemset, witness.confidence) == (("s",), 1)
    assert witness.reason == snapshot
    answer = audit(cut([["a", "s"], ["b", "t"], ["a", "b"], []], ["ab", "st"], [0] * 4, "st"), TWO)
    assert answer.holds
    assert answer.margins["surest_guess"].value == Fraction(1, 2)  # given that there is something


def test_what_items_of_one_column_tell_about_each_other_is_reported():
    rows = [["a", "s", "t"], ["b", "s"], ["a", "b", "t"], [], ["s", "t"]]
    answer = audit(cut(rows, ["ab", "st"], [0] * 5, "st"), LDiverseAnatomy(1))
    assert answer.margins["surest_within_column"] == Margin(Fraction(2, 3), ("s",), "t", column=("s", "t"))
    sure = audit(cut([["a", "s", "t"], ["b"]], ["ab", "st"], [0] * 2, "st"), LDiverseAnatomy(1))
    assert sure.margins["surest_within_column"] == Margin(Fraction(1), ("s",), "t", column=("s", "t"))
    assert "surest_within_column" not in audit(cut(["a", "b"], ["a", "b"], [0, 0]), TWO).margins


def test_what_is_only_reported_is_left_out_where_it_takes_long(monkeypatch):
    def too_long(*_, **__):
        raise _native.core.OutOfTime

    monkeypatch.setattr(_native.audit, "rho", too_long)
    answer = audit(cut([["a", "s"], ["b", "t"], ["b", "t"]], ["ab", "st"], [0] * 3, "st"), LDiverseAnatomy(1))
    assert answer.holds
    assert set(answer.margins) == {"largest_share", "surest_guess"}


def test_the_answer_does_not_depend_on_threads():
    data = of_ten(30_000)
    alone = audit(data, LDiverseAnatomy(3), threads=1, witnesses=500)
    assert 500 < alone.found < alone.checked == 9_000
    assert len({(w.bucket, w.column) for w in alone.witnesses}) == 500
    for threads in (2, 7):
        assert audit(data, LDiverseAnatomy(3), threads=threads, witnesses=500) == alone


def test_one_bucket_of_many_values():
    """More values than the table of a bucket first has room for, and then a bucket of few again."""
    rows = [[f"a{n}", f"b{n}"] for n in range(1_000)] + [["a0", "b0"], ["a0", "b1"], ["a1", "b2"]]
    columns = [[f"{letter}{n}" for n in range(1_000)] for letter in "ab"]
    answer = audit(cut(rows, columns, [0] * 1_000 + [1] * 3), TWO)
    assert [(w.itemset, w.bucket, w.confidence) for w in answer.witnesses] == [(("a0",), 2, Fraction(2, 3))]


def test_limits():
    data = of_ten(200_000)
    with refused(BudgetExceeded, "time limit", "1e-09"):
        audit(data, TWO, time_limit=1e-9)
    with refused(BudgetExceeded, "memory limit"):
        audit(data, TWO, memory_limit=1000)
    with refused(BudgetExceeded, "time limit"):
        account(data, data, limits=Limits(time_limit=1e-9))
    told: list[str] = []
    audit(data, TWO, progress=lambda what, done, total: told.append(what))
    assert set(told) <= {"Counting values in buckets", "Looking for the buckets of targets", "Guessing values"}


@pytest.mark.parametrize(
    "long_work",
    [
        # nobody has anything in nearly all of 60,000 columns, and each is a bucket's column to look at
        """_native.audit.anatomy(
            offsets, items, offsets, items, np.zeros(60_000, np.uint8), l_num=2, l_den=1, witness_limit=0, **limits
        )""",
        # a hundred thousand times the same question, and all buckets match
        """_native.audit.surest_guess(
            offsets, items * 0, offsets, items % 2, np.zeros(2, np.uint8), _native.audit.Guesses(
                targets=np.zeros(100_000, np.int64), wanted=np.ones(100_000, np.int32),
                known_offsets=np.arange(100_001), known_columns=np.zeros(100_000, np.int32),
            ), row_limit=2**62, **limits
        )""",
    ],
    ids=["counting", "guessing"],
)
def test_ctrl_c(long_work):
    """Either takes minutes."""
    before = """
        import numpy as np
        from veilset import _native
        offsets, items = np.arange(60_001), np.arange(60_000, dtype=np.int32)
        limits = dict(threads=2, memory_limit=10**11, time_limit=600.0, progress=None)
    """
    assert ctrl_c_stops(long_work, before=before)


LIMITS = {"threads": 1, "memory_limit": 10**9, "time_limit": 9.0, "progress": None}


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"starts": [0, 2]}, ("frame", "rows")),
        ({"starts": [1, 3]}, ("frame", "rows")),
        ({"starts": []}, ("frame", "rows")),
        ({"starts": [0, 2, 2, 3]}, ("rows",)),
        ({"starts": [0, 2, 1, 3]}, ("rows",)),
        ({"column_of": [0, 2]}, ("column",)),
        ({"column_of": [0, -1]}, ("column",)),
        ({"column_of": [0]}, ("vocabulary",)),
        ({"offsets": [0, 1, 2]}, ("frame", "items")),
    ],
)
def test_bad_arguments_of_the_kernels_are_refused(wrong, named):
    good = {"offsets": [0, 1, 2, 3], "items": [0, 1, 0], "starts": [0, 1, 3], "column_of": [0, 1], **wrong}
    kinds = {"offsets": np.int64, "items": np.int32, "starts": np.int64, "column_of": np.int32}
    offsets, items, starts, column_of = (np.array(good[name], dtype=kind) for name, kind in kinds.items())
    free = np.zeros(2, dtype=np.uint8)
    with refused(ValueError, *named):
        _native.audit.anatomy(offsets, items, starts, column_of, free, l_num=2, l_den=1, witness_limit=1, **LIMITS)
    with refused(ValueError, *named):
        _native.audit.differing_values(offsets, items, offsets, items, starts, column_of, columns=2, **LIMITS)


def test_bad_numbers_for_the_kernels_are_refused():
    data = cut("ab", "ab", [0, 0])
    rows = data.offsets, data.items
    starts, column_of, free = data.anatomy.starts, data.anatomy.column_of("ab"), np.zeros(2, dtype=np.uint8)
    for numbers, named in [
        ({"l_num": 1, "l_den": 2, "witness_limit": 1}, "l"),
        ({"l_num": 1, "l_den": 0, "witness_limit": 1}, "l"),
        ({"l_num": 1, "l_den": 1, "witness_limit": -1}, "witness_limit"),
    ]:
        with refused(ValueError, named):
            _native.audit.anatomy(*rows, starts, column_of, free, **numbers, **LIMITS)
    with refused(ValueError, "columns", "negative"):
        _native.audit.differing_values(*rows, *rows, starts, column_of, columns=-1, **LIMITS)
    with refused(ValueError, "frame", "rows"):
        _native.audit.differing_values(
            *rows, np.array([0, 0], dtype=np.int64), data.items[:0], starts, column_of, columns=2, **LIMITS
        )


# The account of edits

ORIGINAL = cut(["ax", "by", "a", "bx", "aby"], ["ab", "xy"], [0, 0, 0, 1, 1])
MEMBERS = np.array([0, 1, 2, 3, 4])


def account(original, released, members=None, **more):
    whole = original.take(np.arange(len(original)))  # without columns and buckets
    members = np.arange(len(original)) if members is None else members
    declared = {"suppressed": (), "generalized": {}, "withheld": (), "members": members, **more}
    return edits_account_for(whole, released, **declared)


def released(rows, buckets=(0, 0, 0, 1, 1), sensitive="", columns=("ab", "xy")):
    return cut(rows, columns, list(buckets), sensitive)


def test_values_may_change_places_inside_a_bucket_and_nowhere_else(snapshot):
    assert account(ORIGINAL, ORIGINAL) is None
    assert account(ORIGINAL, released(["ay", "a", "bx", "aby", "bx"])) is None
    assert account(ORIGINAL, released(["a", "bx", "ay", "abx", "by"])) is None
    assert account(ORIGINAL, released(["a", "bx", "ax", "aby", "by"])) == (snapshot)
    assert account(ORIGINAL, released(["a", "bx", "ay", "abx", "ay"])) == (snapshot)
    # the first bucket that differs, and there the first column
    assert account(ORIGINAL, released(["a", "bx", "a", "aby", "a"])) == (snapshot)
    assert account(ORIGINAL, released(["b", "bx", "ax", "aby", "by"])).startswith("Bucket 1 does not have")


def test_members_are_the_transactions_each_once_and_in_order(snapshot):
    swapped = released(["bx", "aby", "ax", "by", "a"], (0, 0, 1, 1, 1))
    assert account(ORIGINAL, swapped, np.array([3, 4, 0, 1, 2])) is None
    assert account(ORIGINAL, swapped, np.array([4, 3, 0, 1, 2])) == (snapshot)
    assert account(ORIGINAL, swapped, np.array([3, 4, 0, 2, 1])) == (snapshot)
    for wrong in ([3, 4, 0, 1, 1], [3, 4, 0, 1], [3, 4, 0, 1, 5], [3.0, 4.0, 0.0, 1.0, 2.0]):
        assert account(ORIGINAL, swapped, np.array(wrong)) == (snapshot)


def test_members_go_with_buckets_and_buckets_with_members(snapshot):
    whole = ORIGINAL.take(MEMBERS)
    assert account(ORIGINAL, whole) == (snapshot)
    declared = {"suppressed": (), "generalized": {}, "withheld": ()}
    other = "Its columns and buckets are not those of the original, and nothing says which transactions are in them."
    assert edits_account_for(whole, ORIGINAL, **declared) == other
    assert edits_account_for(ORIGINAL, whole, **declared) == other
    assert edits_account_for(ORIGINAL, ORIGINAL, **declared) is None  # read from a file, and published as it is


def test_items_roles_and_withheld_transactions_are_accounted_for(snapshot):
    assert account(ORIGINAL, released(["az", "by", "a", "bx", "aby"], columns=("ab", "xyz"))) == (snapshot)
    assert account(ORIGINAL, released(["a", "by", "a", "b", "aby"], columns=("ab", "y"))) == (snapshot)
    assert account(ORIGINAL, released(ORIGINAL.to_lists(), sensitive="xy")) == snapshot
    four = cut(["ax", "by", "a", "bx"], ["ab", "xy"], [0, 0, 0, 1])
    assert account(ORIGINAL, four).startswith("4 transactions are released, but 5 less 0 withheld")
    assert account(ORIGINAL, four, MEMBERS[:4], withheld=[4]) is None
    assert account(ORIGINAL, four, MEMBERS[1:], withheld=[4]).startswith("The members of the buckets are not")
    without = cut(["a", "by", "a", "b", "aby"], ["ab", "y"], [0, 0, 0, 1, 1])
    assert account(ORIGINAL, without, suppressed=["x"]) is None


@given(strategies.diverse() | strategies.anatomized(), st.data())
def test_any_permutation_inside_buckets_is_accounted_for_and_another_item_is_not(data, draws):
    anatomy = data.anatomy
    rows = permuted(draws.draw, data, anatomy)
    shuffled = cut(rows, anatomy.columns, anatomy.buckets.tolist(), data.sensitive)
    assert account(data, shuffled) is None
    if data.names:
        rows[draws.draw(st.integers(0, len(rows) - 1))] ^= {draws.draw(st.sampled_from(data.names))}
        there = set().union(*rows)
        columns = [kept for column in anatomy.columns if (kept := [item for item in column if item in there])]
        changed = cut(rows, columns, anatomy.buckets.tolist(), there.intersection(data.sensitive))
        assert account(data, changed) is not None


def test_the_account_does_not_depend_on_threads():
    data = of_ten(30_000)
    rows = data.to_lists()
    rows[12_345], rows[23_456] = rows[23_456], rows[12_345]
    moved = cut(rows, data.anatomy.columns, data.anatomy.buckets.tolist())
    told = {account(data, moved, limits=Limits(threads=threads)) for threads in (1, 2, 7)}
    assert len(told) == 1
    assert told.pop().startswith("Bucket 1,235 does not have the values of its transactions in the column {b0, b1")


def test_one_column_is_no_cut():
    """Whatever its buckets: every transaction could be read as it was."""
    data = cut(["ab", "c", "bd", "a"], ["abcd"], [0, 0, 0, 0])
    answer = audit(data, TWO)
    assert (answer.holds, answer.found) == (False, 4)
    assert "published whole" in answer.witnesses[0].reason
    assert audit(data, LDiverseAnatomy(1)).holds
