"""docs/join-tutorial.md is true: its files are written and its commands run; parties are processes of their own."""

import os
import re
import shlex
import signal
import subprocess
import sys
import threading
from itertools import groupby
from pathlib import Path

import pytest

from tests.support.parties import reserved
from tests.support.places import DOCS
from veilset.cli import main

PAGE = (DOCS / "join-tutorial.md").read_text()
PARTIES = ("clinic", "registry", "pharmacy")
LEFT_OUT = "…"  # on a line of its own: anything
PATIENCE = 60  # seconds; a hang, not a measurement

# A shell that starts a test run in the background has it ignore SIGINT, and children inherit that.
START = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "from veilset.cli import main\n"
    "if __name__ == '__main__': sys.exit(main(sys.argv[1:]))"
)


def words(text):
    """Text on one line: where a terminal breaks it says nothing."""
    return " ".join(text.split())


def steps(page):
    """In order: (file, its text), or (party, its command, the parts of the output that are shown)."""
    for name, rest, language, block in re.findall(
        r"^(?:\*\*(\S+)\*\*([^\n]*)\n\n)?```(\w+)\n(.*?)^```", page, re.MULTILINE | re.DOTALL
    ):
        if language != "console":
            yield name + rest, block
            continue
        for one in re.split(r"^(?=\w+\$ )", block, flags=re.MULTILINE)[1:]:
            line, _, output = one.partition("\n")
            party, command = line.split("$ ", 1)
            shown = groupby(output.splitlines(), lambda line: line == LEFT_OUT)
            yield party, command, [words("\n".join(lines)) for left_out, lines in shown if not left_out]


class Listening:
    """A party that listens in a process of its own."""

    def __init__(self, folder, arguments):
        command = [sys.executable, "-c", START, *arguments, "--text", "--threads", "1"]
        self.process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=os.environ
        )
        self.said = []
        self.ready = threading.Event()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.said.append(line)
            if " listens at " in line:
                self.ready.set()
        self.ready.set()

    def stop(self):
        """Ctrl-C; the exit code."""
        self.process.send_signal(signal.SIGINT)
        try:
            return self.process.wait(PATIENCE)
        finally:
            self.process.kill()
            self.reader.join(PATIENCE)
            self.process.stdout.close()


class Tutorial:
    """The three folders, and what has happened in them."""

    def __init__(self, folder, monkeypatch, capfd):
        self.folder, self.monkeypatch, self.capfd = folder, monkeypatch, capfd
        self.sockets = reserved(3)
        self.ports = {str(9701 + at): one.getsockname()[1] for at, one in enumerate(self.sockets)}
        self.certificates, self.listening = {}, {}
        for party in PARTIES:
            (folder / party).mkdir()

    def write(self, name, text):
        """Write a file of the page. The study goes to all parties, with their certificates and free ports."""
        if name == "study.toml, first join":
            old, policy = text.splitlines()
            text = (self.folder / "clinic" / "study.toml").read_text().replace(old, f"{old}\n{policy}")
        elif name == "study.toml":
            for party in PARTIES:
                text = text.replace('certificate = "MII…"', self.certificates[party], 1)
            for port, free in self.ports.items():
                text = text.replace(f":{port}", f":{free}")
        else:
            (self.folder / name).write_text(text)
            return
        for party in PARTIES:
            (self.folder / party / "study.toml").write_text(text)

    def run(self, party, command, parts):
        """Run a command of the page; what it prints has these parts."""
        arguments = shlex.split(command)
        folder = self.folder / party
        self.monkeypatch.chdir(folder)
        approved = (folder / f"{party}.toml").exists() and "approve = " in (folder / f"{party}.toml").read_text()
        if command.startswith("veilset join party") and approved:
            self.listening[party] = Listening(folder, arguments[1:])
            return
        if arguments[0] == "cat":
            code, printed = 0, (folder / arguments[1]).read_text()
        elif arguments[2] == "train":
            for one in self.listening.values():
                assert one.ready.wait(PATIENCE)
            done = subprocess.run(
                [sys.executable, "-c", START, *arguments[1:], "--text", "--threads", "1"],
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                check=False,
            )
            code, printed = done.returncode, done.stdout + done.stderr
        else:
            globbed = [str(next(folder.glob(one))) if "*" in one else one for one in arguments[1:]]
            code = main([*globbed, "--threads", "1"] if arguments[2] == "predict" else globbed)
            said = self.capfd.readouterr()
            printed = f"{said.out}\n{said.err}"
        self.check(party, command, code, printed, parts)

    def check(self, party, command, code, printed, parts):
        rest = words(printed)
        assert code == (2 if any("Error:" in part for part in parts) else 0), f"{command}\n{printed}"
        for part in parts:
            assert part in rest, f"{command}\nprinted, after what was found:\n{rest}"
            rest = rest.partition(part)[2]
        if "keygen" in command:
            self.certificates[party] = re.search(r'certificate = ".*"', printed)[0]
        if "To approve" in printed and "policy" in Path("study.toml").read_text():
            lines = re.findall(r"^ *((?:approve|class_known_to) = .*?) *$", printed, re.MULTILINE)
            own = Path(f"{party}.toml")
            own.write_text("\n".join([*lines, own.read_text()]))


@pytest.mark.no_sanitizer(reason="each party starts Python anew, which takes long there")
def test_the_tutorial(tmp_path, monkeypatch, capfd, terminal):
    tutorial = Tutorial(tmp_path, monkeypatch, capfd)
    told = list(steps(PAGE))
    try:
        for step in told:
            if len(step) == 2:
                tutorial.write(*step)
            else:
                tutorial.run(*step)
        assert {party: one.stop() for party, one in tutorial.listening.items()} == {"registry": 0, "pharmacy": 0}
        ran = {step[1].split()[2] for step in told if len(step) == 3 and step[1].startswith("veilset")}
        assert ran == {"keygen", "party", "train", "show", "predict", "log", "revoke"}
    finally:
        for one in tutorial.listening.values():
            one.process.kill()
        for one in tutorial.sockets:
            one.close()
    for party in ("registry", "pharmacy"):
        printed = words("".join(tutorial.listening[party].said))
        assert f"{party} listens at 127.0.0.1:" in printed
        assert "Error" not in printed
        assert "Traceback" not in printed
