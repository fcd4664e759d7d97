"""Where a command counts: on this machine, or on Spark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Group, Parameter

from veilset.cli.options import ReadingOptions
from veilset.engines.spark import Spark
from veilset.errors import InvalidArgument
from veilset.options import declared
from veilset.transactions import Reading

if TYPE_CHECKING:
    from veilset.engines import Held

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

    @contextmanager
    def held(self, path: str, reading: ReadingOptions) -> Iterator[Held]:
        """The transactions at a path, on Spark while the block runs."""
        told = reading.recipe(path)
        for option in declared(Reading):
            if option.name not in _ON_SPARK and getattr(told, option.name) != Reading.model_fields[option.name].default:
                raise InvalidArgument(
                    f"--{option.flag} is not available with --engine spark.",
                    "Use --column, --long, --format and --sensitive, and prepare the rest in Spark.",
                )
        sensitive = [entry.written for entry in told.entries()]
        with Spark.start(self.master or "local[*]") as engine:
            yield engine.read(path, sensitive=sensitive, column=told.column, long=told.long, format=told.format)
