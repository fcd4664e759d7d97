"""ρ-uncertainty step by step, as Cao et al. (2010) write it: slow, and short enough to be checked by reading.

Everything is counted anew whenever it is needed, in exact fractions, by walking all subsets of all rows. Nothing of
Veilset is imported, so that its mistakes cannot be shared. Rows are frozensets of item names; `order` is the vocabulary
order of the items, which decides ties.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from typing import NamedTuple

Row = frozenset[str]
Rule = tuple[Row, str]
"""An antecedent and a sensitive item that is not in it."""
Number = Fraction | int


class Stuck(Exception):
    """A violating rule is left none of whose items may be suppressed."""


def rules_of_size(rows: Sequence[Row], sensitive: Collection[str], size: int) -> dict[Rule, tuple[int, int]]:
    """Sup(χα) and Sup(χ) of every rule χ -> α with |χ| = size that some row holds; Sup(∅) is the number of rows."""
    held = Counter(frozenset(x) for row in rows for n in (size, size + 1) for x in combinations(row, n))
    return {
        (both - {item}, item): (count, held[both - {item}])
        for both, count in held.items()
        if len(both) == size + 1
        for item in both.intersection(sensitive)
    }


def violating_rules(rows: Sequence[Row], sensitive: Collection[str], rho: Fraction) -> dict[Rule, Fraction]:
    """The confidence of every rule, of any size, that reaches ρ (Definition 3.1, with χ = ∅ taken seriously)."""
    longest = max(map(len, rows), default=0)
    return {
        rule: Fraction(*supports)
        for size in range(longest)
        for rule, supports in rules_of_size(rows, sensitive, size).items()
        if Fraction(*supports) >= rho
    }


def is_rho_uncertain(rows: Sequence[Row], sensitive: Collection[str], rho: Fraction) -> bool:
    return not violating_rules(rows, sensitive, rho)


def item_supports(rows: Sequence[Row]) -> Counter[str]:
    return Counter(item for row in rows for item in row)


def suppress_control(
    rows: Sequence[Row],
    sensitive: Collection[str],
    rho: Fraction,
    *,
    cost: Mapping[str, Number] | None = None,
    fixed: Collection[str] = (),
    required: Collection[str] | None = None,
    order: Sequence[str],
) -> list[str]:
    """Algorithm 1, and suppressTest of Function 2: the items to suppress, in the order in which they are chosen.

    What the text leaves open:

    - Round 0 comes first: χ = ∅, counted over all rows, the empty ones included.
    - SR_i is found once, at the start of round i. No more is needed: suppression deletes rules, and leaves the
      confidence of every other as it is.
    - C(b, SR_i) counts the rules that are left in SR_i, on whichever side they hold b.
    - Equal payoffs: the item that comes first in `order`.

    Parameters
    ----------
    cost
        What the suppression of an item costs; its support in `rows` unless given. The payoff of an item that costs
        nothing is infinite.
    fixed
        Items that are never chosen; `Stuck` is raised where a violating rule holds no other.
    required
        If given, only rules whose antecedent holds one of these count, so that there is no round 0.
    """
    cost = item_supports(rows) if cost is None else cost

    def preference(item: str) -> tuple[bool, Fraction, int]:
        """The smallest is chosen."""
        payoff = Fraction(counts[item]) / cost[item] if cost[item] else Fraction(0)
        return cost[item] != 0, -payoff, order.index(item)

    chosen: list[str] = []
    size = 0 if required is None else 1
    while possible := rules_of_size(rows, sensitive, size):
        violating = [
            (antecedent, item)
            for (antecedent, item), supports in possible.items()
            if Fraction(*supports) >= rho and (required is None or antecedent.intersection(required))
        ]
        while violating:
            counts = Counter(item for antecedent, alpha in violating for item in (*antecedent, alpha))
            if not (free := [item for item in counts if item not in fixed]):
                raise Stuck
            best = min(free, key=preference)
            chosen.append(best)
            violating = [rule for rule in violating if best not in rule[0] and best != rule[1]]
        rows = [row.difference(chosen) for row in rows]
        size += 1
    return chosen


class TopDown(NamedTuple):
    """What TDControl decides.

    `cut`: for each public item that occurs, the node it is generalized to, or itself; for an item that is suppressed,
    the node as which it was. `suppressed`: items and nodes in the order in which they go; all items below such a node
    are gone. `splits`: the nodes that are split, in order, each with its pnig.
    """

    cut: dict[str, str]
    suppressed: list[str]
    splits: list[tuple[str, Fraction]]


def td_control(
    rows: Sequence[Row],
    sensitive: Collection[str],
    rho: Fraction,
    parents: Mapping[str, str],
    order: Sequence[str],
    *,
    cost: Mapping[str, Number] | None = None,
    fixed: Collection[str] = (),
) -> TopDown:
    """Algorithm 3.

    What the text leaves open, or gets wrong:

    - The hierarchy is cut down to the public items that occur in `rows`: only they are leaves, only they count in IL,
      and a node with one child is replaced by that child (its split would gain nothing, and end there). So if one
      public item occurs, it stands in the place of ALL.
    - The pre-pass counts over all rows, the ones without sensitive items included: conf(∅ -> α) needs them.
    - Everything at ALL may break ρ-uncertainty. So before the loop sensitive items are suppressed until no rule with
      ALL in its antecedent does. ALL is never suppressed.
    - suppressTest on trans(x) judges rules with a child of x in the antecedent: only they are all in trans(x). (There
      any other χ -> α has the confidence that x χ -> α has now, which is below ρ.)
    - Supports in gains, costs and payoffs are those of the items in `rows`, not in trans(x). That of a node is the sum
      over its leaves; its suppression costs sup(g) (1 - IL_g), that of an item its support.
    - Equal payoffs and equal pnigs: the item or node whose first leaf comes first in `order`. (Nodes that are in use
      together share no leaf.)
    - A suppressed node is out of the tree: it is never split, and its leaves never come back.

    Parameters
    ----------
    parents
        The node above each item and each node but the root. A name stands for one node; leaves that do not occur, or
        are sensitive, play no part.
    cost
        What counts as the support of an item; the number of `rows` that hold it unless given.
    fixed
        Items that are not suppressed, public ones neither as themselves nor as a node above them. `Stuck` is raised
        where the start needs it; a split that would is not made.
    """
    cost = item_supports(rows) if cost is None else cost
    public = frozenset().union(*rows).difference(sensitive)
    leaves = _leaves_of_nodes(parents, public)
    assert not set(sensitive).intersection(leaves)
    alone = [row.intersection(sensitive) for row in rows]
    suppressed = suppress_control(alone, sensitive, rho, cost=cost, fixed=fixed, order=order)
    if not public:
        return TopDown({}, suppressed, [])

    root = next(node for node in leaves if leaves[node] == public)
    children = {node: _children(node, leaves) for node in leaves}
    weight = {node: sum(Fraction(cost[item]) for item in leaves[node]) for node in leaves}
    loss = {node: _information_loss(node, leaves[node], len(public)) for node in leaves}
    costs = {node: weight[node] * (1 - loss[node]) for node in leaves} | {item: cost[item] for item in sensitive}
    first = {node: min(map(order.index, leaves[node])) for node in leaves}
    places = sorted([*leaves, *sensitive], key=lambda name: first[name] if name in leaves else order.index(name))
    unsuppressable = {root, *fixed, *(node for node in leaves if leaves[node].intersection(fixed))}

    def suppress_test(rows: Iterable[Row], cut: Collection[str], required: Collection[str]) -> list[str]:
        return suppress_control(
            [_particularized(row.difference(suppressed), cut, leaves, sensitive) for row in rows],
            sensitive,
            rho,
            cost=costs,
            fixed=unsuppressable,
            required=required,
            order=places,
        )

    suppressed += suppress_test(rows, [root], [root])
    cut = [root]
    splits: list[tuple[str, Fraction]] = []
    while True:
        moves = []
        for node in cut:
            if children[node]:
                gain = weight[node] * loss[node] - sum(weight[child] * loss[child] for child in children[node])
                trans = [row for row in rows if row.intersection(leaves[node])]
                finer = [*(other for other in cut if other != node), *children[node]]
                try:
                    selected = suppress_test(trans, finer, children[node])
                except Stuck:
                    continue
                moves.append((gain - sum(costs[name] for name in selected), node, selected))
        pnig, node, selected = max(moves, key=lambda move: (move[0], -first[move[1]]), default=(Fraction(0), "", []))
        if pnig <= 0:
            break
        splits.append((node, pnig))
        suppressed += selected
        cut = [name for name in (*cut, *children[node]) if name != node and name not in selected]
    used = [*cut, *(name for name in suppressed if name in leaves)]
    return TopDown({item: node for node in used for item in leaves[node]}, suppressed, splits)


def parents_in(tree: Mapping[str, Sequence[str]], root: str = "ALL") -> dict[str, str]:
    """The node above each item and each group, from each item's groups (the most general last)."""
    return {node: above for item, groups in tree.items() for node, above in pairwise([item, *groups, root])}


