"""The auditors of hidden patterns and rules on Spark: the answers of the local ones, and nothing of them in a log."""

import sys

import pytest

from tests.support.errors import refused
from tests.support.on_spark import on_spark
from tests.support.spread import point_of_sale
from veilset import BudgetExceeded, HiddenPatterns, HiddenRules, Transactions, audit
from veilset.audit import pattern_counts
from veilset.engines.spark.held import SparkHeld

pytestmark = pytest.mark.spark


def promises(data):
    names = sorted(data.names, key=lambda name: -data.supports[data.codes([name])[0]])
    patterns = [names[:3], names[1:9], names[:14], [names[-1], "absent"], names[2:4]]
    return (
        HiddenPatterns(patterns, min_support="2%"),
        HiddenRules([(names[:1], names[1:3]), (names[5:7], names[8:9])], min_support=200, min_confidence="1/10"),
    )


def test_the_answers_of_the_local_auditors(spark):
    data = point_of_sale(20_000)
    held = on_spark(spark, data)
    for promise in promises(data):
        answer = audit(data, promise)
        assert audit(held, promise) == answer
        assert answer.found
    held.close()


def test_no_plan_tells_what_is_hidden(spark, monkeypatch, capfd):
    data = Transactions.from_lists([["public", "hushed secret"], ["public"], ["hushed secret"]] * 5)
    held, dealt, plans = on_spark(spark, data), SparkHeld.dealt, []

    def watched(held, deal, shares):
        found = dealt(held, deal, shares)
        plans.append(found.frame._jdf.queryExecution().toString())
        return found

    monkeypatch.setattr(SparkHeld, "dealt", watched)
    assert not audit(held, HiddenPatterns([["public", "hushed secret"]], min_support=5)).holds
    held.close()
    (plan,) = plans
    assert "MapInArrow" in plan
    printed = capfd.readouterr()
    for told in (plan, printed.out, printed.err):
        assert "hushed" not in told


def fails(*_, **__):
    raise BudgetExceeded("no room in a task", "get some.")


def test_a_task_that_stops_at_a_limit_says_so(spark, monkeypatch):
    from pyspark import cloudpickle

    held = on_spark(spark, Transactions.from_lists([["a", "b"]] * 3))
    monkeypatch.setattr(pattern_counts, "_parts_of_piece", fails)
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    with refused(BudgetExceeded, "no room"):
        audit(held, HiddenPatterns([["a", "b"]], min_support=1))
    held.close()
