"""Changes to transactions that an engine holds."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from veilset.engines import Held
from veilset.transactions import Transactions


def renamed(held: Held, vocabulary: Transactions, names: Mapping[str, str]) -> Held:
    """The same transactions with items renamed to those of another vocabulary; what is not there is left out."""
    code_of = {name: code for code, name in enumerate(vocabulary.names)}
    codes = [code_of.get(names.get(name, name), -1) for name in held.vocabulary.names]
    return held.changed(np.array(codes, dtype=np.int32), vocabulary)
