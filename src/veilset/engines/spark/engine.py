"""`Spark`: a session that was started here, or one that was there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from veilset.engines.engine import Result, Thing
from veilset.engines.spark.held import SparkHeld, done
from veilset.engines.spark.session import started, taken_over
from veilset.engines.spark.source import opened
from veilset.transactions import Reading, Transactions


class Spark:
    """Apache Spark, as a place where transactions are read and counted.

    Parameters
    ----------
    session : pyspark.sql.SparkSession
        A session that is running, such as ``spark`` in a notebook. `Spark.start` makes one.
    """

    def __init__(self, session: Any) -> None:
        self.session = taken_over(session)
        self._own = False

    @classmethod
    def start(cls, master: str = "local[*]", *, settings: Mapping[str, str] | None = None) -> Spark:
        """A session at this master, with more of Spark's *settings*; leaving the ``with`` block stops it.

        Workers on this machine run this interpreter. On other machines, the same version of Veilset must be installed,
        and ``PYSPARK_PYTHON`` must name an interpreter that has it.
        """
        engine = cls(started(master, dict(settings or {})))
        engine._own = True
        return engine

    def read(
        self,
        source: Any,
        *,
        sensitive: Iterable[str | int] | str | Path = (),
        column: str | None = None,
        long: tuple[str, str] | None = None,
        format: str | None = None,  # noqa: A002 - the word users type
    ) -> SparkHeld:
        """Transactions of a DataFrame, a table or a path, read and numbered by the cluster.

        Parameters
        ----------
        source : DataFrame, str or path
            A path may have any scheme that Spark reads. Its end says the format: ``.parquet``, ``.csv`` (in long form,
            with a header); a folder on this machine is Parquet, or Delta if it has a ``_delta_log``.
        sensitive : names, or path
            As for `veilset.read`, without branches of a taxonomy.
        column : str, optional
            The column of lists. None: the only one.
        long : pair of str, optional
            Columns with the id and the item, for a table with one item per row.
        format : str, optional
            ``parquet``, ``csv``, ``delta`` or ``table`` (a name in the catalogue), where the end of the path does not
            say it.
        """
        held = SparkHeld.of(self.session, opened(self.session, source, column=column, long=long, format=format))
        path = str(source) if isinstance(source, str | Path) else ""
        if format != "table" and path and Path(path).exists():
            path = str(Path(path).absolute())
        origin = Reading(path=path, format=format, column=column, long=None if long is None else (long[0], long[1]))
        return replace(held.with_sensitive(sensitive), origin=origin)

    @property
    def told(self) -> Mapping[str, str]:
        """Its name and its master."""
        return {"engine": "spark", "master": self.session.sparkContext.master}

    def each(self, things: Sequence[Thing], work: Callable[[Thing], Result]) -> list[Result]:
        """What *work* returns for each thing, a task for each."""
        return done(self.session, things, work)

    def gathered(self, things: Sequence[Thing], rows: Callable[[Thing], Transactions]) -> SparkHeld:
        """The transactions that *rows* finds for each thing, a task for each."""
        return SparkHeld.found(self.session, things, rows)

    def stop(self) -> None:
        """Stop the session, if it was started here."""
        if self._own:
            self.session.stop()

    def __enter__(self) -> Spark:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
