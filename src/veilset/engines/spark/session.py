"""Sessions: what Spark needs to know about this machine and this interpreter, so that no user has to."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from veilset.errors import InvalidArgument, said
from veilset.views import installed

_INSTALL_JAVA = "Install Java 17 or later, such as Debian's package default-jre-headless, or set JAVA_HOME."


def pyspark() -> Any:
    """The library; an error says how to install it."""
    with without_pandas_warning():
        return installed("pyspark.sql", "Spark", "'veilset[spark]'")


def started(master: str, settings: dict[str, str]) -> Any:
    """A new session at this master, for this interpreter."""
    sql = pyspark()
    if sql.SparkSession.getActiveSession() is not None:
        raise InvalidArgument(
            f"A Spark session is running already, so {said('master', master)} cannot be chosen.",
            "Use Spark(session) to take it over, or stop it first.",
        )
    _require_java()
    _set_for_workers(master)
    builder = sql.SparkSession.builder.master(master).appName("veilset")
    for name, value in {**_SETTINGS, **settings}.items():
        builder = builder.config(name, value)
    try:
        with without_pandas_warning():
            return builder.getOrCreate()
    except Exception as error:
        reason = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise InvalidArgument(
            f"No Spark session at {said('master', master)}: {reason.strip()[:300]}",
            f"Check the address; on this machine, use {said('master', 'local[2]')}.",
        ) from None


_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "50000",
}


def taken_over(session: Any) -> Any:
    """A session that somebody else has started, once it is known that it will do."""
    sql = pyspark()
    if not isinstance(session, sql.SparkSession) or not hasattr(session, "sparkContext"):
        raise InvalidArgument(
            f"Spark got {type(session).__module__}.{type(session).__name__}.",
            "Give a SparkSession, or use Spark.start(master). Sessions of Spark Connect are not supported.",
        )
    context = session.sparkContext
    if context.master.startswith("local") and "PYSPARK_PYTHON" not in os.environ:
        context.pythonExec = sys.executable  # else the workers have another python, without our packages
    return session


def _require_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java") if not home else shutil.which(str(Path(home) / "bin" / "java"))
    if java is None:
        where = f"JAVA_HOME is {home!r}, which has no bin/java" if home else "there is no program 'java'"
        raise InvalidArgument(f"Spark needs Java, and {where}.", _INSTALL_JAVA)


def _set_for_workers(master: str) -> None:
    """Workers on this machine run the same interpreter; executors that are started here need Spark's own folder."""
    if master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if master.startswith("local-cluster"):
        package = sys.modules["pyspark"].__file__
        assert package is not None  # noqa: S101 - it is a folder with an __init__.py
        os.environ.setdefault("SPARK_HOME", str(Path(package).parent))


@contextmanager
def without_pandas_warning() -> Iterator[None]:
    """PySpark says that it does not know pandas 3; nothing here goes through pandas."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        yield
