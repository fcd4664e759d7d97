"""Options of suppress and top-down: trees of every shape, what was chosen before, limits, and what cannot be meant."""

import pytest

import veilset as vs
from tests.support import golden, rho_kernels
from tests.support.errors import refused
from tests.support.interrupting import ctrl_c_stops
from tests.support.shelves import RECODED, ROWS, SHELVES
from veilset.anonymize.rho_uncertainty import rules as rho_rules
from veilset.anonymize.rho_uncertainty.suppress import suppress
from veilset.anonymize.rho_uncertainty.task import Task
from veilset.anonymize.rho_uncertainty.top_down import top_down
from veilset.engines import Piece
from veilset.engines.rows import different
from veilset.limits import Limits
from veilset.run import certify
from veilset.testing import oracles
from veilset.testing.checks import as_sets
from veilset.transactions import Transactions

HALF = vs.RhoUncertainty(rho="1/2")
TABLE_1 = Transactions.from_lists(golden.TABLE_1, sensitive=golden.TABLE_1_SENSITIVE)
PROMISE = vs.RhoUncertainty(rho=golden.RHO)
METHODS = {"suppress": suppress, "top-down": top_down}

SHOP = Transactions.from_lists(ROWS, sensitive=["cure"])


def facts(release: vs.Release) -> tuple:
    return release.suppressed, release.generalized, release.stands_for, release.custodian_data.to_lists()


def top(tree, data: Transactions = SHOP, **options) -> vs.Release:
    return vs.anonymize(data, HALF, method="top-down", taxonomy=tree, **options)


def test_recodes_where_suppression_would_lose_more():
    release = top(SHELVES)
    assert (release.suppressed, release.generalized) == ((), RECODED)
    assert release.stands_for == {"food": ("bun", "fig")}
    assert release.certified
    assert vs.measure(SHOP, release)["average_loss"] == pytest.approx(1.5 / 11)
    assert vs.anonymize(SHOP, HALF, method="suppress").loss == pytest.approx(2 / 11)
    assert sum(attempt.won for attempt in release.attempts) == 1
    losses = [attempt.loss for attempt in release.attempts]
    assert [attempt.loss for attempt in release.attempts if attempt.won] == [min(losses)]


def test_leaves_that_do_not_occur_may_be_meant_and_sensitive_ones_not():
    release = top({**SHELVES, "pie": ["food"], "cure": ["food"]})
    assert (release.generalized, release.stands_for) == (RECODED, {"food": ("bun", "fig", "pie")})
    assert vs.measure(SHOP, release)["average_loss"] == pytest.approx(1.5 / 11), "They do not count in the loss."


def test_a_chain_of_groups_has_the_name_of_the_lowest():
    chain = {item: [*groups, f"all {groups[0]}", f"really all {groups[0]}"] for item, groups in SHELVES.items()}
    release = top(chain)
    assert (release.generalized, release.certified) == (RECODED, True)


def test_a_group_of_one_item_is_the_item():
    release = top({**SHELVES, "fig": ["fruit"], "pear": ["fruit"]})
    assert "fruit" not in release.generalized.values()
    assert release.certified


def test_a_single_public_item():
    data = Transactions.from_lists([["a", "s"], ["a"], ["s", "t"], [], [], []], sensitive=["s", "t"])
    for method in METHODS:
        for as_published in (False, True):
            release = vs.anonymize(data, HALF, method=method, as_published=as_published)
            assert release.certified
            assert not release.generalized
    assert vs.anonymize(data, HALF, method="suppress").suppressed == ("s",), "s with t or a is lost; t costs less."


def test_no_public_item():
    data = Transactions.from_lists([["s", "t"], ["s"], ["s"], [], [], [], []], sensitive=["s", "t"])
    for method in METHODS:
        for options in ({}, {"as_published": True}, {"exchange": False}):
            release = vs.anonymize(data, HALF, method=method, **options)
            assert (release.suppressed, release.certified) == (("t",), True)
    assert top({"s": ["G"], "t": ["G"]}, data).suppressed == ("t",)


def test_empty_transactions_count_for_who_knows_nothing():
    """Removing s is where one way starts: it must see that one of five is not too many."""
    data = Transactions.from_lists([["s"], [], [], [], []], sensitive=["s"])
    for method in METHODS:
        release = vs.anonymize(data, HALF, method=method)
        assert release.suppressed == ()
        assert [attempt.loss for attempt in release.attempts] == [0] * len(release.attempts)


