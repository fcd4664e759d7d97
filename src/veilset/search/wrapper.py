"""The search wrapper: a query goes to an engine, and its results are ranked anew (thesis §5.2.3, Figure 36).

`search_at_home` ranks on this machine: only the query leaves, and not even that if the engine is the embedded one.
`search_exposed` is the thesis' mode: a server gets the query with the exposed part of the profile, asks an engine, and
ranks. What it does there is `answer_for`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from veilset.search.asking import Message, NoAnswer, ask
from veilset.search.engines import MOST_RESULTS, Engine, Found
from veilset.search.engines.engine import encodable
from veilset.search.exposure import Exposure
from veilset.search.fetching import Fetcher
from veilset.search.ranking import Ranked, Result, alpha_for, rerank
from veilset.views import clipped

Log = Callable[[Mapping[str, Any]], None]
"""Is told what leaves the machine, before it does."""

_RANK = re.compile(r"[0-9]{1,6}(/[1-9][0-9]{0,5})?", re.ASCII)
_SECONDS = 30
_LARGEST = 5_000_000


@dataclass(frozen=True)
class Reply:
    """Results in their personal order.

    Parameters
    ----------
    query : str
        What was looked for.
    ranked : list of Ranked
        The results.
    notes : tuple of str
        What the user should know about them.
    """

    query: str
    ranked: list[Ranked]
    notes: tuple[str, ...] = ()

    @property
    def original(self) -> list[Ranked]:
        """The results in the engine's order."""
        return sorted(self.ranked, key=lambda one: one.result.rank)


def search_at_home(
    query: str,
    engine: Engine,
    exposure: Exposure | Mapping[str, float],
    *,
    alpha: float | str | Fraction,
    scoring: str,
    log: Log,
    fetcher: Fetcher | None = None,
) -> Reply:
    """Ask an engine, and rank on this machine; with a *fetcher*, by the pages of all results."""
    if engine.destination:
        log({"to": engine.destination, "query": query, "terms": []})
    found = engine.search(query, MOST_RESULTS)
    if fetcher is not None and found.results:
        found = _with_pages(found, engine, fetcher, log)
    return Reply(query, rerank(found.results, exposure, alpha=alpha, scoring=scoring), found.notes)


def _with_pages(found: Found, engine: Engine, fetcher: Fetcher, log: Log) -> Found:
    """The results with their pages, if all could be read; else as they are, with a note that says why."""
    if not engine.destination:
        return Found(found.results, (*found.notes, "Your own documents have no pages to fetch."))
    log({"to": "the pages of all results", "addresses": [one.address for one in found.results], "terms": []})
    fetched = fetcher.pages(found.results)
    led_on = [address for address in fetched.asked if address not in {one.address for one in found.results}]
    if led_on:
        log({"to": "where these pages led on", "addresses": led_on, "terms": []})
    if not fetched.failed:
        return Found(fetched.results, found.notes)
    address, why = next(iter(fetched.failed.items()))
    many = f"{len(fetched.failed):,} of {len(found.results):,} pages could not be read"
    note = f"{many}, so titles and snippets rank all results. The first is {clipped(address, 80)}: {why}"
    return Found(fetched.results, (*found.notes, note))


def search_exposed(message: Message, query: str, terms: Sequence[Sequence[Any]], *, log: Log) -> Reply:
    """Send a query with the exposed terms to a wrapper on a server; the answer is in its order."""
    log({"to": message.host, "query": query, "terms": [list(pair) for pair in terms]})
    answer = ask(message, seconds=_SECONDS, most=_LARGEST)
    who = f"The search wrapper at {message.host}"
    try:
        told = json.loads(answer.body)
        if answer.status != 200:
            why = clipped(str(told["error"]), 300)
            raise NoAnswer(f"{who} says: {why}", "Try again later, or rank at home.")
        ranked = [_ranked(entry) for entry in told["results"][:MOST_RESULTS]]
        notes = tuple(clipped(str(note), 300) for note in told["notes"])
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError):
        raise NoAnswer(f"{who} gave no proper answer (status {answer.status}).", "Check its address.") from None
    if sorted(one.position for one in ranked) != list(range(1, len(ranked) + 1)):
        raise NoAnswer(f"{who} gave results without an order.", "Check its address.")
    return Reply(query, sorted(ranked, key=lambda one: one.position), notes)


def answer_for(asked: Any, engine: Engine, alpha: str, scoring: str) -> dict[str, Any]:
    """What a server answers to `exposing_message`: the results in the order for these terms."""
    query, terms = asked["query"], asked["terms"]
    found = engine.search(query, MOST_RESULTS)
    weights = {term: Decimal(str(weight)) for term, weight in terms}
    ranked = rerank(found.results, weights, alpha=alpha_for(query, alpha), scoring=scoring)
    return {"results": [_told(one) for one in ranked], "notes": list(found.notes)}


def unranked(reply: Reply) -> Reply:
    """The same results as the engine gave them: personalisation is off."""
    plain = [replace(one, position=at, reasons={}) for at, one in enumerate(reply.original, 1)]
    return replace(reply, ranked=plain)


def _told(one: Ranked) -> dict[str, Any]:
    result = one.result
    return {
        "title": result.title,
        "snippet": result.snippet,
        "address": result.address,
        "rank": result.rank,
        "position": one.position,
        "up_score": one.up_score,
        "up_rank": str(one.up_rank),
        "pp_rank": str(one.pp_rank),
        "reasons": one.reasons,
    }


def _ranked(told: Mapping[str, Any]) -> Ranked:
    """A result as a server tells it; each part is checked for what it is, because the server is not ours."""
    title, snippet, address = (encodable(str(told[name])[:2_000]) for name in ("title", "snippet", "address"))
    reasons = {encodable(str(term)[:200]): int(count) for term, count in dict(told["reasons"]).items()}
    ranks = _rank(told["up_rank"]), _rank(told["pp_rank"])
    result = Result(title, snippet, address, int(told["rank"]))
    return Ranked(result, int(told["position"]), float(told["up_score"]), *ranks, reasons)


def _rank(told: object) -> Fraction:
    """A rank as a server tells it; not just any number, since "1e999999999" would keep this machine busy."""
    if not _RANK.fullmatch(str(told)):
        raise ValueError
    return Fraction(str(told))
