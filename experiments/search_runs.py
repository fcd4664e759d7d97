"""Runs on simulated users: rankings by every variant, and their average precision."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from scipy.stats import rankdata
from search_data import BOTH, Query, World, collected
from search_settings import ALPHAS, BEST, REPEATS, SCORINGS, TOGETHER, USUAL, WORLDS, Result, Setting

from veilset.search import Profile
from veilset.search.precision import average_precision, mean_of
from veilset.search.terms import Terms

_ENGLISH = Terms(("en",))
Floats = npt.NDArray[np.float64]


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


def run(setting: Setting, data: Path) -> Result:
    """What came of a setting."""
    if setting.kind == "pseudonym":
        return _pseudonyms(int(setting.exposed), data)
    seeds = REPEATS if setting.library != BOTH and setting.seed == TOGETHER else (setting.seed,)
    scorings = ("thesis", BEST) if setting.kind == "figure" else tuple(SCORINGS)
    at_any = replace(setting, kind="", scoring="", alpha=0.0)
    found = [one for seed in seeds for one in _precisions(data, replace(at_any, seed=seed), scorings)]
    names, at = [one.query.name for one in found], ALPHAS.index(setting.alpha)
    nones, owns, others = (
        [one.none for one in found],
        [one.own[setting.scoring][at] for one in found],
        [one.other[setting.scoring][at] for one in found],
    )
    gain = mean_of([own - none for own, none in zip(owns, nones, strict=True)], names)
    over = mean_of([own - other for own, other in zip(owns, others, strict=True)], names)
    return Result(
        len(found),
        *(float(np.mean(values)) for values in (nones, owns)),
        *(gain.value, gain.low, gain.high),
        *(over.value, over.low, over.high),
        *(float(np.mean([one.exposed[place] for one in found])) for place in range(3)),
    )


@dataclass(frozen=True)
class _Found:
    """Average precision without a profile; and by scoring at each α, with one's own and with somebody else's."""

    query: Query
    none: float
    own: dict[str, list[float]]
    other: dict[str, list[float]]
    exposed: tuple[float, float, int]


@cache
def _world(data: Path, library: str, number: int) -> World:
    return World.of(data, library, number)


def _worlds(seed: int) -> range:
    """The numbers of the worlds of a repeat: no two share one."""
    return range(seed * WORLDS, (seed + 1) * WORLDS)


@cache
def _vocabulary(data: Path) -> dict[str, int]:
    texts, _ = collected(data)
    return {stem: at for at, stem in enumerate(sorted({stem for text in texts for stem in text.stems}))}


@cache
def _cases(data: Path, library: str, form: str, seed: int) -> list[Case]:
    """All queries of all users with something relevant among the results, as in the thesis."""
    cases = []
    vocabulary = _vocabulary(data)
    for number in _worlds(seed):
        world = _world(data, library, number)
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
def _profile(data: Path, library: str, world: int, user: int, sources: str) -> Profile:
    return Profile.build(_world(data, library, world).users[user].documents(sources), languages=["en"])


@cache
def _shares(
    data: Path, setting: Setting, world: int, user: int, query: str | None
) -> tuple[npt.NDArray[np.int64], Floats, tuple[float, float, int]]:
    """The exposed terms, as places in the vocabulary, with their probabilities; and how much that is."""
    given = {setting.dial: Fraction(str(setting.exposed))}
    exposure = _profile(data, setting.library, world, user, setting.sources).expose(**given, query=query)
    vocabulary = _vocabulary(data)
    largest: dict[int, float] = {}
    for node in exposure.nodes:
        for stem in node.stems:
            if stem in vocabulary:
                largest.setdefault(vocabulary[stem], float(node.probability))
    told = (exposure.ratio, float(exposure.min_detail), len(exposure.terms))
    return np.array(list(largest), np.int64), np.array(list(largest.values())), told


@cache
def _precisions(data: Path, setting: Setting, scorings: tuple[str, ...]) -> list[_Found]:
    """For every case: average precision without a profile, with one's own and with somebody else's."""
    found = []
    exposed = replace(setting, form="", text="", scope="", seed=0)  # what the exposed terms depend on, with the query
    for case in _cases(data, setting.library, setting.form, setting.seed):
        world = _world(data, setting.library, case.world)
        other = world.users.index(world.other(world.users[case.user]))
        query = case.asked if setting.scope == "related" else None
        lines, told = [], []
        for user in (case.user, other):
            places, shares, amount = _shares(data, exposed, case.world, user, query)
            scores = _scores(case, setting.text, scorings, places, shares)
            lines.append({scoring: _at_each_alpha(line, case.relevant) for scoring, line in scores.items()})
            told.append(amount)
        found.append(_Found(case.query, lines[0][scorings[0]][0], lines[0], lines[1], told[0]))
    return found


def _scores(
    case: Case, text: str, scorings: Iterable[str], places: npt.NDArray[np.int64], shares: Floats
) -> dict[str, Floats]:
    """UPScore by some of the scorings."""
    counts = case.counts[text][:, places].toarray()
    lengths, norms = case.sizes[text]
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
    return {name: scores[name]() for name in scorings}


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
    for number in _worlds(TOGETHER):
        for place, _ in enumerate(_world(data, BOTH, number).users):
            exposure = _profile(data, BOTH, number, place, USUAL).expose(min_detail=0)
            sets.append(frozenset(term for term, _ in exposure.pairs[:terms]))
    alone = sum(count == 1 for count in Counter(sets).values())
    return Result(len(sets), len(set(sets)), alone, *[0.0] * 8, float(terms))
