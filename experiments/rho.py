"""The paper on ρ-uncertainty (Cao et al. 2010 §6, Figures 5 to 11): runs, figures, and what they say."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache
from itertools import product
from pathlib import Path
from statistics import fmean

import numpy as np
from paper import Chart, Finding, Paper, Rows, cpu, holds, less, limit_of, listed, steps, table, winner

import veilset as vs
from veilset.anonymize import find_method
from veilset.anonymize.rho_uncertainty.select_a_size import select_a_size_loss
from veilset.errors import BudgetExceeded
from veilset.limits import Limits
from veilset.models import RhoUncertainty
from veilset.release import Release
from veilset.run import certify
from veilset.utility import least_loss
from veilset.utility.generalization import average_loss

FILES = {
    "WebView-1": "bms-webview-1/BMS-WebView-1.dat.gz",
    "WebView-2": "bms-webview-2/BMS-WebView-2.dat.gz",
}
# BMS-POS is not to be had: made up, of its size (Table 4 of the paper).
POS = {"transactions": 515_597, "items": 1657, "average_length": 6.5, "maximum_length": 164, "random_state": 0}
SELECTIONS = 7  # of sensitive items
LONG_SELECTIONS = 3  # of sensitive items, where a run takes minutes
SECONDS = 600  # for a method, and for the audit of what it releases
# What the page calls a method, and how it is run.
METHOD = {
    "top-down": ("top-down", {"as_published": False}),
    "TDControl": ("top-down", {"as_published": True}),
    "SuppressControl": ("suppress", {"as_published": True}),
    "Simple": ("remove-sensitive", {}),
}
FLOOR = "proven floor"  # this and select-a-size make no release


@dataclass(frozen=True)
class Setting:
    """What is run; the defaults are those of the paper.

    Parameters
    ----------
    data : str
        "WebView-1", "WebView-2" or "POS-like".
    method : str
        One of `METHOD`, "select-a-size" or "proven floor".
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


@dataclass(frozen=True)
class Axis:
    """What a chart has across: one parameter of a setting, with its values."""

    letter: str
    points: tuple[str | int | None, ...]
    default: Setting
    name: str

    def at(self, point: object, method: str) -> Setting:
        """The setting of one point."""
        return replace(self.default, method=method, **{self.letter: point})

    def shown(self, point: str | int | None) -> str:
        """A point as the chart has it."""
        if isinstance(point, str):
            return point.replace("WebView-", "WV")
        if self.letter in ("rho", "sensitive"):
            return f"{point}%"
        if self.letter == "prefix":
            return f"{point / 1000:g}k"
        return "all" if point is None else f"{point:,}"


@dataclass(frozen=True)
class Figure:
    """A figure of the paper: its axes, which methods are run for it, and which of those and others its charts show."""

    title: str
    axes: tuple[Axis, ...]
    findings: Callable[..., Iterator[Finding]]
    methods: tuple[str, ...] = tuple(METHOD)
    shown: tuple[str, ...] = tuple(METHOD)
    timed: bool = True


def settings() -> list[Setting]:
    """Every run once, selection after selection; what takes long comes last."""
    chosen = dict.fromkeys(
        replace(axis.at(point, method), seed=seed)
        for seed in range(SELECTIONS)
        for figure in FIGURES.values()
        for axis in figure.axes
        for point, method in product(axis.points, figure.methods)
    )
    return sorted(
        (setting for setting in chosen if setting.seed < LONG_SELECTIONS or not _takes_long(setting)),
        key=lambda setting: (setting.data == "POS-like", _takes_long(setting)),
    )


def _takes_long(setting: Setting) -> bool:
    """Minutes for each method: the long transactions of the large set."""
    return setting.data == "POS-like" and setting.longest is None and (setting.prefix or POS["transactions"]) > 300_000


def _is_quick(setting: Setting) -> bool:
    """A few points that take seconds: the WebViews, and the shortest transactions."""
    if setting.data != "POS-like":
        return True
    return setting.longest is None and setting.prefix in PREFIXES[:2] and setting.rho == 50


def run(setting: Setting, folder: Path) -> Result:
    """Make the data, run a method, check what it releases, measure it."""
    data = _prepared(folder, replace(setting, method="", rho=0, fan_out=0))
    promise = RhoUncertainty(rho=Fraction(setting.rho, 100))
    size = {"transactions": len(data), "most_items": int(data.lengths.max())}
    limits = Limits(time_limit=SECONDS, memory_limit="2GB")
    try:
        if setting.method == "select-a-size":
            options = {"fan_out": setting.fan_out, "random_state": setting.seed}
            loss, seconds = cpu(lambda: select_a_size_loss(data, beta=1 - promise.rho, **options, limits=limits))
            return Result(**size, loss=loss, seconds=seconds)
        if setting.method == FLOOR:
            loss, seconds = cpu(lambda: least_loss(data, promise, limits=limits))
            return Result(**size, loss=loss, seconds=seconds)
        release, seconds = cpu(lambda: _release(setting, data, promise, limits))
        assert certify(release, Limits(time_limit=SECONDS, memory_limit="2GB")).certified, setting
    except BudgetExceeded as stop:
        return Result(**size, note=limit_of(stop))
    return Result(**size, **_losses(release), seconds=seconds)


