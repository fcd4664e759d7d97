"""The auditor on Spark: the answer of the local one, also if tasks and executors fail."""

import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.on_spark import failing_at_first, on_spark
from tests.support.spread import point_of_sale, takes_another_way
from veilset import BudgetExceeded, Coherence, InvalidArgument, audit
from veilset.testing import strategies

pytestmark = pytest.mark.spark


@settings(examples(20), suppress_health_check=[HealthCheck.too_slow])
@given(strategies.transactions(max_rows=12), strategies.coherence_promises())
def test_the_answer_of_the_local_auditor(spark, data, promise):
    held = on_spark(spark, data)
    assert held.vocabulary.names == data.names
    here, there = audit(data, promise), audit(held, promise)
    held.close()
    if takes_another_way(data, promise):
        here, there = (replace(one, checked=0, margins=one.margins if one.holds else {}) for one in (here, there))
    assert here == there


@pytest.fixture(scope="module")
def shop(spark):
    """A shop that sells two sensitive things, here and on Spark."""
    data = point_of_sale(20_000)
    return data, on_spark(spark, data)


@pytest.mark.parametrize(("k", "p", "h"), [(10, 3, "1/3"), (2, 1, 1), (30_000, 2, "1/2"), (1, 2, "9/10")])
def test_more_transactions(shop, k, p, h):
    data, held = shop
    promise = Coherence(h=h, k=k, p=p)
    assert audit(held, promise, witnesses=200) == audit(data, promise, witnesses=200)


def test_tasks_that_fail_once_change_nothing(shop, monkeypatch):
    data, held = shop
    failed = failing_at_first(monkeypatch)
    promise = Coherence(h="1/3", k=10, p=2)
    assert audit(held, promise) == audit(data, promise)
    assert len(failed) == 2, "both levels went through work that fails"


def test_limits_of_the_driver(shop):
    _, held = shop
    with refused(BudgetExceeded, "time limit"):
        audit(held, Coherence(h="1/3", k=10, p=2), time_limit=1e-9)
    with refused(InvalidArgument, "threads"):
        audit(held, Coherence(h="1/3", k=10, p=2), threads=1)


def test_without_java(monkeypatch, tmp_path):
    script = (
        "from veilset.engines.spark import Spark\n"
        "from veilset import InvalidArgument\n"
        "try:\n    Spark.start('local[1]')\n"
        "except InvalidArgument as error:\n    print(error)\n"
    )
    for home, said in (({}, "java"), ({"JAVA_HOME": str(tmp_path)}, str(tmp_path))):
        environment = {"PATH": str(tmp_path), "HOME": str(tmp_path), **home}
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment
        )
        (line,) = done.stdout.splitlines()
        assert said in line
        assert "default-jre-headless" in line
