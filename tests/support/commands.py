"""The command line from inside: what a command answers when it is piped, and how it refuses."""

import json
from pathlib import Path

from tests.support.errors import names
from veilset.cli import main


def run(capsys, *arguments: str | Path) -> tuple[int, dict]:
    """The exit code and what stands on stdout, as JSON."""
    code = main(list(map(str, arguments)))
    return code, json.loads(capsys.readouterr().out)


def refusal(capsys, *arguments: str | Path, exit_code: int = 2, values: tuple[object, ...] = ()) -> str:
    """What an error says of a command, for a snapshot: it has this exit code and names these values."""
    code, said = run(capsys, *arguments, "--json")
    error = said["error"]
    assert code == error["exit_code"] == exit_code, error
    sentence = f"{error['what']} {error['next_step']}".strip()
    assert not [value for value in values if not names(sentence, value)], sentence
    return sentence
