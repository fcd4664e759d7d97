"""What the paper on anatomy found, figure by figure, and whether our rows agree: counted, not judged by eye."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from math import log
from statistics import fmean

from anatomy_runs import CONFIDENCES, CONNECT, PAPER, T10, T40, Result, Setting
from charts import Value
from finding import Finding

Measure = Callable[[Result], float]
CLOSE = 0.1  # what the paper calls a small difference: here, a tenth
PARTS: dict[str, Measure] = {
    "columns": lambda result: result.column_seconds,
    "buckets": lambda result: result.seconds - result.column_seconds,
    "method": lambda result: result.seconds,
    "audit": lambda result: result.audit_seconds,
}


class Rows:
    """All results, by setting."""

    def __init__(self, results: dict[Setting, Result]) -> None:
        self.results = results
        self.seeds = sorted({setting.seed for setting in results})

    def points(self, data: str, **having: int) -> list[Setting]:
        """The settings of a set of data that have these values, of the first seed, in the order of the runs."""
        return [
            setting
            for setting in self.results
            if setting.data == data
            and setting.seed == self.seeds[0]
            and all(getattr(setting, name) == value for name, value in having.items())
        ]

    def releases(self, data: str, **having: int) -> list[Setting]:
        """The same, each release once: with the lowest confidence, where there are several."""
        first: dict[Setting, Setting] = {}
        for setting in self.points(data, **having):
            first.setdefault(replace(setting, confidence=0), setting)
        return list(first.values())

    def of(self, setting: Setting) -> list[Result]:
        """The results of a setting, of all seeds that it was run with."""
        return [self.results[other] for seed in self.seeds if (other := replace(setting, seed=seed)) in self.results]

    def value(self, setting: Setting, measure: Measure) -> Value:
        """The mean over all seeds."""
        return Value.of([measure(result) for result in self.of(setting)])

    def mean(self, setting: Setting, measure: Measure) -> float:
        """The same without its interval."""
        return self.value(setting, measure).mean


def change(result: Result) -> float:
    """By what share the number of rules differs from that of the original."""
    assert result.rules is not None
    assert result.rules_after is not None
    return abs(result.rules_after - result.rules) / max(1, result.rules)


def kept(result: Result) -> float:
    """The accuracy ratio."""
    assert result.kept is not None
    return result.kept


def inside_one_column(result: Result) -> float:
    """The share of the original's rules whose items are all in one column."""
    assert result.rules_inside is not None
    return result.rules_inside


def _steps(says: str, values: Sequence[Sequence[float]], *, up: bool) -> Finding:
    """From each value to the next one of its line."""
    steps = [(b > a) if up else (b < a) for line in values for a, b in pairwise(line)]
    return Finding(says, sum(steps), len(steps), "steps")


def definition(rows: Rows, data: str) -> Iterator[Finding | str]:
    """Whether the columns that the paper has can be l-diverse at all."""
    wish = PAPER[data].columns
    points = rows.releases(data, columns=wish, open_buckets=32)
    paper = [setting for setting in points if setting.l in PAPER[data].ls]
    says = f"Definition 5 can be satisfied with the {wish} columns of the paper."
    runs = [(setting, result) for setting in paper for result in rows.of(setting)]
    yield Finding(says, sum(result.share * setting.l <= 1 for setting, result in runs), len(runs), "runs")
    share = fmean(result.share for _, result in runs)
    yield (
        f"- *Why:* whatever the buckets, the commonest value of a column has to belong to no more than 1/l of all "
        f"transactions. In the worst of the {wish} columns it belongs to {100 * share:.1f}% on average, so that no "
        f"{wish} columns like these are more than {1 / share:.2f}-diverse."
    )


def figure_3(rows: Rows) -> Iterator[Finding | str]:
    """The number of possible records."""
    points = rows.releases(T40, open_buckets=32)
    wishes, ls = (sorted({getattr(setting, name) for setting in points}) for name in ("columns", "l"))
    at = {(setting.columns, setting.l): setting for setting in points}
    for name, measure in (("all buckets", _ln_records), ("a bucket in the middle", _ln_median)):
        means = {place: rows.mean(setting, measure) for place, setting in at.items()}
        by_l = [[means[wish, diverse] for diverse in ls] for wish in wishes]
        by_wish = [[means[wish, diverse] for wish in wishes] for diverse in ls]
        yield _steps(f"It grows with l ({name}).", by_l, up=True)
        yield _steps(f"It grows with the number of columns ({name}).", by_wish, up=True)
    runs = [(setting, result) for setting in points for result in rows.of(setting)]
    says = "Theorem 2: every bucket gives at least l to the power of the number of columns reached."
    yield Finding(
        says,
        sum(result.ln_least >= result.reached * log(setting.l) - 1e-9 for setting, result in runs),
        len(runs),
        "runs",
    )
    yield (
        "- *What it counts:* the sum over all buckets is as large as its largest bucket makes it. One bucket that had "
        "to grow outweighs all others, and a worse partition, with large buckets, has more possible records. "
        "The attacker's chance is at most 1/l either way. So the median over the buckets is given as well."
    )
    yield (
        "- *Why it need not grow with l here:* where a value is too common for l, columns become one, and there are "
        "fewer to combine."
    )


def _ln_records(result: Result) -> float:
    return result.ln_records


def _ln_median(result: Result) -> float:
    return result.ln_median


def figure_4(rows: Rows) -> Iterator[Finding | str]:
    """The number of rules, Connect."""
    yield _close(rows, CONNECT, "The number of rules differs little from the original's (here: by at most 10%).")


