"""Runs on simulated users: rankings by every variant, and their average precision.

The variants are listed here, and were before anything was run on the queries that are reported. The weight of the
profile, α, is tuned for each variant on half of the queries; what is reported is the other half.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from scipy.stats import rankdata
from search_data import SOURCES, Query, World

from veilset.search import Profile, rerank
from veilset.search.precision import average_precision, mean_of
from veilset.search.ranking import DEFAULT_ALPHA, DEFAULT_SCORING, alpha_for
from veilset.search.terms import Terms

WORLDS = 5
ALPHAS = tuple(round(0.1 * step, 1) for step in range(11))
RATIOS = (0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
DETAILS = (0.0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
FORMS = {"full": "the query as it is in the collection", "short": "its two most common words"}
TEXTS = {"snippet": "title and snippet", "page": "the whole page"}
SCORINGS = {
    "thesis": "log(1/P) · tf",
    "support": "P · tf",
    "support × own idf": "P · log(1/P) · tf",
    "support × idf": "P · idf · tf",
    "support × idf, by length": "P · idf · tf, over the number of words",
    "support × idf, dampened": "P · idf · log(1 + tf)",
    "cosine": "P · idf · tf · idf, over the length of the result's vector",
    "support × idf of results, by length": "as by length, the idf being that in the 50 results",
}
SCOPES = {"all": "all terms", "related": "terms related to the query"}
SPLITS = ("tuning", "reported")
USUAL = "history + mail"
BEST = "support × idf, by length"
TERMS = tuple(range(1, 11))

_ENGLISH = Terms(("en",))
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Setting:
    """A variant, how much is exposed, the weight of the profile, and which queries."""

    kind: str = "variant"
    sources: str = USUAL
    form: str = "full"
    text: str = "snippet"
    scoring: str = "thesis"
    scope: str = "all"
    dial: str = "ratio"
    exposed: float = 1.0
    alpha: float = 0.6
    split: str = "reported"
    seed: int = 0


@dataclass(frozen=True)
class Result:
    """Mean average precision, and paired differences with their intervals."""

    cases: int
    none: float
    own: float
    gain: float
    gain_low: float
    gain_high: float
    over_other: float
    over_low: float
    over_high: float
    ratio: float
    min_detail: float
    terms: float


@dataclass
class Case:
    """A query that a user asks, with what the engine found."""

    world: int
    user: int
    query: Query
    relevant: npt.NDArray[np.bool_]
    counts: Mapping[str, csr_matrix]
    sizes: Mapping[str, tuple[Floats, Floats]]
    asked: str
    idf: Floats


AGAIN = tuple(Setting("default", form="short", scoring=DEFAULT_SCORING, alpha=0.0, seed=seed) for seed in (1, 2, 3))
"""The default in repeats that were drawn when it had been chosen: other splits of the library, and other users."""


def settings() -> Iterator[Setting]:
    """All runs: the figures, the variants at each α, and what makes a profile a pseudonym."""
    for form in FORMS:
        usual = Setting("figure", form=form)
        for sources, text in product(SOURCES, TEXTS):
            yield replace(usual, sources=sources, alpha=0.5, text=text)
        for scoring in ("thesis", BEST):
            for ratio in RATIOS:
                yield replace(usual, scoring=scoring, exposed=ratio)
            for detail in DETAILS:
                yield replace(usual, scoring=scoring, dial="min_detail", exposed=detail)
    for form, text, scoring, scope, split, alpha in product(FORMS, TEXTS, SCORINGS, SCOPES, SPLITS, ALPHAS):
        yield Setting("variant", USUAL, form, text, scoring, scope, alpha=alpha, split=split)
    for form in FORMS:
        yield Setting("default", form=form, scoring=DEFAULT_SCORING, alpha=0.0)
    yield from AGAIN
    for terms in TERMS:
        yield Setting("pseudonym", dial="terms", exposed=float(terms))


def is_quick(setting: Setting) -> bool:
    """Few runs."""
    return setting.kind in {"pseudonym", "default"} or (setting.alpha in {0.0, 0.3, 0.6} and setting.text == "snippet")


def run(setting: Setting, data: Path) -> Result:
    """What came of a setting."""
    if setting.kind == "pseudonym":
        return _pseudonyms(int(setting.exposed), data)
    if setting.kind == "default":
        found, at = _by_default(data, setting.form, setting.seed), 0
    else:
        found, at = _precisions(data, replace(setting, kind="", alpha=0.0, split="")), ALPHAS.index(setting.alpha)
    held = [one for one in found if one.query.is_tuning == (setting.split == "tuning")]
    names = [one.query.name for one in held]
    gain = mean_of([one.own[at] - one.none for one in held], names)
    over = mean_of([one.own[at] - one.other[at] for one in held], names)
    return Result(
        len(held),
        *(float(np.mean(values)) for values in ([one.none for one in held], [one.own[at] for one in held])),
        *(gain.value, gain.low, gain.high),
        *(over.value, over.low, over.high),
        *(float(np.mean([one.exposed[place] for one in held])) for place in range(3)),
    )


@dataclass(frozen=True)
class _Found:
    query: Query
    none: float
    own: list[float]
    other: list[float]
    exposed: tuple[float, float, int]


@cache
def _world(data: Path, number: int) -> World:
    return World.of(data, number)


def _worlds(seed: int = 0) -> range:
    """The numbers of the repeats: no two seeds share one."""
    return range(seed * WORLDS, (seed + 1) * WORLDS)


@cache
def _vocabulary(data: Path) -> dict[str, int]:
    return {stem: at for at, stem in enumerate(sorted({stem for text in _world(data, 0).texts for stem in text.stems}))}


@cache
def _cases(data: Path, form: str, seed: int = 0) -> list[Case]:
    """All queries of all users with something relevant among the results, as in the thesis."""
    cases = []
    vocabulary = _vocabulary(data)
    for number in _worlds(seed):
        world = _world(data, number)
        frequency, count = world.background()
        idf = np.array([math.log((count + 1) / (frequency.get(stem, 0) + 0.5)) for stem in vocabulary])
        asked: dict[str, Any] = {}
        for place, user in enumerate(world.users):
            for query in user.queries:
                if query.name not in asked:
                    text = query.text if form == "full" else world.short(query)
                    results = world.results(text)
                    snippets = [
                        [stem for stem, _ in _ENGLISH.units(f"{one.title}\n{one.snippet}", "en")] for _, one in results
                    ]
                    counts = {
                        "snippet": _matrix(snippets, vocabulary),
                        "page": _matrix([world.texts[at].stems for at, _ in results], vocabulary),
                    }
                    relevant = np.array([at in query.relevant for at, _ in results])
                    sizes = {name: _sizes(one, idf) for name, one in counts.items()}
                    asked[query.name] = (relevant, counts, sizes, text)
                if asked[query.name][0].any():
                    cases.append(Case(number, place, query, *asked[query.name], idf))
    return cases


def _matrix(rows: list[list[str]] | list[tuple[str, ...]], vocabulary: Mapping[str, int]) -> csr_matrix:
    entries = [
        (at, vocabulary[stem], count)
        for at, row in enumerate(rows)
        for stem, count in Counter(row).items()
        if stem in vocabulary
    ]
    at, stems, counts = (np.array(part) for part in zip(*entries, strict=True))
    return csr_matrix((counts.astype(float), (at, stems)), shape=(len(rows), len(vocabulary)))


@cache
def _profile(data: Path, world: int, user: int, sources: str) -> Profile:
    return Profile.build(_world(data, world).users[user].documents(sources), languages=["en"])


@cache
def _shares(
    data: Path, world: int, user: int, sources: str, dial: str, exposed: float, query: str | None
) -> tuple[npt.NDArray[np.int64], Floats, tuple[float, float, int]]:
    """The exposed terms, as places in the vocabulary, with their probabilities; and how much that is."""
    given: dict[str, object] = {dial: int(exposed) if dial == "terms" else Fraction(str(exposed))}
    exposure = _profile(data, world, user, sources).expose(**given, query=query)
    vocabulary = _vocabulary(data)
    largest: dict[int, float] = {}
    for node in exposure.nodes:
        for stem in node.stems:
            if stem in vocabulary:
                largest.setdefault(vocabulary[stem], float(node.probability))
    told = (exposure.ratio, float(exposure.min_detail), len(exposure.terms))
    return np.array(list(largest), np.int64), np.array(list(largest.values())), told


@cache
def _precisions(data: Path, setting: Setting) -> list[_Found]:
    """For every case: average precision without a profile, with one's own and with somebody else's, at each α."""
    found = []
    for case in _cases(data, setting.form):
        world = _world(data, case.world)
        other = world.users.index(world.other(world.users[case.user]))
        query = case.asked if setting.scope == "related" else None
        lines, told = [], []
        for user in (case.user, other):
            shares = _shares(data, case.world, user, setting.sources, setting.dial, setting.exposed, query)
            scores = _scores(case, setting, shares[0], shares[1])
            lines.append(_at_each_alpha(scores, case.relevant))
            told.append(shares[2])
        found.append(_Found(case.query, lines[0][0], lines[0], lines[1], told[0]))
    return found


def _by_default(data: Path, form: str, seed: int) -> list[_Found]:
    """The same for what Veilset does at home: its own ranking, with its defaults and everything exposed."""
    found = []
    for case in _cases(data, form, seed):
        if case.query.is_tuning:
            continue
        world = _world(data, case.world)
        results = world.results(case.asked)
        relevant = {result.rank for place, result in results if place in case.query.relevant}
        alpha = alpha_for(case.asked, DEFAULT_ALPHA, ["en"])
        precisions, told = [], []
        for user in (case.user, world.users.index(world.other(world.users[case.user]))):
            exposure = _profile(data, case.world, user, USUAL).expose(ratio=1)
            ranked = rerank([one for _, one in results], exposure, alpha=alpha, scoring=DEFAULT_SCORING)
            precisions.append(average_precision([one.position for one in ranked if one.result.rank in relevant]))
            told.append((exposure.ratio, float(exposure.min_detail), len(exposure.terms)))
        found.append(_Found(case.query, average_precision(relevant), precisions[:1], precisions[1:], told[0]))
    return found


def _scores(case: Case, setting: Setting, places: npt.NDArray[np.int64], shares: Floats) -> Floats:
    """UPScore by one of the scorings."""
    counts = case.counts[setting.text][:, places].toarray()
    lengths, norms = case.sizes[setting.text]
    idf = case.idf[places]
    scores: dict[str, Callable[[], Floats]] = {
        "thesis": lambda: counts @ -np.log10(shares),
        "support": lambda: counts @ shares,
        "support × own idf": lambda: counts @ (shares * -np.log10(shares)),
        "support × idf": lambda: counts @ (shares * idf),
        "support × idf, by length": lambda: counts @ (shares * idf) / lengths,
        "support × idf, dampened": lambda: np.log1p(counts) @ (shares * idf),
        "cosine": lambda: counts @ (shares * idf**2) / norms,
        "support × idf of results, by length": lambda: counts @ (shares * _idf_in(counts)) / lengths,
    }
    return scores[setting.scoring]()


def _idf_in(counts: Floats) -> Floats:
    return np.log((len(counts) + 1) / ((counts > 0).sum(axis=0) + 0.5))


def _sizes(counts: csr_matrix, idf: Floats) -> tuple[Floats, Floats]:
    """The words of each text, and the length of its vector."""
    words = np.maximum(np.asarray(counts.sum(axis=1)).ravel(), 1)
    return words, np.maximum(np.sqrt(counts.power(2) @ idf**2), 1e-9)


def _at_each_alpha(scores: Floats, relevant: npt.NDArray[np.bool_]) -> list[float]:
    """Average precision; results with the same PPRank are in the engine's order."""
    engine = np.arange(1, len(relevant) + 1)
    alphas = np.array(ALPHAS)[:, None]
    mixed = np.round(alphas * rankdata(-np.round(scores, 12)) + (1 - alphas) * engine, 9)
    hits = relevant[np.argsort(mixed, axis=1, kind="stable")]
    precisions: list[float] = ((np.cumsum(hits, axis=1) / engine * hits).sum(axis=1) / relevant.sum()).tolist()
    assert abs(precisions[0] - average_precision(engine[relevant].tolist())) < 1e-9
    return precisions


def _pseudonyms(terms: int, data: Path) -> Result:
    """How many users have a set of terms that nobody else has, by number of terms: a share of all (in `own`)."""
    sets = []
    for number in _worlds():
        for place, _ in enumerate(_world(data, number).users):
            exposure = _profile(data, number, place, USUAL).expose(min_detail=0)
            sets.append(frozenset(term for term, _ in exposure.pairs[:terms]))
    alone = sum(count == 1 for count in Counter(sets).values())
    return Result(len(sets), len(set(sets)), alone, *[0.0] * 8, float(terms))
