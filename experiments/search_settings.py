"""What is run on simulated users: every variant, every grid and every collection, in one list.

It was fixed before anything of it was run on one collection alone. The rule that chooses among the candidates is in
`search_choice.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from search_data import BOTH, COLLECTIONS, SOURCES

WORLDS = 5
"""In each repeat: splits of the library, each with its own users."""

REPEATS = (1, 2, 3, 4, 5)
"""Fresh repeats of the choice, by seed. `TOGETHER` has the queries of all of them."""

TOGETHER = 0

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
AT_HOME = ("thesis", "support", "support × own idf", "support × idf of results, by length")
"""Scorings that need nothing that only the engine knows: one of them can be the default."""

SCOPES = {"all": "all terms", "related": "terms related to the query"}
USUAL = "history + mail"
BEST = "support × idf, by length"
"""What the figures compare with the thesis' scoring: the best one of a study before all of this."""

TERMS = tuple(range(1, 11))


@dataclass(frozen=True)
class Setting:
    """A library with its queries, a variant, how much is exposed, and the weight of the profile."""

    kind: str = "variant"
    library: str = BOTH
    sources: str = USUAL
    form: str = "full"
    text: str = "snippet"
    scoring: str = "thesis"
    scope: str = "all"
    dial: str = "ratio"
    exposed: float = 1.0
    alpha: float = 0.6
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


def settings() -> Iterator[Setting]:
    """All runs."""
    yield from of_figures()
    for form, text, scoring, scope, library, alpha in product(FORMS, TEXTS, SCORINGS, SCOPES, COLLECTIONS, ALPHAS[1:]):
        yield Setting("variant", library, USUAL, form, text, scoring, scope, alpha=alpha, seed=TOGETHER)
    for form, library, seed in product(FORMS, COLLECTIONS, REPEATS):
        yield from candidates(library, form, seed)
    for terms in TERMS:
        yield Setting("pseudonym", dial="terms", exposed=float(terms))


def of_figures() -> Iterator[Setting]:
    """Figures 37 to 41: both collections are one library, and nothing is chosen."""
    for form in FORMS:
        usual = Setting("figure", form=form)
        for sources, text in product(SOURCES, TEXTS):
            yield replace(usual, sources=sources, alpha=0.5, text=text)
        for text in TEXTS:
            yield replace(usual, text=text)
        for scoring in ("thesis", BEST):
            for alpha in ALPHAS:
                yield replace(usual, scoring=scoring, alpha=alpha)
            for ratio in RATIOS:
                yield replace(usual, scoring=scoring, exposed=ratio)
            for detail in DETAILS:
                yield replace(usual, scoring=scoring, dial="min_detail", exposed=detail)


def candidates(library: str, form: str, seed: int) -> Iterator[Setting]:
    """What the rule chooses from: whatever could be the default at home, at every weight above 0.

    Terms are counted in titles and snippets, since pages are not fetched unless the user wants it; which terms are
    used is a question of privacy, and the user's.
    """
    for scoring, alpha in product(AT_HOME, ALPHAS[1:]):
        yield Setting("variant", library, form=form, scoring=scoring, alpha=alpha, seed=seed)


def is_quick(setting: Setting) -> bool:
    """Few runs."""
    few = {0.0, 0.3, 0.6} if setting.kind == "figure" else {0.3, 0.6}
    return setting.kind == "pseudonym" or (setting.alpha in few and setting.text == "snippet")