def test_without_a_tree_four_neighbours_are_a_group():
    rows = [[f"i{n:02}", "s"] for n in range(16)] + [[f"i{n:02}"] for n in range(16)] + [["z0"], ["z1"]] * 20
    data = Transactions.from_lists(rows, sensitive=["s"])
    release = vs.anonymize(data, HALF, method="top-down", as_published=True)
    groups = set(release.stands_for.values())
    assert release.certified
    assert all(len(group) in (4, 16) or "z0" in group for group in groups), groups
    assert "taxonomy" not in release.options


RARE = [f"i{n:02}" for n in range(16)]
RARE_ROWS = [*([item] for item in RARE * 2), *([item, "s"] for item in RARE[::4] * 2), *[["z0"], ["z1"]] * 20]
"""Items with two buyers each; every fourth has two more, who have s: it can only stay under a coarser name."""


def bazaar(rows=RARE_ROWS, **options) -> vs.Release:
    data = Transactions.from_lists(rows, sensitive=["s"])
    release = vs.anonymize(data, HALF, method="top-down", keep=["s", *RARE], **options)
    assert release.certified
    assert release.generalized.keys() == {*RARE}, "They are all there under another name."
    return release


def listed(release: vs.Release) -> set[str]:
    return {item for items in release.stands_for.values() for item in items}


def test_a_tree_made_from_the_data_names_no_rare_item():
    release = bazaar([*RARE_ROWS, *[["i01"], ["i03"]] * 3])
    assert listed(release) == {"i01", "i03"}, "Only these have five buyers."
    assert set(release.generalized.values()) == {"#1..i03", "#5..#8", "#9..#12", "#13..#16"}
    assert release.options["name_leaves_from"] == release.listed_from == 5


def test_what_is_listed_is_for_the_custodian_to_say():
    everything = bazaar(name_leaves_from=0)
    assert listed(everything) == {*RARE}
    assert "i00..i03" in everything.stands_for
    assert listed(bazaar(name_leaves_from=4)) == {*RARE[::4]}
    assert top(SHELVES, name_leaves_from=2).stands_for == {"food": ("fig",)}
    assert top(SHELVES, name_leaves_from=3).stands_for == {}
    with refused(vs.InvalidArgument, "name_leaves_from", -1):
        top(SHELVES, name_leaves_from=-1)


def test_an_earlier_recipe_finds_the_names_it_chose():
    """Recipes of releases that listed everything do not say so."""
    before = bazaar(name_leaves_from=0)
    assert facts(bazaar(chosen=before.options["chosen"])) == facts(before)
    now = bazaar()
    assert facts(vs.anonymize(now.original, HALF, method="top-down", **now.options)) == facts(now)


@pytest.mark.parametrize("method", METHODS)
def test_an_item_may_have_the_name_of_the_root(method):
    data = Transactions.from_lists([["ALL", "s"], ["ALL"], ["b"], ["b"]], sensitive=["s"])
    assert vs.anonymize(data, HALF, method=method).certified


def test_a_group_may_not_have_the_name_of_an_item():
    with refused(vs.InvalidArgument, "'cure'", "item", "group"):
        top({**SHELVES, "bun": ["cure"], "fig": ["cure"]})
    data = Transactions.from_lists([["ALL", "s"], ["ALL"], ["b", "s"], ["b"], ["c"], ["c"]], sensitive=["s"])
    with refused(vs.InvalidArgument, "'ALL'", "item", "group"):
        top({"ALL": [], "b": [], "c": []}, data, as_published=True, keep=["ALL", "b", "s"])


def test_a_leaf_and_a_group_of_one_name_are_told_apart():
    release = top({**SHELVES, "bun": ["ale"], "fig": ["ale"]})
    assert release.generalized == {"bun": "ALL > ale", "fig": "ALL > ale"}
    assert release.certified


@pytest.mark.parametrize(("method", "options"), [("suppress", {}), ("top-down", {"taxonomy": SHELVES})])
@pytest.mark.parametrize(
    "more",
    [{}, {"weights": "equal", "keep": ["fig"]}, {"exchange": False}, {"weights": {"bun": 9}}, {"sensitive_weight": 5}],
)
def test_what_was_chosen_is_chosen_again(method, options, more):
    release = vs.anonymize(SHOP, HALF, method=method, **options, **more)
    again = vs.anonymize(SHOP, HALF, method=method, **release.options)
    assert facts(again) == facts(release)
    assert again.options == release.options
    assert not again.attempts, "Nothing was searched."


def test_what_was_chosen_may_come_from_a_generator():
    release = top(SHELVES)
    again = top(SHELVES, chosen=(name for name in release.options["chosen"]))
    assert again.options["chosen"] == release.options["chosen"]


