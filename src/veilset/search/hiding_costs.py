"""What hiding each branch of a profile would cost, for all branches at once.

Hiding an interest hides its words everywhere, with all that is below. What was exposed there then belongs to the
"others" of the parents. So the cost is the entropy of the leaves that go, less what the others of the parents gain;
only the nodes that go are looked at. `Desk.cost_of_hiding` says the same of one branch, by exposing the profile twice.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from fractions import Fraction
from typing import NamedTuple

from veilset.search.exposure import Exposure
from veilset.search.node import Node


class Cost(NamedTuple):
    """What hiding a branch costs: of the exposed share of the profile, which is blind to names, and in words."""

    ratio: float
    words: int


def costs_of_hiding(root: Node, exposure: Exposure, places: Collection[int] | None = None) -> dict[int, Cost]:
    """The cost for each exposed node, by its place in `root.walk()`; only for those at *places*, if they are given."""
    return _Costs(root, exposure).all(places)


class _Costs:
    def __init__(self, root: Node, exposure: Exposure) -> None:
        exposed = {id(node) for node in exposure.nodes}
        self._below: dict[int, list[int]] = {0: []}
        self._above: dict[int, int] = {}
        self._nodes: dict[int, Node] = {0: root}
        place = {id(root): 0}
        for at, node in enumerate(root.walk()):
            place[id(node)] = at
            if id(node) in exposed:
                self._nodes[at], self._below[at] = node, []
        for at, node in list(self._nodes.items()):
            for child in node.children:
                if id(child) in exposed:
                    self._below[at].append(place[id(child)])
                    self._above[place[id(child)]] = at
        self._holders: dict[str, list[int]] = defaultdict(list)
        for at, node in self._nodes.items():
            for stem in node.stems:
                self._holders[stem].append(at)
        self._words = Counter(word for node in self._nodes.values() for word in node.label)
        self._rest = {at: self._rest_of(at) for at in self._nodes}
        self._whole = exposure.entropy / exposure.ratio if exposure.ratio else 0.0

    def all(self, places: Collection[int] | None) -> dict[int, Cost]:
        return {at: self._cost(node) for at, node in self._nodes.items() if at and (places is None or at in places)}

    def _cost(self, node: Node) -> Cost:
        named = {at for stem in node.stems for at in self._holders[stem]}
        tops = [at for at in named if not any(above in named for above in self._line(at))]
        going = [below for top in tops for below in self._branch(top)]
        words = Counter(word for at in going for word in self._nodes[at].label)
        lost = sum(_information(self._rest[at]) for at in going)
        back: dict[int, Fraction] = defaultdict(Fraction)
        for top in tops:
            back[self._above[top]] += self._nodes[top].probability
        for parent, more in back.items():
            lost += _information(self._rest[parent]) - _information(self._rest[parent] + more)
        ratio = lost / self._whole if self._whole else 0.0
        return Cost(max(0.0, ratio), sum(count == self._words[word] for word, count in words.items()))

    def _rest_of(self, at: int) -> Fraction:
        """The part of a node that is in no exposed child."""
        own = self._nodes[at].probability if at else Fraction(1)
        return own - sum((self._nodes[child].probability for child in self._below[at]), Fraction(0))

    def _line(self, at: int) -> Iterator[int]:
        while at in self._above:
            at = self._above[at]
            yield at

    def _branch(self, top: int) -> Iterator[int]:
        waiting = [top]
        while waiting:
            at = waiting.pop()
            yield at
            waiting.extend(self._below[at])


def _information(share: Fraction) -> float:
    return -float(share) * math.log10(share) if share > 0 else 0.0
