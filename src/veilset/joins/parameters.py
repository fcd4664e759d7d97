"""What the parameters of a `JoinClassifier` can be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

from veilset.errors import InvalidArgument, said
from veilset.exact import is_whole
from veilset.joins.keys import KeyRule


def check_parameters(given: Mapping[str, Any]) -> None:
    """Raise if a parameter is not what it should be."""
    depth, prune, ignore = given["max_depth"], given["prune"], given["ignore"]
    if depth is not None and not is_whole(depth, least=0):
        raise InvalidArgument(f"{said('max_depth')} is {depth!r}, not a whole number.", "Leave it out for no limit.")
    if not is_whole(given["min_leaf"]):
        raise InvalidArgument(f"{said('min_leaf')} is {given['min_leaf']!r}.", "Give a whole number of 1 or more.")
    if prune is not None and not (isinstance(prune, Real) and 0 < float(prune) < 1):
        raise InvalidArgument(
            f"{said('prune')} is {prune!r}.",
            'Give a number between 0 and 1, or None (in a study: "none") for no pruning.',
        )
    if not isinstance(given["split_joins"], bool):
        raise InvalidArgument(f"{said('split_joins')} is {given['split_joins']!r}.", "Give True or False.")
    if isinstance(ignore, str) or not isinstance(ignore, Sequence) or not all(isinstance(one, str) for one in ignore):
        raise InvalidArgument(
            f"{said('ignore')} is {ignore!r}, not a list of columns.",
            f"For example: {said('ignore', ['orders.note'])}.",
        )
    KeyRule.of(given["keys"])
