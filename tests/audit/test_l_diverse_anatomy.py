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
from veilset import BudgetExceeded, LDiverseAnatomy, Transactions, _native, audit
from veilset.audit import edits_account_for, l_diverse_anatomy
from veilset.limits import Limits
from veilset.models import Margin, Witness
from veilset.testing import check_audit, strategies
from veilset.transactions import Anatomy

TWO = LDiverseAnatomy(2)
HALVES = [0] * 5 + [1] * 5

# Table I(A), and the partitions of Example 4. Table I(D) prints the items of (A). Table I(E) does not: it gives
# transaction 9 an a and a c, and transaction 10 an a.
TABLE_A = ["abcdefgh", "abdeh", "abcfh", "abfh", "abcd", "abce", "aefg", "bfh", "fh", "dg"]
TABLE_E = [*TABLE_A[:8], "acfh", "adg"]
COLUMNS_D = ["defh", "abcg"]
COLUMNS_E = ["ac", "beg", "dfh"]


def test_table_d_is_2_diverse(snapshot):
    """In both buckets everybody has something of {d, e, f, h}, so the paper's shares are all there is to know."""
    answer = audit(cut(TABLE_A, COLUMNS_D, HALVES), TWO)
    assert (answer.holds, answer.witnesses, answer.found, answer.checked) == (True, (), 0, 4)
    column = ("d", "e", "f", "h")
    assert answer.margins["largest_probability"] == Margin(Fraction(2, 5), ("f", "h"), bucket=1, column=column)
    assert answer.margins["largest_item_share"] == Margin(Fraction(1), ("a",), bucket=1, column=("a", "b", "c", "g"))
    assert answer.margins["surest_guess"].value == Fraction(2, 5)
    assert str(answer) == snapshot
    assert not audit(cut(TABLE_A, COLUMNS_D, HALVES), LDiverseAnatomy("13/5")).holds


def test_single_items_are_limited_on_request():
    """a, b, f and h are in more than half of all values of their columns, and are no news; d and c are not."""
    answer = audit(cut(TABLE_A, COLUMNS_D, HALVES), LDiverseAnatomy(2, items=True))
    reasons = {w.itemset: (w.support, w.confidence, w.bucket, w.reason) for w in answer.witnesses}
    share = (3, Fraction(3, 5), 1)
    assert reasons == {
        ("d",): (*share, "3 of the 5 transactions of bucket 1 have this item of {d, e, f, h}"),
        ("c",): (*share, "3 of the 5 transactions of bucket 1 have this item of {a, b, c, g}"),
    }
    assert answer.margins["largest_probability"].value == Fraction(2, 5)
    assert answer.margins["unlimited_items"] == Margin(4, ("a", "b", "f", "h"))
    rare = LDiverseAnatomy("5/4", items=True)
    assert "unlimited_items" not in audit(cut(TABLE_A, COLUMNS_D, HALVES), rare).margins
    secret = audit(cut(TABLE_A, COLUMNS_D, HALVES, sensitive="abcg"), LDiverseAnatomy(2, items=True))
    assert secret.margins["unlimited_items"].itemset == ("f", "h"), "sensitive items are always limited"


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
    """By their share, 3/5; but nobody is empty, so those who have something in both other columns need it less."""
    answer = audit(cut(TABLE_A, COLUMNS_E, HALVES), TWO)
    share = "3 of the 5 transactions of bucket 2 have none of {a, c}"
    why = f"{share}; anyone with items in the other columns is more likely to"
    assert answer.found == 3
    assert answer.witnesses[0] == Witness((), 3, None, Fraction(21, 34), why, 2, ("a", "c"))
    assert answer.margins["largest_probability"] == Margin(Fraction(21, 34), (), bucket=2, column=("a", "c"))
    free = audit(cut(TABLE_A, COLUMNS_E, HALVES), LDiverseAnatomy(2, empty="free"))
    assert [(w.bucket, w.column) for w in free.witnesses] == [(1, ("a", "c")), (1, ("b", "e", "g"))]


def test_nobody_has_an_empty_transaction(snapshot):
    """Half have x, half have y, and by these shares alone 2-diverse; but (x, y), (nothing, nothing) is impossible."""
    answer = audit(cut(["x", "y"], ["x", "y"], [0, 0]), TWO)
    assert not answer.holds
    assert [(w.itemset, w.confidence) for w in answer.witnesses] == [(("x",), 1), (("y",), 1)]
    assert answer.margins["surest_guess"].value == 1
    assert answer.witnesses[0].reason == snapshot
    # three of four arrangements of each bucket's empty values are left, of larger buckets more
    assert audit(cut(["xa", "yb", "x", "y", "b", "a"], ["xy", "ab"], [0] * 6), TWO).holds


