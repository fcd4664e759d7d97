"""The application that every command joins, and how it is run.

Exit codes: 0 the promise holds, 1 it does not, 2 wrong usage or unreadable input, 3 infeasible, 4 not decided, 70 a bug
in Veilset, 130 interrupted. An error goes to one stream: as JSON to stdout if ``--json`` was typed, else as text to
stderr.
"""

from __future__ import annotations

import inspect
import re
import sys
import traceback

from cyclopts import App, CycloptsError, MissingArgumentError

from veilset import __version__
from veilset.cli.flags import in_flags
from veilset.cli.screen import Screen
from veilset.cli.streams import lasting_streams
from veilset.errors import VeilsetError

app = App(
    name="veilset",
    help="Share transaction data without exposing the people in it, and prove it on the bytes you release.",
    version=__version__,
    help_format="markdown",
    result_action="return_value",
    suppress_keyboard_interrupt=False,
)


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit code."""
    tokens = sys.argv[1:] if arguments is None else arguments
    with lasting_streams() as out:
        code = _answered(tokens)
        out.flush()
        if out.refusal is not None and code == 0:  # any other code says more than that the answer was not delivered
            what, next_step, code = _told(out.refusal)
            Screen(json=False).fail(what, next_step, code)
    return code


def _answered(tokens: list[str]) -> int:
    """The exit code of a command, whose answer or error was shown."""
    try:
        answer = app(tokens, exit_on_error=False, print_error=False)
    except BaseException as error:  # a panic of a library in Rust is no Exception
        if sys.flags.dev_mode and _is_bug(error):
            traceback.print_exception(error)
        what, next_step, code = _told(error)
        try:
            Screen(json="--json" in tokens).fail(what, next_step, code)
        except MemoryError:  # what is scarce is lacking here, too
            sys.stderr.write(f"Error: {what}\n{next_step}\n")
        return code
    return answer if isinstance(answer, int) else 0


def _misused(error: CycloptsError) -> tuple[str, str, int]:
    """The same for what the parser refuses; for what is missing, with an example from the command's help."""
    help_command = f"See {' '.join(('veilset', *(error.command_chain or ())))} --help."
    if not isinstance(error, MissingArgumentError) or error.argument is None:
        return str(error).strip(), help_command, 2
    name = error.argument.name
    shown = re.search(rf" {name} (\S+)", inspect.getdoc(error.target) or "")
    return f"{name} must be given.", f"For example: {name} {shown[1]}." if shown else help_command, 2


def _is_bug(error: BaseException) -> bool:
    known = CycloptsError, VeilsetError, KeyboardInterrupt, OSError, UnicodeEncodeError, MemoryError
    return not isinstance(error, known)


def _told(error: BaseException) -> tuple[str, str, int]:
    """What an error says, what to do next, and the exit code."""
    if isinstance(error, CycloptsError) and isinstance(error.__cause__, VeilsetError):
        error = error.__cause__  # what was typed is no value of its option
    if isinstance(error, CycloptsError):
        return _misused(error)
    if isinstance(error, VeilsetError):
        return *error.spelled(in_flags), error.exit_code
    if isinstance(error, KeyboardInterrupt):
        return "Interrupted.", "Releases and files are written completely or not at all.", 130
    if _is_bug(error):
        return (
            f"Internal error: {type(error).__name__}: {error}",
            "This is a bug in Veilset: please report it, with what python -X dev -m veilset … prints for this command.",
            70,
        )
    # What no reader or writer has words of its own for: a full disk, a folder that is gone, a name whose bytes are no
    # text, an allocation outside of a kernel.
    where = f"{str(error.filename)!r}: " if isinstance(error, OSError) and error.filename is not None else ""
    why = (isinstance(error, OSError) and error.strerror) or str(error) or "Out of memory"
    code = 4 if isinstance(error, MemoryError) else 2
    return (
        f"Operating system error: {where}{why}.",
        "Check the path, the disk space and the permissions, and try again.",
        code,
    )
