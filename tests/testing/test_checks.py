"""The batteries themselves: all methods for ρ-uncertainty that keep it pass, and what is wrong is rejected."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.complaints import complaint
from tests.support.effort import examples
from tests.support.errors import refused
from veilset import Coherence, InvalidArgument, RhoUncertainty, Transactions, audit
from veilset.anonymize import methods_of
from veilset.errors import Infeasible
from veilset.limits import Limits
from veilset.models import Margin
from veilset.release import Release
from veilset.testing import check_anonymizer, check_audit, strategies
from veilset.transactions import Taxonomy

HALF = RhoUncertainty(rho="1/2")
TWO = Coherence(h="1/2", k=2, p=2)
# Who holds a infers s; t is safe. For coherence, b is rare.
DATA = Transactions.from_lists([["a", "s"], ["a", "s"], ["b"], ["c", "t"], ["c"], ["c"], ["c"]], sensitive=["s", "t"])
SAFE = DATA.without(["s"])


def by_name(name: str, **options: object):
    """A method for ρ-uncertainty as the battery takes it."""
    return lambda data, promise: methods_of(RhoUncertainty)[name](data, promise, limits=Limits(), **options)


def with_secrets() -> st.SearchStrategy[Transactions]:
    """Data in which something is sensitive."""
    both = strategies.transactions(max_rows=8) | strategies.protected()
    return both.filter(lambda data: len(data.sensitive) > 0)


@pytest.mark.parametrize(
    ("name", "options", "maximal"),
    [
        ("top-down", {}, True),
        ("top-down", {"as_published": True}, False),
        ("suppress", {}, True),
        ("suppress", {"exchange": False}, True),
        ("suppress", {"as_published": True}, False),
        ("remove-sensitive", {}, False),
        ("partial", {}, False),
        ("partial", {"truthful": False}, False),
    ],
)
@given(data=with_secrets(), promise=strategies.rho_promises())
def test_methods_for_rho_uncertainty_pass_the_battery(name, options, maximal, data, promise):
    check_anonymizer(by_name(name, **options), data, promise, maximal=maximal)


def test_all_methods_are_either_passed_or_rejected_here():
    passed = {"top-down", "suppress", "remove-sensitive", "partial"}
    assert {*methods_of(RhoUncertainty)} == {*passed, "select-a-size", "replay"}


@examples(200)
@given(with_secrets(), strategies.rho_promises(), st.data())
def test_top_down_passes_with_any_taxonomy(data, promise, draws):
    groups = st.lists(st.sampled_from(["G1", "G2", "G3"]), max_size=2)
    taxonomy = Taxonomy.from_paths({leaf: draws.draw(groups) for leaf in [*data.public, "absent"]})
    check_anonymizer(by_name("top-down", taxonomy=taxonomy), data, promise, maximal=True)


@pytest.mark.parametrize(
    ("name", "options"), [("select-a-size", {"random_state": 1}), ("replay", {})], ids=["select-a-size", "replay"]
)
def test_methods_that_keep_nothing_are_rejected(name, options, snapshot):
    assert complaint(check_anonymizer, by_name(name, **options), DATA, HALF) == snapshot


def test_noise_is_rejected_even_where_nothing_changed(snapshot):
    assert complaint(check_anonymizer, by_name("select-a-size", beta=0, random_state=1), SAFE, HALF) == snapshot


def suppressing(*items: str, **changed: object):
    return lambda data, promise: replace(
        Release(data, data.without(items), promise, "by hand", {}, data.in_order(items)), **changed
    )


def test_only_what_had_to_go_is_maximal(snapshot):
    check_anonymizer(suppressing("s"), DATA, HALF, maximal=True)
    assert complaint(check_anonymizer, by_name("remove-sensitive"), DATA, HALF, maximal=True) == snapshot
    check_anonymizer(suppressing("s", "t", undecided=("t",)), DATA, HALF, maximal=True)


def test_an_item_returns_next_to_what_was_recoded(snapshot):
    """Next to a and b, s could: it is in 1 of 3 rows with either. Next to their group it could not: 2 of 4."""
    rows = [["a", "s"], ["a", "b"], ["a", "b"], ["b", "s"], ["c"]]
    data = Transactions.from_lists(rows, sensitive=["s"])
    group = {"a": "G", "b": "G"}

    def grouped(data, promise):
        changed = data.without(["s"]).renamed(group)
        return Release(data, changed, promise, "by hand", {}, ("s",), group, {"G": ("a", "b")})

    assert complaint(check_anonymizer, suppressing("s"), data, HALF, maximal=True) == snapshot
    check_anonymizer(grouped, data, HALF, maximal=True)


def test_sensitive_items_may_be_suppressed_and_nothing_else(snapshot):
    def made_public(data, promise):
        hidden = Transactions.from_lists(data.to_lists(), sensitive=["t"])
        return Release(data, hidden, promise, "by hand", {}, ())

    def recoded(data, promise):
        names = {"t": "T"}
        return Release(data, data.without(["s"]).renamed(names), promise, "by hand", {}, ("s",), names)

    assert complaint(check_anonymizer, made_public, DATA, HALF) == snapshot
    assert complaint(check_anonymizer, recoded, DATA, HALF) == snapshot
    assert complaint(check_anonymizer, suppressing("a", "b", "s", "t"), DATA, TWO) == snapshot


def test_a_method_must_repeat_itself_and_answer_the_question(snapshot):
    gone = iter([["s"], ["s", "t"]])

    def wavering(data, promise):
        return suppressing(*next(gone))(data, promise)

    assert complaint(check_anonymizer, wavering, DATA, HALF) == snapshot
    assert complaint(check_anonymizer, suppressing("s", promise=RhoUncertainty(rho=1)), DATA, HALF) == snapshot
    assert complaint(check_anonymizer, suppressing("s", original=SAFE), DATA, HALF) == snapshot


def test_rho_uncertainty_is_never_infeasible(snapshot):
    def gives_up(data, promise):
        raise Infeasible("Nothing helps.", "Give up.")

    assert complaint(check_anonymizer, gives_up, DATA, HALF) == snapshot


def test_wrong_answers_about_what_holds_are_rejected(snapshot):
    answer = audit(SAFE, HALF)
    check_audit(SAFE, HALF, answer)
    worst = answer.margins["largest_confidence"]
    assert worst == Margin(Fraction(1, 4), ("c",), "t")
    wrong = [
        {"holds": False},
        {"feasible": False},
        {"transactions": 3},
        {"margins": {"largest_confidence": replace(worst, value=Fraction(1, 5))}},
        {"margins": {"largest_confidence": replace(worst, itemset=())}},
        {"margins": {"largest_confidence": replace(worst, itemset=("b",))}},
        {"found": 1},
        {"found_by_size": (1,)},
    ]
    assert [complaint(check_audit, SAFE, HALF, replace(answer, **one)) for one in wrong] == snapshot


def test_wrong_witnesses_are_rejected(snapshot):
    data = Transactions.from_lists([["a", "b", "s"], ["a", "b", "s", "t"], ["c"], ["c"], ["c"]], sensitive=["s", "t"])
    answer = audit(data, HALF)
    check_audit(data, HALF, answer)
    first, second = answer.witnesses
    assert (first.itemset, first.sensitive, second.itemset, second.sensitive) == (("a",), "s", ("a",), "t")
    wrong = [
        {"witnesses": (second, first)},
        {"witnesses": (first,)},
        {"witnesses": (first, second, second)},
        {"witnesses": (replace(first, itemset=()), second)},
        {"witnesses": (replace(first, itemset=("a", "b")), second)},
        {"witnesses": (replace(first, support=3), second)},
        {"witnesses": (replace(first, confidence=Fraction(9, 10)), second)},
        {"witnesses": (replace(first, itemset=("b", "a")), second)},
        {"margins": {"largest_confidence": Margin(1, ("a",), "s")}},
    ]
    assert [complaint(check_audit, data, HALF, replace(answer, **one)) for one in wrong] == snapshot


def test_a_promise_without_brute_force():
    with refused(InvalidArgument, "str", "Coherence", "RhoUncertainty"):
        check_audit(DATA, "secret")
    with refused(InvalidArgument, "str", "Coherence", "RhoUncertainty"):
        check_anonymizer(suppressing("s"), DATA, "secret")
