"""Single occurrences instead of whole items: what that keeps, and how far the counts that are left can be believed.

No paper: whole-item methods are compared with `partial` and with coarser names followed by partial suppression. Data,
k, p and rho are those of the tables in docs/partial.md. Numbers in the text are read from the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from charts import Value
from paper import Chart, Paper, Rows, cpu, limit_of, table

import veilset as vs
from veilset.errors import BudgetExceeded
from veilset.limits import Limits
from veilset.models import Promise
from veilset.release import Release
from veilset.utility import fidelity
from veilset.utility.generalization import average_loss

FILES = {
    "Groceries": "groceries/groceries.csv.gz",
    "WebView-1": "bms-webview-1/BMS-WebView-1.dat.gz",
    "WebView-2": "bms-webview-2/BMS-WebView-2.dat.gz",
    "Retail": "fimi-retail/retail.dat.gz",
    "Connect": "fimi-connect/connect.dat.gz",
}
HIERARCHY = "groceries/item_hierarchy.csv.gz"
SELECTIONS = 3  # of sensitive items, and seeds of random searches
SHARE = Fraction(2, 5)  # of the items are sensitive
SECONDS = 600  # for a method, and for the audits of what it releases
OFTEN, FEW = Fraction(1, 100), 20  # transactions from which on pairs and rules count: a share, and a number
WHOLE = "whole items"
NAMES, BOTH = "coarser names", "coarser names, then occurrences"
UNTRUE = "occurrences, untruthful"
HIGH = "occurrences, effort high"
# What the page calls a variant, and which method of coherence and of rho-uncertainty it is, with its options.
VARIANTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    WHOLE: ("auto", "top-down", {}),
    "occurrences": ("partial", "partial", {}),
    UNTRUE: ("partial", "partial", {"truthful": False}),
    NAMES: ("generalize", "top-down", {}),
    BOTH: ("generalize", "top-down", {"partial": True}),
    HIGH: ("partial", "partial", {"effort": "high"}),
}


@dataclass(frozen=True)
class Setting:
    """What is run.

    Parameters
    ----------
    data : str
        A name in `FILES`.
    promise : str
        "coherence" or "rho".
    variant : str
        A name in `VARIANTS`.
    h : int
        In percent, or rho; with 100, no item is sensitive.
    k, p : int or None
        Of coherence.
    longest : int or None
        Only transactions of up to so many items; None: all.
    seed : int
        Which random selection of sensitive items; with h = 100, which seed of a method that takes one.
    """

    data: str
    promise: str
    variant: str
    h: int
    k: int | None = None
    p: int | None = None
    longest: int | None = None
    seed: int = 0


@dataclass(frozen=True)
class Result:
    """What came of it; None: did not come to an end, or is not counted here.

    Parameters
    ----------
    loss, average_loss, bound : float or None
        Of occurrences; the average loss; and what every release of single occurrences loses at least.
    broken : int or None
        How many itemsets or rules of the release exceed a limit in the original.
    pairs, pairs_kept : int or None
        Pairs in 1% of the transactions, and those of them that still are.
    support_error : float or None
        How much too low their supports are, on average.
    rules, lost, found, false : int or None
        Rules there with a confidence of 50%; those that are lost; rules in the release; false ones among them.
    few_rules, few_lost, few_found, few_false : int or None
        The same in 20 transactions.
    seconds : float or None
        CPU time of the method and its audits.
    note : str
        Which limit ended it.
    """

    loss: float | None = None
    average_loss: float | None = None
    bound: float | None = None
    broken: int | None = None
    pairs: int | None = None
    pairs_kept: int | None = None
    support_error: float | None = None
    rules: int | None = None
    lost: int | None = None
    found: int | None = None
    false: int | None = None
    few_rules: int | None = None
    few_lost: int | None = None
    few_found: int | None = None
    few_false: int | None = None
    seconds: float | None = None
    note: str = ""

    @property
    def pairs_share(self) -> float | None:
        """Frequent pairs that are kept."""
        return _share(self.pairs_kept, self.pairs)

    @property
    def often_lost_share(self) -> float | None:
        """Rules in 1% of the transactions that are lost."""
        return _share(self.lost, self.rules)

    @property
    def often_false_share(self) -> float | None:
        """Rules of the release, in 1% of the transactions, that are false."""
        return _share(self.false, self.found)

    @property
    def lost_share(self) -> float | None:
        """Rules in 20 transactions that are lost."""
        return _share(self.few_lost, self.few_rules)

    @property
    def false_share(self) -> float | None:
        """Rules of the release, in 20 transactions, that are false."""
        return _share(self.few_false, self.few_found)


def _share(part: int | None, whole: int | None) -> float | None:
    return None if part is None or not whole else part / whole


SIMPLE = [
    *[("Groceries", 20, p) for p in (2, 4)],
    *[("WebView-1", k, p) for k, p in ((20, 2), (20, 4), (5, 4))],
    *[(name, 20, p) for name in ("WebView-2", "Retail", "Connect") for p in (2, 4)],
]
LIMITED = [("Groceries", 20, 2), ("WebView-1", 20, 2)]
RHO = [("WebView-1", 5), ("WebView-1", None), ("WebView-2", 5), ("WebView-2", None), ("Groceries", None)]


def settings() -> list[Setting]:
    """Every run once; what takes long comes last."""
    chosen = []
    for name, k, p in SIMPLE:
        for variant in VARIANTS:
            seeds = range(SELECTIONS if variant == HIGH else 1)
            chosen += [Setting(name, "coherence", variant, 100, k, p, seed=seed) for seed in seeds]
    for seed in range(SELECTIONS):
        for variant in VARIANTS:
            chosen += [Setting(name, "coherence", variant, 40, k, p, seed=seed) for name, k, p in LIMITED]
            chosen += [Setting(name, "rho", variant, 50, longest=longest, seed=seed) for name, longest in RHO]
    return sorted((setting for setting in chosen if _makes_sense(setting)), key=_long)


def _long(setting: Setting) -> int:
    """In which order runs are made, roughly by how long they take."""
    if setting.variant == HIGH:
        return 6 + setting.seed
    if setting.promise == "rho" and setting.variant == BOTH:
        return 3
    if setting.data == "Groceries":
        return 0 if setting.h == 100 else 1
    if setting.data == "WebView-1" and (setting.h == 100 or setting.longest is not None):
        return 1 if setting.k != 5 else 4
    return 2 if setting.h < 100 else 5


def _makes_sense(setting: Setting) -> bool:
    """Whether the variant exists there: names need a hierarchy, and truth a limit on sensitive items."""
    if setting.variant in (NAMES, BOTH):
        return setting.data == "Groceries"
    if setting.variant == UNTRUE:
        return setting.h < 100
    return setting.variant != HIGH or setting.h == 100


def _is_quick(setting: Setting) -> bool:
    return setting.data == "Groceries" and setting.variant not in (BOTH, HIGH)


def run(setting: Setting, folder: Path) -> Result:
    """Make the data, run a method, check what it releases, measure it."""
    data = _prepared(folder, setting.data, setting.longest, None if setting.h == 100 else setting.seed)
    coherence, rho, options = VARIANTS[setting.variant]
    share, options = Fraction(setting.h, 100), dict(options)
    promise: Promise = (
        vs.RhoUncertainty(rho=share) if setting.promise == "rho" else vs.Coherence(h=share, k=setting.k, p=setting.p)
    )
    if setting.variant in (NAMES, BOTH):
        options["taxonomy"] = vs.Taxonomy.read(folder / HIERARCHY, columns=["label", "level2", "level1"])
    if setting.variant == HIGH:
        options["random_state"] = setting.seed
    method = rho if setting.promise == "rho" else coherence
    try:
        release, seconds = cpu(lambda: vs.anonymize(data, promise, method=method, time_limit=SECONDS, **options))
    except BudgetExceeded as stop:
        return Result(note=limit_of(stop))
    assert release.certified, setting
    assert release.truthful or setting.variant == UNTRUE, setting
    return Result(
        loss=release.loss,
        average_loss=average_loss(release),
        bound=None if release.bound is None else release.bound.least,
        broken=None if release.in_original is None else release.in_original.broken,
        **_believed(release),
        seconds=seconds,
    )


def _believed(release: Release) -> dict[str, int | float]:
    """Fidelity, unless there is too much to count: dense data has too many rules."""
    limits = Limits(time_limit=60, memory_limit="2GB")
    try:
        often = fidelity(release, max(FEW, round(OFTEN * len(release.original))), limits)
        few = fidelity(release, FEW, limits)
    except BudgetExceeded:
        return {}
    return {
        "pairs": often.pairs,
        "pairs_kept": often.pairs_kept,
        "support_error": often.support_error,
        "rules": often.rules,
        "lost": often.rules_lost,
        "found": often.rules_found,
        "false": often.rules_false,
        "few_rules": few.rules,
        "few_lost": few.rules_lost,
        "few_found": few.rules_found,
        "few_false": few.rules_false,
    }


@lru_cache(2)
def _prepared(folder: Path, name: str, longest: int | None, seed: int | None) -> vs.Transactions:
    data = vs.read(folder / FILES[name])
    if longest is not None:
        data = data.take(np.flatnonzero(data.lengths <= longest))
    return data if seed is None else vs.generate.with_random_sensitive(data, share=SHARE, random_state=seed)


INTRODUCTION = f"""# Experiments: single occurrences instead of whole items

