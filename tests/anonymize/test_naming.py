"""How methods and their options are called: papers' names, unknown names, and what ``help`` lists."""

import re

import pytest

from tests.support.errors import refused
from veilset import Coherence, HiddenPatterns, InvalidArgument, LDiverseAnatomy, RhoUncertainty, Transactions, anonymize
from veilset.anonymize import METHODS, find_method, methods_of, resolve
from veilset.anonymize.methods import option_names
from veilset.models import PROMISES
from veilset.options import declared

ROWS = [["a", "b", "e", "f", "s"], ["c", "e", "f", "g"], ["a", "b", "g"], ["a", "b", "f", "g"], ["b", "e", "f", "g"]]
DATA = Transactions.from_lists([*ROWS, *ROWS], sensitive=["s"])
OURS = [kind for kind in PROMISES.values() if kind.__module__.startswith("veilset.")]
COHERENCE, RHO = Coherence(h="1/2", k=3, p=2), RhoUncertainty(rho="1/2")


@pytest.mark.parametrize(
    ("promise", "written", "name", "options"),
    [
        (Coherence, "Tree-Cohesion", "tree", {"restore": False}),
        (Coherence, "tree cohesion", "tree", {"restore": False}),
        (Coherence, "BORDER_COHESION", "border", {"restore": False}),
        (Coherence, "RmAll", "remove-all", {}),
        (Coherence, "k-Anonymizer", "k-anonymity", {}),
        (Coherence, "Remove_All", "remove-all", {}),
        (Coherence, "Tree", "tree", {}),
        (RhoUncertainty, "TDControl", "top-down", {"as_published": True}),
        (RhoUncertainty, "SuppressControl", "suppress", {"as_published": True}),
        (RhoUncertainty, "Suppress Control", "suppress", {"as_published": True}),
        (RhoUncertainty, "Simple", "remove-sensitive", {}),
        (RhoUncertainty, "Select-a-Size", "select-a-size", {}),
        (HiddenPatterns, "HF", "hidden-first", {}),
        (HiddenPatterns, "nhf", "non-hidden-first", {}),
        (HiddenPatterns, "HPCME", "hpcme", {}),
        (LDiverseAnatomy, "MultiAnatomy", "multi-anatomy", {}),
        (LDiverseAnatomy, "Multi-Dimension Anatomy", "multi-anatomy", {}),
    ],
)
def test_a_papers_name_is_the_method_as_published(promise, written, name, options):
    assert resolve(promise, written) == (name, options)
    assert find_method(promise, written) is methods_of(promise)[name]


def test_no_name_is_the_default():
    assert resolve(Coherence, None) == ("auto", {})


@pytest.mark.parametrize("kind", PROMISES.values(), ids=PROMISES)
def test_an_alias_means_one_method_and_options_that_it_has(kind):
    methods = METHODS.of(kind)
    for alias, (name, options) in methods.aliases.items():
        assert {*options} <= {*option_names(methods.by_name[name])}
        assert resolve(kind, alias) == (name, dict(options))  # no other name is spelled like it


def test_a_release_holds_the_methods_own_name():
    release = anonymize(DATA, COHERENCE, method="tree-cohesion")
    assert (release.method, release.options["restore"]) == ("tree", False)
    assert release.custodian_data == anonymize(DATA, COHERENCE, method="tree", restore=False).custodian_data
    assert anonymize(DATA, RHO, method="TDControl").options["as_published"] is True


def test_what_is_said_goes_before_what_an_alias_means():
    release = anonymize(DATA, COHERENCE, method="Tree-Cohesion", restore=True)
    assert release.options["restore"] is True


@pytest.mark.parametrize(
    ("promise", "method", "values"),
    [
        (COHERENCE, "remove-al", ("'remove-al'", "'auto'", "'remove-all'")),
        (COHERENCE, "TreeCohesoin", ("'TreeCohesoin'", "'Tree-Cohesion'")),
        (COHERENCE, "xyz", ("'xyz'", "'auto'", "'tree'")),
        (COHERENCE, "TDControl", ("'TDControl'", "rho-uncertainty", "'auto'")),
        (RHO, "border", ("'border'", "coherence", "'top-down'")),
        (COHERENCE, 3, (3, "'auto'")),
    ],
)
def test_an_unknown_method_is_answered_with_those_that_exist(promise, method, values):
    with refused(InvalidArgument, *values):
        anonymize(DATA, promise, method=method)


@pytest.mark.parametrize(
    ("promise", "options", "values"),
    [
        (COHERENCE, {"treshold": 3}, ("'auto'", "treshold", "weights", "keep")),
        (COHERENCE, {"keeep": ["a"]}, ("'auto'", "keeep", "'keep'", "weights")),
        (COHERENCE, {"time_limt": 3}, ("time_limt", "'time_limit'")),
        (COHERENCE, {"nugget_size": 3}, ("'auto'", "nugget_size", "border", "optimal")),
        (COHERENCE, {"taxonomi": {}}, ("'auto'", "taxonomi", "'taxonomy'", "generalize")),
        (COHERENCE, {"k": 3}, ("'auto'", "k", "Coherence")),
        (COHERENCE, {"method": "k-anonymity", "speed": 9}, ("'k-anonymity'", "speed")),
        (COHERENCE, {"method": "tree-cohesion", "speed": 9}, ("'tree'", "speed", "restore")),
        (RHO, {"open_buckets": 3}, ("'top-down'", "open_buckets", "taxonomy", "sensitive_weight")),
    ],
)
def test_an_unknown_option_is_answered_with_those_that_exist(promise, options, values):
    with refused(InvalidArgument, *values):
        anonymize(DATA, promise, **options)


def test_near_misses_come_first():
    with pytest.raises(InvalidArgument) as caught:
        anonymize(DATA, COHERENCE, method="border", nuget_size=3)
    assert str(caught.value).index("nugget_size") < str(caught.value).index("keep")


@pytest.mark.parametrize("kind", PROMISES.values(), ids=PROMISES)
def test_every_option_of_a_method_is_declared(kind):
    for name, method in methods_of(kind).items():
        assert [one.name for one in declared(method)] == option_names(method), name


def test_help_lists_methods_and_options(snapshot):
    text = anonymize.__doc__
    for kind in OURS:
        for name, method in METHODS.of(kind).by_name.items():
            assert f"``{name}``" in text
            for one in (one for one in declared(method) if not one.option.recorded):
                assert re.search(rf"^{one.name}(=\w+)? : ", text, re.MULTILINE)
                assert one.option.help in " ".join(text.split())
    assert text == snapshot
