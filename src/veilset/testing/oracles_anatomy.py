"""Brute force for anatomies, straight from the definitions. Like `oracles`, it imports nothing of Veilset.

Rows are sets of items, columns sets of items, and buckets the number of the bucket of each row, in any order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import permutations, product
from typing import TypeAlias

Row: TypeAlias = frozenset[str]
Columns: TypeAlias = Sequence[Collection[str]]


def values_of(row: Collection[str], columns: Columns) -> tuple[Row, ...]:
    """What a row has in each column, perhaps nothing.

    >>> [sorted(value) for value in values_of("abe", ["abc", "d", "ef"])]
    [['a', 'b'], [], ['e']]
    """
    return tuple(frozenset(row).intersection(column) for column in columns)


def mixed_columns(columns: Columns, sensitive: Collection[str]) -> list[int]:
    """The numbers of the columns that hold a sensitive item and a public one."""
    secret = set(sensitive)
    return [number for number, column in enumerate(columns) if secret.intersection(column) and set(column) - secret]


def anatomy_breaches(
    rows: Sequence[Collection[str]],
    columns: Columns,
    buckets: Sequence[int],
    l: Fraction | int,  # noqa: E741 - the paper's letter
    empty: str = "value",
    sensitive: Collection[str] = (),
) -> list[tuple[int, int, Row, int, int]]:
    """Every (bucket, column, value, count, size) with count / size > 1 / l (Definition 5), buckets and columns from 0.

    *size* is that of the bucket. Where having nothing is free (*empty* is ``"free"``, or all items of the column are
    sensitive), it is the number of rows of the bucket that have a value there.

    >>> anatomy_breaches(["a", "ab", "a"], ["a", "b"], [0, 0, 1], 2)[0]
    (0, 0, frozenset({'a'}), 2, 2)
    """
    breaches = []
    for bucket in sorted(set(buckets)):
        members = [row for row, number in zip(rows, buckets, strict=True) if number == bucket]
        for number, column in enumerate(columns):
            held = [values_of(row, [column])[0] for row in members]
            if empty == "free" or set(column) <= set(sensitive):
                held = [value for value in held if value]
            breaches += [
                (bucket, number, value, count, len(held))
                for value, count in Counter(held).items()
                if Fraction(count, len(held)) > 1 / Fraction(l)
            ]
    return breaches


def is_l_diverse(
    rows: Sequence[Collection[str]],
    columns: Columns,
    buckets: Sequence[int],
    l: Fraction | int,  # noqa: E741
    empty: str = "value",
    sensitive: Collection[str] = (),
) -> bool:
    """Whether no value is too common in its bucket, and no column holds both sensitive and public items.

    What has a single column is published whole: each row is a bucket of its own.

    >>> is_l_diverse(["a", "b"], ["ab"], [0, 0], 2)
    False
    """
    if len(columns) < 2:
        return not anatomy_breaches(rows, columns, range(len(rows)), l, empty, sensitive)
    return not mixed_columns(columns, sensitive) and not anatomy_breaches(rows, columns, buckets, l, empty, sensitive)


def attacker_posterior(
    rows: Sequence[Collection[str]],
    columns: Columns,
    buckets: Sequence[int],
    known: Mapping[int, Collection[str]],
    column: int,
    value: Collection[str],
) -> Fraction | None:
    """The probability that somebody with the *known* values (by column) has *value* in *column*; None: nobody has them.

    A world gives each value of a bucket's column to one of its members, by a permutation for each column. All worlds
    are equally likely, and the target is anybody. The worlds of a bucket say nothing about other buckets, so they are
    gone through bucket by bucket: keep those small.

    >>> attacker_posterior(["ac", "bd", "b"], ["ab", "cd"], [0, 0, 1], {0: "b"}, 1, "d")
    Fraction(1, 4)
    """
    matching, guessed = Fraction(0), Fraction(0)
    for bucket in set(buckets):
        members = [row for row, number in zip(rows, buckets, strict=True) if number == bucket]
        worlds = list(_worlds(members, [columns[number] for number in known], columns[column]))
        wanted = [frozenset(part) for part in known.values()]
        for world in worlds:
            has = [person[-1] == frozenset(value) for person in world if list(person[:-1]) == wanted]
            matching += Fraction(len(has), len(worlds))
            guessed += Fraction(sum(has), len(worlds))
    return guessed / matching if matching else None


def _worlds(
    members: Sequence[Collection[str]], known: Columns, column: Collection[str]
) -> Iterator[list[tuple[Row, ...]]]:
    """For each choice of one permutation a column, what each member has: the known columns, and then the other."""
    published = [[values_of(row, [part])[0] for row in members] for part in (*known, column)]
    for world in product(*(permutations(held) for held in published)):
        yield list(zip(*world, strict=True))


def multi_anatomy_figure_2(
    values: Iterable[Sequence[Hashable]],
    l: Fraction | int,  # noqa: E741
    free: Sequence[bool],
) -> tuple[list[list[int]], list[int]]:
    """Lines 1 to 9 of Figure 2: the buckets, and the rows that are left when the last one cannot be closed.

    *values* are those of each row, one a column, an empty one being false; *free* says in which columns having nothing
    is free.

    >>> multi_anatomy_figure_2([("x", "p"), ("x", "q"), ("y", "p"), ("y", "q"), ("x", "p")], 2, [False, False])
    ([[0, 1, 2, 3]], [4])
    """
    closed: list[list[int]] = []
    open_rows: list[int] = []
    hashed: list[list[Hashable]] = [[] for _ in free]
    for number, row in enumerate(values):
        open_rows.append(number)
        for held, value, is_free in zip(hashed, row, free, strict=True):
            if value or not is_free:
                held.append(value)
        if all(count * Fraction(l) <= len(held) for held in hashed for count in Counter(held).values()):
            closed.append(open_rows)
            open_rows, hashed = [], [[] for _ in free]
    return closed, open_rows
