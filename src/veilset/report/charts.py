"""Charts of the custodian's page as inline SVG, drawn by altair: no script, no network, colours that the page decides.

The page's style sheet replaces the colours below by its own (a style beats an SVG attribute), so that a chart
can be read on light and dark screens and on paper; by themselves they are readable on both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal
from xml.etree import ElementTree

from markupsafe import Markup

from veilset.report.drawing import COLOURS, LINE, TEXT

_CELL, _SMALLEST = 15, 90  # pixels of a cell of a heat map, and of a side of it
_DRAWN = {"svg", "g", "path", "line", "rect", "text"}
_KEPT = re.compile(r"d|[xy][12]?|width|height|viewBox|transform|fill|stroke|stroke-width|opacity|text-anchor|font-.*")
_DECIMALS = re.compile(r"\d+\.\d{3,}")  # a hundredth of a pixel is enough


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
        .mark_rect(stroke=LINE, strokeWidth=0.5)
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
            labelColor=TEXT,
            titleColor=TEXT,
            gridColor=LINE,
            gridOpacity=0.45,
            domainColor=LINE,
            ticks=False,
            labelFontSize=12,
            titleFontSize=12,
            titleFontWeight="normal",
            labelPadding=6,
            titlePadding=10,
        )
        .configure_axisX(grid=False, labelAngle=0, labelOverlap="greedy")
        .configure_legend(labelColor=TEXT, labelFontSize=12, symbolSize=110, offset=8, columnPadding=18)
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
