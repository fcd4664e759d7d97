"""`Exposure`: the part of a profile that may leave the machine, and how much of it that is (thesis §5.2.2).

`min_detail` exposes the terms with at least that probability; `ratio` says how much of the profile's entropy is in what
is exposed. On real text probabilities are small, so people choose how much to expose, as a ratio or a number of terms,
and are shown the min_detail behind it: the largest one that exposes this much.

The ratio is blind to names: two settings with the same ratio can differ in a term. So terms are always listed. Nor is
rounding anonymity: a handful of terms tells people apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

from veilset.search.node import BETWEEN_WORDS, Node

_BITS = 100  # entropies are sums of whole multiples of 2^-100, so equal leaves sum to the same in any order
_SHOWN_DIGITS = 3  # ratios are compared as they are shown: 84.8% can be asked for

NOTHING = Fraction(1001, 1000)
"""A min_detail that exposes nothing, also if all documents support one interest."""


class Setting(NamedTuple):
    """A position of the dial: everything with at least this probability is exposed."""

    min_detail: Fraction
    ratio: float
    terms: int


@dataclass(frozen=True)
class Exposure:
    """What is exposed of a profile.

    Parameters
    ----------
    terms : dict
        What would be sent: each label with its weight, log10(|D| / support). A word of several interests is sent once,
        with the largest support.
    nodes : tuple of Node
        The exposed interests, the most probable first.
    min_detail : Fraction
        The least probability of an exposed interest.
    entropy, ratio : float
        The entropy of what is exposed (log10), and its share in that of the whole profile.
    hidden : tuple of str
        What was hidden by hand.
    absent : tuple of str
        Those names among them that the profile does not have, at least not now.
    languages : tuple of str
        The languages of the profile.
    """

    terms: dict[str, float]
    nodes: tuple[Node, ...]
    min_detail: Fraction
    entropy: float
    ratio: float
    dial: Dial = field(repr=False)
    hidden: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()

    @property
    def pairs(self) -> list[tuple[str, float]]:
        """The terms with their weights, by weight: the most general first."""
        return sorted(self.terms.items(), key=lambda pair: (pair[1], pair[0]))

    def settings(self) -> list[Setting]:
        """Every position of the dial: what could be exposed instead."""
        return self.dial.settings

    def rounded(self) -> dict[str, Decimal]:
        """The terms with their weights to one decimal, as they are sent."""
        tenth = Decimal("0.1")
        return {term: Decimal(weight).quantize(tenth, ROUND_HALF_EVEN) for term, weight in self.terms.items()}


@dataclass
class _Exposed:
    """What is exposed so far, as nodes are added from the most probable one down."""

    nodes: list[Node] = field(default_factory=list)
    entropy: int = 0
    terms: dict[str, float] = field(default_factory=dict)
    _rest: dict[int, Fraction] = field(default_factory=lambda: {0: Fraction(1)})  # not in exposed children
    _words: set[str] = field(default_factory=set)

    def add(self, at: int, above: int, node: Node) -> None:
        """Expose a node. The one above is exposed already: support never grows on the way down."""
        self._change(above, self._rest[above] - node.probability)
        self._change(at, node.probability)
        self.nodes.append(node)
        words = [word for word in node.label if word not in self._words]
        self._words.update(words)
        if words:
            self.terms[BETWEEN_WORDS.join(words)] = abs(math.log10(node.probability))

    def _change(self, at: int, rest: Fraction) -> None:
        self.entropy += _information(rest) - _information(self._rest.get(at, Fraction(0)))
        self._rest[at] = rest


@dataclass(frozen=True)
class Dial:
    """All that can be exposed of a profile: from nothing to everything that is not hidden.

    Parameters
    ----------
    root : Node
        The profile.
    hidden : set of str
        Terms that must not leave: a node with one of them is hidden, with all that is below it.
    only : set of str, optional
        The terms that may leave, if not all others may.
    """

    root: Node
    hidden: Collection[str] = ()
    only: Collection[str] | None = None

    @cached_property
    def settings(self) -> list[Setting]:
        """Every position, nothing first."""
        exposed = _Exposed()
        found = [Setting(NOTHING, 0.0, 0)]
        for probability, group in groupby(self._order, key=lambda place: place[2].probability):
            for place in group:
                exposed.add(*place)
            found.append(Setting(probability, self._ratio(exposed.entropy), len(exposed.terms)))
        return found

    def for_ratio(self, ratio: Fraction) -> Fraction:
        """The min_detail that exposes as much as this ratio allows; the largest that exposes this much."""
        return self._last(lambda setting: round(setting.ratio, _SHOWN_DIGITS), ratio)

    def for_terms(self, terms: int) -> Fraction:
        """The min_detail that exposes as many terms as this number allows; the largest that exposes as many."""
        return self._last(lambda setting: setting.terms, terms)

    def exposed(
        self,
        min_detail: Fraction,
        hidden: tuple[str, ...] = (),
        absent: tuple[str, ...] = (),
        languages: tuple[str, ...] = (),
    ) -> Exposure:
        """What is exposed at this min_detail; the names are told with it."""
        exposed = _Exposed()
        for place in self._order:
            if place[2].probability < min_detail:
                break
            exposed.add(*place)
        return Exposure(
            exposed.terms,
            tuple(exposed.nodes),
            min_detail,
            math.ldexp(exposed.entropy, -_BITS),
            self._ratio(exposed.entropy),
            self,
            hidden,
            absent,
            languages,
        )

    def _last(self, of: Callable[[Setting], float], most: Fraction | int) -> Fraction:
        value = max(of(setting) for setting in self.settings if of(setting) <= most)
        return next(setting.min_detail for setting in self.settings if of(setting) == value)

    def _ratio(self, entropy: int) -> float:
        return entropy / self._whole if self._whole else 0.0

    @cached_property
    def _whole(self) -> int:
        """The entropy of the whole profile, hidden or not: of its leaves, and of what no child has."""
        rests = (node.others if node.children else node.support for node in self.root.walk())
        return sum(_information(rest / self.root.support) for rest in rests) if self.root.support else 0

    @cached_property
    def _order(self) -> list[tuple[int, int, Node]]:
        """What may leave, the most probable first: place, place of the nearest node above, and node."""
        return sorted(self._visible(), key=lambda place: (-place[2].probability, place[0]))

    def _visible(self) -> Iterator[tuple[int, int, Node]]:
        waiting = [(0, child) for child in reversed(self.root.children)]
        place = 0
        while waiting:
            above, node = waiting.pop()
            if any(stem in self.hidden for stem in node.stems):
                continue
            if self.only is None or any(stem in self.only for stem in node.stems):
                place += 1
                yield place, above, node
                above = place
            waiting.extend((above, child) for child in reversed(node.children))


def _information(share: Fraction) -> int:
    """What a leaf with this probability adds to the entropy: -P·log10 P."""
    return int(math.ldexp(-float(share) * math.log10(share), _BITS)) if share else 0
