"""Transactions that Spark holds: numbered by the cluster, counted there, dealt out to tasks.

Only names and numbers of items come to the driver. Rows travel between tasks as bytes of codes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

import numpy as np
import numpy.typing as npt

from veilset.engines.engine import Deal, Mark, Measure, Numbers, Result, Thin, Thing, Value, Work
from veilset.engines.rows import added
from veilset.engines.spark import tasks
from veilset.engines.spark.session import pyspark, without_pandas_warning
from veilset.engines.spark.source import ITEMS
from veilset.errors import UnreadableInput
from veilset.transactions import Reading, Transactions

if TYPE_CHECKING:
    from veilset.engines.spark.engine import Spark


@dataclass(frozen=True, repr=False)
class SparkHeld:
    """Transactions that a Spark session holds.

    Parameters
    ----------
    session : SparkSession
    coded : DataFrame
        One column of binary rows: the codes of each transaction, as the cluster keeps them.
    vocabulary : Transactions
        One transaction with every item that occurs: their names, order and roles.
    count : int
        How many transactions there are.
    origin : Reading
        What reads them again; without a path if they came from a DataFrame.
    """

    session: Any
    coded: Any
    vocabulary: Transactions
    count: int
    origin: Reading = field(default_factory=partial(Reading, path=""))

    @classmethod
    def of(cls, session: Any, lists: Any) -> SparkHeld:
        """Of a DataFrame with the column `ITEMS`. Reads it twice: for the names, then to number what is there."""
        rows = _mapped(lists.select(ITEMS), tasks.names_of, tasks.NAMES).groupBy("name").agg({"rows": "sum"})
        totals = _collected(rows)
        found = dict(zip(totals["name"].to_pylist(), totals["sum(rows)"].to_pylist(), strict=True))
        count = found.pop(None, 0)
        if not count:
            raise UnreadableInput("There are no transactions in the source.", "Use data with at least one.")
        names = list(found)
        everything = np.array([0, len(names)], dtype=np.int64), np.arange(len(names), dtype=np.int32)
        vocabulary = Transactions.from_codes(*everything, names)
        coded = _mapped(lists.select(ITEMS), partial(tasks.coded, names=vocabulary.names), tasks.CODED)
        return cls(session, coded.persist(), vocabulary, count)

    @classmethod
    def found(cls, session: Any, things: Sequence[Thing], rows: Callable[[Thing], Transactions]) -> SparkHeld:
        """Of what tasks find for each thing. They look twice: for the names, then to number what is there."""
        task = partial(tasks.found, things=things, rows=rows)
        return cls.of(session, _mapped(_numbers(session, things), task, f"{ITEMS} array<string>"))

    def with_sensitive(self, items: Iterable[str | int] | str | Path) -> SparkHeld:
        """The same transactions with these items sensitive, as `Transactions.with_sensitive` has them."""
        return replace(self, vocabulary=self.vocabulary.with_sensitive(items))

    def marked(self, sensitive: Collection[str]) -> SparkHeld:
        """The same transactions with the items of exactly these names sensitive."""
        return replace(self, vocabulary=self.vocabulary.marked(sensitive))

    @property
    def engine(self) -> Spark:
        """The same session."""
        from veilset.engines.spark.engine import Spark  # noqa: PLC0415 - which makes what is here

        return Spark(self.session)

    def __len__(self) -> int:
        return self.count

    def __repr__(self) -> str:
        items = f"{len(self.names):,} different items, {len(self.sensitive):,} of them sensitive"
        return f"<SparkHeld: {self.count:,} transactions, {items}>"

    @property
    def names(self) -> tuple[str, ...]:
        """All items, in their order."""
        return self.vocabulary.names

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive items, in their order."""
        return self.vocabulary.sensitive

    @cached_property
    def parallelism(self) -> int:
        """How many tasks run at once."""
        return int(self.session.sparkContext.defaultParallelism)

    def changed(self, code: npt.NDArray[np.int32], vocabulary: Transactions) -> SparkHeld:
        """The same transactions with other codes; the cluster changes its rows whenever it reads them."""
        task = partial(tasks.changed, code=code, width=len(vocabulary.names))
        return replace(self, coded=_mapped(self.coded, task, tasks.CODED), vocabulary=vocabulary)

    def thinned(self, mark: Mark, thin: Thin) -> SparkHeld:
        """The same transactions without some occurrences. One shuffle brings the rows of a kind together."""
        marked = _mapped(self.coded, partial(tasks.marked, mark=mark), tasks.KINDS)
        sorted_by_kind = marked.repartition("kind").sortWithinPartitions("kind", "row")
        mine = _mapped(sorted_by_kind, partial(tasks.thinned, thin=thin), tasks.CODED)
        others = _mapped(self.coded, partial(tasks.unmarked, mark=mark), tasks.CODED)
        return replace(self, coded=others.unionByName(mine))

    def to_frame(self) -> Any:
        """A DataFrame with the lists of names, in the column ``items``: to write with Spark.

        Its rows are in the order of the source. Sort or shuffle them before you hand them over.
        """
        return _mapped(self.coded, partial(tasks.named, names=self.names), tasks.LISTS)

    def totals(self, measure: Measure) -> dict[str, Numbers]:
        """The sums over all pieces, each added up in its task first."""
        sums: dict[str, Numbers] = {}
        for _, answer in _answers(_mapped(self.coded, partial(tasks.measured, measure=measure), tasks.ANSWERS)):
            added(sums, answer)
        return sums

    def dealt(self, deal: Deal, shares: int) -> SparkDealt:
        """One shuffle; the rows of a share end in one partition, which is kept until it is closed."""
        if not shares:
            return SparkDealt(None, 0)
        rows = _mapped(self.coded, partial(tasks.dealt, deal=deal), tasks.SHARES)
        united = _mapped(rows.repartitionById(shares, "share"), tasks.brought_together, tasks.SHARES)
        return SparkDealt(united.persist(), shares)

    def shared(self, value: Value) -> SparkShared[Value]:
        """A value for work on shares: a broadcast, which lies on the disks of executors."""
        return SparkShared(self.session.sparkContext.broadcast(value))

    def close(self) -> None:
        """Let the cluster forget the transactions."""
        self.coded.unpersist()


