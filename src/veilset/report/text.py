"""Names and numbers as people read them; nothing in them steers a terminal or turns text around."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from veilset.exact import percent
from veilset.views import legible

NUMBERS = frozenset(
    {
        "At least",
        "Bucket",
        "Bytes",
        "Confidence",
        "Expected",
        "Expected confidence",
        "Discoverable from",
        "In this file",
        "Depth",
        "Entries",
        "Itemsets with it",
        "Joined rows",
        "Messages",
        "Node",
        "Received",
        "Lift",
        "Over the limit",
        "People left",
        "Probability",
        "Sent",
        "Share",
        "Transactions",
    }
)
"""The heads of columns that hold numbers, which are read from the right."""

SHORT = 1000
"""A fraction with a larger denominator is told as a percentage, too."""

_LONGEST_NAME = 60
_MOST_NAMES = 6


def shown(name: str) -> str:
    """An item's name as it may be shown: shortened; in quotes if blanks or signs in it could be overlooked.

    >>> print(shown("beer"), shown(" beer"), shown("beer" + chr(27) + "[2J"))
    beer ' beer' 'beer\\x1b[2J'
    """
    return legible(_shortened(name))


def in_quotes(name: str) -> str:
    """The same in a sentence, in quotes whatever it is.

    >>> print(in_quotes("beer"), in_quotes(" beer"))
    'beer' ' beer'
    """
    short = _shortened(name)
    return f"'{short}'" if (spelled := legible(short)) == short else spelled


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def quoted(names: Sequence[str]) -> str:
    """Names of items in a sentence.

    >>> quoted(["ale", "bun"])
    "'ale' and 'bun'"
    """
    listed = [*map(in_quotes, names[:_MOST_NAMES])]
    if len(names) > _MOST_NAMES:
        listed.append(f"{len(names) - _MOST_NAMES:,} more")
    return " and ".join([", ".join(listed[:-1]), listed[-1]] if len(listed) > 1 else listed)


def knowledge(itemset: Sequence[str]) -> str:
    """What an attacker knows, for a table."""
    more = f" and {len(itemset) - _MOST_NAMES:,} more" if len(itemset) > _MOST_NAMES else ""
    return " + ".join(map(shown, itemset[:_MOST_NAMES])) + more if itemset else "(nothing)"


def braced(names: Sequence[str], most: int = _MOST_NAMES) -> str:
    """Names as a set, shortened to so many.

    >>> braced(["b", "e"]), braced("abcdefgh"), braced([])
    ('{b, e}', '{a, b, c, d, e, f and 2 more}', '{}')
    """
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{{{', '.join(map(shown, names[:most]))}{more}}}"


def people(count: int) -> str:
    """A count of people."""
    return f"{count:,} {'person' if count == 1 else 'people'}"


def number(count: int, thing: str) -> str:
    """A count with its noun.

    >>> number(1, "item"), number(2000, "item")
    ('1 item', '2,000 items')
    """
    return f"{count:,} {thing}{'s' * (count != 1)}"


def shares(value: float) -> str:
    """A measured share, rounded to a tenth of a percent; only nothing is 0% and only everything is 100%.

    >>> shares(0.36551), shares(0.00001), shares(0.99999), shares(0), shares(1)
    ('36.6%', 'below 0.1%', 'above 99.9%', '0%', '100%')
    """
    if 0 < value < 0.001:
        return "below 0.1%"
    if 0.999 < value < 1:
        return "above 99.9%"
    return f"{100 * value:.1f}".removesuffix(".0") + "%"


ROUNDED_UP = "Percentages of people are rounded up to the next 0.1%."
"""What stands below a table of measured shares."""


def rounded_up(share: Fraction) -> str:
    """What to add to a share that `percent` does not tell exactly; empty if it does.

    >>> rounded_up(Fraction(1, 3)), rounded_up(Fraction(2, 5))
    (', rounded up', '')
    """
    return "" if (1000 * share).denominator == 1 else ", rounded up"


def below(share: Fraction, limit: Fraction) -> str:
    """A share below a limit; told exactly where, rounded up, it would look like the limit."""
    return str(share) if share < limit and percent(share) == percent(limit) else percent(share)


def fraction(share: Fraction) -> str:
    """A share, exactly where a person can read that.

    >>> fraction(Fraction(3, 5)), fraction(Fraction(29_387, 88_162)), fraction(Fraction(1))
    ('3/5', '29,387/88,162 (33.3%)', '100%')
    """
    if share == 1:
        return "100%"
    exact = f"{share.numerator:,}/{share.denominator:,}"
    return exact if share.denominator <= SHORT else f"{exact} ({shares(float(share))})"
