"""What a person has chosen: where results come from, who ranks them and how, and what must not leave the machine.

All choices are settings of the store, so that page and commands agree, and nothing is lost between two runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from veilset.errors import InvalidArgument, unknown
from veilset.search.engines import check_engine
from veilset.search.ranking import AUTO, DEFAULT_ALPHA, DEFAULT_SCORING, SCORINGS, alpha_for
from veilset.search.sending import Frozen, check_server
from veilset.search.store import Store

MODES = ("home", "exposing")
LOCAL = "local"


class Choices:
    """The choices in a store.

    Parameters
    ----------
    store : Store
        Where they are.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._trial: dict[str, Any] = {}

    def _chosen(self, name: str, default: Any) -> Any:
        return self._trial[name] if name in self._trial else self.store.get(name, default)

    def try_out(self, **choices: Any) -> None:
        """Make choices for this desk alone; the store keeps what it has until `keep`."""
        self._trial |= self._checked(choices)

    def keep(self) -> None:
        """Store the choices that were tried out."""
        for name, value in self._trial.items():
            self.store.set(name, value)
        self._trial.clear()

    def choose(self, **choices: Any) -> None:
        """Change choices; all are checked before any is stored."""
        for name, value in self._checked(choices).items():
            self.store.set(name, value)

    def _checked(self, choices: Mapping[str, Any]) -> dict[str, Any]:
        for name in choices:
            if name not in _CHECKS:
                raise unknown("choice", name, _CHECKS)
        checked = {name: _CHECKS[name](value) for name, value in choices.items()}
        if checked.get("mode", self.mode) == "exposing" and not checked.get("server", self.server):
            raise InvalidArgument(
                "The exposing mode needs the address of a search wrapper.",
                "Name one, such as http://127.0.0.1:8600 (veilset search wrapper runs one).",
            )
        return checked

    @property
    def mode(self) -> str:
        """Where results are ranked: at home, or by a server that is sent terms."""
        return str(self._chosen("mode", MODES[0]))

    @property
    def engine_name(self) -> str:
        """The engine, as users name it."""
        return str(self._chosen("engine", LOCAL))

    @property
    def server(self) -> str:
        """The address of the wrapper for the exposing mode; empty if none is named."""
        return str(self._chosen("server", ""))

    @property
    def alpha(self) -> str:
        """The weight of the profile in the ranking. Until one is chosen: 0 at home; terms that are sent do count."""
        return self.chosen_alpha or (DEFAULT_ALPHA if self.mode == "home" else AUTO)

    @property
    def chosen_alpha(self) -> str:
        """The weight that the user has chosen; empty if none is."""
        return str(self._chosen("alpha", ""))

    @property
    def scoring(self) -> str:
        """What an occurrence of a term adds to the score of a result."""
        return str(self._chosen("scoring", DEFAULT_SCORING))

    @property
    def fetches(self) -> bool:
        """Whether the pages of results are fetched."""
        return bool(self._chosen("fetch", False))

    @property
    def per_query(self) -> bool:
        """Whether only terms related to a query are sent with it."""
        return bool(self._chosen("per_query", False))

    @property
    def hidden(self) -> list[str]:
        """Branches that the user has hidden."""
        return list(self._chosen("hidden", []))

    @property
    def allowed(self) -> dict[str, bool]:
        """For each sensitive term that was asked about, whether it may be sent."""
        return dict(self._chosen("allowed", {}))

    @property
    def own_sensitive(self) -> list[str]:
        """Words that the user wants to be asked about, too."""
        return list(self._chosen("sensitive", []))

    @property
    def frozen_at(self) -> str:
        """When the user last agreed to what this server is sent; empty: never."""
        return str(self.store.get("frozen_at", "")) if self.store.get("frozen_for", "") == self.server else ""

    @property
    def agreed(self) -> Frozen:
        """What the user agreed to send to this server."""
        return Frozen.of_setting(self.store.get("frozen", [])) if self.frozen_at else Frozen()

    def _freeze(self, frozen: Frozen) -> None:
        self.store.set("frozen", frozen.to_setting())
        self.store.set("frozen_at", datetime.now(UTC).isoformat(timespec="seconds"))
        self.store.set("frozen_for", self.server)

    def _end_agreement(self) -> None:
        self.store.set("frozen", [])
        self.store.set("frozen_at", "")


def _mode(given: str) -> str:
    if given not in MODES:
        raise unknown("mode", given, MODES)
    return given


def _alpha(given: str) -> str:
    chosen = str(given).strip()
    if chosen:
        alpha_for("", chosen)  # refuses what is none
    return chosen


def _scoring(given: str) -> str:
    if given not in SCORINGS:
        raise unknown("scoring", given, SCORINGS)
    return given


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "mode": _mode,
    "engine": check_engine,
    "server": lambda given: check_server(given) if given else "",
    "alpha": _alpha,
    "scoring": _scoring,
    "fetch": bool,
    "per_query": bool,
    "sensitive": lambda given: sorted({word.strip().casefold() for word in given} - {""}),
    "dial": dict,
    "hidden": list,
    "allowed": dict,
}
"""What each choice may be, and how it is stored."""
