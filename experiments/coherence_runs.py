"""One run of the experiments: make the data, run a method, check what it releases, count what was lost.

A run is a `Setting`, its outcome a `Result`; both are a row of the CSV file.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache
from pathlib import Path
from typing import TypeVar

import numpy as np

import veilset as vs
from veilset.anonymize import find_method
from veilset.anonymize.coherence.border import worth_keeping
from veilset.anonymize.coherence.task import Task
from veilset.api import certify
from veilset.audit import edits_account_for
from veilset.errors import BudgetExceeded, Infeasible
from veilset.exact import support_of
from veilset.limits import Limits
from veilset.mining import count_frequent, count_moles, frequent, minimal_rare
from veilset.release import Release

FILES = {
    "Connect": "fimi-connect/connect.dat.gz",
    "Retail": "fimi-retail/retail.dat.gz",
    "Groceries": "groceries/groceries.csv.gz",
    "WebView-1": "bms-webview-1/BMS-WebView-1.dat.gz",
    "WebView-2": "bms-webview-2/BMS-WebView-2.dat.gz",
}
SECONDS = 30  # for a method that promises no end
AUDIT_SECONDS = 3
T = TypeVar("T")


@dataclass(frozen=True)
class Setting:
    """What is run.

    Parameters
    ----------
    data : str
        A name in `FILES`.
    delta, h : int
        The share of items that are public, and h, in percent.
    k : int
    p : int or None
        None: unlimited.
    nugget_share : str
        k' as a share of the transactions; empty: nuggets are not counted.
    method : str
        A method of veilset, or "mole border" or "nugget border" for the size of these.
    seed : int
        Which random selection of public items.
    cap : int
        Private items are no more frequent than this, in percent; 0: there are none.
    time_limit : int
        In seconds.
    """

    data: str
    delta: int
    h: int
    k: int
    p: int | None
    method: str
    nugget_share: str = ""
    seed: int = 0
    cap: int = 0
    time_limit: int = SECONDS

    @property
    def promise(self) -> vs.Coherence:
        """The promise that is asked for."""
        return vs.Coherence(h=Fraction(self.h, 100), k=self.k, p=self.p)


# The default settings of the thesis (§4.5.2), and the k and k' of its figures on nuggets.
CONNECT = Setting("Connect", delta=40, h=40, k=100, p=5, method="", cap=40)
RETAIL = Setting("Retail", delta=20, h=40, k=20, p=4, method="", cap=40)
KS = (10, 20, 30, 40, 50)
NUGGETS = {"Connect": ("40%", "50%", "60%"), "Retail": ("1%", "3%", "5%")}


@dataclass(frozen=True)
class Result:
    """What came of it; None: was not asked, or did not come to an end.

    Parameters
    ----------
    items, occurrences : int
        Public items before, and how often they occur.
    alone, lost : int
        Occurrences of the size-1 moles, and of all that was suppressed.
    least : int
        Occurrences (or nuggets) that every release loses at least, as far as proven.
    nuggets, nuggets_lost : int
    moles, mole_seconds : int, float
        Minimal moles, and the CPU time of their search (asked for ``tree`` only).
    seconds : float
        CPU time of the method.
    edges, itemsets, covered : int
        The size of a border, the itemsets it stands for, and the sum of what each edge stands for, which counts an
        itemset as often as it is covered.
    checked : str
        "audit", or "search" where the audit would take too long: no minimal mole is left.
    note : str
        Why there is no release.
    """

    items: int | None = None
    occurrences: int | None = None
    alone: int | None = None
    lost: int | None = None
    least: int | None = None
    nuggets: int | None = None
    nuggets_lost: int | None = None
    moles: int | None = None
    mole_seconds: float | None = None
    seconds: float | None = None
    edges: int | None = None
    itemsets: int | None = None
    covered: int | None = None
    checked: str = ""
    note: str = ""


class Runs:
    """Runs settings on the files of a folder, one thread each."""

    def __init__(self, folder: Path) -> None:
        if missing := [file for file in FILES.values() if not (folder / file).is_file()]:
            sys.exit(f"There is no {missing[0]} in {folder}. Name the folder with the data sets: --data DIR")
        self._folder = folder
        self._read = cache(lambda name: vs.read(folder / FILES[name]))
        self._prepared = lru_cache(1)(self._prepare)
        self._release = lru_cache(1)(self._run_method)
        self._checked = lru_cache(64)(self._check)

    def run(self, setting: Setting) -> Result:
        """The outcome of one setting."""
        data, promise = self._prepared(setting.data, setting.delta, setting.cap, setting.seed), setting.promise
        try:
            promise.check_feasible(data)
            if setting.method.endswith(" border"):
                return border_size(data, promise, setting)
            # The others do not know of nuggets: one release for every k'.
            asks = setting.method in ("border", "optimal")
            release, seconds = self._release(setting if asks else replace(setting, nugget_share=""))
            if isinstance(release, str):
                return Result(note=release)
            checked = self._checked(replace(setting, method="", nugget_share="", time_limit=0), release.suppressed)
            result = Result(**_losses(data, promise, release), seconds=seconds, checked=checked)
            if setting.method == "tree":
                moles, spent = cpu(lambda: _moles(data, promise))
                result = replace(result, moles=moles, mole_seconds=spent)
            if setting.nugget_share:
                result = replace(result, **_nuggets(data, release, setting.nugget_share))
        except Infeasible:
            return Result(note="infeasible")
        except BudgetExceeded as stop:
            return Result(note=_limit(stop))
        return result

    def _prepare(self, name: str, delta: int, cap: int, seed: int) -> vs.Transactions:
        """A random share δ of the items stays, as public items; with a cap, each transaction gets a private one."""
        whole = self._read(name)
        chosen = np.random.default_rng(seed).permutation(len(whole.names))[: round(len(whole.names) * delta / 100)]
        public = whole.only([whole.names[code] for code in chosen])
        if not cap:
            return public
        return vs.generate.with_private_items(public, cap=Fraction(cap, 100), copied_from=whole)

    def _run_method(self, setting: Setting) -> tuple[Release | str, float]:
        """The release and the CPU time it took, or the limit that it did not keep."""
        data, promise = self._prepared(setting.data, setting.delta, setting.cap, setting.seed), setting.promise
        options = {}
        if setting.nugget_share and setting.method == "border":
            options = {"nugget_support": setting.nugget_share}
        elif setting.nugget_share:
            options = {"nugget_support": setting.nugget_share, "utility": "nuggets"}
        limits = Limits(threads=1, time_limit=setting.time_limit, memory_limit="6GB")
        try:
            return cpu(lambda: find_method(promise, setting.method)(data, promise, limits=limits, **options))
        except BudgetExceeded as stop:
            return _limit(stop), 0.0

    def _check(self, setting: Setting, suppressed: tuple[str, ...]) -> str:
        """How the release was checked; stops everything if it does not keep its promise."""
        data, promise = self._prepared(setting.data, setting.delta, setting.cap, setting.seed), setting.promise
        release = Release(data, data.without(suppressed), promise, "", {}, suppressed)
        try:
            assert certify(release, Limits(threads=1, time_limit=AUDIT_SECONDS)).certified, setting
        except BudgetExceeded:
            assert edits_account_for(data, release.data, suppressed=suppressed, generalized={}, withheld=()) is None
            promise.check_feasible(release.data)  # where it is not, no itemset counts as a minimal mole
            assert not _moles(release.data, promise), setting
            return "search"
        return "audit"


def border_size(data: vs.Transactions, promise: vs.Coherence, setting: Setting) -> Result:
    """The edges of a border and the itemsets they stand for, after Observation 2 (thesis §4.5.3.2).

    An edge joins a minimal itemset to a maximal one that contains it. For nuggets the minimal ones are the single
    items, so that a maximal one has as many edges as items.
    """
    support = support_of(setting.nugget_share, len(data))
    left = worth_keeping(Task.of(data, promise, limits=Limits()), support)
    bounds = {"threads": 1, "time_limit": setting.time_limit}
    if setting.method == "nugget border":
        sizes = frequent(left, support, kind="maximal", **bounds).sizes.tolist()
        itemsets = count_frequent(left, support, **bounds).total
        return Result(edges=sum(sizes), itemsets=itemsets, covered=sum(size << (size - 1) for size in sizes))
    minimal = minimal_rare(left, promise.k, h=promise.share, max_size=promise.p, **bounds).itemsets
    maximal = frequent(left, 1, kind="maximal", items=left.public, **bounds)
    inside, outside = _matrix(minimal), _matrix(maximal)
    edges = covered = 0
    for alpha, size in zip(inside, minimal.sizes.tolist(), strict=True):
        larger = maximal.sizes[outside @ alpha == size]
        edges += len(larger)
        covered += sum(count << free for free, count in enumerate(np.bincount(larger - size).tolist()))
    moles = count_moles(left, promise.k, h=promise.share, max_size=promise.p, **bounds).total
    return Result(edges=edges, itemsets=moles, covered=covered)


def _matrix(itemsets: vs.mining.Itemsets) -> np.ndarray:
    matrix = np.zeros((len(itemsets), len(itemsets.names)), dtype=np.float32)
    matrix[np.repeat(np.arange(len(itemsets)), itemsets.sizes), itemsets.items] = 1
    return matrix


def cpu(call: Callable[[], T]) -> tuple[T, float]:
    """The result, and the CPU time it took: other programs on the machine count less."""
    started = time.process_time()
    result = call()
    return result, time.process_time() - started


def _limit(stop: BudgetExceeded) -> str:
    return "memory" if "memory limit" in stop.what else "time"


def _moles(data: vs.Transactions, promise: vs.Coherence) -> int:
    return len(minimal_rare(data, promise.k, h=promise.share, max_size=promise.p, threads=1))


def _losses(data: vs.Transactions, promise: vs.Coherence, release: Release) -> dict[str, int]:
    def held(items: tuple[str, ...]) -> int:
        return int(data.supports[data.codes(items)].sum())

    alone = minimal_rare(data, promise.k, h=promise.share, max_size=1, threads=1)
    counts = {
        "items": len(data.public),
        "occurrences": held(data.public),
        "alone": held(tuple(mole.items[0] for mole in alone)),
        "lost": held(release.suppressed),
    }
    if release.bound is not None:
        of = len(data.items) if "nugget" not in release.bound.of else 0
        counts["least"] = round(release.bound.least * of)
    return counts


def _nuggets(data: vs.Transactions, release: Release, share: str) -> dict[str, int]:
    support = support_of(share, len(data))
    before, after = (count_frequent(of, support, threads=1).total for of in (data, release.data))
    counts = {"nuggets": before, "nuggets_lost": before - after}
    if release.bound is not None:
        counts["least"] = round(release.bound.least * before)
    return counts
