"""Commands as processes of their own: what closes, breaks or interrupts them changes no exit code, and no traceback."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.errors import names
from veilset.cli import main

VEILSET = f"{sys.executable} -m veilset"
COMMAND = Path(sys.executable).with_name("veilset")
HOLDS, BROKEN = "audit letters.csv --k 1 --p 1", "audit letters.csv --k 2 --p 2"


@pytest.fixture
def letters(tmp_path, monkeypatch):
    """Baskets with items that ASCII lacks: of those with bun there is one."""
    (tmp_path / "letters.csv").write_text("é,bun,ρ\né,ρ\né,ρ\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shell(line: str, **environment: str) -> tuple[int, str, str]:
    """The exit code of the first command of a pipe, stdout and stderr."""
    done = subprocess.run(
        ["bash", "-c", f"{line}; exit ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert "Traceback" not in done.stderr, done.stderr
    assert "Exception ignored" not in done.stderr, done.stderr
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(("line", "code"), [(HOLDS, 0), (BROKEN, 1)])
@pytest.mark.parametrize("end", [">&-", "--text >&- 2>&- <&-", "| true", "--text | true"])
def test_a_closed_stdout_leaves_the_exit_code(letters, line, code, end):
    """Whoever reads from the pipe has left long before there is something to write."""
    assert shell(f"{VEILSET} {line} {end}") == (code, "", "")


@pytest.mark.parametrize(("line", "code"), [(HOLDS, 2), (BROKEN, 1)])
def test_an_answer_that_is_lost_is_an_error_unless_the_code_says_more(letters, line, code):
    answered, _, said = shell(f"{VEILSET} {line} > /dev/full")
    assert answered == code
    assert names(said, os.strerror(28)) == (code == 2)


@pytest.mark.parametrize(
    "environment",
    [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}],
    ids=lambda one: "=".join(next(iter(one.items()))),
)
def test_characters_that_stdout_lacks_are_escaped(letters, environment):
    code, text, _ = shell(f"{VEILSET} {BROKEN} --text", **environment)
    assert code == 1
    assert names(text, r"bun, \xe9, \u03c1")
    code, text, _ = shell(f"{VEILSET} mine letters.csv --min-support 2", **environment)
    assert code == 0
    assert text.isascii()
    assert ["é", "ρ"] in [found["items"] for found in json.loads(text)["itemsets"]]


# Python runs it before anything else.
_SITECUSTOMIZE = """
import os, signal, sys
if "LISTEN" in os.environ:  # which the background of a shell does not
    signal.signal(signal.SIGINT, signal.default_int_handler)
class Finder:
    def find_spec(self, name, *_):
        if name == os.environ["INTERRUPT_AT"]:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
"""


@pytest.fixture
def interrupted_at(tmp_path):
    """Runs a command that gets Ctrl-C when it imports a module: a moment that no sleep has to find."""
    (tmp_path / "sitecustomize.py").write_text(_SITECUSTOMIZE)

    def run(module: str, command: str, **environment: str) -> tuple[int, str, str]:
        return shell(command, PYTHONPATH=str(tmp_path), INTERRUPT_AT=module, **environment)

    return run


@pytest.mark.parametrize("command", [COMMAND, VEILSET], ids=["veilset", "python -m veilset"])
@pytest.mark.parametrize(
    "module", ["veilset.mining", "numpy", "pyarrow.lib", "cyclopts", "veilset.cli", "veilset.cli.verify"]
)
def test_ctrl_c_amid_imports(interrupted_at, command, module):
    answered = interrupted_at(module, f"{command} --version", LISTEN="yes")
    assert answered == (130, "", "Error: Interrupted.\n")


def test_ctrl_c_amid_an_import_by_others(interrupted_at):
    """They may want to know."""
    script = "try: import veilset\nexcept KeyboardInterrupt: print('mine')"
    assert interrupted_at("numpy", f'{sys.executable} -c "{script}"', LISTEN="yes") == (0, "mine\n", "")


@pytest.mark.parametrize("command", [COMMAND, VEILSET], ids=["veilset", "python -m veilset"])
def test_what_a_shell_ignores_stays_ignored(interrupted_at, command):
    """Commands in the background of a script."""
    code, _, said = interrupted_at("pyarrow.lib", f"trap '' INT; {command} --version")
    assert (code, said) == (0, "")


def test_a_bug_has_an_exit_code_of_its_own(letters, monkeypatch, capsys):
    def buggy(*_, **__):
        raise KeyError("oops")

    monkeypatch.setattr("veilset.audit", buggy)
    assert main([*BROKEN.split(), "--json"]) == 70
    out, err = capsys.readouterr()
    assert names(json.loads(out)["error"]["what"], "KeyError: 'oops'")
    assert names(json.loads(out)["error"]["next_step"], "bug")
    assert err == ""


_BUGGY = """
import sys, veilset
from veilset.cli import main
veilset.audit = lambda *_, **__: {}["oops"]
sys.exit(main(sys.argv[1:]))
"""


def test_the_traceback_of_a_bug_is_there_for_developers(letters):
    command = [sys.executable, "-X", "dev", "-c", _BUGGY, *BROKEN.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 70
    assert "Traceback" in done.stderr


@pytest.mark.parametrize("command", [COMMAND, VEILSET], ids=["veilset", "python -m veilset"])
def test_a_library_that_cannot_be_loaded_is_no_verdict(command):
    """Here for lack of memory."""
    code, out, said = shell(f"ulimit -v 150000; {command} --version")
    assert (code, out) == (70, "")
    assert names(said, "ImportError")
