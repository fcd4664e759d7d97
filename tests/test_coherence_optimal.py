"""``optimal``: its proofs against brute force, its limits, and what a recipe repeats."""

import math
import time
from itertools import chain, combinations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.golden import PROMISE, running_example
from tests.interrupting import interrupt
from veilset import BudgetExceeded, Coherence, Infeasible, Transactions, WrongUsage, anonymize
from veilset.anonymize.coherence import hitting_set, losses
from veilset.anonymize.coherence import optimal as module
from veilset.anonymize.coherence.optimal import optimal
from veilset.limits import Limits
from veilset.testing import check_anonymizer, oracles, strategies
from veilset.testing.checks import as_sets


def all_subsets(items):
    return chain.from_iterable(combinations(items, size) for size in range(len(items) + 1))


def best(data, promise, keep, lost):
    """The least that any coherent choice loses, straight from the definition."""
    rows, free = as_sets(data), [item for item in data.public if item not in keep]
    question = (data.sensitive, promise.share, promise.k, promise.p)
    return min(
        (lost(gone) for gone in all_subsets(free) if oracles.is_coherent([r.difference(gone) for r in rows], *question)),
        default=None,
    )


def solved(data, promise, **options):
    """The release; a draw that nothing can keep is left out."""
    try:
        return optimal(data, promise, limits=Limits(), **options)
    except Infeasible:
        assume(False)
        raise


def test_running_example():
    """c and d hold 2 of 28 occurrences, the cheapest hitting set of ae, af, ag, be, bfg another 9."""
    release = anonymize(running_example(), PROMISE, method="optimal")
    assert release.certified
    assert {"c", "d"} <= set(release.suppressed)
    assert len(running_example().items) - len(release.data.items) == 11
    assert release.bound.proven
    assert release.bound.gap == 0
    assert (release.bound.of, release.bound.reached) == ("share of all item occurrences", 11 / len(running_example().items))


@settings(max_examples=max(400, settings().max_examples))
@given(strategies.transactions(), strategies.coherence_promises())
def test_it_passes_the_battery(data, promise):
    check_anonymizer(lambda d, p: optimal(d, p, limits=Limits()), data, promise, maximal=True)


@settings(max_examples=max(400, settings().max_examples))
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


@settings(max_examples=max(400, settings().max_examples))
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
@settings(max_examples=max(400, settings().max_examples))
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


@settings(max_examples=max(400, settings().max_examples))
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
