"""The documents of a profile as terms: what rules count on, and what is left when a document is forgotten.

A document is a set of terms. A term is a stem; the words that it came from are kept, so that people are shown words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import lcm
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from veilset.errors import InvalidArgument, said
from veilset.search.documents import Document
from veilset.search.node import BETWEEN_WORDS, Key
from veilset.search.terms import Terms, Unit, host_of

Given: TypeAlias = str | Document | Iterable[str]
"""A document: a text, one of a source, or a list of terms, which are taken as they are."""

Indices: TypeAlias = npt.NDArray[np.int64]

_EXACT = 2**53  # whole numbers below are exact as floats, which NumPy's weighted counts are made of


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents with their keys, weights and terms.

    Parameters
    ----------
    keys : tuple of str or int
        Which documents these are; numbers for documents without a key.
    weights : tuple of Fraction
        How much each document adds: twice as much is as good as a second copy of it.
    units : tuple of (str, str)
        Stems, each with a word that it came from; sorted.
    offsets, codes : arrays
        The units of document i are those with the numbers ``codes[offsets[i]:offsets[i + 1]]``, ascending.
    """

    keys: tuple[Key, ...]
    weights: tuple[Fraction, ...]
    units: tuple[Unit, ...]
    offsets: Indices
    codes: Indices

    @classmethod
    def of(
        cls, documents: Iterable[Given], terms: Terms, weights: Iterable[Any] | None = None, first: int = 0
    ) -> Corpus:
        """The terms of documents; those without a key are numbered from *first* on."""
        keys: list[Key] = []
        held: list[list[Unit]] = []
        for position, document in enumerate(documents, first):
            keys.append(document.key if isinstance(document, Document) else position)
            held.append(sorted(set(_units(document, terms))))
        units = sorted({unit for row in held for unit in row})
        code_of = {unit: code for code, unit in enumerate(units)}
        codes = np.array([code_of[unit] for row in held for unit in row], np.int64)
        corpus = cls(
            tuple(keys), _weights(weights, len(keys)), tuple(units), offsets_of([len(row) for row in held]), codes
        )
        corpus._check()
        return corpus

    def plus(self, other: Corpus) -> Corpus:
        """These documents, and then the others."""
        units = sorted({*self.units, *other.units})
        code_of = {unit: code for code, unit in enumerate(units)}
        recoded = [
            np.array([code_of[unit] for unit in corpus.units], np.int64)[corpus.codes] for corpus in (self, other)
        ]
        both = Corpus(
            self.keys + other.keys,
            self.weights + other.weights,
            tuple(units),
            np.concatenate([self.offsets, other.offsets[1:] + self.offsets[-1]]),
            np.concatenate(recoded),
        )
        both._check()
        return both

    def without(self, keys: Iterable[Key]) -> Corpus:
        """The other documents, and no word that only these have."""
        going = set(keys)
        if missing := going.difference(self.keys):
            raise InvalidArgument(
                f"The profile has no document {min(map(repr, missing))}.", "Its documents are those it was built from."
            )
        staying = np.array([key not in going for key in self.keys], bool)
        sizes = np.diff(self.offsets)
        codes = self.codes[np.repeat(staying, sizes)]
        used, codes = np.unique(codes, return_inverse=True)
        at = np.flatnonzero(staying).tolist()
        return Corpus(
            tuple(self.keys[i] for i in at),
            tuple(self.weights[i] for i in at),
            tuple(self.units[i] for i in used.tolist()),
            offsets_of(sizes[staying]),
            codes.astype(np.int64, copy=False),
        )

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def total(self) -> Fraction:
        """The weight of all documents, |D|."""
        return sum(self.weights, Fraction(0))

    @cached_property
    def scale(self) -> int:
        """What makes all weights whole numbers."""
        return lcm(*(weight.denominator for weight in set(self.weights)))

    @cached_property
    def whole_weights(self) -> Indices:
        """The weights, times `scale`."""
        whole = {weight: int(weight * self.scale) for weight in set(self.weights)}
        return np.array([whole[weight] for weight in self.weights], np.int64)

    @cached_property
    def stems(self) -> tuple[str, ...]:
        """The terms, sorted."""
        return tuple(sorted({stem for stem, _ in self.units}))

    @cached_property
    def rows(self) -> tuple[Indices, Indices]:
        """The terms of each document, as offsets and numbers of `stems`, ascending."""
        number = {stem: place for place, stem in enumerate(self.stems)}
        of_unit = np.array([number[stem] for stem, _ in self.units], np.int64)
        codes, owners = of_unit[self.codes], np.repeat(np.arange(len(self)), np.diff(self.offsets))
        first = np.ones(len(codes), bool)
        first[1:] = (codes[1:] != codes[:-1]) | (owners[1:] != owners[:-1])
        return offsets_of(np.bincount(owners[first], minlength=len(self))), codes[first]

    @cached_property
    def stems_by_name(self) -> dict[str, set[str]]:
        """The terms that a word or a stem stands for, whatever its case."""
        found: dict[str, set[str]] = {}
        for stem, word in self.units:
            for name in (stem.casefold(), word.casefold()):
                found.setdefault(name, set()).add(stem)
        return found

    def having(self, stems: Iterable[str]) -> set[int]:
        """The places of the documents with one of these terms."""
        wanted = set(stems)
        units = [place for place, (stem, _) in enumerate(self.units) if stem in wanted]
        hits = np.flatnonzero(np.isin(self.codes, units))
        return set((np.searchsorted(self.offsets, hits, side="right") - 1).tolist())

    @cached_property
    def words(self) -> dict[str, str]:
        """The word to show for each term: the one in most documents; of several the shortest, then the first."""
        counts = np.bincount(self.codes, minlength=len(self.units)).tolist()
        best: dict[str, tuple[int, int, str]] = {}
        for (stem, word), count in zip(self.units, counts, strict=True):
            asked = (-count, len(word), word)
            best[stem] = min(best.get(stem, asked), asked)
        return {stem: word for stem, (_, _, word) in best.items()}

    def to_json(self) -> dict[str, Any]:
        """The documents as `from_json` takes them."""
        ends = self.offsets.tolist()
        codes = self.codes.tolist()
        return {
            "keys": list(self.keys),
            "weights": [str(weight) for weight in self.weights],
            "units": [list(unit) for unit in self.units],
            "terms": [codes[start:end] for start, end in pairwise(ends)],
        }

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Corpus:
        """The documents that `to_json` told."""
        exact = {text: Fraction(text) for text in set(told["weights"])}
        return cls(
            tuple(told["keys"]),
            tuple(exact[text] for text in told["weights"]),
            tuple((stem, word) for stem, word in told["units"]),
            offsets_of([len(row) for row in told["terms"]]),
            np.array([code for row in told["terms"] for code in row], np.int64),
        )

    def _check(self) -> None:
        if len(set(self.keys)) < len(self.keys):
            twice = Counter(self.keys).most_common(1)[0][0]
            raise InvalidArgument(
                f"Two documents have the key {twice!r}.", "Give every document one of its own, or forget the older one."
            )
        if self.scale * self.total >= _EXACT:
            raise InvalidArgument(
                f"The weights of the documents have the common denominator {self.scale:,}, too large to count exactly.",
                "Round them, for example to three decimals.",
            )


