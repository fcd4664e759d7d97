"""Charts of public pages, drawn here: `verify` draws them again and compares bytes, on any machine and within limits.

A library would measure text with the fonts it finds, and needs memory and address space that a run may not have.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

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
"""Names to colours; the page's style sheet replaces them by its own, for light and dark screens and for paper."""
TEXT, LINE = "#7a828c", "#a9b0b8"

_LETTER, _SMALL_LETTER = 7, 6  # pixels of a letter, in fonts of 12 and 10 pixels
_TICKS = 5  # about so many
_ABOVE, _BELOW = 25, 43  # pixels for the legend, and for names and title of the axis across
_WIDTH, _HEIGHT = 340, 150  # of the bars of a histogram
_BARS, _SHARES = 30, 300  # height of a row of bars across, and their width


def histogram_chart(histogram: Histogram, colours: Sequence[str], *, across: str, up: str, label: str) -> Markup:
    """Bars side by side for each bin; *colours* are names in `COLOURS`, one for each series.

    Parameters
    ----------
    across, up : str
        Titles of the axes.
    label : str
        What the chart shows, for those who cannot see it.
    """
    ticks = _ticks(max(1, *(max(counts) for counts in histogram.series.values())), whole=True)
    left = 26 + _LETTER * max(len(_short(tick)) for tick in ticks)
    bins, series = len(histogram.starts), list(histogram.series)
    step, unit = _WIDTH / bins, _HEIGHT / ticks[-1]
    gap = 0.09 if bins > 5 else 0.2  # of a bin, on each side of its bars
    bar = step * (1 - 2 * gap) / len(series)
    parts = [_line(0, _HEIGHT - unit * tick, _WIDTH, 0, opacity=0.45) for tick in ticks]
    parts += [_text(-6, _HEIGHT - unit * tick + 4, _short(tick), "end") for tick in ticks]
    parts += [_line(0, _HEIGHT, _WIDTH, 0), _line(0, 0, 0, _HEIGHT)]
    parts += [_text(_WIDTH / 2, _HEIGHT + 36, across), _text(10 - left, _HEIGHT / 2, up, turned=True)]
    free = -math.inf
    for at, start in enumerate(histogram.starts):
        middle, half = (at + 0.5) * step, _LETTER * len(start) / 2
        if middle - half >= free:  # names that would overlap are left out
            parts.append(_text(middle, _HEIGHT + 15, start))
            free = middle + half + 2
    for place, (counts, colour) in enumerate(zip(histogram.series.values(), colours, strict=True)):
        for at, count in enumerate(counts):
            if count:
                x = (at + gap) * step + place * bar
                parts.append(_rectangle(x, _HEIGHT - unit * count, bar, unit * count, colour))
    if len(series) > 1:
        parts += _legend(dict(zip(series, colours, strict=True)))
    return _svg(parts, left, _ABOVE if len(series) > 1 else 8, _WIDTH, _HEIGHT, label)


def limit_chart(
    bars: Sequence[tuple[str, str, float]], colours: Mapping[str, str], *, limit: float, across: str, label: str
) -> Markup:
    """Bars across, each with its row, its series and its share, and a line at the limit.

    *colours* has a name in `COLOURS` for each series.
    """
    rows = list(dict.fromkeys(row for row, _, _ in bars))
    left, height = 10 + _SMALL_LETTER * max(map(len, rows)), _BARS * len(rows)
    most = min(1.0, 1.15 * max(limit, *(share for _, _, share in bars)))
    unit, bar = _SHARES / most, 0.7 * _BARS / len(colours)
    ticks = [tick for tick in _ticks(100 * most) if tick <= 100 * most]
    parts = [_line(unit * tick / 100, 0, 0, height, opacity=0.45) for tick in ticks]
    parts += [_text(unit * tick / 100, height + 15, f"{tick:g}%") for tick in ticks]
    parts += [_line(0, height, _SHARES, 0), _line(0, 0, 0, height), _text(_SHARES / 2, height + 36, across)]
    parts += [_text(-4, _BARS * (at + 0.5) + 3, row, "end", size=10) for at, row in enumerate(rows)]
    for row, series, share in bars:
        y = _BARS * (rows.index(row) + 0.15) + bar * [*colours].index(series)
        parts.append(_rectangle(0, y, unit * share, bar, colours[series]))
    parts += [_line(unit * limit, 0, 0, height, colour=COLOURS["limit"], thick=2), *_legend(colours)]
    return _svg(parts, left, _ABOVE, _SHARES, height, label)


def _ticks(most: float, *, whole: bool = False) -> list[float]:
    """Round numbers from 0, of which the last is not below *most*.

    >>> _ticks(7, whole=True), _ticks(46.0)
    ([0, 2, 4, 6, 8], [0, 10, 20, 30, 40, 50])
    """
    power = 10 ** math.floor(math.log10(most / _TICKS))
    step = next(power * digit for digit in (1, 2, 5, 10) if power * digit * _TICKS >= most)
    step = max(1, round(step)) if whole or step >= 1 else step
    return [step * number for number in range(math.ceil(most / step) + 1)]


def _short(number: float) -> str:
    """A number with its thousands or millions as a letter.

    >>> _short(0), _short(1500), _short(2_000_000)
    ('0', '1.5k', '2M')
    """
    for unit, letter in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if number >= unit:
            return f"{number / unit:g}{letter}"
    return f"{number:g}"


def _legend(colours: Mapping[str, str]) -> list[Markup]:
    parts, at = [], 0
    for name, colour in colours.items():
        parts += [_rectangle(at, -19, 11, 11, colour), _text(at + 16, -9, name, "start")]
        at += 34 + _LETTER * len(name)
    return parts


def _rectangle(x: float, y: float, width: float, height: float, colour: str) -> Markup:
    shape = Markup('<path d="M{},{}h{}v{}h-{}Z" fill="{}"/>')
    return shape.format(*map(_pixels, (x, y, width, height, width)), COLOURS[colour])


def _line(
    x: float, y: float, right: float, down: float, *, colour: str = LINE, thick: int = 1, opacity: float = 1
) -> Markup:
    ends = map(_pixels, (x, y, x + right, y + down))
    drawn = Markup('<line x1="{}" y1="{}" x2="{}" y2="{}" stroke="{}" stroke-width="{}" opacity="{}"/>')
    return drawn.format(*ends, colour, thick, opacity)


def _text(x: float, y: float, text: str, anchor: str = "middle", *, size: int = 12, turned: bool = False) -> Markup:
    turn = " rotate(-90)" if turned else ""
    shape = Markup(
        '<text text-anchor="{}" transform="translate({},{}){}" font-family="sans-serif" font-size="{}px" fill="{}">'
        "{}</text>"
    )
    return shape.format(anchor, _pixels(x), _pixels(y), turn, size, TEXT, text)


def _pixels(length: float) -> str:
    """A length to a hundredth of a pixel; no more: other machines may round the last digits otherwise."""
    return f"{round(length, 2) + 0:.2f}".rstrip("0").rstrip(".")


def _svg(parts: Sequence[Markup], left: float, above: float, width: float, height: float, label: str) -> Markup:
    wide, high = left + width + 8, above + height + _BELOW
    frame = Markup(
        '<svg viewBox="0 0 {0} {1}" role="img" aria-label="{2}">'
        '<g fill="none" transform="translate({3},{4})">{5}</g></svg>'
    )
    return frame.format(_pixels(wide), _pixels(high), label, _pixels(left), _pixels(above), Markup("").join(parts))
