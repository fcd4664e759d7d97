"""The batteries for l-diverse anatomies: what is right passes; wrong answers, methods and mutants are rejected."""

from dataclasses import replace
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from tests.support.anatomies import cut
from tests.support.complaints import complaint
from veilset import LDiverseAnatomy, Transactions, audit
from veilset.anonymize import methods_of
from veilset.errors import Infeasible
from veilset.limits import Limits
from veilset.models import Margin
from veilset.run import certify
from veilset.testing import check_anonymizer, check_audit, check_model, strategies
from veilset.testing.mutants_anatomy import ANATOMY_MUTANTS, anatomy_unbroken, as_they_were

TWO = LDiverseAnatomy(2)
# Two columns of which no value is in more than two of four.
DATA = Transactions.from_lists([["a", "x"], ["b", "y"], ["a", "b", "x"], ["y"], ["a", "y"], ["b", "x"]])


def multi_anatomy(**options):
    run = methods_of(LDiverseAnatomy)["multi-anatomy"]
    return lambda data, promise: run(data, promise, random_state=1, limits=Limits(), **options)


def test_promises_explain_themselves():
    for promise in (TWO, LDiverseAnatomy("5/2", empty="free")):
        check_model(promise)


@given(
    strategies.transactions(max_public=4),
    strategies.l_diverse_promises(),
    st.integers(2, 4),
    st.sampled_from([1, 2, 32]),
)
def test_the_method_passes(data, promise, columns, open_buckets):
    check_anonymizer(multi_anatomy(columns=columns, open_buckets=open_buckets), data, promise, maximal=True)


@given(strategies.transactions(max_public=4, max_sensitive=0), strategies.l_diverse_promises())
def test_the_method_that_the_mutants_are_made_from_passes(data, promise):
    check_anonymizer(anatomy_unbroken, data, promise)


def test_all_methods_are_passed_here():
    assert {*methods_of(LDiverseAnatomy)} == {"multi-anatomy"}


def test_what_only_the_account_notices(snapshot):
    unnoticed = {m.name: certify(m.method(m.data, m.promise)) for m in ANATOMY_MUTANTS if m.noticed_by == "account"}
    told = {name: release.discrepancy for name, release in unnoticed.items() if release.audit.holds}
    assert told.keys() == {"drops the records that are left", "puts one more item into a row"}
    assert told == snapshot


def test_values_in_their_old_order_are_not_noticed():
    """Nobody can see it in what is published; that a method permutes is shown by its own tests."""
    assert certify(as_they_were(DATA, TWO)).certified


def test_a_method_may_give_up_only_where_two_columns_can_be_too_few(snapshot):
    def gives_up(data, promise):
        raise Infeasible("Nothing helps.", "Give up.")

    check_anonymizer(gives_up, DATA, LDiverseAnatomy(6))
    check_anonymizer(gives_up, Transactions.from_lists([["a"], ["a"]]), TWO)
    assert complaint(check_anonymizer, gives_up, DATA, LDiverseAnatomy(1)) == snapshot
    # of the sensitive and the public column both are diverse, and there are no other two
    secret = Transactions.from_lists([["a", "s"], ["b"], ["a", "b"]], sensitive=["s"])
    assert complaint(check_anonymizer, gives_up, secret, LDiverseAnatomy(3)) == snapshot


def changed(**fields):
    return lambda data, promise: replace(anatomy_unbroken(data, promise), **fields)


def test_nothing_is_lost_but_what_goes_together(snapshot):
    check_anonymizer(anatomy_unbroken, DATA, TWO)

    def without_x(data, promise):
        release = anatomy_unbroken(data, promise)
        left = release.custodian_data.without(["x"])
        anatomy = replace(release.custodian_data.anatomy, columns=(("a", "b"), ("y",)))
        return replace(release, custodian_data=left.anatomized(anatomy), suppressed=("x",))

    def in_one_column(data, promise):
        release = anatomy_unbroken(data, promise)
        whole = data.take(release.partition.members)
        return replace(
            release, custodian_data=whole.anatomized(replace(release.custodian_data.anatomy, columns=(data.names,)))
        )

    assert complaint(check_anonymizer, without_x, DATA, LDiverseAnatomy(1)) == snapshot
    assert complaint(check_anonymizer, in_one_column, DATA, LDiverseAnatomy(1)) == snapshot
    assert (
        complaint(check_anonymizer, changed(custodian_data=DATA, partition=None), DATA, LDiverseAnatomy(1)) == snapshot
    )
    assert complaint(check_anonymizer, changed(partition=None), DATA, TWO) == snapshot


