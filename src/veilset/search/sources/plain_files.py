"""Files that the user names, opened only if they are files: a pipe would make us wait, a device would never end."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from veilset.errors import UnreadableInput


def opened(path: Path) -> BinaryIO:
    """A stream of the bytes of a file; an error says why there is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        raise UnreadableInput(f"{str(path)!r} cannot be read: {error.strerror}.", "Check the path.") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UnreadableInput(f"{str(path)!r} is no file.", "Check the path.")
    return os.fdopen(descriptor, "rb")
