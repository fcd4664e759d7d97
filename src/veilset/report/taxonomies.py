"""What to say about a taxonomy, as data and as a picture on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from veilset.report.text import number, shown
from veilset.transactions import Taxonomy


def taxonomy_sentence(taxonomy: Taxonomy) -> str:
    """How large it is.

    Examples
    --------
    >>> taxonomy_sentence(Taxonomy.from_paths({"milk": ["food"], "rye": ["food"], "soap": []}))
    '3 items below 1 group; up to 2 levels below the root.'
    """
    groups = len(taxonomy) - len(taxonomy.leaves) - 1
    levels = number(taxonomy.depth, "level")
    return f"{number(len(taxonomy.leaves), 'item')} below {number(groups, 'group')}; up to {levels} below the root."


def taxonomy_facts(taxonomy: Taxonomy, *, depth: int) -> dict[str, Any]:
    """Its size, and its nodes down to *depth* levels below the root, each with the number of items below it."""
    return {**_size(taxonomy), "tree": _node(taxonomy, taxonomy.root, _items_below(taxonomy), depth)}


def item_facts(taxonomy: Taxonomy, item: str) -> dict[str, Any]:
    """The groups of one item, the most specific first, each with the number of items below it."""
    leaf, items = taxonomy.leaf(item), _items_below(taxonomy)
    groups = [{"label": taxonomy.label(node), "items": items[node]} for node in taxonomy.ancestors(leaf)]
    return {**_size(taxonomy), "item": item, "groups": groups}


def print_taxonomy(taxonomy: Taxonomy, console: Console, *, depth: int) -> None:
    """A picture of the nodes down to *depth* levels below the root."""
    picture = _picture(_node(taxonomy, taxonomy.root, _items_below(taxonomy), depth))
    console.print(picture, taxonomy_sentence(taxonomy), sep="\n")


def print_item(taxonomy: Taxonomy, item: str, console: Console) -> None:
    """A picture of the way from the root to one item."""
    leaf, items = taxonomy.leaf(item), _items_below(taxonomy)
    way = [*taxonomy.ancestors(leaf)[::-1], leaf]
    facts: dict[str, Any] = {"label": item}
    for node in way[-2::-1]:
        facts = {"label": taxonomy.label(node), "items": items[node], "children": [facts]}
    console.print(_picture(facts))


def _size(taxonomy: Taxonomy) -> dict[str, Any]:
    return {"items": len(taxonomy.leaves), "nodes": len(taxonomy), "depth": taxonomy.depth}


def _items_below(taxonomy: Taxonomy) -> Sequence[int]:
    items = [1] * len(taxonomy.leaves) + [0] * (len(taxonomy) - len(taxonomy.leaves))
    for node, above in enumerate(taxonomy.parents[:-1].tolist()):  # a parent's number is larger: its sum is complete
        items[above] += items[node]
    return items


def _node(taxonomy: Taxonomy, node: int, items: Sequence[int], depth: int) -> dict[str, Any]:
    if node < len(taxonomy.leaves):
        return {"label": taxonomy.leaves[node]}
    facts: dict[str, Any] = {"label": taxonomy.label(node), "items": items[node]}
    if depth > 0:
        below = sorted(taxonomy.children(node), key=lambda child: (child < len(taxonomy.leaves), child))
        facts["children"] = [_node(taxonomy, child, items, depth - 1) for child in below]
    return facts


def _picture(facts: dict[str, Any]) -> Tree:
    tree = Tree(_line(facts), guide_style="dim")
    waiting = [(tree, child) for child in facts.get("children", ())][::-1]
    while waiting:
        above, child = waiting.pop()
        branch = above.add(_line(child))
        waiting.extend([(branch, inner) for inner in child.get("children", ())][::-1])
    return tree


def _line(facts: dict[str, Any]) -> Text:
    name = shown(facts["label"])
    return Text.assemble(name, (f"  {number(facts['items'], 'item')}", "dim")) if "items" in facts else Text(name)
