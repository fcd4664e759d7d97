"""Without PySpark, one line says what to install."""

import sys

from tests.support.errors import refused
from veilset import InvalidArgument
from veilset.engines.spark import Spark


def test_without_pyspark(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    for start in (Spark.start, lambda: Spark(object())):
        with refused(InvalidArgument, "pip install 'veilset[spark]'") as caught:
            start()
        assert "\n" not in str(caught.value)
