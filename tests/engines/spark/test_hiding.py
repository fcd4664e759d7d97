"""Hiding patterns on Spark: the rows of the methods in memory, also if tasks fail, and nothing of them in a plan."""

import random

import pytest

from tests.support.on_spark import failing_at_first, on_spark
from veilset import HiddenPatterns, HiddenRules, anonymize, generate, mining

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def shop(spark):
    """A shop with more items than a byte can number, here and on Spark."""
    data = generate.pos_like(transactions=2000, average_length=6, maximum_length=30, items=400, random_state=1)
    data = data.renamed({name: f"item {name}" for name in data.names})
    pairs = sorted(pair for pair, _ in mining.pairs(data, min_support=40))
    return data, on_spark(spark, data), random.Random(4).sample(pairs, 4)


def rows(held):
    return sorted(tuple(row["items"]) for row in held.to_frame().collect())


def same(data, held, promise, **options):
    """Hides here and on Spark, and compares; gives the release on Spark."""
    here = anonymize(data, promise, random_state=3, **options)
    there = anonymize(held, promise, random_state=3, **options)
    assert rows(there.custodian_data) == sorted(here.custodian_data)
    assert (there.loss, there.options, there.audit) == (here.loss, here.options, here.audit)
    assert there.sanitization.put_back == here.sanitization.put_back
    assert there.loss > 0
    return there


def test_rules_are_hidden_as_in_memory(shop):
    data, held, pairs = shop
    rules = [((one,), (other,)) for one, other in pairs]
    there = same(data, held, HiddenRules(rules, min_support=20, min_confidence="1/10"), margin="1/4")
    plan = there.custodian_data.to_frame()._jdf.queryExecution().toString()
    assert "MapInArrow" in plan
    assert "item" in data.names[0]
    assert "item " not in plan


def test_the_product_is_that_in_memory_also_if_tasks_fail(shop, monkeypatch):
    data, held, pairs = shop
    failed = failing_at_first(monkeypatch)
    keep = [(data.names[0], item) for item in dict(pairs)]
    same(data, held, HiddenPatterns(pairs, min_support=40), certify=False, keep_patterns=keep)
    assert failed
