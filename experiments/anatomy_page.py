"""The page about the experiments on anatomy, from nothing but the rows of anatomy.csv."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from anatomy_findings import (
    PARTS,
    Measure,
    Rows,
    definition,
    expectation,
    figure_3,
    figure_4,
    figure_5,
    figure_6,
    figure_7,
    kept,
    letter,
    linear,
)
from anatomy_runs import CONNECT, LARGEST, MIN_SUPPORT, PAIR_SUPPORT, PAIRS, PAPER, QUEST, T10, T40, Result, Setting
from charts import Panel, Value, draw
from finding import Finding

INTRODUCTION = f"""# Experiments: what an anatomy costs

Figures 3 to 7 of the paper on multi-dimension anatomy (2010, section V), measured again with `multi-anatomy`; how well
supports can be told from what is released; and time against the number of records. Made by `make experiments` from the
rows of [anatomy.csv](anatomy.csv), {{runs:,}} of them; what the paper found is compared with these rows by counting.

## What was done

- **Data**: Connect (67,557 transactions of 129 items, 43 each), and `vs.generate.quest(transactions=100_000,
  average_length={QUEST[T40]["average_length"]}, pattern_length={QUEST[T40]["pattern_length"]},
  items={QUEST[T40]["items"]})`, which has the size of the T40I10D100K that the paper took from a repository; another
  set for each seed. For time against the number of records: `quest` with {QUEST[T10]["average_length"]} items each,
  patterns of {QUEST[T10]["pattern_length"]}, {QUEST[T10]["items"]:,} items.
- **Columns**: `columns={PAPER[CONNECT].columns}` for Connect and `columns={PAPER[T40].columns}` for the other, as in
  the paper; for Figure 3 fewer, too. They are a wish: see below.
- **Rules** have 2 to {LARGEST} items, as in the paper, one of them on the right side. It does not say what support they
  need: here {MIN_SUPPORT[CONNECT]} of the transactions of Connect, and {MIN_SUPPORT[T40]} of the others.
