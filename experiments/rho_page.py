"""The page about the experiments on ρ-uncertainty, from nothing but the rows of rho.csv."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from charts import Panel, draw
from rho_findings import Axis, Measure, Rows, findings, loss, seconds
from rho_runs import LONG_SELECTIONS, METHOD, POS, SECONDS, Result, Setting

INTRODUCTION = f"""# Experiments: what ρ-uncertainty costs

Figures 5 to 11 of the paper that ρ-uncertainty comes from (Cao, Karras, Raïssi, Tan, VLDB 2010, §6), measured again
with our methods. Made by `make experiments` from the rows of [rho.csv](rho.csv), {{runs:,}} runs; what the paper found
is compared with these rows by counting.

## What was done

- **Data**: BMS-WebView-1, BMS-WebView-2, and instead of BMS-POS, which is not to be had, a generated set of its size:
  `vs.generate.pos_like(transactions={POS["transactions"]:_}, items={POS["items"]},
  average_length={POS["average_length"]}, maximum_length={POS["maximum_length"]})`. Its items are as frequent as Zipf's
  law says, and occur independently of each other, which those of a shop do not. Figures 6 to 11 use it, as the paper
  uses BMS-POS.
- **Defaults**, as in the paper: ρ = 50%, 40% of the items sensitive, a taxonomy by fan-out 4 over the public items in
  order of their numbers. Figures 7 to 10: the 300,000 shortest transactions.
