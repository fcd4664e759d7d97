"""Private personalised search (thesis §5.3, Figures 37 to 41) with simulated users: figures, and what they say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from charts import Panel, Value
from paper import Chart, Paper, holds, listed, table
from search_data import FILES, SOURCES, TOPICS, USERS
from search_runs import (
    AGAIN,
    ALPHAS,
    BEST,
    DETAILS,
    FORMS,
    RATIOS,
    SCOPES,
    SCORINGS,
    TERMS,
    TEXTS,
    USUAL,
    WORLDS,
    Result,
    Setting,
    is_quick,
    run,
    settings,
)

from veilset.search.ranking import DEFAULT_SCORING, SHORT_ALPHA, SHORT_WORDS

Results = Mapping[Setting, Result]

INTRODUCTION = f"""# Experiments: private personalised search

This page repeats Figures 37 to 41 of the thesis (§5.3) on public collections. Its ten people, with their mail, their
history and Microsoft's search engine of 2007, are not to be had. So **users and their sources are simulated here**.
They show which method is better on these collections, not how good it is for you: `veilset search evaluate` measures
that, by your own judgements. `make experiments` generates the page from [search.csv](search.csv).

## Set-up

- **Library**: Cranfield (1,398 abstracts on aerodynamics with text) and CISI (1,460 on information science), as one
  collection. Judgements of Cranfield number queries by their position. Its code -1 means "of no interest" and is not
  relevant, 1 to 4 are relevant. The citations of CISI (.X) are left out.
- **Split**: in each of {WORLDS} repeats, half of the library can be read, and the engine searches the other half.
  Nothing of the half that is searched, neither documents nor judgements, has any part in who a user is.
- **Users**: the half that is read is clustered into {TOPICS} topics (k-means). Each of {USERS} users of a repeat has
  two topics. A query is asked by the users to whose topic most of its relevant documents that can be read belong.
- **Sources**: *history* is the titles of the user's documents, *mail* two sentences of 57% as many (the thesis had 605
  messages for 1,060 pages), *documents* five long files, *pages* whole abstracts. All have noise: documents of other
  topics (three for ten; in long files half). `min_support` and δ are the defaults, 5 and 0.6.
- **Queries**: {{full}} pairs of user and query have a relevant document among the first 50, as the thesis requires.
  *Full* queries are those of the collections, a sentence or more. *Short* ones are the two words of it that are most
  common in the half that is read ("information systems"): what somebody types in a hurry, and as ambiguous
  ({{short}} pairs).
- **Engine**: SQLite FTS5, BM25; 50 results; terms are counted in title and snippet, or in the whole page.
- **Average precision** as the thesis defines it: by final positions, judgements restricted to the 50 results. It is
  checked against `ir-measures`.
- **Tuning**: the variants were listed before anything was run. α is chosen for each variant on the queries with an even
  number; all other numbers on this page are of the odd ones. *Own idf* and the grids of Figures 40 and 41 were added
  after a look at the even ones.
- **Intervals** (95%) are of paired differences, by resampling queries: several users who ask the same query count as
  one."""

ALPHA = """## Figure 38: the weight of the profile

With the thesis' scoring, and with the best one known before. α = 0 is the engine's order. The thesis found its best
order near α = 0.6."""

VARIANTS = """## Every variant

P is the probability of an interest in the profile, idf the inverse document frequency in the engine's collection (which
a profile at home does not know), *own idf* that in the user's documents. α was tuned on the other half of the queries.
*Gain* is over the engine's order, *over another* is what one's own profile gives beyond that of somebody with other
topics. **Bold**: the interval leaves zero out. Intervals are not corrected for the number of variants. The best α of a
variant may be 0; the last column says what 0.1 gives."""

EXPOSURE = f"""## Figures 39 to 41: privacy against quality

Sources are {USUAL}, α = 0.6 as in the thesis."""

DEFAULT = f"α is {SHORT_ALPHA} for up to {SHORT_WORDS} words, else 0"

CAUTION = """- The scoring of the default (the idf of the results, by length) and its α were chosen with the first
  tables of both halves in sight, among scorings that need no collection's idf. So its interval is somewhat too good;
  the tuning half alone would have taken *own idf*, which gains as much. That short queries are re-ranked and full ones
  are not was clear from the tuning half."""

PSEUDONYM = """## A profile is a pseudonym