def test_most_transactions_that_had_two_columns_could_be_rebuilt(snapshot):
    """As from the anatomies of sparse data before: each has something in one column only."""
    rows = [[f"{letter}{n}"] for n in range(20) for letter in "ab"]
    columns = [[f"{letter}{n}" for n in range(20)] for letter in "ab"]
    answer = audit(cut(rows, columns, [n // 2 for n in range(40)]), TWO)
    assert (answer.found, answer.margins["largest_probability"].value) == (40, 1)


def test_people_with_sensitive_items_hide_among_others(snapshot):
    """As among the carriers only of a bucket before: which of two items they had was 1/2, that they had one was 1."""
    rows = ["as", "bt", "as", "bt"]
    answer = audit(cut(rows, ["ab", "st"], [0] * 4, "st"), TWO)
    (witness,) = answer.witnesses
    assert (witness.sensitive, witness.support, witness.confidence) == ("s", 4, 1)
    assert answer.margins["largest_sensitive_share"] == Margin(Fraction(1), ("s",), "s", bucket=1, column=("s", "t"))
    assert answer.margins["surest_guess"].value == 1
    assert witness.reason == snapshot(name="carriers only")
    half = audit(cut(["as", "bt", "a", "b"], ["ab", "st"], [0] * 4, "st"), TWO)
    assert half.holds
    assert half.margins["largest_sensitive_share"].value == Fraction(1, 2)
    # who has nothing public has a sensitive item
    alone = audit(cut(["as", "t", "a", "b", "b", "c", "c"], ["abc", "st"], [0] * 7, "st"), TWO)
    assert [(w.support, w.confidence) for w in alone.witnesses] == [(2, 1)]
    assert alone.witnesses[0].reason == snapshot(name="nothing public")
    # two sensitive columns may belong to different people
    two = audit(cut(["as", "bt", "a", "b", "c", "c"], ["abc", "s", "t"], [0] * 6, "st"), LDiverseAnatomy(3))
    assert two.holds
    assert two.margins["largest_sensitive_share"].value == Fraction(1, 3)


def test_an_anatomy_has_no_empty_transaction():
    data = cut(["ax", "by", "", "az", ""], ["ab", "xyz"], [0] * 5)
    answer = audit(data, LDiverseAnatomy(1))
    reason = "2 transactions are empty, and an anatomy must have none"
    assert (answer.holds, answer.found, answer.witnesses) == (False, 1, (Witness((), 2, None, None, reason),))
    assert "surest_guess" not in answer.margins


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
    rows = [["a", "s"], ["b"], ["a", "b"], ["a"]]
    apart, mixed = (cut(rows, columns, [0] * 4, "s") for columns in (["ab", "s"], ["as", "b"]))
    assert audit(apart, LDiverseAnatomy(1)).holds
    answer = audit(mixed, LDiverseAnatomy(1))
    reason = "it is sensitive, and its column {a, s} has public items, too"
    assert (answer.holds, answer.found) == (False, 1)
    assert answer.witnesses == (Witness(("s",), 1, "s", None, reason, None, ("a", "s")),)


def test_what_items_of_one_column_tell_about_each_other_is_reported():
    rows = [["a", "s", "t"], ["b", "s"], ["a", "b", "t"], ["a"], ["s", "t"]]
    answer = audit(cut(rows, ["ab", "st"], [0] * 5, "st"), LDiverseAnatomy(1))
    assert answer.margins["surest_within_column"] == Margin(Fraction(2, 3), ("s",), "t", column=("s", "t"))
    sure = audit(cut([["a", "s", "t"], ["b"]], ["ab", "st"], [0] * 2, "st"), LDiverseAnatomy(1))
    assert sure.margins["surest_within_column"] == Margin(Fraction(1), ("s",), "t", column=("s", "t"))
    assert "surest_within_column" not in audit(cut(["a", "b"], ["a", "b"], [0, 0]), TWO).margins


def test_what_is_only_reported_is_left_out_where_it_takes_long(monkeypatch):
    """By steps, of which there are as many on any machine: the public page tells it, and `verify` tells it again."""
    draw = np.random.default_rng(1)
    rows = [["a", *np.array(list("stuvwxyz"))[held].tolist()] for held in draw.random((300, 8)) < 0.5]
    data = cut([*rows, ["b"]], ["ab", "stuvwxyz"], [0] * 301, "stuvwxyz")
    before = audit(data, LDiverseAnatomy(1))
    monkeypatch.setattr(l_diverse_anatomy, "_WORK", 1)
    after = audit(data, LDiverseAnatomy(1))
    assert {*before.margins} - {*after.margins} == {"surest_within_column"}
    assert after.holds and "largest_sensitive_share" in after.margins


@pytest.mark.parametrize("stop", [_native.core.OutOfTime, _native.core.OutOfMemory])
def test_nothing_is_left_out_because_of_limits(monkeypatch, stop):
    def too_much(*_, **__):
        raise stop

    monkeypatch.setattr(_native.audit, "rho", too_much)
    data = cut([["a", "s"], ["b", "t"], ["b", "t"]], ["ab", "st"], [0] * 3, "st")
    with refused(BudgetExceeded, "limit"):
        audit(data, LDiverseAnatomy(1), time_limit=60)


def test_the_answer_does_not_depend_on_threads():
    data = of_ten(30_000)
    alone = audit(data, LDiverseAnatomy(3), threads=1, witnesses=500)
    assert 500 < alone.found < alone.checked == 9_000
    assert len({(w.bucket, w.column) for w in alone.witnesses}) == 500
    for threads in (2, 7):
        assert audit(data, LDiverseAnatomy(3), threads=threads, witnesses=500) == alone


def test_nor_does_it_where_nobody_is_empty():
    """Six in ten values are nothing, of rows that have something: hundreds of profiles, which threads share."""
    drawn = np.random.default_rng(5).integers(22, size=(40_000, 3))
    drawn = drawn[(drawn < 9).any(axis=1)]
    names = [f"{letter}{number}" for letter in "abc" for number in range(9)]
    codes = (drawn + np.array([0, 9, 18])).astype(np.int32)[drawn < 9]
    whole = Transactions.from_codes(np.cumsum([0, *(drawn < 9).sum(axis=1)]), codes, names)
    columns = [[name for name in names if name[0] == letter] for letter in "abc"]
    data = whole.anatomized(Anatomy.of(columns, np.arange(len(whole)) // 15))
    for promise in (LDiverseAnatomy("5/4", items=True), LDiverseAnatomy(2)):
        alone = audit(data, promise, threads=1, witnesses=300)
        assert 0 < alone.found < alone.checked
        assert any(not w.itemset and "more likely" in w.reason for w in alone.witnesses)
        for threads in (2, 7):
            assert audit(data, promise, threads=threads, witnesses=300) == alone


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
    assert told.pop() == "Checking the promise", "The end of every audit that has no passes."
    assert set(told) <= {"Counting values in buckets", "Looking for the buckets of targets", "Guessing values"}


@pytest.mark.parametrize(
    "long_work",
    [
        # nobody has anything in nearly all of 60,000 columns, and each is a bucket's column to look at
        """_native.audit.anatomy(
            offsets, items, offsets, items, np.zeros(60_000, np.uint8), np.zeros(60_000, np.uint8),
            _native.audit.Nothing(
                profile_of=offsets[1:] * 0 - 1, offsets=offsets[:1], above=offsets[:0], below=offsets[:0]
            ), l_num=2, l_den=1, witness_limit=0, **limits
        )""",
        # a hundred thousand times the same question, and all buckets match
        """_native.audit.anatomy_guesses(
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
    with refused(ValueError, *named):
        _native.audit.anatomy(offsets, items, starts, column_of, *asked(column_of, starts), **ASKED, **LIMITS)
    with refused(ValueError, *named):
        _native.audit.anatomy_profiles(offsets, items, starts, column_of, columns=2, **LIMITS)
    with refused(ValueError, *named):
        _native.audit.differing_values(offsets, items, offsets, items, starts, column_of, columns=2, **LIMITS)


ASKED = {"l_num": 2, "l_den": 1, "witness_limit": 1}


def asked(column_of, starts, **changes):
    """Two columns by value, no item limited by itself, and all buckets anchored."""
    one, none = np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64)
    profiles = {
        "profile_of": np.full(max(0, len(starts) - 1), -1),
        "offsets": one,
        "above": none,
        "below": none,
        **changes,
    }
    return np.zeros(2, dtype=np.uint8), np.zeros(len(column_of), dtype=np.uint8), _native.audit.Nothing(**profiles)


def test_bad_numbers_for_the_kernels_are_refused():
    data = cut("ab", "ab", [0, 0])
    rows = data.offsets, data.items
    starts, column_of = data.anatomy.starts, data.anatomy.column_of("ab")
    good = asked(column_of, starts)
    for numbers, named in [
        ({"l_num": 1, "l_den": 2}, "l"),
        ({"l_num": 1, "l_den": 0}, "l"),
        ({"witness_limit": -1}, "witness_limit"),
    ]:
        with refused(ValueError, named):
            _native.audit.anatomy(*rows, starts, column_of, *good, **ASKED | numbers, **LIMITS)
    with refused(ValueError, "limited"):
        _native.audit.anatomy(*rows, starts, column_of, good[0], np.zeros(3, np.uint8), good[2], **ASKED, **LIMITS)
    two, none = np.array([0, 1]), np.zeros(0, dtype=np.int64)
    for wrong in (
        {"profile_of": two},
        {"offsets": none},
        {"offsets": two},
        {"below": two},
        {"profile_of": np.zeros(1, dtype=np.int64)},
    ):
        with refused(ValueError, "profiles"):
            _native.audit.anatomy(*rows, starts, column_of, *asked(column_of, starts, **wrong), **ASKED, **LIMITS)
    for columns in (_native.audit.differing_values, _native.audit.anatomy_profiles):
        twice = rows if columns is _native.audit.differing_values else ()
        with refused(ValueError, "columns", "negative"):
            columns(*rows, *twice, starts, column_of, columns=-1, **LIMITS)
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
