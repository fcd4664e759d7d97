"""The batteries for l-diverse anatomies: what is right passes; wrong answers, methods and mutants are rejected."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.anatomies import cut
from veilset import LDiverseAnatomy, NotCertified, Transactions, audit, publish
from veilset.anonymize import METHODS
from veilset.api import certify
from veilset.errors import Infeasible
from veilset.limits import Limits
from veilset.models import Margin
from veilset.testing import check_anonymizer, check_audit, check_model, strategies
from veilset.testing.mutants_anatomy import ANATOMY_MUTANTS, anatomy_unbroken, as_they_were

TWO = LDiverseAnatomy(2)
# Two columns of which no value is in more than two of four.
DATA = Transactions.from_lists([["a", "x"], ["b", "y"], ["a", "b", "x"], ["y"], ["a", "y"], ["b", "x"]])


def multi_anatomy(**options):
    run = METHODS[LDiverseAnatomy]["multi-anatomy"]
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
    assert {*METHODS[LDiverseAnatomy]} == {"multi-anatomy"}


@pytest.mark.parametrize("mutant", ANATOMY_MUTANTS, ids=lambda mutant: mutant.name)
def test_mutants_are_rejected(mutant, tmp_path):
    release = certify(mutant.method(mutant.data, mutant.promise))
    assert not release.certified
    assert release.audit is not None
    if mutant.noticed_by == "auditor":
        assert release.audit.witnesses
        assert release.discrepancy is None
    else:
        assert release.discrepancy is not None
    with pytest.raises(AssertionError):
        check_anonymizer(mutant.method, mutant.data, mutant.promise)
    with pytest.raises(NotCertified):
        publish(release, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
    assert certify(anatomy_unbroken(mutant.data, mutant.promise)).certified


def test_what_only_the_account_notices():
    unnoticed = {m.name: certify(m.method(m.data, m.promise)) for m in ANATOMY_MUTANTS if m.noticed_by == "account"}
    told = {name: release.discrepancy for name, release in unnoticed.items() if release.audit.holds}
    assert told == {
        "drops the records that are left": "6 transactions are released, but 7 less 0 withheld are 7.",
        "puts one more item into a row": (
            "Bucket 1 does not have the values of its transactions in the column {ale, bun}."
        ),
    }


def test_values_in_their_old_order_are_not_noticed():
    """Nobody can see it in what is published; that a method permutes is shown by its own tests."""
    assert certify(as_they_were(DATA, TWO)).certified


def test_a_method_may_give_up_only_where_two_columns_can_be_too_few():
    def gives_up(data, promise):
        raise Infeasible("Nothing helps.", "Give up.")

    check_anonymizer(gives_up, DATA, LDiverseAnatomy(6))
    check_anonymizer(gives_up, Transactions.from_lists([["a"], ["a"]]), TWO)
    with pytest.raises(AssertionError, match="Infeasible, but it is not"):
        check_anonymizer(gives_up, DATA, LDiverseAnatomy(1))
    # of the sensitive and the public column both are diverse, and there are no other two
    secret = Transactions.from_lists([["a", "s"], ["b", "t"], ["a", "b", "s", "t"]], sensitive=["s", "t"])
    with pytest.raises(AssertionError, match="Infeasible, but it is not"):
        check_anonymizer(gives_up, secret, LDiverseAnatomy(3))


def changed(**fields):
    return lambda data, promise: replace(anatomy_unbroken(data, promise), **fields)


def test_nothing_is_lost_but_what_goes_together():
    check_anonymizer(anatomy_unbroken, DATA, TWO)

    def without_x(data, promise):
        release = anatomy_unbroken(data, promise)
        left = release.data.without(["x"])
        anatomy = replace(release.data.anatomy, columns=(("a", "b"), ("y",)))
        return replace(release, data=left.anatomized(anatomy), suppressed=("x",))

    def in_one_column(data, promise):
        release = anatomy_unbroken(data, promise)
        whole = data.take(release.partition.members)
        return replace(release, data=whole.anatomized(replace(release.data.anatomy, columns=(data.names,))))

    with pytest.raises(AssertionError, match="Nothing need be taken out"):
        check_anonymizer(without_x, DATA, LDiverseAnatomy(1))
    with pytest.raises(AssertionError, match="must not know all"):
        check_anonymizer(in_one_column, DATA, LDiverseAnatomy(1))
    with pytest.raises(AssertionError, match="There are no columns and buckets"):
        check_anonymizer(changed(data=DATA, partition=None), DATA, LDiverseAnatomy(1))
    with pytest.raises(AssertionError, match="nothing says which transactions are in them"):
        check_anonymizer(changed(partition=None), DATA, TWO)


ROWS = cut(["ax", "by", "ay", "as", "bt", "bts"], ["ab", "xy", "st"], [0, 0, 0, 1, 1, 1], "st")


def test_wrong_answers_are_rejected():
    answer = audit(ROWS, TWO)
    check_audit(ROWS, TWO, answer)
    first, second, *rest = answer.witnesses
    assert (first.bucket, first.column, first.itemset) == (2, ("x", "y"), ())
    largest, guess, within = (
        answer.margins[name] for name in ("largest_share", "surest_guess", "surest_within_column")
    )
    wrong_margins = [
        ({"largest_share": replace(largest, value=Fraction(1, 2))}, "not the largest of"),
        ({"largest_share": replace(largest, bucket=1)}, "not the largest of"),
        ({"surest_guess": replace(guess, value=Fraction(2))}, "surer than any share"),
        ({"surest_within_column": replace(within, value=Fraction(3, 4))}, "not the surest of"),
        ({"surest_within_column": replace(within, itemset=("s", "t"))}, "not where that is met"),
    ]
    for wrong, words in [
        ({"holds": True}, "is wrong on"),
        ({"feasible": False}, "does not hold"),
        ({"found": 3}, "3 were found, not"),
        ({"witnesses": (second, first, *rest)}, "the worst first"),
        ({"witnesses": (first, *rest)}, "the worst first"),
        ({"witnesses": (replace(first, support=2), second, *rest)}, "not 3/3"),
        ({"witnesses": (replace(first, itemset=("x",)), second, *rest)}, "is allowed"),
        ({"found_by_size": (1,)}, "say nothing here"),
        ({"checked": 5}, "5 is not the number of groups"),
        *(({"margins": {**answer.margins, **wrong}}, words) for wrong, words in wrong_margins),
        ({"margins": {}}, "is the largest of"),
    ]:
        with pytest.raises(AssertionError, match=words):
            check_audit(ROWS, TWO, replace(answer, **wrong))


def test_wrong_answers_about_few_columns_are_rejected():
    """The commonest of several values that are too common; mixed columns; and there is nothing to guess."""
    data = cut(["a", "ax", "by", "abz", "xy"], ["ab", "xyz"], [0] * 5)
    strict = LDiverseAnatomy(6)
    answer = audit(data, strict)
    check_audit(data, strict, answer)
    worst, other = answer.witnesses
    rarer = replace(worst, itemset=("b",), support=1, confidence=Fraction(1, 5))
    with pytest.raises(AssertionError, match="is not the commonest value"):
        check_audit(data, strict, replace(answer, witnesses=(rarer, other)))
    whole = cut(["a", "b"], ["ab"], [0, 0])
    answer = audit(whole, strict)
    check_audit(whole, strict, answer)
    with pytest.raises(AssertionError, match="no other column to guess"):
        margins = {**answer.margins, "surest_guess": Margin(Fraction(1, 5), ("a",), column=("a", "b"))}
        check_audit(whole, strict, replace(answer, margins=margins))
    mixed = cut(["as", "b"], ["as", "b"], [0, 0], "s")
    answer = audit(mixed, LDiverseAnatomy(1))
    check_audit(mixed, LDiverseAnatomy(1), answer)
    (witness,) = answer.witnesses
    with pytest.raises(AssertionError, match="do not tell of mixed columns"):
        check_audit(mixed, LDiverseAnatomy(1), replace(answer, witnesses=(replace(witness, column=("b",)),)))
    with pytest.raises(AssertionError, match="do not name a sensitive item"):
        check_audit(mixed, LDiverseAnatomy(1), replace(answer, witnesses=(replace(witness, sensitive=None),)))
