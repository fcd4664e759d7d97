"""`Node`: one interest of a profile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

Key: TypeAlias = str | int

BETWEEN_WORDS = "/"
"""Stands between the words of one interest, as in personalized/search."""


@dataclass(frozen=True, slots=True)
class Node:
    """An interest: the words that stand for it, how much supports it, and what it consists of.

    Parameters
    ----------
    label : tuple of str
        Its words, as people are shown them; several if nearly the same documents have them.
    stems : tuple of str
        The terms behind these words.
    support : Fraction
        How many documents support it: a document that supports n siblings adds to each 1/n of what it adds to their
        parent.
    probability : Fraction
        Its support as a share of all documents.
    children : tuple of Node
        More specific interests, the best supported first.
    others : Fraction
        Support that none of the children has; 0 without children.
    path : tuple of str
        The names from the top down to this one.
    documents : tuple
        The keys of the documents that put it here.
    """

    label: tuple[str, ...]
    stems: tuple[str, ...]
    support: Fraction
    probability: Fraction
    children: tuple[Node, ...]
    others: Fraction
    path: tuple[str, ...]
    documents: tuple[Key, ...]

    @property
    def name(self) -> str:
        """The label as one text, such as "personalized/search"; empty at the top."""
        return BETWEEN_WORDS.join(self.label)

    def walk(self) -> Iterator[Node]:
        """This node and all below it, parents first."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))
