"""Methods by their battery, the restore pass, and the registry."""

import re
from typing import get_args

import pytest
from hypothesis import given

from tests.support.effort import examples
from tests.support.errors import names, refused
from veilset import Coherence, Infeasible, InvalidArgument, Transactions, anonymize, measure, read
from veilset.anonymize import methods_of, restore
from veilset.anonymize.coherence.remove_all import remove_all
from veilset.limits import Limits
from veilset.options import Form, Option, python_type
from veilset.testing import check_anonymizer, check_metrics, strategies
from veilset.utility import Account, metrics_of

DATA = Transactions.from_lists([["a", "b", "s"], ["a", "b"], ["a", "c"], ["a", "b"], [], ["d"]], sensitive=["s"])
PROMISE = Coherence(h="1/2", k=2, p=2)


@examples(400)
@given(strategies.transactions(), strategies.coherence_promises())
def test_remove_all_passes_the_battery(data, promise):
    check_anonymizer(lambda d, p: remove_all(d, p, limits=Limits()), data, promise)


def test_restore_asks_in_order_and_remembers():
    asked = []

    def still_safe(item: str) -> bool:
        asked.append(item)
        return item in "bd"

    assert restore(["d", "a", "b", "c"], still_safe, limits=Limits()) == ("a", "c")
    assert asked == ["d", "a", "b", "c"]


def test_the_default_is_the_first_method():
    assert next(iter(methods_of(Coherence))) == "auto"
    assert anonymize(DATA, PROMISE).method == "auto"


def test_unknown_method_option_and_promise():
    with refused(InvalidArgument, "'remove-al'", "coherence", "auto", "'remove-all'"):
        anonymize(DATA, PROMISE, method="remove-al")
    with pytest.raises(InvalidArgument, check=lambda error: names(str(error), "speed")):
        anonymize(DATA, PROMISE, method="remove-all", speed=9)
    with refused(InvalidArgument, "'coherence'", "Coherence(k=20, p=4)"):
        anonymize(DATA, "coherence")


def test_infeasible_before_anything_runs():
    with pytest.raises(Infeasible):
        anonymize(DATA, Coherence(h="1/9", k=2, p=2))


def test_drop_empty_withholds_and_counts():
    plain = anonymize(DATA, PROMISE)
    dropped = anonymize(DATA, PROMISE, drop_empty=True)
    assert plain.suppressed == dropped.suppressed == ("c", "d")
    assert dropped.withheld == (4, 5)
    assert len(dropped.custodian_data) == 4
    assert dropped.certified
    assert measure(DATA, plain)["transactions_emptied"] == 1
    assert measure(DATA, dropped)["transactions_withheld"] == 2


def test_empty_rows_stay_where_dropping_them_would_break_what_held():
    """The empty rows were what kept the share of s at a half."""
    data = Transactions.from_lists([["s"], ["s"], [], []], sensitive=["s"])
    assert anonymize(data, PROMISE).certified
    release = anonymize(data, PROMISE, drop_empty=True)
    assert (release.certified, len(release.custodian_data), release.withheld) == (True, 4, ())


def test_measures():
    release = anonymize(DATA, PROMISE)
    found = measure(DATA, release)
    assert found["items_lost"] == pytest.approx(2 / 10)
    assert found["items_lost_unavoidably"] == pytest.approx(2 / 10)
    assert found["kinds_lost"] == pytest.approx(2 / 5)
    assert found["sensitive_kept"] == 1
    assert (found["length_before"], found["length_after"]) == (pytest.approx(10 / 6), pytest.approx(8 / 6))
    assert (found["longest_before"], found["longest_after"]) == (3, 3)
    assert Account(release).unavoidable == ("c", "d")
    with refused(InvalidArgument):
        measure(DATA.without(["a"]), release)


@given(strategies.transactions(), strategies.coherence_promises())
def test_metrics_pass_their_battery(data, promise):
    try:
        releases = [anonymize(data, promise), anonymize(data, promise, drop_empty=True)]
    except Infeasible:
        return
    check_metrics(metrics_of(promise), releases)


def test_release_is_not_certified_without_an_audit():
    release = remove_all(DATA, PROMISE, limits=Limits())
    assert not release.certified


@pytest.mark.parametrize("function", [read, anonymize])
def test_derived_docstrings_speak_python(function):
    """Their options are declared once, for the command line too."""
    types = re.findall(r"^ *[\w=]+ : (.+)$", function.__doc__, re.MULTILINE)
    forms = {*get_args(Form)} - {python_type(Option(form, "", choices=("a",))) for form in get_args(Form)}
    assert len(types) > 10
    assert not {*types} & forms
    assert re.findall(r"Repeatable|\bOUT\b|(?<!-)--[a-z]", function.__doc__) == []
