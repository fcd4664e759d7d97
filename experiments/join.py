"""Join classification (thesis §3.4, Figures 7 to 9): figures, and what they say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from math import log

from charts import Panel
from join_private import PRIVATE, by_rows, more_parties, per_row, twelve_parties, two_parties
from join_runs import (
    CHAIN,
    DEPTH,
    FOLDS,
    MONDIAL,
    MOST,
    PART,
    PER_KEY,
    PERCENTAGE,
    REACHING,
    ROWS,
    SHORT,
    TABLES,
    UNIVERSITY,
    UW,
    WHOLE,
    Result,
    Setting,
    is_quick,
    run,
    settings,
)
from paper import Chart, Finding, Paper, Rows, holds, less, listed, table

WAYS = {"MultiTbl": "", "DuckDB's join": "join_", "join-then-build": "both_"}
COUNTED = {"target": "target rows", "joined": "joined rows"}
TRIED = {"known": "training data", "new": "new data", "alone": "target table alone, new data"}
UNITS = {"seconds": "CPU s", "megabytes": "MB"}

INTRODUCTION = f"""# Experiments: trees over joins

This page repeats Figures 7 to 9 of the thesis' chapter on join classification (§3.4). The thesis calls the algorithm
MultiTbl where one computer has all tables (`JoinClassifier`), and SecureMultiTbl where each party keeps its own
([private joins](../private-joins.md)). `make experiments` generates the page from [join.csv](join.csv), {{runs:,}}
rows, and checks the thesis' findings by counting.

## Set-up

- **Mondial**: the 12 tables of the thesis, in today's version. The class says whether a religion of a country is a
  Christian one. The column `Percentage` of this table tells how many people of the country have the religion. The
  thesis does not say whether it was used, so we give results with and without it.
- **Mondial, 178 countries**: those with at most {MOST:,} joined rows, so that their join can be computed too.
- **University**: courses, who teaches them, who advises whom (5 tables). The class is the level of a course. The thesis
  does not use it.
- **Chains** are made by `veilset.joins.generate.chain` as the thesis describes: 5 columns of numbers and 5 of text in
  each table, {PER_KEY} rows for each key on average, and as many rows of a key in each table.
- **Join-then-build** is DuckDB's join followed by the same learner on the one joined table. It stands for the thesis'
  RainForest, as both need the join. DuckDB has the tables before its clock starts, with codes for text.
- **Trees** are grown until leaves are pure, and pruned (`prune=0.25`).
- **Accuracy** is the share of predictions that are right. *Joined rows* are what the thesis counts; a *target row* gets
  the vote of its joined rows. *New data* are countries that the tree has not seen ({FOLDS} folds by country), courses
  that it has not seen, or a chain generated with another seed.