@dataclass(frozen=True)
class SparkShared(Generic[Value]):
    """A value that was broadcast."""

    broadcast: Any

    def open(self) -> Value:
        """The value, which a broadcast would keep in memory as long as its process lives."""
        value: Value = self.broadcast.value
        if getattr(self.broadcast, "_path", None) is not None:
            vars(self.broadcast).pop("_value", None)
        return value

    def close(self) -> None:
        """Let executors delete it."""
        self.broadcast.destroy()


@dataclass(frozen=True)
class SparkDealt:
    """Rows dealt out to shares, one partition each."""

    frame: Any
    shares: int

    def each(self, work: Callable[[int, Work], Result]) -> list[Result]:
        """What *work* returns for each share."""
        if not self.shares:
            return []
        found = dict(_answers(_mapped(self.frame, partial(tasks.worked, work=work), tasks.ANSWERS)))
        return [found[share] if share in found else work(share, tasks.NO_ROWS) for share in range(self.shares)]

    def close(self) -> None:
        """Let the cluster forget the rows."""
        if self.frame is not None:
            self.frame.unpersist()


def done(session: Any, things: Sequence[Thing], work: Callable[[Thing], Result]) -> list[Result]:
    """What *work* returns for each thing, a task for each."""
    task = partial(tasks.done, things=things, work=work)
    found = dict(_answers(_mapped(_numbers(session, things), task, tasks.ANSWERS)))
    return [found[number] for number in range(len(things))]


def _numbers(session: Any, things: Sequence[Any]) -> Any:
    """The numbers of these things, each in a partition of its own."""
    return session.range(0, len(things), 1, max(1, len(things)))


def _mapped(frame: Any, task: Callable[..., Iterator[Any]], columns: str) -> Any:
    """What *task* makes of the batches of each partition."""
    with without_pandas_warning():
        return frame.mapInArrow(task, columns)


def _answers(frame: Any) -> Iterator[tuple[int, Any]]:
    """What tasks answered. The driver reads objects that its own workers have written."""
    table = _collected(frame)
    for share, answer in zip(table["share"].to_pylist(), table["answer"], strict=True):
        yield share, tasks.opened(answer.as_buffer())


def _collected(frame: Any) -> Any:
    """The rows of a small DataFrame; an error of ours in a task is raised here as itself."""
    errors = pyspark().utils
    try:
        with without_pandas_warning():
            return frame.toArrow()
    except errors.PythonException as error:
        if (own := tasks.told(str(error))) is not None:
            raise own from None
        raise
