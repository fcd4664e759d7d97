"""Reads mutated copies of a file in a process of its own, as the tests of damaged files do.

Run with: the file's path, its format, how many mutations, a seed. Prints how often each kind of answer came, and the
largest resident memory in megabytes.
"""

import random
import resource
import sys
from collections import Counter
from pathlib import Path

from veilset.errors import UnreadableInput, WrongUsage
from veilset.io.blocks import schema_of
from veilset.io.layout import Layout
from veilset.io.plain import check_plain
from veilset.io.tables import open_table
from veilset.limits import Limits


def mutated(content: bytes, chance: random.Random) -> bytes:
    """The content with one to four bytes changed, or cut off, or with a part of it doubled."""
    changed = bytearray(content)
    kind = chance.randrange(10)
    if kind == 0:
        return content[: chance.randrange(len(content))]
    if kind == 1:
        start, stop = sorted(chance.randrange(len(content)) for _ in range(2))
        return content[:stop] + content[start:]
    for _ in range(chance.randrange(1, 5)):
        # Footers and headers are where sizes stand, so every second change is near an end.
        place = chance.randrange(len(content))
        if chance.random() < 0.5:
            place = min(chance.randrange(300), len(content) - 1) * chance.choice((1, -1))
        changed[place] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
    return bytes(changed)


def main(path: Path, kind: str, count: int, seed: int) -> None:
    """Read *count* mutations; anything but rows or a plain refusal ends the process with a traceback."""
    content, chance = path.read_bytes(), random.Random(seed)
    layout = Layout(kind, columns=("id", "item") if kind.endswith("long") else ())
    victim = path.with_name(f"victim{path.suffix}")
    answers: Counter[str] = Counter()
    for _ in range(count):
        victim.write_bytes(mutated(content, chance))
        try:
            for rows in open_table(victim, layout, Limits(memory_limit="1GB"))[1]:
                rows.names.to_pylist()
                assert not len(rows.codes) or -1 <= rows.codes.min() <= rows.codes.max() < len(rows.names)
            answers["read"] += 1
        except (UnreadableInput, WrongUsage) as error:  # wrong usage: there is no such column any more
            answers[type(error).__name__] += 1
        try:
            answers[
                "plain" if check_plain(victim, schema_of("ab", layout), layout.form.container) is None else "not plain"
            ] += 1
        except UnreadableInput:
            answers["not intact"] += 1
    sys.stdout.write(f"{dict(answers)} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}\n")


if __name__ == "__main__":
    resource.setrlimit(
        resource.RLIMIT_AS, (8 * 10**9, 8 * 10**9)
    )  # a file that lies about sizes must not take the machine
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
