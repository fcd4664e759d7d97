"""``border``: the paper's borders, the counting in cohorts, brute force, and the method."""

from collections import Counter
from fractions import Fraction
from itertools import chain

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.cube import random_cube
from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.feasible import task_of as question
from tests.support.golden import PROMISE, running_example
from veilset import BudgetExceeded, Coherence, Infeasible, InvalidArgument, Transactions, anonymize, generate
from veilset.anonymize.coherence.border import border, greedy, mole_cohorts, nugget_cohorts, worth_keeping
from veilset.anonymize.coherence.borders import NIL, Border, Edge, compute_delta, mole_border, nugget_border, weight
from veilset.limits import Limits
from veilset.testing import check_anonymizer, oracles, strategies
from veilset.testing.checks import as_sets

LETTERS = Border("abcdefg", [], [], None)


def mask(word: str) -> int:
    return LETTERS.mask(word)


def edge(alpha: str, beta: str) -> Edge:
    return Edge(mask(alpha), mask(beta))


def shown(edges) -> set[str]:
    return set(LETTERS.show(edges))


def golden_borders() -> tuple[Border, Border]:
    data = running_example().without(["c", "d"])
    return mole_border(data, PROMISE), nugget_border(data, 4, None)


def test_the_mole_border_of_the_running_example():
    moles, _ = golden_borders()
    assert {moles.show([Edge(alpha, 0)])[0] for alpha in moles.upper} == {"<ae,>", "<af,>", "<ag,>", "<be,>", "<bfg,>"}
    assert {moles.show([Edge(0, beta)])[0] for beta in moles.lower} == {"<,abef>", "<,abfg>", "<,befg>"}
    assert moles.total == 12
    assert moles.per_item == {"a": 8, "b": 7, "e": 6, "f": 6, "g": 5}
    assert moles.compression == 8 / 12
    assert mole_border(running_example(), PROMISE).total == 26, "With c and d."


def test_the_nugget_border_of_the_running_example():
    _, nuggets = golden_borders()
    assert set(nuggets.show(nuggets.edges)) == {
        *("<a,ab>", "<b,ab>", "<b,bg>", "<g,bg>", "<e,ef>", "<f,ef>", "<f,fg>", "<g,fg>")
    }
    assert nuggets.total == 9
    assert nuggets.per_item == {"a": 2, "b": 3, "e": 2, "f": 3, "g": 3, "s1": 0, "s2": 0, "s3": 0}


def test_nuggets_hold_sensitive_items_too():
    data = running_example().without(["c", "d"])
    nuggets, counted = nugget_border(data, 3, None), oracles.frequent(as_sets(data), 3)
    assert nuggets.total == len(counted)
    assert nuggets.per_item["s2"] == sum("s2" in itemset for itemset in counted) > 0


def test_the_counting_function():
    """Examples 14 and the one before it: W of (ag, 3) is 3 over the border, W of (ef, 3) over <af, abef> is 1."""
    moles, _ = golden_borders()
    delta = Counter()
    compute_delta([e for e in moles.edges if e.beta & moles.mask("a")], [], moles.mask("a"), 3, delta)
    assert delta[moles.mask("g")] == 3
    assert weight(edge("af", "abef"), mask("ef"), 3) == 1
    assert weight(edge("af", "abef"), NIL, 9) == 4
    assert weight(edge("af", "abef"), mask("g"), 9) == 0


def test_edge_intersection():
    """Example 15."""
    assert edge("ae", "abef") & edge("ab", "abeg") == edge("abe", "abe")
    assert not (edge("ae", "abef") & edge("ab", "abeg")).empty
    assert (edge("ae", "abef") & edge("bg", "abeg")).empty


def test_edge_difference():
    """Example 16, and one with both kinds of edges."""
    assert shown(edge("ae", "adefg") - edge("ae", "ade")) == {"<aef,adefg>", "<aeg,adefg>"}
    assert shown(edge("a", "abc") - edge("b", "abd")) == {"<a,ac>", "<ac,abc>"}


def test_example_17():
    """Losers with a and e of up to 4 items in <ae,adefg>, but neither in <ae,ade> nor in <a,abe>."""
    delta = Counter()
    compute_delta([edge("ae", "adefg")], [edge("ae", "ade"), edge("a", "abe")], mask("a"), 4, delta)
    assert delta[mask("e")] == 5


def test_the_border_after_a_suppression():
    """Example 18, with ag where it belongs."""
    moles, _ = golden_borders()
    assert len([e for e in moles.edges if e.beta & moles.mask("a")]) == 6
    moles.suppress("a")
    assert set(moles.show(moles.edges)) == {"<be,befg>", "<bfg,befg>"}
    assert moles.per_item == {"b": 4, "e": 3, "f": 2, "g": 2}


