"""What tests on Spark share: transactions in a DataFrame, and work that fails at first."""

import sys

from veilset.engines.spark.held import SparkDealt


def on_spark(spark, data):
    """The same transactions in a DataFrame, in a few partitions."""
    rows = [(list(row),) for row in data]
    return spark.read(spark.session.createDataFrame(rows, "items array<string>"), sensitive=data.sensitive)


class FailsAtFirst:
    """Work that fails in every task at its first attempt."""

    def __init__(self, work):
        self.work = work

    def __call__(self, share, rows):
        from pyspark import TaskContext  # in a worker

        if TaskContext.get().attemptNumber() == 0:
            raise RuntimeError("a fault injected by a test")
        return self.work(share, rows)


def failing_at_first(monkeypatch):
    """Makes all work on shares fail at first; gives a list that grows with each piece of work."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    each, failed = SparkDealt.each, []

    def failing(dealt, work):
        failed.append(work)
        return each(dealt, FailsAtFirst(work))

    monkeypatch.setattr(SparkDealt, "each", failing)
    return failed