def _units(document: Given, terms: Terms) -> Iterable[Unit]:
    if isinstance(document, str):
        return terms.units(document)
    if isinstance(document, Document):
        host = host_of(document.place) if document.key.startswith("http") else ""
        site = [(host, host)] if host else []
        return site + terms.units(f"{document.title}\n{document.text}", document.language)
    return [_as_given(term) for term in document]


def _as_given(term: object) -> Unit:
    if not isinstance(term, str) or not term.strip() or BETWEEN_WORDS in term:
        raise InvalidArgument(
            f"{term!r} cannot be a term.", f"Terms are text with something in it, and without {BETWEEN_WORDS!r}."
        )
    return term, term


def _weights(weights: Iterable[Any] | None, count: int) -> tuple[Fraction, ...]:
    if weights is None:
        return (Fraction(1),) * count
    exact: dict[Any, Fraction] = {}
    given = list(weights)
    if len(given) != count:
        raise InvalidArgument(
            f"{said('weights')} has {len(given)} numbers for {count} documents.", "Give one for each document."
        )
    for weight in given:
        if weight not in exact:
            exact[weight] = _weight(weight)
    return tuple(exact[weight] for weight in given)


def _weight(weight: Any) -> Fraction:
    try:
        exact = Fraction(repr(weight) if isinstance(weight, float) else weight)
    except (TypeError, ValueError, ZeroDivisionError):
        exact = Fraction(0)
    if exact <= 0 or isinstance(weight, bool):
        raise InvalidArgument(
            f"{said('weights')} has {weight!r}.",
            "Give numbers above 0, such as 1 or 0.5; leave out what shall not count.",
        )
    return exact


def offsets_of(sizes: Sequence[int] | Indices) -> Indices:
    """Where rows of these sizes begin, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(np.asarray(sizes, np.int64))]).astype(np.int64)


def take_rows(offsets: Indices, rows: Indices) -> tuple[Indices, Indices]:
    """Where the entries of these rows are, and which row each belongs to."""
    sizes = offsets[rows + 1] - offsets[rows]
    before = np.cumsum(sizes) - sizes
    return np.arange(sizes.sum()) - np.repeat(before - offsets[rows], sizes), np.repeat(rows, sizes)
