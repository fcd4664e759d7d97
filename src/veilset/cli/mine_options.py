"""What ``veilset mine`` can be asked, as users type it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from cyclopts import Group, Parameter

from veilset.cli.forms import DIGITS, Whole
from veilset.cli.options import Flag
from veilset.errors import InvalidArgument
from veilset.exact import exact_share, support_of
from veilset.report import Asked

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
class Search:
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

    def check_on_engine(self) -> None:
        """Raise if this is not mined on Spark."""
        if self.question == "--count":
            raise InvalidArgument(
                "--count is not available with --engine spark.", "Leave it out: the list is counted, too."
            )

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
