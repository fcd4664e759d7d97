"""Apache Spark as an engine: transactions that one machine does not hold. Needs the extra ``spark`` and Java 17.

docs/scale.md says what runs there::

    with Spark.start("local[4]") as engine:
        data = engine.read("sales.parquet", long=("receipt", "product"))
        print(vs.audit(data, vs.Coherence(k=20, p=3)))
"""

from veilset.engines.spark.engine import Spark
from veilset.engines.spark.held import SparkHeld

__all__ = ["Spark", "SparkHeld"]
