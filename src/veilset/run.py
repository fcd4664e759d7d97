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
import numpy.typing as npt

from veilset.anonymize import (
    METHODS,
    Binding,
    Method,
    check_options,
    find_method,
    methods_of,
    reject_anatomized,
    resolve,
    time_for,
    what_binds,
)
from veilset.attack import ComparingBuckets, compare_buckets
from veilset.audit import audit, edits_account_for, in_original, why_not_back
from veilset.engines import HeldCounts
from veilset.errors import BudgetExceeded, Infeasible, VeilsetError, said
from veilset.limits import Bounds, Limits
from veilset.models import Audit, Promise, Witness, check_promise
from veilset.options import declared
from veilset.release import OCCURRENCES, Attempt, HeldRelease, Release, check_release
from veilset.transactions import Transactions, absent_names, check_transactions
from veilset.utility import Account, Fidelity, SideEffect, average_loss, fidelity
from veilset.views import Count

_SECONDS_TO_COUNT = 20.0
_HALF = 0.5  # of all occurrences: who loses more is told of another way
_MOST_EXPLAINED = 50  # suppressed items, the most frequent ones
_SECONDS_TO_EXPLAIN = 10.0
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
    with_what_if : bool
        Whether the cost of each limit is worked out.
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
        with_what_if: bool = True,
        **bounds: Unpack[Bounds],
    ) -> None:
        check_transactions(data)
        check_promise(promise)
        self.data = data
        self.promise = promise
        self.method = method
        self.options = dict(options or {})
        self.allow_sensitive = allow_sensitive
        self.drop_empty = drop_empty
        self.with_what_if = with_what_if
        self.progress = bounds.pop("progress", None)
        self.seconds: dict[str, float] = {}
        self._bounds = bounds
        self.limits()  # refuses bounds that cannot be meant

    @classmethod
    def of(cls, release: Release, **others: Any) -> Run:
        """The run that made this release; *others*: as for `Run`."""
        check_release(release)
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
    def _asked(self) -> tuple[str, dict[str, object]]:
        """The method's own name, and its options with those that a paper's name for it stands for."""
        name, meant = resolve(self.promise, self.method)
        return name, {**meant, **self.options}

    @cached_property
    def _changeable(self) -> tuple[Transactions, tuple[str, ...]]:
        """The data handed to the method, and the sensitive items removed beforehand; an error if it cannot be done."""
        method, options = self._asked
        check_options(self.promise, method, options)
        reject_anatomized(self.data)
        self.promise.check_items(self.data)
        for one in declared(find_method(self.promise, method)):
            named = None if one.option.recorded else options.get(one.name)
            if one.option.form in ("items", "weights") and isinstance(named, Collection) and not isinstance(named, str):
                self.data.codes(list(named))  # an unknown item is an error before anything takes long
        if self.drop_empty:
            self.promise.check_drop_empty()
        gone = self.promise.too_common(self.data) if self.allow_sensitive else ()
        seen = self.data.without(gone) if gone else self.data
        if gone:  # they are sensitive all the same: what resembles them must still be noticed
            seen = seen.marked(seen.sensitive, sought=[*seen.sought, *absent_names(seen, gone)])
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
        with self.timed("method"):
            release = self._changed(find_method(self.promise, self._asked[0]), self.limits())
        release = dataclasses.replace(release, seconds=self.seconds["method"])
        with self.timed("audit of the release"):
            return certify(release, self.limits())

    def _changed(self, method: Method, limits: Limits) -> Release:
        """What a method makes of the data, with all that is done before and after it."""
        data, gone = self._changeable
        release = method(data, self.promise, limits=limits, **self._asked[1])
        if gone:
            release = _with_sensitive(release, self.data, gone)
        if self.drop_empty:
            release = _without_empty(release)
        on = {name: True for name in _SWITCHES if getattr(self, name)}
        return dataclasses.replace(release, options={**release.options, **on})

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
    def compared(self) -> ComparingBuckets | None:
        """What an attacker learns by comparing buckets; None: nothing to compare, or it took over 20 seconds."""
        with self.timed("comparing buckets"):
            try:
                return compare_buckets(self.release, limits=self.limits().part(1, _SECONDS_TO_COUNT))
            except BudgetExceeded:
                return None

    @cached_property
    def fidelity(self) -> Fidelity | None:
        """How far counts can be believed if single occurrences are gone; None: none are, or it took over 20 seconds."""
        if not self.release.thinned:
            return None
        with self.timed("fidelity"):
            try:
                return fidelity(self.release, self.account.nugget_support, self.limits().part(1, _SECONDS_TO_COUNT))
            except BudgetExceeded:
                return None

    @cached_property
    def by_occurrences(self) -> float | None:
        """The share of all occurrences that deleting single ones would keep, if whole items lose more than half.

        At least: the quick part of the method counts. None: whole items do not lose so much, it would keep no more, or
        there was no answer within 20 seconds.
        """
        release, partial = self.release, "partial"
        if not (self.with_what_if and release.certified and release.loss > _HALF) or release.repeated:
            return None
        if release.thinned or release.generalized or partial not in methods_of(self.promise):
            return None
        with self.timed("single occurrences"):
            _, method = METHODS.of(self.promise).quicker.get(partial, ("", find_method(self.promise, partial)))
            options = {name: self.options[name] for name in ("weights", "keep") if self.options.get(name)}
            limits = self.limits().part(1, _SECONDS_TO_COUNT)
            other = Run(
                self.data,
                self.promise,
                method=partial,
                options=options,
                allow_sensitive=self.allow_sensitive,
                **limits.bounds(),
            )
            try:
                kept = 1 - other._changed(method, limits).loss
            except VeilsetError:  # it is a hint: why there is none does not matter
                return None
        return kept if kept > 1 - release.loss else None

    @cached_property
    def binding(self) -> Binding:
        """What each limit of the promise costs; for a release that does not keep it, which limit is in the way."""
        release = self.release
        if not self.with_what_if:
            return Binding(why_not="left out on request")
        if not release.certified and (release.audit is None or release.audit.holds):
            return Binding(holds=True, why_not="no limit of the promise caused this")
        if release.certified and release.repeated:
            return Binding(why_not="these edits come from an earlier release")
        if release.certified and release.method not in methods_of(self.promise):
            return Binding(why_not=f"there is no method {release.method!r} to run again")
        with self.timed("what if"):
            return self._what_binds()

    @cached_property
    def reasons(self) -> Mapping[str, Witness | None]:
        """What breaks the promise if a suppressed item returns alone; None: nothing does.

        For the 50 most frequent ones, as far as 10 seconds allow; empty where items do not go as a whole.
        """
        release = self.release
        if release.promise.edits != "items" or release.thinned:
            return {}
        with self.timed("reasons"):
            return why_not_back(
                release.original,
                release.promise,
                release.suppressed_by_support[:_MOST_EXPLAINED],
                suppressed=release.suppressed,
                generalized=release.generalized,
                withheld=release.withheld,
                limits=self.limits().part(1 / 2, _SECONDS_TO_EXPLAIN),
            )

    def _what_binds(self) -> Binding:
        release, methods = self.release, METHODS.of(self.promise)
        limits = time_for(release.seconds, self.limits())
        eased = [*methods.eased(release, limits)]
        if not release.certified:
            return what_binds(eased, self._holds, now=0, holds=True, limits=limits)
        words, method = "", find_method(self.promise, release.method)
        if len(eased) * release.seconds > limits.seconds_left():
            words, method = methods.quicker.get(release.method, (words, method))

        measure = average_loss if self._recodes else methods.cost

        def cost(promise: Promise, left_out: tuple[str, ...], part: Limits) -> float:
            return measure(self._with(promise, left_out, method, part))

        found = what_binds(eased, cost, now=measure(release), stand_in=words, limits=limits)
        return dataclasses.replace(found, average=self._recodes)

    @property
    def _recodes(self) -> bool:
        """Whether the method gives coarser names, so that what it minimises is the average loss."""
        release = self.release
        if self.promise.edits != "items":
            return False
        names = [release.method, *([None] if release.method == "replay" else [])]  # the default method repairs
        takes = (one for name in names for one in declared(find_method(self.promise, name)))
        return bool(release.generalized) or any(one.option.form == "taxonomy" for one in takes)

    def _with(self, promise: Promise, left_out: tuple[str, ...], method: Method, limits: Limits) -> Release:
        """What a method makes of the same data, or of what is left of it, for another promise."""
        limits.step(f"Trying another {promise.name}" if promise.secret else f"Trying {promise}")  # it may be logged
        options = {name: _lacking(value, left_out) for name, value in self.release.options.items()}
        other = Run(
            self.data.without(left_out),
            promise,
            method=self.release.method,
            options={name: value for name, value in options.items() if name not in (*_SWITCHES, "chosen")},
            allow_sensitive=self.allow_sensitive,
            drop_empty=self.drop_empty,
            **limits.bounds(),
        )
        made = other._changed(method, limits)
        return _with_sensitive(made, self.data, left_out) if left_out else made

    def _holds(self, promise: Promise, left_out: tuple[str, ...], limits: Limits) -> float:
        """1 if the release as it is keeps another promise, else 0."""
        data = self.release.custodian_data
        return float(audit(data.without(set(left_out).intersection(data.names)), promise, limits=limits).holds)

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Writes down in `seconds` how long a block took."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[step] = time.perf_counter() - started