How many of the simulated users have a set of most general terms that no other has, by the number of terms. Only the
names of the terms are compared; the weights, also when rounded to one decimal, tell even more people apart."""


def page(results: Results) -> Iterator[str | Chart]:
    """All figures, then what holds."""
    counted = {form: _cases(results, form) for form in FORMS}
    yield INTRODUCTION.format(**counted)
    yield "## Figure 37: sources\n\nMean average precision at α = 0.5, everything exposed, the thesis' scoring."
    yield sources(results)
    yield ALPHA
    yield Chart("38", "gain in average precision by α", [*by_alpha(results)], "gain")
    yield VARIANTS
    yield variants(results)
    yield EXPOSURE
    yield Chart("39", "share exposed by minDetail", [detail_to_ratio(results)], "exposed", shares=True)
    yield Chart("40", "gain by share exposed", [*by_dial(results, "ratio", RATIOS)], "gain")
    yield Chart("41", "gain by minDetail", [*by_dial(results, "min_detail", DETAILS)], "gain")
    yield exposures(results)
    yield PSEUDONYM
    yield pseudonyms(results)
    yield "## What holds, and what does not"
    yield listed(findings(results))


def _cases(results: Results, form: str) -> str:
    both = [Setting("variant", form=form, split=split) for split in ("tuning", "reported")]
    return f"{sum(results[at].cases for at in both if at in results):,}"


def _interval(value: float, low: float, high: float) -> str:
    text = f"{value:+.3f} ({low:+.3f} to {high:+.3f})"
    return f"**{text}**" if low > 0 or high < 0 else text


def _gain(result: Result) -> str:
    return _interval(result.gain, result.gain_low, result.gain_high)


def _over(result: Result) -> str:
    return _interval(result.over_other, result.over_low, result.over_high)


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
                            _gain(found),
                            f"{found.terms:.0f}",
                        )
                    )
    return table(("queries", "counted in", "sources", "engine", "with profile", "gain", "terms"), lines)


def by_alpha(results: Results) -> Iterator[Panel]:
    """Figure 38."""
    for form in FORMS:
        at = Setting("variant", form=form)
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
        name: {point: _value(results[at]) for point, at in line.items() if at in results}
        for name, line in lines.items()
    }
    return Panel(across, points, {name: line for name, line in drawn.items() if line})


def _value(result: Result) -> Value:
    return Value(result.gain, (result.gain_high - result.gain_low) / 2, result.cases)


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
                    _gain(results[replace(at, form=form, scoring=name)]) for form in FORMS for name in ("thesis", BEST)
                ]
                lines.append((dial, one, f"{found.ratio:.0%}", f"{found.min_detail:.3f}", f"{found.terms:.0f}", *cells))
    gains = [f"gain, {form} queries, {name}" for form in FORMS for name in ("thesis", BEST)]
    return table(("dial", "position", "exposed", "minDetail", "terms", *gains), lines)


def tuned(results: Results, variant: Setting) -> Setting | None:
    """The variant with the α that was best on the queries for tuning; None if it was not run."""
    tried = [replace(variant, alpha=alpha, split="tuning") for alpha in ALPHAS]
    known = [at for at in tried if at in results]
    if not known:
        return None
    best = max(known, key=lambda at: (results[at].own, -at.alpha))
    reported = replace(best, split="reported")
    return reported if reported in results else None


def _every(results: Results) -> list[Setting]:
    every = [
        tuned(results, Setting("variant", form=form, text=text, scoring=scoring, scope=scope))
        for form in FORMS
        for text in TEXTS
        for scoring in SCORINGS
        for scope in SCOPES
    ]
    return [at for at in every if at is not None]


def variants(results: Results) -> str:
    """All variants on the queries that are reported."""
    lines = [
        (
            at.form,
            TEXTS[at.text],
            f"{at.scoring}: {SCORINGS[at.scoring]}",
            SCOPES[at.scope],
            at.alpha,
            f"{results[at].none:.3f}",
            f"{results[at].own:.3f}",
            _gain(results[at]),
            _over(results[at]),
            _gain(results[replace(at, alpha=0.1)]),
        )
        for at in _every(results)
    ]
    head = (
        "queries",
        "counted in",
        "scoring",
        "terms",
        "α",
        "engine",
        "with profile",
        "gain",
        "over another",
        "α = 0.1",
    )
    return table(head, lines)


def pseudonyms(results: Results) -> str:
    """How many users the first terms tell apart."""
    found = [(terms, results.get(Setting("pseudonym", dial="terms", exposed=float(terms)))) for terms in TERMS]
    lines = [(terms, one.cases, f"{one.none:.0f}", f"{one.own:.0f}") for terms, one in found if one is not None]
    return table(("terms", "users", "different sets", "users with a set of their own"), lines)


def findings(results: Results) -> Iterable[object]:
    """What the thesis says, and what decides the default."""
    at_six = [Setting("variant", form=form, text=text) for form in FORMS for text in TEXTS]
    known = [results[at] for at in at_six if at in results]
    yield holds(
        "With the thesis' scoring and α = 0.6, the profile improves the engine's order.",
        (one.gain_low > 0 for one in known),
        "kinds of queries and texts",
    )
    yield holds("It makes it worse.", (one.gain_high < 0 for one in known), "kinds of queries and texts")
    for form in FORMS:
        every = [at for at in _every(results) if at.form == form]
        yield holds(
            f"{form.capitalize()} queries: some α above 0 is best on the queries for tuning.",
            (at.alpha > 0 for at in every),
            "variants",
        )
        helping = [at for at in every if at.alpha > 0]
        if not helping:
            continue
        yield holds(
            f"{form.capitalize()} queries: with it, the profile improves the engine's order on the others.",
            (results[at].gain_low > 0 for at in helping),
            "of these variants",
        )
        yield holds(
            f"{form.capitalize()} queries: one's own profile is better than somebody else's.",
            (results[at].over_low > 0 for at in helping),
            "of these variants",
        )
    best = [
        max(
            (at for at in _every(results) if at.form == form),
            key=lambda at: results[replace(at, split="tuning")].own,
            default=None,
        )
        for form in FORMS
    ]
    yield from by_figure(results)
    for at in best:
        if at is not None and at.alpha > 0:
            yield (
                f"- Best for {at.form} queries on those for tuning: {at.scoring}, {TEXTS[at.text]}, "
                f"{SCOPES[at.scope]}, α = {at.alpha}. Gain on the others: {_gain(results[at])}."
            )
    for form in FORMS:
        if (default := Setting("default", form=form, scoring=DEFAULT_SCORING, alpha=0.0)) in results:
            yield f"- The default at home, run as it is on {form} queries: {_gain(results[default])}; {DEFAULT}."
    yield CAUTION
    yield from again([results[at] for at in AGAIN if at in results])


def by_figure(results: Results) -> Iterator[object]:
    """What the thesis reads off its figures."""
    theirs = [name for name in SOURCES if name != "pages"]
    at_half = [Setting("figure", form=form, text=text, alpha=0.5) for form in FORMS for text in TEXTS]
    qualities = [{name: results[replace(at, sources=name)].own for name in theirs} for at in at_half if at in results]
    yield holds(
        "History and mail together are the best sources (Figure 37).",
        (found[USUAL] == max(found.values()) for found in qualities),
        "kinds of queries and texts",
    )
    best = [tuned(results, Setting("variant", form=form, text=text)) for form in FORMS for text in TEXTS]
    yield holds(
        "The best weight with the thesis' scoring is from 0.5 to 0.7 (Figure 38).",
        (0.5 <= at.alpha <= 0.7 for at in best if at is not None),
        "kinds of queries and texts",
    )
    line = [value.mean for value in detail_to_ratio(results).lines.get("expRatio", {}).values()]
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


def again(others: Sequence[Result]) -> Iterator[object]:
    """The default where nothing about it was chosen."""
    gains = ", ".join(map(_gain, others))
    yield holds(
        f"The default helps in other repeats, too: five each, with other halves and users, drawn after it had been "
        f"chosen; the queries are the same. {gains}."
        if others
        else "The default helps in other repeats, too.",
        (one.gain_low > 0 for one in others),
        "times beyond chance",
    )
    yield holds(
        "There, one's own profile is better than somebody else's.", (one.over_low > 0 for one in others), "times"
    )


PAPER = Paper(Setting, Result, FILES, settings, is_quick, run, page)
