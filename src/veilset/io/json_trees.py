"""Trees in JSON, in the two ways that people write them.

As nested objects, ``{"food": {"dairy": ["milk", "brie"]}, "soap": null}``: the keys of an object and the texts of a
list are what stands below; null, an empty object or an empty list make an item. Or as ``{"name": "ALL", "children":
["soap", {"name": "food", "children": [...]}]}``, where the outermost object is the root, whatever its name. If the
"name" of the outermost object is text, it is the second way; in the first no value is text, so they are not confused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from veilset.errors import InvalidArgument, UnreadableInput

_DEEPEST = 200  # levels; Python reads no JSON that is nested much deeper than twice that


class _Object(tuple[tuple[str, Any], ...]):
    """The pairs of an object: a dict would lose those whose key comes twice."""

    __slots__ = ()


def paths_of_json(path: str | Path, text: str) -> dict[str, tuple[str, ...]]:
    """For each item of the tree in *text* its groups, the most general last; errors name the *path* of the file."""
    tree = _parsed(path, text)
    below = _children if isinstance(dict(tree).get("name"), str) else _members
    place_of: dict[str, str] = {}
    paths: dict[str, tuple[str, ...]] = {}
    # From the root down without recursion; each entry is a value and the names on the way to it, the root's first.
    waiting: list[tuple[Any, tuple[str, ...]]] = [(tree, ())]
    while waiting:
        value, way = waiting.pop()
        if len(way) > _DEEPEST:
            raise _too_deep(path)
        where = f"{str(path)!r}, at {_place(way)}"
        found: dict[str, Any] = {}
        for name, inner in below(value, where):
            _check_name(name, where)
            if name in found:
                raise UnreadableInput(f"{where}: {name!r} is there twice.", "Use each group name once.")
            found[name] = inner
        if way and not found:
            item = way[-1]
            if item in paths:
                raise UnreadableInput(
                    f"{where}: the item {item!r} is already at {place_of[item]}.",
                    "Put every item into exactly one place.",
                )
            place_of[item] = _place(way)
            paths[item] = way[-2::-1]
        waiting.extend((inner, (*way, name)) for name, inner in reversed(found.items()))
    if not paths:
        raise UnreadableInput(f"{str(path)!r} contains no item.", 'Write {"group": ["item", "item"]}, for example.')
    return paths


def _parsed(path: str | Path, text: str) -> _Object:
    try:
        tree = json.loads(text, object_pairs_hook=_Object, parse_int=str)  # ids may be written as numbers
    except json.JSONDecodeError as error:
        raise UnreadableInput(
            f"{str(path)!r}, line {error.lineno}: {error.msg} (column {error.colno}).",
            "Check the brackets, commas and quotes there.",
        ) from None
    except RecursionError:
        raise _too_deep(path) from None
    if not isinstance(tree, _Object):
        raise UnreadableInput(
            f"{str(path)!r} holds {_shown(tree)}, not an object.", 'Write {"group": ["item", "item"]}, for example.'
        )
    return tree


def _members(value: Any, where: str) -> Iterator[tuple[Any, Any]]:
    """What stands below, in nested objects."""
    if isinstance(value, _Object):
        yield from value
    elif isinstance(value, list):
        yield from ((name, None) for name in value)
    elif value is not None:
        raise UnreadableInput(
            f"{where}: {_shown(value)} is in the place of a group's contents.",
            "Write an object, a list of names, or null for an item.",
        )


def _children(value: Any, where: str) -> Iterator[tuple[Any, Any]]:
    """What stands below, in objects with a name and children."""
    if value is None:  # what a text among the children became
        return
    content = dict(value)
    if len(content) < len(value) or not content.keys() <= {"name", "children"}:
        keys = ", ".join(repr(key) for key, _ in value)
        raise UnreadableInput(
            f"{where}: the keys are {keys}.", 'Give "name" and "children", once each, and no other keys.'
        )
    children = content.get("children")
    if children is not None and not isinstance(children, list):
        raise UnreadableInput(f"{where}: the children are {_shown(children)}.", "Give a list of names and objects.")
    for child in children or ():
        if not isinstance(child, (str, _Object)):
            raise UnreadableInput(f"{where}: one of the children is {_shown(child)}.", "Give a name or an object.")
        yield (child, None) if isinstance(child, str) else (dict(child).get("name"), child)


def _check_name(name: Any, where: str) -> None:
    if not isinstance(name, str) or not name:
        raise UnreadableInput(f"{where}: {_shown(name)} is not a name.", "Give text that is not empty.")
    if "\0" in name or any("\ud800" <= letter <= "\udfff" for letter in name):
        raise UnreadableInput(f"{where}: no file of items can contain the name {name!r}.", "Give it another name.")


def _place(way: Sequence[str]) -> str:
    return " > ".join(map(repr, way)) if way else "the root"


def _shown(value: Any) -> str:
    if isinstance(value, _Object):
        return "an object"
    return "a list" if isinstance(value, list) else json.dumps(value, ensure_ascii=False)


def _too_deep(path: str | Path) -> UnreadableInput:
    return UnreadableInput(
        f"{str(path)!r} is nested more than {_DEEPEST} levels deep.",
        "Leave out groups with one member, or use a table of paths.",
    )


def json_of_paths(paths: Mapping[str, Sequence[str]]) -> str:
    """The tree as nested objects."""
    if (deepest := max(map(len, paths.values()))) >= _DEEPEST:
        raise InvalidArgument(
            f"The tree is {deepest + 1} levels deep; JSON output allows at most {_DEEPEST}.",
            "Use another kind: paths, edges or lines.",
        )
    tree: dict[str, Any] = {}
    for item, groups in paths.items():
        at = tree
        for group in reversed(groups):
            at = at.setdefault(group, {})
        at[item] = None
    short = {name: _short(below) for name, below in tree.items()}  # an object, even if only items stand in it
    return json.dumps(short, ensure_ascii=False, indent=2) + "\n"


def _short(below: dict[str, Any] | None) -> Any:
    """Nested objects with a list wherever only items stand."""
    if below is None:
        return None
    if all(inner is None for inner in below.values()):
        return list(below)
    return {name: _short(inner) for name, inner in below.items()}
