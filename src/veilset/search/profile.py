"""`Profile`: what a person is interested in, as a tree made at home from the person's own documents (thesis §5.2.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Annotated, Any, Self, Unpack

import numpy as np

from veilset.errors import InvalidArgument, UnreadableInput, said
from veilset.exact import check_whole, exact_share
from veilset.limits import Bounds, Limits
from veilset.options import Option
from veilset.search.corpus import Corpus, Given
from veilset.search.exposure import NOTHING, Dial, Exposure
from veilset.search.node import BETWEEN_WORDS, Key, Node
from veilset.search.related import related_terms
from veilset.search.splitting import Interest, build_tree
from veilset.search.terms import Terms, check_languages

_DELTA = "0.6"
_LEAST_SUPPORT, _SHARE = 5, 1000
_VERSION = 1


class Profile:
    """What a person is interested in: a tree of interests, the general ones at the top.

    Built by `Profile.build`; it does not change afterwards.

    Attributes
    ----------
    root : Node
        The top of the tree; it has no label.
    total : Fraction
        The weight of all documents, |D|.
    min_support : int
        From which support on an interest is worth a node, and a node is split.
    delta : Fraction
        The threshold of both rules.
    languages : tuple of str
        The languages that were expected.

    Examples
    --------
    >>> profile = Profile.build([["tea", "green"], ["tea"], ["tea", "green"], ["jazz"], ["jazz"]], min_support=2)
    >>> [(node.name, str(node.support)) for node in profile.root.walk() if node.label]
    [('green/tea', '3'), ('jazz', '2')]
    >>> [(term, round(weight, 3)) for term, weight in profile.expose(terms=1).pairs]
    [('green/tea', 0.222)]
    """

    def __init__(self, corpus: Corpus, min_support: int | None, delta: Fraction, terms: Terms, root: Node) -> None:
        self._corpus, self._asked_support, self._terms = corpus, min_support, terms
        self.delta, self.root = delta, root
        self.total = corpus.total
        self.min_support = _support(min_support, corpus.total)
        self.languages = terms.languages

    @classmethod
    def build(
        cls,
        documents: Iterable[Given],
        *,
        min_support: Annotated[
            int | None,
            Option(
                "whole",
                "Documents that an interest needs, at least. Default: one thousandth of them, and no less than 5.",
                example="20",
            ),
        ] = None,
        delta: Annotated[
            float | str | Fraction,
            Option("share", "Overlap above which terms are one interest, or one a part of the other.", example="0.6"),
        ] = _DELTA,
        languages: Annotated[
            Iterable[str] | None,
            Option("listed", "Languages of the documents, by their codes. Default: detected.", example="en,de"),
        ] = None,
        weights: Iterable[Any] | None = None,
        **bounds: Unpack[Bounds],
    ) -> Self:
        """The profile of these documents.

        Parameters
        ----------
        documents : iterable
            Texts, lists of terms (taken as they are), or `Document` objects.
        min_support : int, optional
            How many documents an interest needs. Default: one thousandth of them, and no less than 5.
        delta : float or str
            Overlap above which terms are one interest (Jaccard), or one a part of the other (conditional probability).
        languages : iterable of str, optional
            Codes of the languages to expect, such as "en"; the first is for texts that do not tell. Default: all.
        weights : iterable of numbers, optional
            One for each document, above 0. A document of weight w counts as w documents, wherever they are counted.
        threads, memory_limit, time_limit, progress
            As for every long function; see `Limits`.
        """
        terms = Terms(check_languages(languages))
        share = exact_share(delta, "delta")
        check_whole(min_support, "min_support", "Give a whole number from 1 on.", may_be_none=True)
        return cls._of(Corpus.of(documents, terms, weights), min_support, share, terms, bounds)

    @classmethod
    def _of(cls, corpus: Corpus, min_support: int | None, delta: Fraction, terms: Terms, bounds: Bounds) -> Self:
        interests = build_tree(corpus, _support(min_support, corpus.total), delta, Limits(**bounds))
        return cls(corpus, min_support, delta, terms, _dressed(interests, corpus))

    def add(
        self, documents: Iterable[Given], *, weights: Iterable[Any] | None = None, **bounds: Unpack[Bounds]
    ) -> Self:
        """The profile of the documents so far and these: exactly the one that a new build would give."""
        numbers = (key + 1 for key in self._corpus.keys if isinstance(key, int))
        added = Corpus.of(documents, self._terms, weights, first=max(numbers, default=0))
        return self._of(self._corpus.plus(added), self._asked_support, self.delta, self._terms, bounds)

    def without(self, keys: Iterable[Key], **bounds: Unpack[Bounds]) -> Self:
        """The profile without some documents: exactly the one that would have been built without them."""
        return self._of(self._corpus.without(keys), self._asked_support, self.delta, self._terms, bounds)

    def find(self, name: str) -> list[Node]:
        """The nodes with this word, stem or label; none if the profile has no such interest."""
        stems = self.stems_of(name)
        return [node for node in self.root.walk() if stems.intersection(node.stems)]

    def known_as(self, word: str) -> str | None:
        """A word, if some document has it; else one that documents have for the same term; None: they have neither."""
        if word.casefold() in self._corpus.stems_by_name:
            return word
        known = self.stems_of(word) & self._corpus.words.keys()
        return self._corpus.words[min(known)] if known else None

    def because(self, term: str) -> list[Key]:
        """The documents with this term, which put it where it is: their keys, or their positions, in order."""
        return self._supporting(term)[0]

    def sharing(self, term: str) -> list[Key]:
        """The documents without this term that support its interest, as they have a word that belongs to it."""
        return self._supporting(term)[1]

    def _supporting(self, term: str) -> tuple[list[Key], list[Key]]:
        stems = self.stems_of(term)
        keys = {key for node in self.find(term) for key in node.documents}
        having = self._corpus.having(stems)
        found: tuple[list[Key], list[Key]] = ([], [])
        for place, key in enumerate(self._corpus.keys):
            if key in keys:
                found[place not in having].append(key)
        return found

    def expose(
        self,
        *,
        min_detail: float | str | Fraction | None = None,
        ratio: float | str | Fraction | None = None,
        terms: int | None = None,
        hidden: Iterable[str] = (),
        query: str | None = None,
    ) -> Exposure:
        """What would leave the machine at a position of the dial; give one of the first three.

        Parameters
        ----------
        min_detail : float or str, optional
            Expose the terms with at least this probability.
        ratio : float or str, optional
            Expose no more than this share of the profile's entropy.
        terms : int, optional
            Expose no more than this many terms.
        hidden : iterable of str
            Words or labels that must not leave, nor anything below them, wherever they are.
        query : str, optional
            Expose only what is related to this query; see `veilset.search.related`.
        """
        names = tuple(hidden)
        stems = {name: self.stems_of(name) for name in names}
        dial = Dial(self.root, frozenset().union(*stems.values()), None if query is None else self._related(query))
        known = {stem for node in self.root.walk() for stem in node.stems}
        absent = tuple(name for name in names if not known & stems[name])
        match (min_detail, ratio, terms):
            case (_, None, None) if min_detail is not None:
                detail = _exact_detail(min_detail)
            case (None, _, None) if ratio is not None:
                detail = dial.for_ratio(exact_share(ratio, "ratio", may_be_zero=True))
            case (None, None, _) if terms is not None:
                check_whole(terms, "terms", "Give a whole number from 0 on.", least=0)
                detail = dial.for_terms(terms)
            case _:
                raise InvalidArgument(
                    "Nothing says how much to expose, or more than one thing does.",
                    f"Give one of {said('min_detail')}, {said('ratio')} and {said('terms')}.",
                )
        return dial.exposed(detail, names, absent, self.languages)

    def _related(self, query: str) -> set[str]:
        tokens = self._terms.tokens(query)
        return related_terms(self._corpus, set().union(*map(self.stems_of, tokens)))

    def stems_of(self, name: str) -> set[str]:
        """The terms that a name can mean: a hidden word stays hidden when another word is shown for its stem."""
        words = {word.casefold() for word in name.split(BETWEEN_WORDS)}
        known = {stem for word in words for stem in self._corpus.stems_by_name.get(word, ())}
        return words | known | {self._terms.stem(word, language) for word in words for language in self.languages}

    def to_json(self) -> dict[str, Any]:
        """Everything about the profile, as `from_json` takes it."""
        place = {key: at for at, key in enumerate(self._corpus.keys)}
        return {
            "version": _VERSION,
            "min_support": self._asked_support,
            "delta": str(self.delta),
            "languages": list(self.languages),
            "corpus": self._corpus.to_json(),
            "tree": [
                {
                    "stems": list(node.stems),
                    "support": str(node.support),
                    "others": str(node.others),
                    "children": len(node.children),
                    "documents": [place[key] for key in node.documents],
                }
                for node in self.root.walk()
            ],
        }

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Self:
        """The profile that `to_json` told, without building it again."""
        if told.get("version") != _VERSION:
            raise UnreadableInput(
                f"The profile was written in version {told.get('version')!r} of its format; this is {_VERSION}.",
                "Build the profile again.",
            )
        corpus = Corpus.from_json(told["corpus"])
        number = {stem: at for at, stem in enumerate(corpus.stems)}
        open_nodes: list[list[int]] = []  # place and number of children to come
        interests = []
        for at, node in enumerate(told["tree"]):
            while open_nodes and open_nodes[-1][1] == 0:
                open_nodes.pop()
            parent = open_nodes[-1][0] if open_nodes else -1
            if open_nodes:
                open_nodes[-1][1] -= 1
            open_nodes.append([at, node["children"]])
            label = tuple(number[stem] for stem in node["stems"])
            support, others = Fraction(node["support"]), Fraction(node["others"])
            interests.append(Interest(parent, label, support, others, np.array(node["documents"], np.int64)))
        terms = Terms(check_languages(told["languages"]))
        return cls(corpus, told["min_support"], Fraction(told["delta"]), terms, _dressed(interests, corpus))


def _exact_detail(min_detail: float | str | Fraction) -> Fraction:
    """A position of the dial comes back as it was told: its denominator has no limit, and "nothing" is above 1."""
    if isinstance(min_detail, Fraction) and 0 <= min_detail <= NOTHING:
        return min_detail
    return exact_share(min_detail, "min_detail", may_be_zero=True)


def _support(min_support: int | None, total: Fraction) -> int:
    return max(_LEAST_SUPPORT, -(-total // _SHARE)) if min_support is None else min_support


def _dressed(interests: list[Interest], corpus: Corpus) -> Node:
    """The tree with words instead of numbers."""
    below: list[list[int]] = [[] for _ in interests]
    labels: list[tuple[str, ...]] = []
    paths: list[tuple[str, ...]] = []
    for at, interest in enumerate(interests):
        labels.append(tuple(corpus.words[corpus.stems[term]] for term in interest.terms))
        paths.append(() if at == 0 else (*paths[interest.parent], BETWEEN_WORDS.join(labels[at])))
        if at:
            below[interest.parent].append(at)
    nodes: dict[int, Node] = {}
    for at in range(len(interests) - 1, -1, -1):
        interest = interests[at]
        nodes[at] = Node(
            labels[at],
            tuple(corpus.stems[term] for term in interest.terms),
            interest.support,
            interest.support / corpus.total if corpus.total else Fraction(0),
            tuple(nodes.pop(child) for child in below[at]),
            interest.others,
            paths[at],
            tuple(corpus.keys[place] for place in interest.documents.tolist()),
        )
    return nodes[0]
