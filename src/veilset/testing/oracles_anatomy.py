"""Brute force for anatomies, straight from the definitions. Like `oracles`, it imports nothing of Veilset.

Rows are sets of items, columns sets of items, and buckets the number of the bucket of each row, in any order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from math import comb
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


def surest_beliefs(members: Sequence[Collection[str]], columns: Columns) -> dict[tuple[int, Row], Fraction]:
    """The definition: of each column and value of a bucket, how sure an attacker can be that a member has it.

    He knows the bucket, any set of the member's values in other columns, and that no member is empty. All worlds are
    gone through: keep the bucket small. Where no world is possible, there is nothing to believe.

    >>> surest_beliefs(["x", "y"], ["x", "y"])[0, frozenset("x")]
    Fraction(1, 1)
    """
    people = Counter(person for world in _worlds(members, columns) for person in world)
    beliefs: dict[tuple[int, Row], Fraction] = {}
    for column in range(len(columns)):
        others = [number for number in range(len(columns)) if number != column]
        for known in (part for size in range(len(columns)) for part in combinations(others, size)):
            fitting: Counter[tuple[Row, ...]] = Counter()
            having: Counter[tuple[tuple[Row, ...], Row]] = Counter()
            for person, times in people.items():
                held = tuple(person[number] for number in known)
                fitting[held] += times
                having[held, person[column]] += times
            for (held, value), times in having.items():
                sure = Fraction(times, fitting[held])
                beliefs[column, value] = max(beliefs.get((column, value), sure), sure)
    return beliefs


def _worlds(members: Sequence[Collection[str]], columns: Columns) -> Iterator[list[tuple[Row, ...]]]:
    """What each member has, for each arrangement of a bucket's values that leaves nobody empty.

    The first column stays as it is: to permute all columns alike is to call the members by other names.
    """
    first, *others = zip(*(values_of(row, columns) for row in members), strict=True)
    for world in product(*(sorted(set(permutations(held)), key=repr) for held in others)):
        people = list(zip(first, *world, strict=True))
        if all(map(any, people)):
            yield people


def probabilities(members: Sequence[Collection[str]], columns: Columns) -> dict[tuple[int, Row], Fraction]:
    """The same as `surest_beliefs` by counting where nothing is, for larger buckets.

    Somebody who knows less mixes what he would believe if he knew all other columns. Of those only matters where the
    member has nothing. If in some column everybody has something, not even that matters.

    >>> probabilities(["x", "y"], ["x", "y"])[0, frozenset("x")]
    Fraction(1, 1)
    """
    table = [Counter(values_of(row, [column])[0] for row in members) for column in columns]
    nothing = [held[frozenset()] for held in table]
    found = {}
    for column, held in enumerate(table):
        sure = _surest_of_nothing(len(members), nothing, column)
        for value, count in held.items():
            if 0 in nothing:
                found[column, value] = Fraction(count, len(members))
            else:  # who has nothing elsewhere has something here
                found[column, value] = Fraction(count, len(members) - nothing[column]) if value else sure
    return found


def _surest_of_nothing(size: int, nothing: Sequence[int], column: int) -> Fraction:
    """The largest probability of having nothing in a column, over all that may be known of the other columns."""
    others = [number for number in range(len(nothing)) if number != column]
    sure = []
    for empty in product([False, True], repeat=len(others)):
        if empty and all(empty):
            continue  # then he has something here
        rest = [nothing[number] - has_none for number, has_none in zip(others, empty, strict=True)]
        with_none, with_some = (_ways(size - 1, [nothing[column] - n, *rest]) for n in (1, 0))
        if with_none + with_some:
            sure.append(Fraction(with_none, with_none + with_some))
    return max(sure, default=Fraction(1))


def _ways(size: int, nothing: Sequence[int]) -> int:
    """In how many ways the rows with nothing in each column can be chosen so that no row has nothing at all.

    Column by column: of the rows that have nothing so far, some have nothing in the next column, either.
    """
    if any(not 0 <= count <= size for count in nothing):
        return 0
    ways = {size: 1}  # by the number of rows that have nothing so far
    for count in nothing:
        after: Counter[int] = Counter()
        for empty, many in ways.items():
            for still in range(max(0, count - (size - empty)), min(empty, count) + 1):
                after[still] += many * comb(empty, still) * comb(size - empty, count - still)
        ways = after
    return ways.get(0, 0)


def anatomy_groups(
    rows: Sequence[Collection[str]],
    columns: Columns,
    buckets: Sequence[int],
    empty: str = "value",
    sensitive: Collection[str] = (),
) -> dict[tuple[int, int], dict[Row, Fraction]]:
    """For each bucket and column of public items, how probable each value is that is limited.

    Where having nothing is free (*empty* is ``"free"``), it is left out, and may be known of everybody.

    >>> anatomy_groups(["ac", "bc", "c"], ["ab", "c"], [0, 0, 0])[0, 0][frozenset("a")]
    Fraction(1, 3)
    """
    groups = {}
    for bucket, members in _buckets(rows, buckets).items():
        probable = probabilities(members, columns)
        for number, column in enumerate(columns):
            if column and set(column) <= set(sensitive):
                continue
            held = {value: sure for (at, value), sure in probable.items() if at == number}
            if empty == "free":
                counts = Counter(value for row in members if (value := values_of(row, [column])[0]))
                held = {value: Fraction(count, counts.total()) for value, count in counts.items()}
            if held:
                groups[bucket, number] = held
    return groups


def sensitive_shares(
    rows: Sequence[Collection[str]], columns: Columns, buckets: Sequence[int], sensitive: Collection[str]
) -> dict[int, Fraction]:
    """For each bucket with sensitive items, how probable it is at most that somebody has any.

    Values of several sensitive columns may belong to different people. If there is no public column in which everybody
    has something, somebody may have nothing public; then it is certain.

    >>> sensitive_shares(["as", "b", "s", "b"], ["ab", "s"], [0, 0, 1, 1], "s")
    {0: Fraction(1, 2), 1: Fraction(1, 1)}
    """
    shares = {}
    secret = [column for column in columns if set(column) <= set(sensitive)]
    public = [column for column in columns if not set(column) <= set(sensitive)]
    for bucket, members in _buckets(rows, buckets).items():
        if held := sum(bool(value) for row in members for value in values_of(row, secret)):
            anchored = any(all(values_of(row, [column])[0] for row in members) for column in public)
            shares[bucket] = min(Fraction(1), Fraction(held, len(members))) if anchored else Fraction(1)
    return shares


def item_shares(
    rows: Sequence[Collection[str]],
    columns: Columns,
    buckets: Sequence[int],
    empty: str = "value",
    sensitive: Collection[str] = (),
) -> dict[tuple[int, int, str], Fraction]:
    """How probable each item of each bucket and public column is.

    >>> item_shares(["ac", "abc", "c"], ["ab", "c"], [0, 0, 0])[0, 0, "a"]
    Fraction(2, 3)
    """
    shares = {}
    for (bucket, column), held in anatomy_groups(rows, columns, buckets, empty, sensitive).items():
        for item in frozenset().union(*held):
            # each value with it has its own probability, and people have one value
            shares[bucket, column, item] = sum((sure for value, sure in held.items() if item in value), Fraction(0))
    return shares


def limited_items(
    rows: Sequence[Collection[str]],
    columns: Columns,
    l: Fraction | int,  # noqa: E741 - the paper's letter
) -> set[str]:
    """The items that at most a share 1 / l of the rows with any item of their column have.

    >>> sorted(limited_items(["ac", "b", "abc", "c"], ["ab", "c"], 2))
    []
    """
    limited = set()
    for column in columns:
        held = [value for row in rows if (value := values_of(row, [column])[0])]
        counts = Counter(item for value in held for item in value)
        limited |= {item for item, count in counts.items() if count * Fraction(l) <= len(held)}
    return limited


def _buckets(rows: Sequence[Collection[str]], buckets: Sequence[int]) -> dict[int, list[Collection[str]]]:
    members: dict[int, list[Collection[str]]] = {}
    for row, bucket in zip(rows, buckets, strict=True):
        members.setdefault(bucket, []).append(row)
    return members


def anatomy_breaches(
    rows: Sequence[Collection[str]],
    columns: Columns,
    buckets: Sequence[int],
    l: Fraction | int,  # noqa: E741
    empty: str = "value",
    sensitive: Collection[str] = (),
    *,
    items: bool = False,
) -> dict[tuple[int, int], Fraction]:
    """The (bucket, column) pairs, from 0, where something is too probable, and how probable it is.

    That is a value or, if *items* are limited, one of those; or that somebody has any sensitive item, which is told
    once for each bucket, of its first sensitive column that has one. What has a single column is published whole: each
    row is a bucket of its own, and nobody says what is sensitive.

    >>> anatomy_breaches(["a", "ab", "a"], ["a", "b"], [0, 0, 1], 2)
    {(0, 0): Fraction(1, 1), (1, 0): Fraction(1, 1), (1, 1): Fraction(1, 1)}
    """
    if len(columns) < 2:
        buckets, sensitive, items = range(len(rows)), (), False
    groups = anatomy_groups(rows, columns, buckets, empty, sensitive)
    found = {pair: max(held.values()) for pair, held in groups.items()}
    if items:
        limited = limited_items(rows, columns, l)
        for (bucket, column, item), sure in item_shares(rows, columns, buckets, empty, sensitive).items():
            if item in limited:
                found[bucket, column] = max(found[bucket, column], sure)
    if len(columns) > 1:
        found |= {
            (bucket, _first_sensitive(_buckets(rows, buckets)[bucket], columns, sensitive)): sure
            for bucket, sure in sensitive_shares(rows, columns, buckets, sensitive).items()
        }
    return {pair: sure for pair, sure in found.items() if sure > 1 / Fraction(l)}


def _first_sensitive(members: Sequence[Collection[str]], columns: Columns, sensitive: Collection[str]) -> int:
    return next(
        number
        for number, column in enumerate(columns)
        if set(column) <= set(sensitive) and any(set(row).intersection(column) for row in members)
    )


def is_l_diverse(
    rows: Sequence[Collection[str]],
    columns: Columns,
    buckets: Sequence[int],
    l: Fraction | int,  # noqa: E741
    empty: str = "value",
    sensitive: Collection[str] = (),
    *,
    items: bool = False,
) -> bool:
    """Whether nothing is too probable, no row is empty, and no column holds both sensitive and public items.

    >>> is_l_diverse(["a", "b"], ["ab"], [0, 0], 2), is_l_diverse(["ax", "by", "", ""], ["ab", "xy"], [0] * 4, 2)
    (False, False)
    """
    if anatomy_breaches(rows, columns, buckets, l, empty, sensitive, items=items):
        return False
    return len(columns) < 2 or (all(rows) and not mixed_columns(columns, sensitive))


def attacker_posterior(
    rows: Sequence[Collection[str]],
    columns: Columns,
    buckets: Sequence[int],
    known: Mapping[int, Collection[str]],
    column: int,
    value: Collection[str],
) -> Fraction | None:
    """The probability that somebody with the *known* values (by column) has *value* in *column*; None: nobody has them.

    A world gives each value of a bucket's column to one of its members, so that nobody is empty. All worlds are equally
    likely, and the target is anybody. The worlds of a bucket say nothing about other buckets, so they are gone through
    bucket by bucket: keep those small.

    >>> attacker_posterior(["ac", "bd", "b"], ["ab", "cd"], [0, 0, 1], {0: "b"}, 1, "d")
    Fraction(1, 4)
    """
    matching, guessed = Fraction(0), Fraction(0)
    wanted = [(number, frozenset(part)) for number, part in known.items()]
    for members in _buckets(rows, buckets).values():
        worlds = list(_worlds(members, columns))
        for world in worlds:
            has = [person[column] == frozenset(value) for person in world if all(person[n] == v for n, v in wanted)]
            matching += Fraction(len(has), len(worlds))
            guessed += Fraction(sum(has), len(worlds))
    return guessed / matching if matching else None


def multi_anatomy_figure_2(
    rows: Iterable[Hashable], is_diverse: Callable[[Sequence[Hashable]], bool]
) -> tuple[list[list[int]], list[int]]:
    """Lines 1 to 9 of Figure 2: the buckets, and the rows that are left when the last one cannot be closed.

    >>> multi_anatomy_figure_2("aabba", lambda rows: rows.count("a") == rows.count("b"))
    ([[0, 1, 2, 3]], [4])
    """
    closed: list[list[int]] = []
    held: list[Hashable] = []
    numbers: list[int] = []
    for number, row in enumerate(rows):
        held.append(row)
        numbers.append(number)
        if is_diverse(held):
            closed.append(numbers)
            held, numbers = [], []
    return closed, numbers
