"""Where the time of a whole publish goes, against the method and three audits alone. ``make bench`` runs this."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from measuring import in_child, peak_memory

import veilset as vs
from veilset.publish import publish
from veilset.run import Run

__all__ = ["run"]

_MOST = 2.5  # times the method and three audits
_LIKE_A_TILL = {"items": 1657, "average_length": 6.5, "maximum_length": 164}
_T10I4 = {"average_length": 10, "pattern_length": 4, "items": 1000}
_TASKS: dict[str, tuple[Callable[[Path], vs.Transactions], int, int, float]] = {
    "a million, POS-like": (lambda _: vs.generate.pos_like(transactions=10**6, **_LIKE_A_TILL), 20, 2, 0.2398),
    "a million, Quest T10I4": (lambda _: vs.generate.quest(transactions=10**6, **_T10I4), 20, 2, 0.1216),
    "Retail": (lambda folder: vs.read(folder / "fimi-retail" / "retail.dat.gz"), 20, 4, 0.8421),
}
_STEPS = ("audit of the original", "method", "audit of the release", "account", "reasons", "what if", "verification")


def run(folder: Path) -> list[str]:
    """A table of the results, as lines of Markdown."""
    lines = [
        "Seconds of each step of `veilset publish` from transactions in memory to a verified release; *account* counts",
        "what was lost, *reasons* are why suppressed items cannot return, *what if* is what each limit costs,",
        "*rest* is writing and drawing. The ratio is of all to the",
        f"method and three audits (of the original, of the release, of the written bytes); target: at most {_MOST}.",
        "",
        f"| data, k, p | {' | '.join(_STEPS)} | rest | all | ratio | peak memory |",
        f"|---|{'---|' * (len(_STEPS) + 4)}",
    ]
    for name, (_, k, p, _) in _TASKS.items():
        steps, whole, memory = in_child(_publish, name, folder)
        rest = whole - sum(steps.values())
        ratio = whole / (steps["audit of the original"] + steps["method"] + 2 * steps["audit of the release"])
        assert ratio <= _MOST, (name, ratio, steps)
        cells = " | ".join(f"{steps[step]:.2f}" for step in _STEPS)
        lines.append(f"| {name}, {k}, {p} | {cells} | {rest:.2f} | {whole:.2f} | {ratio:.2f} | {memory / 1e9:.2f} GB |")
    return lines


def _publish(name: str, folder: Path) -> tuple[dict[str, float], float, int]:
    make, k, p, lost = _TASKS[name]
    data = make(folder)
    with tempfile.TemporaryDirectory() as place:
        started = time.perf_counter()
        one = Run(data, vs.Coherence(k=k, p=p))
        bundle = publish(one, Path(place) / "release", random_state="a seed")
        whole = time.perf_counter() - started
    assert bundle.verification.holds
    assert abs(one.release.loss - lost) < 0.001, one.release.loss
    assert one.binding.curve[p] == one.release.loss
    return {step: one.seconds[step] for step in _STEPS}, whole, peak_memory()
