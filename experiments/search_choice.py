"""Which default the evaluation supports: chosen on one collection, reported on the other, and the other way round.

The rule below and the candidates in `search_settings.py` were written down before anything was run on one collection
alone. It is applied to short queries and to full ones apart:

1. On one collection, the candidate with the largest mean gain over the engine's order is chosen. If the interval of its
   gain does not lie above zero, nothing is: the engine's order stays.
2. What was chosen is run on the other collection. Only that is reported.
3. The default re-ranks these queries if both directions chose something, both gained where they were reported, and the
   mean of these two gains is beyond chance. Otherwise it leaves their order alone.
4. The default then has the scoring and the α with the largest mean of the gains on both collections; one scoring for
   all queries that are re-ranked. Its own gain there is not reported, as it was chosen by it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from charts import Panel, Value
from paper import Chart, holds, table
from search_data import COLLECTIONS
from search_settings import (
    ALPHAS,
    AT_HOME,
    FORMS,
    REPEATS,
    SCOPES,
    SCORINGS,
    TEXTS,
    TOGETHER,
    Result,
    Setting,
    candidates,
)

from veilset.search.precision import Mean
from veilset.search.ranking import DEFAULT_ALPHA, DEFAULT_SCORING, alpha_for

Results = Mapping[Setting, Result]

IN_PRODUCT = {"thesis": "thesis", "support × idf of results, by length": "interest"}
"""The scorings that Veilset has, by their names here."""

_QUERIES = {"short": "jaguar", "full": "how fast can a jaguar run uphill"}
"""A query of each kind, for asking Veilset which weight it gives them."""


@dataclass(frozen=True)
class Direction:
    """What was chosen on a collection, and what that gives on the other one; None: nothing was chosen."""

    chosen_on: str
    reported_on: str
    chosen: Setting | None
    there: Result | None
    here: Result | None

    @property
    def gain(self) -> Mean:
        """The gain that is reported; 0 if nothing was chosen."""
        here = self.here
        return Mean(0.0, 0.0, 0.0, 0) if here is None else Mean(here.gain, here.gain_low, here.gain_high, here.cases)


def directions(results: Results, form: str, seed: int) -> list[Direction]:
    """Steps 1 and 2 of the rule, both ways round."""
    both = []
    for chosen_on, reported_on in (COLLECTIONS, COLLECTIONS[::-1]):
        known = [at for at in candidates(chosen_on, form, seed) if at in results]
        if not known:
            return []
        best = max(known, key=lambda at: (results[at].gain, -at.alpha))
        if results[best].gain_low > 0:
            here = results[replace(best, library=reported_on)]
            both.append(Direction(chosen_on, reported_on, best, results[best], here))
        else:
            both.append(Direction(chosen_on, reported_on, None, None, None))
    return both


def mean_of_both(both: Sequence[Direction]) -> Mean:
    """The mean of the two gains, each collection counting the same; their queries are not the same, so errors add up
    as those of independent numbers."""
    one, other = (direction.gain for direction in both)
    value = (one.value + other.value) / 2
    below = math.hypot(one.value - one.low, other.value - other.low) / 2
    above = math.hypot(one.high - one.value, other.high - other.value) / 2
    return Mean(value, value - below, value + above, one.count + other.count)


def is_supported(both: Sequence[Direction]) -> bool:
    """Step 3 of the rule."""
    return all(one.chosen is not None and one.gain.value > 0 for one in both) and mean_of_both(both).low > 0


def default(results: Results) -> dict[str, Setting]:
    """Step 4 of the rule: how each kind of queries is re-ranked, if it is."""
    supported = [form for form in FORMS if (both := directions(results, form, TOGETHER)) and is_supported(both)]

    def mean_gain(at: Setting) -> float:
        return sum(results[replace(at, library=one)].gain for one in COLLECTIONS) / len(COLLECTIONS)

    def best(form: str, scoring: str) -> Setting:
        known = (at for at in candidates(COLLECTIONS[0], form, TOGETHER) if at in results)
        of_scoring = (at for at in known if at.scoring == scoring)
        return max(of_scoring, key=lambda at: (mean_gain(at), -at.alpha))

    scoring = max(AT_HOME, key=lambda name: sum(mean_gain(best(form, name)) for form in supported))
    return {form: best(form, scoring) for form in supported}


def interval(value: float, low: float, high: float) -> str:
    """A difference with its interval; bold if it is beyond chance."""
    text = f"{value:+.3f} ({low:+.3f} to {high:+.3f})"
    return f"**{text}**" if low > 0 or high < 0 else text


def gain_of(result: Result) -> str:
    """What a profile gives beyond the engine's order."""
    return interval(result.gain, result.gain_low, result.gain_high)


def over_of(result: Result) -> str:
    """What one's own profile gives beyond somebody else's."""
    return interval(result.over_other, result.over_low, result.over_high)


def transfer(results: Results) -> str:
    """What each collection chose, and what came of it on the other."""
    lines: list[tuple[object, ...]] = []
    for form, seed in product(FORMS, (*REPEATS, TOGETHER)):
        for one in directions(results, form, seed):
            start = (form, _repeat(seed), one.chosen_on)
            if one.chosen is None or one.there is None or one.here is None:
                lines.append((*start, "none", "0", "", one.reported_on, "", "", "", ""))
            else:
                lines.append(
                    (
                        *start,
                        one.chosen.scoring,
                        one.chosen.alpha,
                        gain_of(one.there),
                        one.reported_on,
                        f"{one.here.none:.3f}",
                        f"{one.here.own:.3f}",
                        gain_of(one.here),
                        over_of(one.here),
                    )
                )
    head = (
        "queries",
        "repeat",
        "chosen on",
        "scoring",
        "α",
        "gain there",
        "reported on",
        "engine",
        "with profile",
        "gain",
        "over another",
    )
    return table(head, lines)


