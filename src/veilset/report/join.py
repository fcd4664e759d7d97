"""What there is to say about a tree over a join: as facts, and on a page."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib.metadata import version
from typing import Any

from veilset.joins import CrossValidation, Evaluation, JoinClassifier, Match
from veilset.joins.keys import KeyRule
from veilset.report.join_tree import DEEPEST, Painted, paint
from veilset.report.mined import large
from veilset.report.pages import render
from veilset.report.text import number, shares, shown
from veilset.views import Count, visible

_MOST_COLUMNS = 15


@dataclass(frozen=True)
class Training:
    """A trained classifier, the rows of its tables, how good it is, and columns with a new text in most rows."""

    classifier: JoinClassifier
    rows: Mapping[str, int]
    evaluation: Evaluation
    notes: tuple[str, ...] = ()
    unique: tuple[tuple[str, int, int], ...] = ()

    @property
    def target(self) -> str:
        """The column with the class."""
        return ".".join(self.classifier.target_)

    @cached_property
    def accuracies(self) -> list[tuple[str, str, str]]:
        """What is predicted right, a line each: how, of target rows, of joined rows."""
        told = self.evaluation
        lines = {"Always the largest class": told.majority}
        for crossed, where in self.cross_validations:
            lines[f"{shown(self.classifier.target_[0])} alone, cross-validated{where}"] = crossed.baseline
            lines[f"Tree, cross-validated{where}"] = crossed.tree
        lines["Tree, on its own training rows"] = told.resubstitution
        return [(name, shares(one.target_rows), shares(one.joined_rows)) for name, one in lines.items()]

    @property
    def cross_validations(self) -> list[tuple[CrossValidation, str]]:
        """Those that were made, the one to believe last, and on which partners; of a single one nothing is said."""
        told = self.evaluation
        sharing = told.sharing
        if sharing is None or sharing.unseen is None:
            return [(told.by_row, "")] if told.by_row else []
        table = shown(sharing.table)
        known = [(told.by_row, f", known {table}")] if told.by_row else []
        return [*known, (sharing.unseen, f", unseen {table}")]


def training_facts(training: Training) -> dict[str, Any]:
    """All of it as plain values."""
    classifier, told = training.classifier, training.evaluation
    return {
        "target": training.target,
        "classes": [plain(value) for value in classifier.tree_.classes],
        "tables": dict(training.rows),
        "notes": list(training.notes),
        "mostly_unique": [name for name, _, _ in training.unique],
        "keys": keys_text(classifier),
        "matches": [vars(match) for match in classifier.matches_],
        "joined_rows": classifier.joined_rows_,
        "tree": tree_sizes(classifier),
        "evaluation": {
            "target_rows": told.target_rows,
            "unmatched_rows": told.unmatched_rows,
            "majority": vars(told.majority),
            "resubstitution": vars(told.resubstitution),
            "cross_validated": told.cross_validated and vars(told.cross_validated),
            "baseline": told.baseline and vars(told.baseline),
            "better": told.headline and told.headline.better,
            "by_row": told.by_row and asdict(told.by_row),
            "sharing": told.sharing and asdict(told.sharing),
            "heaviest": vars(told.heaviest),
            "folds": told.folds,
            "groups": told.groups,
            "random_state": told.random_state,
        },
        "table_importances": classifier.table_importances_,
        "feature_importances": classifier.feature_importances_,
    }


def tree_facts(classifier: JoinClassifier) -> dict[str, Any]:
    """A tree as plain values."""
    content = classifier.tree_.to_dict()
    for node in content["nodes"]:
        if node["split"] is not None:
            node["split"] = {**node["split"], "value": plain(node["split"]["value"])}
    return {
        "target": ".".join(classifier.target_),
        "keys": keys_text(classifier),
        "joined_rows": classifier.joined_rows_,
        "tree": tree_sizes(classifier),
        "feature_importances": classifier.feature_importances_,
        **content,
        "classes": [plain(value) for value in classifier.tree_.classes],
    }


def plain(value: Any) -> Any:
    """A value as JSON has it; dates and the like as text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def keys_text(classifier: JoinClassifier) -> str:
    """How keys are written before they are compared."""
    return str(KeyRule.of(classifier.keys))


