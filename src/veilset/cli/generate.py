"""``veilset generate``."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import veilset as vs
from veilset.cli.app import app
from veilset.cli.forms import Whole
from veilset.cli.options import Json, Text
from veilset.cli.screen import Screen
from veilset.errors import InvalidArgument
from veilset.io.layout import says_its_format


@app.command(sort_key=6)
def generate(
    kind: Literal["quest", "pos", "grocery"],
    /,
    *,
    out: Path,
    transactions: Whole = 10_000,
    items: Whole = 1_000,
    length: float = 10.0,
    pattern: float = 4.0,
    longest: Whole = 100,
    seed: Whole = 0,
    json: Json = False,
    text: Text = False,
) -> int:
    """Generate synthetic transactions for experiments.

    quest follows the classic Quest generator (length T, pattern length I). pos is long-tailed, like a shop's till.
    grocery is a small set of groceries and pharmacy items; sensitive.txt and taxonomy.csv are written next to it.

    Example:

        veilset generate quest --transactions 100000 --items 1000 --length 10 --pattern 4 --out t10i4.dat

    Parameters
    ----------
    kind
        Generator: quest, pos or grocery.
    out
        File to write: .dat, .csv, .jsonl, .parquet or another known suffix. Text may also end in .gz or .zst.
    transactions
        Number of transactions.
    items
        Maximum number of different items (quest, pos).
    length
        Average number of items in a transaction (quest, pos).
    pattern
        Average number of items in a pattern (quest).
    longest
        Number of items in the longest transaction (pos).
    seed
        Random seed. The same seed gives the same file.
    """
    screen = Screen.of(json, text)
    if out.exists():
        raise InvalidArgument(f"{str(out)!r} already exists.", "Choose another --out, or delete it first.")
    if not says_its_format(out):
        raise InvalidArgument(f"{out.name!r} does not indicate a format.", "End it in .dat, .csv, .jsonl or .parquet.")
    companions = [out.parent / name for name in ("sensitive.txt", "taxonomy.csv")] if kind == "grocery" else []
    for path in companions:
        if path.exists():
            raise InvalidArgument(f"{str(path)!r} already exists.", "Choose an --out in another folder.")
    sizes = {"transactions": transactions, "items": items, "random_state": seed}
    if kind == "quest":
        data = vs.generate.quest(**sizes, average_length=length, pattern_length=pattern)
    elif kind == "pos":
        data = vs.generate.pos_like(**sizes, average_length=length, maximum_length=longest)
    else:
        data = vs.generate.grocery_pharmacy(transactions=transactions, random_state=seed)
    data.write(out)
    if companions:
        companions[0].write_text("".join(f"{name}\n" for name in data.sensitive), "utf-8")
        vs.generate.grocery_pharmacy_taxonomy().write(companions[1])
    written = list(map(str, [out, *companions]))
    facts = {"written": written, "transactions": len(data), "items": len(data.names)}
    screen.answer(facts, lambda: screen.say(screen.escape(f"{data!r}\nWritten: {', '.join(written)}")))
    return 0
