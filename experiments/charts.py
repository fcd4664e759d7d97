"""Lines with 95% intervals, as SVG that can be read on light and dark pages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import Any

import altair as alt
import vl_convert

COLOURS = {
    "tree": "#3f7fbf",
    "auto": "#4f9d69",
    "border": "#c8772d",
    "optimal": "#8e5bb5",
    "proven bound": "#b79fcb",
    "remove-all": "#9aa5b1",
    "k-anonymity": "#6b7580",
    "top-down": "#4f9d69",
    "TDControl": "#3f7fbf",
    "SuppressControl": "#c8772d",
    "Simple": "#9aa5b1",
    "select-a-size": "#8e5bb5",
    "proven floor": "#6b7580",
    "HF": "#c8772d",
    "HF, text": "#8e5bb5",
    "NHF": "#4f9d69",
    "HPCME": "#3f7fbf",
    "HF certified": "#e3b27f",
    "NHF certified": "#a3cfb2",
    "HPCME certified": "#9dc0e6",
}
_OTHERS = ("#3f7fbf", "#c8772d", "#4f9d69", "#8e5bb5", "#6b7580")  # for lines that are no methods
_GREY, _LINE = "#7a828c", "#a9b0b8"
_T = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447}  # Student's t for 95%, by the number of values


@dataclass(frozen=True)
class Value:
    """A mean with its 95% interval; of one value, the interval is that value."""

    mean: float
    half: float
    count: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Value:
        """The mean of some values."""
        half = _T[len(values)] * stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
        return cls(fmean(values), half, len(values))

    @property
    def percent(self) -> str:
        """As text, with the interval if there is one."""
        if self.count == 1:
            return f"{100 * self.mean:.1f}%"
        return f"{100 * self.mean:.1f} ± {100 * self.half:.1f}%"


@dataclass(frozen=True)
class Panel:
    """One chart of a row of charts: the lines by their names, each a value for some points on the axis."""

    across: str
    points: Sequence[str]
    lines: dict[str, dict[str, Value]] = field(default_factory=dict)


def draw(panels: Sequence[Panel], up: str, *, shares: bool, log: bool) -> str:
    """Panels side by side, with one legend; *log*: values go up by powers of ten."""
    names = list(dict.fromkeys(name for panel in panels for name in panel.lines))
    colours = [COLOURS.get(name, _OTHERS[number % len(_OTHERS)]) for number, name in enumerate(names)]
    scale = alt.Scale(domain=names, range=colours)
    drawn = [
        _panel(panel, scale, up if number == 0 else "", shares=shares, log=log) for number, panel in enumerate(panels)
    ]
    chart = (
        alt.hconcat(*drawn, spacing=24)
        .configure(background="transparent", font="sans-serif")
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=_GREY, titleColor=_GREY, gridColor=_LINE, gridOpacity=0.45, domainColor=_LINE, ticks=False
        )
        .configure_axisX(grid=False, labelAngle=0)
        .configure_legend(labelColor=_GREY, orient="bottom", labelLimit=300)
    )
    return str(vl_convert.vegalite_to_svg(chart.to_dict())) + "\n"


def _panel(panel: Panel, colours: alt.Scale, up: str, *, shares: bool, log: bool) -> Any:
    values = [
        {
            "at": at,
            "line": name,
            "mean": value.mean,
            "low": max(value.mean - value.half, _lowest(value, shares=shares, log=log)),
            "high": value.mean + value.half if not shares else min(1.0, value.mean + value.half),
        }
        for name, line in panel.lines.items()
        for at, value in line.items()
    ]
    scale, axis = alt.Scale(zero=True), alt.Axis(tickCount=5)
    if shares:
        scale, axis = alt.Scale(domain=[0, 1]), alt.Axis(format="%", tickCount=5)
    elif log:
        scale, axis = alt.Scale(type="log"), alt.Axis(values=[10.0**power for power in range(-6, 12)], format=",")
    names, width = list(panel.lines), max(130, 44 * len(panel.points))
    base = alt.Chart(alt.InlineData(values=values), width=width, height=200).encode(
        x=alt.X(
            "at:N",
            sort=list(panel.points),
            title=panel.across,
            scale=alt.Scale(domain=list(panel.points), paddingInner=0.5),
        ),
        xOffset=alt.XOffset(
            "line:N", sort=names, scale=alt.Scale(domain=names)
        ),  # lines that agree are seen side by side
        color=alt.Color("line:N", title=None, scale=colours),
    )
    y = alt.Y("mean:Q", title=up or None, scale=scale, axis=axis)
    lines = base.mark_line(opacity=0.85).encode(y=y)
    spans = base.mark_rule(opacity=0.6).encode(y=alt.Y("low:Q", title=up or None, scale=scale, axis=axis), y2="high:Q")
    return lines + spans + base.mark_point(filled=True, size=36, opacity=0.9).encode(y=y)


def _lowest(value: Value, *, shares: bool, log: bool) -> float:
    """Where an interval is cut off: a logarithmic axis has no zero."""
    return 0.0 if shares else value.mean / 10 if log else -math.inf
