"""One run of the experiments on anatomy: make the data, cut it, check it, measure what an analyst and an attacker find.

A run is a `Setting`, its outcome a `Result`; both are a row of the CSV file.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

import veilset as vs
from veilset import mining
from veilset.anonymize import find_method
from veilset.anonymize.anatomy.columns import make_columns
from veilset.api import certify
from veilset.limits import Limits
from veilset.release import Release
from veilset.utility.anatomy_metrics import (
    RulesFound,
    ln_possible_records,
    ln_records_by_bucket,
    rules_found,
    support_errors,
)

CONNECT, T40, T10 = "Connect", "T40I10-like", "T10I4-like"
CONNECT_FILE = "fimi-connect/connect.dat.gz"
QUEST = {
    T40: {"average_length": 40, "pattern_length": 10, "items": 942},
    T10: {"average_length": 10, "pattern_length": 4, "items": 1000},
}


class Figures(NamedTuple):
    """What the paper has its figures for: columns, and values of l."""

    columns: int
    ls: tuple[int, ...]


PAPER = {CONNECT: Figures(10, (5, 6, 8, 10)), T40: Figures(20, (6, 8, 10, 12))}
# The paper does not say which supports it asked for, nor all confidences. Connect is so dense that what most
# transactions hold is all that can be looked at.
MIN_SUPPORT = {CONNECT: "70%", T40: "1%"}
CONFIDENCES = {CONNECT: (70, 80, 90, 95, 99), T40: (10, 30, 50, 70, 90)}  # in percent
LARGEST = 4  # items of a rule, as in the paper
PAIR_SUPPORT, PAIRS = "0.1%", 20_000  # of pairs whose supports are looked at: drawn at random if there are more
ONE = Limits(threads=1)


@dataclass(frozen=True)
class Setting:
    """What is run.

    Parameters
    ----------
    data : str
        "Connect", or a name in `QUEST`.
    transactions : int
        How many there are.
    columns : int
        How many are wished for.
    l : int
    open_buckets : int
        1: Figure 2 of the paper to the letter.
    confidence : int
        Of the rules that are looked for, in percent; 0: none are.
    seed : int
        Of generated data, of the medoids, and of the order inside buckets.
    """

    data: str
    transactions: int
    columns: int
    l: int  # noqa: E741 - the paper's letter
    open_buckets: int = 32
    confidence: int = 0
    seed: int = 0


@dataclass(frozen=True)
class Result:
    """What came of it.

    Parameters
    ----------
    share : float
        The largest share of all transactions that a commonest value has, over the columns as they were wished for.
    reached : int
        Columns in the end.
    buckets, largest, left_over, joined : int
        Buckets, transactions in the largest one; transactions that were left over, buckets that became one.
    ln_records, ln_least, ln_median : float
        The logarithm of the number of possible records, as `veilset.measure` has it; that of the bucket with the
        fewest, and the median over all buckets.
    column_seconds, seconds, audit_seconds : float
        CPU time of the item partition, of the whole method, and of the auditor.
    rules, rules_after : int or None
        Rules of the original, and of the released rows.
    rules_inside : float or None
        The share of the former whose items are all in one column.
    kept, expected_kept : float or None
        The share of the former that are still found in the rows, and by expected supports.
    nuggets : int or None
        Frequent itemsets of the original.
    inside : float or None
        The share of them that lie in one column.
    nugget_expected_error, nugget_counted_error : float or None
        The mean relative error of their supports, expected and counted.
    expected_error, counted_error, chance : float or None
        The root of the mean squared relative error of the supports of pairs that reach over two columns; and the same
        of the difference between both.
    """

    share: float
    reached: int
    buckets: int
    largest: int
    left_over: int
    joined: int
    ln_records: float
    ln_least: float
    ln_median: float
    column_seconds: float
    seconds: float
    audit_seconds: float
    rules: int | None = None
    rules_after: int | None = None
    rules_inside: float | None = None
    kept: float | None = None
    expected_kept: float | None = None
    nuggets: int | None = None
    inside: float | None = None
    nugget_expected_error: float | None = None
    nugget_counted_error: float | None = None
    expected_error: float | None = None
    counted_error: float | None = None
    chance: float | None = None


class Stopwatch:
    """A function that knows what CPU time it took."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.seconds = 0.0

    def __call__(self, *given: object, **options: object) -> Any:
        """What the function gives."""
        started = time.process_time()
        try:
            return self.function(*given, **options)
        finally:
            self.seconds += time.process_time() - started


