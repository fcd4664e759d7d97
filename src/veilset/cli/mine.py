"""``veilset mine``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace as changed
from pathlib import Path
from typing import TYPE_CHECKING, Any

from veilset import mining
from veilset.cli.app import app
from veilset.cli.engines import EngineOptions
from veilset.cli.flags import in_flags
from veilset.cli.forms import Whole, check_out, read_lists
from veilset.cli.mine_options import FrequentOptions, RareOptions, RulesOptions, Search
from veilset.cli.options import Json, LimitOptions, ReadingOptions, ReplaceFile, Text
from veilset.cli.screen import Screen
from veilset.io import check_table_name, pieces_of, write_pieces
from veilset.limits import Progress
from veilset.mining import Itemsets
from veilset.models import Coherence
from veilset.report import Asked, Mined, Tally, columns_for, mined_facts, print_mined, reading_facts
from veilset.transactions import Transactions

if TYPE_CHECKING:
    from veilset.engines import Held

_PIECE = 1 << 16  # itemsets that are written, or become Python objects, at once


@app.command(sort_key=5)
def mine(
    input: str,  # noqa: A002 - the word users read
    /,
    *,
    frequent: FrequentOptions | None = None,
    rare: RareOptions | None = None,
    rules: RulesOptions | None = None,
    reading: ReadingOptions | None = None,
    limits: LimitOptions | None = None,
    engine: EngineOptions | None = None,
    top: Whole = 20,
    out: Path | None = None,
    replace: ReplaceFile = False,
    json: Json = False,
    text: Text = False,
) -> int:
    """Find frequent itemsets, rare itemsets that identify people, or rules.

    Exit code 0: done, even if nothing was found; 4: stopped at a limit. Exit code 3, with --rare: an attacker who knows
    nothing already exceeds the limits.

    Examples:

        veilset mine baskets.csv --min-support 1% --kind closed --out closed.parquet
        veilset mine baskets.csv --rare 10 --sensitive sensitive.txt --h 0.4 --max-size 2
        veilset mine baskets.csv --rules --min-support 1% --min-confidence 40%
        veilset mine baskets.csv --min-support 1% --min-size 2 --out patterns.csv

        veilset mine public/anatomy.csv --format anatomy --min-support 1%

        veilset mine sales.parquet --long receipt,product --min-support 1% --engine spark --master local[4]

    The fourth example writes candidates for hiding: delete the lines of patterns that need not be hidden. Then pass the
    file to veilset publish --model hidden-patterns --patterns patterns.csv.

    The fifth example mines rows that mix people, and also shows expected supports.

    Parameters
    ----------
    input
        Transactions: a file, or a database with --query.
    top
        Number of results to show: the most frequent, most severe or most confident, then the smallest.
    out
        File for all results: .parquet, .csv, .json or .jsonl. It must not exist, unless you give --replace.
    """
    screen = Screen.of(json, text)
    search = Search(frequent or FrequentOptions(), rare or RareOptions(), rules or RulesOptions())
    search.check(top=top, out=out, replace=replace)
    layout, bounds = reading or ReadingOptions(), limits or LimitOptions()
    if out is not None:
        check_table_name(out)
        inputs = [Path(input), *layout.files, *search.frequent.items, *search.rules.consequents]
        check_out(out, inputs, replace=replace)
    if engine is not None and engine.engine == "spark":
        search.check_on_engine()
        with engine.held(input, layout) as held:
            mined = _mined(held, search, layout, bounds, screen, top=top, out=out, replace=replace)
        facts: dict[str, Any] = {"engine": "spark"}
    else:
        data = layout.recipe(input).read(bounds.memory_limit)
        screen.show_reading(data)
        mined = _mined(data, search, layout, bounds, screen, top=top, out=out, replace=replace)
        facts = {"reading": reading_facts(data, secret=False, spell=in_flags)}
    written = {} if out is None else {"written": str(out)}

    def show() -> None:
        print_mined(mined, screen.console)
        if out is not None:
            screen.say(screen.escape(f"Written: {out}. It reveals as much as the data: protect it in the same way."))

    screen.answer({**mined_facts(mined), **facts, **written}, show)
    return 0


def _mined(
    data: Transactions | Held,
    search: Search,
    layout: ReadingOptions,
    bounds: LimitOptions,
    screen: Screen,
    *,
    top: int,
    out: Path | None,
    replace: bool,
) -> Mined:
    """What is found in transactions, wherever they lie."""
    chosen = read_lists(search.frequent.items, "--items", layout.encoding)
    consequents = read_lists(search.rules.consequents, "--consequents", layout.encoding)
    asked = search.asked(len(data))
    with screen.progress() as progress:
        steps = {"items": chosen, "max_size": asked.max_size, "progress": progress, **vars(bounds)}
        if isinstance(data, Transactions):
            if asked.kind == "count":
                return _counted(data, asked, steps, top=top)
            tables = _tables(data, asked, consequents, steps)
            return _gathered(data, asked, tables, progress, top=top, out=out, replace=replace)
        tables = _tables_there(data, asked, consequents, steps)
        mined = _gathered(data.vocabulary, asked, tables, progress, top=top, out=out, replace=replace)
        return changed(mined, counted=mining.supports_on_engine(data), count=len(data))


def _counted(data: Transactions, asked: Asked, steps: dict[str, Any], *, top: int) -> Mined:
    counted = mining.count_frequent(data, asked.min_support, min_size=asked.min_size, **steps)
    # sorted() is stable: ties stay in the order of the vocabulary.
    per_item = dict(sorted(counted.per_item.items(), key=lambda pair: -pair[1]))
    first = [{"item": name, "itemsets": many} for name, many in list(per_item.items())[:top] if many]
    return Mined(data, asked, counted.total, first=first, per_item=per_item)


def _tables(data: Transactions, asked: Asked, consequents: list[str] | None, steps: dict[str, Any]) -> Iterator[Any]:
    """What is found, as Arrow tables."""
    if asked.kind == "rare":
        # Where nothing has to be known, no itemset is a smallest one to give people away: say so instead.
        Coherence(h=asked.h or 1, k=asked.k, p=None).check_feasible(data)
        for moles in mining.minimal_rare_chunks(data, asked.k, h=asked.h or 1, **steps):
            yield moles.to_arrow()
    elif asked.kind == "rules":
        sizes = {"min_size": asked.min_size, **steps}
        rules = mining.rules(data, asked.min_support, asked.min_confidence, consequents=consequents, **sizes)
        table = rules.to_arrow()
        if data.anatomy is not None:
            both, left = (_expected(data, sets, steps) for sets in (rules.itemsets, rules.antecedents))
            table = table.append_column("expected", [both]).append_column("expected_confidence", [both / left])
        yield table
    elif asked.kind != "count":
        itemsets = mining.frequent(data, asked.min_support, kind=asked.kind, min_size=asked.min_size, **steps)
        table = itemsets.to_arrow()
        if data.anatomy is not None:
            table = table.append_column("expected", [_expected(data, itemsets, steps)])
        yield table


def _tables_there(data: Held, asked: Asked, consequents: list[str] | None, steps: dict[str, Any]) -> Iterator[Any]:
    """The same of transactions that an engine holds."""
    if asked.kind == "rare":
        Coherence(h=asked.h or 1, k=asked.k, p=None).refuse_counts(len(data), {})
        yield mining.minimal_rare(data, asked.k, h=asked.h or 1, **steps).to_arrow()
    elif asked.kind == "rules":
        sizes = {"min_size": asked.min_size, **steps}
        found = mining.rules(data, asked.min_support, asked.min_confidence, consequents=consequents, **sizes)
        yield found.to_arrow()
    elif asked.kind != "count":
        yield mining.frequent(data, asked.min_support, kind=asked.kind, min_size=asked.min_size, **steps).to_arrow()


def _expected(data: Transactions, itemsets: Itemsets, steps: dict[str, Any]) -> Any:
    bounds = {name: steps[name] for name in ("threads", "memory_limit", "time_limit", "progress")}
    return mining.expected_supports(data, itemsets, **bounds)


def _gathered(
    data: Transactions,
    asked: Asked,
    tables: Iterator[Any],
    progress: Progress | None,
    *,
    top: int,
    out: Path | None,
    replace: bool,
) -> Mined:
    """Piece by piece, so that millions of itemsets are never all Python objects, nor all text."""
    columns, tally = columns_for(asked.kind, data), Tally(data, asked, top=top)
    with nullcontext() if out is None else write_pieces(out, columns, replace=replace) as write:
        for table in tables:
            done = 0
            for piece in pieces_of(table, columns, rows=_PIECE):
                tally.add(piece)
                if write is not None:
                    write(piece)
                    done += len(piece)
                    if progress is not None:
                        progress("Writing", done, len(table))
    return tally.result()
