"""What stands between a party's sites and its channels: each summary is checked before it is sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from veilset.errors import Infeasible, VeilsetError
from veilset.joins.parties.home import Home
from veilset.joins.parties.leakage import EdgeLeakage, leakage_now, leakage_of
from veilset.joins.parties.policies import Decision, decide, default_policy
from veilset.joins.parties.split_check import Cells, SplitCheck, check_split
from veilset.joins.site import Numbers, Site
from veilset.joins.summaries import ClassSummary, SplitSummary


class Refused(Infeasible):
    """A summary that a party does not send. *public* is what others are told: no numbers of its tables."""

    public = ""


class Withheld(VeilsetError):
    """Nodes whose split is not passed on, since few rows would show: they become leaves."""

    nodes: tuple[int, ...] = ()


def leakages(home: Home) -> dict[int, EdgeLeakage]:
    """What neighbours would learn at most on each edge, from a party's own tables."""
    depth = home.stop.max_depth
    return {
        edge: leakage_of(
            codes,
            len(parts[0]),
            home.classes if home.end(edge) == home.study.target else None,
            floor=home.study.edges[edge].floor,
            max_depth=depth,
        )
        for edge, (codes, parts) in home.keys.items()
    }


def decisions(home: Home) -> dict[int, Decision]:
    """What is done about it on each edge, by the policy of the study or the default."""
    found = {}
    for edge, leakage in leakages(home).items():
        agreed = home.study.edges[edge]
        to, on = home.study.shared_edges(home.party)[edge], str(home.study.graph.edges[edge])
        found[edge] = decide(leakage, agreed.policy, to=to, on=on, padded=agreed.pad)
    return found


class Guard:
    """Checks summaries of a party before they are sent, and keeps count of what neighbours can put together."""

    def __init__(self, home: Home, decided: Mapping[int, Decision]) -> None:
        self._home = home
        self._decided = decided
        self.cells: dict[int, Cells] = {}

    def check_classes(self, edge: int, site: Site, summary: ClassSummary) -> None:
        """Raise if the policy of the edge does not let this class summary pass.

        Where nobody chose a policy, the default is decided again, on the keys that turned out to be shared. Where keys
        of few rows are suppressed, none must be left.
        """
        leakage = leakage_now(site, edge, summary, floor=self._floor(edge))
        decided = self._decided[edge]
        policy = default_policy(leakage) if decided.default and decided.policy == "report" else decided.policy
        if policy != "report":
            decision = decide(leakage, "refuse", to=self._to(edge), on=self._on(edge))
            if decision.refused:
                raise self._refused(edge, decision.reason, decision.advice)

    def withheld(self, site: Site, nodes: Numbers, children: Numbers) -> list[int]:
        """Nodes that a site has just split, and whose children are not told, since few rows would show.

        Also splits into leaves are checked, which nobody follows: their class counts are told to all.
        """
        found: set[int] = set()
        for edge in site.keys:
            if edge in self._decided and self._decided[edge].policy != "report":
                check = check_split(site, edge, site.split_summary(edge, nodes, children), self._floor(edge))
                if self._decided[edge].policy == "refuse" and check.withheld.any():
                    raise self._not_split(edge, check)
                found |= set(nodes[check.withheld].tolist())
        return sorted(found)

    def check_splits(self, edge: int, site: Site, summary: SplitSummary) -> None:
        """Raise if the policy of the edge does not let this split summary pass."""
        check = check_split(site, edge, summary, self._floor(edge))
        if self._decided[edge].policy != "report" and check.withheld.any():
            if self._decided[edge].policy == "suppress":
                raise self._withheld(edge, summary.nodes[check.withheld].tolist())
            raise self._not_split(edge, check)
        self.replay_splits(edge, site, summary)

    def replay_splits(self, edge: int, site: Site, summary: SplitSummary) -> None:
        """Count what the neighbour can put together from a summary that was sent."""
        if edge not in self.cells:
            self.cells[edge] = Cells(site.keys[edge][1])
        self.cells[edge].refine(summary)

    def _floor(self, edge: int) -> int:
        return self._home.study.edges[edge].floor

    def _to(self, edge: int) -> str:
        return self._home.study.shared_edges(self._home.party)[edge]

    def _on(self, edge: int) -> str:
        return str(self._home.study.graph.edges[edge])

    def _not_split(self, edge: int, check: SplitCheck) -> Refused:
        what = f"{self._on(edge)}: a split is not told. {check.told(self._to(edge))}"
        return self._refused(edge, what, "Use a smaller depth, or a larger min_leaf.")

    def _refused(self, edge: int, reason: str, advice: str) -> Refused:
        error = Refused(reason, advice)
        error.public = (
            f"{self._home.party} refuses to send a summary for {self._on(edge)}: it would tell about single people."
        )
        return error

    def _withheld(self, edge: int, nodes: Iterable[int]) -> Withheld:
        error = Withheld(f"{self._on(edge)}: splits that would show few rows are withheld.")
        error.nodes = tuple(nodes)
        return error