def tree_sizes(classifier: JoinClassifier) -> dict[str, int]:
    """How large the tree is."""
    tree = classifier.tree_
    unpruned = getattr(classifier, "unpruned_tree_", None)  # a model that was read has none
    grown = {} if unpruned is None else {"nodes_before_pruning": len(unpruned)}
    return {"nodes": len(tree), "leaves": len(tree.leaves()), "depth": tree.depth, **grown}


def size_sentence(classifier: JoinClassifier) -> str:
    """The same in words."""
    sizes = tree_sizes(classifier)
    before = sizes.get("nodes_before_pruning", sizes["nodes"])
    cut = (
        f" Pruning removed {before - sizes['nodes']:,} of {number(before, 'node')}." if before > sizes["nodes"] else ""
    )
    leaves = Count(sizes["leaves"])
    return f"{number(sizes['nodes'], 'node')}, {leaves:,} {leaves:leaf|leaves}, depth {sizes['depth']:,}.{cut}"


def join_sentence(training: Training) -> str:
    """How large the join would have been."""
    there, joined = sum(training.rows.values()), training.classifier.joined_rows_
    of_tables = f"{number(there, 'row')} in {number(len(training.rows), 'table')}"
    if len(training.rows) == 1:
        return f"{of_tables}; {large(joined)} of them have a class. There is nothing to join."
    times = f", {joined / there:,.0f} times as many" if 10 * there <= joined < 10**15 * there else ""
    rows = f"{large(joined)} row{'s' * (joined != 1)}{times}"
    return f"The join would have had {rows}. It was not computed: the tree was grown from {of_tables}."


def unique_sentences(training: Training) -> list[str]:
    """What to do with columns whose texts occur hardly twice."""
    return [
        f"{shown(name)} has {values:,} different texts in {number(rows, 'row')}. From texts that occur once, a tree "
        f"learns nothing for new rows, and it takes long: consider ignore = [{shown(name)!r}]."
        for name, values, rows in training.unique
    ]


def rounded(count: int) -> str:
    """A count for a tile, which has little room.

    >>> rounded(5244), rounded(179_443_358), rounded(2_300_000_000_000), rounded(10**30)
    ('5,244', '179.4 million', '2.3 trillion', '1.0 × 10^30')
    """
    if count < 10**7:
        return f"{count:,}"
    for size, name in ((10**6, "million"), (10**9, "billion"), (10**12, "trillion")):
        if count < 1000 * size:
            return f"{count / size:.1f} {name}"
    mantissa, exponent = f"{count:.1e}".split("e+")
    return f"{mantissa} × 10^{exponent}"


def verdict_sentences(training: Training) -> list[str]:
    """Whether the other tables help, in rows of the target table, and which number to believe."""
    told = training.evaluation
    crossed = told.headline
    if crossed is None:
        return ["No cross-validation was made, so how good the tree is on new rows is unknown."]
    tree, alone, always = (one.target_rows for one in (crossed.tree, crossed.baseline, told.majority))
    best = always if len(training.rows) == 1 else max(alone, always)
    others = "" if len(training.rows) == 1 else f"the target table alone for {shares(alone)}, "
    table = shown(training.classifier.target_[0])
    unseen = told.sharing is not None and told.sharing.unseen is not None
    rows = f"rows of {shown(told.sharing.table)}" if told.sharing and unseen else "rows"
    verdict = (
        f"{'For' if unseen else 'On'} {rows} it has not seen, the tree is right for {shares(tree)} of the rows of "
        f"{table}; {others}the largest class for {shares(always)}."
    )
    if tree <= best:
        verdict += " The tree is no better: do not rely on it."
    elif not crossed.better:
        verdict += " Chance would explain the difference: do not rely on the tree."
    return [verdict, *sharing_sentences(training)]


