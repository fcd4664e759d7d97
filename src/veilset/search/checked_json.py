"""JSON in a store, with a digest before it: SQLite does not notice when a disk changes letters."""

from __future__ import annotations

import json
from hashlib import blake2b
from pathlib import Path
from typing import Any

from veilset.search.schema import damaged

_SIZE = 8  # bytes


def with_digest(value: Any) -> str:
    """A value as JSON, with its digest."""
    text = json.dumps(value)
    return f"{_digest(text)} {text}"


def checked(path: Path, stored: object) -> Any:
    """The value that `with_digest` wrote; an error if it has changed since, in the store at *path*."""
    digest, _, text = stored.partition(" ") if isinstance(stored, str) else ("", "", "")
    if digest != _digest(text):
        raise damaged(path, "a value in it is not the one that was written")
    return json.loads(text)


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_SIZE).hexdigest()
