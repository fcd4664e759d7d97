"""Runs a script and interrupts it as Ctrl-C would."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

# A shell that starts a test run in the background has it ignore SIGINT, and children inherit that.
_LISTEN = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"


def interrupt(script: str, *arguments: str) -> tuple[int, str]:
    """Exit code and stderr of a script that prints "go" before its long work and is interrupted amid it."""
    command = [sys.executable, "-c", _LISTEN + textwrap.dedent(script), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "go\n"
            _wait_for_work(process.pid)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=30)  # a hang, not a measurement
        finally:
            process.kill()
        return process.returncode, err


def ctrl_c_stops(work: str, *, before: str) -> bool:
    """Whether Ctrl-C arrives in Python amid this work, for which the lines *before* prepare."""
    tried = f"try:\n{textwrap.indent(work, '    ')}\nexcept KeyboardInterrupt:\n    sys.exit(42)\n"
    return interrupt(f'import sys\n{textwrap.dedent(before)}\nprint("go", flush=True)\n{tried}')[0] == 42


def _wait_for_work(pid: int) -> None:
    """A fifth of a second of computing, or, where another process computes for it, one second."""
    started, before = time.monotonic(), _computed(pid)
    while _computed(pid) < before + 0.2 and time.monotonic() < started + 1:
        time.sleep(0.01)


def _computed(pid: int) -> float:
    """Seconds that a process has computed: the 14th and the 15th field of its stat, in ticks."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
