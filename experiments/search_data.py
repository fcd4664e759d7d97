"""Simulated users over judged collections: what they read, what they ask, and what an engine finds for them.

A library is one collection, or both together. In each repeat it is split in two: users read in one half, the engine
searches the other. Topics are clusters of the half that is read. A user has two of them; a query is asked by the users
whose topic most of its relevant documents in the half that is read belong to. So nothing of the half that is searched,
documents or judgements, has any part in who a user is or what is asked. A library of one collection has nothing of the
other: no document, no user, no query.
"""

from __future__ import annotations

import random
import re
import sqlite3
import tarfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize

from veilset.search import Result
from veilset.search.terms import Terms

FILES = ("ir-cran/cran.tar.gz", "ir-cisi/cisi.tar.gz")
COLLECTIONS = ("Cranfield", "CISI")
BOTH = "both"
TOPICS, USERS, PER_USER = 10, 14, 2
"""Topics of each collection, users of a world, and topics of a user."""

RETURNED = 50
SOURCES = {
    "history": ("history",),
    "mail": ("mail",),
    "documents": ("documents",),
    "history + mail": ("history", "mail"),
    "all three": ("history", "mail", "documents"),
    "pages": ("pages",),
}
_NOISE = 0.3
_SNIPPET_WORDS = 40
_FIELD = re.compile(r"^\.([A-Z])[ \t]*$", re.MULTILINE)
_ENGLISH = Terms(("en",))


@dataclass(frozen=True)
class Text:
    """A document of a collection, with its terms in order."""

    collection: str
    title: str
    text: str
    stems: tuple[str, ...]


@dataclass(frozen=True)
class Query:
    """A query of a collection, and which documents are relevant to it."""

    collection: str
    number: int
    text: str
    relevant: frozenset[int]

    @property
    def name(self) -> str:
        """What tells it from all others."""
        return f"{self.collection} {self.number}"


@dataclass(frozen=True)
class User:
    """A simulated user: topics, what each source holds, and the queries."""

    topics: frozenset[int]
    sources: dict[str, list[str]] = field(repr=False)
    queries: tuple[Query, ...] = field(repr=False)

    def documents(self, sources: str) -> list[str]:
        """The texts of some sources."""
        return [text for source in SOURCES[sources] for text in self.sources[source]]


@cache
def collected(data: Path) -> tuple[tuple[Text, ...], tuple[Query, ...]]:
    """All documents with text and all queries with judgements, of both collections.

    Judgements of Cranfield number queries by their position; those with code -1 are of no interest and not relevant.
    Citations of CISI (.X) are left out.
    """
    texts: list[Text] = []
    queries: list[Query] = []
    for name, file, of_documents, of_queries, of_judgements in (
        (COLLECTIONS[0], FILES[0], "cran.all.1400", "cran.qry", "cranqrel"),
        (COLLECTIONS[1], FILES[1], "CISI.ALL", "CISI.QRY", "CISI.REL"),
    ):
        with tarfile.open(data / file) as archive:
            read = {Path(member.name).name: archive.extractfile(member) for member in archive if member.isfile()}
            documents, asked, judged = (
                read[part].read().decode("latin-1") for part in (of_documents, of_queries, of_judgements)
            )
        by_position = name == "Cranfield"
        place: dict[int, int] = {}
        for number, fields in _records(documents):
            title, text = fields.get("T", ""), fields.get("W", "")
            text = text.removeprefix(title).strip(" .")
            stems = tuple(stem for stem, _ in _ENGLISH.units(f"{title}\n{text}", "en"))
            if text:
                place[number] = len(texts)
                texts.append(Text(name, title, text, stems))
        relevant: dict[int, set[int]] = {}
        for line in judged.splitlines():
            if line.strip():
                query, document, *code = line.split()
                if int(document) in place and not (by_position and int(code[0]) < 0):
                    relevant.setdefault(int(query), set()).add(place[int(document)])
        for position, (number, fields) in enumerate(_records(asked), 1):
            known = relevant.get(named := position if by_position else number)
            if known:
                queries.append(Query(name, named, fields.get("W", ""), frozenset(known)))
    return tuple(texts), tuple(queries)


def _records(text: str) -> Iterator[tuple[int, dict[str, str]]]:
    for record in re.split(r"^\.I\s+", text.replace("\r", ""), flags=re.MULTILINE)[1:]:
        number, _, rest = record.partition("\n")
        parts = _FIELD.split(rest)
        fields: dict[str, str] = {}
        for key, value in zip(parts[1::2], parts[2::2], strict=True):
            fields.setdefault(key, " ".join(value.split()))
        yield int(number), fields