What partial suppression keeps of what deleting whole items throws away, and how far the counts that are left can be
believed. [When to use which](../partial.md) draws the conclusions. `make experiments` generates this page from
[partial.csv](partial.csv), {{done}} of {{planned}} runs. A dash: not run, over a limit, or nothing to count.

## Set-up

- **Variants**: *whole items* is the default method (`auto`, or `top-down` for ρ-uncertainty, with a taxonomy of four
  neighbours each); *occurrences* is `partial`, which keeps the promise in the original, too; *untruthful* is the same
  with `truthful=False`; *effort high* is `partial` with `effort="high"` and {SELECTIONS} seeds; *coarser names* is
  `generalize`, or `top-down`, along the hierarchy that comes with Groceries (55 and 10 groups), and *then occurrences*
  the same with `partial=True`.
- **Sensitive items**: for h < 1 and ρ, 40% of the items, {SELECTIONS} random selections that all variants share.
  Numbers after ± are 95% intervals (Student's t). At h = 1 only *effort high* depends on chance.
- **Loss**: of all item occurrences; **average loss**: a coarser name costs the share of all public items that it may
  stand for. No release of single occurrences loses less than the **bound**.
- **Fidelity**: pairs in 1% of the transactions that still are, and how much too low their supports are on average.
  Rules have up to three items and a confidence of 50%. A **false** rule of the release has less in the original.
  *In 1%* and *in 20* say in how many transactions a rule is. Coarser names are compared with the recoded original.
- **Broken in truth**: itemsets or rules of the release that exceed h or ρ in the original.
- **Checks**: every release was certified before its numbers were used; all but the *untruthful* ones hold in the
  original.
- **Times** are CPU seconds of the method and its audits, on a machine with other load.
- In partial.csv, `partial` at h = 40% and, for ρ, on WebView-2 and on all transactions of WebView-1 was run before it
  searched at random; it loses a little less now. Without fidelity: Retail and Connect."""

_LOSS = (("lost", "loss"), ("average loss", "average_loss"))
_BELIEVED = (
    ("pairs kept", "pairs_share"),
    ("supports too low by", "support_error"),
    ("rules lost, in 1%", "often_lost_share"),
    ("false, in 1%", "often_false_share"),
    ("rules lost, in 20", "lost_share"),
    ("false, in 20", "false_share"),
)


def page(results: dict[Setting, Result]) -> Iterator[str | Chart]:
    """Losses, then what can be believed, for each promise."""
    rows = Rows(results)
    yield INTRODUCTION.format(done=len(results), planned=len(settings()))
    yield "## Coherence, h = 1: occurrences lost"
    yield _losses(rows)
    yield "## Coherence, h = 1: what can be believed"
    simple = [Setting(name, "coherence", "", 100, k, p) for name, k, p in SIMPLE]
    yield _by_variant(rows, simple, (*_LOSS, *_BELIEVED))
    yield "## Coherence, h = 40%"
    limited = [Setting(name, "coherence", "", 40, k, p) for name, k, p in LIMITED]
    yield _by_variant(rows, limited, (*_LOSS, ("broken in truth", "broken"), *_BELIEVED))
    yield "## ρ-uncertainty, ρ = 50%"
    rho = [Setting(name, "rho", "", 50, longest=longest) for name, longest in RHO]
    yield _by_variant(rows, rho, (*_LOSS, ("broken in truth", "broken"), *_BELIEVED))
    yield "## What truth costs"
    yield _truth(rows, [*limited, *rho])


def _losses(rows: Rows) -> str:
    """The table of what is lost at h = 1."""
    shown = (WHOLE, "occurrences", HIGH)
    lines = []
    for name, k, p in SIMPLE:
        at = Setting(name, "coherence", "occurrences", 100, k, p)
        lost = [_number(rows, replace(at, variant=variant), "loss") for variant in shown]
        lines.append((f"{name}, {k}, {p}", *lost, _number(rows, at, "bound"), _number(rows, at, "seconds")))
    return table(("data, k, p", *shown, "bound", "seconds of *occurrences*"), lines)


def _by_variant(rows: Rows, points: Sequence[Setting], measures: Sequence[tuple[str, str]]) -> str:
    """A line for each variant of each point that was run."""
    lines = []
    for point in points:
        for variant in VARIANTS:
            at = replace(point, variant=variant)
            if rows.at(at):
                lines.append((_called(point), variant, *(_number(rows, at, measure) for _, measure in measures)))
    return table(("data", "variant", *(name for name, _ in measures)), lines)


def _called(point: Setting) -> str:
    if point.promise == "rho":
        return point.data if point.longest is None else f"{point.data}, ≤ {point.longest} items"
    return f"{point.data}, {point.k}, {point.p}"


def _truth(rows: Rows, points: Sequence[Setting]) -> str:
    """How much less is lost where the promise holds in the release only, and how many more rules are false there."""
    lines = []
    for point in points:
        true, loose = replace(point, variant="occurrences"), replace(point, variant=UNTRUE)
        lost, false = rows.pairs(true, loose, "average_loss"), rows.pairs(true, loose, "false_share")
        if lost:
            lines.append((_called(point), *(_points([b - a for a, b in pairs]) for pairs in (lost, false))))
    head = (
        "data",
        "average loss of *untruthful*, less that of *occurrences*",
        "false rules in 20 transactions, likewise",
    )
    return "In percentage points, selection by selection:\n\n" + table(head, lines)


def _points(differences: Sequence[float]) -> str:
    return Value.of(differences).percent.replace("%", "") if differences else "–"


def _number(rows: Rows, at: Setting, measure: str) -> str:
    value = rows.value(at, measure)
    if value is None:
        return "–"
    if measure in ("broken", "seconds"):
        return f"{value.mean:,.0f}" + f" ± {value.half:,.0f}" * (value.count > 1)
    return value.percent


PAPER = Paper(
    Setting,
    Result,
    [*FILES.values(), HIERARCHY],
    settings,
    _is_quick,
    run,
    page,
)
