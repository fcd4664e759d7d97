"""What a party knows itself about a tree, from the levels it has followed: the finished tree must fit it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from veilset.joins.parties.levels import Level
from veilset.joins.parties.secure_tree import SecureModel, kept_splits
from veilset.joins.site import ROOT

_Counts = tuple[int, ...]


class Followed:
    """The levels of a tree as they were decided.

    Parameters
    ----------
    tables : sequence of str
        All tables, in the order of the study.
    """

    def __init__(self, tables: Sequence[str]) -> None:
        self._tables = tables
        self._families: dict[int, tuple[int, int, int]] = {}
        self._counts: dict[int, _Counts] = {}
        self._seen = {ROOT}

    def begin(self, counts: _Counts) -> None:
        """Take in the class counts of the root."""
        self._counts[ROOT] = counts

    def add(self, level: Level, counts: Mapping[int, _Counts]) -> None:
        """Take in a level, and the class counts of children that this party has made."""
        children = set(level.children.tolist())
        self._seen |= children
        self._families |= level.families
        self._counts |= {child: one for child, one in counts.items() if child in children}

    def is_new(self, level: Level) -> bool:
        """Whether no child has the number of an earlier node."""
        return self._seen.isdisjoint(level.children.tolist())

    def fits(self, model: SecureModel, prune: float | None) -> bool:
        """Whether a tree has no splits but those that were made, the counts that are known, and none to prune."""
        numbers = {0: ROOT}  # by the place in the model, where children come after their parents
        for place, part in enumerate(model.nodes):
            number = numbers[place]
            if self._counts.get(number, part.counts) != part.counts:
                return False
            if part.table is None:
                continue
            family = self._families.get(number)
            if family is None or part.number != number or self._tables[family[0]] != part.table:
                return False
            numbers |= zip(part.children, family[1:], strict=True)
        tree, _ = kept_splits(model.tree().root, prune)
        return sum(1 for _ in tree.walk()) == len(model.nodes)
