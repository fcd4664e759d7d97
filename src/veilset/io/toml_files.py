"""Files that users write in TOML: recipes and studies. How they are read, and how options stand in them."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, StrictFloat, StrictInt, TypeAdapter, ValidationError

from veilset.errors import InvalidArgument, UnreadableInput, near_misses
from veilset.options import Form, declared


def _without_zero(path: str) -> str:
    if "\0" in path:
        raise ValueError("a path without a zero character")
    return path


FilePath = Annotated[str, AfterValidator(_without_zero)]
"""A path as it stands in a file."""

WRITTEN: dict[Form, Any] = {
    "text": str,
    "texts": tuple[str, ...],
    "character": str,
    "pair": tuple[str, str],
    "names": tuple[str, ...],
    "listed": tuple[str, ...],
    "words": tuple[str, ...],
    "whole": StrictInt,
    "whole or unlimited": StrictInt | Literal["unlimited"],
    "share": str | float | int,
    "share or none": float | Literal["none"],
    "count or share": StrictInt | StrictFloat | str,
    "switch": bool,
    "choice": str,
    "file": FilePath,
    "files": tuple[FilePath, ...],
    "items": tuple[str, ...],
    "groups": tuple[tuple[str, ...], ...],
    "patterns": tuple[tuple[str, ...], ...],
    "rules": tuple[tuple[tuple[str, ...], tuple[str, ...]], ...],
    "weights": dict[str, float] | str,
    "columns": StrictInt | FilePath | tuple[tuple[str, ...], ...],
    "taxonomy": FilePath | dict[str, tuple[str, ...]],
    "renaming": dict[str, str],
    "meanings": dict[str, tuple[str, ...]],
}
"""How a value of each form stands in a file. TOML has no word for None: it is left out, or "unlimited", or "none"."""

_LISTS: tuple[Form, ...] = ("texts", "names", "listed", "words")


class Section(BaseModel):
    """A part of such a file: what it does not know is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


def read_toml(path: Path, advice: str) -> dict[str, Any]:
    """What a file of TOML says; *advice* is what to do if it is none."""
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UnreadableInput(f"{str(path)!r} cannot be read: {error.strerror}.", "Check the path.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadableInput(f"{str(path)!r} is not TOML: {error}.", advice) from None
    except ValueError:  # Python reads no number of thousands of digits, unless it is hexadecimal
        raise _too_long(path, "a number") from None
    try:
        _check_numbers(path, content)
    except RecursionError:
        raise UnreadableInput(f"{str(path)!r}: tables are nested too deeply.", advice) from None
    return content


def _check_numbers(path: Path, content: Any, place: tuple[str, ...] = ()) -> None:
    """Raise at a whole number beyond the 64 bits of TOML: Python may not be able to write it into an error."""
    if isinstance(content, int) and content.bit_length() > 64:
        raise _too_long(path, ".".join(place))
    inner = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for name, value in inner:
        _check_numbers(path, value, (*place, str(name)))


def _too_long(path: Path, what: str) -> UnreadableInput:
    return UnreadableInput(
        f"{str(path)!r}: {what} has more than 20 digits.", "Write whole numbers of at most 64 bits, as TOML has them."
    )


def refusal(
    error: ValidationError, top: type[BaseModel], sections: Mapping[str, type[BaseModel]], advice: str
) -> InvalidArgument:
    """The first thing that is wrong in a file, with its place.

    Parameters
    ----------
    error : ValidationError
        What is wrong.
    top : type
        What the file should be.
    sections : mapping
        What the parts with these names should be.
    advice : str
        What to do.
    """
    first = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")  # it explains what is missing
    place = ".".join(map(str, first["loc"]))
    if first["type"] == "extra_forbidden":
        known = [one.alias or name for name, one in sections.get(str(first["loc"][0]), top).model_fields.items()]
        return InvalidArgument(
            f"There is no key {place!r}. Available: {', '.join(known)}.",
            near_misses(str(first["loc"][-1]), known) or advice,
        )
    if first["type"] == "missing":
        return InvalidArgument(f"{place} must be given.", advice)
    shown = f"{place} is {first['input']!r}" if first["type"].endswith("_type") else place
    return InvalidArgument(f"{shown}: {first['msg'].removeprefix('Value error, ')}.", advice)


def check_written(taker: Callable[..., Any], options: Mapping[str, Any], where: str) -> None:
    """Raise if one of these values, as they stand in a file, is not of the form that the taker's option has."""
    forms = {said.name: said.option for said in declared(taker)}
    for name, value in options.items():
        if (option := forms.get(name)) is None:
            continue  # it is refused where options are compared with the taker's
        written: Any = Literal[option.choices] if option.form == "choice" else WRITTEN[option.form]
        try:
            TypeAdapter(written).validate_python(_as_tuples(value), strict=True)
        except ValidationError as error:
            if option.form in _LISTS and option.example and not isinstance(value, list):
                example = json.dumps(option.example.split(","))
                raise InvalidArgument(f"{where}{name} is {value!r}.", f"Give a list: {name} = {example}.") from None
            expected = " or ".join(dict.fromkeys(map(_expected, error.errors())))
            shown = "not as expected" if option.secret else repr(value)
            raise InvalidArgument(f"{where}{name} is {shown}.", f"Give {expected}.") from None


def _expected(error: Any) -> str:
    """What should stand there, as files have it: tuples are lists."""
    in_list = error["type"] == "string_type" and any(isinstance(place, int) for place in error["loc"])
    if error["type"] == "tuple_type" or in_list:
        return "a list of texts" if in_list else "a list"
    return str(error["msg"].removeprefix("Value error, ").removeprefix("Input should be "))


def _as_tuples(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_tuples(inner) for key, inner in value.items()}
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value
