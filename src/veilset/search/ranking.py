"""Ranking results by what is exposed of a profile: UPScore, UPRank and PPRank (thesis §5.2.3).

UPScore sums weight times frequency over the exposed terms, UPRank is the rank by it, and PPRank mixes it with the
engine's rank. Results with the same UPScore share the average of their ranks, so a profile that says nothing leaves
the engine's order alone; ties of PPRank go to the engine's rank.

Where we differ: the thesis counts terms in the pages. Here it is title and snippet, unless the page of every result is
there. Its weight, log10(1/P), prefers what a person is hardly interested in. The scoring "interest" prefers what the
person is most interested in and few of the results have. What helped simulated users most on one collection did not
help on another, so the default weight at home is 0: see `docs/experiments/search.md`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import groupby
from typing import Annotated, TypeAlias

from veilset.errors import InvalidArgument, unknown
from veilset.exact import exact_share
from veilset.options import Option
from veilset.search.exposure import Exposure
from veilset.search.node import BETWEEN_WORDS
from veilset.search.terms import Terms, check_languages

REPLICATION_ALPHA = "0.6"
"""The weight of the profile that the thesis found best."""

DEFAULT_ALPHA = "0"
"""The weight at home until the user chooses one: the one that was best on one collection did not help on another."""

AUTO = "auto"
"""Instead of a weight: `SHORT_ALPHA` for short queries, which are ambiguous, and 0 for all others."""

SHORT_WORDS, SHORT_ALPHA = 2, "0.5"

SCORINGS = ("thesis", "interest")
DEFAULT_SCORING = "interest"

Weights: TypeAlias = Mapping[str, float | Decimal]


@dataclass(frozen=True)
class Result:
    """A result of a search engine.

    Parameters
    ----------
    title, snippet, address : str
        As the engine gives them.
    rank : int
        The engine's rank; the first is 1.
    page : str, optional
        The text of the page, if it was fetched.
    """

    title: str
    snippet: str
    address: str
    rank: int
    page: str | None = None


@dataclass(frozen=True)
class Ranked:
    """A result with its new position, and why it is there.

    Parameters
    ----------
    result : Result
        The result.
    position : int
        The final position; the first is 1.
    up_score : float
        How much of the profile is in it.
    up_rank, pp_rank : Fraction
        The rank by the profile alone, and mixed with the engine's.
    reasons : dict
        How often each exposed word was found; those that added most to the score come first.
    """

    result: Result
    position: int
    up_score: float
    up_rank: Fraction
    pp_rank: Fraction
    reasons: dict[str, int]


def rerank(
    results: Iterable[Result],
    exposure: Exposure | Weights,
    *,
    alpha: Annotated[
        float | str | Fraction,
        Option("share", "Weight of the profile against the engine; 0 leaves the engine's order alone.", example="0.3"),
    ] = REPLICATION_ALPHA,
    scoring: str = SCORINGS[0],
    languages: Iterable[str] | None = None,
) -> list[Ranked]:
    """The results in their personal order.

    Parameters
    ----------
    results : iterable of Result
        What an engine found.
    exposure : Exposure or mapping
        What is exposed: of a profile, or as terms with their weights, which is what a server is sent.
    alpha : float or str
        The weight of the profile, from 0 to 1; the rest is the engine's.
    scoring : str
        How UPScore is made: "thesis", or "interest"; see `word_values`.
    languages : iterable of str, optional
        Codes of the languages whose words may be inflected. Default: those of the profile, or of the results.

    Examples
    --------
    >>> results = [Result("Jazz", "", "a.org", 1), Result("Green tea", "Tea from Japan", "b.org", 2)]
    >>> [(one.result.title, one.position, one.reasons) for one in rerank(results, {"tea": 0.5}, alpha="0.6")]
    [('Green tea', 1, {'tea': 2}), ('Jazz', 2, {})]
    """
    mix = exact_share(alpha, "alpha", may_be_zero=True)
    given = sorted(results, key=lambda result: result.rank)
    sent, expected = (exposure.terms, exposure.languages) if isinstance(exposure, Exposure) else (exposure, None)
    found = count_words(given, words_of(sent), expected if languages is None else languages)
    values = word_values(found, sent, scoring)
    scores = up_scores(found, values, scoring)
    return [
        Ranked(given[at], position, float(scores[at]), up_rank, pp_rank, _by_value(found[at].counts, values))
        for position, (at, up_rank, pp_rank) in enumerate(mixed_order(scores, [one.rank for one in given], mix), 1)
    ]


def mixed_order(
    scores: Sequence[Fraction], ranks: Sequence[int], alpha: Fraction
) -> list[tuple[int, Fraction, Fraction]]:
    """The personal order: place among the given, UPRank and PPRank of each; ties go to the engine's rank."""
    up_ranks = average_ranks(scores)
    pp_ranks = [alpha * up_rank + (1 - alpha) * rank for up_rank, rank in zip(up_ranks, ranks, strict=True)]
    order = sorted(range(len(scores)), key=lambda at: (pp_ranks[at], ranks[at]))
    return [(at, up_ranks[at], pp_ranks[at]) for at in order]


def average_ranks(scores: Sequence[Fraction]) -> list[Fraction]:
    """The rank of each score, the highest first; equal scores share the average of their ranks.

    >>> [str(rank) for rank in average_ranks([Fraction(2), Fraction(0), Fraction(2)])]
    ['3/2', '3', '3/2']
    """
    order = sorted(range(len(scores)), key=lambda at: -scores[at])
    ranks = [Fraction(0)] * len(scores)
    before = 0
    for _, group in groupby(order, key=lambda at: scores[at]):
        tied = list(group)
        for at in tied:
            ranks[at] = before + Fraction(len(tied) + 1, 2)
        before += len(tied)
    return ranks


