"""Methods for ρ-uncertainty: what they lose, how long they take, how that grows. ``make bench`` runs this."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import fim
import numpy as np
from measuring import in_child, peak_memory, timed

import veilset as vs
from veilset.utility.generalization import average_loss

__all__ = ["run", "with_sensitive_items"]

_FILES = {
    "Groceries": "groceries/groceries.dat.gz",
    "WebView-1": "bms-webview-1/BMS-WebView-1.dat.gz",
    "WebView-2": "bms-webview-2/BMS-WebView-2.dat.gz",
    "Retail": "fimi-retail/retail.dat.gz",
}
_PROMISE = vs.RhoUncertainty(rho="1/2")
# Data, longest transaction, the average loss to reach, and what it may take: seconds, bytes.
_LOSSES = [
    ("Groceries", 5, 0.3252, 10, 250e6),
    ("Groceries", None, 0.3341, 10, 250e6),
    ("WebView-1", 5, 0.3233, 10, 250e6),
    ("WebView-1", None, 0.3319, 10, 250e6),
    ("WebView-2", 5, 0.3362, 10, 250e6),
    ("WebView-2", None, 0.3776, 30, 250e6),
    ("Retail", None, None, 60, 500e6),
]
_GROWTH = (10_000, 30_000, 100_000, 300_000, 515_597)


@dataclass(frozen=True)
class _Run:
    """What a method did to one set of data."""

    average_loss: float
    seconds: float
    audit: float
    memory: int
    way: str = ""


def run(folder: Path) -> list[str]:
    """Sections of the results, as lines of Markdown."""
    return [*_losses(folder), "", *_against_a_miner(folder), "", *_growth()]


def with_sensitive_items(folder: Path, name: str, longest: int | None) -> vs.Transactions:
    """Two items in five are sensitive, drawn from all of them in the order of their names."""
    data = vs.read(folder / _FILES[name])
    data = _with_sensitive(data)
    return data if longest is None else data.take(np.flatnonzero(data.lengths <= longest))


def _with_sensitive(data: vs.Transactions) -> vs.Transactions:
    names = sorted(data.names)
    random.Random(4).shuffle(names)  # noqa: S311 - no secret
    return data.with_sensitive(names[: 2 * len(names) // 5])


def _released(data: vs.Transactions, method: str, options: dict[str, bool]) -> _Run:
    release, seconds = timed(lambda: vs.anonymize(data, _PROMISE, method=method, **options))
    assert release.certified, (method, release.audit)
    _, audit = timed(lambda: vs.audit(release.custodian_data, _PROMISE))
    way = next((attempt.name for attempt in release.attempts if attempt.won), "")
    return _Run(average_loss(release), seconds, audit, peak_memory(), way)


def _on_file(folder: Path, name: str, longest: int | None, method: str, options: dict[str, bool]) -> _Run:
    return _released(with_sensitive_items(folder, name, longest), method, options)


def _losses(folder: Path) -> list[str]:
    lines = [
        "ρ = ½, two items in five sensitive, groups of four neighbours: average loss, seconds with the audit, and the",
        "audit of the release alone. *As published* is the paper's own algorithm; Simple removes all sensitive items.",
        "",
        "| data | items | Simple | SuppressControl | TDControl | `top-down` | to reach | way | seconds | audit | MB |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, longest, goal, seconds, memory in _LOSSES:
        published = {"as_published": True}
        simple = in_child(_on_file, folder, name, longest, "remove-sensitive", {})
        suppressed = in_child(_on_file, folder, name, longest, "suppress", published)
        split = in_child(_on_file, folder, name, longest, "top-down", published)
        ours = in_child(_on_file, folder, name, longest, "top-down", {})
        assert ours.average_loss <= simple.average_loss, (name, longest, ours)
        assert goal is None or round(ours.average_loss, 4) <= goal, (name, longest, ours)
        assert ours.seconds < seconds and ours.memory < memory and ours.audit < 1, (name, longest, ours)
        reach = "" if goal is None else f"{goal:.4f}"
        lines.append(
            f"| {name} | {'all' if longest is None else f'≤ {longest}'} | {simple.average_loss:.5f} | "
            f"{suppressed.average_loss:.5f} | {split.average_loss:.5f} | **{ours.average_loss:.5f}** | {reach} | "
            f"{ours.way} | {ours.seconds:.1f} | {ours.audit:.3f} | {ours.memory / 1e6:.0f} |"
        )
    return lines


def _against_a_miner(folder: Path) -> list[str]:
    """Where transactions are short, a miner can list every rule: what must be known before any can be hidden."""
    lines = [
        "Where no transaction has more than five items, a miner can list all rules. It finds as many sensitive items",
        "inferred in the original as the auditor does, and none in a release. Concealing all rules, audit included,",
        "against listing them once (one thread):",
        "",
        "| data, ≤ 5 items | rules of 50% | `suppress` | `top-down` | pyfim's list | ratio | ratio |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in ("Groceries", "WebView-1", "WebView-2"):
        data = with_sensitive_items(folder, name, 5)
        rules, theirs = timed(lambda data=data: _rules(data))
        sensitive = set(np.flatnonzero(data.is_sensitive).tolist())
        inferred = {head for head, _, _ in rules if head in sensitive}
        assert len(inferred) == vs.audit(data, _PROMISE).found, name
        seconds = []
        for method in ("suppress", "top-down"):
            release, taken = timed(
                lambda data=data, method=method: vs.anonymize(data, _PROMISE, method=method, as_published=True)
            )
            left = set(np.flatnonzero(release.custodian_data.is_sensitive).tolist())
            assert not left.intersection(head for head, _, _ in _rules(release.custodian_data)), (name, method)
            seconds.append(taken)
        lines.append(
            f"| {name} | {len(rules):,} | {seconds[0]:.2f} s | {seconds[1]:.2f} s | {theirs:.2f} s | "
            f"{seconds[0] / theirs:.2f} | {seconds[1] / theirs:.2f} |"
        )
    return lines


def _rules(data: vs.Transactions) -> list[tuple[int, tuple[int, ...], int]]:
    lists = [part.tolist() for part in np.split(data.items, data.offsets[1:-1])]
    return fim.eclat(lists, target="r", supp=-1, conf=50, zmax=5, report="a")


def _growth() -> list[str]:
    lines = [
        "POS-like transactions (1,657 items, 6.5 on average, up to 164), ρ = ½, two items in five sensitive: seconds",
        "with the audit, and the most memory.",
        "",
        "| transactions | SuppressControl | TDControl | `top-down` | MB |",
        "|---|---|---|---|---|",
    ]
    for size in _GROWTH:
        suppressed, split, ours = (
            in_child(_pos_like, size, method, options)
            for method, options in (
                ("suppress", {"as_published": True}),
                ("top-down", {"as_published": True}),
                ("top-down", {}),
            )
        )
        assert ours.memory < 2e9, (size, ours)
        lines.append(
            f"| {size:,} | {suppressed.seconds:.1f} | {split.seconds:.1f} | {ours.seconds:.1f} | "
            f"{ours.memory / 1e6:.0f} |"
        )
    return lines


def _pos_like(size: int, method: str, options: dict[str, bool]) -> _Run:
    data = vs.generate.pos_like(transactions=size, items=1657, average_length=6.5, maximum_length=164, random_state=0)
    return _released(_with_sensitive(data), method, options)
