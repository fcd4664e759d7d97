"""What a person does with a profile and a search box: the page and the command line are two faces of this."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from veilset.errors import InvalidArgument
from veilset.search.asking import Message
from veilset.search.choices import Choices
from veilset.search.engines import Engine, engine_named
from veilset.search.engines.engine import encodable
from veilset.search.exposure import Exposure, Setting
from veilset.search.fetching import Fetcher
from veilset.search.hiding_costs import Cost
from veilset.search.node import BETWEEN_WORDS, Node
from veilset.search.profile import Profile
from veilset.search.ranking import AUTO, alpha_for, rerank
from veilset.search.sending import Difference, Frozen, as_json, exposing_message
from veilset.search.sensitive import OWN, topic_of
from veilset.search.store import Store
from veilset.search.wrapper import Reply, search_at_home, search_exposed, unranked
from veilset.views import visible

_KEPT = 32
DEFAULT_TERMS = 5
"""How many terms are proposed in the exposing mode, until the dial is moved."""


@dataclass(frozen=True)
class Preview:
    """Exactly what would leave the machine for a query.

    Parameters
    ----------
    destination : str
        Where it would go; empty: nowhere.
    message : Message or None
        The request, if there is one.
    terms : Frozen
        The terms in it.
    """

    destination: str
    message: Message | None
    terms: Frozen


class Desk(Choices):
    """Searching with a store.

    Parameters
    ----------
    store : Store
        The profile, the settings and the logs.
    fetcher : Fetcher, optional
        What fetches pages, for users who want that.
    """

    def __init__(self, store: Store, fetcher: Fetcher | None = None) -> None:
        super().__init__(store)
        self._fetcher = fetcher
        self._known: tuple[int, Profile] | None = None
        self._exposures: dict[Hashable, Exposure] = {}

    def choose(self, **choices: Any) -> None:
        """Change choices; all are checked before any is stored. What must not leave any more does not, at once."""
        if "dial" in choices:
            self.profile.expose(**choices["dial"])  # refuses what is no position
        super().choose(**choices)
        self._strip()

    def keep(self) -> None:
        """Store the choices that were tried out, likewise."""
        super().keep()
        self._strip()

    def hide(self, label: str, *, hide: bool) -> None:
        """Hide a branch, or show it again."""
        others = [one for one in self.hidden if one != label]
        self.choose(hidden=[*others, label] if hide else others)

    def decide(self, term: str, *, allow: bool) -> None:
        """Say whether a sensitive term may be sent."""
        self.choose(allowed={**self.allowed, term: allow})

    # The profile, and what may leave of it

    @property
    def profile(self) -> Profile:
        """The profile of the store as it is now: what was forgotten, here or by another process, must not be sent."""
        version = self.store.version
        if self._known is None or self._known[0] != version:
            self._known = version, self.store.profile()
            self._exposures.clear()
        return self._known[1]

    @property
    def dial(self) -> dict[str, Any]:
        """Where the dial stands. Until it is turned: everything at home, and a few terms if they are sent."""
        usual = {"ratio": "1"} if self.mode == "home" else {"terms": DEFAULT_TERMS}
        return dict(self._chosen("dial", None) or usual)

    def exposure(self, *, asking: bool = False) -> Exposure:
        """What the dial exposes, without what is hidden.

        In the exposing mode, sensitive terms are left out that were not allowed; *asking* has those about which the
        user was not asked.
        """
        exposure = self._at(self.dial, self.hidden)
        if self.mode == "home" and not asking:
            return exposure
        known = [*self.hidden, *self._denied]
        while True:  # what takes the place of a term that is left out may be sensitive, too
            exposure = self._at(self.dial, known)
            open_terms = self._undecided(_words(exposure.terms))
            if asking or not open_terms:
                return exposure
            known += open_terms

    def to_ask(self) -> dict[str, str]:
        """Sensitive terms that the dial would expose and nobody has decided about, with their topics."""
        return self._undecided(_words(self.exposure(asking=True).terms))

    def topic(self, term: str) -> str:
        """What a term may say something about; empty if nothing is known to be sensitive about it."""
        return self._topic(term, self._own_stems)

    def _topic(self, term: str, own: set[str]) -> str:
        return OWN if own and own & self.profile.stems_of(term) else topic_of(term)

    @property
    def _own_stems(self) -> set[str]:
        """The stems of the words that the user wants to be asked about; each word of a phrase is one."""
        return {
            stem for phrase in self.own_sensitive for word in phrase.split() for stem in self.profile.stems_of(word)
        }

    @property
    def _denied(self) -> list[str]:
        return [term for term, yes in self.allowed.items() if not yes]

    def _undecided(self, words: Iterable[str]) -> dict[str, str]:
        """The sensitive ones among some words that nobody has decided about, with their topics."""
        own, allowed = self._own_stems, self.allowed
        topics = {word: self._topic(word, own) for word in words if word not in allowed}
        return {word: topic for word, topic in topics.items() if topic}

    def settings(self) -> list[Setting]:
        """All positions of the dial."""
        return self.exposure(asking=True).settings()

    @property
    def frozen(self) -> Frozen:
        """What is sent with each query in the exposing mode, until it is refreshed.

        What was hidden or denied since, has become sensitive or is in no document any more is left out, whatever the
        store says. So are other words of its stem: which one is shown for a stem can change with the documents.
        """
        agreed = self.agreed
        terms = dict(agreed.pairs)
        left_out = [*self.hidden, *self._denied, *self._undecided(_words(terms))]
        forbidden = {stem for name in left_out for stem in self.profile.stems_of(name)}
        visible = {stem for node in self._at({"min_detail": "0"}, left_out).nodes for stem in node.stems}
        known = {stem for node in self.profile.root.walk() for stem in node.stems} if terms else set()

        def may_leave(word: str) -> bool:
            stems = self.profile.stems_of(word)
            if self.profile.known_as(word) is None:  # its documents are forgotten or excluded
                return False
            return not stems & forbidden and (bool(stems & visible) or not stems & known)

        return Frozen(tuple(pair for pair in agreed.pairs if all(map(may_leave, pair[0].split(BETWEEN_WORDS)))))

    def proposed(self) -> Frozen:
        """What would be sent after a refresh, in some order."""
        return Frozen.of(self.exposure())

    def difference(self) -> Difference:
        """How a refresh would change what is sent."""
        return Difference.between(self.frozen, self.proposed())

    def refresh(self, seen: str) -> None:
        """Send from now on what the dial exposes. *seen* is the digest of what the user was shown."""
        proposed = self.proposed()
        if proposed.digest != seen:
            raise InvalidArgument("What would be sent has changed since it was shown.", "Look at it again, then agree.")
        if Difference.between(self.frozen, proposed) or not self.frozen_at:
            self._freeze(proposed)

    def _strip(self) -> None:
        """Take out of what is stored to be sent whatever must not leave any more: all, if the server is another one."""
        if not self.frozen_at:
            if self.store.get("frozen_at"):
                self._end_agreement()
        elif (left := self.frozen) != self.agreed:
            self._freeze(left)

    def _at(self, dial: Mapping[str, Any], hidden: Iterable[str]) -> Exposure:
        """An exposure; the last few are kept, since one look at a page asks for the same several times."""
        profile, names = self.profile, list(hidden)
        asked = tuple(dial.items()), tuple(names)
        if asked not in self._exposures:
            if len(self._exposures) >= _KEPT:
                self._exposures.clear()
            self._exposures[asked] = profile.expose(**dial, hidden=names)
        return self._exposures[asked]

    # Searching

    def weight(self, query: str) -> Fraction:
        """The weight of the profile for a query."""
        return alpha_for(query, self.alpha, self.profile.languages)

    def engine(self) -> Engine:
        """The engine that is asked."""
        return engine_named(self.engine_name, self.store)

    def preview(self, query: str, *, personal: bool = True, agreed: Frozen | None = None) -> Preview:
        """What a query would send, before it does; not *personal*: without terms.

        In the exposing mode, *agreed* is what would be agreed to instead of what is.
        """
        _check_query(query)
        if self.mode == "home":
            engine = self.engine()
            message = getattr(engine, "message", None)
            return Preview(engine.destination, message(query) if engine.destination and message else None, Frozen())
        terms = self.frozen if agreed is None else agreed
        if not personal or not self.weight(query):  # at weight 0 they could change nothing
            terms = Frozen()
        if self.per_query:
            terms = terms.among(self.profile.expose(ratio="1", query=query).terms)
        message = exposing_message(self.server, query, terms.pairs)
        return Preview(message.host, message, terms)

    def search(self, query: str, *, personal: bool = True) -> Reply:
        """Search, and rank as the choices say; not *personal*: no term is used or sent, the order is the engine's."""
        _check_query(query)
        if self.mode == "home":
            fetcher = self._fetcher if self.fetches and personal else None
            exposure: Exposure | dict[str, float] = self.exposure() if personal else {}
            reply = search_at_home(
                query,
                self.engine(),
                exposure,
                alpha=self.weight(query),
                scoring=self.scoring,
                log=self._log,
                fetcher=fetcher,
            )
        else:
            if personal and not self.frozen_at:
                raise InvalidArgument(
                    "Nothing of the profile may be sent to this server yet: you have not agreed to any terms.",
                    "Look at what would be sent and agree, or search without the profile.",
                )
            terms = self.preview(query, personal=personal).terms
            message = exposing_message(self.server, query, terms.pairs)
            reply = search_exposed(message, query, as_json(terms.pairs), log=self._log)
        if not personal:
            return unranked(reply)
        return reply if self.weight(query) else replace(reply, notes=(*reply.notes, _left_alone(self.alpha)))

    def _log(self, entry: Mapping[str, Any]) -> None:
        self.store.append("sent", entry)

    def ranked_again(self, reply: Reply, exposure: Exposure) -> Reply:
        """The results of a reply as another exposure would rank them."""
        results, alpha = [one.result for one in reply.ranked], self.weight(reply.query)
        return replace(reply, ranked=rerank(results, exposure, alpha=alpha, scoring=self.scoring))

    # The tree

    def cost_of_hiding(self, node: Node) -> Cost:
        """What is no longer exposed at this position of the dial if a branch is hidden."""
        others = [one for one in self.hidden if one != node.name]
        detail = {"min_detail": self.exposure(asking=True).min_detail}
        shown, hidden = self._at(detail, others), self._at(detail, [*others, node.name])
        return Cost(shown.ratio - hidden.ratio, len(set(_words(shown.terms)) - set(_words(hidden.terms))))


def _check_query(query: str) -> None:
    if not query.strip():
        raise InvalidArgument("The query is empty.", "Type what you are looking for.")
    if query != encodable(query):
        raise InvalidArgument(
            f"The query {visible(query)!r} is no text: it has bytes that are not UTF-8.", "Type it anew."
        )


def _left_alone(alpha: str) -> str:
    if alpha == AUTO:
        return "Your profile left the order alone: with the weight auto, it ranks short queries only."
    return "Your profile left the order alone: its weight is 0. Another one, such as auto, makes it count."


def _words(terms: Iterable[str]) -> list[str]:
    """Terms word by word: each is decided about on its own."""
    return list(dict.fromkeys(word for term in terms for word in term.split(BETWEEN_WORDS)))
