"""Labels of the nodes of a tree: names, made longer where they would not be unique."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import count

_SEPARATOR = " > "


def unique_labels(names: Sequence[str], parents: Sequence[int], depth: int) -> tuple[str, ...]:
    """For each node its name if no other has it, else as much of its path as no other has.

    Examples
    --------
    >>> unique_labels(["ham", "ham", "meat", "ALL"], [1, 2, 3, -1], depth=3)
    ('ham > ham', 'meat > ham', 'meat', 'ALL')
    """
    labels, top = list(names), list(range(len(names)))
    root = len(names) - 1
    taken: set[str] = set()
    waiting = list(top)
    # Each round settles the labels that are unique and takes the others one step further to the root.
    for _ in range(depth + 1):
        times = Counter(labels[node] for node in waiting)
        clash = [node for node in waiting if times[labels[node]] > 1 or labels[node] in taken]
        taken.update(labels[node] for node in set(waiting).difference(clash))
        for node in clash:
            if top[node] != root:
                top[node] = parents[top[node]]
                labels[node] = f"{names[top[node]]}{_SEPARATOR}{labels[node]}"
        waiting = clash
    # Whole paths look alike only if a name holds the separator; then a number tells them apart.
    for node in waiting:
        labels[node] = next(new for i in count(2) if (new := f"{labels[node]} ({i})") not in taken)
        taken.add(labels[node])
    return tuple(labels)
