"""Commands that serve until Ctrl-C, as processes of their own."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def served(*command: str, cwd: Path) -> Iterator[str]:
    """What a command that serves a page says first, as long as the block runs; it is ended as by Ctrl-C."""
    run = [sys.executable, "-m", "veilset", *command]
    process = subprocess.Popen(run, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ)
    try:
        lines = []
        while not lines or not lines[-1].startswith("}"):
            line = process.stdout.readline()
            if not line:
                raise AssertionError(process.stderr.read())
            lines.append(line)
        yield "".join(lines)
    finally:
        process.send_signal(2)
        try:
            out, errors = process.communicate(timeout=60)
        finally:
            process.kill()
        assert process.returncode == 0, (process.returncode, out, errors)
        assert errors == ""