@dataclass(frozen=True)
class World:
    """One repeat: users over the half that is read, an engine over the half that is searched."""

    texts: tuple[Text, ...] = field(repr=False)
    users: tuple[User, ...]
    read: tuple[int, ...] = field(repr=False)
    searched: tuple[int, ...] = field(repr=False)
    engine: sqlite3.Connection = field(repr=False)

    @classmethod
    def of(cls, data: Path, library: str, seed: int) -> World:
        """The world of a seed over a collection, or over both."""
        texts, queries = collected(data)
        within = COLLECTIONS if library == BOTH else (library,)
        draw = random.Random(seed)  # noqa: S311 - simulates
        order = [at for at, text in enumerate(texts) if text.collection in within]
        draw.shuffle(order)
        read, searched = (tuple(sorted(half)) for half in (order[: len(order) // 2], order[len(order) // 2 :]))
        topic = dict(zip(read, _topics([texts[at].stems for at in read], TOPICS * len(within), seed), strict=True))
        by_topic: dict[int, list[Query]] = {}
        for query in queries:
            votes = Counter(topic[at] for at in sorted(query.relevant & topic.keys()))
            if votes:
                by_topic.setdefault(votes.most_common(1)[0][0], []).append(query)
        pairs = [sorted(draw.sample(sorted(by_topic), PER_USER)) for _ in range(USERS)]
        users = tuple(
            User(
                frozenset(pair),
                _sources([texts[at] for at in read if topic[at] in pair], [texts[at] for at in read], draw),
                tuple(query for one in pair for query in by_topic[one]),
            )
            for pair in pairs
        )
        return cls(texts, users, read, searched, _engine(texts, searched))

    def other(self, user: User) -> User:
        """Somebody else with no topic in common; the next one in turn."""
        at = self.users.index(user)
        return next(one for one in self.users[at + 1 :] + self.users[:at] if not one.topics & user.topics)

    def results(self, query: str) -> list[tuple[int, Result]]:
        """What the engine finds for a text: places in the library, and results."""
        words = sorted({word for _, word in _ENGLISH.units(query, "en")})
        asked = " OR ".join(f'"{word}"' for word in words)
        found = self.engine.execute(
            "SELECT place, title, snippet(library, 2, '', '', ' … ', ?) FROM library WHERE library MATCH ?"
            " ORDER BY bm25(library), place LIMIT ?",
            (_SNIPPET_WORDS, asked, RETURNED),
        )
        return [
            (place, Result(title, snippet, f"https://library.example/{place}", rank))
            for rank, (place, title, snippet) in enumerate(found, 1)
        ]

    def short(self, query: Query) -> str:
        """The query of somebody in a hurry: its two most common words, as read documents have them."""
        counts = _document_frequency(tuple(self.texts[at].stems for at in self.read))
        units = dict.fromkeys(_ENGLISH.units(query.text, "en"))
        chosen = sorted(units, key=lambda unit: (-counts.get(unit[0], 0), unit[0]))[:2]
        return " ".join(word for _, word in chosen)

    def background(self) -> tuple[Mapping[str, int], int]:
        """In how many documents of the engine a term is, and how many there are."""
        return _document_frequency(tuple(self.texts[at].stems for at in self.searched)), len(self.searched)


@cache
def _document_frequency(rows: tuple[tuple[str, ...], ...]) -> Counter[str]:
    return Counter(stem for row in rows for stem in set(row))


def _topics(rows: Sequence[Sequence[str]], topics: int, seed: int) -> list[int]:
    vocabulary = {stem: at for at, stem in enumerate(sorted({stem for row in rows for stem in row}))}
    counts = np.zeros((len(rows), len(vocabulary)))
    for at, row in enumerate(rows):
        for stem, count in Counter(row).items():
            counts[at, vocabulary[stem]] = count
    weighted = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    small = normalize(TruncatedSVD(60, random_state=seed).fit_transform(weighted))
    return KMeans(topics, n_init=3, random_state=seed).fit_predict(small).tolist()


def _sources(known: Sequence[Text], everything: Sequence[Text], draw: random.Random) -> dict[str, list[str]]:
    """What a user leaves behind: titles of pages, short messages, a few lengthy files, and whole pages."""

    def noise(count: int) -> list[Text]:
        return draw.sample(list(everything), min(count, len(everything)))

    extra = round(_NOISE * len(known))
    messages = [". ".join(text.text.split(". ")[:2]) for text in [*known, *noise(extra)]]
    files = [
        "\n".join(f"{text.title}. {text.text}" for text in [*draw.sample(list(known), min(6, len(known))), *noise(6)])
        for _ in range(5)
    ]
    return {
        "history": [text.title for text in [*known, *noise(extra)]],
        "mail": draw.sample(messages, round(0.57 * len(messages))),  # Table 2: 605 messages for 1,060 pages
        "documents": files,
        "pages": [f"{text.title}. {text.text}" for text in [*known, *noise(extra)]],
    }


def _engine(texts: Sequence[Text], searched: Sequence[int]) -> sqlite3.Connection:
    engine = sqlite3.connect(":memory:")
    engine.execute("CREATE VIRTUAL TABLE library USING fts5(place UNINDEXED, title, text, tokenize='porter unicode61')")
    engine.executemany(
        "INSERT INTO library VALUES (?, ?, ?)", ((at, texts[at].title, texts[at].text) for at in searched)
    )
    return engine
