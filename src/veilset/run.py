"""`Run`: data, a promise and a method, and all that is found out about them, each thing once.

A method changes the data, then the auditor looks at the result: neither knows of the other. What a report, a page or a
file tells of a run is asked here, so that nothing is counted twice.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Unpack

import numpy as np

from veilset.anonymize import (
    METHODS,
    Curve,
    Milder,
    check_options,
    find_method,
    loss_by_p,
    milder_that_keep_half,
    reject_anatomized,
)
from veilset.audit import audit, edits_account_for
from veilset.errors import BudgetExceeded
from veilset.limits import Bounds, Limits
from veilset.models import Audit, Promise
from veilset.options import declared
from veilset.release import OCCURRENCES, Release
from veilset.transactions import Transactions
from veilset.utility import Account, SideEffect

_SECONDS_TO_COUNT = 20.0
_SWITCHES = ("allow_sensitive", "drop_empty")  # that every method has: a release keeps them with its options


class Run:
    """One run of a method. Everything is worked out when it is first asked for.

    Parameters
    ----------
    data : Transactions
        The original.
    promise : Promise
    method : str, optional
        One of the promise's methods; None: its default.
    options : mapping, optional
        Those of the method.
    allow_sensitive, drop_empty : bool
        As for `veilset.anonymize`.
    with_curve : bool
        Whether the loss for other parameters is worked out.
    **bounds
        As for `veilset.audit`; the time limit holds for each step.

    Attributes
    ----------
    seconds : dict
        How long each step took that was made.
    """

    def __init__(
        self,
        data: Transactions,
        promise: Promise,
        *,
        method: str | None = None,
        options: Mapping[str, object] | None = None,
        allow_sensitive: bool = False,
        drop_empty: bool = False,
        with_curve: bool = True,
        **bounds: Unpack[Bounds],
    ) -> None:
        self.data = data
        self.promise = promise
        self.method = method
        self.options = dict(options or {})
        self.allow_sensitive = allow_sensitive
        self.drop_empty = drop_empty
        self.with_curve = with_curve
        self.progress = bounds.pop("progress", None)
        self.seconds: dict[str, float] = {}
        self._bounds = bounds
        self.limits()  # refuses bounds that cannot be meant

    @classmethod
    def of(cls, release: Release, **others: Any) -> Run:
        """The run that made this release; *others*: as for `Run`."""
        switches: dict[str, Any] = {name: bool(release.options.get(name)) for name in _SWITCHES}
        options = {name: value for name, value in release.options.items() if name not in switches}
        run = cls(release.original, release.promise, method=release.method, options=options, **switches, **others)
        run.__dict__["release"] = release
        return run

    def limits(self) -> Limits:
        """The limits of one step, whose time begins now."""
        bounds: Bounds = {**self._bounds, "progress": self.progress}
        return Limits(**bounds)

    @cached_property
    def _changeable(self) -> tuple[Transactions, tuple[str, ...]]:
        """The data handed to the method, and the sensitive items removed beforehand; an error if it cannot be done."""
        check_options(self.promise, self.method, self.options)
        reject_anatomized(self.data)
        self.promise.check_items(self.data)
        for one in declared(find_method(self.promise, self.method)):
            named = self.options.get(one.name)
            if one.option.form in ("items", "weights") and isinstance(named, Collection) and not isinstance(named, str):
                self.data.codes(list(named))  # an unknown item is an error before anything takes long
        if self.drop_empty:
            self.promise.check_drop_empty()
        gone = self.promise.too_common(self.data) if self.allow_sensitive else ()
        seen = self.data.without(gone) if gone else self.data
        self.promise.check_feasible(seen)
        return seen, gone

    def check(self) -> None:
        """Raise if the promise cannot be kept, or the run cannot be meant: before anything takes long."""
        _ = self._changeable

    @cached_property
    def before(self) -> Audit | None:
        """The auditor's answer about the original; None: not within the limits. It may cost more than the release."""
        with self.timed("audit of the original"):
            try:
                return audit(self.data, self.promise, limits=self.limits())
            except BudgetExceeded as error:
                self.why_not_before = error
                return None

    why_not_before: BudgetExceeded | None = None
    """Why there is no answer about the original."""

    @cached_property
    def release(self) -> Release:
        """What the method made, with the auditor's answer."""
        data, gone = self._changeable
        method = find_method(self.promise, self.method)
        with self.timed("method"):
            release = method(data, self.promise, limits=self.limits(), **self.options)
        if gone:
            release = _with_sensitive(release, self.data, gone)
        if self.drop_empty:
            release = _without_empty(release)
        on = {name: True for name in _SWITCHES if getattr(self, name)}
        release = dataclasses.replace(release, options={**release.options, **on}, seconds=self.seconds["method"])
        with self.timed("audit of the release"):
            return certify(release, self.limits())

    @cached_property
    def account(self) -> Account:
        """What the release lost; counting may take 20 seconds."""
        with self.timed("account"):
            account = Account(self.release, limits=self.limits().part(1, _SECONDS_TO_COUNT))
            _ = account.values
            return account

    @cached_property
    def side_effects(self) -> tuple[SideEffect, ...] | None:
        """What became of each pattern that was to be hidden or to stay; None: there are none, or not within limits."""
        try:
            return self.account.side_effects(self.limits())
        except BudgetExceeded:
            return None

    @cached_property
    def curve(self) -> Curve:
        """p to what is lost at that p; empty where the promise has no p, or nobody asked for it."""
        if not self.with_curve or METHODS.of(self.promise).curve is None:
            return {}
        with self.timed("curve"):
            return loss_by_p(self.release, limits=self.limits())

    def milder(self) -> Milder:
        """Which milder promises keep half of the item occurrences."""
        return milder_that_keep_half(self.release, self.curve, limits=self.limits())

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Writes down in `seconds` how long a block took."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[step] = time.perf_counter() - started