@dataclass(frozen=True)
class Occurrences:
    """What was found in a text: how often each word is in it, the most frequent first, and how many words it has."""

    counts: dict[str, int]
    length: int


def count_words(
    results: Sequence[Result], words: Iterable[str], languages: Iterable[str] | None = None
) -> list[Occurrences]:
    """The occurrences of these words in each result; also inflected."""
    finder = _Finder(words, languages)
    return [finder.occurrences(text) for text in _texts(results)]


def words_of(sent: Weights) -> set[str]:
    """The words of all terms."""
    return {word for term in sent for word in term.split(BETWEEN_WORDS)}


def word_values(found: Sequence[Occurrences], sent: Weights, scoring: str) -> dict[str, Fraction]:
    """What an occurrence of each word adds to UPScore.

    With "thesis" that is the weight of its term, so the frequency of an interest is the sum over its words. With
    "interest" it is P · idf: P is the probability behind the weight, idf the inverse document frequency of the word
    among the results; scores are then divided by the length of the text.
    """
    if scoring not in SCORINGS:
        raise unknown("scoring", scoring, SCORINGS)
    values: dict[str, Fraction] = {}
    for term, weight in sent.items():
        exact = _exact(weight)
        adds = exact if scoring == "thesis" else Fraction(10 ** -float(exact))
        for word in term.split(BETWEEN_WORDS):
            values[word] = values.get(word, Fraction(0)) + adds
    if scoring == "interest":
        holders = Counter(word for one in found for word in one.counts)
        for word in values:
            values[word] *= Fraction(math.log((len(found) + 1) / (holders[word] + 0.5)))
    return values


def up_scores(found: Sequence[Occurrences], values: Mapping[str, Fraction], scoring: str) -> list[Fraction]:
    """UPScore of each result."""
    sums = [sum((values[word] * count for word, count in one.counts.items()), Fraction(0)) for one in found]
    if scoring == "thesis":
        return sums
    return [total / max(1, one.length) for total, one in zip(sums, found, strict=True)]


def _by_value(counts: Mapping[str, int], values: Mapping[str, Fraction]) -> dict[str, int]:
    """The words of a result, those that added most to its score first."""
    return dict(sorted(counts.items(), key=lambda one: -one[1] * values[one[0]]))


def _texts(results: Sequence[Result]) -> list[str]:
    """What terms are counted in: the pages if all are there, or it would be one measure for some and one for others."""
    pages = [result.page for result in results if result.page is not None]
    return pages if len(pages) == len(results) else [f"{result.title}\n{result.snippet}" for result in results]


def alpha_for(query: str, alpha: float | str | Fraction, languages: Iterable[str] | None = None) -> Fraction:
    """The weight of the profile for a query: what was chosen, or what `AUTO` means for it.

    >>> alpha_for("jaguar", "auto"), alpha_for("how fast can a jaguar run uphill", "auto"), alpha_for("jaguar", "0.3")
    (Fraction(1, 2), Fraction(0, 1), Fraction(3, 10))
    """
    if alpha != AUTO:
        return exact_share(alpha, "alpha", may_be_zero=True)
    words = Terms(check_languages(languages)).units(query)
    return Fraction(SHORT_ALPHA) if len(words) <= SHORT_WORDS else Fraction(0)


def alpha_to_judge(alpha: str) -> str:
    """The weight by which judged queries are ranked: what was chosen, or `AUTO` instead of 0, which shows nothing.

    >>> alpha_to_judge("0.3"), alpha_to_judge("0")
    ('0.3', 'auto')
    """
    return alpha if alpha == AUTO or alpha_for("", alpha) else AUTO


def _exact(weight: float | Decimal) -> Fraction:
    """The number that was written: three times 0.1 is as much as 0.3."""
    try:
        exact = Fraction(str(weight))
    except ValueError:
        exact = Fraction(-1)
    if exact < 0 or isinstance(weight, bool):
        raise InvalidArgument(f"A term has the weight {weight!r}.", "Weights are numbers from 0 on.")
    return exact


class _Finder:
    """Finds the words of a profile in texts, also inflected: both are reduced to stems in the language of the text."""

    def __init__(self, words: Iterable[str], languages: Iterable[str] | None) -> None:
        self._terms = Terms(check_languages(languages))
        self._phrases = {word: self._terms.tokens(word) for word in words}
        self._wanted: dict[str, dict[str, list[tuple[str, list[str]]]]] = {}

    def occurrences(self, text: str) -> Occurrences:
        """How often each word is in the text; words that are not in it are left out."""
        tokens = self._terms.tokens(text)
        language = self._terms.language_of(text)
        stems = [self._terms.stem(token, language) for token in tokens]
        counts: Counter[str] = Counter()
        for at, stem in enumerate(stems):
            for word, phrase in self._in(language).get(stem, ()):
                counts[word] += stems[at : at + len(phrase)] == phrase
        return Occurrences({word: count for word, count in counts.most_common() if count}, len(tokens))

    def _in(self, language: str) -> dict[str, list[tuple[str, list[str]]]]:
        """The words with the stems that they consist of in this language, by the first stem."""
        if language not in self._wanted:
            wanted = self._wanted[language] = {}
            for word, tokens in self._phrases.items():
                stems = [self._terms.stem(token, language) for token in tokens]
                if stems:
                    wanted.setdefault(stems[0], []).append((word, stems))
        return self._wanted[language]
