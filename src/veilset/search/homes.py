"""Paths as people write them, with ``~`` for a home."""

from __future__ import annotations

from pathlib import Path

from veilset.errors import InvalidArgument


def expanded(path: str | Path) -> Path:
    """The path in a home that is known; other paths as they are."""
    try:
        return Path(path).expanduser()
    except RuntimeError:  # that is how pathlib says it
        raise InvalidArgument(
            f"The home of {str(path)!r} is not known.", "Write the whole path, or ./ before a name that begins with ~."
        ) from None
