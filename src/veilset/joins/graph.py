"""The graph of a join: tables that share key columns, connected into a tree (thesis §3.1.1).

Predicates say which columns are equal. Columns that are equal, directly or through others, form one class. Two tables
are neighbours on all classes that they share: several predicates between them are one composite key, and a predicate
that follows from others changes nothing. A join is acyclic if and only if a spanning tree of the tables that shares as
many classes as possible keeps the tables of each class together (Bernstein and Goodman 1981; Maier 1983). All other
joins are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, NoReturn

from veilset.errors import InvalidArgument, said, unknown

Place = tuple[str, str]
"""A table and one of its columns."""

_Class = dict[str, tuple[str, ...]]
"""Equal columns, by table."""

_OTHER_OPERATORS = re.compile(r"<=|>=|<>|!=|[<>≤≥≠]")
_EXAMPLE = said("joins", [["orders.customer", "customers.id"]])


@dataclass(frozen=True)
class Edge:
    """Two neighbouring tables and their composite key: for each shared class, its columns in either table.

    A table can have several columns of one class. Its rows in which they differ match nothing.

    >>> print(Edge("T1", "T2", (("J1",), ("J2",)), (("A",), ("B", "C"))))
    T1.J1 = T2.A and T1.J2 = T2.B = T2.C
    """

    left: str
    right: str
    left_columns: tuple[tuple[str, ...], ...]
    right_columns: tuple[tuple[str, ...], ...]

    def __str__(self) -> str:
        pairs = zip(self.left_columns, self.right_columns, strict=True)
        return " and ".join(_equality({self.left: left, self.right: right}) for left, right in pairs)


@dataclass(frozen=True)
class JoinGraph:
    """Tables and the edges of the tree that connects them.

    >>> columns = {"T1": ["J1", "J2", "Class"], "T2": ["J1", "Age"], "T3": ["J2"]}
    >>> graph = JoinGraph.of(columns, [("T1.J1", "T2.J1"), "T3.J2 = T1.J2"])
    >>> print(*graph.edges, sep="; ")
    T1.J1 = T2.J1; T1.J2 = T3.J2
    >>> graph.visits("T2")
    [('T2', 'T1', 0), ('T1', 'T3', 1)]
    """

    tables: tuple[str, ...]
    edges: tuple[Edge, ...]

    @classmethod
    def of(cls, columns: Mapping[str, Sequence[str]], joins: Sequence[tuple[str, str] | str]) -> JoinGraph:
        """The graph of these tables, given by name with their columns, under these predicates.

        Parameters
        ----------
        columns : mapping
            The columns of each table.
        joins : sequence
            Equalities: pairs like ``("T1.J1", "T2.J1")``, or text like ``"T1.J1 = T2.J1"``.
        """
        if not columns:
            raise InvalidArgument("There are no tables.", f"Give one at least, by name: {said('tables')}.")
        pairs = [_predicate(given, columns) for given in equalities_of(joins)]
        classes = _classes(pairs, columns)
        listed = {frozenset((left[0], right[0])): number for number, (left, right) in reversed([*enumerate(pairs)])}
        return cls(tuple(columns), _tree(tuple(columns), classes, listed))

    @cached_property
    def _neighbours(self) -> dict[str, list[tuple[int, str]]]:
        found: dict[str, list[tuple[int, str]]] = {table: [] for table in self.tables}
        for number, edge in enumerate(self.edges):
            found[edge.left].append((number, edge.right))
            found[edge.right].append((number, edge.left))
        return found

    def neighbours(self, table: str) -> list[tuple[int, str]]:
        """(number of the edge, other table) for each edge of *table*, in the order of edges."""
        return list(self._neighbours[table])

    def visits(self, start: str) -> list[tuple[str, str, int]]:
        """The edges as a depth-first walk from *start* meets them: (nearer table, farther table, edge number)."""
        found: list[tuple[str, str, int]] = []
        ahead = [(start, other, number) for number, other in reversed(self._neighbours[start])]
        while ahead:
            nearer, table, taken = ahead.pop()
            found.append((nearer, table, taken))
            ahead += [(table, other, number) for number, other in reversed(self._neighbours[table]) if number != taken]
        return found

    def equalities(self) -> list[tuple[str, str]]:
        """The equalities that connect neighbouring tables, as pairs like ``("T1.J1", "T2.J1")``."""
        return [
            (_shown((edge.left, left)), _shown((edge.right, right)))
            for edge in self.edges
            for lefts, rights in zip(edge.left_columns, edge.right_columns, strict=True)
            for left in lefts
            for right in rights
        ]

    def join_columns(self, table: str) -> set[str]:
        """The columns of *table* that some edge compares."""
        sides = [edge.left_columns for edge in self.edges if edge.left == table]
        sides += [edge.right_columns for edge in self.edges if edge.right == table]
        return {column for side in sides for part in side for column in part}


def resolved(reference: str, columns: Mapping[str, Sequence[str]]) -> Place:
    """The table and column that a text like ``"T1.J1"`` names. Both names may contain dots and blanks.

    >>> resolved("sales.2024.net price", {"sales.2024": ["net price"], "sales": ["id"]})
    ('sales.2024', 'net price')
    """
    if not isinstance(reference, str):
        raise InvalidArgument(f"{reference!r} is not a column.", "Write a column as text: TABLE.COLUMN.")
    found = _places(reference, columns)
    if len(found) == 1:
        return found[0]
    if found:
        meanings = " or ".join(f"the column {column!r} of {table!r}" for table, column in found)
        raise InvalidArgument(f"{reference!r} can mean {meanings}.", "Rename one of the tables.")
    tables = [table for table in columns if reference.startswith(f"{table}.")]
    if not tables:
        raise unknown("table", reference.partition(".")[0], columns, "Write a column as TABLE.COLUMN.")
    table = max(tables, key=len)
    raise unknown("column", reference.removeprefix(f"{table}."), columns[table]).within(f"Table {table!r}: ")


def _places(reference: str, columns: Mapping[str, Sequence[str]]) -> list[Place]:
    cuts = [match.start() for match in re.finditer(r"\.", reference)]
    places = [(reference[:cut], reference[cut + 1 :]) for cut in cuts]
    return [(table, column) for table, column in places if table in columns and column in columns[table]]


def equalities_of(joins: Any) -> list[Any]:
    """The predicates that a user gives, as a list."""
    if isinstance(joins, str) or not isinstance(joins, Iterable):
        raise InvalidArgument(f"{said('joins')} is {joins!r}, not a list of equalities.", f"For example: {_EXAMPLE}.")
    return list(joins)


def named_sides(joins: Iterable[Any], tables: Iterable[str]) -> list[str]:
    """What stands on either side of predicates about these tables, before their columns are known.

    >>> named_sides(["A.x = B.y", ("B.z", "C.z"), "A.m=n = B.n"], "ABC")
    ['A.x', 'B.y', 'B.z', 'C.z', 'A.m=n', 'B.n']
    """
    starts = tuple(f"{table}." for table in tables)
    pairs = [pair for join in joins for pair in (_cuts(join) if isinstance(join, str) else [join])]
    named = [pair for pair in pairs if isinstance(pair, (list, tuple)) and all(isinstance(one, str) for one in pair)]
    return [side for pair in named if all(side.startswith(starts) for side in pair) for side in pair]


def _cuts(text: str) -> list[tuple[str, str]]:
    """What stands before and after each equals sign: names can contain one too."""
    return [(text[: sign.start()].strip(), text[sign.end() :].strip()) for sign in re.finditer("==?", text)]


def _predicate(given: Any, columns: Mapping[str, Sequence[str]]) -> tuple[Place, Place]:
    """The two places that a predicate calls equal."""
    if isinstance(given, str):
        left, right = _equal_sides(given, columns)
    elif isinstance(given, (list, tuple)) and len(given) == 2 and all(isinstance(side, str) for side in given):
        left, right = (resolved(side, columns) for side in given)
    elif isinstance(given, (list, tuple)) and any(_OTHER_OPERATORS.fullmatch(str(side)) for side in given):
        _no_equality(" ".join(map(str, given)))
    else:
        raise InvalidArgument(f"The join {given!r} is not a pair of columns.", f"For example: {_EXAMPLE}.")
    if left[0] == right[0]:
        raise InvalidArgument(
            f"The join {_shown(left)} = {_shown(right)} joins the table {left[0]!r} to itself.",
            f"Give the same data under two names, such as {left[0]!r} and {left[0] + '_2'!r}, and join these.",
        )
    return left, right


def _equal_sides(text: str, columns: Mapping[str, Sequence[str]]) -> tuple[Place, Place]:
    """The places on either side of the equals sign. Each is tried."""
    cuts = _cuts(text)
    found = [pair for pair in cuts if all(_places(side, columns) for side in pair)]
    if len(found) > 1:
        raise InvalidArgument(f"The join {text!r} can be read in {len(found)} ways.", f"Write a pair: {_EXAMPLE}.")
    if not found and _OTHER_OPERATORS.search(text):
        _no_equality(text)
    if not cuts:
        raise InvalidArgument(f"The join {text!r} has no equals sign.", f"For example: {said('joins', ['A.x = B.y'])}.")
    left, right = (found or cuts)[0]
    return resolved(left, columns), resolved(right, columns)


def _no_equality(text: str) -> NoReturn:
    raise InvalidArgument(
        f"The join {text!r} is no equality.",
        "Only equal columns can join tables. Leave it out, or apply it in a query that makes one table of both.",
    )


def _shown(place: Place) -> str:
    return ".".join(place)


def _equality(columns: Mapping[str, Sequence[str]]) -> str:
    """The columns of one class as an equality."""
    return " = ".join(_shown((table, column)) for table, names in columns.items() for column in names)


def _classes(pairs: Iterable[tuple[Place, Place]], columns: Mapping[str, Sequence[str]]) -> list[_Class]:
    """Columns that are equal, directly or through others: first mentioned, first listed."""
    holding: dict[Place, list[Place]] = {}
    for left, right in pairs:
        one, other = holding.setdefault(left, [left]), holding.setdefault(right, [right])
        if one is not other:
            one += other
            holding.update((place, one) for place in other)
    classes: list[_Class] = []
    for places in {id(places): set(places) for places in holding.values()}.values():
        equal = {table: tuple(name for name in columns[table] if (table, name) in places) for table in columns}
        classes.append({table: names for table, names in equal.items() if names})
    return classes


def _tree(tables: Sequence[str], classes: Sequence[_Class], listed: Mapping[frozenset[str], int]) -> tuple[Edge, ...]:
    """The edges of a spanning tree with as many shared classes as possible; of equals, the pair listed first.

    Kruskal's algorithm. The edges come in the order in which their pairs were listed.
    """
    pairs = list(combinations(tables, 2))
    order = {pair: (listed.get(frozenset(pair), len(listed) + len(tables)), place) for place, pair in enumerate(pairs)}
    shared = {(a, b): [same for same in classes if a in same and b in same] for a, b in pairs}
    groups = {table: [table] for table in tables}
    chosen: list[Place] = []
    for a, b in sorted((pair for pair in pairs if shared[pair]), key=lambda pair: (-len(shared[pair]), order[pair])):
        if groups[a] is not groups[b]:
            chosen.append((a, b))
            groups[a] += groups[b]
            groups.update(dict.fromkeys(groups[b], groups[a]))
    _check_connected(tables, groups)
    _check_acyclic(classes, chosen, listed)
    edges = []
    for a, b in sorted(chosen, key=lambda pair: order[pair]):
        edges.append(Edge(a, b, tuple(same[a] for same in shared[a, b]), tuple(same[b] for same in shared[a, b])))
    return tuple(edges)


def _check_connected(tables: Sequence[str], groups: Mapping[str, list[str]]) -> None:
    apart = list({id(groups[table]): groups[table] for table in tables}.values())
    if len(apart) > 1:
        shown = "; ".join(", ".join(map(repr, sorted(group, key=tables.index))) for group in apart)
        raise InvalidArgument(
            f"No join connects these groups of tables: {shown}.",
            f"Add an equality between them to {said('joins')}, or leave out the tables that are not needed.",
        )


def _check_acyclic(classes: Iterable[_Class], chosen: Sequence[Place], listed: Mapping[frozenset[str], int]) -> None:
    """Raise if the tables of some class are not connected by edges between tables of this class."""
    broken = [(same, path) for same in classes for path in _detours(same, chosen)]
    if broken:
        same, path = min(broken, key=lambda one: (len(one[1]), frozenset((one[1][0], one[1][-1])) not in listed))
        closing = _equality({table: same[table][:1] for table in (path[-1], path[0])})
        raise InvalidArgument(
            f"The joins form a cycle: {' – '.join([*path, path[0]])}, closed by {closing}.",
            "Leave out one of its equalities, or make one table of two of its tables by a query.",
        )


def _detours(same: _Class, chosen: Sequence[Place]) -> Iterator[list[str]]:
    """Ways in the tree between two tables of a class that lead through a table without it."""
    ways: dict[str, list[str]] = {}
    for a, b in chosen:
        ways.setdefault(a, []).append(b)
        ways.setdefault(b, []).append(a)
    for start in same:
        ahead = [[start]]
        while ahead:
            path = ahead.pop()
            if len(path) > 1 and path[-1] in same:
                if any(table not in same for table in path):
                    yield path
                continue  # from here on, it is the way of another start
            ahead += [[*path, table] for table in ways.get(path[-1], []) if table not in path[-2:-1]]
