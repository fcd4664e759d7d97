"""The page about the experiments, from nothing but the rows of coherence.csv: charts, tables and what they say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import coherence_words as words
from charts import Panel, draw
from coherence_measures import Rows, bound, later_loss, loss, mole_seconds, nugget_loss, rate, seconds, shown
from coherence_runs import CONNECT, NUGGETS, RETAIL, Result, Setting
from coherence_verdicts import Facts

LETTERS = {"p": "p", "k": "k", "delta": "δ", "h": "h"}
METHODS = ("tree", "auto", "border", "optimal", "remove-all", "k-anonymity")


def item_panels(rows: Rows, default: Setting) -> list[Panel]:
    """Figures 20 and 22: loss of items against p, k, δ and h."""
    panels = []
    for letter, name in LETTERS.items():
        points = [shown(letter, value) for value in rows.points(default, letter)]
        lines = {method: rows.line(replace(default, method=method), letter, loss) for method in METHODS}
        least = rows.line(replace(default, method="optimal"), letter, bound)
        lines["proven bound"] = {at: value for at, value in least.items() if value.mean < lines["optimal"][at].mean}
        panels.append(Panel(name, points, {name: line for name, line in lines.items() if line}))
    return panels


def nugget_panels(rows: Rows, default: Setting, shares: Sequence[str]) -> list[Panel]:
    """Figures 21 and 23: loss of nuggets against k."""
    panels = []
    for share in shares:
        at = replace(default, nugget_share=share)
        lines = {method: rows.line(replace(at, method=method), "k", nugget_loss) for method in METHODS}
        points = [str(k) for k in rows.points(at, "k")]
        panels.append(Panel(f"k, with k' = {share}", points, {name: line for name, line in lines.items() if line}))
    return panels


def time_panels(rows: Rows, defaults: Iterable[Setting], letter: str) -> list[Panel]:
    """Figures 24 to 26: CPU time of the tree method."""
    panels = []
    for default in defaults:
        at = replace(default, method="tree")
        points = [shown(letter, value) for value in rows.points(at, letter)]
        lines = {"in all": rows.line(at, letter, seconds), "search for moles": rows.line(at, letter, mole_seconds)}
        panels.append(Panel(f"{LETTERS[letter]}, {default.data}", points, lines))
    return panels


def border_panels(rows: Rows, by_k: Setting, by_h: Setting, shares: Sequence[str]) -> list[Panel]:
    """Figures 27 and 28: CPU time of the border method."""
    panels = []
    for letter, setting in (("k", by_k), ("h", by_h)):
        at = replace(setting, method="border")
        lines = {f"k' = {share}": rows.line(replace(at, nugget_share=share), letter, seconds) for share in shares}
        points = [shown(letter, value) for value in rows.points(replace(at, nugget_share=shares[-1]), letter)]
        panels.append(Panel(letter, points, {name: line for name, line in lines.items() if line}))
    return panels


def preprocessing_table(rows: Rows, default: Setting) -> list[str]:
    """Losses at the default setting, of the raw data and of what pre-processing leaves."""
    table = ["| method | of the raw data | after pre-processing |", "|---|---|---|"]
    for method in METHODS:
        at = replace(default, method=method)
        if (whole := rows.value(at, loss)) is not None:
            table.append(f"| `{method}` | {whole.percent} | {rows.value(at, later_loss).percent} |")
    return table


def compression_table(rows: Rows, default: Setting) -> list[str]:
    """Edges for each itemset they stand for."""
    names = ("data", "k'", "border of", "k", "edges", "itemsets", "edges per itemset", "as the thesis counts")
    table = [_row(*names), "|---" * len(names) + "|"]
    for name, of in NUGGETS.items():
        for share, kind in ((share, kind) for share in of for kind in ("nugget", "mole")):
            at = replace(default, data=name, nugget_share=share, method=f"{kind} border")
            for k in rows.points(at, "k"):
                for result in rows.at(replace(at, k=k)):
                    sizes = [name, share, f"{kind}s", "any" if kind == "nugget" else k]
                    rates = [rate(result.edges, of) for of in (result.itemsets, result.covered)]
                    table.append(_row(*sizes, f"{result.edges:,}", f"{result.itemsets:,}", *rates))
    return table


def optimum_table(rows: Rows, settings: Iterable[Setting]) -> list[str]:
    """Losses next to what is proven to be the least."""
    names = ("tree", "auto", "remove-all", "k-anonymity", "optimal")
    table = [_row("data", "k", "p", *(f"`{name}`" for name in names), "at least"), "|---" * 9 + "|"]
    for setting in settings:
        values = [rows.value(replace(setting, method=name), loss) for name in names]
        least = rows.value(replace(setting, method="optimal"), bound)
        if all(value is None for value in values):
            continue
        texts = ["–" if value is None else f"{100 * value.mean:.2f}%" for value in values]
        proven = "–" if least is None else f"{100 * least.mean:.2f}%"
        if least is not None and least.mean >= values[-1].mean:
            proven = "proven"
        table.append(_row(setting.data, setting.k, setting.p, *texts, proven))
    return table


def _row(*cells: object) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def write_page(out: Path, results: dict[Setting, Result], table: Sequence[Setting], *, quick: bool) -> None:
    """Draw the charts and write coherence.md."""
    rows = Rows(results)
    whole = {name: Setting(name, 100, 100, 10, None, "") for name in NUGGETS}
    by_h = {
        "Connect": Setting("Connect", 100, 20, 50, 4, "", cap=20),
        "Retail": Setting("Retail", 100, 20, 10, 4, "", cap=20),
    }
    charts = {
        "20": draw(item_panels(rows, CONNECT), "loss of items", shares=True),
        "21": draw(nugget_panels(rows, whole["Connect"], NUGGETS["Connect"]), "loss of nuggets", shares=True),
        "22": draw(item_panels(rows, RETAIL), "loss of items", shares=True),
        "23": draw(nugget_panels(rows, whole["Retail"], NUGGETS["Retail"]), "loss of nuggets", shares=True),
        "24": draw(time_panels(rows, (CONNECT, RETAIL), "delta"), "CPU seconds", shares=False),
        "25": draw(time_panels(rows, (CONNECT, RETAIL), "k"), "CPU seconds", shares=False),
        "26": draw(time_panels(rows, (CONNECT, RETAIL), "p"), "CPU seconds", shares=False),
    }
    for number, name in (("27", "Connect"), ("28", "Retail")):
        panels = border_panels(rows, whole[name], by_h[name], NUGGETS[name])
        charts[number] = draw(panels, "CPU seconds", shares=False)
    tables = {
        "20": preprocessing_table(rows, CONNECT),
        "22": preprocessing_table(rows, RETAIL),
        "compression": compression_table(rows, whole["Connect"]),
        "optimum": optimum_table(rows, table),
    }
    for number, svg in charts.items():
        (out / f"coherence-{number}.svg").write_text(svg, "utf-8")
    text = words.page(Facts(rows, results), tables, list(charts), quick=quick)
    (out / "coherence.md").write_text(text, "utf-8")
