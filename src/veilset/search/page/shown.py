"""What the page shows, as values that its templates need not think about; each is computed when it is first used."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from veilset.search.desk import Desk, Preview
from veilset.search.engines import SearXNG
from veilset.search.evaluation import Evaluation, evaluate
from veilset.search.exposure import Exposure, Setting
from veilset.search.hiding_costs import costs_of_hiding
from veilset.search.node import Node
from veilset.search.ranking import DEFAULT_SCORING, SCORINGS, Ranked, alpha_to_judge
from veilset.search.sending import Difference, Frozen, pseudonym

if TYPE_CHECKING:
    from veilset.search.page.actions import SearchPage

MOST_NODES = 300
"""How many interests are listed, those with the most support; nobody would read more."""
MOST_LOGGED = 200
MOST_DOCUMENTS = 12


@dataclass(frozen=True)
class Branch:
    """An interest in the tree."""

    place: int
    node: Node
    exposed: bool
    hidden: bool
    above_hidden: bool
    topic: str
    cost: str
    children: list[Branch]


@dataclass(frozen=True)
class Row:
    """A result in the list."""

    ranked: Ranked
    number: int
    moved: str
    why: str
    link: bool


@dataclass(frozen=True)
class Because:
    """An interest, the titles of the first documents behind it, and how many there are."""

    label: str
    titles: list[str]
    count: int


@dataclass(frozen=True)
class Drawing:
    """The curve: its dots, the line through them, and the band of their intervals."""

    dots: list[tuple[float, float]]
    line: str
    band: str


class Shown:
    """One look at a page."""

    def __init__(self, page: SearchPage) -> None:
        self._page = page
        self._desk: Desk = page.desk

    # Results

    @property
    def rows(self) -> list[Row]:
        """The results, in the order that was chosen."""
        reply = self._page.reply
        if reply is None:
            return []
        given = reply.original if self._page.original else reply.ranked
        return [_row(one, number, personal=self._page.personal) for number, one in enumerate(given, 1)]

    # What leaves

    @cached_property
    def preview(self) -> Preview:
        """What the query on the page would send, or one that stands for it."""
        return self._desk.preview(self._page.query or "your query", personal=self._page.personal)

    @property
    def wire(self) -> str:
        """The request, as text; a password in it is not shown."""
        return "" if self.preview.message is None else self.preview.message.shown

    @property
    def pages_of_results(self) -> bool:
        """Whether the engine is asked several times, for one page of results each."""
        return self._desk.mode == "home" and isinstance(self._desk.engine(), SearXNG)

    @cached_property
    def proposed(self) -> Frozen:
        """What would be sent after the user agrees."""
        return self._desk.proposed()

    @cached_property
    def difference(self) -> Difference:
        """How that differs from what is sent now."""
        return Difference.between(self._desk.frozen, self.proposed)

    @property
    def pseudonym(self) -> str:
        """What it means to send so many terms; empty if none are sent."""
        return pseudonym(len(self._desk.frozen.pairs))

    @cached_property
    def questions(self) -> dict[str, str]:
        """Sensitive terms to ask about, if anything is sent at all."""
        return self._desk.to_ask() if self._desk.mode == "exposing" else {}

    # The dial

    @cached_property
    def exposure(self) -> Exposure:
        """What the dial stands at, before sensitive terms are left out."""
        return self._desk.exposure(asking=True)

    @cached_property
    def settings(self) -> list[Setting]:
        """All positions of the dial."""
        return self.exposure.settings()

    @property
    def position(self) -> int:
        """Where it stands."""
        detail = self.exposure.min_detail
        return next((at for at, one in enumerate(self.settings) if one.min_detail <= detail), len(self.settings) - 1)

    @property
    def unit(self) -> str:
        """What stays the same when the profile changes."""
        return "terms" if "terms" in self._desk.dial else "share"

    @property
    def withheld(self) -> int:
        """How many terms the dial exposes that are not proposed: those that nobody allowed, and what is within them."""
        return len(self.exposure.terms) - len(self.proposed.pairs)

    # The tree

    @cached_property
    def branches(self) -> list[Branch]:
        """The interests, as many as can be listed."""
        return self._branches(self._desk.profile.root)

    @property
    def unlisted(self) -> int:
        """How many interests are not listed."""
        return max(0, sum(1 for _ in self._desk.profile.root.walk()) - 1 - MOST_NODES)

    @property
    def hidden_elsewhere(self) -> list[str]:
        """What is hidden though the profile does not have it now, or not as a branch of that name."""
        names = {node.name for node in self._desk.profile.root.walk()}
        return [name for name in self._desk.hidden if name not in names]

    @property
    def because(self) -> Because | None:
        """The documents behind an interest that was asked about."""
        label = self._page.asked_why
        keys = [str(key) for key in self._desk.profile.because(label)] if label else []
        if not keys:
            return None
        first = keys[:MOST_DOCUMENTS]
        titles = self._desk.store.titles(first)
        return Because(label, [titles.get(key) or key for key in first], len(keys))

    def _branches(self, root: Node) -> list[Branch]:
        places = {id(node): at for at, node in enumerate(root.walk())}
        by_support = sorted(root.walk(), key=lambda node: (-node.support, places[id(node)]))
        listed = {places[id(node)] for node in by_support[: MOST_NODES + 1]}  # the root is the first
        exposed = {id(node) for node in self.exposure.nodes}
        costs = costs_of_hiding(root, self.exposure, listed)
        hidden = {*self._desk.hidden}
        regained: dict[str, str] = {}

        def branch(node: Node, above: bool) -> Branch:
            place, name = places[id(node)], node.name
            is_hidden = name in hidden
            if is_hidden and name not in regained:
                regained[name] = _cost(*self._desk.cost_of_hiding(node))
            cost = regained[name] if is_hidden else _cost(*costs[place]) if place in costs else ""
            children = [branch(child, above or is_hidden) for child in node.children if places[id(child)] in listed]
            return Branch(place, node, id(node) in exposed, is_hidden, above, self._desk.topic(name), cost, children)

        return [branch(child, False) for child in root.children if places[id(child)] in listed]

    # The cost

    @property
    def judged(self) -> int:
        """How many queries were judged."""
        return len(self._desk.store.entries("judgements"))

    @cached_property
    def curve(self) -> Evaluation | None:
        """Quality against exposure."""
        return evaluate(
            self._desk.store.entries("judgements"),
            self._desk.profile,
            alpha=self.curve_alpha,
            scoring=self._desk.scoring,
            hidden=self._desk.hidden,
        )

    @property
    def curve_alpha(self) -> str:
        """The weight of the profile in the curve."""
        return alpha_to_judge(self._desk.alpha)

    @property
    def drawing(self) -> Drawing:
        """The curve as shapes in a drawing of 400 by 200."""
        found = self.curve.points if self.curve is not None else ()
        places = [40 + 350 * point.setting.ratio for point in found]
        lows = [(x, _up(point.precision.low)) for x, point in zip(places, found, strict=True)]
        highs = [(x, _up(point.precision.high)) for x, point in zip(places, found, strict=True)]
        dots = [(x, _up(point.precision.value)) for x, point in zip(places, found, strict=True)]
        return Drawing(dots, _points(dots), _points([*highs, *lows[::-1]]))

    # The rest

    @property
    def log(self) -> list[dict[str, Any]]:
        """What was sent, the last first."""
        return self._desk.store.entries("sent")[::-1][:MOST_LOGGED]

    @property
    def logged(self) -> int:
        """How often something was sent."""
        return len(self._desk.store.entries("sent"))

    @property
    def scorings(self) -> tuple[str, ...]:
        """The ways to score results, the default first."""
        return tuple(sorted(SCORINGS, key=lambda name: name != DEFAULT_SCORING))

    @property
    def documents(self) -> int:
        """How many documents the profile is made from."""
        return len(self._desk.store)


def _up(quality: float) -> float:
    return 170 - 150 * quality


def _points(places: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _row(one: Ranked, number: int, *, personal: bool) -> Row:
    moved = one.result.rank - one.position
    words = "stays" if not moved else f"{'up' if moved > 0 else 'down'} {abs(moved)}"
    why = ", ".join(f"{term} ×{count}" for term, count in list(one.reasons.items())[:6])
    link = one.result.address.lower().startswith(("http://", "https://"))
    return Row(one, number, words if personal else "", why, link)


def _cost(ratio: float, words: int) -> str:
    """The cost of hiding, in words.

    >>> _cost(0.1234, 2), _cost(0.0, 1)
    ('2 words, 12.3% of the information', '1 word')
    """
    named = f"{words:,} word{'s' * (words != 1)}"
    return named if ratio < 0.0005 else f"{named}, {ratio:.1%} of the information"


def percent(share: float) -> str:
    """A share as people read it.

    >>> percent(0.5), percent(0.0123), percent(0.0001), percent(0)
    ('50%', '1.2%', '0.01%', '0%')
    """
    value = float(share) * 100
    digits = 0 if value >= 10 or value == int(value) else 1 if value >= 0.1 else 2
    return f"{value:.{digits}f}%"


def detail(setting: Setting) -> str:
    """The least probability of an exposed interest, as people read it."""
    return "above all" if setting.min_detail > 1 else f"{float(setting.min_detail):.4f}"


def moment(at: str) -> str:
    """A time in UTC without what is the same for all."""
    return at.replace("T", " ").removesuffix("+00:00")


FILTERS: dict[str, Callable[..., Any]] = {"percent": percent, "detail": detail, "moment": moment}