def test_both_ways_suppress_the_same_items_in_the_running_example():
    task = question(running_example(), PROMISE)
    left = worth_keeping(task, 4)
    assert set(task.data.public) - set(left.public) == {"c", "d"}
    assert list(greedy(mole_cohorts(task, left), nugget_cohorts(task, left, 4, None), left.public)) == ["a", "b"]
    assert list(greedy(*golden_borders(), left.public)) == ["a", "b"]
    release = anonymize(running_example(), PROMISE, method="border", nugget_support=4)
    assert release.suppressed == tuple("abcd")
    assert release.certified


def per_item(itemsets, names) -> dict[str, int]:
    return {name: sum(name in itemset for itemset in itemsets) for name in names}


sizes = st.one_of(st.none(), st.integers(1, 4))


@examples(400)
@given(
    strategies.transactions(min_rows=2),
    strategies.coherence_promises(),
    st.integers(1, 6),
    sizes,
    st.randoms(),
    st.data(),
)
def test_borders_cohorts_and_brute_force_agree(data, promise, support, size, shuffled, draw):
    task = question(data, promise)
    left = worth_keeping(task, draw.draw(st.integers(1, support)))
    moles = oracles.moles(as_sets(left), left.sensitive, promise.share, promise.k, promise.p)
    nuggets = {x for x in oracles.frequent(as_sets(left), support) if len(x) <= (size or len(x))}
    counted = [
        (moles, left.public, (mole_border(left, promise), mole_cohorts(task, left))),
        (nuggets, left.names, (nugget_border(left, support, size), nugget_cohorts(task, left, support, size))),
    ]
    gone: set[str] = set()
    for item in (None, *shuffled.sample(left.public, len(left.public))):
        gone |= {item}
        for itemsets, names, ways in counted:
            remaining = [x for x in itemsets if not x & gone]
            for way in ways:
                if item is not None:
                    way.suppress(item)
                assert way.total == len(remaining)
                assert way.per_item == per_item(remaining, [name for name in names if name not in gone])


def by_brute_force(moles, nuggets, items) -> list[str]:
    """Figure 12, every number from the itemsets themselves."""
    suppressed: list[str] = []
    while moles:
        in_moles, in_nuggets = per_item(moles, items), per_item(nuggets, items)
        scores = {
            item: Fraction(in_moles[item], in_nuggets[item]) if in_nuggets[item] else float("inf")
            for item in items
            if in_moles[item]
        }
        chosen = max(scores, key=lambda item: scores[item])
        suppressed.append(chosen)
        moles, nuggets = ({x for x in itemsets if chosen not in x} for itemsets in (moles, nuggets))
    return suppressed


@examples(400)
@given(strategies.transactions(min_rows=2), strategies.coherence_promises(), st.integers(1, 6), sizes, st.data())
def test_the_order_of_suppression(data, promise, support, size, draw):
    """Also where a score is infinite: what is suppressed beforehand may leave items that are no nuggets."""
    task = question(data, promise)
    left = worth_keeping(task, draw.draw(st.integers(1, support)))
    moles = oracles.moles(as_sets(left), left.sensitive, promise.share, promise.k, promise.p)
    nuggets = {x for x in oracles.frequent(as_sets(left), support) if len(x) <= (size or len(x))}
    expected = by_brute_force(moles, nuggets, left.public)
    assert list(greedy(mole_cohorts(task, left), nugget_cohorts(task, left, support, size), left.public)) == expected
    assert list(greedy(mole_border(left, promise), nugget_border(left, support, size), left.public)) == expected


@examples(400)
@given(strategies.transactions(min_rows=2), strategies.coherence_promises(), st.integers(1, 6), sizes)
def test_the_method_suppresses_what_the_borders_say(data, promise, support, size):
    task = question(data, promise)
    left = worth_keeping(task, support)
    order = greedy(mole_border(left, promise), nugget_border(left, support, size), left.public)
    release = border(data, promise, nugget_support=support, nugget_size=size, restore=False, limits=Limits())
    assert set(release.suppressed) == (set(data.public) - set(left.public)).union(order)


def sparse() -> Transactions:
    return generate.quest(transactions=200, average_length=4, pattern_length=3, items=16, random_state=1)


@pytest.mark.parametrize(
    ("data", "promise", "support", "size"),
    [
        (sparse(), Coherence(k=3, p=None), 10, None),
        (sparse(), Coherence(k=3, p=3), 10, 2),
        (random_cube(1, rows=3000, items=12).data, Coherence(k=60, p=None), 900, None),
        (random_cube(1, rows=3000, items=12).with_sensitive(2), Coherence(h="4/5", k=30, p=4), 800, 3),
        (random_cube(1, rows=3000, items=12).with_sensitive(2), Coherence(h="9/10", k=30, p=None), 800, None),
    ],
    ids=["sparse", "sparse, p = 3", "dense", "dense, h < 1, p = 4", "dense, h < 1"],
)
def test_borders_and_cohorts_agree_on_longer_data(data, promise, support, size):
    task = question(data, promise)
    left = worth_keeping(task, support)
    fast = mole_cohorts(task, left), nugget_cohorts(task, left, support, size)
    slow = mole_border(left, task.promise), nugget_border(left, support, size)
    order = greedy(*fast, left.public)
    assert fast[0].total > 40
    assert fast[1].total > 30
    for item in chain([None], order):  # greedy suppresses in the fast ones before it tells
        for quick, paper in zip(fast, slow, strict=True):
            if item is not None:
                paper.suppress(item)
            assert (quick.total, quick.per_item) == (paper.total, paper.per_item)


