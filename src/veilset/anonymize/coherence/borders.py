"""The borders of moles and nuggets, and how to count with them (thesis §4.4; Xu, Fung, Wang, Fu, Pei, ICDM 2008).

Moles and nuggets are too many to be listed, but each is a collection that holds every itemset between two of its own.
So its minimal itemsets U and its maximal ones L say all of it: they are its border [U, L], written as the edges <α, β>
with α in U, β in L and α ⊆ β. An edge covers the itemsets γ with α ⊆ γ ⊆ β.

This is the paper's way, written to be read next to it. The method (`border`) needs the same numbers in a fraction of
the time and counts inside cohorts instead (`veilset.mining.count_moles`, `count_frequent`); tests hold the one against
the other. Where we differ from Figure 18: both its lines 5 and 8 add to δ(v'), and edges that cover nothing to be
counted are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from math import comb
from typing import NamedTuple, Unpack

from veilset.limits import Bounds
from veilset.mining import frequent, minimal_rare
from veilset.models import Coherence
from veilset.transactions import Transactions

NIL = 0
"""The nil item, which every transaction holds: the number of itemsets with it is that of all."""


class Edge(NamedTuple):
    """<α, β>: all itemsets between α and β. An itemset is an integer, each item a bit of it."""

    alpha: int
    beta: int

    @property
    def empty(self) -> bool:
        """Whether it covers nothing: α is not in β."""
        return bool(self.alpha & ~self.beta)

    def __and__(self, other: Edge) -> Edge:
        """The itemsets that both cover (Theorem 4); the edge is empty if there are none."""
        return Edge(self.alpha | other.alpha, self.beta & other.beta)

    def __sub__(self, other: Edge) -> list[Edge]:
        """Edges that cover the itemsets of this one that an overlapping one does not (Theorem 5).

        Such an itemset lacks an item of x = α ∪ α', or has one that is not in y = β ∩ β'.
        """
        x, y = self.alpha | other.alpha, self.beta & other.beta
        lacking = [Edge(self.alpha, self.beta & ~v) for v in _items(x & ~self.alpha)]
        beyond = [Edge(self.alpha | v, self.beta) for v in _items(self.beta & ~y)]
        return lacking + beyond


def weight(edge: Edge, x: int, length: int) -> int:
    """W: the number of itemsets of up to *length* items that the edge covers and that contain X (§4.4.2).

    All of them contain α ∪ X; the other items of β may be chosen as long as the length allows.
    """
    held = edge.alpha | x
    if held & ~edge.beta:
        return 0
    return _choices((edge.beta & ~held).bit_count(), length - held.bit_count())


def compute_delta(
    unexamined: Iterable[Edge], examined: Iterable[Edge], v: int, length: int, delta: Counter[int]
) -> None:
    """Figure 18: adds to δ(v') the itemsets with v and v' that unexamined edges cover and the examined ones do not.

    Counts itemsets of up to *length* items, each once; δ(v) itself becomes the number of all of them with v, the losers
    (with the nil item: of all there are).
    """
    done = list(examined)
    for edge in unexamined:
        if weight(edge, v, length) == 0:  # it covers no loser: neither here nor as an examined edge
            continue
        overlapping = [other for other in done if weight(edge & other, v, length)]
        if not overlapping:  # case 1
            _add(delta, edge, v, length, 1)
        elif len(overlapping) == 1:  # case 2
            _add(delta, edge, v, length, 1)
            _add(delta, edge & overlapping[0], v, length, -1)
        else:  # case 3: any of them will do, and the one that leaves the fewest new edges does it soonest
            chosen = min(overlapping, key=lambda other: _left_by(edge, other))
            overlapping.remove(chosen)
            compute_delta(edge - chosen, overlapping, v, length, delta)
        done.append(edge)


def _add(delta: Counter[int], edge: Edge, v: int, length: int, sign: int) -> None:
    """Adds W for X = vv' to δ(v'), for every v' in β.

    There are but two numbers: whoever contains v and α contains each v' of these; of the others one is like another.
    """
    held, others = edge.alpha | v, edge.beta & ~(edge.alpha | v)
    with_held = sign * weight(edge, v, length)
    delta[v] += with_held
    for item in _items(held & ~v):
        delta[item] += with_held
    with_other = sign * weight(edge, v | (others & -others), length)
    for item in _items(others):
        delta[item] += with_other


def _left_by(edge: Edge, other: Edge) -> int:
    """How many edges their difference has."""
    return (other.alpha & ~edge.alpha).bit_count() + (edge.beta & ~other.beta).bit_count()


class Border:
    """A border [U, L] that knows how many of its itemsets hold each item, and keeps both up as items are suppressed.

    Parameters
    ----------
    names : iterable of str
        The items, in the order of the vocabulary.
    upper, lower : iterables of iterables of str
        The minimal and the maximal itemsets.
    length : int, optional
        Itemsets with more items do not count; None: all do.

    Examples
    --------
    >>> moles = Border("abefg", ["ae", "af", "ag", "be", "bfg"], ["abef", "abfg", "befg"], 3)
    >>> moles.total, moles.per_item
    (12, {'a': 8, 'b': 7, 'e': 6, 'f': 6, 'g': 5})
    >>> moles.suppress("a")
    >>> moles.total, moles.per_item
    (4, {'b': 4, 'e': 3, 'f': 2, 'g': 2})
    >>> moles.show(moles.edges)
    ['<be,befg>', '<bfg,befg>']
    """

    def __init__(
        self, names: Iterable[str], upper: Iterable[Iterable[str]], lower: Iterable[Iterable[str]], length: int | None
    ) -> None:
        self._bits = {name: 1 << place for place, name in enumerate(names)}
        self._length = len(self._bits) if length is None else length
        self.upper = [self.mask(itemset) for itemset in upper]
        self.lower = self._ends([self.mask(itemset) for itemset in lower])
        delta: Counter[int] = Counter()
        compute_delta(self.edges, [], NIL, self._length, delta)
        self.total = delta[NIL]
        self.per_item = {name: delta[bit] for name, bit in self._bits.items()}

    @property
    def edges(self) -> list[Edge]:
        """<α, β> for all α in U and β in L with α ⊆ β."""
        return [Edge(alpha, beta) for beta in self.lower for alpha in self.upper if not alpha & ~beta]

    @property
    def compression(self) -> float:
        """The number of edges for each itemset they stand for (§4.5.3.2); the lower, the more compact."""
        return len(self.edges) / self.total if self.total else 0.0

    def suppress(self, item: str) -> None:
        """Steps 2 to 5 of the border-based algorithm: removes all itemsets that hold the item (the losers)."""
        v = self._bits.pop(item)
        delta: Counter[int] = Counter()
        compute_delta([edge for edge in self.edges if edge.beta & v], [], v, self._length, delta)
        self.total -= delta[v]
        del self.per_item[item]
        for name, bit in self._bits.items():
            self.per_item[name] -= delta[bit]
        self.upper = [alpha for alpha in self.upper if not alpha & v]
        self.lower = self._ends([beta & ~v for beta in self.lower])

    def mask(self, itemset: Iterable[str]) -> int:
        """The itemset as edges have it."""
        return sum(self._bits[name] for name in itemset)

    def show(self, edges: Iterable[Edge]) -> list[str]:
        """The edges as the paper writes them."""
        return [f"<{self._named(edge.alpha)},{self._named(edge.beta)}>" for edge in edges]

    def _named(self, itemset: int) -> str:
        return "".join(name for name, bit in self._bits.items() if bit & itemset)

    def _ends(self, lower: Iterable[int]) -> list[int]:
        """Of these, the itemsets that are in no other and contain some α: a border has no others (Definition 12)."""
        ends: list[int] = []
        for beta in sorted(set(lower), key=int.bit_count, reverse=True):
            inside = any(not beta & ~other for other in ends)
            if not inside and any(not alpha & ~beta for alpha in self.upper):
                ends.append(beta)
        return ends


def mole_border(data: Transactions, promise: Coherence, **bounds: Unpack[Bounds]) -> Border:
    """U: the minimal moles. L: the maximal public itemsets that occur. Counts moles of up to p items."""
    minimal = minimal_rare(data, promise.k, h=promise.share, max_size=promise.p, **bounds)
    maximal = frequent(data, 1, kind="maximal", items=data.public, **bounds)
    return Border(data.public, (mole.items for mole in minimal), (names for names, _ in maximal), promise.p)


def nugget_border(data: Transactions, support: int, size: int | None, **bounds: Unpack[Bounds]) -> Border:
    """U: the items that k' transactions hold. L: the maximal itemsets that k' transactions hold. Counts nuggets of up
    to p' items; sensitive items are in them, too (Definition 7)."""
    maximal = frequent(data, support, kind="maximal", **bounds)
    alone = [[name] for name, held in zip(data.names, data.supports.tolist(), strict=True) if held >= support]
    return Border(data.names, alone, (names for names, _ in maximal), size)


@cache
def _choices(items: int, most: int) -> int:
    """In how many ways up to *most* of so many items can be chosen."""
    return sum(comb(items, chosen) for chosen in range(min(items, most) + 1))


def _items(itemset: int) -> Iterator[int]:
    """The items of an itemset, each as an itemset of its own."""
    while itemset:
        item = itemset & -itemset
        yield item
        itemset ^= item