class Runs:
    """Runs settings, one thread each; Connect is a file of a folder."""

    def __init__(self, folder: Path) -> None:
        self.connect = folder / CONNECT_FILE
        if not self.connect.is_file():
            sys.exit(f"There is no {CONNECT_FILE} in {folder}. Name the folder with the data sets: --data DIR")
        self._data = lru_cache(1)(self._data_of)
        self._share = lru_cache(8)(self._share_of)
        self._cut = lru_cache(1)(self._cut_of)
        self._rules = lru_cache(1)(self._rules_of)
        self._errors = lru_cache(1)(self._errors_of)

    def run(self, setting: Setting) -> Result:
        """The outcome of one setting; settings that differ in confidence only are best run one after the other."""
        cut = replace(setting, confidence=0)
        release, result = self._cut(cut)
        if not setting.confidence:
            return result
        share, rules = Fraction(setting.confidence, 100), self._rules(cut)
        found = rules.at(share)
        sure = rules.before.supports * share.denominator >= rules.before.antecedents.supports * share.numerator
        inside = _inside(rules.before.itemsets, release.data)[sure]
        return replace(
            result,
            rules=int(found["rules_before"]),
            rules_after=int(found["rules_after"]),
            rules_inside=float(np.mean(inside)) if len(inside) else 1.0,
            kept=found["accuracy_ratio"],
            expected_kept=found["expected_accuracy_ratio"],
            **self._errors(cut),
        )

    def _cut_of(self, setting: Setting) -> tuple[Release, Result]:
        data = self._data(setting.data, setting.transactions, setting.seed)
        promise = vs.LDiverseAnatomy(setting.l)
        cut, columns = find_method(promise, None), Stopwatch(make_columns)
        wish = {"columns": setting.columns, "open_buckets": setting.open_buckets, "random_state": setting.seed}
        with patch("veilset.anonymize.anatomy.multi_anatomy.make_columns", columns):
            method = Stopwatch(cut)
            release = method(data, promise, **wish, limits=ONE)
        auditor = Stopwatch(certify)
        release = auditor(release, limits=ONE)
        assert release.certified, setting
        anatomy, partition = release.data.anatomy, release.partition
        assert anatomy is not None
        assert partition is not None
        by_bucket = ln_records_by_bucket(release.data, limits=ONE)
        return release, Result(
            share=self._share(setting.data, setting.transactions, setting.columns, setting.seed),
            reached=len(anatomy.columns),
            buckets=anatomy.count,
            largest=int(anatomy.sizes.max()),
            left_over=partition.left_over,
            joined=partition.joined,
            ln_records=ln_possible_records(release, limits=ONE),
            ln_least=float(by_bucket.min()),
            ln_median=float(np.median(by_bucket)),
            column_seconds=columns.seconds,
            seconds=method.seconds,
            audit_seconds=auditor.seconds,
        )

    def _rules_of(self, setting: Setting) -> RulesFound:
        release, _ = self._cut(setting)
        least, sure = MIN_SUPPORT[setting.data], Fraction(CONFIDENCES[setting.data][0], 100)
        return rules_found(release, nugget_support=least, confidence=sure, size=LARGEST, limits=ONE)

    def _errors_of(self, setting: Setting) -> dict[str, float]:
        release, _ = self._cut(setting)
        least = MIN_SUPPORT[setting.data]
        nuggets = mining.frequent(release.original, least, max_size=LARGEST, threads=1)
        errors = support_errors(release, nugget_support=least, size=LARGEST, limits=ONE)
        pairs = mining.pairs(release.original, min_support=PAIR_SUPPORT, threads=1)
        pairs = pairs[np.random.default_rng(0).permutation(len(pairs))[:PAIRS]]
        pairs = pairs[~_inside(pairs, release.data)]
        expected, counted = (
            count(release.data, pairs, threads=1) for count in (mining.expected_supports, mining.supports)
        )
        return {
            "nuggets": len(nuggets),
            "inside": float(np.mean(_inside(nuggets, release.data))),
            "nugget_expected_error": errors["expected_support_error"],
            "nugget_counted_error": errors["counted_support_error"],
            "expected_error": _root_mean_square((expected - pairs.supports) / pairs.supports),
            "counted_error": _root_mean_square((counted - pairs.supports) / pairs.supports),
            "chance": _root_mean_square((counted - expected) / pairs.supports),
        }

    def _share_of(self, name: str, transactions: int, columns: int, seed: int) -> float:
        """No value is too common for l = 1: these are the columns as they were wished for."""
        data = self._data(name, transactions, seed)
        wish = {"columns": columns, "random_state": seed}
        made = make_columns(data, vs.LDiverseAnatomy(1), **wish, taxonomy=None, level=None, limits=ONE)
        return max(int(np.bincount(values).max()) for values in made.values.T) / len(data)

    def _data_of(self, name: str, transactions: int, seed: int) -> vs.Transactions:
        if name == CONNECT:
            return vs.read(self.connect)
        return vs.generate.quest(transactions=transactions, **QUEST[name], random_state=seed, threads=1)


def _inside(itemsets: mining.Itemsets, data: vs.Transactions) -> npt.NDArray[np.bool_]:
    """Which of them lie in one column: none of their items is in another than the first."""
    assert data.anatomy is not None
    columns = data.anatomy.column_of(itemsets.names)[itemsets.items]
    firsts = itemsets.offsets[:-1]
    return np.add.reduceat(columns != np.repeat(columns[firsts], itemsets.sizes), firsts) == 0


def _root_mean_square(values: npt.NDArray[np.float64]) -> float:
    return float(np.sqrt(np.mean(values**2)))
