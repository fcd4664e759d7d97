"""Anonymizing on Spark: the items and rows of the methods in memory, also if tasks fail."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.on_spark import failing_at_first, on_spark
from tests.support.spread import longest, point_of_sale
from veilset import Coherence, Infeasible, RhoUncertainty, anonymize
from veilset.testing import strategies

pytestmark = pytest.mark.spark


def rows(held):
    return sorted(tuple(row["items"]) for row in held.to_frame().collect())


def same(data, held, promise, method, **options):
    """Anonymizes here and on Spark, and compares; gives the release on Spark."""
    here = anonymize(data, promise, method=method, **options)
    there = anonymize(held, promise, method=method, **options)
    assert there.suppressed == here.suppressed
    assert rows(there.custodian_data) == sorted(here.custodian_data)
    assert there.custodian_data.vocabulary.names == here.custodian_data.names
    assert (there.options, there.loss) == (here.options, here.loss)
    assert there.audit.transactions == len(data)
    assert there.certified
    return there


@settings(examples(5), suppress_health_check=[HealthCheck.too_slow])
@given(
    strategies.transactions(max_rows=12),
    strategies.coherence_promises(),
    st.sampled_from(["auto", "tree", "remove-all"]),
)
def test_what_the_methods_in_memory_suppress(spark, data, promise, method):
    promise = Coherence(h=promise.h, k=promise.k, p=promise.p or longest(data))
    held = on_spark(spark, data)
    try:
        same(data, held, promise, method)
    except Infeasible as here:
        with pytest.raises(Infeasible, match=r"fewer than|cannot be kept") as there:
            anonymize(held, promise, method=method)
        assert str(there.value) == str(here)
    finally:
        held.close()


@pytest.fixture(scope="module")
def shop(spark):
    """A shop that sells two sensitive things, here and on Spark."""
    data = point_of_sale(5000)
    return data, on_spark(spark, data)


@pytest.mark.parametrize("method", ["auto", "tree", "remove-all"])
def test_more_transactions(shop, method):
    assert same(*shop, Coherence(h="1/3", k=20, p=3), method).suppressed


def test_groups_weights_and_items_to_keep(shop):
    data, held = shop
    promise = Coherence(h="1/2", k=10, p=2, sensitive_groups=[data.sensitive])
    most = max(data.public, key=lambda item: data.supports[data.codes([item])[0]])
    same(data, held, promise, "auto", weights="equal", keep=[most])


def test_a_release_can_be_read_again(spark, shop):
    data, held = shop
    promise = Coherence(h="1/3", k=20, p=2)
    release = anonymize(held, promise)
    again = spark.read(release.custodian_data.to_frame(), sensitive=data.sensitive)
    assert again.names == release.custodian_data.names
    assert anonymize(again, promise).suppressed == ()


def test_tasks_that_fail_once_change_nothing(shop, monkeypatch):
    data, held = shop
    failed = failing_at_first(monkeypatch)
    promise = Coherence(h="1/3", k=20, p=2)
    there = anonymize(held, promise, method="auto")
    assert there.suppressed == anonymize(data, promise, method="auto").suppressed
    assert there.certified
    assert len(failed) > 3, "the search and the audit went through work that fails"


def test_a_search_in_one_task_that_fails_once_changes_nothing(shop, monkeypatch):
    data, held = shop
    failed = failing_at_first(monkeypatch)
    promise = RhoUncertainty(rho="1/3")
    there = anonymize(held, promise, method="suppress")
    assert there.suppressed == anonymize(data, promise, method="suppress").suppressed
    assert there.certified
    assert failed, "the search went through work that fails"
