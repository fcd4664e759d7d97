"""The batteries themselves: all methods for ρ-uncertainty that keep it pass, and what is wrong is rejected."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veilset import Coherence, RhoUncertainty, Transactions, WrongUsage, audit
from veilset.anonymize import METHODS
from veilset.anonymize.rho_uncertainty.remove_sensitive import remove_sensitive
from veilset.errors import Infeasible
from veilset.limits import Limits
from veilset.models import Margin
from veilset.release import Release
from veilset.testing import check_anonymizer, check_audit, strategies
from veilset.testing.mutants import MUTANTS, RHO_MUTANTS, rho_unbroken
from veilset.transactions import Taxonomy

HALF = RhoUncertainty(rho="1/2")
TWO = Coherence(h="1/2", k=2, p=2)
# Who holds a infers s; t is safe. For coherence, b is rare.
DATA = Transactions.from_lists([["a", "s"], ["a", "s"], ["b"], ["c", "t"], ["c"], ["c"], ["c"]], sensitive=["s", "t"])
SAFE = DATA.without(["s"])


def by_name(name: str, **options: object):
    """A method for ρ-uncertainty as the battery takes it."""
    return lambda data, promise: METHODS[RhoUncertainty][name](data, promise, limits=Limits(), **options)


def with_secrets() -> st.SearchStrategy[Transactions]:
    """Data in which something is sensitive."""
    both = strategies.transactions(max_rows=8) | strategies.protected()
    return both.filter(lambda data: len(data.sensitive) > 0)


@pytest.mark.parametrize(
    ("name", "options", "maximal"),
    [
        ("top-down", {}, True),
        ("top-down", {"plain": True}, False),
        ("suppress", {}, True),
        ("suppress", {"repair": False}, True),
        ("suppress", {"plain": True}, False),
        ("remove-sensitive", {}, False),
    ],
)
@given(data=with_secrets(), promise=strategies.rho_promises())
def test_methods_for_rho_uncertainty_pass_the_battery(name, options, maximal, data, promise):
    check_anonymizer(by_name(name, **options), data, promise, maximal=maximal)


def test_all_methods_are_either_passed_or_rejected_here():
    assert {*METHODS[RhoUncertainty]} == {"top-down", "suppress", "remove-sensitive", "select-a-size", "given"}


@settings(max_examples=max(200, settings().max_examples))
@given(with_secrets(), strategies.rho_promises(), st.data())
def test_top_down_passes_with_any_taxonomy(data, promise, draws):
    groups = st.lists(st.sampled_from(["G1", "G2", "G3"]), max_size=2)
    taxonomy = Taxonomy.from_paths({leaf: draws.draw(groups) for leaf in [*data.public, "absent"]})
    check_anonymizer(by_name("top-down", taxonomy=taxonomy), data, promise, maximal=True)


@pytest.mark.parametrize(
    ("name", "words"),
    [("select-a-size", "added and deleted at random"), ("given", "does not hold on 7 transactions")],
)
def test_methods_that_keep_nothing_are_rejected(name, words):
    with pytest.raises(AssertionError, match=words):
        check_anonymizer(by_name(name), DATA, HALF)


def test_noise_is_rejected_even_where_nothing_changed():
    with pytest.raises(AssertionError, match="added and deleted at random"):
        check_anonymizer(by_name("select-a-size", beta=0, random_state=1), SAFE, HALF)


@pytest.mark.parametrize("mutant", [*MUTANTS, *RHO_MUTANTS], ids=lambda mutant: mutant.name)
def test_mutants_are_rejected(mutant):
    with pytest.raises(AssertionError):
        check_anonymizer(mutant.method, mutant.data, mutant.promise)


@pytest.mark.parametrize("mutant", RHO_MUTANTS, ids=lambda mutant: mutant.name)
def test_what_the_mutants_are_made_from_passes(mutant):
    check_anonymizer(rho_unbroken, mutant.data, mutant.promise)


def suppressing(*items: str, **changed: object):
    return lambda data, promise: replace(
        Release(data, data.without(items), promise, "by hand", {}, data.in_order(items)), **changed
    )


def test_only_what_had_to_go_is_maximal():
    check_anonymizer(suppressing("s"), DATA, HALF, maximal=True)
    with pytest.raises(AssertionError, match=r"\('s', 't'\) need not all have gone"):
        check_anonymizer(lambda d, p: remove_sensitive(d, p, limits=Limits()), DATA, HALF, maximal=True)
    check_anonymizer(suppressing("s", "t", too_dear=("t",)), DATA, HALF, maximal=True)


def test_an_item_returns_next_to_what_was_recoded():
    """Next to a and b, s could: it is in 1 of 3 rows with either. Next to their group it could not: 2 of 4."""
    rows = [["a", "s"], ["a", "b"], ["a", "b"], ["b", "s"], ["c"]]
    data = Transactions.from_lists(rows, sensitive=["s"])
    group = {"a": "G", "b": "G"}

    def grouped(data, promise):
        changed = data.without(["s"]).renamed(group)
        return Release(data, changed, promise, "by hand", {}, ("s",), group, {"G": ("a", "b")})

    with pytest.raises(AssertionError, match="need not all have gone"):
        check_anonymizer(suppressing("s"), data, HALF, maximal=True)
    check_anonymizer(grouped, data, HALF, maximal=True)


def test_sensitive_items_may_be_suppressed_and_nothing_else():
    def made_public(data, promise):
        hidden = Transactions.from_lists(data.to_lists(), sensitive=["t"])
        return Release(data, hidden, promise, "by hand", {}, ())

    def recoded(data, promise):
        names = {"t": "T"}
        return Release(data, data.without(["s"]).renamed(names), promise, "by hand", {}, ("s",), names)

    with pytest.raises(AssertionError, match="roles of the items differ"):
        check_anonymizer(made_public, DATA, HALF)
    with pytest.raises(AssertionError, match="Sensitive items may only be suppressed"):
        check_anonymizer(recoded, DATA, HALF)
    with pytest.raises(AssertionError, match="Sensitive items may not be touched"):
        check_anonymizer(suppressing("a", "b", "s", "t"), DATA, TWO)


def test_a_method_must_repeat_itself_and_answer_the_question():
    gone = iter([["s"], ["s", "t"]])

    def wavering(data, promise):
        return suppressing(*next(gone))(data, promise)

    with pytest.raises(AssertionError, match="Two runs"):
        check_anonymizer(wavering, DATA, HALF)
    with pytest.raises(AssertionError, match="The release is for RhoUncertainty"):
        check_anonymizer(suppressing("s", promise=RhoUncertainty(rho=1)), DATA, HALF)
    with pytest.raises(AssertionError, match="other data"):
        check_anonymizer(suppressing("s", original=SAFE), DATA, HALF)


def test_rho_uncertainty_is_never_infeasible():
    def gives_up(data, promise):
        raise Infeasible("Nothing helps.", "Give up.")

    with pytest.raises(AssertionError, match="Infeasible, but it is not"):
        check_anonymizer(gives_up, DATA, HALF)


def test_wrong_answers_about_what_holds_are_rejected():
    answer = audit(SAFE, HALF)
    check_audit(SAFE, HALF, answer)
    worst = answer.margins["largest_confidence"]
    assert worst == Margin(Fraction(1, 4), ("c",), "t")
    for wrong, words in [
        ({"holds": False}, "is wrong on"),
        ({"feasible": False}, "does not hold|holds on"),
        ({"transactions": 3}, "3 transactions were looked at, not 7"),
        ({"margins": {"largest_confidence": replace(worst, value=Fraction(1, 5))}}, "is not 1/4"),
        ({"margins": {"largest_confidence": replace(worst, itemset=())}}, "not where that is met"),
        ({"margins": {"largest_confidence": replace(worst, itemset=("b",))}}, "not where that is met"),
        ({"found": 1}, "1 is not the number"),
        ({"found_by_size": (1,)}, "say nothing here"),
    ]:
        with pytest.raises(AssertionError, match=words):
            check_audit(SAFE, HALF, replace(answer, **wrong))


def test_wrong_witnesses_are_rejected():
    data = Transactions.from_lists([["a", "b", "s"], ["a", "b", "s", "t"], ["c"], ["c"], ["c"]], sensitive=["s", "t"])
    answer = audit(data, HALF)
    check_audit(data, HALF, answer)
    first, second = answer.witnesses
    assert (first.itemset, first.sensitive, second.itemset, second.sensitive) == (("a",), "s", ("a",), "t")
    for witnesses, words in [
        ((second, first), "order of severity"),
        ((first,), "do not tell of"),
        ((first, second, second), "is not the number"),
        ((replace(first, itemset=()), second), "is allowed"),
        ((replace(first, itemset=("a", "b")), second), "more than is needed"),
        ((replace(first, support=3), second), "support 3 is wrong"),
        ((replace(first, confidence=Fraction(9, 10)), second), "9/10 is wrong"),
        ((replace(first, itemset=("b", "a")), second), "order of the vocabulary"),
    ]:
        with pytest.raises(AssertionError, match=words):
            check_audit(data, HALF, replace(answer, witnesses=witnesses))
    with pytest.raises(AssertionError, match="There are no margins"):
        check_audit(data, HALF, replace(answer, margins={"largest_confidence": Margin(1, ("a",), "s")}))


def test_a_promise_without_brute_force():
    with pytest.raises(WrongUsage, match=r"compare str with\. Available: Coherence, RhoUncertainty, Hidden"):
        check_audit(DATA, "secret")
    with pytest.raises(WrongUsage, match=r"compare str with"):
        check_anonymizer(suppressing("s"), DATA, "secret")
