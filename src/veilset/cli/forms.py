"""From declared options to flags, and from what was typed to values; see `veilset.options`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeVar, get_origin

from cyclopts import Parameter, Token

from veilset.anonymize.anatomy.partitions import codes_of
from veilset.errors import InvalidArgument, UnreadableInput
from veilset.io import check_place, read_item_list
from veilset.io.companions import read_partition, read_paths, read_table
from veilset.io.pattern_files import Listed, check_listed, read_patterns, read_rules
from veilset.options import Declared, Form
from veilset.transactions import Transactions

DIGITS = 18  # of a number of transactions; Python does not read numbers of any length

Check = Callable[[Transactions], None]
"""Compares what a file said with the data, so that an error names the line."""

_Class = TypeVar("_Class")

_WHOLE = re.compile(r"-?[0-9]{1,40}")  # what int() and cyclopts take besides (5.4, 0x5, 5_0, " 5") is a slip


def _whole(kind: type[int], tokens: Sequence[Token]) -> int:
    typed = tokens[0]
    if not _WHOLE.fullmatch(typed.value):
        raise InvalidArgument(f"{typed.keyword} is {typed.value!r}.", "Give a whole number in digits, such as 20.")
    return int(typed.value)


def _natural(kind: type[int], tokens: Sequence[Token]) -> int:
    if (number := _whole(kind, tokens)) < 0 or number >= 2**63:
        raise InvalidArgument(f"{tokens[0].keyword} is {number}.", "Give a whole number from 0, such as 20.")
    return number


Natural = Annotated[int, Parameter(converter=_natural)]
"""A number of things on the command line, perhaps none."""

Whole = Annotated[int, Parameter(converter=_whole)]
"""A whole number on the command line; nothing is rounded to one."""


class Given(NamedTuple):
    """What was typed, as a value; and what has to be checked once the data is there."""

    value: Any
    check: Check | None = None


@dataclass(frozen=True)
class _Form:
    typed: Any
    """The type on the command line; what may be given several times is a tuple."""
    value: Callable[[Any, Declared, str], Given]
    """From what was typed, the option and the encoding of files to the value."""

    @property
    def several(self) -> bool:
        """Whether it may be given several times."""
        return get_origin(self.typed) is tuple


class Typed:
    """What was typed for options that are declared elsewhere: `with_flags` gives a subclass its fields."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...
        def __init__(self, **typed: Any) -> None: ...


def with_flags(cls: type[_Class], fields: dict[str, tuple[Declared, str, Any]]) -> type[_Class]:
    """The class as a dataclass with these fields (the option, its help text and its default), as cyclopts takes it."""
    for name, (said, text, default) in fields.items():
        form = FORMS[said.option.form]
        typed = Literal[said.option.choices] if said.option.form == "choice" else form.typed
        shown = isinstance(default, str)
        help_text = f"{text} Repeatable." if form.several else text
        parameter = Parameter(name=f"--{said.flag}", help=help_text, negative=(), show_default=shown)
        cls.__annotations__[name] = Annotated[typed | None if default is None else typed, parameter]
        setattr(cls, name, default)
    return dataclass(frozen=True)(cls)


def nothing(said: Declared) -> Any:
    """What stands for an option that was not given."""
    form = FORMS[said.option.form]
    return () if form.several else False if form.typed is bool else None


def was_given(typed: object) -> bool:
    """Whether something was typed for an option that has no default."""
    return typed is not None and typed is not False and typed != ()  # 0 is something


def given(said: Declared, typed: Any, encoding: str) -> Given:
    """The value of an option for what was typed."""
    return FORMS[said.option.form].value(typed, said, encoding)


def _as_typed(typed: Any, said: Declared, encoding: str) -> Given:
    return Given(typed)


def _whole_or_unlimited(typed: str, said: Declared, encoding: str) -> Given:
    if typed == "unlimited":
        return Given(None)
    if not re.fullmatch("[0-9]{1,10}", typed):
        flag, example = f"--{said.flag}", said.option.example
        raise InvalidArgument(
            f"{flag} is {typed!r}.", f"Give a whole number such as {flag} {example}, or {flag} unlimited."
        )
    return Given(int(typed))


def _columns_named(typed: str, said: Declared, encoding: str) -> Given:
    return Given(columns_of(typed, f"--{said.flag}", said.option.example, exactly_two=said.option.form == "pair"))


def _listed_names(typed: Sequence[str], said: Declared, encoding: str) -> Given:
    return Given(tuple(part.strip() for one in typed for part in one.split(",")))


def columns_of(
    typed: str | None, option: str, example: str = "label,level2,level1", *, exactly_two: bool = False
) -> tuple[str, ...] | None:
    """The columns that an option names, with commas between them."""
    if typed is None:
        return None
    columns = tuple(part.strip() for part in typed.split(","))
    if len(columns) < 2 or not all(columns) or (exactly_two and len(columns) > 2):
        many = "two columns" if exactly_two else "two or more columns"
        raise InvalidArgument(f"{option} is {typed!r}.", f"Name {many}, such as {option} {example}.")
    return columns


def _words(typed: str, said: Declared, encoding: str) -> Given:
    words, (*most, last) = tuple(part.strip() for part in typed.split(",")), said.option.choices
    if not set(words) <= set(said.option.choices):
        raise InvalidArgument(
            f"--{said.flag} is {typed!r}.", f"Give {', '.join(most)} or {last}, or several, separated by commas."
        )
    return Given(words)