def _release(setting: Setting, data: vs.Transactions, promise: RhoUncertainty, limits: Limits) -> Release:
    name, options = METHOD[setting.method]
    if name == "top-down":
        options = options | {"taxonomy": vs.Taxonomy.by_fan_out(data, setting.fan_out)}
    return find_method(promise, name)(data, promise, limits=limits, **options)


@cache
def _read(folder: Path, name: str) -> vs.Transactions:
    return vs.generate.pos_like(**POS) if name == "POS-like" else vs.read(folder / FILES[name])


@lru_cache(1)
def _prepared(folder: Path, setting: Setting) -> vs.Transactions:
    data = _read(folder, setting.data)
    if setting.longest is not None:
        data = data.take(np.flatnonzero(data.lengths <= setting.longest))
    if setting.prefix is not None:
        data = data.take(np.argsort(data.lengths, kind="stable")[: setting.prefix])
    names = sorted(data.names)
    data = vs.generate.with_random_sensitive(data, share=Fraction(setting.sensitive, 100), random_state=setting.seed)
    if setting.items is not None:
        # Another order: what is chosen does not depend on what is sensitive.
        for seed in (setting.seed, setting.seed + 1000):
            random.Random(seed).shuffle(names)  # noqa: S311 - no secret
        data = data.only(names[: setting.items])
        data = data.take(np.flatnonzero(data.lengths))
    return data


def _losses(release: Release) -> dict[str, float | str]:
    original, gone = release.original, set(release.suppressed)
    secret = original.is_sensitive == 1
    return {
        "loss": average_loss(release),
        "sensitive_kept": float(release.survivors()[secret].sum() / original.supports[secret].sum()),
        "sensitive_gone": len(gone.intersection(original.sensitive)) / len(original.sensitive),
        "public_gone": len(gone.intersection(original.public)) / len(original.public),
        "way": winner(release),
    }


INTRODUCTION = f"""# Experiments: what ρ-uncertainty costs

This page repeats Figures 5 to 11 of the paper that introduced ρ-uncertainty (Cao, Karras, Raïssi, Tan, VLDB 2010, §6)
with our methods. `make experiments` generates it from [rho.csv](rho.csv), {{runs:,}} runs, and checks the paper's
findings by counting.

## Set-up

- **Data**: BMS-WebView-1, BMS-WebView-2, and a generated set of the size of BMS-POS, which is not available:
  `vs.generate.pos_like(transactions={POS["transactions"]:_}, items={POS["items"]},
  average_length={POS["average_length"]}, maximum_length={POS["maximum_length"]})`. Its item
  frequencies follow Zipf's law. Its items occur independently of each other, unlike those of a shop. Figures 6 to 11
  use it where the paper uses BMS-POS.
- **Defaults**, as in the paper: ρ = 50%, 40% of the items sensitive, a taxonomy with fan-out 4 over the public items in
  the order of their numbers. Figures 7 to 10 use the 300,000 shortest transactions.
- **Selections** of sensitive items: {{selections}}, `random.Random(seed).shuffle(sorted(names))`, the first 40%; at
  most {LONG_SELECTIONS} for more than 300,000 transactions of the generated set. Points are means, vertical lines are
  95% intervals (Student's t). Every method gets the same selections.
- **Methods**: `TDControl` and `SuppressControl` as published, with the corrections noted in the code
  (`as_published=True`); `top-down`, our default, which also tries other strategies and restores items that did not need
  to be suppressed; `Simple`, which removes all sensitive items (`remove-sensitive`); in Figure 11 also `select-a-size`,
  which falsifies data and promises nothing. Each may use {SECONDS} seconds and 2 GB. {{stopped}} runs did not finish;
  charts omit points with such a run.
- **Loss**: the average loss of an item occurrence (§3.2): 1 if it is removed; under a coarser name, the share of all
  public items the name may stand for.
- **Proven floor** (Figure 5): the minimum loss of any method, due to rules made of sensitive items alone.
- **Checks**: the auditor certified every release before its numbers were used.
- **Times** are CPU seconds of the method, on a machine with other load: they may be off by a third."""


