"""The paper on multi-dimension anatomy (2010, section V, Figures 3 to 7): runs, figures, and what they say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product
from math import log
from pathlib import Path
from statistics import fmean
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
from charts import Panel, Value
from paper import Chart, Finding, Paper, Rows, cpu, holds, listed, steps, table

import veilset as vs
from veilset import mining
from veilset.anonymize import find_method
from veilset.anonymize.anatomy.columns import Columns, make_columns
from veilset.limits import Limits
from veilset.release import Release
from veilset.run import certify
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


SHOWN = {CONNECT: Figures(10, (5, 6, 8, 10)), T40: Figures(20, (6, 8, 10, 12))}
# The paper does not say which supports it asked for, nor all confidences. Connect is so dense that what most
# transactions hold is all that can be looked at.
MIN_SUPPORT = {CONNECT: "70%", T40: "1%"}
CONFIDENCES = {CONNECT: (70, 80, 90, 95, 99), T40: (10, 30, 50, 70, 90)}  # in percent
LARGEST = 4  # items of a rule, as in the paper
PAIR_SUPPORT, PAIRS = "0.1%", 20_000  # of pairs whose supports are looked at: drawn at random if there are more
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
SEEDS = 3
RECORDS = {"all buckets": "ln_records", "a bucket in the middle": "ln_median"}
PARTS = {"columns": "column_seconds", "buckets": "bucket_seconds", "method": "seconds", "audit": "audit_seconds"}
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

    @property
    def bucket_seconds(self) -> float:
        """CPU time of the method without that of the item partition."""
        return self.seconds - self.column_seconds

    @property
    def change(self) -> float | None:
        """By what share the number of rules differs from that of the original."""
        if self.rules is None or self.rules_after is None:
            return None
        return abs(self.rules_after - self.rules) / max(1, self.rules)


def settings() -> Iterator[Setting]:
    """Figures 3 to 7, then time against the number of records, with one seed.

    What is looked at besides: fewer columns, milder promises, one open bucket.
    """
    for seed in range(SEEDS):
        for wish, diverse in product((5, 10, 15), SHOWN[T40].ls):
            yield Setting(T40, 100_000, wish, diverse, seed=seed)
        for diverse in (2, 3, 4):
            yield Setting(CONNECT, 67_557, SHOWN[CONNECT].columns, diverse, seed=seed)
        for data, count in ((T40, 100_000), (CONNECT, 67_557)):
            columns, ls = SHOWN[data]
            for diverse, open_buckets, confidence in product(ls, (32, 1), CONFIDENCES[data]):
                yield Setting(data, count, columns, diverse, open_buckets, confidence, seed)
    for size in SIZES:
        yield Setting(T10, size, 10, 4)


def _is_quick(setting: Setting) -> bool:
    if setting.data == T10:
        return setting.transactions in SIZES[:2]
    return setting.data == T40 and setting.columns == 20 and setting.l in (6, 12)


def run(setting: Setting, folder: Path) -> Result:
    """Make the data, cut it, check it, measure what an analyst and an attacker find.

    Settings that differ in confidence only are best run one after the other.
    """
    cut = replace(setting, confidence=0)
    release, result = _cut(cut, folder)
    if not setting.confidence:
        return result
    share, rules = Fraction(setting.confidence, 100), _rules(cut, folder)
    found = rules.at(share)
    sure = rules.before.supports * share.denominator >= rules.before.antecedents.supports * share.numerator
    inside = _inside(rules.before.itemsets, release.custodian_data)[sure]
    return replace(
        result,
        rules=int(found["rules_before"]),
        rules_after=int(found["rules_after"]),
        rules_inside=float(np.mean(inside)) if len(inside) else 1.0,
        kept=found["accuracy_ratio"],
        expected_kept=found["expected_accuracy_ratio"],
        **_errors(cut, folder),
    )


@lru_cache(1)
def _cut(setting: Setting, folder: Path) -> tuple[Release, Result]:
    data = _data(folder, setting.data, setting.transactions, setting.seed)
    promise = vs.LDiverseAnatomy(setting.l)
    wish = {"columns": setting.columns, "open_buckets": setting.open_buckets, "random_state": setting.seed}
    column_seconds = 0.0

    def timed(*given: object, **options: object) -> Columns:
        nonlocal column_seconds
        made, spent = cpu(lambda: make_columns(*given, **options))
        column_seconds += spent
        return made

    with patch("veilset.anonymize.anatomy.multi_anatomy.make_columns", timed):
        release, seconds = cpu(lambda: find_method(promise, None)(data, promise, **wish, limits=ONE))
    release, audit_seconds = cpu(lambda: certify(release, limits=ONE))
    assert release.certified, setting
    anatomy, partition = release.custodian_data.anatomy, release.partition
    by_bucket = ln_records_by_bucket(release.custodian_data, limits=ONE)
    return release, Result(
        share=_share(folder, setting.data, setting.transactions, setting.columns, setting.seed),
        reached=len(anatomy.columns),
        buckets=anatomy.count,
        largest=int(anatomy.sizes.max()),
        left_over=partition.left_over,
        joined=partition.joined,
        ln_records=ln_possible_records(release, limits=ONE),
        ln_least=float(by_bucket.min()),
        ln_median=float(np.median(by_bucket)),
        column_seconds=column_seconds,
        seconds=seconds,
        audit_seconds=audit_seconds,
    )


@lru_cache(1)
def _rules(setting: Setting, folder: Path) -> RulesFound:
    least, sure = MIN_SUPPORT[setting.data], Fraction(CONFIDENCES[setting.data][0], 100)
    return rules_found(_cut(setting, folder)[0], nugget_support=least, confidence=sure, size=LARGEST, limits=ONE)


@lru_cache(1)
def _errors(setting: Setting, folder: Path) -> dict[str, float]:
    release, least = _cut(setting, folder)[0], MIN_SUPPORT[setting.data]
    nuggets = mining.frequent(release.original, least, max_size=LARGEST, threads=1)
    errors = support_errors(release, nugget_support=least, size=LARGEST, limits=ONE)
    pairs = mining.pairs(release.original, min_support=PAIR_SUPPORT, threads=1)
    pairs = pairs[np.random.default_rng(0).permutation(len(pairs))[:PAIRS]]
    pairs = pairs[~_inside(pairs, release.custodian_data)]
    expected, counted = (
        count(release.custodian_data, pairs, threads=1) for count in (mining.expected_supports, mining.supports)
    )
    return {
        "nuggets": len(nuggets),
        "inside": float(np.mean(_inside(nuggets, release.custodian_data))),
        "nugget_expected_error": errors["expected_support_error"],
        "nugget_counted_error": errors["counted_support_error"],
        "expected_error": _root_mean_square((expected - pairs.supports) / pairs.supports),
        "counted_error": _root_mean_square((counted - pairs.supports) / pairs.supports),
        "chance": _root_mean_square((counted - expected) / pairs.supports),
    }


@lru_cache(8)
def _share(folder: Path, name: str, transactions: int, columns: int, seed: int) -> float:
    """No value is too common for l = 1: these are the columns as they were wished for."""
    data = _data(folder, name, transactions, seed)
    wish = {"columns": columns, "random_state": seed}
    made = make_columns(data, vs.LDiverseAnatomy(1), **wish, taxonomy=None, level=None, limits=ONE)
    return max(int(np.bincount(values).max()) for values in made.values.T) / len(data)


@lru_cache(1)
def _data(folder: Path, name: str, transactions: int, seed: int) -> vs.Transactions:
    if name == CONNECT:
        return vs.read(folder / CONNECT_FILE)
    return vs.generate.quest(transactions=transactions, **QUEST[name], random_state=seed, threads=1)


def _inside(itemsets: mining.Itemsets, data: vs.Transactions) -> npt.NDArray[np.bool_]:
    """Which of them lie in one column: none of their items is in another than the first."""
    columns = data.anatomy.column_of(itemsets.names)[itemsets.items]
    firsts = itemsets.offsets[:-1]
    return np.add.reduceat(columns != np.repeat(columns[firsts], itemsets.sizes), firsts) == 0


def _root_mean_square(values: npt.NDArray[np.float64]) -> float:
    return float(np.sqrt(np.mean(values**2)))


INTRODUCTION = f"""# Experiments: what an anatomy costs

