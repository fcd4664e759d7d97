"""The command ``veilset`` from its first moment on: Ctrl-C ends it without a traceback, also amid imports.

A package of its own, because importing any part of ``veilset`` imports all of it.
"""

from __future__ import annotations

import os
import signal
from typing import Any


def main() -> int:
    """Import the command line and run it; the exit code."""
    listens = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # not so in the background of a shell
    if listens:
        signal.signal(signal.SIGINT, _leave)
    from veilset.cli import main as run  # noqa: PLC0415 - it takes a second

    if listens:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return run()


def _leave(*_: Any) -> None:
    # Not by an exception: a library that is being imported may turn it into another one.
    os.write(2, b"Error: Interrupted.\n")
    os._exit(130)