@pytest.mark.parametrize(
    ("chosen", "named"),
    [
        (["ale", "beer"], ("'beer'", "item", "group")),
        (["ale", "ALL"], ("'ALL'", "item", "group")),
        (["bun", "food"], ("'bun'", "group")),
        ("ale", ("chosen", "'ale'")),
    ],
)
def test_what_cannot_have_been_chosen(chosen, named, snapshot):
    with refused(vs.InvalidArgument, *named, said=snapshot):
        top(SHELVES, chosen=chosen)


def test_what_was_chosen_is_audited_and_must_hold_what_is_kept():
    assert not top(SHELVES, chosen=["ale", "fig", "cure"]).certified
    with refused(vs.Infeasible, "'bun'"):
        top(SHELVES, chosen=["ale"], keep=["bun"])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"depth": 3}, ("depth",)),
        ({"weights": "heavy"}, ("weights", "'heavy'")),
        ({"sensitive_weight": 0}, ("sensitive_weight", 0, 1000)),
        ({"sensitive_weight": 1001}, ("sensitive_weight", 1001)),
        ({"sensitive_weight": 1.5}, ("sensitive_weight", "1.5")),
        ({"sensitive_weight": True}, ("sensitive_weight", "True")),
        ({"weights": {"ale": -1}}, ("weight", "'ale'", "-1")),
        ({"weights": {"beer": 1}}, ("beer",)),
        ({"keep": "ale"}, ("keep", "'ale'")),
        ({"keep": ["beer"]}, ("beer",)),
        ({"chosen": ["beer"]}, ("'beer'", "item", "group")),
    ],
)
def test_options_that_cannot_be_meant(method, options, named, snapshot):
    with refused(vs.InvalidArgument, *named, said=snapshot):
        vs.anonymize(SHOP, HALF, method=method, **options)


@pytest.mark.parametrize("method", METHODS)
def test_weights_that_cannot_be_added_up(method):
    data = Transactions.from_lists([[f"p{n}" for n in range(3000)], ["p1", "s"]], sensitive=["s"])
    assert vs.anonymize(data, HALF, method=method, weights={"s": 10**6}).certified
    with refused(vs.InvalidArgument, "3,001"):
        vs.anonymize(data, HALF, method=method, weights={"s": 10**6}, sensitive_weight=1000)


def test_a_tree_is_for_top_down_and_must_have_all_public_items():
    with refused(vs.InvalidArgument, "'suppress'", "taxonomy", "top-down"):
        vs.anonymize(SHOP, HALF, method="suppress", taxonomy=SHELVES)
    with refused(vs.InvalidArgument, "1 of 4", "'fig'"):
        top({"ale": [], "bun": [], "rum": []})


@pytest.mark.parametrize("method", METHODS)
def test_nothing_sensitive_nothing_to_do(method):
    with refused(vs.InvalidArgument, "sensitive"):
        METHODS[method](Transactions.from_lists(ROWS), HALF, limits=Limits())


@pytest.mark.parametrize("method", METHODS)
def test_without_time_something_is_released_all_the_same(method):
    """At worst what removing all sensitive items leaves; what was given up says so."""
    release = METHODS[method](TABLE_1, PROMISE, limits=Limits(time_limit=1e-9))
    assert certify(release).certified
    assert release.loss <= vs.anonymize(TABLE_1, PROMISE, method="remove-sensitive").loss
    given_up = [attempt for attempt in release.attempts if attempt.note]
    assert given_up
    assert all("stopped at the time limit" in attempt.note for attempt in given_up)


@pytest.mark.parametrize("method", METHODS)
def test_without_memory_something_is_released_all_the_same(method):
    release = METHODS[method](TABLE_1, PROMISE, limits=Limits(memory_limit=1))
    assert release.suppressed == ("α", "γ")
    assert certify(release).certified
    *given_up, last = release.attempts
    assert all("stopped at the memory limit" in attempt.note for attempt in given_up)
    assert {attempt.state for attempt in given_up} == {"not finished"}
    assert (last.state, last.loss) == ("chosen", release.loss)


def test_plain_runs_stop_at_a_limit():
    for method in METHODS.values():
        with refused(vs.BudgetExceeded, "time limit", "remove-sensitive"):
            method(TABLE_1, PROMISE, as_published=True, limits=Limits(time_limit=1e-9))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("search", "rules"), [(0, 10**6), (9, 10**6), (10**6, 0), (10**6, 9), (0, 0), (9, 9)])
