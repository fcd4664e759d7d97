"""The public functions. Each is a `Run`, or a part of one."""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Unpack, overload

import numpy as np

from veilset.anonymize import check_options, described, find_held_method, resolve
from veilset.audit import audit as run_auditor
from veilset.engines import Engine, Held
from veilset.errors import InvalidArgument, said
from veilset.limits import Bounds, Limits, Progress
from veilset.models import Audit, Promise, check_promise
from veilset.publish import Bundle, Verification, publish_held, recipe_like
from veilset.publish import publish as write_bundle
from veilset.publish import verify as verify_bundle
from veilset.release import HeldRelease, Release, check_release
from veilset.run import HeldRun, Run
from veilset.transactions import Transactions, absent_names, check_transactions
from veilset.utility import Account

_ROOM_TO_VERIFY = 28 << 20  # bytes: the smallest blocks, the page, and what the allocator keeps meanwhile
_LIBRARIES = 32 << 20  # bytes that reading loads first, unless something has: pyarrow looks for pandas


def audit(
    data: Transactions | Held,
    promise: Promise,
    *,
    witnesses: int = 20,
    threads: int | None = None,
    memory_limit: int | str | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Check whether *data* keeps *promise*, with code that no method shares.

    Parameters
    ----------
    data : Transactions
        Or transactions that an engine such as `veilset.engines.spark.Spark` has read, for `Coherence`,
        `RhoUncertainty`, `HiddenPatterns` and `HiddenRules`.
    promise : Promise
        Such as ``Coherence(h=0.4, k=20, p=4)`` or ``RhoUncertainty(rho=0.5)``. A pattern with an item that is not in
        the data counts as hidden.
    witnesses : int
        Maximum number of violations to list, the most severe first; all are counted.
    threads : int, optional
        Number of threads; None: all cores. An engine has its own setting.
    memory_limit : int or str, optional
        Maximum memory of the process, such as ``"2GB"``; beyond it, `BudgetExceeded` is raised.
    time_limit : float, optional
        Maximum seconds; beyond that, `BudgetExceeded` is raised.
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
    held = isinstance(data, Held)
    known = data.vocabulary if isinstance(data, Held) else data
    check_transactions(known)
    check_promise(promise)
    limits = Limits(threads, memory_limit, time_limit, progress)
    if held:
        _refuse_on_engine(threads=threads)
    if not promise.may_lack_items:
        promise.check_items(known)
    return run_auditor(data, promise, witnesses=witnesses, limits=limits)


@overload
def anonymize(data: Transactions, promise: Promise, **options: Any) -> Release: ...
@overload
def anonymize(data: Held, promise: Promise, **options: Any) -> HeldRelease: ...
def anonymize(
    data: Transactions | Held,
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
) -> Release | HeldRelease:
    """Change *data* so that it keeps *promise*, then audit the result.

    Returns a `Release` even if the audit fails; check ``release.certified``. Of transactions that an engine holds, it
    is a `veilset.release.HeldRelease`, whose data stays on the engine.

    Parameters
    ----------
    data : Transactions
        The original. Data in columns and buckets is refused. Or transactions that an engine such as
        `veilset.engines.spark.Spark` has read: docs/scale.md says for which promises and methods.
    promise : Promise
    method : str, optional
        One of the promise's methods; None: its default. A paper's name for a method, such as "TDControl" or
        "Tree-Cohesion", runs the algorithm as published.
    allow_sensitive : bool
        First suppress the sensitive items that are so common that no method could keep the promise with them.
    drop_empty : bool
        Withhold transactions that end up empty. They are dropped before the audit and counted as loss. A promise
        that would mean something else without them refuses this.
    threads, memory_limit, time_limit, progress
        As for `audit`; the time limit applies to the method, and again to the audit of its result.
    **options
        Options of the method. All methods and their options are listed below.

    Examples
    --------
    >>> import veilset as vs
    >>> data = vs.Transactions.from_lists([["milk", "beer"], ["milk"], ["milk", "beer"], ["milk", "figs"]])
    >>> release = vs.anonymize(data, vs.Coherence(k=2, p=2))
    >>> release.suppressed, release.certified
    (('figs',), True)
    """
    if isinstance(data, Held):
        _refuse_on_engine(threads=threads, allow_sensitive=allow_sensitive, drop_empty=drop_empty)
        limits = partial(Limits, None, memory_limit, time_limit, progress)
        return _anonymize_held(data, promise, method, options, limits)
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


def _anonymize_held(
    held: Held, promise: Promise, method: str | None, options: dict[str, object], limits: Callable[[], Limits]
) -> HeldRelease:
    """What a method makes of transactions that an engine holds, with the auditor's answer."""
    check_promise(promise)
    check_transactions(held.vocabulary)
    changed = find_held_method(promise, method)
    own, meant = resolve(promise, method)
    options = {**meant, **options}
    check_options(promise, own, options)
    promise.check_items(held.vocabulary)
    started = time.perf_counter()
    release = changed(held, promise, limits=limits(), **options)
    release = replace(release, seconds=time.perf_counter() - started)
    return replace(release, audit=run_auditor(release.custodian_data, promise, limits=limits()))


def _refuse_on_engine(
    *, threads: int | None, allow_sensitive: bool = False, drop_empty: bool = False, out_format: str | None = None
) -> None:
    """Raise if an option was given that an engine does not have."""
    instead: dict[str, tuple[int | str | None, str]] = {
        "out_format": (out_format, "Leave it out: Parquet in parts is what an engine writes."),
        "threads": (threads, "Choose it with the engine."),
        "allow_sensitive": (
            allow_sensitive or None,
            "Leave these items out in the source, or read the data with vs.read.",
        ),
        "drop_empty": (drop_empty or None, "Drop them from the result, or read the data with vs.read."),
    }
    for option, (value, next_step) in instead.items():
        if value is not None:
            raise InvalidArgument(f"{said(option, value)} does not apply on an engine.", next_step)


anonymize.__doc__ = f"{inspect.cleandoc(anonymize.__doc__ or '')}\n\n{described()}\n"


@overload
def apply(
    earlier: str | Path, data: Transactions, *, unknown: str = ..., repair: bool = ..., **bounds: Unpack[Bounds]
) -> Release: ...
@overload
def apply(
    earlier: str | Path, data: Held, *, unknown: str = ..., repair: bool = ..., **bounds: Unpack[Bounds]
) -> HeldRelease: ...
def apply(
    earlier: str | Path,
    data: Transactions | Held,
    *,
    unknown: str = "refuse",
    repair: bool = False,
    **bounds: Unpack[Bounds],
) -> Release | HeldRelease:
    """Apply the changes of an earlier release to other data, for the same promise, and audit the result.

    Changes that hid patterns or rules, or made buckets, cannot be applied: they were made to single transactions.

    Parameters
    ----------
    earlier : path
        The folder of a release, with its ``custodian/``.
    data : Transactions
        For example next month's data, or the whole of which a sample was anonymized. Items that were sensitive then
        are sensitive here. Read it with the same options: differently normalized names are refused, and different
        persons are noted (``release.notes``). Or transactions that an engine such as `veilset.engines.spark.Spark` has
        read, for changes that suppress items.
    unknown : {"refuse", "suppress", "keep"}
        Treatment of public items that were not in the earlier release. Items that are kept are audited like the rest.
        Items that its lists would have called sensitive are never kept.
    repair : bool
        If the earlier changes are not enough, let the promise's default method change more until the promise is kept.
        The earlier changes stay; the reports say what was added.
    **bounds
        As for `audit`.
    """
    here = data.vocabulary if isinstance(data, Held) else data
    check_transactions(here)
    recipe = recipe_like(Path(earlier), "")
    assert recipe.input is not None  # noqa: S101 - recipe_like sees to it
    notes = recipe.input.compared(here)
    sensitive = recipe.input.sensitive_where_present
    listed = [name for name in sensitive if name in here.names]
    sought = [*here.sought, *absent_names(here, sensitive), *recipe.input.sought()]
    marked = here.marked({*here.sensitive, *listed}, sought=sought)
    release = anonymize(
        data.changed(np.arange(len(here.names), dtype=np.int32), marked) if isinstance(data, Held) else marked,
        recipe.promise_for(here),
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
    """Measure what *release* lost of *data*: metrics by name, which `veilset.utility.metrics_of` explains.

    Parameters
    ----------
    data : Transactions
        The original of the release.
    release : Release
    nugget_support : int, float or str, optional
        Minimum support of a nugget (a frequent itemset) and of a rule: a number of transactions, or a share of those
        of *data* such as 0.01 or ``"1%"``. None: 1% of them, but at least the k of the promise.
    nugget_size : int, optional
        Maximum number of items in a nugget; None: any number.
    **bounds
        As for `audit`. The time limit applies to counting nuggets and rules; without one, each may take 10 seconds.
        Dense data may have too many to count: **what is not decided within the limits is left out**, never guessed.

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
    release: Release | HeldRelease,
    out: str | Path,
    *,
    replace: bool = False,
    out_format: str | None = None,
    random_state: int | str | None = None,
    with_what_if: bool = True,
    allow_empty_promise: bool = False,
    **bounds: Unpack[Bounds],
) -> Bundle:
    """Write a certified release to the folder *out*, completely or not at all.

    ``public/`` is to hand over, ``custodian/`` to keep.

    Parameters
    ----------
    release : Release
        If it is not ``certified``, `NotCertified` is raised. Only the audit counts, not how the release was made: a
        release with ``certify=False`` can be published if no hidden pattern reaches min_support. The data of a
        `veilset.release.HeldRelease` is written by its engine, to ``public/data/part-00000.parquet`` and so on. *out*
        must be on a file system that all workers share.
    out : path
        A folder that does not exist yet, or, with *replace*, an older release.
    replace : bool
        Atomically replace an existing release.
    out_format : str, optional
        One of `veilset.io.FORMATS`; None: the format of the input, or Parquet for a database or a frame.
    random_state : int or str, optional
        Secret seed of the row order and of the seal on hidden patterns, kept in ``custodian/recipe.toml``; None draws
        one. Anyone who guesses it can undo the shuffle and test guesses about hidden patterns. Rows in buckets keep
        the order that the method gave them with its own ``random_state``.
    with_what_if : bool
        Whether the custodian's report says what each limit costs, and what a milder one would cost. On an engine, it
        never does.
    allow_empty_promise : bool
        Write a release even if its promise excludes nothing, such as ``Coherence(k=1, p=2)``; its certificate says so.
    **bounds
        As for `audit`; the time limit applies to each step: auditing the original, measuring, writing.
    """
    if isinstance(release, HeldRelease):
        _refuse_on_engine(threads=bounds.pop("threads", None), out_format=out_format)
        return publish_held(
            HeldRun(release, **bounds),
            out,
            replace=replace,
            random_state=random_state,
            allow_empty_promise=allow_empty_promise,
        )
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
    path: str | Path,
    *,
    witnesses: int = 20,
    clean_copy: str | Path | None = None,
    announce: Callable[[str], object] | None = None,
    engine: Engine | None = None,
    **bounds: Unpack[Bounds],
) -> Verification:
    """Check on its bytes whether the release at *path* (the bundle or its ``public/``) keeps its promise.

    For hidden patterns or rules, give the bundle: ``public/`` does not say what is hidden.

    Parameters
    ----------
    path : path
    clean_copy : path, optional
        A folder that does not exist. If the values of the release keep the promise, its public files are written there
        anew from them, by this version: nothing but values is copied. The answer is then about this folder.
    announce : callable, optional
        Called with a sentence that says how much there is to count, before it starts.
    engine : Engine, optional
        Such as `veilset.engines.spark.Spark`: its workers read, compare and audit a release in parts. The folder must
        be on a file system that they share. A clean copy is not written there.
    witnesses, **bounds
        As for `audit`.
    """
    limits = Limits(**bounds)
    limits.require_besides(_ROOM_TO_VERIFY + ("pandas" not in sys.modules) * _LIBRARIES, "Verifying a release")
    if engine is not None:
        _refuse_on_engine(threads=limits.threads)
    return verify_bundle(
        path, witnesses=witnesses, limits=limits, clean_copy=clean_copy, announce=announce, engine=engine
    )
