"""Private personalised search by the definitions, on sets of documents. Like `oracles`, it imports nothing of Veilset.

Documents are lists of terms. Trees are nested dicts: ``label`` (a list, the newest term first), ``support``,
``others``, ``documents`` (positions) and ``children``.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

Documents: TypeAlias = Sequence[Collection[str]]
Tree: TypeAlias = dict[str, Any]


def profile(documents: Documents, min_support: int, delta: Fraction, weights: Sequence[Fraction] | None = None) -> Tree:
    """The tree of interests (thesis §5.2.1, Figure 33, with the stop rule).

    >>> tree = profile([["a", "b"], ["a"], ["b"]], 2, Fraction(1, 2))
    >>> [(child["label"], str(child["support"])) for child in tree["children"]]
    [(['a'], '3/2'), (['b'], '3/2')]
    """
    weighs = [Fraction(1)] * len(documents) if weights is None else list(weights)
    return _built([], dict(enumerate(weighs)), [set(document) for document in documents], weighs, min_support, delta)


def _built(
    label: list[str],
    shares: dict[int, Fraction],
    documents: list[set[str]],
    weighs: list[Fraction],
    min_support: int,
    delta: Fraction,
) -> Tree:
    support = sum(shares.values(), Fraction(0))
    node: Tree = {"label": label, "support": support, "others": Fraction(0), "documents": set(shares), "children": []}
    made = _split(shares, documents, weighs, min_support, delta) if support >= min_support else []
    for term_labels, supporting in made:
        inner = {}
        for document in supporting:
            siblings = sum(document in other for _, other in made)
            inner[document] = shares[document] / siblings
        below = [document - set(term_labels) for document in documents]
        node["children"].append(_built(term_labels, inner, below, weighs, min_support, delta))
    if made:
        inside = set().union(*(supporting for _, supporting in made))
        node["others"] = sum((share for document, share in shares.items() if document not in inside), Fraction(0))
        node["children"].sort(key=lambda child: -child["support"])
    return node


def _split(
    shares: dict[int, Fraction],
    documents: list[set[str]],
    weighs: list[Fraction],
    min_support: int,
    delta: Fraction,
) -> list[tuple[list[str], set[int]]]:
    covered = {
        term: {document for document in shares if term in documents[document]}
        for term in sorted(set().union(*(documents[document] for document in shares)))
    }
    frequency = {term: sum(shares[document] for document in held) for term, held in covered.items()}
    frequent = sorted((term for term in covered if frequency[term] >= min_support), key=lambda term: -frequency[term])
    labels: list[list[str]] = []
    of_label: list[set[int]] = []
    supporting: list[set[int]] = []

    def weight(of: set[int]) -> Fraction:
        return sum((weighs[document] for document in of), Fraction(0))

    for term in frequent:
        held = covered[term]
        similar = [k for k in range(len(labels)) if weight(held & of_label[k]) / weight(held | of_label[k]) > delta]
        within = [k for k in range(len(labels)) if weight(held & of_label[k]) / weight(held) > delta]
        if similar:
            labels[similar[0]].insert(0, term)
            of_label[similar[0]] |= held
            supporting[similar[0]] |= held
        elif within:
            supporting[within[0]] |= held
        else:
            labels.append([term])
            of_label.append(set(held))
            supporting.append(set(held))
    return list(zip(labels, supporting, strict=True))


def exposed(tree: Tree, min_detail: Fraction, hidden: Collection[str] = ()) -> tuple[dict[str, float], float]:
    """What is sent, and expRatio (thesis §5.2.2): terms with weights, and the share of the entropy.

    >>> exposed(profile([["a"], ["a"], ["b"], ["b"]], 2, Fraction(1, 2)), Fraction(1, 2))
    ({'a': 0.3010299956639812, 'b': 0.3010299956639812}, 1.0)
    """
    total = tree["support"]

    def cut(node: Tree) -> Tree:
        seen = [
            child
            for child in node["children"]
            if child["support"] >= min_detail * total and not set(child["label"]) & set(hidden)
        ]
        rest = node["support"] - sum(child["support"] for child in seen)
        return node | {"children": [cut(child) for child in seen], "others": rest if seen else Fraction(0)}

    part = cut(tree)
    whole = _entropy(tree, total)
    sent: dict[str, float] = {}
    words: set[str] = set()
    for node in sorted(_nodes(part)[1:], key=lambda node: -node["support"]):
        if fresh := [word for word in node["label"] if word not in words]:
            sent["/".join(fresh)] = math.log10(total / node["support"])
            words.update(fresh)
    return sent, _entropy(part, total) / whole if whole else 0.0


def _nodes(tree: Tree) -> list[Tree]:
    return [tree] + [node for child in tree["children"] for node in _nodes(child)]


def _entropy(tree: Tree, total: Fraction) -> float:
    leaves = [node["others"] if node["children"] else node["support"] for node in _nodes(tree)]
    return math.fsum(-float(leaf / total) * math.log10(leaf / total) for leaf in leaves if leaf)


def order(scores: Sequence[Fraction], alpha: Fraction) -> list[int]:
    """The places of the results in their personal order, given UPScores in the engine's order (thesis §5.2.3).

    >>> order([Fraction(0), Fraction(2), Fraction(1)], Fraction(1))
    [1, 2, 0]
    """
    up = [
        sum(other > score for other in scores) + Fraction(sum(other == score for other in scores) + 1, 2)
        for score in scores
    ]
    mixed = [alpha * rank + (1 - alpha) * place for place, rank in enumerate(up, 1)]
    return sorted(range(len(scores)), key=lambda at: (mixed[at], at))


def average_precision(positions: Sequence[int]) -> float:
    """The thesis' average precision, given the final positions of the relevant results (§5.3.1).

    >>> average_precision([1, 3])
    0.8333333333333333
    """
    found = sorted(positions)
    return math.fsum(i / position for i, position in enumerate(found, 1)) / len(found) if found else 0.0
