"""The public functions. Each is a `Run`, or a part of one."""

from __future__ import annotations

import inspect
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Unpack

from veilset.anonymize import described
from veilset.audit import audit as run_auditor
from veilset.errors import InvalidArgument
from veilset.limits import Bounds, Limits, Progress
from veilset.models import Audit, Promise, check_promise
from veilset.publish import Bundle, Verification, recipe_like
from veilset.publish import publish as write_bundle
from veilset.publish import verify as verify_bundle
from veilset.release import Release, check_release
from veilset.run import Run
from veilset.transactions import Transactions, absent_names, check_transactions
from veilset.utility import Account


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
        Such as ``Coherence(h=0.4, k=20, p=4)`` or ``RhoUncertainty(rho=0.5)``. A hidden pattern with an item that the
        data does not have is in no transaction, so that it is hidden.
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
      {figs}: only 1 matching transaction
    """
    check_transactions(data)
    check_promise(promise)
    limits = Limits(threads, memory_limit, time_limit, progress)
    if not promise.may_lack_items:
        promise.check_items(data)
    return run_auditor(data, promise, witnesses=witnesses, limits=limits)


def anonymize(
    data: Transactions,
    promise: Promise,
    *,
    method: str | None = None,
    allow_sensitive: bool = False,
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
        Not cut into columns and buckets: anonymize what they were made from.
    promise : Promise
    method : str, optional
        One of the promise's methods; None: its default. A paper's name for one, such as "TDControl" or
        "Tree-Cohesion", means the algorithm as published.
    allow_sensitive : bool
        For coherence: suppress, before anything else, the sensitive items that are in more than a share h of all
        transactions: with them, nothing could be promised.
    drop_empty : bool
        Withhold transactions that are empty in the end; they are dropped before the audit and counted as loss. Not
        for hidden patterns or rules whose min_support is a share, nor for l-diverse anatomy.
    threads, memory_limit, time_limit, progress
        As for `audit`; the time limit holds for the method, and once more for the audit of its result.
    **options
        Options of the method; ``help(veilset.anonymize)`` lists all methods and their options.

    Examples
    --------
    >>> import veilset as vs
    >>> data = vs.Transactions.from_lists([["milk", "beer"], ["milk"], ["milk", "beer"], ["milk", "figs"]])
    >>> release = vs.anonymize(data, vs.Coherence(k=2, p=2))
    >>> release.suppressed, release.certified
    (('figs',), True)
    """
    return Run(
        data,
        promise,
        method=method,
        options=options,
        allow_sensitive=allow_sensitive,
        drop_empty=drop_empty,
        threads=threads,
        memory_limit=memory_limit,
        time_limit=time_limit,
        progress=progress,
    ).release


anonymize.__doc__ = f"{inspect.cleandoc(anonymize.__doc__ or '')}\n\n{described()}\n"


def apply(
    earlier: str | Path,
    data: Transactions,
    *,
    unknown: str = "refuse",
    repair: bool = False,
    **bounds: Unpack[Bounds],
) -> Release:
    """Make the changes of an earlier release to other data, for the same promise, and have the result audited.

    Not those that hid patterns or rules, or made buckets: they were made to single transactions.

    Parameters
    ----------
    earlier : path
        The folder of a release, with its ``custodian/``.
    data : Transactions
        Next month's, or all of which a sample was anonymized. What was sensitive then is sensitive here. Read it with
        the same options: other normalized names are refused, other persons are noted (``release.notes``).
    unknown : {"refuse", "suppress", "keep"}
        What to do with public items that the earlier release did not have; what is kept is audited like the rest.
        Items that its lists would have called sensitive are never kept.
    repair : bool
        Change more where the earlier changes do not suffice, as little as the promise's default method can, until the
        promise is kept. The reports say what that adds; the earlier changes stay.
    **bounds
        As for `audit`.
    """
    check_transactions(data)
    recipe = recipe_like(Path(earlier), "")
    assert recipe.input is not None  # noqa: S101 - recipe_like sees to it
    notes = recipe.input.compared(data)
    sensitive = recipe.input.sensitive_where_present
    listed = [name for name in sensitive if name in data.names]
    sought = [*data.sought, *absent_names(data, sensitive), *recipe.input.sought()]
    release = anonymize(
        data.marked({*data.sensitive, *listed}, sought=sought),
        recipe.promise_for(data),
        method="replay",
        allow_sensitive=recipe.method.allow_sensitive,
        drop_empty=recipe.method.drop_empty,
        unknown=unknown,
        **({"repair": True} if repair else {}),
        **recipe.method.options,
        **bounds,
    )
    return replace(release, notes=(*release.notes, *notes))