- **Seeds**: {{seeds}}, each with its own chains and folds. Points are means, vertical lines are 95% intervals
  (Student's t).
- **Time** is CPU time on one thread. **Memory** is the growth at the peak, in a process that holds the tables. The
  thesis limits memory and lets data spill to disk (Figures 7 and 9b); here everything stays in memory.
{PRIVATE}
- **Checks**: wherever the join was computed, both trees were compared node by node, before and after pruning. Wherever
  parties have grown a tree, it was compared with MultiTbl's, with the criteria that each party keeps for itself."""

COST = """Time and memory. *Join-then-build* includes the join. The last column divides its time by MultiTbl's. We did
not compute the join of all countries."""

SMALL = "- This join has fewer rows than the tables together. Computing it first is cheaper."

LONG = """## Figure 9: long tables

Two tables of N rows each, for SecureMultiTbl two parties. Figure 9(b) of the thesis has the size of memory across; here
it is the peak of memory."""

REACH = f"""## Time against the rows that reach a node

The cost at a node is proportional to the rows of the tables that reach it, not to its joined rows. A row can reach
several nodes of a level, as its joined rows may go both ways. Here two tables, trees of depth {DEPTH}."""


def page(results: dict[Setting, Result]) -> Iterator[str | Chart]:
    """Figures 7 to 9, then time against the rows that reach a node."""
    rows = Rows(results)
    private = Rows({setting: result for setting, result in results.items() if setting.is_private})
    mondial = [*rows.where(data=WHOLE), *rows.where(data=PART)]
    chains = rows.where(data=CHAIN, rows=SHORT)
    long = [at for at in rows.where(data=CHAIN, depth=None) if at.rows in ROWS]
    yield INTRODUCTION.format(runs=len(results), seeds=len(rows.seeds))
    yield "## Figure 7: Mondial"
    yield accuracies(rows, mondial, _country_data)
    yield listed(figure_7_accuracy(rows, mondial))
    yield COST
    yield costs(rows, mondial, _country_data)
    yield listed(figure_7_cost(rows))
    yield from twelve_parties(private)
    if university := rows.where(data=UNIVERSITY):
        yield "## Another database: a university"
        yield accuracies(rows, university, _data)
        yield costs(rows, university, _data)
        yield listed([_same(rows.of(*university)), SMALL])
    yield f"## Figure 8: chains of tables\n\nEach table has about {SHORT:,} rows."
    yield Chart("8", "CPU seconds and megabytes by number of tables", [*by_tables(rows)], "", log=True)
    yield costs(rows, chains, _chain)
    yield listed(figure_8_cost(rows, chains))
    yield Chart("8-accuracy", "accuracy by number of tables", [*by_tables_accuracy(rows)], "accuracy", shares=True)
    yield accuracies(rows, chains, _chain)
    yield listed(figure_8_accuracy(rows, chains, long))
    yield from more_parties(private)
    yield LONG
    yield Chart("9", "CPU seconds and megabytes by number of rows", [*by_rows(private)], "", log=True)
    yield lengths(rows, long)
    yield listed([per_row(rows, long, "The time is linear in the size of the tables", "source_rows")])
    yield from two_parties(private, long)
    yield REACH
    yield Chart("rows", "CPU seconds and rows that reach a node", [*by_rows_reached(rows)], "", log=True)
    yield lengths(rows, rows.where(depth=DEPTH))
    yield listed(linear(rows))


def _country_data(at: Setting) -> str:
    return f"{at.data}, {'without' if at.ignore else 'with'} `Percentage`"


def _data(at: Setting) -> str:
    return at.data


def _chain(at: Setting) -> str:
    return f"{at.tables} tables"


def accuracies(rows: Rows, points: Iterable[Setting], named: Callable[[Setting], str]) -> str:
    """How good the trees are."""
    head = [f"{tried}, {counted}" for tried in TRIED.values() for counted in COUNTED.values()]
    lines = [
        (
            named(at),
            *(_percent(rows, at, f"{tried}_{counted}") for tried in TRIED for counted in COUNTED),
            _percent(rows, at, "heaviest"),
        )
        for at in points
    ]
    return table(("", *head, "joined rows of the heaviest 1% of target rows"), lines)


def _percent(rows: Rows, at: Setting, measure: str) -> str:
    value = rows.value(at, measure)
    return "" if value is None else value.percent


def costs(rows: Rows, points: Iterable[Setting], named: Callable[[Setting], str]) -> str:
    """What the trees cost."""
    head = [f"{way}, {unit}" for way in WAYS for unit in UNITS.values()]
    lines = []
    for at in points:
        cells = [rows.number(at, prefix + measure) for prefix in WAYS.values() for measure in UNITS]
        lines.append((named(at), rows.between(at, "joined_rows"), *cells, rows.number(at, "ratio")))
    return table(("", "joined rows", *head, "ratio of times"), lines)


def by_tables(rows: Rows) -> Iterator[Panel]:
    """Figure 8."""
    for measure, unit in UNITS.items():
        lines = {way: (Setting(CHAIN, 2, SHORT), prefix + measure) for way, prefix in WAYS.items()}
        yield rows.panel(f"tables; {unit}", "tables", TABLES, lines)


def by_tables_accuracy(rows: Rows) -> Iterator[Panel]:
    """The text about Figure 8."""
    for counted, name in COUNTED.items():
        lines = {tried: (Setting(CHAIN, 2, SHORT), f"{key}_{counted}") for key, tried in TRIED.items()}
        yield rows.panel(f"tables; {name}", "tables", TABLES, lines)


def by_rows_reached(rows: Rows) -> Iterator[Panel]:
    """Seconds, and rows that reach a node."""
    measures = {"seconds": "CPU s", "reached": "rows that reach a node"}
    for measure, unit in measures.items():
        lines = {"MultiTbl": (Setting(CHAIN, 2, depth=DEPTH), measure)}
        yield rows.panel(f"source rows in thousands; {unit}", "rows", REACHING, lines, lambda at: f"{2 * at // 1000:,}")


def lengths(rows: Rows, points: Iterable[Setting]) -> str:
    """What long tables cost."""
    head = ("N", "source rows", "joined rows", "nodes", "rows that reach a node", *UNITS.values())
    lines = [
        (
            f"{at.rows:,}",
            *(
                f"{rows.mean(at, measure):,.0f}"
                for measure in ("source_rows", "joined_rows", "unpruned_nodes", "reached")
            ),
            *(rows.number(at, measure) for measure in UNITS),
            rows.number(at, "microseconds_for_each"),
        )
        for at in points
    ]
    return table((*head, "µs for each row that reaches a node"), lines)


def figure_7_accuracy(rows: Rows, points: Sequence[Setting]) -> Iterator[Finding | str]:
    """How well the religion is predicted."""
    without = rows.of(*(at for at in rows.where(data=WHOLE) if at.ignore))
    yield holds(
        "With the target table alone, 60% is right (without `Percentage`).",
        (round(result.alone_target, 2) == 0.6 for result in without),
    )
    for key, tried in list(TRIED.items())[:2]:
        shares = [rows.mean(at, f"{key}_{counted}") for at in points for counted in COUNTED]
        says = f"With all 12 tables, 97.7% is right (here: at least 96.7%, {tried})."
        yield holds(says, (share >= 0.967 for share in shares), f"cells of the table ({_range(shares)})")
    for counted, name in COUNTED.items():
        for at_ignore, which in ((PERCENTAGE, "without"), ("", "with")):
            runs = rows.of(*(at for at in points if at.ignore == at_ignore))
            pairs = [(getattr(result, f"alone_{counted}"), getattr(result, f"new_{counted}")) for result in runs]
            says = f"All tables predict more than the target table alone (new data, {name}, {which} `Percentage`)."
            yield less(says, pairs, digits=1)
    alike = _range([rows.mean(at, f"alike_{counted}") for at in points if at.ignore for counted in COUNTED])
    yield (
        "- *Why, without `Percentage`:* all religions of a country join with the same rows of the other tables, so a "
        f"tree cannot tell them apart. If each country gets its best class, accuracy on the training data is {alike}: "
        "no tree can do better."
    )
    yield (
        "- *Why, with `Percentage`:* the number tells the religions of a country apart, and the tree memorises which "
        "is which. That is of little use for other countries. The thesis does not say how it measured; its 97.7% is "
        "close to the accuracy on the training data."
    )


def _range(shares: Sequence[float]) -> str:
    return f"{100 * min(shares):.1f}% to {100 * max(shares):.1f}%"


def figure_7_cost(rows: Rows) -> Iterator[Finding | str]:
    """Time on Mondial."""
    part = rows.of(*rows.where(data=PART))
    yield _same(part)
    whole = rows.of(*rows.where(data=WHOLE))
    grown = [result.joined_rows / result.source_rows for result in whole]
    yield holds(
        "The join has over 1,000 times more data.",
        (by > 1000 for by in grown),
        f"runs ({max(grown):,.0f} times the rows)",
    )
    yield _faster("MultiTbl is an order of magnitude faster than the learner on the join.", part, 10)


def _same(runs: Sequence[Result]) -> Finding:
    says = "Both ways give the same tree."
    return holds(says, (result.both_seconds is not None for result in runs), "runs (compared in each run)")


def _faster(says: str, runs: Sequence[Result], times: int) -> Finding:
    """By how much; the time of the join does not count, as in the thesis."""
    ratios = [result.build_seconds / result.seconds for result in runs if result.build_seconds is not None]
    counted = f"runs (here: at least {times:,} times; {min(ratios):,.0f} to {max(ratios):,.0f})" if ratios else "runs"
    return holds(says, (ratio >= times for ratio in ratios), counted)


def figure_8_cost(rows: Rows, points: Sequence[Setting]) -> Iterator[Finding | str]:
    """Time and memory against the number of tables."""
    yield _same(rows.of(*points))
    most = rows.of(*(at for at in points if at.tables == TABLES[-1]))
    yield _faster("With six tables, MultiTbl is almost 1,000 times faster.", most, 900)
    yield _faster("With six tables, it is orders of magnitude faster.", most, 100)
    yield (
        "- *What differs:* the thesis' RainForest had 200 MB and kept the rest on disk. Here the join stays in memory, "
        "and both ways use the same learner."
    )
    says = "With six tables, it needs only 6 MB of memory."
    yield holds(says, (result.megabytes <= 6 for result in most))
    factors = [b / a for a, b in pairwise(rows.mean(at, "both_seconds") for at in points)]
    says = "Join-then-build grows exponentially with the number of tables (here: each table at least doubles its time)."
    yield holds(says, (factor >= 2 for factor in factors), f"steps (by {_times(factors)})")
    factors = [b / a for a, b in pairwise(rows.mean(at, "seconds") for at in points)]
    yield holds("MultiTbl does not.", (factor < 2 for factor in factors), f"steps (by {_times(factors)})")


def _times(factors: Sequence[float]) -> str:
    return " to ".join(f"{factor:.1f}" for factor in (min(factors), max(factors))) if factors else "none"


def figure_8_accuracy(rows: Rows, points: Sequence[Setting], long: Sequence[Setting]) -> Iterator[Finding | str]:
    """Accuracy on generated data, also that of Figure 9."""
    runs = rows.of(*points, *long)
    for counted, name in COUNTED.items():
        shares = [getattr(result, f"new_{counted}") for result in runs]
        says = f"Accuracy is 71% to 99% (here: at least 71% of the {name} of new chains, those of Figure 9 too)."
        yield holds(says, (share >= 0.71 for share in shares), f"runs ({_range(shares)})")
        says = f"It is much higher than the 50% of a guess (here: at least 60% of the {name})."
        yield holds(says, (share >= 0.6 for share in shares))
    pairs = [(result.alone_target, result.new_target) for result in rows.of(*points)]
    yield less("All tables predict more target rows than the target table alone.", pairs, digits=1)
    for at in points[-1:]:
        yield (
            f"- *Why joined rows differ from target rows:* with {at.tables} tables, the heaviest 1% of the target rows "
            f"own {100 * rows.mean(at, 'heaviest'):.0f}% of the joined rows. These may be "
            "the rows of one or two keys."
        )
    yield (
        "- *Why long tables do better:* all rows of a key agree in what decides the class, so keys are the examples to "
        f"learn from. Chains of Figure 8 have {SHORT // PER_KEY:,} keys, those of Figure 9 {ROWS[0] // PER_KEY:,} or "
        "more."
    )


def linear(rows: Rows) -> Iterator[Finding | str]:
    """Time against the rows that reach a node."""
    points = rows.where(depth=DEPTH)
    yield per_row(rows, points, "The cost at a node is proportional to the rows that reach it", "reached")
    reached, seconds = ([rows.mean(at, measure) for at in points] for measure in ("reached", "seconds"))
    power = log(seconds[-1] / seconds[0]) / log(reached[-1] / reached[0])
    yield f"- From the shortest to the longest tables, the time grows with the power {power:.2f} of these rows."
    shares = [rows.mean(at, "reached") / rows.mean(at, "source_rows") / DEPTH for at in points]
    yield (
        f"- A source row reaches {min(shares):.2f} to {max(shares):.2f} nodes of a level on average, without the pure "
        "ones."
    )
    yield (
        "- *Why the time per row changes:* each node has a fixed cost, which weighs most in short tables. The longest "
        "tables probably suffer from not fitting into the processor's cache."
    )


FILES = (str(MONDIAL / "religion.csv.gz"), str(UW / "UW_std.sql.gz"))
PAPER = Paper(Setting, Result, FILES, settings, is_quick, run, page)
