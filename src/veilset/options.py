"""What a user may say, declared once: in Python, in a recipe and on the command line it is the same.

A parameter of a promise, an option of a method and a detail of reading are keyword arguments. Their annotation carries
an `Option`, which adds what Python does not need: a help text, and the form in which a person writes the value.

>>> from typing import Annotated
>>> def brew(*, cups: Annotated[int, Option("whole", "Number of cups.", example="2")], milk: bool = False) -> None: ...
>>> [(said.name, said.required, said.option.help) for said in declared(brew)]
[('cups', True, 'Number of cups.')]
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_type_hints

Form = Literal[
    "text",
    "texts",  # given several times
    "character",  # "tab" and "\\t" stand for a tab
    "pair",  # two names with a comma between them
    "names",  # two or more, likewise
    "words",  # some of the choices, likewise
    "listed",  # one or more, likewise, and given several times
    "whole",
    "whole or unlimited",
    "share",
    "share or none",
    "count or share",
    "switch",
    "choice",
    "file",  # one that is read
    "files",  # given several times
    "items",  # files with one name a line
    "groups",  # such files, one for each group
    "patterns",  # files with one pattern a line, or a table
    "rules",
    "weights",  # a table, or: equal
    "columns",  # a number, or a table
    "taxonomy",  # a file, or the groups of each item
    "renaming",  # names to other names
    "meanings",  # names to what each of them may mean
]
"""How a value is written: `veilset.cli.forms` reads it from a command line, `veilset.io.toml_files` from a file."""


@dataclass(frozen=True)
class Option:
    """What a keyword argument is for users who do not type Python.

    Parameters
    ----------
    form : str
        How its value is written.
    help : str
        What it means, in one or two sentences. It starts with a noun or an imperative.
    example : str
        A value as typed on the command line.
    flag : str
        Its name there, if it is not that of the argument: ``sensitive_group``.
    choices : tuple of str
        The values of a choice, or the words that may be given.
    means : object
        What a switch stands for.
    least, most : int
        Between which numbers a whole one lies.
    secret : bool
        Whether the value is: then it is in no report and no log.
    public : bool
        Whether it may be told even where the promise is secret.
    recorded : bool
        Whether a run records it, so that a recipe repeats the run: no help and no flag offers it.
    """

    form: Form
    help: str
    example: str = ""
    flag: str = ""
    choices: tuple[str, ...] = ()
    means: object = True
    least: int = 1
    most: int = 2**31 - 1
    secret: bool = False
    public: bool = False
    recorded: bool = False


@dataclass(frozen=True)
class Declared:
    """An option with the argument that it belongs to."""

    name: str
    option: Option
    required: bool

    @property
    def flag(self) -> str:
        """The name on the command line, without its dashes."""
        return (self.option.flag or self.name).replace("_", "-")


_PYTHON_TYPES: dict[Form, str] = {
    "text": "str",
    "texts": "list of str",
    "character": "str",
    "pair": "pair of str",
    "names": "list of str",
    "words": "list of str, or one text with commas",
    "listed": "list of str",
    "whole": "int",
    "whole or unlimited": "int, optional",
    "count or share": "int, float or str",
    "share": "float or str",
    "share or none": "float, optional",
    "switch": "bool",
    "file": "path",
    "files": "list of paths",
    "items": "list of str",
    "groups": "list of lists of str",
    "patterns": "list of lists of str",
    "rules": "list of pairs of lists of str",
    "weights": "mapping of str to float, or 'equal'",
    "columns": "int, list of lists of str, or path",
    "taxonomy": "Taxonomy, mapping, or path",
    "renaming": "mapping of str to str",
    "meanings": "mapping of str to list of str",
}


def python_type(option: Option) -> str:
    """What a docstring calls the value of an option.

    >>> python_type(Option("switch", "Stir.")), python_type(Option("choice", "Milk.", choices=("cow", "oat")))
    ('bool', "'cow' or 'oat'")
    """
    return _PYTHON_TYPES.get(option.form) or " or ".join(map(repr, option.choices))


def to_write(option: Option, given: object) -> str:
    """What to write in Python for an option for which something else was given.

    >>> to_write(Option("listed", "Ids."), "unknown"), to_write(Option("pair", "Columns."), "visit_id,icd_code")
    ("Give a list, such as ['unknown'].", "Give a pair, such as ('visit_id', 'icd_code').")
    >>> to_write(Option("words", "Steps.", choices=("strip", "case")), "upper")
    "Give 'strip', 'case', or several: ['strip', 'case']."
    """
    words = [word.strip() for word in given.split(",")] if isinstance(given, str) else []
    example = option.example.split(",") if option.example else ["a", "b"]
    choices = list(map(repr, option.choices))
    match option.form:
        case "pair":
            return f"Give a pair, such as {tuple(words if len(words) == 2 else example)}."
        case "texts" | "names" | "listed" | "files" | "items":
            return f"Give a list, such as {words or example}."
        case "words":
            return f"Give {', '.join(choices)}, or several: {list(option.choices[:2])}."
        case "choice":
            return f"Give {' or '.join(choices)}."
        case "switch":
            return "Give True or False."
        case _:
            return f"Give a text. {option.help}"


def declared(of: Callable[..., Any]) -> tuple[Declared, ...]:
    """The options of a function, or of a class that is made by keyword arguments, in their order."""
    described = not isinstance(of, type) or hasattr(of, "model_fields")  # a pydantic model has its fields for arguments
    made = of if described else of.__init__
    hints = get_type_hints(made, include_extras=True)
    found = []
    for name, parameter in inspect.signature(made).parameters.items():
        notes = getattr(hints.get(name), "__metadata__", ())
        option = next((note for note in notes if isinstance(note, Option)), None)
        if option is not None:
            found.append(Declared(name, option, parameter.default is inspect.Parameter.empty))
    return tuple(found)