def _repeat(seed: int) -> str:
    return "all" if seed == TOGETHER else str(seed)


def means(results: Results) -> str:
    """The mean of both directions, for each kind of queries and each repeat."""
    lines = []
    for form, seed in product(FORMS, (*REPEATS, TOGETHER)):
        if both := directions(results, form, seed):
            mean = mean_of_both(both)
            lines.append((form, _repeat(seed), interval(mean.value, mean.low, mean.high)))
    return table(("queries", "repeat", "mean gain where it was not chosen"), lines)


def by_weight(results: Results) -> Iterator[Chart]:
    """The gain of every candidate on each collection."""
    for form in FORMS:
        panels = []
        for library in COLLECTIONS:
            lines: dict[str, dict[str, Value]] = {}
            for at in candidates(library, form, TOGETHER):
                if at in results:
                    lines.setdefault(at.scoring, {})[str(at.alpha)] = value(results[at])
            panels.append(Panel(f"α; {form} queries, {library}", list(map(str, ALPHAS[1:])), lines))
        yield Chart(f"weights-{form}", f"gain of every candidate by α, {form} queries", panels, "gain")


def value(result: Result) -> Value:
    """A gain as a point of a chart."""
    return Value(result.gain, (result.gain_high - result.gain_low) / 2, result.cases)


def tuned(results: Results, variant: Setting) -> Setting | None:
    """The variant with the α that gains most on its collection, 0 if none gains; None if it was not run."""
    tried = [at for alpha in ALPHAS[1:] if (at := replace(variant, alpha=alpha)) in results]
    best = max(tried, key=lambda at: (results[at].gain, -at.alpha), default=None)
    return best if best is None or results[best].gain > 0 else replace(best, alpha=0.0)


def variants(results: Results) -> str:
    """All variants: α chosen on one collection, the gain on the other."""
    lines: list[tuple[object, ...]] = []
    for form, text, scoring, scope in product(FORMS, TEXTS, SCORINGS, SCOPES):
        cells: list[object] = []
        for chosen_on, reported_on in (COLLECTIONS, COLLECTIONS[::-1]):
            at = tuned(results, Setting("variant", chosen_on, form=form, text=text, scoring=scoring, scope=scope))
            if at is None:
                break
            here = results.get(replace(at, library=reported_on))
            cells += [at.alpha, *((gain_of(here), over_of(here)) if here is not None else ("", ""))]
        else:
            lines.append((form, TEXTS[text], f"{scoring}: {SCORINGS[scoring]}", SCOPES[scope], *cells))
    each = [
        head
        for chosen_on, reported_on in (COLLECTIONS, COLLECTIONS[::-1])
        for head in (f"α by {chosen_on}", f"gain on {reported_on}", f"over another, {reported_on}")
    ]
    return table(("queries", "counted in", "scoring", "terms", *each), lines)


def findings(results: Results) -> Iterator[object]:
    """What decides the default, and whether Veilset has it."""
    for form in FORMS:
        repeats = [one for seed in REPEATS for one in directions(results, form, seed)]
        chosen = [one for one in repeats if one.here is not None]
        name = f"{form.capitalize()} queries: "
        yield holds(
            f"{name}some candidate helps beyond chance where it is chosen.",
            (one.chosen is not None for one in repeats),
            "choices",
        )
        if chosen:
            yield holds(
                f"{name}what was chosen helps on the other collection beyond chance.",
                (one.gain.low > 0 for one in chosen),
                "choices",
            )
            yield holds(
                f"{name}there, one's own profile is better than somebody else's.",
                (one.here.over_low > 0 for one in chosen if one.here is not None),
                "choices",
            )
        if both := directions(results, form, TOGETHER):
            mean = mean_of_both(both)
            gained = f"the mean gain where it was not chosen is {interval(mean.value, mean.low, mean.high)}"
            says = gained if any(one.chosen for one in both) else "nothing was chosen on either collection"
            does = "re-ranks them" if is_supported(both) else "leaves their order alone"
            yield f"- {name}with all repeats together, {says}. By the rule, the default {does}."
    if not any(directions(results, form, TOGETHER) for form in FORMS):
        return
    rule = default(results)
    for at in rule.values():
        yield f"- By the rule, the default for {at.form} queries is: {at.scoring}, α = {at.alpha}."
    yield holds(
        "Veilset's default is that of the rule.",
        (_is_product(form, rule.get(form)) for form in FORMS),
        "kinds of queries",
    )
    yield from seen_afterwards(results)


def seen_afterwards(results: Results) -> Iterator[object]:
    """What was noticed when all was run, and therefore decides nothing."""
    at = Setting("variant", form="short", scoring=AT_HOME[-1], alpha=ALPHAS[1], seed=TOGETHER)
    found = {one: results[there] for one in COLLECTIONS if (there := replace(at, library=one)) in results}
    if found:
        gains = ", ".join(f"{gain_of(result)} on {name}" for name, result in found.items())
        yield (
            f"- Noticed when all was run, so it decides nothing, and needs other collections to be tested: with "
            f"{at.scoring}, α = {at.alpha} changes the order of short queries little, by {gains}."
        )


def _is_product(form: str, at: Setting | None) -> bool:
    weight = float(alpha_for(_QUERIES[form], DEFAULT_ALPHA, ["en"]))
    return weight == (0.0 if at is None else at.alpha) and (at is None or IN_PRODUCT.get(at.scoring) == DEFAULT_SCORING)
