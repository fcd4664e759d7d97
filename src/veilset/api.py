"""The public functions. `anonymize` runs a method, then the auditor on its result: neither knows of the other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from veilset import audit as auditing
from veilset import utility
from veilset.anonymize import find_method
from veilset.errors import WrongUsage
from veilset.limits import Limits, Progress
from veilset.models import Audit, Promise
from veilset.release import Release
from veilset.transactions import Transactions

__all__ = ["anonymize", "audit", "certify", "measure"]


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
    return auditing.audit(data, promise, witnesses=witnesses, limits=limits)


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
    _, run = find_method(promise, method)
    promise.check_feasible(data)
    try:
        release = run(data, promise, limits=limits, **options)  # type: ignore[arg-type]
    except TypeError as error:
        if "unexpected keyword argument" not in str(error):
            raise
        raise WrongUsage(f"The method {method!r} does not take this option: {error}.", "See its documentation.") from None
    if drop_empty:
        release = _without_empty(release)
    return certify(release, limits)


def certify(release: Release, limits: Limits | None = None) -> Release:
    """The same release with the auditor's answer, and with any discrepancy between its edits and its data."""
    discrepancy = auditing.edits_account_for(
        release.original,
        release.data,
        suppressed=release.suppressed,
        generalized=release.generalized,
        withheld=release.withheld,
    )
    answer = auditing.audit(release.data, release.promise, limits=limits)
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
    return utility.measure(release)
