"""The kernels of ρ-uncertainty, asked shortly, and rows on which they would not end soon."""

import numpy as np

from tests.support.arrays import marks, named
from tests.support.explosive import explosive_rows
from veilset import _native

ALPHA = 100  # the sensitive item, after so many public ones


def explosive() -> dict:
    rows = explosive_rows(ALPHA, ALPHA)
    weights = np.ones(len(rows), dtype=np.int64)
    return {**named("", rows), "weights": weights, "sensitive": marks([ALPHA], ALPHA + 1)}


def suppress(rows: dict, **changes):
    many = len(rows["sensitive"])
    question = {
        "cost": np.ones(many, dtype=np.int64),
        "fixed": marks([], many),
        "required": np.zeros(0, dtype=np.uint8),
        "rho_num": 1,
        "rho_den": 2,
        "population": len(rows["weights"]),
        "cost_limit": 2**62,
        "search_budget": 2**62,
        "rules_budget": 2**62,
        "threads": 2,
        "memory_limit": 2**30,
        "time_limit": 60.0,
        "progress": None,
    }
    return _native.rules.suppress(**question | rows | changes)


def keeping(rows: dict, **changes) -> _native.rules.Keeping:
    question = {"rho_num": 1, "rho_den": 2, "population": len(rows["weights"]), "memory_limit": 2**30}
    return _native.rules.Keeping(**question | rows | changes)


def everything_public_kept() -> _native.rules.Keeping:
    kept = keeping(explosive())
    for item in range(ALPHA):
        kept.keep(item)
    return kept