def _leaves_of_nodes(parents: Mapping[str, str], public: Collection[str]) -> dict[str, Row]:
    """The items that occur below each node; of nodes with the same items the lowest."""
    above = {item: [item] for item in public}
    for path in above.values():
        while path[-1] in parents:
            path.append(parents[path[-1]])
    below = {
        node: frozenset(item for item in public if node in above[item]) for path in above.values() for node in path
    }
    lowest: dict[Row, str] = {}
    for path in above.values():
        for node in path:
            lowest.setdefault(below[node], node)
    return {node: items for items, node in lowest.items()}


def _children(node: str, leaves: Mapping[str, Row]) -> list[str]:
    """The nodes right below."""
    below = [other for other in leaves if leaves[other] < leaves[node]]
    return [other for other in below if not any(leaves[other] < leaves[between] for between in below)]


def _information_loss(node: str, items: Row, public: int) -> Fraction:
    """IL_n of §3.2: nothing for a leaf."""
    return Fraction(0) if items == {node} else Fraction(len(items), public)


def _particularized(row: Row, cut: Collection[str], leaves: Mapping[str, Row], sensitive: Collection[str]) -> Row:
    """The row with each public item as the node of the cut above it; without the items that have none."""
    return row.intersection(sensitive) | {node for node in cut if row.intersection(leaves[node])}


