"""What both HTML pages share: the templates, and figures that show a histogram as a chart and as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise

import jinja2
import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from veilset.anonymize import Binding
from veilset.limits import Limits, address_space_left
from veilset.report.binding import curve_sentence
from veilset.report.charts import share_chart
from veilset.report.drawing import COLOURS, histogram_chart
from veilset.report.histograms import Histogram, length_histogram, support_histogram
from veilset.report.text import number, shares, shown

Counts = Mapping[str, npt.NDArray[np.int64]]

_ROOM_TO_DRAW = 150_000_000  # bytes: 75 million that drawing takes and keeps (measured), the rest for what follows
_ADDRESSES_TO_DRAW = 1 << 37  # bytes that the JavaScript engine reserves; without, it ends the process


@dataclass(frozen=True)
class Figure:
    """A chart, the sentence that says what it shows, and its numbers; *widest*: its width in rem, if not the page's."""

    title: str
    says: str
    chart: Callable[..., Markup]
    head: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    widest: float | None = None

    @property
    def columns(self) -> list[tuple[str, str]]:
        """The heads of the table of numbers, and that all but the first are above numbers."""
        return [(head, "n" if at else "") for at, head in enumerate(self.head)]

    def draw(self) -> Markup:
        """The drawing, described for those who cannot see it."""
        return self.chart(label=f"{self.title}. {self.says}")


def can_draw(limits: Limits | None) -> bool:
    """Whether the limits leave memory for charts that a library draws."""
    return (limits or Limits()).bytes_left() >= _ROOM_TO_DRAW and address_space_left() >= _ADDRESSES_TO_DRAW


def render(template: str, /, *, charts: bool = True, **context: object) -> str:
    """A complete page. Item names can hold anything: everything that is not markup of ours is escaped.

    Where charts are left out, their numbers are there all the same.
    """
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
    environment.globals |= {"colours": COLOURS, "charts": charts}
    environment.filters |= {"shown": shown, "number": number, "shares": shares}
    return environment


def support_figure(series: Counts, colours: Sequence[str], *, k: int, says: str) -> Figure | None:
    """How many items are held by how many transactions; None if there is no item."""
    title, across = "Item frequency", "transactions with the item"
    return _figure(support_histogram(series, k), colours, title=title, across=across, up="items", says=says)


def length_figure(series: Mapping[str, Mapping[int, int]], colours: Sequence[str], *, says: str) -> Figure | None:
    """How many transactions have how many items; None if there is no transaction."""
    title, across = "Transaction length", "items in the transaction"
    return _figure(length_histogram(series), colours, title=title, across=across, up="transactions", says=says)


def bucket_figure(sizes: npt.NDArray[np.int64], *, says: str) -> Figure | None:
    """How many buckets have how many transactions; None if there is no bucket."""
    title, across = "Bucket size", "transactions in the bucket"
    different, times = np.unique(sizes, return_counts=True)
    histogram = length_histogram({"buckets": dict(zip(different.tolist(), times.tolist(), strict=True))})
    return _figure(histogram, ["main"], title=title, across=across, up="buckets", says=says)


def violations_figure(by_size: Sequence[int], *, says: str) -> Figure | None:
    """How many sets of known items break a promise, by their size."""
    title, across, first = "Sets of items that break the promise", "items an attacker must know", "Items known"
    histogram = Histogram(tuple(range(1, len(by_size) + 2)), {"sets": tuple(by_size)})
    return _figure(histogram, ["sensitive"], title=title, across=across, up="sets", says=says, first=first)


def curve_figure(binding: Binding) -> Figure:
    """What each p would cost."""
    curve = binding.curve
    points = [("unlimited" if p is None else f"{p:,}", loss) for p, loss in curve.items()]
    across, up = "public items an attacker may know (p)", "average loss" if binding.average else "occurrences lost"
    return Figure(
        title="Loss for each p",
        says=f"{curve_sentence(curve)}.",
        chart=partial(share_chart, points, across=across, up=up),
        head=("p", "Average loss" if binding.average else "Item occurrences lost"),
        rows=[(p, shares(loss)) for p, loss in points],
    )


def _figure(
    histogram: Histogram | None,
    colours: Sequence[str],
    *,
    title: str,
    across: str,
    up: str,
    says: str,
    first: str = "",
) -> Figure | None:
    if histogram is None:
        return None
    first = first or across.capitalize()
    if any(above > low + 1 for low, above in pairwise(histogram.edges)):
        says += " Each bar counts from its number up to the next."
    several = len(histogram.series) > 1
    heads = [f"{up.capitalize()}: {name}" if several else up.capitalize() for name in histogram.series]
    counts = zip(*histogram.series.values(), strict=True)
    return Figure(
        title=title,
        says=says,
        chart=partial(histogram_chart, histogram, colours, across=across, up=up),
        head=(first, *heads),
        rows=[(name, *(f"{count:,}" for count in row)) for name, row in zip(histogram.ranges, counts, strict=True)],
    )