@examples(400)
@given(strategies.transactions(), strategies.coherence_promises(), st.one_of(st.none(), st.integers(1, 6)), sizes)
def test_border_passes_the_battery(data, promise, support, size):
    check_anonymizer(
        lambda d, p: border(d, p, nugget_support=support, nugget_size=size, limits=Limits()),
        data,
        promise,
        maximal=True,
    )


@examples(400)
@given(
    strategies.transactions(min_rows=2), strategies.coherence_promises(), st.integers(1, 6), st.booleans(), st.data()
)
def test_what_must_be_kept_is_kept(data, promise, support, restore, draw):
    assume(data.public)
    keep = draw.draw(st.sets(st.sampled_from(data.public), min_size=1, max_size=3))
    try:
        release = anonymize(data, promise, method="border", nugget_support=support, keep=sorted(keep), restore=restore)
    except Infeasible:
        alone = [frozenset(row).intersection({*keep, *data.sensitive}) for row in data]
        assert not oracles.is_coherent(alone, data.sensitive, promise.share, promise.k, promise.p)
        return
    assert release.certified
    assert not keep.intersection(release.suppressed)


def test_harmless_items_return():
    """c is in 3 of 10 rows: no nugget at k' = 5, and no mole either."""
    data = Transactions.from_lists([["a", "b"]] * 7 + [["c"]] * 3)
    promise = Coherence(k=3, p=None)
    assert border(data, promise, nugget_support=5, restore=False, limits=Limits()).suppressed == ("c",)
    assert border(data, promise, nugget_support=5, limits=Limits()).suppressed == ()


def test_the_default_support_is_one_percent_or_k():
    data = Transactions.from_lists([["a"]] * 289 + [["b"]] * 4 + [["c"]] * 3 + [["d"]] * 4)

    def gone(k: int) -> tuple[str, ...]:
        return border(data, Coherence(k=k, p=None), restore=False, limits=Limits()).suppressed

    assert gone(2) == ()
    assert gone(4) == ("c",)
    more = Transactions.from_lists([*data.to_lists(), ["a"]])  # 1% of 301, rounded up
    assert border(more, Coherence(k=2, p=None), restore=False, limits=Limits()).suppressed == ("c",)


def test_shares_count_too_and_only_given_options_are_recorded():
    data = Transactions.from_lists([["a"]] * 6 + [["b"]] * 4)
    promise = Coherence(k=2, p=None)
    plain = anonymize(data, promise, method="border")
    assert plain.options == {"restore": True}
    told = anonymize(data, promise, method="border", nugget_support=0.5, nugget_size=2, keep=["a"], restore=False)
    assert told.options == {"nugget_support": 0.5, "nugget_size": 2, "keep": ("a",), "restore": False}
    assert told.suppressed == ("b",)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"nugget_support": 0}, ("nugget_support", 0)),
        ({"nugget_support": 1.5}, ("nugget_support", "1.5")),
        ({"nugget_size": 0}, ("nugget_size", 0)),
        ({"keep": "a"}, ("keep", "'a'")),
        ({"keep": ["x"]}, ("'x'",)),
    ],
)
def test_wrong_options(options, named, snapshot):
    with refused(InvalidArgument, *named, said=snapshot):
        anonymize(Transactions.from_lists([["a"]] * 3), Coherence(k=2, p=None), method="border", **options)


def test_what_must_be_kept_may_break_the_promise():
    with refused(Infeasible, "promise"):
        anonymize(running_example(), PROMISE, method="border", keep=["a", "e"])


def test_the_time_limit_is_kept():
    dense = generate.quest(transactions=400, average_length=60, pattern_length=30, items=120, random_state=1)
    told = []
    with refused(BudgetExceeded, "time limit", "0.5", "nugget_support"):
        anonymize(
            dense, Coherence(k=2, p=None), method="border", time_limit=0.5, progress=lambda *step: told.append(step)
        )
    assert "Counting frequent itemsets" in {what for what, *_ in told}


def test_progress_is_told():
    told = []
    anonymize(running_example(), PROMISE, method="border", nugget_support=4, progress=lambda *step: told.append(step))
    assert [step for step in told if step[0] == "Suppressing items"] == [
        ("Suppressing items", 8, 12),
        ("Suppressing items", 12, 12),
    ]