def released(rows: Sequence[Row], cut: Mapping[str, str], suppressed: Collection[str]) -> list[Row]:
    """What is published: generalized along the cut, without what is suppressed."""
    return [frozenset(cut.get(item, item) for item in row).difference(suppressed) for row in rows]


def avg_loss(
    rows: Sequence[Row], sensitive: Collection[str], cut: Mapping[str, str], suppressed: Collection[str]
) -> Fraction:
    """Average information loss (§3.2): per occurrence, 1 if it is suppressed, IL_n if it is generalized to n.

    `cut` and `suppressed` as in `TopDown`; an item that is not in `cut` is not generalized. Data without items loses
    nothing.
    """
    supports = item_supports(rows)
    public = set(supports).difference(sensitive)
    stands_for = Counter(cut.get(item, item) for item in public)

    def info_loss(item: str) -> Fraction:
        node = cut.get(item, item)
        if node in suppressed:
            return Fraction(1)
        return Fraction(0) if node == item else Fraction(stands_for[node], len(public))

    total = sum(supports.values())
    return sum((count * info_loss(item) for item, count in supports.items()), Fraction(0)) / max(1, total)


def simple(rows: Sequence[Row], sensitive: Collection[str]) -> list[str]:
    """The baseline of §6: all sensitive items that occur."""
    return sorted(frozenset().union(*rows).intersection(sensitive))


def restore(
    rows: Sequence[Row],
    gone: Collection[str],
    rho: Fraction,
    sensitive: Collection[str],
    weight: Mapping[str, Number],
    order: Sequence[str],
) -> list[str]:
    """Put items back, the largest regained loss first, each if the rows are ρ-uncertain with it; what stays gone.

    `rows` are generalized, with nothing suppressed. `worth` is the loss that each item or node of `gone` regains; ties
    go to the one that comes first in `order`. One pass is enough: what is refused once would bring the same rule later.
    """
    still = sorted(gone, key=lambda name: (-weight[name], order.index(name)))
    for name in list(still):
        others = [other for other in still if other != name]
        if is_rho_uncertain([row.difference(others) for row in rows], sensitive, rho):
            still = others
    return still