def sharing_sentences(training: Training) -> list[str]:
    """Which of two cross-validations to believe, if target rows share partners."""
    told = training.evaluation
    sharing = told.sharing
    if sharing is None:
        return []
    target, table = shown(training.classifier.target_[0]), shown(sharing.table)
    lines = [
        f"{shares(sharing.share)} of the rows of {target} match the same rows of {table} as rows of other folds "
        f"do ({visible(sharing.on)}). A tree can recognize these instead of learning what holds for all."
    ]
    if sharing.unseen is None:
        lines.append(
            f"With {number(sharing.keys, 'key')}, it cannot be tried on rows of {table} that it has not seen: believe "
            "the number only for new rows with the same keys."
        )
    elif told.by_row is None:
        lines.append(f"There was no time to try it on new rows of {target} with known keys.")
    else:
        lines.append(
            f"For new rows of {target} that match rows of {table} it was trained with, it is right for "
            f"{shares(told.by_row.tree.target_rows)}. Believe this number only if you predict for such rows alone, and "
            f"{shares(sharing.unseen.tree.target_rows)} otherwise."
        )
    return lines


def folds_sentence(training: Training) -> str:
    """How the folds were made."""
    told = training.evaluation
    if not told.folds:
        return ""
    kept = f"Rows with the same {shown(told.groups)}" if told.groups else "All joined rows of a target row"
    by_row = f"{told.folds} folds, seed {told.random_state}. {kept} are in the same fold."
    if told.sharing is None or told.sharing.unseen is None:
        return by_row
    table = shown(told.sharing.table)
    return f"{by_row} Unseen {table}: {told.sharing.unseen.folds} folds, and target rows with the same key are in one."


def heaviest_sentences(training: Training) -> list[str]:
    """Which share of the joined rows few target rows own."""
    told, table = training.evaluation, shown(training.classifier.target_[0])
    heavy = told.heaviest
    lines = [
        f"The heaviest row of {table} owns {shares(heavy.one_row)} of the joined rows, the heaviest 1% of the rows own "
        f"{shares(heavy.one_percent)}, and the heaviest 10% own {shares(heavy.ten_percent)}."
    ]
    if heavy.ten_percent > 0.5:
        lines.append("The tree serves these rows first: accuracy on joined rows says little about the others.")
    if told.unmatched_rows:
        lines.append(
            f"{number(told.unmatched_rows, 'row')} of {told.target_rows:,} match nothing and get the most common class."
        )
    return lines


def match_rows(matches: tuple[Match, ...]) -> list[tuple[str, str, str, int]]:
    """The edges for a table: the equality, matching rows on both sides, keys."""
    return [
        (
            visible(match.on),
            f"{shares(match.left_matched / max(1, match.left_rows))} of {match.left_rows:,} in {shown(match.left)}",
            f"{shares(match.right_matched / max(1, match.right_rows))} of {match.right_rows:,} in {shown(match.right)}",
            match.keys,
        )
        for match in matches
    ]


def importance_rows(shares_by_name: Mapping[str, float]) -> tuple[list[tuple[str, float]], int]:
    """The most important, and how many more there are."""
    rows = [(name, share) for name, share in shares_by_name.items()]
    return rows[:_MOST_COLUMNS], max(0, len(rows) - _MOST_COLUMNS)


def cut_sentence(painted: Painted, depth: int) -> str:
    """Which nodes are drawn; empty if all are."""
    if painted.drawn == painted.nodes:
        return ""
    above = f" among those to depth {DEEPEST}" if depth > DEEPEST else ""
    return f"The {painted.drawn:,} nodes with the most joined rows{above} are shown;"


def join_report(training: Training) -> str:
    """A complete page about a training."""
    classifier = training.classifier
    painted: Painted = paint(classifier.tree_, classifier.graph_.tables)
    columns, more = importance_rows(classifier.feature_importances_)
    return render(
        "join.html",
        training=training,
        classifier=classifier,
        version=version("veilset"),
        rows=[(shown(name), count) for name, count in training.rows.items()],
        notes=list(map(visible, training.notes)),
        painted=painted,
        joined=rounded(classifier.joined_rows_),
        total_rows=sum(training.rows.values()),
        verdicts=verdict_sentences(training),
        join_says=join_sentence(training),
        folds_says=folds_sentence(training),
        heaviest=heaviest_sentences(training),
        size_says=size_sentence(classifier),
        unique_says=unique_sentences(training),
        cut_says=cut_sentence(painted, classifier.tree_.depth),
        keys=keys_text(classifier),
        matches=match_rows(classifier.matches_),
        table_shares=list(classifier.table_importances_.items()),
        column_shares=columns,
        more_columns=more,
    )