def _items(typed: Sequence[Path], said: Declared, encoding: str) -> Given:
    return Given(read_lists(typed, f"--{said.flag}", encoding))


def _groups(typed: Sequence[Path], said: Declared, encoding: str) -> Given:
    check_lists(typed, f"--{said.flag}", "items of a group")
    return Given(tuple(tuple(read_item_list(path, encoding)) for path in typed))


def _listed(read: Callable[[Path, str], list[Listed]]) -> Callable[[Any, Declared, str], Given]:
    def value(typed: Sequence[Path], said: Declared, encoding: str) -> Given:
        listed = [entry for path in typed for entry in read(path, encoding)]
        sides = (entry.sides for entry in listed if entry.sides)
        found = tuple(tuple(side) if said.option.form == "rules" else side[0] for side in sides)
        return Given(found, lambda data: check_listed(listed, data.names))

    return value


def _weights(typed: str, said: Declared, encoding: str) -> Given:
    if typed == "equal":
        return Given(typed)
    if not Path(typed).exists():
        raise InvalidArgument(
            f"There is no file {typed!r}.", f"--{said.flag} takes a file with the columns item,weight; or: equal."
        )
    header = read_table(typed, encoding=encoding).columns
    if len(header) > 1 and re.fullmatch(r"[0-9.]+", header[1]):
        raise UnreadableInput(
            f"{typed!r}: line 1 gives {header[0]!r} the weight {header[1]}, but line 1 is read as a header.",
            "Add the header item,weight as the first line.",
        )
    weights = {}
    for item, cells in read_paths(typed, encoding=encoding).items():
        try:
            weights[item] = float(cells[0])
        except ValueError:
            raise UnreadableInput(
                f"{typed!r}: the weight of {item!r} is {cells[0]!r}.", "Write a number in the second column."
            ) from None
    return Given(weights)


def _columns(typed: str, said: Declared, encoding: str) -> Given:
    """How many columns there are to be, or what a file says that they are."""
    flag = f"--{said.flag}"
    if _is_number(typed):
        if not is_count(typed) or int(typed) < 2:
            raise InvalidArgument(
                f"{flag} is {typed}.", "Give a whole number of at least 2, or a file with the header item,column."
            )
        return Given(int(typed))
    if not Path(typed).exists():
        raise InvalidArgument(
            f"There is no file {typed!r}.", f"{flag} takes a number such as 10, or a file with the header item,column."
        )
    file = read_partition(typed, encoding=encoding)

    def check(data: Transactions) -> None:
        codes_of(file.parts, data, file)  # for its errors: the method gets lists, which have no lines

    return Given(file.parts, check)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return not Path(text).exists()


def whole_or_share(text: str) -> int | str:
    """A number of transactions if it is one, else the share as it was written."""
    return int(text) if is_count(text) else text


def is_count(text: str) -> bool:
    """Whether a text is a number of transactions or columns, in plain digits."""
    return text.isascii() and text.isdecimal() and len(text) <= DIGITS


def read_lists(files: Sequence[Path], option: str, encoding: str) -> list[str] | None:
    """The items that files name, one a line, united; None if there are no files."""
    check_lists(files, option, "items")
    if not files:
        return None
    names = list(dict.fromkeys(name for path in files for name in read_item_list(path, encoding)))
    if not names:
        raise UnreadableInput(f"{option} {files[0]} lists no item.", "Write one name per line.")
    return names


def check_lists(files: Sequence[Path], option: str, what: str) -> None:
    """Raise if one of these files, which an option names, does not exist."""
    for path in files:
        if not path.exists():
            entry = f" To name an item directly: --sensitive-items {str(path)!r}." if option == "--sensitive" else ""
            raise InvalidArgument(
                f"There is no file {str(path)!r}.", f"{option} takes a file with {what}, one name per line.{entry}"
            )


def check_out(out: Path, inputs: Sequence[Path], *, replace: bool) -> None:
    """Raise if no file can be written at *out*, or it is one that the run reads."""
    check_place(out, replace=replace, folder=False)
    if out.exists() and any(path.exists() and path.samefile(out) for path in inputs):
        raise InvalidArgument(f"{str(out)!r} is an input of this run.", "Choose another --out.")


FORMS: dict[Form, _Form] = {
    "text": _Form(str, _as_typed),
    "texts": _Form(tuple[str, ...], _as_typed),
    "character": _Form(str, lambda typed, *_: Given({"\\t": "\t", "tab": "\t"}.get(typed, typed))),
    "pair": _Form(str, _columns_named),
    "names": _Form(str, _columns_named),
    "words": _Form(str, _words),
    "listed": _Form(tuple[str, ...], _listed_names),
    "whole": _Form(Whole, _as_typed),
    "whole or unlimited": _Form(str, _whole_or_unlimited),
    "share": _Form(str, _as_typed),
    "count or share": _Form(str, lambda typed, *_: Given(whole_or_share(typed))),
    "switch": _Form(bool, lambda typed, said, _: Given(said.option.means)),
    "choice": _Form(str, _as_typed),
    "file": _Form(Path, lambda typed, *_: Given(str(typed))),
    "files": _Form(tuple[Path, ...], lambda typed, *_: Given(tuple(map(str, typed)))),
    "items": _Form(tuple[Path, ...], _items),
    "groups": _Form(tuple[Path, ...], _groups),
    "patterns": _Form(tuple[Path, ...], _listed(read_patterns)),
    "rules": _Form(tuple[Path, ...], _listed(read_rules)),
    "weights": _Form(str, _weights),
    "columns": _Form(str, _columns),
}
