"""Partial suppression: what deleting single occurrences keeps of what whole items lose. ``make bench`` runs this."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from time import process_time

from measuring import in_child, peak_memory
from rho import with_sensitive_items

import veilset as vs
from veilset.utility.generalization import average_loss

__all__ = ["run"]

_FILES = {
    "Groceries": "groceries/groceries.dat.gz",
    "WebView-1": "bms-webview-1/BMS-WebView-1.dat.gz",
    "WebView-2": "bms-webview-2/BMS-WebView-2.dat.gz",
    "Retail": "fimi-retail/retail.dat.gz",
    "Connect": "fimi-connect/connect.dat.gz",
}
# Data, k, p, and how many percent of the occurrences may be lost: with normal effort, and with high.
_COHERENCE = [
    ("Groceries", 20, 2, 31.0, 30.0),
    ("Groceries", 20, 4, 62.0, 57.5),
    ("WebView-1", 20, 2, 31.0, 26.0),
    ("WebView-1", 20, 4, 34.0, 33.5),
    ("WebView-1", 5, 4, 29.0, 28.5),
    ("WebView-2", 20, 2, 61.0, 56.0),
    ("WebView-2", 20, 4, 66.5, 61.0),
    ("Retail", 20, 2, 73.5, 71.8),
    ("Retail", 20, 4, 77.3, 76.2),
    ("Connect", 20, 2, 0.12, None),
    ("Connect", 20, 4, 6.5, None),
]
# Data, longest transaction, and the average loss to reach.
_RHO = [("WebView-1", 5, 0.076), ("WebView-1", None, 0.172), ("WebView-2", 5, 0.154), ("Groceries", None, 0.226)]
_ABOUT = """
`partial` deletes single occurrences, `auto` whole items: occurrences lost at h = 1. *High* is `effort="high"` with a
fixed seed; in brackets, the target. No release of single occurrences can lose less than the *bound*. Every release was
certified. Seconds of processor time (and megabytes) of normal and high effort: two threads, audits included.
"""
_ABOUT_RHO = """
For ρ = ½, two items in five sensitive: average loss of `partial`, which also keeps ρ in the original, and of
`top-down`.
"""


@dataclass(frozen=True)
class _Run:
    """What a method did to one set of data."""

    loss: float
    average_loss: float
    bound: float
    seconds: float
    memory: int


def run(folder: Path) -> list[str]:
    """Sections of the results, as lines of Markdown."""
    return [*_coherence(folder), "", *_rho(folder)]


def _coherence(folder: Path) -> list[str]:
    lines = [
        *_ABOUT.strip().splitlines(),
        "",
        "| data, k, p | `auto` | `partial` | high | bound | normal: seconds, MB | high: seconds, MB |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, k, p, most, least in _COHERENCE:
        promise = vs.Coherence(h=1, k=k, p=p)
        whole = in_child(_released, folder / _FILES[name], promise, "auto")
        ours = in_child(_released, folder / _FILES[name], promise, "partial")
        assert ours.bound <= ours.loss <= whole.loss, (name, k, p, ours, whole)
        high, told = "", ""
        if least is not None:
            more = in_child(_released, folder / _FILES[name], promise, "partial", effort="high", random_state=1)
            assert more.bound <= more.loss <= ours.loss, (name, k, p, more, ours)
            high, told = f"**{100 * more.loss:.2f}%** ({least}%)", f"{more.seconds:.1f}, {more.memory / 1e6:.0f}"
        lines.append(
            f"| {name}, {k}, {p} | {100 * whole.loss:.2f}% | **{100 * ours.loss:.2f}%** ({most}%) | {high} | "
            f"{100 * ours.bound:.2f}% | {ours.seconds:.1f}, {ours.memory / 1e6:.0f} | {told} |"
        )
    return lines


def _rho(folder: Path) -> list[str]:
    lines = [
        *_ABOUT_RHO.strip().splitlines(),
        "",
        "| data | items | `top-down` | `partial` | target: at most | ratio | seconds | MB |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, longest, most in _RHO:
        whole = in_child(_concealed, folder, name, longest, "top-down")
        ours = in_child(_concealed, folder, name, longest, "partial")
        assert ours.average_loss <= whole.average_loss, (name, longest, ours, whole)
        lines.append(
            f"| {name} | {'all' if longest is None else f'≤ {longest}'} | {whole.average_loss:.4f} | "
            f"**{ours.average_loss:.4f}** | {most} | {ours.average_loss / whole.average_loss:.2f} | "
            f"{ours.seconds:.1f} | {ours.memory / 1e6:.0f} |"
        )
    return lines


def _released(path: Path, promise: vs.Coherence, method: str, **options: object) -> _Run:
    return _run(vs.read(path), promise, method, **options)


def _concealed(folder: Path, name: str, longest: int | None, method: str) -> _Run:
    return _run(with_sensitive_items(folder, name, longest), vs.RhoUncertainty(rho="1/2"), method)


def _run(data: vs.Transactions, promise: vs.Coherence | vs.RhoUncertainty, method: str, **options: object) -> _Run:
    started = process_time()
    release = vs.anonymize(data, promise, method=method, **options)
    seconds = process_time() - started
    assert release.certified, (promise, method, release.audit)
    bound = 0.0 if release.bound is None else float(release.bound.least)
    return _Run(release.loss, average_loss(release), bound, seconds, peak_memory())
