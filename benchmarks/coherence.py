"""Methods for coherence: how much they lose, how long they take, against figures to beat. ``make bench`` runs this."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import fim
from measuring import in_child, peak_memory, timed

import veilset as vs

__all__ = ["run"]

_FILES = {
    "Groceries": "groceries/groceries.csv.gz",
    "WebView-1": "bms-webview-1/BMS-WebView-1.dat.gz",
    "WebView-2": "bms-webview-2/BMS-WebView-2.dat.gz",
    "Retail": "fimi-retail/retail.dat.gz",
    "Connect": "fimi-connect/connect.dat.gz",
}
# h = 1, no sensitive items: data, k, p, the loss to reach in percent, whether that is the proven optimum.
_LOSSES = [
    ("Groceries", 20, 2, 35.38, True),
    ("Groceries", 20, 4, 76.15, True),
    ("WebView-1", 20, 2, 56.82, True),
    ("WebView-1", 20, 4, 57.05, True),
    ("WebView-1", 5, 4, 53.94, True),
    ("WebView-2", 20, 2, 82.77, True),
    ("WebView-2", 20, 4, 90.60, False),
    ("Retail", 20, 2, 78.95, False),
    ("Retail", 20, 4, 84.21, False),
    ("Connect", 20, 2, 1.22, True),
    ("Connect", 20, 4, 10.78, False),
]
_PROOFS = [("Groceries", 5, 2), ("Groceries", 20, 2), ("Groceries", 50, 4), ("WebView-1", 5, 2), ("WebView-1", 20, 2)]


def run(folder: Path) -> list[str]:
    """Sections of the results, as lines of Markdown."""
    return [*_tree(folder), "", *_long_rows(), "", *_auto(folder), "", *_proofs(folder), "", *_recoding(folder)]


def _read(folder: Path, name: str) -> vs.Transactions:
    return vs.read(folder / _FILES[name])


def _certified(make: Callable[[], vs.Release]) -> tuple[vs.Release, float]:
    release, seconds = timed(make)
    assert release.certified, release.audit
    return release, seconds


def _tree(folder: Path) -> list[str]:
    ours, theirs, memory, loss = in_child(_tree_on_retail, folder)
    assert ours <= 10 * theirs, (ours, theirs)
    assert memory < 1.5e9, memory
    return [
        "`tree` on Retail, all items public, private items as in the thesis but no more frequent than h; h=0.5,",
        f"k=20, p=4: mining, greedy, restore and audit take {ours:.2f} s, {ours / theirs:.1f} times what",
        f"`fim.eclat(supp=-20, zmax=4)` takes on the same transactions ({theirs:.2f} s); {memory / 1e9:.2f} GB at",
        f"most; {loss:.2%} of all occurrences lost.",
    ]


def _tree_on_retail(folder: Path) -> tuple[float, float, int, float]:
    data = vs.generate.with_private_items(_read(folder, "Retail"), cap=0.5)
    promise = vs.Coherence(h=0.5, k=20, p=4)
    runs = [_certified(lambda: vs.anonymize(data, promise, method="tree")) for _ in range(3)]
    memory = peak_memory()
    lists = [
        data.items[a:b].tolist() for a, b in zip(data.offsets[:-1].tolist(), data.offsets[1:].tolist(), strict=True)
    ]
    theirs = min(timed(lambda: fim.eclat(lists, supp=-20, zmax=4))[1] for _ in range(3))
    return min(seconds for _, seconds in runs), theirs, memory, runs[0][0].loss


def _long_rows() -> list[str]:
    seconds, memory, loss = in_child(_auto_on_long_rows)
    assert memory < 2e9, memory
    return [
        "`auto` on a T40I10-like set (100,000 transactions of 40 items on average, 942 items, one in ten sensitive),",
        f"h=0.4, k=10, p=4: {seconds:.1f} s, {memory / 1e9:.2f} GB at most; {loss:.2%} lost. A public Python program",
        "for this promise notes 494 to 3,988 s for as many transactions.",
    ]


def _auto_on_long_rows() -> tuple[float, int, float]:
    data = vs.generate.quest(transactions=100_000, average_length=40, pattern_length=10, items=942)
    sensitive = [name for name, held in zip(data.names, data.supports, strict=True) if held <= 0.4 * len(data)][::10]
    data = vs.Transactions.from_lists(data.to_lists(), sensitive=sensitive)
    release, seconds = _certified(lambda: vs.anonymize(data, vs.Coherence(h=0.4, k=10, p=4)))
    return seconds, peak_memory(), release.loss


def _auto(folder: Path) -> list[str]:
    lines = [
        "`auto`, h = 1: share of all item occurrences lost (in italics: the proven optimum), seconds with the audit.",
        "",
        "| data | k | p | lost | to reach | seconds | audit alone |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, k, p, percent, proven in _LOSSES:
        data = _read(folder, name)
        release, seconds = _certified(lambda data=data, k=k, p=p: vs.anonymize(data, vs.Coherence(k=k, p=p)))
        assert round(100 * release.loss, 2) <= percent, (name, k, p, release.loss)
        _, audit = timed(lambda release=release: vs.audit(release.custodian_data, release.promise))
        goal = f"*{percent:.2f}%*" if proven else f"{percent:.2f}%"
        lines.append(f"| {name} | {k} | {p} | {release.loss:.3%} | {goal} | {seconds:.1f} | {audit:.1f} |")
    return lines


def _proofs(folder: Path) -> list[str]:
    lines = [
        "`optimal`, h = 1: the optimum with its proof.",
        "",
        "| data | k | p | lost | seconds |",
        "|---|---|---|---|---|",
    ]
    for name, k, p in _PROOFS:
        data = _read(folder, name)
        started = time.perf_counter()
        release = vs.anonymize(data, vs.Coherence(k=k, p=p), method="optimal", time_limit=60)
        seconds = time.perf_counter() - started
        assert release.certified and release.bound is not None and release.bound.proven, (name, k, p, release.bound)
        lines.append(f"| {name} | {k} | {p} | {release.loss:.3%} | {seconds:.1f} |")
    return lines


def _recoding(folder: Path) -> list[str]:
    data = _read(folder, "Groceries")
    taxonomy = vs.Taxonomy.read(folder / "groceries" / "item_hierarchy.csv.gz", columns=["label", "level2", "level1"])
    lines = [
        "`generalize` on Groceries with its own hierarchy, h = 1, k=20:",
        "",
        "| p | survive | average loss | names | suppression alone: survive | seconds |",
        "|---|---|---|---|---|---|",
    ]
    for p, least in ((2, 0.85), (4, 0.60)):
        promise = vs.Coherence(k=20, p=p)
        release, seconds = _certified(
            lambda promise=promise: vs.anonymize(data, promise, method="generalize", taxonomy=taxonomy)
        )
        alone = vs.anonymize(data, promise)
        assert 1 - release.loss >= least, release.loss
        lost = vs.measure(data, release)["average_loss"]
        lines.append(
            f"| {p} | {1 - release.loss:.1%} | {lost:.4f} | {len(release.custodian_data.names)} of {len(data.names)} | "
            f"{1 - alone.loss:.1%} | {seconds:.1f} |"
        )
    return lines
