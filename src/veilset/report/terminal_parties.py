"""A tree of several parties on a terminal: while it grows, when it is done, and what an audit log has of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from rich.console import Console, Group, RenderableType
from rich.text import Text

from veilset.joins import Tree
from veilset.joins.parties.audit_log import Session
from veilset.joins.parties.coordinator import Growth
from veilset.report.parties import SecureTraining, identity_sentence, learned, revoke_sentence, sent, size_words
from veilset.report.terminal_parts import indented, new_table, title
from veilset.report.text import number
from veilset.views import visible

_LATEST = 12  # nodes


def growth_table(growth: Growth, owners: Mapping[str, str]) -> RenderableType:
    """A tree that grows: its latest nodes, and what each party has sent and received."""
    nodes = new_table("Node", "Depth", "Joined rows", "Split by")
    latest = list(islice(reversed(growth.nodes.items()), _LATEST))
    for at, node in reversed(latest):
        by = "" if node.split is None else f"{owners[node.split.table]} ({node.split.table})"
        nodes.add_row(str(at), str(node.depth), f"{node.rows:,}", Text(by))
    more = len(growth.nodes) - len(latest)
    before = [Text(f"… after {number(more, 'earlier node')}", style="dim")] if more else []
    return Group(Text(f"{growth.stage} …", style="bold"), *before, nodes, volumes(growth.traffic))


def volumes(traffic: Mapping[str, Sequence[int]]) -> RenderableType:
    """Bytes of each party."""
    table = new_table("Party", "Sent", "Received")
    for name, (out, back) in traffic.items():
        table.add_row(Text(name), f"{out:,}", f"{back:,}")
    return table


def print_secure(training: SecureTraining, console: Console) -> None:
    """The end of a run, in short."""
    tree = training.run.tree
    title("Tree", console)
    print_secure_tree(tree, console)
    indented([Text(size_words(tree)), Text(identity_sentence(training.run.model))], console)
    title("Bytes on the network", console)
    indented([volumes(training.run.traffic)], console)
    title("What each party has learned", console)
    told = [line for name, lines in learned(training.study).items() for line in (f"{name}:", *_bullets(lines))]
    indented([Text(visible(line)) for line in told], console)
    indented([Text(f"Run: {training.run.model.run}"), Text(revoke_sentence(training.run.model))], console)


def _bullets(lines: Iterable[str]) -> list[str]:
    return [f"- {line}" for line in lines]


def print_secure_tree(tree: Tree, console: Console, depth: int | None = None) -> None:
    """The tree to some depth, a node a line."""
    for line in tree.to_text(depth).split("\n"):
        console.print(Text(visible(line)), soft_wrap=True, highlight=False)


def print_log(sessions: Sequence[Session], me: str, warnings: Sequence[str], console: Console) -> None:
    """What was sent to others in each session, and what a new one would add."""
    if not sessions:
        console.print("The log has no session.")
    for one in sessions:
        title(f"{one.begun[:19].replace('T', ' ')} UTC: {one.outcome or 'not ended'}", console)
        table = new_table("To", "Messages", "Bytes")
        for to, count, size in sent(one, me):
            table.add_row(Text(to), f"{count:,}", f"{size:,}")
        lines: list[RenderableType] = [Text(f"Run {one.begin.run}, study {one.begin.study[:16]}…"), table]
        if one.answers:
            lines.append(
                Text(f"Answers for predictions: {one.answers:,}; {one.unknown:,} are that there is no record.")
            )
        indented(lines, console)
    if warnings:
        title("If you take part again", console)
        indented([Text(visible(line)) for line in warnings], console)


def log_facts(sessions: Sequence[Session], me: str, warnings: Sequence[str]) -> dict[str, object]:
    """The same as plain values."""
    return {
        "sessions": [
            {
                "run": one.begin.run,
                "study": one.begin.study,
                "begun": one.begun,
                "outcome": one.outcome,
                "sent": {to: {"messages": count, "bytes": size} for to, count, size in sent(one, me)},
                "answers": one.answers,
                "unknown": one.unknown,
            }
            for one in sessions
        ],
        "warnings": list(warnings),
    }
