"""Building the tree of interests: Split and BuildUP (thesis §5.2.1, Figure 33).

A node is split into interests: its frequent terms, most frequent first. A term whose documents nearly are those of an
earlier node joins its label (rule 1: Jaccard similarity > δ); one that mostly occurs with it brings it its documents
(rule 2: P(node | term) > δ); any other term makes a node. A document in n sibling nodes supports each with 1/n of what
it supports their parent with.

Where we differ: the thesis splits as long as terms are frequent, which does not end in reasonable time. Here a node is
split only if its support is at least `min_support`, and a term is frequent only if the supports of its documents at
this node sum to at least that. The thesis leaves open that a term is compared with nodes, by the documents of their
label terms, in the order in which they were made, and that the first match decides.

All numbers are exact. The support of a document at a node is its weight over a *divisor*, the product of the n on the
way; so counting is done in whole numbers for each divisor, and floating point only sorts out what cannot be frequent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import lcm
from typing import Any, TypeAlias

import numpy as np

from veilset.errors import said
from veilset.limits import Limits
from veilset.search.corpus import Corpus, Indices, offsets_of, take_rows

_SLACK = 1 - 1e-9  # far more than what floating point can be off
_INT64 = 2**62


@dataclass(frozen=True)
class Interest:
    """A node of the tree, before it is dressed for people.

    Parameters
    ----------
    parent : int
        The number of the node above; -1 at the root.
    terms : tuple of int
        The terms of its label; the one that made it comes last, as in the thesis' t_i/t_k.
    support, others : Fraction
        Its support, and how much of it none of its children has; 0 without children.
    documents : array
        The places of its supporting documents.
    """

    parent: int
    terms: tuple[int, ...]
    support: Fraction
    others: Fraction
    documents: Indices


@dataclass
class _Part:
    """The documents of a node: place, divisor (as a number of `divisors`), and the terms that may be frequent there."""

    documents: Indices
    divisors: list[int]
    divisor_of: Indices
    offsets: Indices
    terms: Indices


@dataclass
class _Child:
    """A node in the making; its label as ranks of frequent terms, its documents as places within the part."""

    label: list[int]
    labelled: Indices  # the documents of its label
    brought: list[Indices]  # those of terms of rule 2
    size: int  # of `labelled`


_Open: TypeAlias = tuple[Interest, Callable[[], _Part]]
"""A node, and what makes its documents when it is to be split."""


def build_tree(corpus: Corpus, min_support: int, delta: Fraction, limits: Limits) -> list[Interest]:
    """All nodes, parents before their children; siblings by support, the largest first."""
    offsets, terms = corpus.rows
    everything = np.arange(len(corpus), dtype=np.int64)
    root = Interest(-1, (), corpus.total, Fraction(0), everything)
    made = [root]
    waiting: list[_Open] = [(root, partial(_Part, everything, [1], np.zeros(len(corpus), np.int64), offsets, terms))]
    places = [0]
    finished = Fraction(0)  # support at leaves
    while waiting:
        (interest, part), at = waiting.pop(), places.pop()
        limits.check_time("Building the profile", f"raise {said('min_support')}.")
        children: list[_Open] = []
        others = interest.support
        if interest.support >= min_support:
            children, others = _Split(part(), corpus, min_support, delta).run(at)
        if children:
            made[at] = replace(interest, others=others)
        places.extend(range(len(made), len(made) + len(children)))
        waiting.extend(children)
        made.extend(child for child, _ in children)
        finished += others
        limits.step("Building the profile", int(finished), int(corpus.total))
    return made


class _Split:
    """One call of Split."""

    def __init__(self, part: _Part, corpus: Corpus, min_support: int, delta: Fraction) -> None:
        self._part, self._delta, self._scale = part, delta, corpus.scale
        self._least = min_support * corpus.scale
        self._weights = corpus.whole_weights[part.documents]
        self._plain = bool((self._weights == 1).all())

    def run(self, node: int) -> tuple[list[_Open], Fraction]:
        """The children of this node, and the support that none of them has."""
        self._take_frequent_terms()
        return self._share_support(self._apply_rules(), node)

    def _take_frequent_terms(self) -> None:
        """Line 1: the frequent terms, most frequent first, then by vocabulary; from now on they are their ranks."""
        part = self._part
        owners = np.repeat(np.arange(len(part.documents)), np.diff(part.offsets))
        codes, local = _renumbered(part.terms)
        divisors = np.array([float(divisor) for divisor in part.divisors])
        roughly = np.bincount(local, (self._weights / divisors[part.divisor_of])[owners], len(codes))
        likely = np.flatnonzero(roughly >= self._least * _SLACK)
        place = np.full(len(codes), -1, np.int64)
        place[likely] = np.arange(len(likely))
        frequencies = self._frequencies(place[local], owners, len(likely))
        least = self._least * lcm(*part.divisors)
        frequent = [at for at, frequency in enumerate(frequencies) if frequency >= least]
        frequent.sort(key=lambda at: (-frequencies[at], at))
        rank = np.full(len(codes), -1, np.int64)
        rank[likely[frequent]] = np.arange(len(frequent))
        ranks = rank[local]
        kept = ranks >= 0
        self._codes, self._ranks, owners = codes[likely[frequent]], ranks[kept], owners[kept]
        self._rows = offsets_of(np.bincount(owners, minlength=len(part.documents)))
        self._holders = owners[_in_order(self._ranks, len(frequent))]
        self._starts = offsets_of(np.bincount(self._ranks, minlength=len(frequent)))
        self._sizes = self._weighed(self._ranks, owners)

    def _frequencies(self, terms: Indices, owners: Indices, count: int) -> list[int]:
        """The frequency of each term, exactly: as a multiple of one over the least common multiple of the divisors."""
        held = terms >= 0
        terms, owners = terms[held], owners[held]
        divisors = self._part.divisors
        cells = self._weighed(self._part.divisor_of[owners] * count + terms, owners, len(divisors) * count)
        unit = lcm(*divisors)
        kind: Any = np.int64 if unit * int(self._weights.sum()) < _INT64 else object
        factors = np.array([unit // divisor for divisor in divisors], kind)
        frequencies: list[int] = (factors @ cells.reshape(len(divisors), count).astype(kind)).tolist()
        return frequencies

    def _weighed(self, groups: Indices, owners: Indices, count: int = 0) -> Indices:
        """How much the documents in each group weigh; exact, as weights sum to less than 2^53."""
        weights = None if self._plain else self._weights[owners]
        return np.bincount(groups, weights, count).astype(np.int64)

    def _apply_rules(self) -> list[_Child]:
        """Lines 2 to 8: each term joins the first node that a rule gives it to, or makes one."""
        made: list[_Child] = []
        shared: list[dict[int, int]] = [{} for _ in self._codes]  # per term: nodes that rule 2 would give it to
        for term, common in enumerate(shared):
            documents = self._holders[self._starts[term] : self._starts[term + 1]]
            size = int(self._sizes[term])
            similar = (at for at in sorted(common) if common[at] > self._delta * (made[at].size + size - common[at]))
            at = next(similar, -1)
            if at >= 0:  # rule 1
                child = made[at]
                child.label.insert(0, term)
                child.labelled = self._places([child.labelled, documents])
                child.size = int(self._weights[child.labelled].sum())
            elif common:  # rule 2
                made[min(common)].brought.append(documents)
                continue
            else:
                at, child = len(made), _Child([term], documents, [], size)
                made.append(child)
            self._note_shared(at, child, term, shared)
        return made

    def _note_shared(self, at: int, child: _Child, last: int, shared: list[dict[int, int]]) -> None:
        """What the label has in common with the terms after the *last*, where it is enough for rule 2."""
        places, owners = take_rows(self._rows, child.labelled)
        common = self._weighed(self._ranks[places], owners, len(self._codes))
        num, den = self._delta.numerator, self._delta.denominator
        later = np.flatnonzero(common[last + 1 :] * den > self._sizes[last + 1 :] * num) + last + 1
        for term, weight in zip(later.tolist(), common[later].tolist(), strict=True):
            shared[term][at] = weight

    def _share_support(self, made: list[_Child], node: int) -> tuple[list[_Open], Fraction]:
        """Line 9: a document in n nodes supports each with 1/n; nodes by descending support."""
        part = self._part
        members = [self._places([child.labelled, *child.brought]) for child in made]
        nodes_of = np.bincount(np.concatenate([*members, np.empty(0, np.int64)]), minlength=len(part.documents))
        others = self._support(np.flatnonzero(nodes_of == 0), part.divisors, part.divisor_of)
        pairs, pair_of = _renumbered(part.divisor_of * (len(made) + 1) + nodes_of)
        products = [part.divisors[pair // (len(made) + 1)] * (pair % (len(made) + 1)) for pair in pairs.tolist()]
        divisors = sorted(set(products))
        number = {divisor: at for at, divisor in enumerate(divisors)}
        divisor_of = np.array([number[product] for product in products], np.int64)[pair_of]
        children: list[_Open] = []
        for child, inside in zip(made, members, strict=True):
            label = tuple(self._codes[child.label].tolist())
            support = self._support(inside, divisors, divisor_of)
            interest = Interest(node, label, support, Fraction(0), part.documents[inside])
            children.append((interest, partial(self._below, child.label, inside, divisors, divisor_of)))
        children.sort(key=lambda one: -one[0].support)
        return children, others

    def _places(self, parts: list[Indices]) -> Indices:
        """The places that are in any of these."""
        if len(parts) == 1:
            return parts[0]
        inside = np.zeros(len(self._part.documents), bool)
        for part in parts:
            inside[part] = True
        return np.flatnonzero(inside)

    def _support(self, inside: Indices, divisors: list[int], divisor_of: Indices) -> Fraction:
        """What these documents support a node with, together."""
        sums = self._weighed(divisor_of[inside], inside, len(divisors))
        held = [(divisors[at], int(sums[at])) for at in np.flatnonzero(sums).tolist()]
        unit = lcm(*(divisor for divisor, _ in held))
        return Fraction(sum(weight * (unit // divisor) for divisor, weight in held), unit * self._scale)

    def _below(self, label: list[int], inside: Indices, divisors: list[int], divisor_of: Indices) -> _Part:
        """The documents of a child, without the terms of its label."""
        places, owners = take_rows(self._rows, inside)
        ranks = self._ranks[places]
        going = np.zeros(len(self._codes), bool)
        going[label] = True
        kept = ~going[ranks]
        sizes = np.bincount(owners[kept], minlength=len(self._part.documents))[inside]
        used, of = _renumbered(divisor_of[inside])
        remaining = [divisors[at] for at in used.tolist()]
        return _Part(self._part.documents[inside], remaining, of, offsets_of(sizes), self._codes[ranks[kept]])


def _renumbered(numbers: Indices) -> tuple[Indices, Indices]:
    """The different numbers, ascending, and which of them each is. They are small: no need to sort."""
    held = np.flatnonzero(np.bincount(numbers))
    place = np.zeros(held[-1] + 1 if len(held) else 0, np.int64)
    place[held] = np.arange(len(held))
    return held, place[numbers]


def _in_order(numbers: Indices, count: int) -> Indices:
    """What sorts these numbers below *count*, equal ones as they are; those of 16 bits are sorted without comparing."""
    return np.argsort(numbers.astype(np.uint16) if count <= 1 << 16 else numbers, kind="stable")
