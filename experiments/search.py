"""Private personalised search (thesis §5.3, Figures 37 to 41) with simulated users: figures, and what they say."""

from __future__ import annotations

from collections.abc import Iterator

from paper import Chart, Paper, listed
from search_choice import Results, by_weight, findings, means, transfer, variants
from search_data import BOTH, COLLECTIONS, FILES, TOPICS, USERS
from search_figures import by_alpha, by_dial, detail_to_ratio, exposures, pseudonyms, sources
from search_figures import findings as of_figures
from search_runs import run
from search_settings import (
    AT_HOME,
    DETAILS,
    FORMS,
    RATIOS,
    REPEATS,
    TOGETHER,
    USUAL,
    WORLDS,
    Result,
    Setting,
    is_quick,
    settings,
)

INTRODUCTION = f"""# Experiments: private personalised search

This page has two parts. First, which default of `veilset search` the evidence supports. Then Figures 37 to 41 of the
thesis (§5.3) on public collections. Its ten people, with their mail, their history and Microsoft's search engine of
2007, are not to be had. So **users and their sources are simulated here**. They show which method is better on these
collections, not how good it is for you: `veilset search evaluate` measures that, by your own judgements.
`make experiments` generates the page from [search.csv](search.csv).

## Set-up

- **Collections**: Cranfield (1,398 abstracts on aerodynamics with text) and CISI (1,460 on information science).
  Judgements of Cranfield number queries by their position. Its code -1 means "of no interest" and is not relevant, 1 to
  4 are relevant. The citations of CISI (.X) are left out. The library of an engine is one of them where a default is
  chosen and tested, and both where the figures are repeated.
- **Split**: in each of {WORLDS} worlds, half of the library can be read, and the engine searches the other half.
  Nothing of the half that is searched, neither documents nor judgements, has any part in who a user is.
- **Users**: the half that is read is clustered into {TOPICS} topics for each collection (k-means). Each of {USERS}
  users of a world has two topics. A query is asked by the users to whose topic most of its relevant documents that can
  be read belong.
- **Sources**: *history* is the titles of the user's documents, *mail* two sentences of 57% as many (the thesis had 605
  messages for 1,060 pages), *documents* five long files, *pages* whole abstracts. All have noise: documents of other
  topics (three for ten; in long files half). `min_support` and δ are the defaults, 5 and 0.6.
- **Queries**: a pair of user and query counts if a relevant document is among the first 50, as the thesis requires.
  *Full* queries are those of the collections, a sentence or more. *Short* ones are the two words of it that are most
  common in the half that is read ("information systems"): what somebody types in a hurry, and as ambiguous.
{{counts}}
- **Engine**: SQLite FTS5, BM25; 50 results; terms are counted in title and snippet, or in the whole page.
- **Average precision** as the thesis defines it: by final positions, judgements restricted to the 50 results. It is
  checked against `ir-measures`.
- **Intervals** (95%) are of paired differences, by resampling queries: several users who ask the same query count as
  one. *Gain* is over the engine's order, *over another* is what one's own profile gives beyond that of somebody with
  other topics. **Bold**: the interval leaves zero out."""

CHOICE = f"""## Which default helps

An earlier version of this page chose the default with all queries in sight. So its gain was too good: of three fresh
repeats, one was beyond chance. Now a rule chooses, and cannot peek. It was written down, with the list of candidates,
before anything was run on one collection alone:

1. Each collection has an engine, users and queries of its own. On **one** of them, the candidate with the largest mean
   gain is chosen. If the interval of its gain does not lie above zero, nothing is, and the engine's order stays.
2. What was chosen is run on the **other** collection. That gain is reported. Then the other way round.
3. The default re-ranks if both directions chose something, both gained where they were reported, and the mean of the
   two gains is beyond chance. Otherwise it leaves the order alone.
4. The default then has the scoring and the α with the largest mean of the gains on both collections. What that one
   gains there is not reported, as it was chosen by it.

The rule is applied to short queries and to full ones apart, so it also decides *when* to re-rank. Candidates are the
{len(AT_HOME)} scorings that need nothing but a profile and the results, at each α from 0.1 to 1, with titles and
snippets and all terms of {USUAL}. The others need to know the engine's collection, or pages that Veilset does not fetch
by itself.

All of it is done in {len(REPEATS)} fresh repeats of {WORLDS} worlds each, and with all of them together, by which the
rule decides. The queries of the repeats are the same; the documents that can be read, the topics and the users are not.
One thing could not be undone: whoever made the list of candidates had seen results of an engine with both collections.
Which of them is chosen, and what it gains on the other collection, owes nothing to that."""

VARIANTS = """## Every variant

P is the probability of an interest in the profile, idf the inverse document frequency in the engine's collection (which
a profile at home does not know), *own idf* that in the user's documents. α is the one with the largest mean gain on one
collection, 0 if none gains; the gain is on the other. All repeats together. Intervals are not corrected for the number
of variants. Gains at every α are in [search.csv](search.csv)."""

FIGURES = f"""## Figure 37: sources

From here on, both collections are one library, as the engines of the thesis knew more than one field. All is fixed
beforehand: α is the thesis', or goes through all values. {WORLDS} worlds.

Mean average precision at α = 0.5, everything exposed, the thesis' scoring."""

ALPHA = """## Figure 38: the weight of the profile

With the thesis' scoring, and with the best one of a study before this one. α = 0 is the engine's order. The thesis
found its best order near α = 0.6."""

EXPOSURE = f"""## Figures 39 to 41: privacy against quality

Sources are {USUAL}, α = 0.6 as in the thesis."""

PSEUDONYM = """## A profile is a pseudonym

How many of the simulated users have a set of most general terms that no other has, by the number of terms. Only the
names of the terms are compared; the weights, also when rounded to one decimal, tell even more people apart."""


def page(results: Results) -> Iterator[str | Chart]:
    """The default, all figures, then what holds."""
    yield INTRODUCTION.format(counts=_counts(results))
    yield CHOICE
    yield transfer(results)
    yield means(results)
    yield from by_weight(results)
    yield listed(findings(results))
    yield VARIANTS
    yield variants(results)
    yield FIGURES
    yield sources(results)
    yield ALPHA
    yield Chart("38", "gain in average precision by α", [*by_alpha(results)], "gain")
    yield EXPOSURE
    yield Chart("39", "share exposed by minDetail", [detail_to_ratio(results)], "exposed", shares=True)
    yield Chart("40", "gain by share exposed", [*by_dial(results, "ratio", RATIOS)], "gain")
    yield Chart("41", "gain by minDetail", [*by_dial(results, "min_detail", DETAILS)], "gain")
    yield exposures(results)
    yield PSEUDONYM
    yield pseudonyms(results)
    yield "## What holds of the thesis, and what does not"
    yield listed(of_figures(results))


def _counts(results: Results) -> str:
    """How many pairs of user and query there are."""
    told = []
    for library in (*COLLECTIONS, BOTH):
        kind = "figure" if library == BOTH else "variant"
        counts = [
            f"{results[at].cases:,} {form}"
            for form in FORMS
            if (at := Setting(kind, library, form=form, seed=TOGETHER)) in results
        ]
        if counts:
            told.append(f"{' and '.join(counts)} in {'both together' if library == BOTH else library}")
    return f"  There are {', '.join(told)}." if told else ""


PAPER = Paper(Setting, Result, FILES, settings, is_quick, run, page)
