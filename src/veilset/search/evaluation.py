"""What a profile does for one's own queries, by one's own judgements, collected blind (thesis §5.3).

Each judged query is ranked at home at several positions of the dial, and average precision says how good the order
would have been. Queries without a relevant result are dropped, as in the thesis. Differences from the engine's order
are paired by query, with intervals: a handful of queries decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from veilset.errors import UnreadableInput
from veilset.search.exposure import Exposure, Setting
from veilset.search.precision import Mean, average_precision, mean_of
from veilset.search.profile import Profile
from veilset.search.ranking import (
    DEFAULT_SCORING,
    Occurrences,
    Result,
    Weights,
    alpha_for,
    count_words,
    mixed_order,
    up_scores,
    word_values,
    words_of,
)

_STEPS = 10


@dataclass(frozen=True)
class Judged:
    """A query with its results in the engine's order, ranked from 1, and the ranks of those that are relevant."""

    query: str
    results: tuple[Result, ...]
    relevant: frozenset[int]

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Judged:
        """What was stored of a judgement: results as lists of title, snippet, address and rank; relevant positions."""
        try:
            given = [
                Result(str(title), str(snippet), str(address), int(rank))
                for title, snippet, address, rank in entry["results"]
            ]
            order = sorted(range(len(given)), key=lambda at: given[at].rank)
            rank_of = {at: rank for rank, at in enumerate(order, 1)}
            relevant = frozenset(rank_of[at] for at in entry["relevant"])
            query = str(entry["query"])
        except (KeyError, TypeError, ValueError) as error:
            raise UnreadableInput(
                f"A judgement cannot be read ({type(error).__name__}: {error}).",
                "Delete it, and judge its query again.",
            ) from None
        results = (Result(given[at].title, given[at].snippet, given[at].address, rank_of[at]) for at in order)
        return cls(query, tuple(results), relevant)


@dataclass(frozen=True)
class Point:
    """How good the order of results is at a position of the dial, and how much better than the engine's."""

    setting: Setting
    precision: Mean
    gain: Mean


@dataclass(frozen=True)
class Evaluation:
    """Quality against exposure.

    Parameters
    ----------
    queries, dropped : int
        How many judged queries count, and how many have no relevant result.
    engine : Mean
        The average precision of the engine's own order.
    points : tuple of Point
        From nothing exposed to all that is not hidden.
    """

    queries: int
    dropped: int
    engine: Mean
    points: tuple[Point, ...]

    @property
    def best(self) -> Point:
        """The position with the highest average precision; of several that which exposes least."""
        return max(self.points, key=lambda point: (point.precision.value, -point.setting.ratio))

    def to_json(self) -> dict[str, Any]:
        """The same as data."""
        return {
            "queries": self.queries,
            "dropped": self.dropped,
            "engine": vars(self.engine),
            "points": [
                {
                    "min_detail": float(point.setting.min_detail),
                    "ratio": point.setting.ratio,
                    "terms": point.setting.terms,
                    "precision": vars(point.precision),
                    "gain": vars(point.gain),
                }
                for point in self.points
            ],
        }


def evaluate(
    entries: Iterable[Mapping[str, Any]],
    profile: Profile,
    *,
    alpha: float | str | Fraction,
    scoring: str = DEFAULT_SCORING,
    hidden: Iterable[str] = (),
) -> Evaluation | None:
    """Quality against exposure, by these judgements; None if no query has a relevant result.

    Parameters
    ----------
    entries : iterable of mappings
        Judgements as they are stored. Of several for one query the last counts.
    profile : Profile
        Whose profile it is.
    alpha : float or str
        The weight of the profile against the engine, or "auto".
    scoring : str
        What an occurrence of a term adds; as for `rerank`.
    hidden : iterable of str
        Branches that are hidden.
    """
    judged = {one.query: one for one in map(Judged.of, entries)}
    mixes = {query: alpha_for(query, alpha, profile.languages) for query in judged}
    counted = [one for one in judged.values() if one.relevant]
    if not counted:
        return None
    everything = profile.expose(min_detail=0, hidden=hidden)
    words = words_of(everything.terms)
    found = [count_words(one.results, words, profile.languages) for one in counted]
    before = [average_precision(one.relevant) for one in counted]
    points = []
    for setting in _spread(everything):
        sent = everything.dial.exposed(setting.min_detail).terms
        after = [
            _precision(one, _only(held, sent), sent, scoring, mixes[one.query])
            for one, held in zip(counted, found, strict=True)
        ]
        gains = [new - old for new, old in zip(after, before, strict=True)]
        points.append(Point(setting, mean_of(after), mean_of(gains)))
    return Evaluation(len(counted), len(judged) - len(counted), mean_of(before), tuple(points))


def _only(found: Sequence[Occurrences], sent: Weights) -> list[Occurrences]:
    """The occurrences of what is exposed at this position."""
    words = words_of(sent)
    return [
        Occurrences({word: count for word, count in one.counts.items() if word in words}, one.length) for one in found
    ]


def _precision(judged: Judged, found: Sequence[Occurrences], sent: Weights, scoring: str, alpha: Fraction) -> float:
    scores = up_scores(found, word_values(found, sent, scoring), scoring)
    order = mixed_order(scores, [one.rank for one in judged.results], alpha)
    return average_precision(
        position for position, (at, _, _) in enumerate(order, 1) if judged.results[at].rank in judged.relevant
    )


def _spread(everything: Exposure) -> list[Setting]:
    """Positions whose ratios are about a tenth apart, nothing first and everything last."""
    settings = everything.settings()
    chosen = [settings[0]]
    for setting in settings[1:]:
        if setting.ratio >= chosen[-1].ratio + 1 / _STEPS:
            chosen.append(setting)
    return chosen if chosen[-1] == settings[-1] else [*chosen, settings[-1]]
