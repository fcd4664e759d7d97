"""The command ``veilset`` from its first moment on: nothing amid its imports ends in a traceback.

A package of its own, because importing any part of ``veilset`` imports all of it.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any


def main() -> int:
    """Import the command line and run it; the exit code."""
    _guard()
    from veilset.cli import main as run  # noqa: PLC0415 - it takes a second

    sys.excepthook = sys.__excepthook__
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return run()


def guard_module() -> None:
    """Guard the import of the package if it is for ``python -m veilset``, which imports it before ``__main__``."""
    if sys.argv[:1] == ["-m"] and sys.orig_argv[-len(sys.argv)].removeprefix("-m") == "veilset":
        _guard()


def _guard() -> None:
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not so in the background of a shell
        signal.signal(signal.SIGINT, _leave)
    sys.excepthook = _fail


def _leave(*_: Any) -> None:
    # Not by an exception: a library that is being imported may turn it into another one.
    os.write(2, b"Error: Interrupted.\n")
    os._exit(130)


def _fail(kind: type[BaseException], error: BaseException, _: Any) -> None:
    what = f"Error: Veilset cannot be loaded: {kind.__name__}: {error}"
    os.write(2, f"{what}\nCheck its installation, and the free memory.\n".encode())
    os._exit(70)
