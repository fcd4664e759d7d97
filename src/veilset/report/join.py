"""What there is to say about a tree over a join: as facts, and on a page."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from typing import Any

from veilset.joins import Evaluation, JoinClassifier, Match
from veilset.joins.keys import KeyRule
from veilset.report.join_tree import Painted, paint
from veilset.report.mined import large
from veilset.report.pages import render
from veilset.report.text import number, shares, shown
from veilset.views import Count, visible

_MOST_COLUMNS = 15


@dataclass(frozen=True)
class Training:
    """A trained classifier, the rows of its tables, and how good it is."""

    classifier: JoinClassifier
    rows: Mapping[str, int]
    evaluation: Evaluation
    notes: tuple[str, ...] = ()

    @property
    def target(self) -> str:
        """The column with the class."""
        return ".".join(self.classifier.target_)

    @cached_property
    def accuracies(self) -> list[tuple[str, str, str]]:
        """What is predicted right, a line each: how, of target rows, of joined rows."""
        told = self.evaluation
        lines = {
            "Always the largest class": told.majority,
            f"{shown(self.classifier.target_[0])} alone, cross-validated": told.baseline,
            "Tree, cross-validated": told.cross_validated,
            "Tree, on its own training rows": told.resubstitution,
        }
        return [(name, shares(one.target_rows), shares(one.joined_rows)) for name, one in lines.items() if one]


def training_facts(training: Training) -> dict[str, Any]:
    """All of it as plain values."""
    classifier, told = training.classifier, training.evaluation
    return {
        "target": training.target,
        "classes": [plain(value) for value in classifier.tree_.classes],
        "tables": dict(training.rows),
        "notes": list(training.notes),
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


def verdict_sentence(training: Training) -> str:
    """Whether the other tables help, in rows of the target table; empty without cross-validation."""
    told = training.evaluation
    if told.cross_validated is None or told.baseline is None:
        return "No cross-validation was made, so how good the tree is on new rows is unknown."
    tree, alone, always = (one.target_rows for one in (told.cross_validated, told.baseline, told.majority))
    table = shown(training.classifier.target_[0])
    best = always if len(training.rows) == 1 else max(alone, always)
    others = "" if len(training.rows) == 1 else f"the target table alone for {shares(alone)}, "
    says = (
        f"On rows it has not seen, the tree is right for {shares(tree)} of the rows of {table}; {others}the largest "
        f"class for {shares(always)}."
    )
    return says if tree > best else f"{says} The tree is no better: do not rely on it."


def folds_sentence(training: Training) -> str:
    """How the folds were made."""
    told = training.evaluation
    if not told.folds:
        return ""
    kept = f"Rows with the same {shown(told.groups)}" if told.groups else "All joined rows of a target row"
    return f"{told.folds} folds, seed {told.random_state}. {kept} are in the same fold."


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
        verdict=verdict_sentence(training),
        join_says=join_sentence(training),
        folds_says=folds_sentence(training),
        heaviest=heaviest_sentences(training),
        size_says=size_sentence(classifier),
        keys=keys_text(classifier),
        matches=match_rows(classifier.matches_),
        table_shares=list(classifier.table_importances_.items()),
        column_shares=columns,
        more_columns=more,
    )
