"""Where a study that names the tables of a prediction says otherwise than the model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from veilset.joins.classifier import JoinClassifier
from veilset.joins.keys import KeyRule
from veilset.joins.study import Study


def differences(study: Study, classifier: JoinClassifier) -> tuple[str, ...]:
    """What the study says of target, joins and keys that the model does not, a sentence or two each.

    What a study leaves out it does not contradict.
    """
    found = []
    target = ".".join(classifier.target_)
    if study.target and study.target != target:
        found.append(f"The model predicts {target}; the study says {study.target}.")
    joins = classifier.graph_.equalities()
    if study.joins and _equal_columns(study.joins) != _equal_columns(joins):
        found.append(f"The model joins on {_written(joins)}; the study says {_written(study.joins)}.")
    ours, theirs = KeyRule.of(classifier.keys), KeyRule.of(study.options.get("keys"))
    if "keys" in study.options and set(ours.steps) != set(theirs.steps):
        found.append(f"The model compares keys {_how(ours)}; the study says {theirs}.")
    elif study.joins and ours.steps and not theirs.steps:
        found.append(f"The model compares keys {_how(ours)}; the study says nothing of keys.")
    return tuple(f"{one} The model counts." for one in found)


def _how(rule: KeyRule) -> str:
    return f"by {rule}" if rule.steps else "exactly"


def _written(joins: Iterable[Any]) -> str:
    return ", ".join(one if isinstance(one, str) else " = ".join(one) for one in joins)


def _equal_columns(joins: Iterable[Any]) -> set[frozenset[str]]:
    """The sets of columns that are equal, directly or through others."""
    found: list[set[str]] = []
    for join in joins:
        named = join.split("=") if isinstance(join, str) else join
        sides = {side.strip() for side in named if side.strip()}  # nothing is between two equals signs
        met = [one for one in found if one & sides]
        found = [one for one in found if not one & sides] + [sides.union(*met)]
    return set(map(frozenset, found))
