"""Trees over items in files of four forms, read to the same thing: each item's groups, the most general last.

``paths``: a table, an item and its groups on each line. ``edges``: a table, a node and the node above it. ``lines``: an
item, its groups and ``*``, separated by semicolons, without a header. ``json``: nested objects (`json_trees`). The name
of a file says which it is, and of two tables the header; nothing is guessed from the rest.

In all forms but ``edges`` a node is its path from the root. In ``edges`` it is its name, so no two nodes may share one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args

from veilset.errors import InvalidArgument, UnreadableInput, said, unknown
from veilset.io.atomic import write_whole
from veilset.io.companions import (
    Table,
    at_line,
    check_once,
    check_rows,
    in_header,
    line_named,
    read_table,
    table_of_frame,
    without_rows,
    write_table,
)
from veilset.io.files import read_text_bytes
from veilset.io.json_trees import json_of_paths, paths_of_json
from veilset.io.layout import unpacked_name

TreeKind = Literal["paths", "edges", "lines", "json"]
TREE_KINDS: tuple[str, ...] = get_args(TreeKind)
ROOT = "ALL"

_EDGES = ("child", "parent")
_STAR = "*"


def read_tree(
    path: str | Path, *, kind: str | None = None, columns: Sequence[str] | None = None, encoding: str = "utf-8"
) -> dict[str, tuple[str, ...]]:
    """For each item its groups, the most general last.

    The form is *kind*, or what the name of the file says: ``.json``; ``.txt``: lines; ``.csv`` or ``.tsv``: edges if
    the header is ``child,parent``, else paths. All may be compressed. Of a table, *columns* are taken: the item's and
    its groups', or the child's and the parent's.
    """
    chosen = _kind_of(path, kind)
    if columns is not None and chosen in ("lines", "json"):
        raise InvalidArgument(
            f"{said('columns')} is {columns!r}, but {str(path)!r} has none: its kind is {chosen}.",
            f"Leave {said('columns')} out, or use {said('kind', 'paths')} or {said('kind', 'edges')}.",
        )
    if chosen == "json":
        return paths_of_json(path, read_text_bytes(path, encoding).decode())
    if chosen == "lines":
        rows = _rows_of_lines(path, read_text_bytes(path, encoding).decode())
    else:
        table = read_table(path, encoding=encoding)
        is_edges = chosen == "edges" or (kind is None and table.columns == _EDGES)
        _check_columns(columns)
        return _paths_of_table(table if columns is None else table.only(columns), is_edges=is_edges)
    _check_places(path, rows)
    return {row.item: row.groups for row in rows}


def tree_of_frame(
    frame: Any, *, kind: str | None = None, columns: Sequence[str] | None = None
) -> dict[str, tuple[str, ...]]:
    """For each item its groups, as a table in a file would say; the *kind* is ``paths`` or ``edges``."""
    if kind not in (None, "paths", "edges"):
        raise unknown("kind of frame", kind, ("paths", "edges"))
    _check_columns(columns)
    table = table_of_frame(frame, columns)
    return _paths_of_table(table, is_edges=kind == "edges" or (kind is None and table.columns == _EDGES))


def _paths_of_table(table: Table, *, is_edges: bool) -> dict[str, tuple[str, ...]]:
    if is_edges:
        return _paths_of_edges(table)
    rows = _rows_of_paths(table)
    _check_places(table.path, rows)
    return {row.item: row.groups for row in rows}


def check_tree_name(path: str | Path, kind: str | None = None) -> None:
    """Raise if it is not clear in which form to write a tree to this file."""
    _kind_of(path, kind)


def write_tree(path: str | Path, paths: Mapping[str, Sequence[str]], *, kind: str | None = None) -> None:
    """Write what `read_tree` reads back exactly; ``.csv`` and ``.tsv`` hold paths unless *kind* says edges."""
    chosen = _kind_of(path, kind)
    if not paths:
        raise InvalidArgument("A tree without items cannot be written.", "Give it at least one item.")
    if chosen == "json":
        write_whole(Path(path), json_of_paths(paths).encode())
    elif chosen == "lines":
        _check_names_for_lines(paths)
        lines = (";".join((item, *groups, _STAR)) + "\n" for item, groups in paths.items())
        write_whole(Path(path), "".join(lines).encode())
    elif chosen == "edges":
        write_table(path, _EDGES, list(_edges_of(paths).items()))
    else:
        levels = max(map(len, paths.values())) or 1
        header = ["item", *(f"level{level}" for level in range(levels, 0, -1))]
        rows = ([item, *groups, *[""] * (levels - len(groups))] for item, groups in paths.items())
        write_table(path, header, rows)


def _kind_of(path: str | Path, kind: str | None) -> str:
    """The kind that is given or that the name says; of tables, "paths", since only the header tells more."""
    if kind is not None:
        if kind not in TREE_KINDS:
            raise unknown("kind of tree", kind, TREE_KINDS)
        return kind
    by_suffix = {".json": "json", ".txt": "lines", ".csv": "paths", ".tsv": "paths"}
    if (suffix := Path(unpacked_name(path)).suffix.lower()) not in by_suffix:
        raise InvalidArgument(
            f"The name {Path(path).name!r} does not indicate the form of the tree.",
            "Use the suffix .csv, .tsv (tables), .txt (a;b;*) or .json, or set the kind: paths, edges, lines or json.",
        )
    return by_suffix[suffix]


def _check_columns(columns: Sequence[str] | None) -> None:
    if columns is not None and (isinstance(columns, str) or len(columns) < 2 or len(set(columns)) != len(columns)):
        raise InvalidArgument(f"{said('columns')} is {columns!r}.", "Give two or more different names, the item first.")


@dataclass(frozen=True)
class _Row:
    """An item, its groups, and the line that says so."""

    line: int
    item: str
    groups: tuple[str, ...]


def _rows_of_paths(table: Table) -> list[_Row]:
    check_rows(table, ragged=True)
    return [_Row(line, item, tuple(filter(None, groups))) for line, (item, *groups) in table.numbered()]


def _rows_of_lines(path: str | Path, text: str) -> list[_Row]:
    rows: list[_Row] = []
    line_of: dict[str, int] = {}
    for line, written in enumerate(re.split("\r\n|\n|\r", text), start=1):
        if not written.strip(" \t"):
            continue
        *cells, last = (cell.strip(" \t") for cell in written.split(";"))
        if last != _STAR:
            advice = "Write an item, its groups and *, separated by semicolons; or set the kind for another form."
            raise at_line(path, line, f"it ends in {last!r}, not in {_STAR!r}, the root", advice)
        if not cells:
            raise at_line(path, line, f"there is no item before the {_STAR!r}", "Write an item first.")
        if "" in cells:
            what = f"cell {cells.index('') + 1} is empty"
            raise at_line(path, line, what, "Fill it in, or remove its semicolon.")
        if _STAR in cells:
            what = f"cell {cells.index(_STAR) + 1} is {_STAR!r}, the root, which must come last"
            raise at_line(path, line, what, "Remove it, or rename the group.")
        item, *groups = cells
        check_once(path, line, item, line_of)
        rows.append(_Row(line, item, tuple(groups)))
    if not rows:
        raise UnreadableInput(f"{str(path)!r} has only empty lines.", "Write one line per item, such as milk;dairy;*.")
    return rows


def _check_places(path: str | Path | None, rows: Sequence[_Row]) -> None:
    """No place of the tree is that of an item and that of a group. A place is the one above it and a name."""
    number: dict[tuple[int, str], int] = {}
    line_of: list[int] = []
    above: list[int] = []
    for row in rows:
        at = -1
        for group in reversed(row.groups):
            at = number.setdefault((at, group), len(line_of))
            if at == len(line_of):
                line_of.append(row.line)
        above.append(at)
    for row, at in zip(rows, above, strict=True):
        if (group_there := number.get((at, row.item))) is not None:
            what = (
                f"an item here and, at the same place in the tree, a group on {line_named(path, line_of[group_there])}"
            )
            raise at_line(path, row.line, f"{row.item!r} is {what}", "Give one of them another name.")


def _paths_of_edges(table: Table) -> dict[str, tuple[str, ...]]:
    """The groups of each node that is nobody's parent; a node without a parent stands right below the root."""
    path = table.path
    if len(table.columns) != 2:
        what = f"a table of edges needs 2 columns, not {len(table.columns)}: {', '.join(map(repr, table.columns))}"
        advice = f"Name the child and the parent with {said('columns')}, or use {said('kind', 'paths')}."
        raise in_header(path, what, advice)
    if not table.rows:
        raise without_rows(path, "node")
    parent_of: dict[str, str] = {}
    line_of: dict[str, int] = {}
    for line, (child, parent) in table.numbered():
        if not child:
            advice = "Fill it in. Only the parent may be empty, for a node directly below the root."
            raise at_line(path, line, f"the column {table.columns[0]!r} is empty", advice)
        if child in parent_of:
            before = f"below {parent_of[child] or ROOT!r} on {line_named(path, line_of[child])}"
            advice = "List every node once. If two nodes share a name, use paths instead of edges."
            raise at_line(path, line, f"{child!r} is below {parent or ROOT!r} here and {before}", advice)
        parent_of[child] = parent
        line_of[child] = line
    if not parent_of.get(ROOT, ROOT):
        del parent_of[ROOT]  # the root itself, written down as a node without a parent
    _check_circles(path, parent_of, line_of)
    groups = set(parent_of.values())
    paths = {node: _groups_above(node, parent_of) for node in parent_of if node not in groups}
    if not paths:
        what = "The frame" if path is None else repr(path)
        raise UnreadableInput(f"{what} contains no item below {ROOT!r}.", "Write one line per node.")
    return paths


