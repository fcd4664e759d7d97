"""What the batteries have to know of a promise, by brute force and straight from its definition."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from veilset.models import Audit
from veilset.release import Release
from veilset.transactions import Transactions


def as_sets(data: Transactions) -> list[frozenset[str]]:
    """Rows as the oracles take them."""
    return [frozenset(row) for row in data]


def as_named(release: Release) -> list[frozenset[str]]:
    """The original transactions of a release as sets, under the names that the release gives."""
    return [frozenset(release.generalized.get(item, item) for item in row) for row in release.original]


@dataclass(frozen=True)
class Contract:
    """The part of the batteries that differs from promise to promise. The promise it is asked about is of its kind.

    Parameters
    ----------
    holds : callable
        From data, the items that are sensitive whatever the data says, and the promise to whether it is kept.
    check_findings : callable
        From data, promise and an auditor's answer, whose verdict is right, to nothing: raises `AssertionError` if the
        witnesses, their number, their order or the margins are wrong.
    sensitive_may_go : bool
        Whether a method may take sensitive items out. It may never do anything else to them.
    possible : callable, optional
        From rows, their sensitive items and the promise to whether a change that is allowed can make them keep it.
    maximal : callable, optional
        From a release to whether nothing that was taken out could return by itself.
    may_give_up : callable, optional
        From data and promise to whether a method may find that it cannot keep the promise, although another might.
    check_release : callable, optional
        From a release of small data, which keeps the promise and accounts for its edits, to nothing: raises
        `AssertionError` if it is not what a method may make.
    """

    holds: Callable[[Transactions, Collection[str], Any], bool]
    check_findings: Callable[[Transactions, Any, Audit], None]
    sensitive_may_go: bool
    possible: Callable[[Collection[frozenset[str]], Collection[str], Any], bool] = lambda rows, sensitive, promise: True
    maximal: Callable[[Release, Any], bool] = lambda release, promise: True
    may_give_up: Callable[[Transactions, Any], bool] = lambda data, promise: False
    check_release: Callable[[Release, Any], None] = lambda release, promise: None
