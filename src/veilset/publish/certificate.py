"""``certificate.json``: what is promised about the file beside it, for machines and people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from veilset.errors import WrongUsage, near_misses
from veilset.io import FORMATS, Layout, as_written
from veilset.models import Coherence, Parameter, Promise, RhoUncertainty

__all__ = ["PROMISES", "SCHEMA_VERSION", "Certificate", "DataFile", "PromiseRecord", "known_promise", "make_promise"]

SCHEMA_VERSION: Final = 1

PROMISES: Mapping[str, Callable[..., Promise]] = {kind.name: kind for kind in (Coherence, RhoUncertainty)}
"""What a certificate or a recipe may name."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class PromiseRecord(_Strict):
    """A promise by name, with its parameters."""

    name: str
    parameters: dict[str, Parameter]


class DataFile(_Strict):
    """The released file and how to read it."""

    file: Annotated[str, Field(pattern=r"^data\.[a-z]{1,8}$")]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    format: str
    delimiter: str = ""
    columns: tuple[str, ...] | None = None

    def layout(self) -> Layout:
        """The layout, as the readers take it; an error if there is no such layout, or not in a file of this name."""
        if self.format not in FORMATS or Path(self.file).suffix != FORMATS[self.format].suffix:
            raise WrongUsage(f"{self.file!r} is no file of the format {self.format!r}.", "Ask for the release again.")
        shape = FORMATS[self.format].shape
        return as_written(
            Layout.choose(
                self.file,
                format=self.format,
                delimiter=self.delimiter or None,
                long=self.columns if shape == "long" else None,
                column=self.columns[0] if shape == "lists" and self.columns else None,
            )
        )


class Certificate(_Strict):
    """All that is said in public. Nothing here is computed from the original data but the loss, rounded to 1%.

    *generalized* says what a coarser name stands for: all items the taxonomy has there, whether or not
    anybody had them.
    """

    schema_version: Literal[1]
    promise: PromiseRecord
    sensitive: tuple[str, ...]
    transactions: Annotated[int, Field(ge=0)]
    one_transaction_is: Literal["one person, whose transactions were merged", "taken as one person"]
    data: DataFile
    loss_percent: Annotated[int, Field(ge=0, le=100)]
    not_promised: tuple[str, ...]
    made_by: str
    generalized: dict[str, tuple[str, ...]] = Field(default_factory=dict)

    def to_json(self) -> str:
        """The text of the file; what coarser names stand for is there only if there are any."""
        return self.model_dump_json(indent=2, exclude=None if self.generalized else {"generalized"})

    @property
    def merged(self) -> bool:
        """Whether transactions of one person were merged."""
        return self.one_transaction_is.startswith("one person")


def known_promise(name: str) -> Callable[..., Promise]:
    """What makes a promise of this name; an error if there is none."""
    if name not in PROMISES:
        raise WrongUsage(
            f"There is no promise {name!r}. Available: {', '.join(PROMISES)}.",
            near_misses(name, PROMISES) or "Name one of these; perhaps a newer veilset knows more.",
        )
    return PROMISES[name]


def make_promise(name: str, parameters: dict[str, Any]) -> Promise:
    """The promise that a certificate or a recipe names."""
    make = known_promise(name)
    try:
        return make(**parameters)
    except TypeError:
        raise WrongUsage(
            f"The parameters {parameters} are not those of {name}.", "Compare with the documentation."
        ) from None
