"""The options of a classifier as they stand in a study and in a model, which have no word for None."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from veilset.errors import unknown
from veilset.io.toml_files import check_written
from veilset.options import Form, declared

_NONE: dict[Form, str] = {"whole or unlimited": "unlimited", "share or none": "none"}


def options_from(taker: Callable[..., Any], written: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Options as Python takes them; one that does not exist, or is not of its form, is refused."""
    said = {one.name: one.option for one in declared(taker)}
    for name in written:
        if name not in said:
            raise unknown("option", name, said).within(f"{where}: ")
    check_written(taker, written, f"{where}.")
    return {name: None if value == _NONE.get(said[name].form, ...) else value for name, value in written.items()}


def written_options(taker: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """The same options as they stand in a file."""
    said = {one.name: one.option for one in declared(taker)}
    return {name: _NONE[said[name].form] if value is None else value for name, value in options.items() if name in said}
