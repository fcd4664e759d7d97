"""One Spark session for all tests."""

import pytest

from veilset.engines.spark import Spark


@pytest.fixture(scope="session")
def spark():
    # A task may fail once; two partitions are enough for what is small.
    with Spark.start("local[2,2]", settings={"spark.sql.shuffle.partitions": "2"}) as engine:
        yield engine
