"""A tree over a join, on a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.bar import Bar
from rich.console import Console
from rich.table import Table
from rich.text import Text

from veilset.joins import JoinClassifier, Match
from veilset.report.join import (
    Training,
    folds_sentence,
    heaviest_sentences,
    importance_rows,
    join_sentence,
    match_rows,
    size_sentence,
    unique_sentences,
    verdict_sentences,
)
from veilset.report.terminal_parts import indented, new_table, title
from veilset.report.text import number, shares, shown
from veilset.views import visible

_BAR = 16


def print_matches(
    rows: Mapping[str, int], matches: Sequence[Match], keys: str, notes: Sequence[str], console: Console
) -> None:
    """The tables, and which shares of their rows match on every edge: worth a look before a tree is grown."""
    title("Tables", console)
    indented([Text(f"{shown(name)}: {number(count, 'row')}") for name, count in rows.items()], console)
    if matches:
        title("Rows with a partner in the neighbouring table", console)
        lines = []
        for on, left, right, found in match_rows(tuple(matches)):
            lines += [Text(on, style="bold"), Text(f"  {left}, {right}; {number(found, 'key')} in common")]
        indented([*lines, Text(f"Keys are compared: {keys}.", style="dim")], console)
    if notes:
        indented([Text(visible(note), style="dim") for note in notes], console)


def print_training(training: Training, console: Console) -> None:
    """The size of the tree, how good it is, and what it asks about."""
    title("Tree", console)
    lines = [size_sentence(training.classifier), join_sentence(training), *unique_sentences(training)]
    indented([Text(line) for line in lines], console)
    title("Predicted right", console)
    target = shown(training.classifier.target_[0])
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)
    for at, head in enumerate(("", f"Rows of {target}", "Joined rows")):
        table.add_column(head, justify="right" if at else "left", overflow="fold")
    for line in training.accuracies:
        table.add_row(*map(Text, line))
    folds = folds_sentence(training)
    indented([table, *([Text(folds, style="dim")] if folds else []), *map(Text, verdict_sentences(training))], console)
    if training.classifier.matches_:
        title("Who owns the joined rows", console)
        indented([Text(line) for line in heaviest_sentences(training)], console)
    _print_importances(training.classifier, console)


def _print_importances(classifier: JoinClassifier, console: Console) -> None:
    columns, more = importance_rows(classifier.feature_importances_)
    if not columns:
        return
    title("What the tree asks about", console)
    tables = ", ".join(f"{shown(name)} {shares(share)}" for name, share in classifier.table_importances_.items())
    table = new_table("Column", "Share", "")
    for name, share in columns:
        table.add_row(Text(shown(name)), shares(share), Bar(1, 0, share, width=_BAR))
    left = [Text(f"… and {number(more, 'more column')}.", style="dim")] if more else []
    indented([table, *left, Text(f"By table: {tables}.")], console)


def print_tree(classifier: JoinClassifier, console: Console, depth: int | None = None) -> None:
    """The tree to some depth, a node a line."""
    for line in classifier.tree_.to_text(depth).split("\n"):
        console.print(Text(visible(line)), soft_wrap=True, highlight=False)
