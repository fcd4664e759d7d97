"""What a search for items to keep finds."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True)
class Found:
    """What a strategy found: the entries to keep, and those removed because the check exceeded its work limit."""

    kept: Collection[int]
    undecided: Collection[int] = ()
