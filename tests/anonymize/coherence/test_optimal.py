"""``optimal``: its proofs against brute force, its limits, and what a recipe repeats."""

import math
from functools import partial
from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.feasible import if_feasible
from tests.support.golden import PROMISE, running_example
from tests.support.interrupting import ctrl_c_stops
from veilset import Coherence, Infeasible, InvalidArgument, Transactions, anonymize
from veilset.anonymize.coherence import hitting_set, losses
from veilset.anonymize.coherence import optimal as module
from veilset.anonymize.coherence.optimal import optimal
from veilset.limits import Limits
from veilset.run import certify
from veilset.testing import check_anonymizer, oracles, strategies
from veilset.testing.checks import as_sets
from veilset.transactions import generate

pytestmark = pytest.mark.no_sanitizer(reason="slow there, and kernels see nothing that other tests do not show them")


def all_subsets(items):
    return chain.from_iterable(combinations(items, size) for size in range(len(items) + 1))


def best(data, promise, keep, lost):
    """The least that any coherent choice loses, straight from the definition."""
    rows, free = as_sets(data), [item for item in data.public if item not in keep]
    question = (data.sensitive, promise.share, promise.k, promise.p)
    return min(
        (
            lost(gone)
            for gone in all_subsets(free)
            if oracles.is_coherent([r.difference(gone) for r in rows], *question)
        ),
        default=None,
    )


solved = partial(if_feasible, optimal)


def test_running_example():
    """c and d hold 2 of 28 occurrences, the cheapest hitting set of ae, af, ag, be, bfg another 9."""
    release = anonymize(running_example(), PROMISE, method="optimal")
    assert release.certified
    assert {"c", "d"} <= set(release.suppressed)
    assert len(running_example().items) - len(release.custodian_data.items) == 11
    assert release.bound.proven
    assert release.bound.gap == 0
    assert (release.bound.of, release.bound.reached) == (
        "share of all item occurrences",
        11 / len(running_example().items),
    )


@examples(400)
@given(strategies.transactions(), strategies.coherence_promises())
def test_it_passes_the_battery(data, promise):
    check_anonymizer(lambda d, p: optimal(d, p, limits=Limits()), data, promise, maximal=True)


@examples(400)
@given(st.data(), strategies.transactions(), strategies.coherence_promises())
def test_items_against_brute_force(draw, data, promise):
    keep = draw.draw(st.sets(st.sampled_from(data.public), max_size=2)) if data.public else set()
    release = solved(data, promise, keep=keep)
    supports = dict(zip(data.names, data.supports.tolist(), strict=True))
    assert not keep.intersection(release.suppressed)
    least = best(data, promise, keep, lambda gone: sum(supports[item] for item in gone))
    assert sum(supports[item] for item in release.suppressed) == least
    assert release.bound.proven
    assert release.bound.reached == (least / len(data.items) if len(data.items) else 0)


@examples(400)
@given(st.data(), strategies.transactions(), strategies.coherence_promises())
def test_weights_against_brute_force(draw, data, promise):
    numbers = st.integers(0, 8).map(lambda eighths: eighths / 8) | st.sampled_from([1e-6, 1 / 3, 1000.0])
    weights = {item: draw.draw(numbers) for item in data.public}
    chosen = draw.draw(st.sampled_from([weights, "equal"]))
    release = solved(data, promise, weights=chosen)
    millionths = {item: 10**6 if chosen == "equal" else math.ceil(w * 10**6) for item, w in weights.items()}
    least = best(data, promise, (), lambda gone: sum(millionths[item] for item in gone))
    assert sum(millionths[item] for item in release.suppressed) == least
    assert release.bound.proven
    assert release.bound.of == "share of all weights"
    assert release.options["weights"] == chosen


@pytest.mark.parametrize("one_by_one", [True, False])
@examples(400)
@given(st.data(), strategies.transactions(), strategies.coherence_promises())
def test_nuggets_against_brute_force(one_by_one, draw, data, promise):
    support = draw.draw(st.integers(1, 4))
    size = draw.draw(st.none() | st.integers(1, 4))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(losses, "_ONE_BY_ONE", 10**6 if one_by_one else -1)
        release = solved(data, promise, utility="nuggets", nugget_support=support, nugget_size=size)
    nuggets = [x for x in oracles.frequent(as_sets(data), support) if size is None or len(x) <= size]

    def lost(gone):
        return sum(not x.isdisjoint(gone) for x in nuggets)

    least, here = best(data, promise, (), lost), lost(release.suppressed)
    assert release.bound.reached == (here / len(nuggets) if nuggets else 0)
    if one_by_one:
        assert here == least
        assert release.bound.proven
        assert release.bound.of == "share of all nuggets"
    else:
        assert release.bound.least <= (least / len(nuggets) if nuggets else 0)
        assert "bound" in release.bound.of


@examples(400)
@given(strategies.transactions(max_public=7, min_rows=6), strategies.coherence_promises())
def test_moles_that_come_in_one_by_one(data, promise):
    """Whatever is not known at first is asked for: with no larger moles to begin with the optimum is the same."""
    at_once = solved(data, promise)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_MOLES_AT_FIRST", 0)
        patch.setattr(module, "_MOLES_AT_ONCE", 1)
        patch.setattr(hitting_set, "_ROWS_TO_BRANCH", 0)
        patch.setattr(hitting_set, "_AT_ONCE", 1)
        patch.setattr(hitting_set, "_CLIQUES_AT_ONCE", 1)
        one_by_one = solved(data, promise)
    assert one_by_one.bound == at_once.bound
    assert one_by_one.bound.proven