class HeldRun:
    """What is found out about a release that an engine holds, each thing once.

    Parameters
    ----------
    release : HeldRelease
    **bounds
        As for `veilset.audit`; the time limit holds for each step. The engine has threads of its own.
    """

    def __init__(self, release: HeldRelease, **bounds: Unpack[Bounds]) -> None:
        self.release = release
        self.promise = release.promise
        self.progress = bounds.pop("progress", None)
        self._bounds = bounds
        self.limits()  # refuses bounds that cannot be meant

    def limits(self) -> Limits:
        """The limits of a step that starts now."""
        bounds: Bounds = {**self._bounds, "progress": self.progress}
        return Limits(**bounds)

    @cached_property
    def before(self) -> Audit | None:
        """The auditor's answer about the original; None: not within the limits."""
        try:
            return audit(self.release.original, self.promise, limits=self.limits())
        except BudgetExceeded:
            return None

    @cached_property
    def original(self) -> HeldCounts:
        """Counts of the original."""
        return HeldCounts.of(self.release.original)

    @cached_property
    def released(self) -> HeldCounts:
        """Counts of what is released."""
        return HeldCounts.of(self.release.custodian_data)


def certify(release: Release, limits: Limits | None = None) -> Release:
    """The same release with the auditor's answer, and with any discrepancy between its edits and its data."""
    discrepancy = edits_account_for(
        release.original,
        release.custodian_data,
        suppressed=release.suppressed,
        generalized=release.generalized,
        withheld=release.withheld,
        stands_for=release.stands_for,
        listed_from=release.listed_from,
        kept=release.kept,
        members=None if release.partition is None else release.partition.members,
        limits=limits,
    )
    answer = audit(release.custodian_data, release.promise, limits=limits)
    compared = None
    if release.thinned and discrepancy is None:
        compared = in_original(
            release.original,
            release.custodian_data,
            release.promise,
            generalized=release.generalized,
            least=release.promise.support_floor if answer.holds else 1,
            limits=limits,
        )
    return dataclasses.replace(release, audit=answer, discrepancy=discrepancy, in_original=compared)


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
        kept=None if release.kept is None else _kept_of_all(release, data, gone),
        stands_for={name: tuple(item for item in may if item not in gone) for name, may in release.stands_for.items()},
        attempts=tuple(
            dataclasses.replace(attempt, loss=None if attempt.loss is None else in_all(attempt.loss))
            for attempt in release.attempts
        ),
        bound=bound,
    )


