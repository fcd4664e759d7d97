"""What to say about proxies: public items that go with a sensitive one; and the list that proposes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

from veilset.mining import Proxies, Proxy
from veilset.report.text import in_quotes, number, shares
from veilset.transactions import Transactions, list_line

CAUTION = (
    "A proxy proves nothing: it is a pattern in this data, which may have any cause. "
    "While an item is public, the h of coherence limits what it reveals. "
    "Declare it sensitive if it is itself a secret: the attacker is then assumed not to know it, and what it reveals "
    "is not limited."
)

_CLEARLY = "beyond chance (lower bound, corrected for the number of combinations)"


@dataclass(frozen=True)
class Suggested:
    """Proxies, and what they were searched with: at least *min_support* transactions, up to *size* items."""

    data: Transactions
    proxies: Proxies
    size: int
    min_support: int


def proxies_sentence(suggested: Suggested) -> str:
    """How many there are among how many, in one sentence."""
    found, counted = suggested.proxies.found, suggested.proxies.counted
    items = "item" if suggested.size == 1 else "item or pair of items"
    people = "1 person" if suggested.min_support == 1 else f"{suggested.min_support:,} people"
    if not counted:
        return f"No public {items} occurs together with a sensitive item for at least {people}."
    looked = f"{number(counted, 'combination')} of a public {items} and a sensitive item (at least {people} each)"
    if not found:
        return f"None of {looked} raises an attacker's confidence {_CLEARLY}."
    return f"{found:,} of {looked} {'raises' if found == 1 else 'raise'} an attacker's confidence {_CLEARLY}."


def proxy_sentence(proxy: Proxy) -> str:
    """One proxy in plain words.

    >>> from fractions import Fraction
    >>> proxy_sentence(Proxy(("glucose strips",), "insulin", 100, 112, Fraction(4, 100), 0.8))
    "89.3% of the 112 people with 'glucose strips' have 'insulin'; 4% of all people do."
    """
    who = " and ".join(map(in_quotes, proxy.items))
    people = "1 person" if proxy.held == 1 else f"{proxy.held:,} people"
    has = f"{'has' if proxy.held == 1 else 'have'} {in_quotes(proxy.sensitive)}"
    sure, of_all = shares(float(proxy.confidence)), shares(float(proxy.share))
    return f"{sure} of the {people} with {who} {has}; {of_all} of all people do."


def proposed_items(proxies: Sequence[Proxy]) -> tuple[str, ...]:
    """The items that are proxies by themselves, each once, in the order of what they give away."""
    return tuple(dict.fromkeys(proxy.items[0] for proxy in proxies if len(proxy.items) == 1))


def proposed_list(proxies: Sequence[Proxy], encoding: str = "utf-8") -> bytes:
    """A list of sensitive items that proposes them, each below its reasons; pairs are reasons only, being no items.

    Parameters
    ----------
    proxies : sequence of Proxy
    encoding : str
        Of the file, which is read with the data's; what a comment cannot say in it becomes a question mark.
    """
    lines = [
        "# This is a proposal: delete what does not belong here.",
        *(f"# {line}" for line in wrap(CAUTION, 100)),
    ]
    for item in proposed_items(proxies):
        lines += ["", *(_comment(proxy) for proxy in proxies if proxy.items == (item,)), list_line(item)]
    if pairs := [_comment(proxy) for proxy in proxies if len(proxy.items) > 1]:
        lines += ["", "# Only as pairs, which cannot be listed:", *pairs]
    written = (line.encode(encoding, "replace").decode(encoding) if line.startswith("# ") else line for line in lines)
    return "".join(f"{line}\n" for line in written).encode(encoding)


def _comment(proxy: Proxy) -> str:
    return f"# {proxy_sentence(proxy)}"