ROWS = cut(["ax", "by", "ay", "as", "bt", "bts"], ["ab", "xy", "st"], [0, 0, 0, 1, 1, 1], "st")


def test_wrong_answers_are_rejected(snapshot):
    answer = audit(ROWS, TWO)
    check_audit(ROWS, TWO, answer)
    first, second, *rest = answer.witnesses
    assert (first.bucket, first.column, first.itemset) == (2, ("x", "y"), ())
    assert (second.bucket, second.column, second.sensitive) == (2, ("s", "t"), "s")
    largest, item, sensitive, guess, within = (
        answer.margins[name]
        for name in (
            "largest_probability",
            "largest_item_share",
            "largest_sensitive_share",
            "surest_guess",
            "surest_within_column",
        )
    )
    wrong_margins = [
        {"largest_probability": replace(largest, value=Fraction(1, 2))},
        {"largest_probability": replace(largest, bucket=1)},
        {"largest_item_share": replace(item, value=Fraction(1))},
        {"largest_item_share": replace(item, itemset=("x",))},
        {"largest_sensitive_share": replace(sensitive, value=Fraction(1, 2))},
        {"surest_guess": replace(guess, value=Fraction(2))},
        {"surest_within_column": replace(within, value=Fraction(3, 4))},
        {"surest_within_column": replace(within, itemset=("s", "t"))},
    ]
    wrong = [
        {"holds": True},
        {"feasible": False},
        {"found": 3},
        {"witnesses": (second, first, *rest)},
        {"witnesses": (first, *rest)},
        {"witnesses": (replace(first, support=2), second, *rest)},
        {"witnesses": (replace(first, itemset=("x",)), second, *rest)},
        {"witnesses": (first, replace(second, sensitive="a"), *rest)},
        {"witnesses": (first, replace(second, sensitive=None), *rest)},
        {"found_by_size": (1,)},
        {"checked": 5},
        *({"margins": {**answer.margins, **one}} for one in wrong_margins),
        {"margins": {}},
    ]
    assert [complaint(check_audit, ROWS, TWO, replace(answer, **one)) for one in wrong] == snapshot


def test_wrong_answers_about_few_columns_are_rejected(snapshot):
    """The commonest of several values that are too common; mixed columns; and there is nothing to guess."""
    data = cut(["a", "ax", "by", "abz", "xy"], ["ab", "xyz"], [0] * 5)
    strict = LDiverseAnatomy(6)
    answer = audit(data, strict)
    check_audit(data, strict, answer)
    worst, other = answer.witnesses
    rarer = replace(worst, itemset=("b",), support=1, confidence=Fraction(1, 4))
    assert complaint(check_audit, data, strict, replace(answer, witnesses=(rarer, other))) == snapshot
    whole = cut(["a", "b"], ["ab"], [0, 0])
    answer = audit(whole, strict)
    check_audit(whole, strict, answer)
    margins = {**answer.margins, "surest_guess": Margin(Fraction(1, 5), ("a",), column=("a", "b"))}
    assert complaint(check_audit, whole, strict, replace(answer, margins=margins)) == snapshot
    empty = cut(["ax", "by", ""], ["ab", "xy"], [0] * 3)
    answer = audit(empty, LDiverseAnatomy(1))
    check_audit(empty, LDiverseAnatomy(1), answer)
    (witness,) = answer.witnesses
    assert complaint(
        check_audit, empty, LDiverseAnatomy(1), replace(answer, witnesses=(replace(witness, support=2),))
    ) == (snapshot)
    mixed = cut(["as", "b"], ["as", "b"], [0, 0], "s")
    answer = audit(mixed, LDiverseAnatomy(1))
    check_audit(mixed, LDiverseAnatomy(1), answer)
    (witness,) = answer.witnesses
    for change in ({"column": ("b",)}, {"sensitive": None}):
        wrong = replace(answer, witnesses=(replace(witness, **change),))
        assert complaint(check_audit, mixed, LDiverseAnatomy(1), wrong) == snapshot
