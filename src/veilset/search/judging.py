"""Judgements of the user about results, collected blind (thesis §5.3.1).

Clicks on results that were ranked anew are biased: people click what is on top. So the user judges the results of a
query in random order, without ranks and without a profile. `veilset.search.evaluation` makes a curve of them.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from veilset.search.ranking import Result


@dataclass(frozen=True)
class Judging:
    """Results of a query to be judged, in random order."""

    query: str
    results: tuple[Result, ...]

    @classmethod
    def of(cls, query: str, results: Sequence[Result]) -> Judging:
        """The results of an engine, shuffled."""
        return cls(query, tuple(random.SystemRandom().sample(list(results), len(results))))

    def entry(self, relevant: Collection[int]) -> dict[str, Any]:
        """What is stored of it, given the positions of those that are relevant."""
        kept = [[one.title, one.snippet, one.address, one.rank] for one in self.results]
        return {"query": self.query, "results": kept, "relevant": sorted(relevant)}
