"""``veilset mine``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from cyclopts import Group, Parameter

from veilset import mining
from veilset.cli.app import app
from veilset.cli.flags import in_flags
from veilset.cli.forms import DIGITS, Whole, check_out, read_lists
from veilset.cli.options import Flag, Json, LimitOptions, ReadingOptions, ReplaceFile, Text
from veilset.cli.screen import Screen
from veilset.errors import InvalidArgument
from veilset.exact import exact_share, support_of
from veilset.io import check_table_name, pieces_of, write_pieces
from veilset.limits import Progress
from veilset.mining import Itemsets
from veilset.models import Coherence
from veilset.report import Asked, Mined, Tally, columns_for, mined_facts, print_mined, reading_facts
from veilset.transactions import Transactions

_PIECE = 1 << 16  # itemsets that are written, or become Python objects, at once
_LARGEST = 2**31 - 1

_FREQUENT = Group("Frequent itemsets", sort_key=1.1)
_RARE = Group("Rare itemsets", sort_key=1.2)
_RULES = Group("Rules", sort_key=1.3)


@Parameter(name="*", group=_FREQUENT)
@dataclass(frozen=True)
class FrequentOptions:
    """What to look for, and among what."""

    min_support: str | None = None
    "Minimum number of transactions that contain an itemset: 30, or a share of all such as 1%, 0.01 or 1/100."
    kind: Literal["all", "closed", "maximal"] | None = None
    "Kind of itemsets. closed: no larger one has the same support. maximal: no larger one is frequent. Default: all."
    count: Annotated[bool, Flag] = False
    "Count the frequent itemsets, in total and for each item, without listing them."
    min_size: Whole | None = None
    "Minimum number of items in an itemset, or in both sides of a rule together."
    max_size: Whole | None = None
    "Maximum number of items in an itemset (also a rare one), or in both sides of a rule together."
    items: Annotated[tuple[Path, ...], Parameter(name="--items", negative=(), show_default=False)] = ()
    "File with items, one name per line. All others are ignored. Repeatable."


@Parameter(name="*", group=_RARE)
@dataclass(frozen=True)
class RareOptions:
    """What narrows people down."""

    rare: Whole | None = None
    "List the smallest sets of public items that fewer than this many transactions contain."
    h: str | None = None
    "List also sets that imply a sensitive item with a confidence above this: 0.4, 40% or 2/5."


@Parameter(name="*", group=_RULES)
@dataclass(frozen=True)
class RulesOptions:
    """What goes with what."""

    rules: Annotated[bool, Flag] = False
    "List rules A → B from frequent itemsets A to items B. Needs --min-support and --min-confidence."
    min_confidence: str | None = None
    "Minimum share of the transactions with A that also contain B: 0.4, 40% or 2/5."
    consequents: Annotated[tuple[Path, ...], Parameter(name="--consequents", negative=(), show_default=False)] = ()
    "File with the items allowed as B, one name per line. Repeatable."


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

    The fourth example writes candidates for hiding: delete the lines of patterns that need not be hidden. Then pass the
    file to veilset publish --model hidden-patterns --patterns patterns.csv.

    The last example mines rows that mix people, and also shows expected supports.

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
    search = _Search(frequent or FrequentOptions(), rare or RareOptions(), rules or RulesOptions())
    search.check(top=top, out=out, replace=replace)
    layout, bounds = reading or ReadingOptions(), limits or LimitOptions()
    if out is not None:
        check_table_name(out)
        inputs = [Path(input), *layout.files, *search.frequent.items, *search.rules.consequents]
        check_out(out, inputs, replace=replace)
    source = layout.recipe(input)
    chosen = read_lists(search.frequent.items, "--items", layout.encoding)
    consequents = read_lists(search.rules.consequents, "--consequents", layout.encoding)
    data = source.read(bounds.memory_limit)
    screen.show_reading(data)
    asked = search.asked(len(data))
    with screen.progress() as progress:
        steps = {"items": chosen, "max_size": asked.max_size, "progress": progress, **vars(bounds)}
        if asked.kind == "count":
            mined = _counted(data, asked, steps, top=top)
        else:
            tables = _tables(data, asked, consequents, steps)
            mined = _gathered(data, asked, tables, progress, top=top, out=out, replace=replace)
    written = {} if out is None else {"written": str(out)}

    def show() -> None:
        print_mined(mined, screen.console)
        if out is not None:
            screen.say(screen.escape(f"Written: {out}. It reveals as much as the data: protect it in the same way."))

    screen.answer({**mined_facts(mined), "reading": reading_facts(data, secret=False, spell=in_flags), **written}, show)
    return 0


class _Question(NamedTuple):
    """What can be asked: an example, the options that it needs, and those that it takes besides."""

    example: str
    needs: tuple[str, ...]
    takes: tuple[str, ...]


_QUESTIONS = {
    "--min-support": _Question("--min-support 1%", ("--min-support",), ("--kind", "--min-size", "--out")),
    "--count": _Question("--count --min-support 1%", ("--min-support",), ("--min-size",)),
    "--rare": _Question("--rare 10 --h 0.4", (), ("--h", "--out")),
    "--rules": _Question(
        "--rules --min-support 1% --min-confidence 40%",
        ("--min-support", "--min-confidence"),
        ("--consequents", "--min-size", "--out"),
    ),
}


_KINDS: dict[str, Literal["count", "rare", "rules"]] = {"--count": "count", "--rare": "rare", "--rules": "rules"}


@dataclass(frozen=True)
class _Search:
    """The options that say what to look for."""

    frequent: FrequentOptions
    rare: RareOptions
    rules: RulesOptions

    @property
    def question(self) -> str:
        """The option that says what kind of answer is wanted."""
        chosen = {"--count": self.frequent.count, "--rare": self.rare.rare is not None, "--rules": self.rules.rules}
        given = [option for option, is_given in chosen.items() if is_given]
        if len(given) > 1:
            raise InvalidArgument(
                f"{' and '.join(given)} cannot be combined.", "Run the command once for each of them."
            )
        return given[0] if given else "--min-support"

    @property
    def smallest(self) -> int:
        """How many items there are at least: a rule has one on each side."""
        return 2 if self.rules.rules else 1

    def check(self, *, top: int, out: Path | None, replace: bool) -> None:
        """Options that do not go together, or that a question lacks: none is ignored silently."""
        frequent, question = self.frequent, self.question
        given: dict[str, object] = {
            "--h": self.rare.h,
            "--min-confidence": self.rules.min_confidence,
            "--consequents": self.rules.consequents or None,
            "--min-support": frequent.min_support,
            "--kind": frequent.kind if (question, frequent.kind) != ("--count", "all") else None,
            "--min-size": frequent.min_size,
            "--out": out,
        }
        for option, value in given.items():
            able = [asked for asked, about in _QUESTIONS.items() if option in (*about.needs, *about.takes)]
            if value is not None and question not in able:
                raise InvalidArgument(
                    f"{option} cannot be combined with {question}."
                    if question != "--min-support"  # which may not have been typed at all
                    else f"{option} needs {able[0]}.",
                    f"Leave {option} out, or use {_QUESTIONS[able[0]].example}.",
                )
        for option in _QUESTIONS[question].needs:
            if given[option] is None:
                also = ", or --rare 10 for rare itemsets" if question == "--min-support" else ""
                raise InvalidArgument(f"{option} must be given.", f"For example: {_QUESTIONS[question].example}{also}.")
        for option, number, least in (
            ("--min-size", frequent.min_size, self.smallest),
            ("--max-size", frequent.max_size, frequent.min_size or self.smallest),
            ("--rare", self.rare.rare, 1),
            ("--top", top, 0),
        ):
            if number is not None and not least <= number <= _LARGEST:
                bound = f"at least {least}" if number < least else f"at most {_LARGEST}"
                raise InvalidArgument(f"{option} is {number}.", f"Give a whole number of {bound}.")
        if replace and out is None:
            raise InvalidArgument("--replace needs --out.", "Leave it out, or name the file to replace with --out.")
        self.asked(1)  # better to hear now than after reading that a share is none

    def asked(self, transactions: int) -> Asked:
        """The same with numbers, for a file with so many transactions."""
        frequent, rare, rules = self.frequent, self.rare, self.rules
        sure = rules.min_confidence
        return Asked(
            _KINDS.get(self.question) or frequent.kind or "all",
            min_support=1 if frequent.min_support is None else _count(frequent.min_support, transactions),
            min_size=frequent.min_size or self.smallest,
            max_size=frequent.max_size,
            k=rare.rare or 1,
            h=None if rare.h is None else exact_share(rare.h, "h"),
            min_confidence=Fraction(1) if sure is None else exact_share(sure, "min_confidence"),
        )


def _count(min_support: str, transactions: int) -> int:
    text = min_support.strip()
    if not (text.isascii() and text.isdecimal()):
        return support_of(exact_share(text, "min_support"), transactions)
    if len(text) > DIGITS:
        raise InvalidArgument(
            f"--min-support has {len(text)} digits.", "Give a number of transactions, or a share such as 1%."
        )
    if int(text) < 1:
        raise InvalidArgument(
            f"--min-support is {text}.", "Give at least 1, or a share of the transactions such as 1%."
        )
    return int(text)


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
