"""Item names that differ only in blanks, case or Unicode form made one: `normalize` of `Reading`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from veilset.errors import UnreadableInput, said
from veilset.io.normalizing import Step, normalized
from veilset.transactions.anatomy import Anatomy

if TYPE_CHECKING:
    from veilset.transactions.transactions import Transactions

_MOST_NAMES = 5


def with_normalized_names(data: Transactions, steps: Sequence[Step]) -> Transactions:
    """The same transactions under normalized names: items that are now the same are one. Notes say how many."""
    assert data.source is not None  # noqa: S101 - everything that is read has one
    new = {name: now for name in data.names if (now := normalized(name, steps)) != name}
    if empty := [name for name, now in new.items() if not now]:
        listed = ", ".join(map(repr, empty[:_MOST_NAMES])) + ", …" * (len(empty) > _MOST_NAMES)
        raise UnreadableInput(
            f"The item {listed} consists of spaces only.",
            f"Give it a name in the data, or remove 'strip' from {said('normalize')}.",
        )
    source = replace(data.source, normalize=tuple(steps))
    if not new:
        return data.with_source(source)
    changed = data.renamed(new)
    if data.anatomy is not None:
        columns = ({new.get(item, item) for item in column} for column in data.anatomy.columns)
        changed = changed.anatomized(Anatomy.of(map(changed.in_order, columns), data.anatomy.buckets))
    merged = len(data.names) - len(changed.names)
    names = f"{len(new):,} name{'s' * (len(new) != 1)} normalized ({', '.join(steps)})"
    note = f"{names}; {len(data.names):,} different items became {len(changed.names):,}." if merged else f"{names}."
    return changed.with_source(replace(source, noted=(*source.noted, note)))
