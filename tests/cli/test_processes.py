"""Commands as processes of their own: what closes, breaks or interrupts them changes no exit code, and no traceback."""

import json
import os
import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from tests.support.errors import names
from veilset.cli import main

pytestmark = pytest.mark.no_sanitizer(reason="each test starts Python anew, which takes long there")

VEILSET = f"{sys.executable} -m veilset"
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


_INTERRUPTED_AT = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
class Finder:
    def find_spec(self, name, *_):
        if name == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
from veilset_start import main
sys.exit(main())
"""


@pytest.mark.parametrize("module", ["veilset", "numpy", "pyarrow.lib", "cyclopts", "veilset.cli.verify"])
def test_ctrl_c_amid_imports(module):
    """As the installed command begins; by a signal at a moment that no sleep has to find."""
    (entry,) = entry_points(group="console_scripts", name="veilset")
    assert entry.value == "veilset_start:main"
    command = [sys.executable, "-c", _INTERRUPTED_AT, module]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "Error: Interrupted.\n")


def test_what_a_shell_ignores_stays_ignored():
    """Commands in the background of a script."""
    command = f"trap '' INT; {sys.executable} -c '{_INTERRUPTED_AT}' pyarrow.lib --version"
    ignoring = command.replace("signal.signal(signal.SIGINT, signal.default_int_handler)", "")
    done = subprocess.run(["bash", "-c", ignoring], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


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


def test_a_library_that_cannot_be_loaded_is_no_verdict():
    """Here for lack of memory."""
    script = f"ulimit -v 150000; exec {sys.executable} -c 'from veilset_start import main; exit(main())'"
    code, out, said = shell(script)
    assert (code, out) == (70, "")
    assert names(said, "ImportError")
