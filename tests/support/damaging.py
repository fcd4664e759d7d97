"""Verifies releases whose tables are damaged, in a process of its own, as `test_damaged_tables` does.

Run with ``-m``, and: the format, how many files, a folder. The release at work is in the folder, so that it is there if
the process ends. Prints, as JSON, how often each verdict was given.
"""

import json
import random
import signal
import sys
from collections import Counter
from pathlib import Path

import veilset as vs
from tests.support.bundles import exchange_file
from tests.support.hiding_places import by_another_writer
from tests.support.light import placeholder
from tests.support.mutating import PATIENCE, bound_memory, mutated
from veilset.report import charts

ROWS = [["ale", "figs"], ["bun", "gin"], ["ale", "gin"], ["bun", "figs"]] * 5
ROOM = 1 << 30  # bytes


def main(kind: str, count: int, folder: Path) -> None:
    """Damage the table of a release so many times; anything but a verdict ends with a traceback."""
    charts._svg = placeholder  # the library that draws does not like little memory
    public, name = _release(kind, folder)
    content = (public / name).read_bytes()
    seeds = [content, by_another_writer(content)] if name.endswith(".parquet") else [content]
    dice = random.Random(kind)
    verdicts = Counter[str]()
    bound_memory(ROOM)
    for _ in range(count):
        damaged = mutated(dice.choice(seeds), content, dice, near_ends=name.endswith((".parquet", ".arrow")))
        exchange_file(public, name, damaged)
        signal.alarm(PATIENCE)
        verdicts[vs.verify(public).verdict] += 1
        signal.alarm(0)
    sys.stdout.write(json.dumps(verdicts))


def _release(kind: str, folder: Path) -> tuple[Path, str]:
    """The public folder of a release, and the name of the table to be damaged."""
    data = vs.Transactions.from_lists(ROWS)
    out_format, anatomy = kind.removesuffix("-anatomy"), kind.endswith("-anatomy")
    if anatomy:
        columns = [["ale", "bun"], ["figs", "gin"]]
        release = vs.anonymize(data, vs.LDiverseAnatomy(2), columns=columns, random_state=3)
    else:
        release = vs.anonymize(data, vs.Coherence(k=2, p=2))
    public = vs.publish(release, folder / "out", out_format=out_format).public
    return public, next(public.glob("anatomy.*" if anatomy else "data.*")).name


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