- **Seeds**: {{seeds}}, each with its own chance, and its own data where they are generated. Points are means, vertical
  lines their 95% intervals (Student's t).
- **Time** is CPU time on one thread.
- **Checks**: every release was certified before its numbers were used: the auditor found that it keeps its promise, and
  every bucket has the values of its transactions."""

DEFINITION = """## What the paper's setting cannot do

The paper takes a fixed number of columns, and says that its releases satisfy Definition 5. With columns made as it says
no release can: in the whole file, and so in some bucket, one value is too common. Here, columns in which that is so
become one with others until it is not; nothing else has to be given up. All figures below are about what survives."""

EXPECTED = f"""## Expected supports against those of one arrangement

The released rows are one arrangement of each bucket, drawn at random. A support that is counted in them is wrong in two
ways: by what buckets and columns took away, and by the chance of the draw. `mining.expected_supports` is the mean over
all arrangements, and knows only the first. Below: the root of the mean squared relative error of the supports of pairs
of items that reach over two columns ({PAIRS:,} at random of those that at least {PAIR_SUPPORT} of the transactions
hold); of the difference between both, which is chance alone, and would be another in each draw; and the mean relative
error over all frequent itemsets of up to {LARGEST} items, in one column or in several. The largest part of the error is
not chance: what went together is mixed with what did not, the more so the larger the buckets are. Chance adds little to
what many transactions hold, and more to what few do."""

LETTER = """## Figure 2 to the letter

`open_buckets=1` fills one bucket at a time, as the paper does: it is closed as soon as it is l-diverse. A value that is
common keeps it open for long, and it grows. By default 32 are open, and a transaction goes where it helps."""

LINEAR = """## Time against the number of records

In microseconds for each record: a line that does not rise is linear time."""


def _row(*cells: object) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def _table(head: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    return "\n".join([_row(*head), "|---" * len(head) + "|", *(_row(*line) for line in lines)])


def survivors(rows: Rows, data: str) -> str:
    """How many columns are left for each l, and what the buckets are like."""
    lines = []
    for setting in rows.releases(data, columns=PAPER[data].columns, open_buckets=32):
        results = rows.of(setting)
        lines.append(
            (
                setting.l,
                f"{100 / setting.l:.1f}%",
                f"{100 * max(result.share for result in results):.1f}%",
                setting.columns,
                _range(result.reached for result in results),
                f"{setting.transactions / rows.mean(setting, lambda result: result.buckets):.1f}",
                _range(result.largest for result in results),
                _range(result.left_over for result in results),
                _range(result.joined for result in results),
            )
        )
    head = (
        "l", "1/l", "commonest value", "columns wished", "reached", "transactions in a bucket", "in the largest",
        "left over", "buckets joined",
    )  # fmt: skip
    return f"{data}:\n\n" + _table(head, lines)


def _range(numbers: Iterable[int]) -> str:
    values = sorted(set(numbers))
    return f"{values[0]:,}" if len(values) == 1 else f"{values[0]:,} to {values[-1]:,}"


def errors(rows: Rows, data: str) -> str:
    """Expected and counted supports beside each other."""
    kinds = ("pairs, expected", "pairs, counted", "chance alone", "frequent, expected", "frequent, counted")
    lines = [
        (setting.l, setting.open_buckets, *(rows.value(setting, measure).percent for measure in _ERRORS))
        for setting in sorted(rows.releases(data), key=lambda setting: -setting.open_buckets)
        if setting.confidence
    ]
    return f"{data}:\n\n" + _table(("l", "open buckets", *kinds), lines)


_ERRORS: tuple[Measure, ...] = (
    lambda result: result.expected_error or 0.0,
    lambda result: result.counted_error or 0.0,
    lambda result: result.chance or 0.0,
    lambda result: result.nugget_expected_error or 0.0,
    lambda result: result.nugget_counted_error or 0.0,
)


def buckets(rows: Rows, data: str) -> str:
    """One open bucket beside many."""
    lines = []
    for setting in (s for s in sorted(rows.releases(data), key=lambda s: (s.l, -s.open_buckets)) if s.confidence):
        results = rows.of(setting)
        lines.append(
            (
                setting.l,
                setting.open_buckets,
                _range(result.buckets for result in results),
                f"{setting.transactions / rows.mean(setting, lambda result: result.buckets):.1f}",
                _range(result.largest for result in results),
                rows.value(setting, kept).percent,
                f"{rows.mean(setting, PARTS['buckets']):.2f}",
            )
        )
    head = ("l", "open buckets", "buckets", "transactions in one", "in the largest", "AR", "CPU s without columns")
    return f"{data}, AR at the lowest confidence:\n\n" + _table(head, lines)


def by_l(rows: Rows, across: str, measure: Measure) -> Panel:
    """The T40I10-like set: l across, a line for each number of columns."""
    points = rows.releases(T40, open_buckets=32)
    names = dict.fromkeys(str(setting.l) for setting in sorted(points, key=lambda setting: setting.l))
    lines: dict[str, dict[str, Value]] = {}
    for setting in points:
        lines.setdefault(f"{setting.columns} columns wished", {})[str(setting.l)] = rows.value(setting, measure)
    return Panel(across, list(names), lines)


def by_confidence(rows: Rows, data: str, measure: Measure, original: Measure | None = None) -> Panel:
    """Confidence across, a line for each l."""
    points = [setting for setting in rows.points(data, open_buckets=32) if setting.confidence]
    names = {setting.confidence: f"{setting.confidence}%" for setting in points}
    lines: dict[str, dict[str, Value]] = {}
    for setting in points:
        if original is not None:
            lines.setdefault("original", {})[names[setting.confidence]] = rows.value(setting, original)
        lines.setdefault(f"l = {setting.l}", {})[names[setting.confidence]] = rows.value(setting, measure)
    return Panel(f"confidence; {data}", list(names.values()), lines)


def by_records(rows: Rows) -> Panel:
    """Microseconds for each record, a line for each part."""
    names = {setting: f"{setting.transactions:,}" for setting in rows.points(T10)}
    lines = {
        part: {
            name: rows.value(setting, lambda result, m=measure, n=setting.transactions: 1e6 * m(result) / n)
            for setting, name in names.items()
        }
        for part, measure in PARTS.items()
    }
    return Panel("transactions", list(names.values()), lines)


def seconds(rows: Rows) -> str:
    """The same as seconds."""
    lines = [
        (f"{setting.transactions:,}", *(f"{rows.mean(setting, measure):.2f}" for measure in PARTS.values()))
        for setting in rows.points(T10)
    ]
    return _table(("transactions", *(f"{part}, CPU s" for part in PARTS)), lines)


def write_page(out: Path, results: dict[Setting, Result], *, quick: bool) -> None:
    """Draw the charts and write anatomy.md."""
    rows = Rows(results)

    def chart(name: str, panels: Sequence[Panel], up: str, *, shares: bool = False) -> str:
        (out / name).write_text(draw(panels, up, shares=shares), "utf-8")
        return f"![{up}]({name})"

    sets = [data for data in PAPER if rows.points(data)]
    parts = [INTRODUCTION.format(runs=len(results), seeds=len(rows.seeds))]
    if quick:
        parts.append("This is a quick run: few points, one seed.")
    parts += [DEFINITION, *(survivors(rows, data) for data in sets)]
    parts += _told(sets, lambda data: definition(rows, data))
    parts.append("## Figure 3: the number of possible records")
    records = [
        by_l(rows, "l; all buckets", lambda result: result.ln_records),
        by_l(rows, "l; a bucket in the middle", lambda result: result.ln_median),
    ]
    parts += [chart("anatomy-3.svg", records, "ln of the number of possible records"), _list(figure_3(rows))]
    for number, data, findings in (("4", CONNECT, figure_4), ("5", T40, figure_5)):
        if data in sets:
            parts.append(f"## Figure {number}: the number of rules, {data}")
            panel = by_confidence(rows, data, lambda result: result.rules_after or 0, lambda result: result.rules or 0)
            parts += [chart(f"anatomy-{number}.svg", [panel], "rules"), _list(findings(rows))]
    parts.append("## Figure 6: the accuracy ratio")
    parts.append(
        "AR is the share of the rules of the original that are rules of the released rows, too. The paper has it for "
        "T40I10D100K only."
    )
    panels = [by_confidence(rows, data, kept) for data in sets]
    parts.append(chart("anatomy-6.svg", panels, "accuracy ratio", shares=True))
    parts += _told(sets, lambda data: figure_6(rows, data))
    parts.append("## Figure 7: time")
    time = by_l(rows, "l; CPU seconds of the method", PARTS["method"])
    parts += [chart("anatomy-7.svg", [time], "CPU seconds"), _list(figure_7(rows))]
    parts += [EXPECTED, *(errors(rows, data) for data in sets), *_told(sets, lambda data: expectation(rows, data))]
    parts += [LETTER, *(buckets(rows, data) for data in sets), *_told(sets, lambda data: letter(rows, data))]
    parts += [LINEAR, chart("anatomy-records.svg", [by_records(rows)], "microseconds for each record"), seconds(rows)]
    parts.append(_list(linear(rows)))
    (out / "anatomy.md").write_text("\n\n".join(parts) + "\n", "utf-8")


def _list(findings: Iterator[Finding | str]) -> str:
    return "\n".join(map(str, findings))


def _told(sets: Sequence[str], findings: Callable[[str], Iterator[Finding | str]]) -> Iterator[str]:
    return (f"{data}:\n\n{_list(findings(data))}" for data in sets)
