"""A command line as a user types it: what stands on stdout and stderr, or the facts that are piped."""

import json
import shlex

from veilset.cli import main


def typed(command: str, capsys, line: str) -> tuple[int, str, str]:
    """The exit code, stdout and stderr of a command."""
    code = main(shlex.split(f"{command} {line}"))
    out, err = capsys.readouterr()
    return code, out, err


def piped(command: str, capsys, line: str) -> dict:
    """What a command that succeeds says as JSON."""
    code, out, err = typed(command, capsys, line)
    assert (code, err) == (0, ""), err
    return json.loads(out)
