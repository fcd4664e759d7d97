"""Folders that only their owner can open."""

from __future__ import annotations

from pathlib import Path

from veilset.errors import CannotWrite


def private_folder(path: Path) -> Path:
    """A folder that only its owner can open; it is made if there is none."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.chmod(0o700)
    except OSError as error:
        raise CannotWrite(f"{str(path)!r} cannot be made: {error.strerror}.", "Choose another state folder.") from None
    return path