def _kept_of_all(release: Release, data: Transactions, gone: tuple[str, ...]) -> npt.NDArray[np.bool_]:
    """Which occurrences of *data* are left: those of the items that went first are not.

    A row may list its items in another order without them: names that are all numbers are sorted as numbers.
    """
    original = release.original
    rows = np.repeat(np.arange(len(original)), original.lengths)
    in_order = np.lexsort((data.codes(original.names)[original.items], rows))
    kept = np.ones(len(data.names), dtype=bool)
    kept[data.codes(gone)] = False
    left = kept[data.items]
    assert release.kept is not None  # noqa: S101 - whoever asks has looked
    left[left] = release.kept[in_order]
    return left


def _lacking(value: object, left_out: tuple[str, ...]) -> object:
    """An option without the items that are left out."""
    if left_out and isinstance(value, Mapping):
        return {name: one for name, one in value.items() if name not in left_out}
    return tuple(one for one in value if one not in left_out) if left_out and isinstance(value, tuple) else value


def _without_empty(release: Release) -> Release:
    """The release without empty transactions, and without the sensitive items that are too common among the others.

    As many empty ones stay as the promise needs. `Infeasible` if an item that must be kept would have to go.
    """
    whole, gone = release.custodian_data, set(release.suppressed)
    before = len(gone)
    while more := release.promise.too_common_among(kept := whole.take(np.flatnonzero(whole.lengths > 0))):
        _check_kept(more, release, len(whole) - len(kept))
        gone.update(more)
        whole = whole.without(more)
    empty = np.flatnonzero(whole.lengths == 0)
    stay = min(release.promise.empty_needed(kept), len(empty))
    withheld = empty[stay:]
    notes = release.notes
    if stay:
        were, them = ("transaction was", "it") if stay == 1 else ("transactions were", "them")
        notes = (*notes, f"{stay:,} empty {were} kept because the promise fails without {them}.")
    return dataclasses.replace(
        release,
        custodian_data=whole.take(np.setdiff1d(np.arange(len(whole)), withheld)) if stay else kept,
        suppressed=release.original.in_order(gone),
        withheld=tuple(withheld.tolist()),
        notes=notes,
        attempts=release.attempts if len(gone) == before else _followed_by(release.attempts, len(gone) - before),
    )


def _check_kept(gone: tuple[str, ...], release: Release, empty: int) -> None:
    """Raise if an item that must be kept is among those that are too common once empty transactions are dropped."""
    keep = release.options.get("keep", ())
    if isinstance(keep, Collection) and (lost := sorted(set(gone).intersection(keep))):
        many = Count(empty)
        raise Infeasible(
            f"{lost[0]!r} must be kept, but is too common without the {many:,} empty "
            f"{many:transaction|transactions} of the release.",
            f"Leave {said('drop_empty', True)} out, or remove {lost[0]!r} from {said('keep')}.",
        )


def _followed_by(attempts: tuple[Attempt, ...], more: int) -> tuple[Attempt, ...]:
    """The chosen strategy is not all that made the release: so many sensitive items more had to go."""
    note = f"then {more:,} more sensitive item{'s' * (more > 1)} removed: too common without empty transactions"
    return tuple(
        dataclasses.replace(one, note="; ".join(filter(None, (one.note, note)))) if one.won else one for one in attempts
    )
