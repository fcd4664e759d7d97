"""What a party does about what an edge tells: report it, refuse to send it, or suppress it.

A summary shows groups: the rows of a join value and, at a split, those of them that go to either child. A group below
the floor is small. Each party guards its own rows, so a join value that is unique on either side has one that refuses.

- *report*: everything is sent, and the report says what it told.
- *refuse*: no summary with a small group is sent; the session ends first. Whether fewer rows of ours than the floor
  have some join value is checked for the whole table (`leakage_of`), again before each class summary, since rows
  without a partner leave (`leakage_now`), and for the rows at each node that is split (`check_split`).
- *suppress*: join values of small groups leave the join on both sides before class summaries (`kept_keys`), and a node
  whose split would show a small group becomes a leaf. The tree is then not the one of the join any more, and whoever
  sees a join value leave learns that few rows have it.

Pure groups that are not small are reported and not refused: the parties have agreed that the class is told, and the
group hides who is who, not what they all have in common. The floor counts rows. If one person has several rows with a
join value, count people before you rely on it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from veilset.errors import Infeasible, InvalidArgument, unknown
from veilset.exact import is_whole
from veilset.joins.parties.leakage import EdgeLeakage
from veilset.views import Count

Policy = Literal["report", "refuse", "suppress"]
POLICIES: tuple[Policy, ...] = get_args(Policy)


def policy_of(given: Any) -> Policy | None:
    """The policy that a user names; nothing: the default of the edge.

    >>> policy_of("refuse")
    'refuse'
    """
    if given is not None and given not in POLICIES:
        raise unknown("policy", str(given), POLICIES)
    return next((policy for policy in POLICIES if policy == given), None)


def floor_of(given: Any) -> int:
    """The floor that a user names: 2 or more, since a group of one hides nobody."""
    if not is_whole(given) or given < 2:
        raise InvalidArgument(
            f"The floor is {given!r}.", "Give a whole number, 2 or more: the rows that a group must have to be shown."
        )
    return int(given)


def default_policy(leakage: EdgeLeakage) -> Policy:
    """Refuse where join values are unique on our side, but for doubled rows; else report."""
    return "refuse" if leakage.nearly_unique else "report"


@dataclass(frozen=True)
class Decision:
    """What is done about one edge, in words.

    Parameters
    ----------
    to, on : str
        The neighbour, and the equality of the edge.
    policy : str
        What is done.
    default : bool
        Whether nobody chose it.
    refused : bool
        Whether nothing may be sent on this edge.
    told : tuple of str
        What the neighbour would learn.
    reason, advice : str
        What is done about it and why; what can be done instead.
    """

    to: str
    on: str
    policy: Policy
    default: bool
    refused: bool
    told: tuple[str, ...]
    reason: str
    advice: str

    def check(self) -> None:
        """Raise if nothing may be sent."""
        if self.refused:
            raise Infeasible(self.reason, self.advice)

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


def decide(leakage: EdgeLeakage, policy: Policy | None, *, to: str, on: str, padded: bool = False) -> Decision:
    """What the policy of an edge means for these rows; None is the default of the edge."""
    chosen = policy or default_policy(leakage)
    if chosen == "report":
        refused, reason, advice = False, *_reported(leakage, to, on)
    elif chosen == "suppress":
        refused, reason, advice = _suppressed(leakage, to, on)
    else:
        refused, reason, advice = _refused(leakage, to, on, policy is None)
    return Decision(to, on, chosen, policy is None, refused, leakage.told(to, padded), reason, advice)


def _small(leakage: EdgeLeakage) -> str:
    keys, rows = Count(leakage.few.keys), Count(leakage.few.rows)
    by = "a single row each" if leakage.unique else f"fewer than {leakage.floor:,} rows"
    return f"{keys:,} of {leakage.held.keys:,} join values ({rows:,} {rows:row|rows}) {keys:is|are} held by {by}"


def _nothing_left(leakage: EdgeLeakage) -> bool:
    """Whether each join value would be suppressed."""
    return 0 < leakage.held.keys == leakage.few.keys


def _reported(leakage: EdgeLeakage, to: str, on: str) -> tuple[str, str]:
    if not leakage.few.keys:
        return f"{on}: all is sent to {to}. No join value is held by fewer than {leakage.floor:,} rows.", ""
    return (
        f"{on}: all is sent to {to}, also what is about few people: {_small(leakage)}.",
        _instead(leakage, to, "refuse", "suppress"),
    )


def _suppressed(leakage: EdgeLeakage, to: str, on: str) -> tuple[bool, str, str]:
    if _nothing_left(leakage):
        return (
            True,
            f"{on}: nothing is left to send to {to}: each join value is held by fewer than {leakage.floor:,} rows.",
            _instead(leakage, to, "report"),
        )
    leave = (
        f"{_small(leakage)}. These leave the join on both sides, and {to} learns which. " if leakage.few.keys else ""
    )
    return (
        False,
        f"{on}: groups of fewer than {leakage.floor:,} rows are suppressed. {leave}A node whose split would show "
        "such a group becomes a leaf. The tree is then no longer identical to that of the join.",
        "Check its accuracy before you use it.",
    )


def _refused(leakage: EdgeLeakage, to: str, on: str, default: bool) -> tuple[bool, str, str]:
    if not leakage.few.keys:
        return (
            False,
            f"{on}: no join value is held by fewer than {leakage.floor:,} rows, so class summaries are sent to {to}. "
            "The session ends before a split summary that would show a smaller group.",
            "A small max_depth makes this less likely.",
        )
    told = "split summaries would tell the side" if leakage.pure is None else "summaries would tell the class and side"
    whom = "single people" if leakage.alone else "small groups of people"
    why = " This is the default where nearly all join values are held by a single row." if default else ""
    return (
        True,
        f"{on}: nothing is sent to {to}. {_small(leakage)}, so {told} of {whom}.{why}",
        _instead(leakage, to, "report", "suppress"),
    )


def _instead(leakage: EdgeLeakage, to: str, *policies: Policy) -> str:
    """What else can be chosen for this join; not to suppress everything."""
    ways: dict[Policy, str] = {
        "report": f'set policy = "report" for this join if you agree that {to} learns this',
        "refuse": 'set policy = "refuse" for this join to send none of it',
        "suppress": f'set policy = "suppress" with floor = {leakage.floor} to leave small groups out',
    }
    offered = [ways[one] for one in policies if one != "suppress" or not _nothing_left(leakage)]
    sentence = f"{', '.join(offered)}, or aggregate the table to a coarser key."
    return sentence[0].upper() + sentence[1:]
