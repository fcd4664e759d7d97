"""What leaves the machine of a profile: nothing but what was shown, in the order in which it was shown.

The weights are rounded to one decimal, and the terms are in random order: sorted by weight they would tell more. Both
stay as they are until the user refreshes them, because two different extracts of one profile tell more than each. None
of this makes anybody anonymous: a few terms are a pseudonym, by which a server knows the same person again.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from veilset.errors import InvalidArgument
from veilset.search.asking import Message, checked_url
from veilset.search.exposure import Exposure
from veilset.search.node import BETWEEN_WORDS
from veilset.views import Count

Pair = tuple[str, Decimal]

USERS = 70
"""Simulated users whose most general terms were compared: see `docs/experiments/search.md`."""
TOLD_APART = (0, 7, 32, 52, 62, 68)
"""For each number of terms, how many of them had a set that no other had; with more terms, 68 to 70."""


def pseudonym(terms: int) -> str:
    """What it means to send so many terms, in a sentence; empty for none.

    >>> pseudonym(1)
    'Of 70 simulated users, the most general term alone told 7 apart from all others.'
    >>> pseudonym(12)
    'Of 70 simulated users, the 5 most general terms alone told 68 apart from all others.'
    """
    compared = min(terms, len(TOLD_APART) - 1)
    many = f"{compared} " if compared > 1 else ""
    told = f"the {many}most general {Count(compared):term|terms} alone told {TOLD_APART[compared]} apart"
    return f"Of {USERS} simulated users, {told} from all others." if terms else ""


@dataclass(frozen=True)
class Frozen:
    """Terms with their weights as they are sent, until the user refreshes them.

    Parameters
    ----------
    pairs : tuple of (str, Decimal)
        Terms and weights, in the order in which they are sent.
    """

    pairs: tuple[Pair, ...] = ()

    @classmethod
    def of(cls, exposure: Exposure) -> Frozen:
        """What is exposed, rounded and in random order."""
        pairs = list(exposure.rounded().items())
        random.SystemRandom().shuffle(pairs)
        return cls(tuple(pairs))

    @classmethod
    def of_setting(cls, setting: Sequence[Sequence[str]]) -> Frozen:
        """What was stored."""
        return cls(tuple((term, Decimal(weight)) for term, weight in setting))

    def to_setting(self) -> list[list[str]]:
        """What to store."""
        return [[term, str(weight)] for term, weight in self.pairs]

    @property
    def digest(self) -> str:
        """A name for these terms and weights, whatever their order."""
        return hashlib.sha256(json.dumps(sorted(self.to_setting())).encode()).hexdigest()

    def among(self, terms: Collection[str]) -> Frozen:
        """Only the terms of which some word is among these, in the same order."""
        words = {part for term in terms for part in term.split(BETWEEN_WORDS)}
        return Frozen(tuple(pair for pair in self.pairs if words & {*pair[0].split(BETWEEN_WORDS)}))


@dataclass(frozen=True)
class Difference:
    """How what would be sent after a refresh differs from what is sent now."""

    added: tuple[Pair, ...]
    removed: tuple[Pair, ...]
    changed: tuple[tuple[str, Decimal, Decimal], ...]

    @classmethod
    def between(cls, now: Frozen, then: Frozen) -> Difference:
        """From what is sent now to what would be sent then."""
        before, after = dict(now.pairs), dict(then.pairs)
        return cls(
            tuple(sorted(pair for pair in then.pairs if pair[0] not in before)),
            tuple(sorted(pair for pair in now.pairs if pair[0] not in after)),
            tuple(
                (term, before[term], after[term])
                for term in sorted(before.keys() & after.keys())
                if before[term] != after[term]
            ),
        )

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


def exposing_message(server: str, query: str, pairs: Iterable[Pair]) -> Message:
    """What is sent to the wrapper on a server: the query and the pairs, and nothing else."""
    weights = ", ".join(f"[{json.dumps(term, ensure_ascii=False)}, {weight}]" for term, weight in pairs)
    body = f'{{"query": {json.dumps(query, ensure_ascii=False)}, "terms": [{weights}]}}'
    return Message("POST", f"{server.rstrip('/')}/search", kind="application/json", body=body.encode())


def check_server(address: str) -> str:
    """The address of a wrapper, if a profile may be sent there: encrypted, or on this machine."""
    url = checked_url(address)
    if url.scheme != "https" and url.host not in ("127.0.0.1", "::1", "localhost"):
        raise InvalidArgument(
            f"{address!r} is not encrypted: everybody on the way could read your profile.", "Give an https address."
        )
    return address.rstrip("/")


def as_json(pairs: Iterable[Pair]) -> list[list[Any]]:
    """Pairs for a log or a program."""
    return [[term, float(weight)] for term, weight in pairs]
