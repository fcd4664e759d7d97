"""Private personalised search: building the profile of 20,000 documents, and ranking 50 results anew.

``make bench`` runs this; ``python benchmarks/search.py`` runs it alone.
"""

from __future__ import annotations

import random
import re
import sqlite3
import tarfile
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

from measuring import shown

from veilset import Transactions
from veilset.limits import Limits
from veilset.mining import frequent
from veilset.search import Document, Profile, rerank
from veilset.search.corpus import Corpus
from veilset.search.splitting import build_tree
from veilset.search.store import Store
from veilset.search.terms import Terms
from veilset.testing import oracles_search

FILES = (("ir-cran/cran.tar.gz", "cran.all.1400"), ("ir-cisi/cisi.tar.gz", "CISI.ALL"))
_DOCUMENTS, _SAMPLE, _TERMS = 20_000, 120, 30
_DELTA = Fraction(3, 5)
_QUERIES = ("boundary layer", "information retrieval systems", "research library science", "heat flow measurements")

_ABOUT = """
20,000 documents of one person, made of sentences of the abstracts of Cranfield and CISI: most of those of one abstract,
two of another. First the profiles of 120 of them, with and without weights, are compared with the brute force of
`veilset.testing.oracles_search`, fractions and all. *Pairs* are the frequent pairs of terms by the itemset kernel
(`veilset.mining.frequent`), from which the first split could take what terms have in common. A query goes to the
store's FTS5 index of the 20,000 documents and returns 50 results with titles and snippets. *Bare* is SQLite's own query
for the same ranking, without these. Times are CPU seconds on one thread: other programs on the machine hardly count.
"""

R = TypeVar("R")
_ROUNDS = 5


def run(data: Path) -> list[str]:
    """A section of the results, as lines of Markdown."""
    texts = _texts(data)
    _assert_answers(texts)
    terms = Terms(("en",))
    corpus, tokenising = _cpu(lambda: Corpus.of(texts, terms))
    least = max(5, -(-corpus.total // 1000))
    steps: list[float] = []
    limits = Limits(progress=lambda *_: steps.append(time.process_time()))
    started = time.process_time()
    tree, building = _cpu(lambda: build_tree(corpus, least, _DELTA, limits))
    first = steps[0] - started
    small, building_small = _cpu(lambda: build_tree(corpus, 5, _DELTA, Limits()))
    offsets, codes = corpus.rows
    bounds = offsets.tolist()
    rows = [[corpus.stems[code] for code in codes[a:b].tolist()] for a, b in pairwise(bounds)]
    transactions = Transactions.from_lists(rows)
    pairs, mining = _cpu(lambda: frequent(transactions, least, max_size=2, threads=1))
    assert sum(len(itemset) == 1 for itemset, _ in pairs) >= sum(node.parent == 0 for node in tree)
    rows_of_table = [
        ("task", "time", "peer", "ratio"),
        ("---",) * 4,
        (
            f"tokenising {len(texts):,} documents ({len(corpus.codes):,} words, counted once each)",
            shown(tokenising),
            "",
            "",
        ),
        (f"profile of them, {len(tree):,} interests (target: below 10 s)", shown(building), "", ""),
        ("its first split", shown(first), f"pairs, {len(pairs):,}: {shown(mining)}", f"{first / mining:.2f}"),
        (f"the same with `min_support` 5, {len(small):,} interests", shown(building_small), "", ""),
        *_searching(texts, Profile.build(texts, languages=["en"])),
    ]
    return [*_ABOUT.strip().splitlines(), "", *(f"| {' | '.join(cells)} |" for cells in rows_of_table)]


def _searching(texts: list[str], profile: Profile) -> list[tuple[str, ...]]:
    exposure = profile.expose(terms=_TERMS)
    with tempfile.TemporaryDirectory() as folder, Store.create(Path(folder) / "search.db") as store:
        store.put(
            Document(f"file:///{at}", "benchmark", text[:60], text, language="en") for at, text in enumerate(texts)
        )
        file = sqlite3.connect(Path(folder) / "search.db")
        asked = [" OR ".join(f'"{word}"' for word in query.split()) for query in _QUERIES]

        def bare() -> None:
            for words in asked:
                file.execute("SELECT rowid FROM found WHERE found MATCH ? ORDER BY rank LIMIT 50", (words,)).fetchall()

        def found() -> list[Any]:
            return [store.find(query) for query in _QUERIES]

        results = found()
        assert all(len(one) == 50 for one in results)
        calls = (bare, found, lambda: [rerank(one, exposure) for one in results])
        times = [min(_cpu(call)[1] for _ in range(_ROUNDS)) for call in calls]
        file.close()
    bare_time, find_time, rank_time = (seconds / len(_QUERIES) for seconds in times)
    both = find_time + rank_time
    return [
        (f"ranking 50 results by {_TERMS} terms", shown(rank_time), "", ""),
        (
            "query and ranking (target: below 50 ms)",
            shown(both),
            f"bare FTS5 query: {shown(bare_time)}",
            f"{both / bare_time:.2f}",
        ),
    ]


def _cpu(call: Callable[[], R]) -> tuple[R, float]:
    started = time.process_time()
    result = call()
    return result, time.process_time() - started


def _assert_answers(texts: list[str]) -> None:
    terms = Terms(("en",))
    some = [sorted({stem for stem, _ in terms.units(text)}) for text in texts[:_SAMPLE]]
    for weights in (None, [Fraction(1 + at % 3, 2) for at in range(_SAMPLE)]):
        root = Profile.build(some, min_support=5, weights=weights).root
        expected = oracles_search.profile(some, 5, _DELTA, weights)
        assert _shape(root) == _oracle_shape(expected)


def _shape(node: Any) -> tuple[Any, ...]:
    return (node.stems, node.support, node.others, [_shape(child) for child in node.children])


def _oracle_shape(node: dict[str, Any]) -> tuple[Any, ...]:
    return (tuple(node["label"]), node["support"], node["others"], [_oracle_shape(child) for child in node["children"]])


def _texts(data: Path) -> list[str]:
    """Documents of one person, made of sentences of real ones."""
    abstracts = []
    for file, member in FILES:
        with tarfile.open(data / file) as archive:
            held = next(one for one in archive if Path(one.name).name == member)
            text = archive.extractfile(held).read().decode("latin-1").replace("\r", "")
        found = re.findall(r"^\.W\n(.*?)(?=^\.[A-Z]\s|\Z)", text, re.MULTILINE | re.DOTALL)
        abstracts += [[" ".join(part.split()) for part in re.split(r"\.\s", one) if part.strip()] for one in found]
    abstracts = [one for one in abstracts if one]
    draw = random.Random(0)  # noqa: S311 - makes data
    return [
        ". ".join(
            [part for part in draw.choice(abstracts) if draw.random() < 0.6] + draw.choices(draw.choice(abstracts), k=2)
        )
        for _ in range(_DOCUMENTS)
    ]


if __name__ == "__main__":
    print("\n".join(run(Path(__file__).parents[2] / "shared" / "data")))