This page repeats Figures 3 to 7 of the paper on multi-dimension anatomy (2010, section V) with `multi-anatomy`. It also
measures how well a release estimates supports, and time against the number of records. `make experiments` generates it
from [anatomy.csv](anatomy.csv), {{runs:,}} rows, and checks the paper's findings by counting.

## Set-up

- **Data**: Connect (67,557 transactions of 129 items, 43 each), and `vs.generate.quest(transactions=100_000,
  average_length={QUEST[T40]["average_length"]}, pattern_length={QUEST[T40]["pattern_length"]},
  items={QUEST[T40]["items"]})`, which has the size of the T40I10D100K that the paper took from a repository; a new
  set for each seed. For time against the number of records: `quest` with {QUEST[T10]["average_length"]} items each,
  patterns of {QUEST[T10]["pattern_length"]}, {QUEST[T10]["items"]:,} items.
- **Columns**: `columns={SHOWN[CONNECT].columns}` for Connect and `columns={SHOWN[T40].columns}` for the other, as in
  the paper; Figure 3 also uses fewer. A release may have fewer columns than requested: see below.
- **Rules** have 2 to {LARGEST} items, as in the paper, one of them on the right side. The paper states no minimum
  support; we use {MIN_SUPPORT[CONNECT]} of the transactions of Connect, and {MIN_SUPPORT[T40]} of the others.
