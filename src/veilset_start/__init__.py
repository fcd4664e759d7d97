"""The command ``veilset`` from its first moment on: nothing amid its imports ends in a traceback.

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
    try:
        from veilset.cli import main as run  # noqa: PLC0415 - it takes a second
    except Exception as error:
        what = f"Error: Veilset cannot be loaded: {type(error).__name__}: {error}"
        os.write(2, f"{what}\nCheck its installation, and the free memory.\n".encode())
        return 70
    if listens:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return run()


def _leave(*_: Any) -> None:
    # Not by an exception: a library that is being imported may turn it into another one.
    os.write(2, b"Error: Interrupted.\n")
    os._exit(130)
