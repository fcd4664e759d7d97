"""A taxonomy as an option of a method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from veilset.transactions import Taxonomy

__all__ = ["TaxonomyLike", "taxonomy_of"]

TaxonomyLike: TypeAlias = Taxonomy | Mapping[str, Sequence[str]] | str | Path
"""A taxonomy, each item's groups (the most general last), or a file that `Taxonomy.read` reads."""


def taxonomy_of(given: TaxonomyLike) -> Taxonomy:
    """The taxonomy that an option gives."""
    if isinstance(given, Taxonomy):
        return given
    return Taxonomy.from_paths(given) if isinstance(given, Mapping) else Taxonomy.read(given)