def figure_5(rows: Rows) -> Iterator[Finding | str]:
    """The number of rules, T40I10."""
    points = _paper(rows, T40)
    least = min(setting.confidence for setting in points)
    says = f"At a confidence of {least}% it differs very little (here: by at most 10%)."
    yield _close(rows, T40, says, confidence=least)
    by_confidence = _lines(rows, T40, change)
    yield _steps("The difference grows with the confidence.", by_confidence, up=True)
    means = [rows.mean(setting, change) for setting in points if setting.confidence > least]
    says = "At higher ones the difference is mostly 40% to 60%."
    counted = f"points (they are {100 * min(means):.0f}% to {100 * max(means):.0f}%)"
    yield Finding(says, sum(0.4 <= mean <= 0.6 for mean in means), len(means), counted)
    yield (
        "- *Why:* items of one column keep their supports exactly. Those of different columns are together in a bucket "
        "by chance only; such rules fall below the support, whatever confidence is asked for."
    )


def figure_6(rows: Rows, data: str) -> Iterator[Finding | str]:
    """The accuracy ratio."""
    says = "It falls as the confidence grows."
    yield _steps(says, _lines(rows, data, kept), up=False)
    points = _paper(rows, data)
    ratios = [rows.mean(setting, kept) for setting in points]
    inside = [rows.mean(setting, inside_one_column) for setting in points]
    lowest, highest = (min(setting.confidence for setting in points), max(setting.confidence for setting in points))
    shares = [
        fmean(share for setting, share in zip(points, inside, strict=True) if setting.confidence == confidence)
        for confidence in (lowest, highest)
    ]
    beyond = fmean(ratio - share for ratio, share in zip(ratios, inside, strict=True))
    yield (
        f"- *Why:* AR is {100 * min(ratios):.1f}% to {100 * max(ratios):.1f}%. Rules whose items are all in one column "
        f"are kept for sure: {100 * shares[0]:.1f}% of those that are sure by {lowest}% or more, and "
        f"{100 * shares[1]:.1f}% of those by {highest}% or more. The rest of AR, {100 * beyond:.1f} percentage points "
        "on average, are others that are left in the rows."
    )


def figure_7(rows: Rows) -> Iterator[Finding | str]:
    """Time against l."""
    points = rows.releases(T40, open_buckets=32)
    wishes = sorted({setting.columns for setting in points})
    times = [[rows.mean(setting, PARTS["method"]) for setting in points if setting.columns == wish] for wish in wishes]
    yield _steps("It grows slightly with l.", times, up=True)
    most = max(line[-1] / line[0] for line in times)
    yield f"- From the smallest l to the largest, the time becomes at most {most:.2f} times what it was."


def letter(rows: Rows, data: str) -> Iterator[Finding | str]:
    """One open bucket against many."""
    pairs = [
        (many, one)
        for setting in rows.releases(data, open_buckets=1)
        for many, one in zip(rows.of(replace(setting, open_buckets=32)), rows.of(setting), strict=True)
    ]
    for says, better in (
        ("With 32 open buckets there are more buckets, so that they are smaller.", lambda a, b: a.buckets > b.buckets),
        ("The largest bucket is smaller.", lambda a, b: a.largest < b.largest),
        ("The expected supports of pairs are nearer to the truth.", lambda a, b: a.expected_error < b.expected_error),
        ("At least as many rules are kept (at the lowest confidence).", lambda a, b: a.kept >= b.kept),
    ):
        yield Finding(says, sum(better(many, one) for many, one in pairs), len(pairs), "runs")


def expectation(rows: Rows, data: str) -> Iterator[Finding | str]:
    """Expected supports against those of one arrangement."""
    runs = [result for setting in rows.points(data, confidence=CONFIDENCES[data][0]) for result in rows.of(setting)]
    says = "The supports of pairs are nearer to the truth if they are expected than if they are counted."
    better = [result.expected_error < result.counted_error for result in runs]
    yield Finding(says, sum(better), len(better), "runs")
    says = "As many rules of the original are found, or more."
    points = [result for setting in rows.points(data) if setting.confidence for result in rows.of(setting)]
    yield Finding(says, sum(r.expected_kept >= r.kept for r in points), len(points), "runs and confidences")


def linear(rows: Rows) -> Iterator[Finding | str]:
    """Time against the number of records."""
    points = rows.points(T10)
    for part in ("method", "audit"):
        each = [rows.mean(setting, PARTS[part]) / setting.transactions for setting in points]
        steps = [b <= 1.5 * a for a, b in pairwise(each)]
        says = f"The time of each record, {part}, is the same whatever their number (here: at most 1.5 times as long)."
        counted = f"steps ({1e6 * each[0]:.1f} µs at first, {1e6 * each[-1]:.1f} µs in the end)"
        yield Finding(says, sum(steps), len(steps), counted)


def _paper(rows: Rows, data: str) -> list[Setting]:
    """The points of the paper's figures on rules."""
    return [setting for setting in rows.points(data, open_buckets=32) if setting.confidence]


def _lines(rows: Rows, data: str, measure: Measure) -> list[list[float]]:
    """For each l, the means by confidence."""
    points = _paper(rows, data)
    ls = sorted({setting.l for setting in points})
    return [[rows.mean(setting, measure) for setting in points if setting.l == diverse] for diverse in ls]


def _close(rows: Rows, data: str, says: str, **having: int) -> Finding:
    points = [setting for setting in _paper(rows, data) if all(getattr(setting, n) == v for n, v in having.items())]
    means = [rows.mean(setting, change) for setting in points]
    counted = f"points (at most {100 * max(means):.1f}%)"
    return Finding(says, sum(mean <= CLOSE for mean in means), len(means), counted)
