"""Changes to transactions that an engine holds, and the release that says what they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from veilset.engines import Held
from veilset.models import Promise
from veilset.release import HeldRelease
from veilset.transactions import Transactions


def renamed(held: Held, vocabulary: Transactions, names: Mapping[str, str]) -> Held:
    """The same transactions with items renamed to those of another vocabulary; what is not there is left out."""
    code_of = {name: code for code, name in enumerate(vocabulary.names)}
    codes = [code_of.get(names.get(name, name), -1) for name in held.vocabulary.names]
    return held.changed(np.array(codes, dtype=np.int32), vocabulary)


def released(
    held: Held,
    *,
    promise: Promise,
    method: str,
    suppressed: Iterable[str],
    generalized: Mapping[str, str],
    **account: Any,
) -> HeldRelease:
    """What a method answers with when it has chosen which items to suppress and which to recode."""
    names = held.vocabulary
    gone = names.in_order(suppressed)
    left = names.without(gone).renamed(generalized)
    return HeldRelease(
        original=held,
        custodian_data=renamed(held, left, generalized),
        promise=promise,
        method=method,
        suppressed=gone,
        generalized=generalized,
        **account,
    )
