"""The battery of methods on Spark, which make the releases of memory."""

import pytest

from tests.support.batteries import ON_ENGINES, check_on
from veilset import Coherence, Taxonomy, anonymize, generate

pytestmark = pytest.mark.spark

SHOP = generate.pos_like(transactions=60, items=9, average_length=3, maximum_length=6, random_state=2)
DATA = SHOP.with_sensitive(SHOP.names[::3])
TREE = Taxonomy.by_fan_out(DATA, 2)


@pytest.mark.parametrize(("kind", "method", "maximal"), ON_ENGINES)
def test_methods_on_spark(spark, kind, method, maximal):
    promise = kind(h="9/10", k=3, p=2) if kind is Coherence else kind(rho="3/4")
    options = {"taxonomy": TREE} if method in ("generalize", "top-down") else {}
    here = anonymize(DATA, promise, method=method, **options)
    for there in check_on(spark, method, (DATA, promise, options), maximal=maximal):
        assert (there.suppressed, there.generalized) == (here.suppressed, here.generalized)
        assert (there.stands_for, there.options, there.loss) == (here.stands_for, here.options, here.loss)