def _check_circles(path: str | None, parent_of: Mapping[str, str], line_of: Mapping[str, int]) -> None:
    """Every way up comes to an end. What was walked once is not walked again."""
    walked: set[str] = set()
    for start in parent_of:
        way: dict[str, None] = {}
        node = start
        while node in parent_of and node not in walked and node not in way:
            way[node] = None
            node = parent_of[node]
        if node in way:
            circle = [*list(way)[list(way).index(node) :], node]
            advice = "Remove the wrong line: a node cannot be above itself."
            raise at_line(path, line_of[node], f"{' → '.join(map(repr, circle))} is a cycle", advice)
        walked.update(way)


def _groups_above(node: str, parent_of: Mapping[str, str]) -> tuple[str, ...]:
    groups: list[str] = []
    while parent := parent_of.get(node):
        groups.append(parent)
        node = parent
    # Whoever writes the root down means the root, unless it is said to be below something.
    return tuple(groups[:-1] if groups and groups[-1] == ROOT else groups)


def _edges_of(paths: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Each node's parent; refused if two nodes have one name, which could not be told apart."""
    parent_of = {ROOT: ""}
    for item, groups in paths.items():
        for name, parent in pairwise((item, *groups, ROOT)):
            # Nodes with one name below parents with one name are caught when it comes to the parents.
            if parent_of.setdefault(name, parent) != parent:
                raise InvalidArgument(
                    f"Two nodes are named {name!r}; a table of edges cannot distinguish them.",
                    "Use another kind: paths, lines or json.",
                )
    del parent_of[ROOT]
    return parent_of


def _check_names_for_lines(paths: Mapping[str, Sequence[str]]) -> None:
    for name in (name for item, groups in paths.items() for name in (item, *groups)):
        # Nothing is quoted in this form, and a byte-order mark in front would be taken for the file's.
        if name == _STAR or name != name.strip(" \t\ufeff") or re.search("[;\r\n]", name):
            raise InvalidArgument(
                f"The name {name!r} cannot be written between semicolons.",
                "Rename it, or use another kind: paths, edges or json.",
            )