def page(results: dict[Setting, Result]) -> Iterator[str | Chart]:
    """Loss and time for each figure, and what the paper found."""
    rows = Rows(results)
    stopped = sum(bool(result.note) for result in results.values())
    yield INTRODUCTION.format(runs=len(results), selections=len(rows.seeds), stopped=stopped)
    for number, figure in FIGURES.items():
        yield f"## Figure {number}: {figure.title}"
        yield chart(rows, number, figure, figure.shown, "loss", "average loss")
        if figure.timed:
            yield chart(rows, f"{number}-time", figure, METHOD, "seconds", "CPU seconds")
        if number == "5":
            yield data_table(rows, figure)
        yield "What the paper found:\n\n" + listed(figure.findings(rows, *figure.axes))


def chart(rows: Rows, name: str, figure: Figure, methods: Iterable[str], measure: str, up: str) -> Chart:
    """A panel for each axis, a line for each method."""
    panels = [
        rows.panel(
            axis.name,
            axis.letter,
            axis.points,
            {method: (replace(axis.default, method=method), measure) for method in methods},
            axis.shown,
        )
        for axis in figure.axes
    ]
    return Chart(name, f"{up} against {figure.title}", panels, up, shares=measure == "loss")


def data_table(rows: Rows, figure: Figure) -> str:
    """Figure 5 in numbers, with the floor and with what is left of sensitive items."""
    lines = []
    for axis, name in product(figure.axes, DATA):
        if not (runs := rows.of(axis.at(name, "Simple"))):
            continue
        values = {method: rows.value(axis.at(name, method), "loss") for method in figure.methods}
        floor, simple = values[FLOOR], values["Simple"]
        share = "–" if floor is None or simple is None else f"{100 * floor.mean / simple.mean:.0f}%"
        ours = rows.of(axis.at(name, "top-down"))
        kept = [result.sensitive_kept for result in ours if result.sensitive_kept is not None]
        lines.append(
            (
                name,
                f"{runs[0].transactions:,}",
                runs[0].most_items,
                *("–" if value is None else value.percent for value in values.values()),
                share,
                f"{100 * fmean(kept):.1f}%" if kept else "–",
                "; ".join(sorted({result.way for result in ours if result.way})) or "–",
            )
        )
    head = (
        "data",
        "transactions",
        "longest",
        *figure.methods,
        "of Simple",
        "sensitive kept",
        "winning strategies of top-down",
    )
    return table(head, lines)


def _less(rows: Rows, says: str, axes: Sequence[Axis], one: str, other: str, measure: str = "loss") -> Finding:
    """*one* has less than *other*: for every selection at every point."""
    pairs = [
        pair
        for axis in axes
        for point in axis.points
        for pair in rows.pairs(axis.at(point, one), axis.at(point, other), measure)
    ]
    return less(says, pairs, digits=2 if measure == "loss" else None)


def _moves(
    rows: Rows, axis: Axis, how: str, methods: Sequence[str], measure: str, *, up: bool = True
) -> Iterator[Finding]:
    """The means of these methods grow (or shrink) from each point to the next."""
    for method in methods:
        line = rows.line(axis.at(None, method), axis.letter, axis.points, measure).values()
        yield steps(how.format(method), [value.mean for value in line], up=up, shown=_SHOWN[measure])


_SHOWN = {"loss": lambda value: f"{100 * value:.1f}%", "seconds": lambda value: f"{value:.1f} s"}
PLAIN = ("TDControl", "SuppressControl")


def _data_sets(rows: Rows, short: Axis, whole: Axis) -> Iterator[Finding]:
    axes = (short, whole)
    for axis, which in ((short, "of up to 5 items"), (whole, "of any length")):
        for name in axis.points:
            says = f"TDControl loses less than Simple: {name}, transactions {which}."
            yield _less(rows, says, [replace(axis, points=(name,))], "TDControl", "Simple")
    yield _less(rows, "SuppressControl loses more than Simple.", axes, "Simple", "SuppressControl")
    yield _less(rows, "SuppressControl takes longer than TDControl.", axes, *PLAIN, "seconds")
    gone = [result.sensitive_gone for result in rows.of(short.at("WebView-1", "SuppressControl"))]
    says = "SuppressControl suppresses almost all sensitive items (90% on WebView-1)."
    yield holds(says, (share >= 0.8 for share in gone if share is not None), "runs lose at least 80% of them")
    for other in ("TDControl", "Simple"):
        yield _less(rows, f"*Ours, not the paper's:* top-down loses less than {other}.", axes, "top-down", other)