def hard() -> Transactions:
    """Takes minutes to prove."""
    return generate.pos_like(transactions=5000, items=200, average_length=8, maximum_length=30)


HARD = Coherence(k=5, p=3)


def test_time_limit_gives_the_best_so_far():
    told = []
    limits = Limits(time_limit=5, progress=lambda what, done, total: told.append((what, done, total)))
    release = optimal(hard(), HARD, limits=limits)
    assert certify(release).certified
    assert 0 < release.bound.least < release.bound.reached == pytest.approx(release.loss)
    assert 0 < release.bound.gap < 1
    proving = [step for step in told if step[0].startswith("Proving the optimum (best ")]
    assert proving
    assert all(0 <= done <= total for _, done, total in proving)
    least = [done for _, done, _ in proving]
    assert least == sorted(least)


def test_no_time_at_all():
    """What can be said without looking: everything suppressed is coherent, and something may be lost."""
    release = optimal(hard(), HARD, limits=Limits(time_limit=1e-6))
    assert release.suppressed == hard().public
    assert (release.bound.least, release.bound.reached) == (0, 1)


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_do_not_change_what_is_proven(threads):
    data = generate.pos_like(transactions=800, items=40, average_length=4, maximum_length=20)
    release = optimal(data, Coherence(k=4, p=3), limits=Limits(threads=threads))
    assert release.bound.proven
    assert release.bound.reached == optimal(data, Coherence(k=4, p=3), limits=Limits()).bound.reached


def test_ctrl_c_stops_the_proof_at_once():
    before = """
        from veilset import Coherence
        from veilset.anonymize.coherence.optimal import optimal
        from veilset.limits import Limits
        from veilset.transactions import generate
        data = generate.pos_like(transactions=40_000, items=300, average_length=8, maximum_length=60)
    """
    assert ctrl_c_stops("optimal(data, Coherence(k=20, p=4), limits=Limits())", before=before)


def test_nothing_is_printed_where_it_has_to_branch(capfd):
    data = generate.pos_like(transactions=800, items=40, average_length=4, maximum_length=20)
    branched = []
    with pytest.MonkeyPatch.context() as patch:
        branch = hitting_set.HittingSet.branch
        patch.setattr(hitting_set.HittingSet, "branch", lambda self: branched.append(self) or branch(self))
        assert optimal(data, Coherence(k=4, p=3), limits=Limits()).bound.proven
    assert branched
    assert capfd.readouterr() == ("", "")


def test_a_recipe_repeats_the_choice():
    data = running_example()
    release = optimal(data, PROMISE, weights={"a": 9}, keep=["f"], limits=Limits())
    assert release.options["keep"] == ("f",)
    assert release.options["chosen"] == release.suppressed
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_Search", None)  # nothing is solved again
        again = optimal(data, PROMISE, **release.options, limits=Limits())
    assert (again.custodian_data, again.suppressed, again.options) == (
        release.custodian_data,
        release.suppressed,
        release.options,
    )


def test_defaults_leave_no_trace_in_the_options():
    assert set(optimal(running_example(), PROMISE, limits=Limits()).options) == {"utility", "chosen"}


def test_nuggets_of_the_running_example():
    """The nuggets at 4 are a b e f g ab bg ef fg: without c, d, a and b, five of them are left."""
    release = optimal(running_example(), PROMISE, utility="nuggets", nugget_support=4, limits=Limits())
    nuggets = ["a", "b", "e", "f", "g", "ab", "bg", "ef", "fg"]
    lost = sum(not set(nugget).isdisjoint(release.suppressed) for nugget in nuggets)
    assert release.bound.proven
    assert (lost, release.bound.reached) == (4, 4 / len(nuggets))
    assert release.options["nugget_support"] == 4


def test_wrong_usage():
    data = running_example()
    with refused(InvalidArgument, "'s1'", "sensitive"):
        optimal(data, PROMISE, chosen=["s1"], limits=Limits())
    with refused(InvalidArgument, "'aa'"):
        optimal(data, PROMISE, chosen=["aa"], limits=Limits())
    with refused(InvalidArgument, "chosen", "'a'"):
        optimal(data, PROMISE, chosen="a", limits=Limits())
    with refused(InvalidArgument, "'fun'"):
        optimal(data, PROMISE, utility="fun", limits=Limits())
    with refused(Infeasible, "kept"):
        optimal(data, PROMISE, keep=["a", "e"], limits=Limits())


def test_of_a_clique_one_item_is_kept():
    """Ten items, of which each pair occurs once: x = 1/2 fulfils all pairs at half the loss, the clique proves it."""
    rows = [list(pair) for pair in combinations("abcdefghij", 2)] + [[item] for item in "abcdefghij"] * 3
    release = optimal(Transactions.from_lists(rows), Coherence(k=2, p=2), limits=Limits())
    assert len(release.suppressed) == 9
    assert release.bound.proven