def certify(release: Release, limits: Limits | None = None) -> Release:
    """The same release with the auditor's answer, and with any discrepancy between its edits and its data."""
    discrepancy = edits_account_for(
        release.original,
        release.custodian_data,
        suppressed=release.suppressed,
        generalized=release.generalized,
        withheld=release.withheld,
        stands_for=release.stands_for,
        kept=release.kept,
        members=None if release.partition is None else release.partition.members,
        limits=limits,
    )
    answer = audit(release.custodian_data, release.promise, limits=limits)
    return dataclasses.replace(release, audit=answer, discrepancy=discrepancy)


def _with_sensitive(release: Release, data: Transactions, gone: tuple[str, ...]) -> Release:
    """The account of a release, once more against the data that still has the sensitive items that went first."""
    kept = len(release.original.items) / len(data.items)  # what is not lost already

    def in_all(loss: float) -> float:
        return 1 - (1 - loss) * kept

    bound = release.bound
    if bound is not None and bound.of == OCCURRENCES:
        bound = dataclasses.replace(bound, reached=in_all(bound.reached), least=in_all(bound.least))
    return dataclasses.replace(
        release,
        original=data,
        suppressed=data.in_order({*gone, *release.suppressed}),
        stands_for={name: tuple(item for item in may if item not in gone) for name, may in release.stands_for.items()},
        attempts=tuple(
            dataclasses.replace(attempt, loss=None if attempt.loss is None else in_all(attempt.loss))
            for attempt in release.attempts
        ),
        bound=bound,
    )


def _without_empty(release: Release) -> Release:
    """The release without empty transactions, and without the sensitive items that are too common among the others."""
    whole, gone = release.custodian_data, set(release.suppressed)
    while more := release.promise.too_common_among(kept := whole.take(np.flatnonzero(whole.lengths > 0))):
        gone.update(more)
        whole = whole.without(more)
    return dataclasses.replace(
        release,
        custodian_data=kept,
        suppressed=release.original.in_order(gone),
        withheld=tuple(np.flatnonzero(whole.lengths == 0).tolist()),
    )
