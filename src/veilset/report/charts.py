"""Charts as inline SVG, drawn by altair: no script, no network, and colours that the page decides.

The page's style sheet replaces the colours below by its own (a style beats an SVG attribute), so that a chart
can be read on light and dark screens and on paper; by themselves they are readable on both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal
from xml.etree import ElementTree

from markupsafe import Markup

from veilset.report.histograms import Histogram

COLOURS = {
    "main": "#3f7fbf",
    "before": "#9aa5b1",
    "sensitive": "#c8772d",
    "limit": "#b3261e",
    # Of a heat map: they differ in lightness too, so that a print without colours shows the same.
    "negative": "#8a3a0a",
    "zero": "#e9edf2",
    "positive": "#74a9dc",
}
_BARS, _LETTER = 30, 6  # pixels of the bars of a row, and of a letter
_CELL, _SMALLEST = 15, 90  # pixels of a cell of a heat map, and of a side of it
_TEXT, _LINE = "#7a828c", "#a9b0b8"
_DRAWN = {"svg", "g", "path", "line", "rect", "text"}
_KEPT = re.compile(r"d|[xy][12]?|width|height|viewBox|transform|fill|stroke|stroke-width|opacity|text-anchor|font-.*")
_DECIMALS = re.compile(r"\d+\.\d{3,}")  # a hundredth of a pixel is enough


def histogram_chart(histogram: Histogram, colours: Sequence[str], *, across: str, up: str, label: str) -> Markup:
    """Bars side by side for each bin; *colours* are names in `COLOURS`, one for each series.

    Parameters
    ----------
    across, up : str
        Titles of the axes.
    label : str
        What the chart shows, for those who cannot see it.
    """
    import altair as alt  # noqa: PLC0415 - takes a quarter of a second, which only pages need

    values = [
        {"bin": start, "count": count, "series": name}
        for name, counts in histogram.series.items()
        for start, count in zip(histogram.starts, counts, strict=True)
    ]
    names = list(histogram.series)
    chart = (
        alt.Chart(alt.InlineData(values=values))
        .mark_bar()
        .encode(
            x=alt.X(
                "bin:N",
                sort=None,
                title=across,
                scale=alt.Scale(paddingInner=0.18 if len(histogram.starts) > 5 else 0.6),
            ),
            xOffset=alt.XOffset("series:N", sort=names),
            y=alt.Y("count:Q", title=up, axis=alt.Axis(format="~s", tickMinStep=1, tickCount=5)),
            color=_colours("series:N", dict(zip(names, colours, strict=True)), legend=len(names) > 1),
        )
        .properties(width=340, height=150)
    )
    return _svg(chart, label)


def share_chart(points: Sequence[tuple[str, float]], *, across: str, up: str, label: str) -> Markup:
    """A line through shares from 0 to 1, one for each name on the axis across."""
    import altair as alt  # noqa: PLC0415

    values = [{"at": name, "share": share} for name, share in points]
    chart = (
        alt.Chart(alt.InlineData(values=values))
        .mark_line(point=alt.OverlayMarkDef(size=60, filled=True, color=COLOURS["main"]), color=COLOURS["main"])
        .encode(
            x=alt.X("at:N", sort=None, title=across),
            y=alt.Y("share:Q", title=up, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%", tickCount=5)),
        )
        .properties(width=340, height=150)
    )
    return _svg(chart, label)


def limit_chart(
    bars: Sequence[tuple[str, str, float]], colours: Mapping[str, str], *, limit: float, across: str, label: str
) -> Markup:
    """Bars across, each with its row, its series and its share, and a line at the limit.

    *colours* has a name in `COLOURS` for each series.
    """
    import altair as alt  # noqa: PLC0415

    values = [{"row": row, "series": series, "share": share} for row, series, share in bars]
    rows, most = {row for row, _, _ in bars}, max(limit, *(share for _, _, share in bars))
    names = _name_axis("left", minExtent=_LETTER * max(map(len, rows)))  # whatever font the page has
    scale = alt.Scale(domain=[0, min(1.0, 1.15 * most)])
    x = alt.X("share:Q", title=across, scale=scale, axis=alt.Axis(format="~%", tickCount=5, grid=True))
    drawn = (
        alt.Chart(alt.InlineData(values=values))
        .mark_bar()
        .encode(
            x=x,
            y=alt.Y("row:N", sort=None, title=None, axis=names, scale=alt.Scale(paddingInner=0.3)),
            yOffset=alt.YOffset("series:N", sort=list(colours)),
            color=_colours("series:N", colours),
        )
    )
    line = (
        alt.Chart(alt.InlineData(values=[{"share": limit}]))
        .mark_rule(color=COLOURS["limit"], strokeWidth=2)
        .encode(x=alt.X("share:Q", scale=scale))
    )
    return _svg(alt.layer(drawn, line).properties(width=300, height=_BARS * len(rows)), label)


def heat_map(
    cells: Sequence[tuple[str, str, int]], values: Mapping[int, str], *, across: str, down: str, label: str
) -> Markup:
    """A grid of cells, each with its row, its column and -1, 0 or 1; *values* says how these are written."""
    import altair as alt  # noqa: PLC0415

    shown = [{"row": row, "column": column, "value": values[value]} for row, column, value in cells]
    rows, columns = len({row for row, _, _ in cells}), len({column for _, column, _ in cells})
    colours = {values[-1]: "negative", values[0]: "zero", values[1]: "positive"}
    chart = (
        alt.Chart(alt.InlineData(values=shown))
        .mark_rect(stroke=_LINE, strokeWidth=0.5)
        .encode(
            x=alt.X("column:N", sort=None, title=across, axis=_name_axis("top", labelAngle=-60, labelAlign="left")),
            y=alt.Y("row:N", sort=None, title=down, axis=_name_axis("left")),
            color=_colours("value:N", colours, orient="bottom", symbolStrokeWidth=0.5),
        )
        .properties(width=max(_SMALLEST, _CELL * columns), height=max(_SMALLEST, _CELL * rows))
    )
    return _svg(chart, label)


def _colours(field: str, colours: Mapping[str, str], *, legend: bool = True, **more: Any) -> Any:
    """A colour for each value of a field, by its name in `COLOURS`, and what the legend says of them."""
    import altair as alt  # noqa: PLC0415

    scale = alt.Scale(domain=list(colours), range=[COLOURS[colour] for colour in colours.values()])
    shown = alt.Legend(**{"orient": "top", "title": None, "symbolType": "square", **more}) if legend else None
    return alt.Color(field, sort=None, scale=scale, legend=shown)


def _name_axis(side: Literal["top", "left"], **more: Any) -> Any:
    """An axis with all names, however many there are."""
    import altair as alt  # noqa: PLC0415

    return alt.Axis(orient=side, labelOverlap=False, labelLimit=180, labelFontSize=10, labelPadding=4, **more)


def _svg(chart: Any, label: str) -> Markup:
    import vl_convert  # noqa: PLC0415

    styled = (
        chart.configure(background="transparent", font="sans-serif", aria=False)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=_TEXT,
            titleColor=_TEXT,
            gridColor=_LINE,
            gridOpacity=0.45,
            domainColor=_LINE,
            ticks=False,
            labelFontSize=12,
            titleFontSize=12,
            titleFontWeight="normal",
            labelPadding=6,
            titlePadding=10,
        )
        .configure_axisX(grid=False, labelAngle=0, labelOverlap="greedy")
        .configure_legend(labelColor=_TEXT, labelFontSize=12, symbolSize=110, offset=8, columnPadding=18)
    )
    return _clean(vl_convert.vegalite_to_svg(styled.to_dict()), label)


def _clean(svg: str, label: str) -> Markup:
    """The drawing alone: only the elements and attributes that draw, everything in it escaped anew."""
    root = _drawing(ElementTree.fromstring(svg))  # noqa: S314 - our own renderer wrote it
    for side in ("width", "height"):  # it is as wide as its column, also on a phone; the viewBox keeps its shape
        root.attrib.pop(side)
    root.set("role", "img")
    root.set("aria-label", label)
    return Markup(ElementTree.tostring(root, encoding="unicode"))  # noqa: S704 - escaped by the line above


def _drawing(element: ElementTree.Element) -> ElementTree.Element:
    kept = ElementTree.Element(element.tag.rpartition("}")[2])
    for name, value in element.attrib.items():
        if _KEPT.fullmatch(name):
            kept.set(name, _DECIMALS.sub(lambda match: f"{float(match[0]):.2f}", value))
    kept.text = element.text
    for child in element:
        if (
            child.tag.rpartition("}")[2] in _DRAWN
            and child.get("display") != "none"
            and child.get("d") != "M0,0h0v0h0Z"
        ):
            kept.append(_drawing(child))
    return kept