- **Seeds**: {{seeds}}, each with its own random choices, and its own data if generated. Points are means, vertical
  lines are 95% intervals (Student's t).
- **Time** is CPU time on one thread.
- **Checks**: every release was certified before its numbers were used: the auditor found that it keeps its promise, and
  every bucket has the values of its transactions."""

DEFINITION = """## What the paper's setting cannot do

The paper uses a fixed number of columns, and states that its releases satisfy Definition 5. With its columns no release
can: in the whole file, and so in some bucket, one value is too common. Veilset merges such columns with others until
none fails; nothing else is lost. All figures below use the remaining columns.

Definition 5 is also too weak: it forgets that nobody's transaction is empty. All releases here keep the stronger rule
of [the page on anatomies](../anatomy.md#nobody-has-an-empty-basket). On these data it costs at most two columns."""

EXPECTED = f"""## Expected supports against those of one arrangement

The released rows are one random arrangement of each bucket. A support counted in them has two errors: one from cutting
into buckets and columns, one from the random draw. `mining.expected_supports` is the mean over all arrangements, and
has only the first. The tables show:

- for pairs of items in two columns ({PAIRS:,} at random, among those in at least {PAIR_SUPPORT} of the transactions),
  the root mean squared relative error of expected and of counted supports;
- for the same pairs, the difference between both, which is chance alone and changes with each draw;
- for all frequent itemsets of up to {LARGEST} items, in one column or several, the mean relative error.

Most of the error is not chance: buckets mix values that belong together with others, and larger buckets mix more.
Chance adds little to frequent itemsets, and more to rare ones."""

LETTER = """## The algorithm of Figure 2 as published

`open_buckets=1` fills one bucket at a time, as the paper does, and closes it as soon as it is l-diverse. A common value
keeps it open for long, and it grows. By default 32 buckets are open, and a transaction joins one that it helps."""

LINEAR = """## Time against the number of records

In microseconds per record: a line that does not rise means linear time."""


def page(results: dict[Setting, Result]) -> Iterator[str | Chart]:
    """Figures 3 to 7, and what else was looked at."""
    rows = Rows(results)
    sets = [data for data in SHOWN if rows.where(data=data)]

    def told(findings: Callable[[Rows, str], Iterator[Finding | str]]) -> Iterator[str]:
        for data in sets:
            yield f"{data}:\n\n{listed(findings(rows, data))}"

    yield INTRODUCTION.format(runs=len(results), seeds=len(rows.seeds))
    yield DEFINITION
    yield from (survivors(rows, data) for data in sets)
    yield from told(definition)
    yield "## Figure 3: the number of possible records"
    up = "ln of the number of possible records"
    panels = [by_l(rows, f"l; {name}", measure) for name, measure in RECORDS.items()]
    yield Chart("3", up, panels, up)
    yield listed(figure_3(rows))
    for number, data, findings in (("4", CONNECT, figure_4), ("5", T40, figure_5)):
        if data in sets:
            yield f"## Figure {number}: the number of rules, {data}"
            yield Chart(number, "rules", [by_confidence(rows, data, "rules_after", original="rules")], "rules")
            yield listed(findings(rows))
    yield "## Figure 6: the accuracy ratio"
    yield (
        "AR is the share of the original's rules that the released rows also have. The paper gives it for T40I10D100K "
        "only."
    )
    panels = [by_confidence(rows, data, "kept") for data in sets]
    yield Chart("6", "accuracy ratio", panels, "accuracy ratio", shares=True)
    yield from told(figure_6)
    yield "## Figure 7: time"
    yield Chart("7", "CPU seconds", [by_l(rows, "l; CPU seconds of the method", "seconds")], "CPU seconds")
    yield listed(figure_7(rows))
    yield EXPECTED
    yield from (errors(rows, data) for data in sets)
    yield from told(expectation)
    yield LETTER
    yield from (buckets(rows, data) for data in sets)
    yield from told(letter)
    yield LINEAR
    yield Chart("records", "microseconds for each record", [by_records(rows)], "microseconds for each record")
    lines = [
        (f"{at.transactions:,}", *(f"{rows.mean(at, measure):.2f}" for measure in PARTS.values()))
        for at in rows.where(data=T10)
    ]
    yield table(("transactions", *(f"{part}, CPU s" for part in PARTS)), lines)
    yield listed(linear(rows))


def _releases(rows: Rows, data: str, **having: int) -> list[Setting]:
    """The points of a set of data that have these values, each release once: with the lowest confidence."""
    return [at for at in rows.where(data=data, **having) if at.confidence in (0, CONFIDENCES[data][0])]


def _paper(rows: Rows, data: str) -> list[Setting]:
    """The points of the paper's figures on rules."""
    return [at for at in rows.where(data=data, open_buckets=32) if at.confidence]


def survivors(rows: Rows, data: str) -> str:
    """How many columns are left for each l, and what the buckets are like."""
    head = (
        "l", "1/l", "most common value", "columns requested", "made", "transactions in a bucket", "in the largest",
        "left over", "buckets merged",
    )  # fmt: skip
    lines = [
        (
            at.l,
            f"{100 / at.l:.1f}%",
            f"{100 * max(result.share for result in rows.of(at)):.1f}%",
            at.columns,
            _range(rows, at, "reached"),
            f"{at.transactions / rows.mean(at, 'buckets'):.1f}",
            *(_range(rows, at, measure) for measure in ("largest", "left_over", "joined")),
        )
        for at in _releases(rows, data, columns=SHOWN[data].columns, open_buckets=32)
    ]
    return f"{data}:\n\n" + table(head, lines)


def _range(rows: Rows, at: Setting, measure: str) -> str:
    values = sorted({getattr(result, measure) for result in rows.of(at)})
    return f"{values[0]:,}" if len(values) == 1 else f"{values[0]:,} to {values[-1]:,}"


def errors(rows: Rows, data: str) -> str:
    """Expected and counted supports beside each other."""
    kinds = ("pairs, expected", "pairs, counted", "chance alone", "frequent, expected", "frequent, counted")
    measures = ("expected_error", "counted_error", "chance", "nugget_expected_error", "nugget_counted_error")
    lines = [
        (at.l, at.open_buckets, *(rows.value(at, measure).percent for measure in measures))
        for at in sorted(_releases(rows, data), key=lambda at: -at.open_buckets)
        if at.confidence
    ]
    return f"{data}:\n\n" + table(("l", "open buckets", *kinds), lines)


def buckets(rows: Rows, data: str) -> str:
    """One open bucket beside many."""
    head = ("l", "open buckets", "buckets", "transactions in one", "in the largest", "AR", "CPU s without columns")
    lines = [
        (
            at.l,
            at.open_buckets,
            _range(rows, at, "buckets"),
            f"{at.transactions / rows.mean(at, 'buckets'):.1f}",
            _range(rows, at, "largest"),
            rows.value(at, "kept").percent,
            f"{rows.mean(at, 'bucket_seconds'):.2f}",
        )
        for at in sorted(_releases(rows, data), key=lambda at: (at.l, -at.open_buckets))
        if at.confidence
    ]
    return f"{data}, AR at the lowest confidence:\n\n" + table(head, lines)


def by_l(rows: Rows, across: str, measure: str) -> Panel:
    """The T40I10-like set: l across, a line for each number of columns."""
    lines = {f"{at.columns} columns requested": (at, measure) for at in _releases(rows, T40, open_buckets=32)}
    return rows.panel(across, "l", SHOWN[T40].ls, lines)


def by_confidence(rows: Rows, data: str, measure: str, original: str | None = None) -> Panel:
    """Confidence across, a line for each l."""
    points = _paper(rows, data)
    lines = {"original": (points[0], original)} if original else {}
    lines |= {f"l = {at.l}": (at, measure) for at in points}
    return rows.panel(f"confidence; {data}", "confidence", CONFIDENCES[data], lines, lambda share: f"{share}%")


def by_records(rows: Rows) -> Panel:
    """Microseconds for each record, a line for each part."""
    names = {at: f"{at.transactions:,}" for at in rows.where(data=T10)}
    lines = {
        part: {
            name: Value.of([1e6 * getattr(result, measure) / at.transactions for result in rows.of(at)])
            for at, name in names.items()
        }
        for part, measure in PARTS.items()
    }
    return Panel("transactions", list(names.values()), lines)


def definition(rows: Rows, data: str) -> Iterator[Finding | str]:
    """Whether the columns that the paper has can be l-diverse at all."""
    wish, ls = SHOWN[data]
    points = [at for at in _releases(rows, data, columns=wish, open_buckets=32) if at.l in ls]
    runs = [(at, result) for at in points for result in rows.of(at)]
    says = f"Definition 5 can be satisfied with the {wish} columns of the paper."
    yield holds(says, (result.share * at.l <= 1 for at, result in runs))
    share = fmean(result.share for _, result in runs)
    yield (
        f"- *Why:* with any buckets, the most common value of a column may belong to at most 1/l of all transactions. "
        f"In the worst of the {wish} columns it belongs to {100 * share:.1f}% on average. So no {wish} columns like "
        f"these are more than {1 / share:.2f}-diverse."
    )


def figure_3(rows: Rows) -> Iterator[Finding | str]:
    """The number of possible records."""
    points = _releases(rows, T40, open_buckets=32)
    wishes, ls = (sorted({getattr(at, name) for at in points}) for name in ("columns", "l"))
    for name, measure in RECORDS.items():
        means = {(at.columns, at.l): rows.mean(at, measure) for at in points}
        by_diversity = [[means[wish, diverse] for diverse in ls] for wish in wishes]
        yield steps(f"It grows with l ({name}).", *by_diversity)
        yield steps(f"It grows with the number of columns ({name}).", *zip(*by_diversity, strict=True))
    says = "Theorem 2: with c columns, every bucket has at least l to the power of c possible records."
    # The file has six digits.
    yield holds(says, (result.ln_least >= result.reached * log(at.l) - 1e-6 for at in points for result in rows.of(at)))
    yield (
        "- *What it counts:* the largest bucket dominates the sum over all buckets. One bucket that had to grow "
        "outweighs all others, and a worse partition, with large buckets, has more possible records. In both cases the "
        "attacker's chance is at most 1/l. So we also give the median over the buckets."
    )
    yield (
        "- *Why it need not grow with l here:* if a value is too common for l, columns are merged, and fewer are left "
        "to combine."
    )


def figure_4(rows: Rows) -> Iterator[Finding | str]:
    """The number of rules, Connect."""
    says = "The number of rules differs little from the original's (here: by at most 10%)."
    yield _close(rows, says, _paper(rows, CONNECT))


def figure_5(rows: Rows) -> Iterator[Finding | str]:
    """The number of rules, T40I10."""
    points, least = _paper(rows, T40), CONFIDENCES[T40][0]
    says = f"At a confidence of {least}% it differs very little (here: by at most 10%)."
    yield _close(rows, says, [at for at in points if at.confidence == least])
    yield steps("The difference grows with the confidence.", *_lines(rows, T40, "change"))
    means = [rows.mean(at, "change") for at in points if at.confidence > least]
    says = "At higher confidences the difference is mostly 40% to 60%."
    counted = f"points (they are {100 * min(means):.0f}% to {100 * max(means):.0f}%)"
    yield holds(says, (0.4 <= mean <= 0.6 for mean in means), counted)
    yield (
        "- *Why:* itemsets within one column keep their exact supports. Items of different columns meet in a row only "
        "by chance; rules between them fall below the minimum support at any confidence."
    )


def _close(rows: Rows, says: str, points: Iterable[Setting]) -> Finding:
    """What the paper calls a small difference: here, a tenth."""
    means = [rows.mean(at, "change") for at in points]
    return holds(says, (mean <= 0.1 for mean in means), f"points (at most {100 * max(means):.1f}%)")


def _lines(rows: Rows, data: str, measure: str) -> Iterator[list[float]]:
    """For each l, the means by confidence."""
    for at in _paper(rows, data):
        if at.confidence == CONFIDENCES[data][0]:
            yield rows.means(at, "confidence", CONFIDENCES[data], measure)


def figure_6(rows: Rows, data: str) -> Iterator[Finding | str]:
    """The accuracy ratio."""
    yield steps("It falls as the confidence grows.", *_lines(rows, data, "kept"), up=False)
    ratios, inside = ({at: rows.mean(at, measure) for at in _paper(rows, data)} for measure in ("kept", "rules_inside"))
    lowest, highest = CONFIDENCES[data][0], CONFIDENCES[data][-1]
    shares = [
        fmean(share for at, share in inside.items() if at.confidence == confidence) for confidence in (lowest, highest)
    ]
    beyond = fmean(ratio - inside[at] for at, ratio in ratios.items())
    yield (
        f"- *Why:* AR is {100 * min(ratios.values()):.1f}% to {100 * max(ratios.values()):.1f}%. Rules within "
        f"one column are always kept: {100 * shares[0]:.1f}% of the rules with a confidence of {lowest}% or more, and "
        f"{100 * shares[1]:.1f}% of those with {highest}% or more. Other rules that remain in the rows make up the "
        f"rest of AR, {100 * beyond:.1f} percentage points on average."
    )


def figure_7(rows: Rows) -> Iterator[Finding | str]:
    """Time against l."""
    points = _releases(rows, T40, open_buckets=32)
    wishes = sorted({at.columns for at in points})
    times = [[rows.mean(at, "seconds") for at in points if at.columns == wish] for wish in wishes]
    yield steps("It grows slightly with l.", *times)
    most = max(line[-1] / line[0] for line in times)
    yield f"- From the smallest l to the largest, the time grows by a factor of at most {most:.2f}."


def letter(rows: Rows, data: str) -> Iterator[Finding | str]:
    """One open bucket against many."""
    pairs = [
        pair
        for at in _releases(rows, data, open_buckets=1)
        for pair in zip(rows.of(replace(at, open_buckets=32)), rows.of(at), strict=True)
    ]
    for says, better in (
        ("With 32 open buckets there are more, smaller buckets.", lambda a, b: a.buckets > b.buckets),
        ("The largest bucket is smaller.", lambda a, b: a.largest < b.largest),
        ("The expected supports of pairs are closer to the truth.", lambda a, b: a.expected_error < b.expected_error),
        ("At least as many rules are kept (at the lowest confidence).", lambda a, b: a.kept >= b.kept),
    ):
        yield holds(says, (better(many, one) for many, one in pairs))


def expectation(rows: Rows, data: str) -> Iterator[Finding | str]:
    """Expected supports against those of one arrangement."""
    runs = rows.of(*rows.where(data=data, confidence=CONFIDENCES[data][0]))
    says = "Expected supports of pairs are closer to the truth than counted ones."
    yield holds(says, (result.expected_error < result.counted_error for result in runs))
    runs = rows.of(*(at for at in rows.where(data=data) if at.confidence))
    says = "Expected supports find at least as many rules of the original."
    yield holds(says, (result.expected_kept >= result.kept for result in runs), "runs and confidences")


def linear(rows: Rows) -> Iterator[Finding | str]:
    """Time against the number of records."""
    for part in ("method", "audit"):
        each = [rows.mean(at, PARTS[part]) / at.transactions for at in rows.where(data=T10)]
        says = f"The time per record ({part}) does not grow with their number (here: at most by a factor of 1.5)."
        counted = f"steps ({1e6 * each[0]:.1f} µs at first, {1e6 * each[-1]:.1f} µs in the end)"
        yield holds(says, (b <= 1.5 * a for a, b in pairwise(each)), counted)


PAPER = Paper(Setting, Result, (CONNECT_FILE,), settings, _is_quick, run, page)
