"""What both HTML pages share: the templates, and figures that show a histogram as a chart and as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import jinja2
import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from veilset.anonymize import Curve
from veilset.limits import Limits
from veilset.report.charts import COLOURS, histogram_chart, share_chart
from veilset.report.histograms import Histogram, length_histogram, support_histogram
from veilset.report.text import NUMBERS, braced, number, shares, shown
from veilset.report.words import curve_sentence

__all__ = ["Figure", "bucket_figure", "curve_figure", "length_figure", "render", "support_figure", "ways_figure"]

Counts = Mapping[str, npt.NDArray[np.int64]]

_ROOM_TO_DRAW = 150_000_000  # bytes: 75 million that drawing takes and keeps (measured), the rest for what follows


@dataclass(frozen=True)
class Figure:
    """A chart, the sentence that says what it shows, and its numbers; *widest*: its width in rem, if not the page's."""

    title: str
    says: str
    draw: Callable[[], Markup]
    head: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    widest: float | None = None


def render(template: str, limits: Limits | None, /, **context: object) -> str:
    """A complete page. Item names can hold anything: everything that is not markup of ours is escaped.

    Charts are left out where the limits leave no memory for drawing; their numbers are there in any case.
    """
    charts = (limits or Limits()).bytes_left() >= _ROOM_TO_DRAW
    return _environment(charts=charts).get_template(template).render(context)


@cache
def _environment(*, charts: bool) -> jinja2.Environment:
    """The templates, compiled once."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("veilset", "report/templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals |= {"colours": COLOURS, "numbers": NUMBERS, "charts": charts}
    environment.filters |= {"braced": braced, "shown": shown, "number": number, "shares": shares}
    return environment


def support_figure(series: Counts, colours: Sequence[str], *, k: int, says: str) -> Figure | None:
    """How many items are held by how many transactions; None if there is no item."""
    return _figure(
        support_histogram(series, k),
        colours,
        title="How often items occur",
        across="transactions that hold the item",
        up="items",
        first="Transactions that hold the item",
        says=says,
    )


def length_figure(series: Counts, colours: Sequence[str], *, says: str) -> Figure | None:
    """How many transactions have how many items; None if there is no transaction."""
    return _figure(
        length_histogram(series),
        colours,
        title="How long transactions are",
        across="items in the transaction",
        up="transactions",
        first="Items in the transaction",
        says=says,
    )


def bucket_figure(sizes: npt.NDArray[np.int64], *, says: str) -> Figure | None:
    """How many buckets have how many transactions; None if there is no bucket."""
    return _figure(
        length_histogram({"buckets": sizes}),
        ["main"],
        title="How large buckets are",
        across="transactions in the bucket",
        up="buckets",
        first="Transactions in the bucket",
        says=says,
    )


def ways_figure(by_size: Sequence[int], *, says: str) -> Figure | None:
    """In how many ways a promise can be broken, by the number of items known."""
    return _figure(
        Histogram(tuple(range(1, len(by_size) + 2)), {"ways": tuple(by_size)}),
        ["sensitive"],
        title="Ways to break the promise",
        across="items an attacker must know",
        up="ways",
        first="Items known",
        says=says,
    )


def curve_figure(curve: Curve) -> Figure:
    """What each p would cost."""
    title, says = "What each p would cost", f"{curve_sentence(curve)}."
    points = [("unlimited" if p is None else f"{p:,}", loss) for p, loss in curve.items()]
    across = "public items an attacker may know (p)"
    return Figure(
        title=title,
        says=says,
        draw=lambda: share_chart(points, across=across, up="share of item occurrences lost", label=f"{title}. {says}"),
        head=("p", "Item occurrences lost"),
        rows=[(p, shares(loss)) for p, loss in points],
    )


def _figure(
    histogram: Histogram | None,
    colours: Sequence[str],
    *,
    title: str,
    across: str,
    up: str,
    first: str,
    says: str,
) -> Figure | None:
    if histogram is None:
        return None
    if any(above > low + 1 for low, above in pairwise(histogram.edges)):
        across += " (each bar: from this number to below the next)"
    several = len(histogram.series) > 1
    heads = [f"{up.capitalize()}: {name}" if several else up.capitalize() for name in histogram.series]
    counts = zip(*histogram.series.values(), strict=True)
    return Figure(
        title=title,
        says=says,
        draw=lambda: histogram_chart(histogram, colours, across=across, up=up, label=f"{title}. {says}"),
        head=(first, *heads),
        rows=[(name, *(f"{count:,}" for count in row)) for name, row in zip(histogram.ranges, counts, strict=True)],
    )
