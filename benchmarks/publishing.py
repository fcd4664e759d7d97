"""Where the time of a whole publish goes, against the method and three audits alone. ``make bench`` runs this."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from measuring import in_child, peak_memory

import veilset as vs
from veilset.mining import count_frequent
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
    return [*lines, "", *in_child(_border, folder)]


def _border(folder: Path) -> list[str]:
    """The thesis' own setting from end to end; nuggets are counted in the bytes that were verified."""
    data, support = vs.read(folder / "fimi-connect" / "connect.dat.gz"), 33_779  # half of the transactions
    clock = [time.process_time()]
    release = vs.anonymize(data, vs.Coherence(k=10, p=None), method="border", nugget_support=support)
    clock.append(time.process_time())
    with tempfile.TemporaryDirectory() as place:
        bundle = vs.publish(release, Path(place) / "release")
        clock.append(time.process_time())
        found = vs.verify(bundle.public)
        clock.append(time.process_time())
        assert found.verdict == "holds"
        released = vs.read(next(bundle.public.glob("data.*")))
    before, after = (count_frequent(of, support).total for of in (data, released))
    assert (before, after) == (88_316_367, 88_258_255)
    method, publishing, verification = (b - a for a, b in pairwise(clock))
    return [
        "The thesis' own setting, `border` on Connect with k = 10, p unlimited and h = 100%, from end to end: of",
        f"{before:,} nuggets at k' = 50%, the verified bytes still have {after:,}. Seconds of processor time: method",
        f"{method:.2f}, publishing with both reports {publishing:.2f}, verification {verification:.2f}.",
    ]


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