def test_what_is_undecided_to_prove_is_suppressed_and_named(method, search, rules, monkeypatch):
    monkeypatch.setattr(rho_rules, "_SEARCH", search)
    monkeypatch.setattr(rho_rules, "_RULES", rules)
    dear = 0
    for data in (TABLE_1, SHOP):
        for options in ({}, {"as_published": True}):
            release = vs.anonymize(data, HALF, method=method, **options)
            assert release.certified
            assert set(release.undecided) <= set(release.suppressed)
            dear += len(release.undecided)
    assert dear or search or rules


@pytest.mark.parametrize("method", METHODS)
def test_what_must_stay_and_is_undecided_to_prove(method, monkeypatch):
    monkeypatch.setattr(rho_rules, "_RULES", 0)
    with refused(vs.BudgetExceeded, "work limit"):
        METHODS[method](TABLE_1, PROMISE, keep=["α", "γ"], as_published=True, limits=Limits())


def test_progress_is_told():
    told = set()
    data = Transactions.from_lists(ROWS * 30, sensitive=["cure"])
    top(SHELVES, data, progress=lambda what, done, total: told.add(what))
    assert {"Restoring items", "Splitting nodes", "Repairing"} <= told


def test_an_order_of_magnitude_more():
    """Larger than the oracle can judge for all antecedents, and still as the auditor wants it."""
    rows = [[f"p{(7 * n + k * k) % 40:02}" for k in range(n % 9)] + [f"s{n % 11}"] * (n % 3 == 0) for n in range(600)]
    data = Transactions.from_lists(rows, sensitive=[f"s{n}" for n in range(11)])
    for method in METHODS:
        release = vs.anonymize(data, HALF, method=method)
        assert release.certified
        assert not release.undecided
        assert oracles.is_rho_uncertain(as_sets(release.custodian_data), data.sensitive, HALF.rho)


@pytest.mark.no_sanitizer(reason="interrupts a child whose work takes far more memory there")
@pytest.mark.parametrize("method", METHODS)
def test_ctrl_c_is_answered(method):
    before = """
        import veilset as vs
        from tests.support.explosive import explosive_rules
        data = explosive_rules()
    """
    work = f'vs.anonymize(data, vs.RhoUncertainty(rho="1/2"), method="{method}")'
    assert ctrl_c_stops(f"while True: {work}", before=before)


@pytest.mark.parametrize("method", ["suppress", "top-down", "remove-sensitive"])
def test_withholding_empty_transactions_takes_what_becomes_too_common(method):
    """Over twelve transactions a third have s; over the ten that hold something, more than 36% do."""
    rows = [["s"]] * 3 + [["s", "a"]] + [["a"]] * 4 + [["z"]] * 2 + [[]] * 2
    data = vs.Transactions.from_lists(rows, sensitive=["s"])
    promise = vs.RhoUncertainty(rho="0.36")
    assert vs.anonymize(data, promise, method="suppress").suppressed == ()
    release = vs.anonymize(data, promise, method=method, drop_empty=True)
    assert release.certified
    assert release.suppressed == ("s",)
    assert release.withheld == (0, 1, 2, 10, 11)


def test_what_must_stay_and_cannot_is_told_with_the_rule():
    data = vs.Transactions.from_lists([["s"], ["s"], ["a"]], sensitive=["s"])
    with refused(vs.Infeasible, "'s'", "kept"):
        vs.anonymize(data, vs.RhoUncertainty(rho="1/2"), keep=["s"])


def test_a_row_of_many_sensitive_items_does_not_fill_the_memory():
    """Pairs of what a row holds infer all the rest of it: one list for all, not one for each."""
    secrets = [f"s{number}" for number in range(150)]
    rows = [[*secrets, "a", "b"], *([secrets[number % 150], "cdefg"[number % 5]] for number in range(600))]
    data = vs.Transactions.from_lists(rows, sensitive=secrets)
    tree = Task.of(data, HALF, None, weights=None, sensitive_weight=1, keep=(), limits=Limits()).hierarchy
    arrays = tree.rows(different(Piece(data.offsets, data.items)), Limits()).arrays
    rows = dict(zip(("offsets", "items", "weights"), arrays, strict=True))
    room = 4 * 10**6  # 11,000 antecedents of about 150 each would be 6 MB
    budgets = {"search_budget": 10**8, "rules_budget": 2 * 10**7, "threads": 1, "memory_limit": room}
    found = rho_kernels.suppress({**rows, "sensitive": tree.sensitive}, cost=tree.cost, population=len(data), **budgets)
    assert found["complete"]
