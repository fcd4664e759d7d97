"""The public functions. `anonymize` runs a method, then the auditor on its result: neither knows of the other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from veilset.anonymize import find_method
from veilset.audit import audit as run_auditor
from veilset.audit import edits_account_for
from veilset.errors import BudgetExceeded, WrongUsage
from veilset.limits import Limits, Progress
from veilset.models import Audit, Coherence, Promise
from veilset.publish import Bundle, Verification
from veilset.publish import publish as write_bundle
from veilset.publish import verify as verify_bundle
from veilset.release import Release
from veilset.transactions import Transactions
from veilset.utility import measure as measure_release

__all__ = ["anonymize", "audit", "certify", "largest_that_keep_half", "measure", "publish", "verify"]

_LARGEST_P_TRIED = 8


def audit(
    data: Transactions,
    promise: Promise,
    *,
    witnesses: int = 20,
    threads: int | None = None,
    memory_limit: int | str | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Whether *data* keeps *promise*, counted independently of every method.

    Parameters
    ----------
    data : Transactions
    promise : Promise
        Such as ``Coherence(h=0.4, k=20, p=4)``.
    witnesses : int
        How many reasons to list if it does not, the most severe first; the rest is counted.
    threads : int, optional
        None: all cores.
    memory_limit : int or str, optional
        What the process may use, like ``"2GB"``; beyond it `BudgetExceeded` is raised.
    time_limit : float, optional
        Seconds, likewise.
    progress : callable, optional
        Called as progress(what, done, total).

    Examples
    --------
    >>> import veilset as vs
    >>> data = vs.Transactions.from_lists([["milk", "beer"], ["milk"], ["milk", "beer"], ["milk", "figs"]])
    >>> print(vs.audit(data, vs.Coherence(k=2, p=2)))
    Coherence(k=2, p=2) does not hold on 4 transactions (4 itemsets checked).
      {figs}: only 1 transaction holds this
    """
    limits = Limits(threads, memory_limit, time_limit, progress)
    promise.check_items(data)
    return run_auditor(data, promise, witnesses=witnesses, limits=limits)


def anonymize(
    data: Transactions,
    promise: Promise,
    *,
    method: str | None = None,
    drop_empty: bool = False,
    threads: int | None = None,
    memory_limit: int | str | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
    **options: object,
) -> Release:
    """Change *data* so that it keeps *promise*, then have the result audited.

    Gives a `Release` whatever the auditor says; look at its ``certified``.

    Parameters
    ----------
    data : Transactions
    promise : Promise
    method : str, optional
        One of the promise's methods; None: its default.
    drop_empty : bool
        Withhold transactions that are empty in the end; they are dropped before the audit and counted as loss.
    threads, memory_limit, time_limit, progress
        As for `audit`.
    **options
        Options of the method.

    Examples
    --------
    >>> import veilset as vs
    >>> data = vs.Transactions.from_lists([["milk", "beer"], ["milk"], ["milk", "beer"], ["milk", "figs"]])
    >>> release = vs.anonymize(data, vs.Coherence(k=2, p=2))
    >>> release.suppressed, release.certified
    (('figs',), True)
    """
    limits = Limits(threads, memory_limit, time_limit, progress)
    run = find_method(promise, method)
    promise.check_items(data)
    promise.check_feasible(data)
    try:
        release = run(data, promise, limits=limits, **options)  # type: ignore[arg-type]
    except TypeError as error:
        if "unexpected keyword argument" not in str(error):
            raise
        raise WrongUsage(
            f"The method {method!r} does not take this option: {error}.", "See its documentation."
        ) from None
    if drop_empty:
        release = _without_empty(release)
    return certify(release, limits)


def certify(release: Release, limits: Limits | None = None) -> Release:
    """The same release with the auditor's answer, and with any discrepancy between its edits and its data."""
    discrepancy = edits_account_for(
        release.original,
        release.data,
        suppressed=release.suppressed,
        generalized=release.generalized,
        withheld=release.withheld,
        stands_for=release.stands_for,
    )
    answer = run_auditor(release.data, release.promise, limits=limits)
    return replace(release, audit=answer, discrepancy=discrepancy)


def _without_empty(release: Release) -> Release:
    filled = np.flatnonzero(release.data.lengths > 0)
    empty = np.flatnonzero(release.data.lengths == 0)
    return replace(
        release,
        data=release.data.take(filled),
        withheld=tuple(empty.tolist()),
        options={**release.options, "drop_empty": True},
    )


def measure(data: Transactions, release: Release) -> dict[str, float]:
    """What *release* lost of *data*, by name; `veilset.utility.METRICS` says what each number means."""
    if data is not release.original and data != release.original:
        raise WrongUsage("The release was made from other data.", "Give the transactions that were anonymized.")
    return measure_release(release)


def largest_that_keep_half(
    data: Transactions, promise: Coherence, *, method: str | None = None, limits: Limits | None = None
) -> dict[str, int | None]:
    """The largest k (at the promise's p) and the largest p (at its k) at which half of the item occurrences survive.

    None: there is none, or it was not found within the limits; k = 1 is none, since it hides nobody. A custodian wants
    to see this before choosing.
    """
    limits = limits or Limits()
    run = find_method(promise, method)

    def half_survives(k: int, p: int | None) -> bool:
        limits.step(f"Trying k={k}, p={'unlimited' if p is None else p}")
        return run(data, Coherence(h=promise.h, k=k, p=p), limits=limits).loss <= 0.5

    found: dict[str, int | None] = {"k": None, "p": None}
    try:
        highest = min(promise.p or _LARGEST_P_TRIED, _LARGEST_P_TRIED)
        found["p"] = next((p for p in range(highest, 0, -1) if p != promise.p and half_survives(promise.k, p)), None)
        low, high = 1, promise.k  # half survives at k=low (or low is 1), not at k=high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if half_survives(middle, promise.p) else (low, middle)
        found["k"] = low if low > 1 else None
    except BudgetExceeded:
        pass  # a preview that takes too long is left incomplete: the answer says None
    return found


def publish(
    release: Release,
    out: str | Path,
    *,
    replace: bool = False,
    random_state: int | str | None = None,
    before: Audit | None = None,
    threads: int | None = None,
    memory_limit: int | str | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Bundle:
    """Write a certified release to the folder *out*: ``public/`` to hand over, ``custodian/`` to keep; or nothing.

    Parameters
    ----------
    release : Release
        One that is ``certified``; any other is refused with `NotCertified`.
    out : path
        A folder that does not exist yet, or, with *replace*, an older release.
    replace : bool
        Exchange an older release in one step.
    random_state : int or str, optional
        The secret seed of the row order, stored in ``custodian/recipe.toml``; None draws one. Who can guess it can undo
        the shuffling.
    before : Audit, optional
        The auditor's answer about the original, for the custodian's report; asked for if not given.
    threads, memory_limit, time_limit, progress
        As for `audit`.
    """
    limits = Limits(threads, memory_limit, time_limit, progress)
    return write_bundle(release, out, replace=replace, random_state=random_state, before=before, limits=limits)


def verify(
    path: str | Path,
    *,
    witnesses: int = 20,
    threads: int | None = None,
    memory_limit: int | str | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Whether the release at *path* (the bundle or its ``public/``) keeps its promise, counted on its bytes.

    Parameters
    ----------
    path : path
    witnesses, threads, memory_limit, time_limit, progress
        As for `audit`.
    """
    limits = Limits(threads, memory_limit, time_limit, progress)
    return verify_bundle(path, witnesses=witnesses, limits=limits)
