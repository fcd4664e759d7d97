"""What the page on join classification says about SecureMultiTbl (thesis §3.4.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from charts import Panel
from join_runs import CHAIN, MIDDLE, MIDDLE_DEPTH, PER_KEY, ROWS, SHORT, TABLES, WHOLE, Setting
from paper import Chart, Finding, Rows, holds, listed, table

PRIVATE = f"""\
- **SecureMultiTbl** has a party for each table. All run on one machine with two cores, each in a process of its own on
  one thread, and talk over TLS. MultiTbl next to it uses both cores. *Elapsed* time depends on what else the machine
  does, and more than two parties wait for a core. *CPU* time is that of all parties together. The intersection of keys
  is counted separately, as in the thesis. Tables of more than {SHORT:,} rows are run with one seed."""

TWELVE = """### Mondial with twelve parties

Each table is a party."""
MORE = f"""### Chains of two to six parties

Chains of Figure 8, and longer ones: {MIDDLE:,} rows in each table, trees of depth {MIDDLE_DEPTH}."""
TWO = "### SecureMultiTbl against MultiTbl"
SENT = """\
What parties have sent, and how it compares with the join. *Sent* and *bytes* are without the intersection, which has a
column of its own, and before encryption, which adds little."""
LARGEST = 1.6  # times MultiTbl: the thesis' overhead

_COSTS = {
    "MultiTbl, elapsed s": "fit_seconds",
    "SecureMultiTbl, elapsed s": "secure_seconds",
    "ratio": "overhead",
    "MultiTbl, CPU s": "fit_cpu_seconds",
    "SecureMultiTbl, CPU s": "secure_cpu_seconds",
    "ratio of CPU times": "cpu_overhead",
    "intersection, elapsed s": "intersection_seconds",
    "intersection, CPU s": "intersection_cpu_seconds",
    "largest party, MB": "secure_megabytes",
}


def twelve_parties(rows: Rows) -> Iterator[str | Chart]:
    """Figure 7, completed."""
    points = rows.where(data=WHOLE)

    def named(at: Setting) -> str:
        return f"{'without' if at.ignore else 'with'} `Percentage`"

    yield TWELVE
    yield costs(rows, points, named)
    yield SENT
    yield traffic(rows, points, named)
    yield listed([_same(rows, points), *_busy(rows, points), _waiting()])


def more_parties(rows: Rows) -> Iterator[str | Chart]:
    """Figure 8, completed."""
    short, middle = rows.where(data=CHAIN, rows=SHORT), rows.where(data=CHAIN, depth=MIDDLE_DEPTH)

    def named(at: Setting) -> str:
        return f"{at.tables} parties, {at.rows:,} rows each"

    yield MORE
    alt = "CPU seconds, megabytes sent and joined rows by number of parties"
    yield Chart("parties", alt, [*_by_parties(rows)], "", log=True)
    yield costs(rows, [*short, *middle], named)
    yield traffic(rows, [*short, *middle], named)
    both = [*short, *middle]
    yield listed(
        [_same(rows, both), *_busy(rows, both), *_by_join(rows, short), *_by_join(rows, middle), _fixed()],
    )


def two_parties(rows: Rows, points: Sequence[Setting]) -> Iterator[str | Chart]:
    """Figure 9, completed."""

    def named(at: Setting) -> str:
        return f"N = {at.rows:,}"

    yield TWO
    yield costs(rows, points, named)
    yield traffic(rows, points, named)
    yield listed([_same(rows, points), *_busy(rows, points), *figure_9(rows, points)])


def costs(rows: Rows, points: Iterable[Setting], named: Callable[[Setting], str]) -> str:
    """Time and memory."""
    lines = [(named(at), *(rows.number(at, measure) for measure in _COSTS.values())) for at in points]
    return table(("", *_COSTS), lines)


def traffic(rows: Rows, points: Iterable[Setting], named: Callable[[Setting], str]) -> str:
    """What passes between parties."""
    head = ("", "source rows", "joined rows", "levels", "messages", "sent, MB", "in the intersection, MB")
    sent = ("sent_megabytes", "intersection_megabytes", "bytes_per_row", "bytes_per_joined_row")
    lines = [
        (
            named(at),
            *(f"{rows.mean(at, measure):,.0f}" for measure in ("source_rows", "joined_rows", "levels", "messages")),
            *(rows.number(at, measure) for measure in sent),
        )
        for at in points
    ]
    return table((*head, "bytes for each source row", "bytes for each joined row"), lines)


def by_rows(rows: Rows) -> Iterator[Panel]:
    """Figure 9."""
    seconds = {"MultiTbl": "fit_cpu_seconds", "SecureMultiTbl": "secure_cpu_seconds"}
    seconds |= {"intersection": "intersection_cpu_seconds"}
    megabytes = {"MultiTbl": "megabytes", "a party of SecureMultiTbl": "secure_megabytes"}
    for unit, measures in {"CPU s": seconds, "MB": megabytes}.items():
        lines = {name: (Setting(CHAIN, 2), measure) for name, measure in measures.items()}
        yield rows.panel(f"N in thousands; {unit}", "rows", ROWS, lines, lambda at: f"{at // 1000:,}")


def _by_parties(rows: Rows) -> Iterator[Panel]:
    """The longer chains of Figure 8."""
    seconds = {"MultiTbl": "fit_cpu_seconds", "SecureMultiTbl": "secure_cpu_seconds"}
    seconds |= {"intersection": "intersection_cpu_seconds"}
    sent = {"sent": "sent_megabytes", "blinded keys": "intersection_megabytes"}
    for unit, measures in {"CPU s": seconds, "MB": sent, "joined rows": {"joined rows": "joined_rows"}}.items():
        lines = {name: (Setting(CHAIN, 2, MIDDLE, depth=MIDDLE_DEPTH), measure) for name, measure in measures.items()}
        yield rows.panel(f"parties; {unit}", "tables", TABLES, lines)


def figure_9(rows: Rows, points: Sequence[Setting]) -> Iterator[Finding | str]:
    """What the thesis says of SecureMultiTbl."""
    runs = rows.of(*points)
    for measure, name in {"overhead": "elapsed", "cpu_overhead": "CPU"}.items():
        ratios = [getattr(result, measure) for result in runs]
        says = f"It takes about 60% more time than MultiTbl (here: at most {LARGEST} times the {name} time)."
        yield holds(says, (ratio <= LARGEST for ratio in ratios), f"runs ({min(ratios):.2f} to {max(ratios):.2f})")
    seconds = [result.intersection_cpu_seconds / 2 for result in runs]
    says = "The intersection takes less than 5 seconds (here: CPU time of a party)."
    yield holds(says, (one < 5 for one in seconds), f"runs ({min(seconds):.0f} to {max(seconds):.0f} s)")
    each = [1e6 * result.intersection_cpu_seconds / (result.source_rows / PER_KEY) for result in runs]
    yield (
        "- *Why it takes longer here:* the thesis does not say how keys were compared. Here each party multiplies its "
        "own keys and those of the other on an elliptic curve. Hashes would be faster, but whoever gets them can try "
        f"out any number of values on them. A key takes {min(each):.0f} to {max(each):.0f} µs of CPU time, once in a "
        "run. A party that is given more threads shares the work among as many processes."
    )
    yield per_row(rows, points, "Its time is linear in the size of the tables", "source_rows", "secure_cpu_seconds")
    says = "What is sent is linear in the size of the tables"
    each = [rows.mean(at, "bytes_per_row") for at in points]
    says += " (here: from step to step, bytes for each row grow at most by a factor of 1.1)."
    counted = f"steps ({each[0]:.0f} bytes per row at first, {each[-1]:.0f} in the end)"
    yield holds(says, (b <= 1.1 * a for a, b in pairwise(each)), counted)


def _by_join(rows: Rows, points: Sequence[Setting]) -> Iterator[Finding | str]:
    """Bytes on the wire against the size of the join."""
    if len(points) < 2:
        return
    first, last = points[0], points[-1]
    sent, joined = (rows.mean(last, one) / rows.mean(first, one) for one in ("sent_megabytes", "joined_rows"))
    edges = (last.tables - 1) / (first.tables - 1)
    yield holds(
        f"What is sent depends on the tables, not on the size of the join ({first.rows:,} rows; here: it grows less).",
        [sent < joined],
        f"pairs of points (from {first.tables} to {last.tables} parties, edges grow by a factor of {edges:.0f}, joined "
        f"rows by {joined:,.0f}, and what is sent by {sent:.1f})",
    )


def per_row(rows: Rows, points: Sequence[Setting], says: str, of: str, measure: str = "seconds") -> Finding:
    """What each row costs, from the shortest tables to the longest."""
    each = [1e6 * rows.mean(at, measure) / rows.mean(at, of) for at in points]
    counted = f"steps ({each[0]:.2f} µs per row at first, {each[-1]:.2f} µs in the end)" if each else "steps"
    says = f"{says} (here: from step to step, the time per row grows at most by a factor of 1.5)."
    return holds(says, (b <= 1.5 * a for a, b in pairwise(each)), counted)


def _same(rows: Rows, points: Sequence[Setting]) -> Finding:
    runs = rows.of(*points)
    says = "SecureMultiTbl gives the tree of MultiTbl."
    return holds(says, (result.secure_seconds is not None for result in runs), "runs (compared in each run)")


def _busy(rows: Rows, points: Sequence[Setting]) -> Iterator[str]:
    """Whether other programs took the processor: MultiTbl computes on all cores, and does not wait."""
    times = [result.fit_seconds / result.fit_cpu_seconds for result in rows.of(*points)]
    if max(times) > 1.5:
        yield (
            f"- *Elapsed times say little here.* Other programs ran at the same time: MultiTbl took up to "
            f"{max(times):.0f} times its CPU time, though it never waits. Compare CPU times."
        )


def _waiting() -> str:
    return (
        "- *Why it takes longer than MultiTbl:* the tables are small, so messages take most of the time. A level has "
        "three rounds with the coordinator, and summaries pass from each table that has split to all others; twelve "
        "processes share two cores."
    )


def _fixed() -> str:
    return (
        "- *Why short tables have a large overhead:* MultiTbl needs hundredths of a second. Each party has to connect, "
        "to answer the coordinator three times a level, and to save its checkpoint to disk."
    )
