"""The page about the experiments on hiding patterns, from nothing but the rows of hiding.csv."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import fmean

from charts import Panel, draw
from finding import Finding
from hiding_findings import (
    PAPER,
    Measure,
    Rows,
    accuracy,
    certification,
    figure_6,
    figure_7,
    figure_8,
    found,
    new_patterns,
    removed,
    wrongness,
)
from hiding_runs import CERTIFIED, HIDDEN, KEPT, LARGEST, METHOD, MIN_SUPPORT, P_R, QUEST, TEXT, Result, Setting

INTRODUCTION = f"""# Experiments: what hiding patterns costs

Figures 6 to 8 of the paper that the sanitization matrix comes from (Lee, Chang, Chen 2004, §4.2), measured again with
our methods, and what certified hiding costs beside them. Made by `make experiments` from the rows of
[hiding.csv](hiding.csv), {{runs:,}} runs; what the paper found is compared with these rows by counting.

## What was done

- **Data**: `vs.generate.quest(transactions={QUEST["transactions"]:_}, items={QUEST["items"]},
  average_length={QUEST["average_length"]}, pattern_length={QUEST["pattern_length"]}, patterns={QUEST["patterns"]})`,
  another set for each seed. The paper says only that there are 200 items and 100K transactions of the same generator;
  the other settings are ours. At `min_support="{MIN_SUPPORT}"` such a set has {{fewest:,}} to {{most:,}} frequent
  itemsets of 2 to {LARGEST} items.
- **Patterns**: the paper does not say how they were chosen, nor how an overlap rate was reached. Here: the frequent
  itemsets of 2 to {LARGEST} items, in random order. The first {HIDDEN} are to be hidden; in a second series only
  pairs are. Up to {KEPT} others, none of which holds a hidden one, are to stay, chosen so that they have as many
  different items as the hidden ones, and so many in common with them that the overlap rate is reached. The hidden
  patterns are the same at every rate. (An order in which the items of the hidden patterns are not all in others is
  drawn again: a rate of 1 could not be reached with it.) The measured rates differ from those on the axis by no more
  than {{off:.3f}}.
- **Seeds**: {{seeds}}, each with its own data, patterns and chance. Points are means, vertical lines their 95%
  intervals (Student's t); every method gets the same data and patterns.
- **Methods**: `HF` (hidden-first), `NHF` (non-hidden-first) and `HPCME` with p_r = {P_R}, as in the paper, without
  certification: the product with the matrix and nothing else. The paper's text gives HF a rule that spares pairs shared
  with patterns to stay, its Figure 4 another that does not. `HF` is the figure's, `{TEXT}` the text's.
  `… certified` is the same method with `certify=True`, the default, and `margin="1/2"`. It also tries ways that do
  without the product, and takes the one that loses the fewest patterns.
- **Accuracy, wrongness, new patterns** as in §4.1 of the paper (`veilset.measure`). A single item is not counted as a
  sub-pattern that is still found: at a rate of 0, where the paper has all patterns hidden, hardly any would be.
- **Checks**: the auditor certified every release that is called certified before its numbers were used."""

CERTIFICATION = """## What certification costs

The product with the matrix aims at every transaction that holds a pair of a hidden pattern, whether it holds the whole
pattern or not, and stops there, whether the pattern is hidden or not. A certified release goes on until every listed
pattern is below a secret level between ½ and 1 × min_support, and puts back what need not have gone: only transactions
that held a whole hidden pattern are changed. So it removes much less. Of patterns with more than two items its
**accuracy in the sense of the paper is lower**: pairs of a hidden pattern that belong to no other may still be found.
What is promised is that the listed patterns are not; who wants parts of them hidden lists these, too."""

SIZE = {2: "hidden patterns of 2 items", LARGEST: f"hidden patterns of 2 to {LARGEST} items"}
BESIDE = tuple(name for method in PAPER for name in (method, method + CERTIFIED))
FIGURES = (
    ("6", "accuracy", accuracy, figure_6),
    ("7", "wrongness", wrongness, figure_7),
    ("8", "new patterns", new_patterns, figure_8),
)


def panels(rows: Rows, methods: Sequence[str], measure: Measure) -> list[Panel]:
    """One chart for each size of hidden patterns, with the overlap rate across."""
    names = {rate: f"{rate / 100:g}" for rate in rows.rates}
    return [
        Panel(
            f"overlap rate; {SIZE[largest]}",
            list(names.values()),
            {
                method: {name: rows.value(method, largest, rate, measure) for rate, name in names.items()}
                for method in methods
            },
        )
        for largest in rows.sizes
    ]


def table(rows: Rows, largest: int) -> str:
    """Plain and certified releases beside each other, over all rates."""
    columns = ("method", "still found", "accuracy", "wrongness", "removed, in a thousand", "CPU s", "came from")
    lines = [_row(*columns), "|---" * len(columns) + "|"]
    for method in BESIDE:
        shares = (rows.overall(method, largest, measure).percent for measure in (found, accuracy, wrongness))
        gone, runs = rows.overall(method, largest, removed), rows.of(method, largest)
        seconds = fmean(result.seconds for result in runs)
        ways = Counter(result.way for result in runs if result.way).most_common()
        came = "; ".join(f"{way} ({count})" for way, count in ways) or "the product"
        lines.append(_row(method, *shares, f"{gone.mean:.1f} ± {gone.half:.1f}", f"{seconds:.2f}", came))
    return "\n".join(lines)


def _row(*cells: object) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def write_page(out: Path, results: dict[Setting, Result], *, quick: bool) -> None:
    """Draw the charts and write hiding.md."""
    rows = Rows(results)
    off = max(abs(result.rate - setting.overlap / 100) for setting, result in results.items())
    sizes = [result.frequent for result in results.values()]

    def chart(name: str, methods: Sequence[str], measure: Measure, up: str) -> str:
        drawn = draw(panels(rows, methods, measure), up, shares=measure is not removed)
        (out / name).write_text(drawn, "utf-8")
        return f"![{up} against the overlap rate]({name})"

    parts = [INTRODUCTION.format(runs=len(results), seeds=len(rows.seeds), off=off, fewest=min(sizes), most=max(sizes))]
    if quick:
        parts.append("This is a quick run: few points, one seed.")
    for number, title, measure, findings in FIGURES:
        parts.append(f"## Figure {number}: {title}")
        parts.append(chart(f"hiding-{number}.svg", tuple(METHOD), measure, title))
        parts.append(_told(rows, "What the paper found", findings))
    parts.append(CERTIFICATION)
    parts.append(chart("hiding-certified.svg", BESIDE, wrongness, "wrongness"))
    parts.append(chart("hiding-certified-removed.svg", BESIDE, removed, "occurrences removed, in a thousand"))
    for largest in rows.sizes:
        parts.append(f"Over all rates, {SIZE[largest]}:")
        parts.append(table(rows, largest))
    parts.append(_told(rows, "What was counted", certification))
    (out / "hiding.md").write_text("\n\n".join(parts) + "\n", "utf-8")


def _told(rows: Rows, title: str, findings: Callable[[Rows, int], Iterator[Finding | str]]) -> str:
    return "\n\n".join(
        f"{title}, {SIZE[largest]}:\n\n" + "\n".join(map(str, findings(rows, largest))) for largest in rows.sizes
    )