def _prefixes(rows: Rows, axis: Axis) -> Iterator[Finding]:
    yield _less(
        rows, "TDControl loses less than Simple, up to the longest transactions.", [axis], "TDControl", "Simple"
    )
    yield from _moves(rows, axis, "The loss of {} grows with the prefix.", PLAIN, "loss")
    yield from _moves(rows, axis, "The time of {} grows with the prefix.", (*PLAIN, "Simple"), "seconds")
    runs = rows.of(*(axis.at(point, "SuppressControl") for point in axis.points))
    says = "SuppressControl runs out of memory (in the paper: beyond 400,000 transactions)."
    yield holds(says, (result.note != "" for result in runs), "runs stop at a limit of 2 GB or ten minutes")


def _rho(rows: Rows, axis: Axis) -> Iterator[Finding]:
    yield from _moves(rows, axis, "The loss of {} shrinks as ρ grows.", PLAIN, "loss", up=False)
    yield from _moves(rows, axis, "The time of {} grows with ρ.", PLAIN, "seconds")
    yield _less(rows, "TDControl loses less than Simple.", [axis], "TDControl", "Simple")
    yield _less(rows, "TDControl takes less time than SuppressControl.", [axis], *PLAIN, "seconds")


def _fan_out(rows: Rows, axis: Axis) -> Iterator[Finding]:
    method = ["TDControl"]
    yield from _moves(rows, axis, "A smaller fan-out tends to lose less ({}).", method, "loss")
    yield from _moves(rows, axis, "{} tends to be faster with a larger fan-out.", method, "seconds", up=False)


def _growth(rows: Rows, axis: Axis) -> Iterator[Finding]:
    what = {"sensitive": "the share of sensitive items", "items": "the number of items"}[axis.letter]
    yield from _moves(rows, axis, f"The loss of {{}} grows with {what}.", PLAIN, "loss")
    yield from _moves(rows, axis, f"The time of {{}} grows with {what}.", PLAIN, "seconds")
    yield _less(rows, "TDControl loses less than Simple.", [axis], "TDControl", "Simple")
    yield _less(rows, "TDControl loses less than SuppressControl.", [axis], *PLAIN)


def _noise(rows: Rows, prefixes: Axis, rho: Axis) -> Iterator[Finding]:
    noise = "select-a-size"
    yield _less(rows, "TDControl loses less than select-a-size on all prefixes.", [prefixes], "TDControl", noise)
    yield from _moves(rows, rho, "The loss of {} shrinks as ρ grows.", ("TDControl", noise), "loss", up=False)
    says = "TDControl loses less than select-a-size at ρ that matter in practice (here: up to 50%)."
    few = replace(rho, points=tuple(point for point in rho.points if point <= 50))
    yield _less(rows, says, [few], "TDControl", noise)
    says = "*Ours, not the paper's:* top-down loses less than select-a-size, at any ρ."
    yield _less(rows, says, [rho], "top-down", noise)


# As the paper has them: the longest transactions of the prefixes of BMS-POS have 2, 3, 5, 9, 23 and 77 items.
PREFIXES = (100_000, 200_000, 300_000, 400_000, 500_000, 515_500)
RHOS = (30, 40, 50, 60, 70, 80)
DATA = ("WebView-1", "WebView-2", "POS-like")
DEFAULT = Setting("POS-like", "", prefix=300_000)
WITH_FLOOR, WITH_NOISE = (*METHOD, FLOOR), ("top-down", "TDControl", "select-a-size")
BY_PREFIX = Axis("prefix", PREFIXES, DEFAULT, "transactions")
FIGURES = {
    "5": Figure(
        "the data sets",
        (
            Axis("data", DATA, Setting("", "", longest=5), "up to 5 items"),
            Axis("data", DATA, Setting("", ""), "any length"),
        ),
        _data_sets,
        methods=WITH_FLOOR,
        shown=WITH_FLOOR,
    ),
    "6": Figure("prefixes of the data, the shortest transactions first", (BY_PREFIX,), _prefixes),
    "7": Figure("ρ", (Axis("rho", RHOS, DEFAULT, "ρ"),), _rho),
    "8": Figure(
        "fan-out of the taxonomy",
        (Axis("fan_out", (2, 4, 8, 16, 32), DEFAULT, "fan-out"),),
        _fan_out,
        methods=("TDControl", "top-down"),
    ),
    "9": Figure(
        "share of sensitive items", (Axis("sensitive", (10, 20, 30, 40, 50, 60), DEFAULT, "sensitive items"),), _growth
    ),
    "10": Figure("number of items", (Axis("items", (400, 800, 1200, 1657, None), DEFAULT, "items"),), _growth),
    "11": Figure(
        "a comparison to select-a-size",
        (BY_PREFIX, Axis("rho", RHOS, Setting("POS-like", "", longest=5), "ρ")),
        _noise,
        methods=WITH_NOISE,
        shown=WITH_NOISE,
        timed=False,
    ),
}
PAPER = Paper(Setting, Result, FILES.values(), settings, _is_quick, run, page)
