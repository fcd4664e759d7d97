"""Runs a script and interrupts it as Ctrl-C would."""

import signal
import subprocess
import sys
import textwrap
import time

# A shell that starts a test run in the background has it ignore SIGINT, and children inherit that.
_LISTEN = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"


def interrupt(script: str, *arguments: str) -> tuple[int, str]:
    """Exit code and stderr of a script that prints "go" before its long work and is interrupted a second into it."""
    command = [sys.executable, "-c", _LISTEN + textwrap.dedent(script), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "go\n"
            time.sleep(1)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=30)  # a hang, not a measurement
        finally:
            process.kill()
        return process.returncode, err
