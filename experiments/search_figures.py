"""Figures 37 to 41 of the thesis, rebuilt from the results, and what the thesis reads off them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from charts import Panel, Value
from paper import holds, table
from search_choice import Results, gain_of, value
from search_data import SOURCES
from search_settings import ALPHAS, BEST, DETAILS, FORMS, RATIOS, TERMS, TEXTS, USUAL, Setting


def sources(results: Results) -> str:
    """Figure 37."""
    lines = []
    for form in FORMS:
        for text in TEXTS:
            for name in SOURCES:
                found = results.get(Setting("figure", form=form, text=text, sources=name, alpha=0.5))
                if found is not None:
                    lines.append(
                        (
                            form,
                            TEXTS[text],
                            name,
                            f"{found.none:.3f}",
                            f"{found.own:.3f}",
                            gain_of(found),
                            f"{found.terms:.0f}",
                        )
                    )
    return table(("queries", "counted in", "sources", "engine", "with profile", "gain", "terms"), lines)


def by_alpha(results: Results) -> Iterator[Panel]:
    """Figure 38."""
    for form in FORMS:
        at = Setting("figure", form=form)
        lines = {
            name: {str(alpha): replace(at, scoring=name, alpha=alpha) for alpha in ALPHAS} for name in ("thesis", BEST)
        }
        yield _panel(results, f"α; {form} queries", list(map(str, ALPHAS)), lines)


def by_dial(results: Results, dial: str, positions: Sequence[float]) -> Iterator[Panel]:
    """Figures 40 and 41."""
    for form in FORMS:
        at = Setting("figure", form=form, dial=dial)
        lines = {
            name: {str(one): replace(at, scoring=name, exposed=one) for one in positions} for name in ("thesis", BEST)
        }
        yield _panel(results, f"{dial}; {form} queries", list(map(str, positions)), lines)


def _panel(results: Results, across: str, points: list[str], lines: Mapping[str, Mapping[str, Setting]]) -> Panel:
    drawn = {
        name: {point: value(results[at]) for point, at in line.items() if at in results} for name, line in lines.items()
    }
    return Panel(across, points, {name: line for name, line in drawn.items() if line})


def detail_to_ratio(results: Results) -> Panel:
    """Figure 39."""
    at = Setting("figure", form="full", dial="min_detail")
    line = {
        str(detail): Value(results[there].ratio, 0.0, 1)
        for detail in DETAILS
        if (there := replace(at, exposed=detail)) in results
    }
    return Panel("minDetail", list(map(str, DETAILS)), {"expRatio": line} if line else {})


def exposures(results: Results) -> str:
    """Figures 39 to 41 as numbers."""
    lines = []
    for dial, positions in (("ratio", RATIOS), ("min_detail", DETAILS)):
        for one in positions:
            at = Setting("figure", form="short", dial=dial, exposed=one)
            if at in results and replace(at, scoring=BEST) in results:
                found = results[at]
                cells = [
                    gain_of(results[replace(at, form=form, scoring=name)])
                    for form in FORMS
                    for name in ("thesis", BEST)
                ]
                lines.append((dial, one, f"{found.ratio:.0%}", f"{found.min_detail:.3f}", f"{found.terms:.0f}", *cells))
    gains = [f"gain, {form} queries, {name}" for form in FORMS for name in ("thesis", BEST)]
    return table(("dial", "position", "exposed", "minDetail", "terms", *gains), lines)


def pseudonyms(results: Results) -> str:
    """How many users the first terms tell apart."""
    found = [(terms, results.get(Setting("pseudonym", dial="terms", exposed=float(terms)))) for terms in TERMS]
    lines = [(terms, one.cases, f"{one.none:.0f}", f"{one.own:.0f}") for terms, one in found if one is not None]
    return table(("terms", "users", "different sets", "users with a set of their own"), lines)


def findings(results: Results) -> Iterator[object]:
    """What the thesis reads off its figures."""
    theirs = [name for name in SOURCES if name != "pages"]
    at_half = [Setting("figure", form=form, text=text, alpha=0.5) for form in FORMS for text in TEXTS]
    qualities = [{name: results[replace(at, sources=name)].own for name in theirs} for at in at_half if at in results]
    yield holds(
        "History and mail together are the best sources (Figure 37).",
        (found[USUAL] == max(found.values()) for found in qualities),
        "kinds of queries and texts",
    )
    for_six = [Setting("figure", form=form, text=text) for form in FORMS for text in TEXTS]
    known = [results[at] for at in for_six if at in results]
    yield holds(
        "With the thesis' scoring and α = 0.6, the profile improves the engine's order.",
        (one.gain_low > 0 for one in known),
        "kinds of queries and texts",
    )
    yield holds("It makes it worse.", (one.gain_high < 0 for one in known), "kinds of queries and texts")
    by_form = [
        {alpha: results[at].own for alpha in ALPHAS if (at := Setting("figure", form=form, alpha=alpha)) in results}
        for form in FORMS
    ]
    yield holds(
        "The best weight with the thesis' scoring is from 0.5 to 0.7 (Figure 38).",
        (0.5 <= max(line, key=lambda alpha: line[alpha]) <= 0.7 for line in by_form if line),
        "kinds of queries",
    )
    line = [one.mean for one in detail_to_ratio(results).lines.get("expRatio", {}).values()]
    whole = line if len(line) == len(DETAILS) else []
    straight = [whole[0] + (whole[-1] - whole[0]) * detail / DETAILS[-1] for detail in DETAILS if whole]
    yield holds(
        "expRatio falls almost in a straight line as minDetail grows, no more than a tenth off (Figure 39).",
        (abs(there - expected) <= 0.1 for there, expected in list(zip(whole, straight, strict=True))[1:-1]),
        "positions in between",
    )
    yield from _what_exposure_gives(results)


def _what_exposure_gives(results: Results) -> Iterator[object]:
    """Figures 40 and 41."""
    flat = [
        tuple(Setting("figure", form=form, scoring=scoring, exposed=ratio) for ratio in (0.8, 1.0))
        for form in FORMS
        for scoring in ("thesis", BEST)
    ]
    yield holds(
        "Beyond 80% exposed, quality hardly changes: by less than 0.01 (Figure 40).",
        (abs(results[most].gain - results[all_of_it].gain) < 0.01 for most, all_of_it in flat if most in results),
        "kinds of queries and scorings",
    )
    at = Setting("figure", form="short", scoring=BEST)
    some = [replace(at, exposed=ratio) for ratio in (0.2, 0.4, 1.0)]
    if all(one in results for one in some):
        fifth, part, everything = (results[one] for one in some)
        yield (
            f"- A small part of the profile gives most of the gain (Figure 40; short queries, {BEST}): "
            f"{part.ratio:.0%} exposed, some {part.terms:.0f} terms, give {part.gain / everything.gain:.0%} of what "
            f"everything gives, {fifth.ratio:.0%} give {fifth.gain / everything.gain:.0%}. The thesis says the same."
        )
    details = [replace(at, dial="min_detail", exposed=detail) for detail in (0.0, 0.01, 0.1)]
    if all(one in results for one in details):
        everything, little, much = (results[one] for one in details)
        yield (
            f"- A minDetail of 0.01 leaves {little.gain / everything.gain:.0%} of the gain, 0.1 only "
            f"{much.gain / everything.gain:.0%} (Figure 41; the same). In the thesis, 0.1 costs little: its users' "
            "supports are larger."
        )
