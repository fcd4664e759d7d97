"""The auditor of ρ-uncertainty on Spark: the answer of the local one."""

import pytest
from hypothesis import HealthCheck, given, settings

from tests.support.effort import examples
from tests.support.on_spark import on_spark
from tests.support.spread import point_of_sale
from veilset import RhoUncertainty, audit
from veilset.testing import strategies

pytestmark = pytest.mark.spark


@settings(examples(10), suppress_health_check=[HealthCheck.too_slow])
@given(strategies.transactions(max_rows=12) | strategies.protected().filter(len), strategies.rho_promises())
def test_the_answer_of_the_local_auditor(spark, data, promise):
    held = on_spark(spark, data)
    assert audit(held, promise) == audit(data, promise)
    held.close()


@pytest.mark.parametrize("rho", [1, "1/2", "1/4"])
def test_more_transactions(spark, rho):
    data = point_of_sale(20_000)
    held = on_spark(spark, data)
    assert audit(held, RhoUncertainty(rho=rho)) == audit(data, RhoUncertainty(rho=rho))
    held.close()
