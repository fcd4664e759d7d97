"""One run of the experiments on ρ-uncertainty: make the data, run a method, check what it releases, measure it.

A run is a `Setting`, its outcome a `Result`; both are a row of the CSV file.
"""

from __future__ import annotations

import random
import sys
import time
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

import veilset as vs
from veilset.anonymize import METHODS
from veilset.anonymize.rho_uncertainty.select_a_size import select_a_size_loss
from veilset.api import certify
from veilset.errors import BudgetExceeded
from veilset.limits import Limits
from veilset.models import RhoUncertainty
from veilset.release import Release
from veilset.utility import least_loss
from veilset.utility.generalization import average_loss

FILES = {
    "WebView-1": "bms-webview-1/BMS-WebView-1.dat.gz",
    "WebView-2": "bms-webview-2/BMS-WebView-2.dat.gz",
}
# BMS-POS is not to be had: made up, of its size (Table 4 of the paper).
POS = {"transactions": 515_597, "items": 1657, "average_length": 6.5, "maximum_length": 164, "random_state": 0}
LONG_SELECTIONS = 3  # of sensitive items, where a run takes minutes
SECONDS = 600  # for a method, and for the audit of what it releases
# What the page calls a method, and how it is run.
METHOD = {
    "top-down": ("top-down", {"plain": False}),
    "TDControl": ("top-down", {"plain": True}),
    "SuppressControl": ("suppress", {"plain": True}),
    "Simple": ("remove-sensitive", {}),
}
MEASURED = ("select-a-size", "proven floor")  # there is no release


@dataclass(frozen=True)
class Setting:
    """What is run; the defaults are those of the paper.

    Parameters
    ----------
    data : str
        "WebView-1", "WebView-2" or "POS-like".
    method : str
        One of `METHOD` or `MEASURED`.
    longest : int or None
        Only transactions of up to so many items; None: all.
    prefix : int or None
        Only so many of them, the shortest first.
    items : int or None
        Only so many items, chosen at random; fewer of them are some of those of more.
    rho, sensitive : int
        In percent; items that are sensitive at a smaller share are so at a larger one.
    fan_out : int
    seed : int
        Which random selection of sensitive items.
    """

    data: str
    method: str
    longest: int | None = None
    prefix: int | None = None
    items: int | None = None
    rho: int = 50
    sensitive: int = 40
    fan_out: int = 4
    seed: int = 0


@dataclass(frozen=True)
class Result:
    """What came of it; None: did not come to an end.

    Parameters
    ----------
    transactions, most_items : int
        Of the data, and of the longest of them.
    loss : float
        The average loss.
    sensitive_kept : float
        Occurrences of sensitive items that are still there, as a share.
    sensitive_gone, public_gone : float
        Different items that were suppressed, as a share.
    seconds : float
        CPU time of the method.
    way : str
        Which of the ways that a method tried made the release.
    note : str
        Which limit ended it.
    """

    transactions: int
    most_items: int
    loss: float | None = None
    sensitive_kept: float | None = None
    sensitive_gone: float | None = None
    public_gone: float | None = None
    seconds: float | None = None
    way: str = ""
    note: str = ""


def available(method: str) -> bool:
    """Whether this version of veilset has the method."""
    return method in MEASURED or METHOD[method][0] in METHODS.get(RhoUncertainty, {})


class Runs:
    """Runs settings on the files of a folder."""

    def __init__(self, folder: Path) -> None:
        if missing := [file for file in FILES.values() if not (folder / file).is_file()]:
            sys.exit(f"There is no {missing[0]} in {folder}. Name the folder with the data sets: --data DIR")
        self._read = cache(
            lambda name: vs.generate.pos_like(**POS) if name == "POS-like" else vs.read(folder / FILES[name])
        )
        self._prepared = lru_cache(1)(self._prepare)

    def run(self, setting: Setting) -> Result:
        """The outcome of one setting."""
        data = self._prepared(
            setting.data, setting.longest, setting.prefix, setting.items, setting.sensitive, setting.seed
        )
        promise = RhoUncertainty(rho=Fraction(setting.rho, 100))
        size = {"transactions": len(data), "most_items": int(data.lengths.max())}
        started = time.process_time()
        limits = Limits(time_limit=SECONDS, memory_limit="2GB")
        try:
            if setting.method == "select-a-size":
                options = {"fan_out": setting.fan_out, "random_state": setting.seed}
                loss = select_a_size_loss(data, beta=1 - promise.rho, **options, limits=limits)
                return Result(**size, loss=loss, seconds=time.process_time() - started)
            if setting.method == "proven floor":
                loss = least_loss(data, promise, limits=limits)
                return Result(**size, loss=loss, seconds=time.process_time() - started)
            name, options = METHOD[setting.method]
            if name == "top-down":
                options = {**options, "taxonomy": vs.Taxonomy.by_fan_out(data, setting.fan_out)}
            release = METHODS[RhoUncertainty][name](data, promise, limits=limits, **options)
            seconds = time.process_time() - started
            assert certify(release, Limits(time_limit=SECONDS, memory_limit="2GB")).certified, setting
        except BudgetExceeded as stop:
            return Result(**size, note="memory" if "memory limit" in stop.what else "time")
        return Result(**size, **_losses(release), seconds=seconds)

    def _prepare(
        self, name: str, longest: int | None, prefix: int | None, items: int | None, sensitive: int, seed: int
    ) -> vs.Transactions:
        data = self._read(name)
        if longest is not None:
            data = data.take(np.flatnonzero(data.lengths <= longest))
        if prefix is not None:
            data = data.take(np.argsort(data.lengths, kind="stable")[:prefix])
        names = sorted(data.names)
        random.Random(seed).shuffle(names)  # noqa: S311 - no secret
        secret = set(names[: round(sensitive / 100 * len(names))])
        if items is not None:
            # Another order: what is chosen does not depend on what is sensitive.
            random.Random(seed + 1000).shuffle(names)  # noqa: S311 - no secret
            data = data.only(names[:items])
            data = data.take(np.flatnonzero(data.lengths))
        return data.with_sensitive(secret.intersection(data.names))


def _losses(release: Release) -> dict[str, float | str]:
    original, gone = release.original, set(release.suppressed)
    secret = original.is_sensitive == 1
    return {
        "loss": average_loss(release),
        "sensitive_kept": float(release.survivors()[secret].sum() / original.supports[secret].sum()),
        "sensitive_gone": len(gone.intersection(original.sensitive)) / len(original.sensitive),
        "public_gone": len(gone.intersection(original.public)) / len(original.public),
        "way": next((attempt.name for attempt in release.attempts if attempt.won), ""),
    }