- **Selections** of sensitive items: {{selections}}, `random.Random(seed).shuffle(sorted(names))`, the first 40%; no
  more than {LONG_SELECTIONS} for more than 300,000 transactions of the generated set. Points are means, vertical lines
  their 95% intervals (Student's t); every method gets the same selections.
- **Methods**: `TDControl` and `SuppressControl` as the paper has them, with the corrections that the code names
  (`plain=True`); `top-down`, our default, which also tries other ways and puts back what need not have gone; `Simple`,
  which removes all sensitive items (`remove-sensitive`); in Figure 11 also `select-a-size`, which falsifies data and
  promises nothing. Each may take {SECONDS} seconds and 2 GB; {{stopped}} runs did not come to an end, and a point with
  such a run is missing in the charts.
- **Loss**: the average loss of an item occurrence (§3.2): 1 if it is gone; under a coarser name, the share of all
  public items that it may mean.
- **Proven floor** (Figure 5): what every method loses at least, because of rules made of sensitive items alone.
- **Checks**: the auditor certified every release before its numbers were used.
- **Times** are CPU seconds of the method, on a machine that did other work too: expect them to be off by a third."""

TITLES = {
    "5": "the data sets",
    "6": "prefixes of the data, the shortest transactions first",
    "7": "ρ",
    "8": "fan-out of the taxonomy",
    "9": "share of sensitive items",
    "10": "number of items",
    "11": "a comparison to select-a-size",
}
LINES = {"5": (*METHOD, "proven floor"), "11": ("top-down", "TDControl", "select-a-size")}  # others: all methods
_NAMES = {"prefix": "transactions", "rho": "ρ", "fan_out": "fan-out", "sensitive": "sensitive items", "items": "items"}


def axes_of(results: dict[Setting, Result]) -> dict[str, list[Axis]]:
    """What each figure has across, as far as it was run."""
    default = Setting("POS-like", "", prefix=300_000)

    def axis(letter: str, at: Setting, methods: Sequence[str] = tuple(METHOD)) -> Axis:
        free = {letter: getattr(at, letter), "method": "", "seed": 0}
        found = dict.fromkeys(
            getattr(other, letter)
            for other in results
            if other.method in methods and replace(other, **free) == replace(at, **free)
        )
        points = list(found) if letter == "data" else sorted(found, key=lambda point: (point is None, point))
        return Axis(letter, points, at)

    return {
        "5": [axis("data", Setting("", "", longest=longest), (*METHOD, "proven floor")) for longest in (5, None)],
        "6": [replace(axis("prefix", default), points=_prefixes(results))],
        "7": [axis("rho", default)],
        "8": [axis("fan_out", default, ("TDControl", "top-down"))],
        "9": [axis("sensitive", default)],
        "10": [axis("items", default)],
        "11": [
            replace(axis("prefix", default), points=_prefixes(results)),
            axis("rho", Setting("POS-like", "", longest=5), ("TDControl", "top-down", "select-a-size")),
        ],
    }


def _prefixes(results: dict[Setting, Result]) -> list[int]:
    """Those of Figures 6 and 11, where nothing else leaves its default."""
    plain = {setting.prefix for setting in results if setting.data == "POS-like" and setting.method == "select-a-size"}
    return sorted(prefix for prefix in plain if prefix is not None)


def panels(rows: Rows, axes: Sequence[Axis], methods: Sequence[str], measure: Measure) -> list[Panel]:
    """One chart for each axis."""
    made = []
    for axis in axes:
        lines = {method: axis.line(rows, method, measure) for method in methods}
        shown = {
            method: {_shown(axis.letter, point): value for point, value in line.items()}
            for method, line in lines.items()
            if line
        }
        made.append(Panel(_across(axis), [_shown(axis.letter, point) for point in axis.points], shown))
    return [panel for panel in made if panel.lines]


def _across(axis: Axis) -> str:
    if axis.letter == "data":
        return "any length" if axis.default.longest is None else f"up to {axis.default.longest} items"
    return _NAMES[axis.letter]


def _shown(letter: str, point: object) -> str:
    if letter == "data":
        return str(point).replace("WebView-", "WV")
    if letter in ("rho", "sensitive"):
        return f"{point}%"
    if letter == "prefix":
        return f"{point / 1000:g}k"
    return "all" if point is None else f"{point:,}" if isinstance(point, int) else str(point)


def data_table(rows: Rows, axes: Sequence[Axis]) -> list[str]:
    """Figure 5 in numbers, with the floor and with what is left of sensitive items."""
    columns = (
        "data",
        "transactions",
        "longest",
        *METHOD,
        "proven floor",
        "of Simple",
        "sensitive kept",
        "top-down came from",
    )
    table = [_row(*columns), "|---" * len(columns) + "|"]
    for axis in axes:
        for name in axis.points:
            runs = rows.at(axis.at(name, "Simple")) or rows.at(axis.at(name, "proven floor"))
            if not runs:
                continue
            size = next(iter(runs.values()))
            values = {method: rows.value(axis.at(name, method), loss) for method in (*METHOD, "proven floor")}
            floor, simple = values["proven floor"], values["Simple"]
            share = "–" if floor is None or simple is None else f"{100 * floor.mean / simple.mean:.0f}%"
            ours = rows.at(axis.at(name, "top-down")).values()
            kept = [result.sensitive_kept for result in ours if result.sensitive_kept is not None]
            ways = "; ".join(sorted({result.way for result in ours if result.way}))
            table.append(
                _row(
                    name,
                    f"{size.transactions:,}",
                    size.most_items,
                    *("–" if value is None else value.percent for value in values.values()),
                    share,
                    f"{100 * fmean(kept):.1f}%" if kept else "–",
                    ways or "–",
                )
            )
    return table


def _row(*cells: object) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def write_page(out: Path, results: dict[Setting, Result], *, quick: bool) -> None:
    """Draw the charts and write rho.md."""
    rows, axes = Rows(results), axes_of(results)
    counts = {
        "runs": len(results),
        "selections": len({setting.seed for setting in results}),
        "stopped": sum(bool(result.note) for result in results.values()),
    }
    parts = [INTRODUCTION.format(**counts)]
    if quick:
        parts.append("This is a quick run: few points, one selection.")
    agreed = findings(rows, axes)
    for number, title in TITLES.items():
        parts.append(f"## Figure {number}: {title}")
        methods = LINES.get(number, tuple(METHOD))
        for kind, measure, up in (("", loss, "average loss"), ("-time", seconds, "CPU seconds")):
            shown = methods if measure is loss else tuple(METHOD)
            if charts := panels(rows, axes[number], shown, measure) if (kind, number) != ("-time", "11") else []:
                name = f"rho-{number}{kind}.svg"
                (out / name).write_text(draw(charts, up, shares=measure is loss), "utf-8")
                parts.append(f"![{up} against {title}]({name})")
        if number == "5":
            parts.append("\n".join(data_table(rows, axes[number])))
        parts.append("What the paper found:\n\n" + "\n".join(map(str, agreed[number])))
    (out / "rho.md").write_text("\n\n".join(parts) + "\n", "utf-8")
