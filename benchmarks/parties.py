"""SecureMultiTbl, a process for each party, against MultiTbl on all tables at once.

``make bench`` runs this as part of joins.py; ``python benchmarks/parties.py`` runs it alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np
import pyarrow as pa
from measuring import shown, timed

from veilset.joins import JoinClassifier, generate
from veilset.joins.generate import Made
from veilset.joins.linked import LinkedTables
from veilset.limits import Limits

sys.path.append(str(Path(__file__).parent.parent / "experiments"))
from join_data import mondial
from join_parties import CONNECTING, GROWING, INTERSECTING, OTHERS, Interrupted, Processes, Run, processes, told

__all__ = ["run"]

_ROWS = (200_000, 1_000_000)
_DEPTH = 8
_ROUNDS = 3
_TARGET = 1.6
_SCHEMAS = 8
_ABOUT = """
*SecureMultiTbl* has a process for each party, over TLS on this machine; another process coordinates. Each party
computes on one thread, MultiTbl on both cores. Before anything is timed, both trees are compared: criteria, gains,
class counts and labels at all nodes after pruning, criteria taken from the lists that parties keep for themselves.
Reading tables is left out on both sides. So is the intersection of keys, which has a column of its own: the thesis'
overhead of 60% is without it. *Growing alone* begins after columns are ranked and keys are numbered, and ends with the
tree. Both run in turns; times and ratios are medians of three rounds. The ratio of processor time leaves out waiting,
and what other programs on the machine took meanwhile. *Sent* is what all parties send, without the intersection.
"""
_MANY = """
A process for each table. The tree is the same wherever it was grown; it was compared as above. Random studies have two
to five parties whose tables join as a random tree. Mondial has twelve small tables: their messages take the time, and
twelve processes share two cores. *Sent* is with the intersection here.
"""
_RESUMED = """
The coordinator is interrupted before level 7 and started again. Parties repeat what they did, with what they had
received: no summary is sent twice, and keys are not intersected again.
"""
_CHOOSING = """
Three parties, chain of tables of 1,000 rows. With `winner = "secret"`, gains are shared secretly and only the winner of
each node is revealed.
"""


def run(data: Path) -> list[str]:
    """A section of the results, as lines of Markdown."""
    with_two = [_two(rows) for rows in _ROWS]
    heads = ("rows of each table", "joined rows", "depth", "MultiTbl", "SecureMultiTbl", "ratio", "in the rounds")
    heads += (
        "ratio of processor time",
        "growing alone: MultiTbl",
        "SecureMultiTbl",
        "ratio",
        "intersection",
        "sent",
        "target: at most",
    )
    many = ("tables", "parties", "joined rows", "nodes", "MultiTbl", "SecureMultiTbl", "intersection", "levels")
    many += ("messages", "sent", "bytes for each joined row")
    return [
        *_section(_ABOUT, heads, with_two),
        "",
        *_section(_MANY, many, [*_random(), _mondial(data)]),
        "",
        *_section(_RESUMED, ("rows of each table", "until level 7", "back there after"), [_resumed(_ROWS[0])]),
        "",
        *_section(_CHOOSING, ("winner", "growing", "sent without the intersection"), _winners()),
    ]


def _section(about: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield from about.strip().splitlines()
    yield ""
    yield from (f"| {' | '.join(cells)} |" for cells in (heads, ["---"] * len(heads), *rows))


def _two(rows: int) -> list[str]:
    made = generate.chain(2, rows=rows, keys=rows // 4)
    options = {"max_depth": _DEPTH}
    linked = LinkedTables.read(made.tables, made.joins, (), Limits())
    fit = _fit(made, options)
    grow = _grow(linked, made, options)
    with processes(made, options) as parties:
        first, classifier = parties.train(), fit()
        assert first.told == told(classifier) == told(grow()), "the trees differ"
        rounds = [(parties.train(), timed(lambda: _processor_time(fit)), timed(grow)[1]) for _ in range(_ROUNDS)]
        parties.close()
    runs = [one for one, _, _ in rounds]
    ratios = sorted(_whole(parties, one) / seconds for one, (_, seconds), _ in rounds)
    work = median(_whole_work(parties, one) / cpu for one, (cpu, _), _ in rounds)
    return [
        f"{rows:,}",
        f"{classifier.joined_rows_:,}",
        str(_DEPTH),
        shown(median(seconds for _, (_, seconds), _ in rounds)),
        shown(median(_whole(parties, one) for one in runs)),
        f"{median(ratios):.2f}",
        f"{ratios[0]:.2f}–{ratios[-1]:.2f}",
        f"{work:.2f}",
        shown(median(seconds for _, _, seconds in rounds)),
        shown(median(one.seconds[GROWING] for one in runs)),
        f"{median(one.seconds[GROWING] / seconds for one, _, seconds in rounds):.2f}",
        shown(median(one.seconds[INTERSECTING] for one in runs)),
        _megabytes(first.sent[OTHERS]),
        str(_TARGET),
    ]


def _fit(made: Made, options: dict[str, Any]) -> Callable[[], JoinClassifier]:
    return lambda: JoinClassifier(**options).fit(made.tables, joins=made.joins, target=made.target)


def _grow(linked: LinkedTables, made: Made, options: dict[str, Any]) -> Callable[[], JoinClassifier]:
    """The same from tables whose keys are numbered; columns are ranked by the first call."""
    return lambda: JoinClassifier(**options).fit(linked, target=made.target)


def _whole(parties: Processes, one: Run) -> float:
    return parties.preparing + one.seconds[CONNECTING] + one.seconds[GROWING]


def _whole_work(parties: Processes, one: Run) -> float:
    """The same as processor time of all parties."""
    return parties.preparing_cpu + one.cpu_seconds[CONNECTING] + one.cpu_seconds[GROWING]


def _processor_time(call: Callable[[], Any]) -> float:
    before = process_time()
    call()
    return process_time() - before


def _random() -> Iterator[list[str]]:
    for seed in range(_SCHEMAS):
        made = _random_study(seed)
        yield _compared(f"random study {seed + 1}", made, {})


def _random_study(seed: int) -> Made:
    """Tables that join as a random tree, the class in one of them."""
    draw = np.random.default_rng(seed)
    names = [f"T{number}" for number in range(1, 3 + seed % 4)]
    held: dict[str, dict[str, Any]] = {name: {} for name in names}
    rows = {name: int(draw.integers(50, 300)) for name in names}
    joins = []
    for place, name in enumerate(names[1:], 1):
        other, keys = names[draw.integers(0, place)], int(draw.integers(5, 60))
        for table in (name, other):
            values = draw.integers(0, keys + 3, rows[table])
            held[table][f"key{place}"] = pa.array(values if place % 2 else [f"k{value}" for value in values])
        joins.append((f"{other}.key{place}", f"{name}.key{place}"))
    for name in names:
        held[name]["number"] = draw.integers(0, 20, rows[name])
        held[name]["text"] = draw.choice(list("abcd"), rows[name])
    target = names[draw.integers(0, len(names))]
    held[target]["Class"] = draw.choice(["no", "perhaps", "yes"], rows[target])
    return Made({name: pa.table(columns) for name, columns in held.items()}, joins, f"{target}.Class")


def _mondial(data: Path) -> list[str]:
    found = mondial(data / "mondial" / "csv")
    return _compared("Mondial", Made(found.tables, found.joins, found.target), {})


def _compared(name: str, made: Made, options: dict[str, Any]) -> list[str]:
    classifier, seconds = timed(_fit(made, options))
    with processes(made, options) as parties:
        one = parties.train()
        parties.close()
    assert one.told == told(classifier), f"{name}: the trees differ"
    sent = sum(one.sent.values())
    return [
        name,
        str(len(made.tables)),
        f"{classifier.joined_rows_:,}",
        str(len(one.told)),
        shown(seconds),
        shown(_whole(parties, one)),
        shown(one.seconds[INTERSECTING]),
        str(one.messages["followed"] // len(made.tables)),
        f"{sum(one.messages.values()):,}",
        _megabytes(sent),
        f"{sent / classifier.joined_rows_:,.3f}",
    ]


def _resumed(rows: int) -> list[str]:
    stage = "Growing level 7 of the tree"
    made = generate.chain(2, rows=rows, keys=rows // 4)
    with processes(made, {"max_depth": _DEPTH}) as parties:
        first = timed(lambda: _interrupted(parties, stage))[1]
        back = timed(lambda: _interrupted(parties, stage))[1]
        resumed, anew = parties.train(), parties.train()
        parties.close()
    assert resumed.told == anew.told, "the trees differ"
    return [f"{rows:,}", shown(first), shown(back)]


def _interrupted(parties: Processes, stage: str) -> None:
    try:
        parties.train(until=stage)
    except Interrupted:
        return
    raise AssertionError(f"{stage} was not reached")


def _winners() -> Iterator[list[str]]:
    made = generate.chain(3, rows=1_000, keys=250)
    trees = []
    for winner in ("info", "secret"):
        with processes(made, {"max_depth": _DEPTH}, winner=winner) as parties:
            parties.train()  # what is loaded with the first tree costs nothing
            one = parties.train()
            parties.close()
        trees.append(one.told)
        yield [winner, shown(one.seconds[GROWING]), _megabytes(one.sent[OTHERS])]
    assert trees[0] == trees[1], "the trees differ"


def _megabytes(of: int) -> str:
    return f"{of / 1e6:,.2f} MB"


if __name__ == "__main__":
    print("\n".join(run(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2] / "shared" / "data")))
