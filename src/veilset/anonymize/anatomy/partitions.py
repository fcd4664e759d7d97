"""Partitions of the items that a user gives: as lists, in a file, or by a level of a taxonomy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from veilset.errors import InvalidArgument, lookalikes, said
from veilset.transactions import PartitionFile, TaxonomyLike, Transactions, taxonomy_of
from veilset.transactions.vocabulary import item_names


def partition_of(lists: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """The columns that lists of items give.

    >>> partition_of([["a", "b"], ["c", 4]])
    (('a', 'b'), ('c', '4'))
    """
    if not isinstance(lists, Iterable):
        raise InvalidArgument(
            f"{said('columns')} is {lists!r}.", 'Give a number, or lists of items such as [["a", "b"], ["c"]].'
        )
    parts: list[tuple[str, ...]] = []
    where: dict[str, int] = {}
    for number, column in enumerate(lists, start=1):
        parts.append(tuple(item_names(column, f"Column {number}")))
        if not parts[-1]:
            raise InvalidArgument(f"Column {number} has no items.", "Leave it out.")
        for item in parts[-1]:
            if item in where:
                raise InvalidArgument(
                    f"The item {item!r} is in column {number} and already in column {where[item]}.",
                    "Give every item one column.",
                )
            where[item] = number
    return tuple(parts)


def codes_of(
    parts: Sequence[Sequence[str]], data: Transactions, file: PartitionFile | None = None
) -> tuple[list[list[int]], tuple[str, ...]]:
    """The codes of each column that has items of the data, and notes on items that do not occur.

    Where the columns come from a *file*, errors name its lines, and columns as it does.
    """
    place, named = ("", repr) if file is None else (f"{file.path!r}: ", file.named)
    listed = {item for part in parts for item in part}
    if unlisted := [name for name in data.sensitive if name not in listed]:  # they are one column, wherever they stand
        parts, listed = [*parts, unlisted], listed.union(unlisted)
    if missing := [name for name in data.names if name not in listed]:
        are = "is" if len(missing) == 1 else "are"
        close = " or ".join(map(named, lookalikes(missing[0], listed.difference(data.names))))
        raise InvalidArgument(
            f"{place}{len(missing):,} of {len(data.names):,} items of the data {are} in no column: {_few(missing)}.",
            f"In the {'columns' if file is None else 'file'} {missing[0]!r} may be called {close}."
            if close
            else "Give every item a column.",
        )
    occurring = set(data.names)
    present = [[item for item in part if item in occurring] for part in parts]
    sensitive = set(data.sensitive)
    for number, part in enumerate(present, start=1):
        secret = [item for item in part if item in sensitive]
        if 0 < len(secret) < len(part):
            public = next(item for item in part if item not in sensitive)
            column = f"Column {number}" if file is None else f"{place}the column {[*file.columns][number - 1]!r}"
            raise InvalidArgument(
                f"{column} has the sensitive item {named(secret[0])} and the public item {named(public)}.",
                "Give sensitive items columns of their own.",
            )
    notes: tuple[str, ...] = ()
    if absent := [item for part in parts for item in part if item not in occurring]:
        verb = "item of the columns does" if len(absent) == 1 else "items of the columns do"
        notes = (f"{len(absent):,} {verb} not occur in the data: {_few(absent)}.",)
    return [data.codes(part).tolist() for part in present if part], notes


def groups_at(
    level: int | None, taxonomy: TaxonomyLike, data: Transactions
) -> tuple[tuple[tuple[str, ...], ...], tuple[str, ...]]:
    """The public items in each group of a level, with all sensitive items as a group of their own; and notes.

    Level 1, the default, is right below the root. What lies above a level is in the group right above it, or by itself.

    >>> data = Transactions.from_lists([["milk", "rye"], ["soap", "brie"]])
    >>> paths = {"milk": ["dairy", "food"], "brie": ["dairy", "food"], "rye": ["food"], "soap": []}
    >>> groups_at(1, paths, data)[0]
    (('brie', 'milk', 'rye'), ('soap',))
    >>> groups_at(2, paths, data)[0]
    (('brie', 'milk'), ('rye',), ('soap',))
    """
    tree = taxonomy_of(taxonomy)
    level = 1 if level is None else level
    deepest = max(1, tree.depth - 1)
    if isinstance(level, bool) or not isinstance(level, int) or not 1 <= level <= deepest:
        raise InvalidArgument(
            f"{said('level')} is {level!r}.",
            f"Give a whole number from 1, the groups right below the root, to {deepest}."
            if deepest > 1
            else "This taxonomy has groups right below the root only: give 1, or leave level out.",
        )
    notes = tree.pruned(data).check(data)
    groups: dict[int, list[str]] = {}
    for item in data.public:
        path = (*tree.ancestors(tree.leaf(item))[-2::-1],)  # from below the root down
        groups.setdefault(path[min(level, len(path)) - 1] if path else tree.leaf(item), []).append(item)
    if data.sensitive:
        groups[tree.root] = list(data.sensitive)
    return tuple(tuple(items) for items in groups.values()), notes


def _few(names: Sequence[str], most: int = 3) -> str:
    return ", ".join(map(repr, names[:most])) + (", …" if len(names) > most else "")
