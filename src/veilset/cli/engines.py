"""Where a command counts: on this machine, or on Spark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Group, Parameter

from veilset.engines import Local
from veilset.engines.spark import Spark
from veilset.errors import InvalidArgument, said
from veilset.options import declared
from veilset.transactions import Reading, absent_names

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from veilset.cli.options import ReadingOptions
    from veilset.engines import Engine, Held
    from veilset.publish import Recipe

ENGINE = Group("Engine", sort_key=5)
_ON_SPARK = {"column", "long", "format", "encoding", "sensitive_items", "sensitive_files"}


@Parameter(name="*", group=ENGINE)
@dataclass(frozen=True)
class EngineOptions:
    """Where to count."""

    engine: Literal["local", "spark"] = "local"
    "Place of the counting: this machine, or Spark (needs veilset[spark] and Java 17)."
    master: Annotated[str | None, Parameter(help="Spark master, such as local[4] or spark://HOST:7077.")] = None

    def __post_init__(self) -> None:
        if self.engine == "local" and self.master is not None:
            raise InvalidArgument(f"--master {self.master} applies to Spark.", "Add --engine spark.")

    @property
    def for_recipe(self) -> dict[str, str]:
        """The same as keys of a recipe; none for this machine."""
        if self.engine == "local":
            return {}
        return {"engine": self.engine, "master": self.master or "local[*]"}

    def started(self) -> AbstractContextManager[Engine | None]:
        """The engine, while the block runs; None: this machine."""
        return nullcontext() if self.engine == "local" else Spark.start(self.master or "local[*]")

    @contextmanager
    def held(self, path: str, reading: ReadingOptions) -> Iterator[Held]:
        """The transactions at a path, on Spark while the block runs."""
        told = reading.recipe(path)
        _refuse_on_spark(told)
        with Spark.start(self.master or "local[*]") as engine:
            yield _on_spark(engine, told)


@contextmanager
def held_as_told(recipe: Recipe) -> Iterator[Held]:
    """The input of a recipe on its engine, while the block runs."""
    told = recipe.input
    assert told is not None  # noqa: S101 - whoever runs a recipe has looked
    if recipe.engine == "in-process":
        yield Local().read(told.read())
        return
    _refuse_on_spark(told)
    with Spark.start(recipe.master or "local[*]") as engine:
        yield _on_spark(engine, told)


def _refuse_on_spark(told: Reading) -> None:
    """Raise if something is asked of the reading that Spark does not do."""
    for option in declared(Reading):
        if option.name not in _ON_SPARK and getattr(told, option.name) != Reading.model_fields[option.name].default:
            raise InvalidArgument(
                f"{said(option.name)} is not available with {said('engine', 'spark')}.",
                f"Use {said('column')}, {said('long')}, {said('format')} and {said('sensitive')}. "
                "Prepare the rest in Spark.",
            )
    if told.sha256 is not None:
        raise InvalidArgument("sha256 cannot be checked on Spark.", "Leave it out of the recipe.")


def _on_spark(engine: Spark, told: Reading) -> Held:
    entries = [entry.written for entry in told.entries()]
    held = engine.read(told.path, sensitive=entries, column=told.column, long=told.long, format=told.format)
    known = held.vocabulary
    perhaps = told.sensitive_where_present
    sought = [*known.sought, *absent_names(known, perhaps), *told.sought()]
    listed = {*known.sensitive, *told.sensitive, *set(known.names).intersection(perhaps)}
    return replace(held, vocabulary=known.marked(listed, sought=sought))
