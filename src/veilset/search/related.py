"""Terms that are related to a query, in the documents of one person: so that a query takes only these along.

The thesis leaves this to future work (§5.5). Here a term is related to a query if it is one of its words, or if the
documents with one of these words have the term at least twice as often as all documents. A word that the person has
never read is related to nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from veilset.search.corpus import Corpus, take_rows

LIFT = 2
"""How many times as often as in all documents."""


def related_terms(corpus: Corpus, query: Iterable[str]) -> set[str]:
    """The terms that are related to these of a query; they are stems, as everywhere.

    >>> from veilset.search.terms import Terms
    >>> documents = [["python", "code"], ["python", "code"], ["zoo", "snake"], ["zoo", "tea"], ["tea"], ["tea", "code"]]
    >>> corpus = Corpus.of(documents, Terms())
    >>> sorted(related_terms(corpus, ["python"])), sorted(related_terms(corpus, ["physics"]))
    (['code', 'python'], [])
    """
    offsets, terms = corpus.rows
    weights = corpus.whole_weights.astype(float)
    number = {stem: at for at, stem in enumerate(corpus.stems)}
    owners = np.repeat(np.arange(len(corpus)), np.diff(offsets))
    usual = np.bincount(terms, weights[owners], len(number)) / max(1.0, weights.sum())
    found: set[str] = set()
    for asked in (number[stem] for stem in set(query) if stem in number):
        holders = owners[terms == asked]
        places, of = take_rows(offsets, holders)
        share = np.bincount(terms[places], weights[of], len(number)) / weights[holders].sum()
        found.update(corpus.stems[at] for at in np.flatnonzero((share > 0) & (share >= LIFT * usual)).tolist())
        found.add(corpus.stems[asked])
    return found