def measure(
    data: Transactions,
    release: Release,
    *,
    nugget_support: int | float | str | Fraction | None = None,
    nugget_size: int | None = None,
    **bounds: Unpack[Bounds],
) -> dict[str, float]:
    """What *release* lost of *data*, by name; `veilset.utility.metrics_of` says what each means.

    Parameters
    ----------
    data : Transactions
        What the release was made from.
    release : Release
    nugget_support : int, float or str, optional
        How many transactions hold a nugget (a frequent itemset), at least: a whole number, or a share of those of
        *data* such as 0.01 or ``"1%"``. None: 1% of them, but at least the k of the promise. Rules have to be as
        frequent.
    nugget_size : int, optional
        How many items a nugget has, at most; None: any number.
    **bounds
        As for `audit`; the time limit is for counting nuggets and rules, without one 10 seconds each. In dense data
        there may be too many to count: **what is not decided within the limits is left out**, never guessed.

    Examples
    --------
    >>> import veilset as vs
    >>> data = vs.Transactions.from_lists([["milk", "beer"], ["milk"], ["milk", "beer"], ["milk", "figs"]])
    >>> lost = vs.measure(data, vs.anonymize(data, vs.Coherence(k=2, p=2)))
    >>> lost["items_lost"], lost["items_lost_after_preprocessing"], lost["nuggets_lost"]
    (0.1428571428571429, 0.0, 0.0)
    """
    check_transactions(data)
    check_release(release)
    if data is not release.original and data != release.original:
        raise InvalidArgument("The release was made from other data.", "Give the transactions that were anonymized.")
    limits = Limits(**bounds)
    return Account(release, nugget_support=nugget_support, nugget_size=nugget_size, limits=limits).values


def publish(
    release: Release,
    out: str | Path,
    *,
    replace: bool = False,
    out_format: str | None = None,
    random_state: int | str | None = None,
    with_what_if: bool = True,
    allow_empty_promise: bool = False,
    **bounds: Unpack[Bounds],
) -> Bundle:
    """Write a certified release to the folder *out*: ``public/`` to hand over, ``custodian/`` to keep; or nothing.

    Parameters
    ----------
    release : Release
        One that is ``certified``; any other is refused with `NotCertified`. The auditor decides, not how it was made:
        what ``certify=False`` leaves of hidden patterns may be published if none of them reaches min_support.
    out : path
        A folder that does not exist yet, or, with *replace*, an older release.
    replace : bool
        Atomically replace an existing release.
    out_format : str, optional
        One of `veilset.io.FORMATS`; None: as the data was read (what a database or a frame gave as Parquet).
    random_state : int or str, optional
        The secret seed of the row order, and of the seal on hidden patterns, stored in ``custodian/recipe.toml``; None
        draws one. Who can guess it can undo the shuffling, and try out what is hidden. Rows in buckets stay in the
        order that the method gave them by its own ``random_state``.
    with_what_if : bool
        Whether the custodian's report tells what each limit costs, and what a milder one would.
    allow_empty_promise : bool
        Write a release even if its promise excludes nothing, such as ``Coherence(k=1, p=2)``; its certificate says so.
    **bounds
        As for `audit`; the time limit holds for each step: auditing the original, measuring, writing.
    """
    run = Run.of(release, with_what_if=with_what_if, **bounds)
    return write_bundle(
        run,
        out,
        replace=replace,
        out_format=out_format,
        random_state=random_state,
        allow_empty_promise=allow_empty_promise,
    )


def verify(
    path: str | Path, *, witnesses: int = 20, clean_copy: str | Path | None = None, **bounds: Unpack[Bounds]
) -> Verification:
    """Whether the release at *path* (the bundle or its ``public/``) keeps its promise, counted on its bytes.

    For hidden patterns or rules the bundle is needed: what is hidden does not stand in ``public/``.

    Parameters
    ----------
    path : path
    clean_copy : path, optional
        A folder that does not exist. If the values of the release keep the promise, its public files are written there
        anew from them, by this version: nothing but values is copied. The answer is then about this folder.
    witnesses, **bounds
        As for `audit`.
    """
    return verify_bundle(path, witnesses=witnesses, limits=Limits(**bounds), clean_copy=clean_copy)
