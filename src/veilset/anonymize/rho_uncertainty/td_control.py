"""TDControl (Cao et al. 2010 §5, Algorithm 3): all public items are one at first; what gains most is split.

Where we differ: the pre-pass and the start look at an attacker who knows nothing and at rules that ALL alone makes,
since "this state satisfies ρ-uncertainty" is not always so; and a split is judged only by rules whose antecedent holds
one of its new nodes, which is what makes counting in trans(x) right. The steps have the paper's names.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from veilset.anonymize.rho_uncertainty.hierarchy import Hierarchy
from veilset.anonymize.rho_uncertainty.rules import EVERYTHING, Concealed, Marks, Rows, conceal
from veilset.limits import Limits
from veilset.models import RhoUncertainty


@dataclass
class Cut:
    """The leaves of the particularization tree, and what was suppressed on the way."""

    nodes: list[int]
    """Which stand for the items below them; not those that are suppressed."""
    suppressed: list[int] = field(default_factory=list)
    """Nodes and sensitive items, in the order in which they went."""
    splits: list[tuple[int, int]] = field(default_factory=list)
    """The nodes that were split, in order, each with its pnig in units of 1 / (number of public items)."""
    undecided: list[int] = field(default_factory=list)
    """What was suppressed because proving that it can stay would have taken too long."""


@dataclass(frozen=True)
class _Move:
    """Splitting a node, and what that would suppress."""

    node: int
    pnig: int
    concealed: Concealed


def td_control(
    hierarchy: Hierarchy,
    rows: Rows,
    promise: RhoUncertainty,
    *,
    keep: Collection[int] = (),
    only_sensitive: bool = False,
    limits: Limits,
) -> Cut:
    """Split from ALL down while that gains more than the suppression it takes.

    *rows* are the transactions, each item as itself.
    *keep* are entries of items that must survive; public ones as themselves or under the name of a node.
    """
    return _TDControl(hierarchy, rows, promise, keep, only_sensitive, limits).run()


class _TDControl:
    def __init__(
        self,
        hierarchy: Hierarchy,
        rows: Rows,
        promise: RhoUncertainty,
        keep: Collection[int],
        only_sensitive: bool,
        limits: Limits,
    ) -> None:
        self._tree, self._rho, self._limits = hierarchy, promise.rho, limits
        self._rows = rows
        must_stay = {int(hierarchy.items[entry][0]) for entry in keep}
        stays = [not must_stay.isdisjoint(items.tolist()) for items in hierarchy.items]
        self._fixed = np.array(stays, dtype=np.uint8)
        if only_sensitive:
            self._fixed |= 1 - hierarchy.sensitive
        self._cut = Cut([])
        self._names = np.where(hierarchy.sensitive == 1, hierarchy.itself(), np.int32(-1))  # what stands for each item
        self._trans: dict[int, npt.NDArray[np.int64]] = {}  # of each node of the cut

    def run(self) -> Cut:
        self._suppress(self._pre_pass())
        root = self._tree.root
        if root is None:
            return self._cut
        self._fixed[root] = 1  # ALL is not suppressed: it says nothing
        self._cut.nodes = [root]
        self._trans[root] = self._rows.all
        self._name([root])
        self._suppress(self._suppress_test(root, [root]))
        while (move := self._best_move()) is not None:
            self._limits.step("Splitting nodes", len(self._cut.splits), len(self._tree))
            self._cut.splits.append((move.node, move.pnig))
            self._cut.nodes.remove(move.node)
            trans = self._trans.pop(move.node)
            for child in self._tree.children[move.node]:
                self._cut.nodes.append(child)
                leaves = self._tree.marks(self._tree.leaf_entries(child))
                self._trans[child] = self._rows.holding(leaves, rows=trans)  # collect
            self._name(self._tree.children[move.node])
            self._suppress(move.concealed)
        return self._cut

    def _pre_pass(self) -> Concealed:
        """Lines 1-6: rules made of sensitive items alone, which no generalization can mend."""
        rows = self._rows.renamed(self._names, len(self._tree), limits=self._limits)
        return self._conceal(rows)

    def _best_move(self) -> _Move | None:
        """Lines 11-14 and 20-21. gain is all that pnig can be: nodes that gain less than the best are not looked at."""
        open_nodes = [node for node in self._cut.nodes if self._tree.children[node]]
        gains = sorted((-self._gain(node), node) for node in open_nodes)
        best: _Move | None = None
        for loses, node in gains:
            gain = -loses
            if best is not None and (gain, -node) < (best.pnig, -best.node):
                break
            move = self._info_gain(node, gain, at_least=max(1, best.pnig if best else 1))
            if move is not None and (best is None or (move.pnig, -node) > (best.pnig, -best.node)):
                best = move
        return best

    def _gain(self, node: int) -> int:
        """Lines 3-5 of infoGain, in units of 1 / (number of public items)."""
        tree = self._tree
        before = int(tree.total[node] * tree.leaves[node])
        return before - sum(int(tree.total[child] * tree.leaves[child]) for child in tree.children[node])

    def _info_gain(self, node: int, gain: int, *, at_least: int) -> _Move | None:
        """Lines 6-14 of infoGain; None if pnig is below *at_least*, or what must stay would make a rule."""
        if gain < at_least:
            return None
        children = self._tree.children[node]
        concealed = self._suppress_test(node, children, cost_limit=gain - at_least)
        if concealed.stuck or not concealed.complete:
            return None
        return _Move(node, gain - int(self._tree.cost[concealed.chosen].sum()), concealed)

    def _suppress_test(self, node: int, children: list[int], cost_limit: int = EVERYTHING) -> Concealed:
        tree, before = self._tree, self._names
        self._names = before.copy()
        self._name(children)
        finer = self._rows.renamed(self._names, len(tree), rows=self._trans[node], limits=self._limits)
        self._names = before
        return self._conceal(finer, tree.marks(children), cost_limit)

    def _conceal(self, rows: Rows, required: Marks | None = None, cost_limit: int = EVERYTHING) -> Concealed:
        tree = self._tree
        return conceal(
            rows,
            self._rho,
            sensitive=tree.sensitive,
            cost=tree.cost,
            fixed=self._fixed,
            required=required,
            population=tree.population,
            cost_limit=cost_limit,
            limits=self._limits,
        )

    def _name(self, nodes: Collection[int]) -> None:
        for node in nodes:
            self._names[self._tree.leaf_entries(node)] = node

    def _suppress(self, concealed: Concealed) -> None:
        if concealed.stuck:
            raise self._tree.stuck(concealed.stuck)
        self._cut.suppressed += concealed.chosen
        self._cut.undecided += concealed.undecided
        gone = set(concealed.chosen)
        self._names[np.isin(self._names, concealed.chosen)] = -1
        self._cut.nodes = [node for node in self._cut.nodes if node not in gone]
