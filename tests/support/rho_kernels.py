"""The kernels of ρ-uncertainty, asked shortly, and rows on which they would not end soon."""

import random

import numpy as np

from tests.support.arrays import csr, marks
from veilset import _native

ALPHA = 100  # the sensitive item, after so many public ones


def explosive() -> dict:
    """Rows of a hundred items that are nearly equal, few of them protected in whole: no search ends soon there."""
    draw = random.Random(7)
    rows = [[*(i for i in range(ALPHA) if draw.random() < 0.9), ALPHA] for _ in range(300)]
    rows += [[i for i in range(ALPHA) if draw.random() < 0.95] for _ in range(5000)]
    rows += [range(ALPHA), range(ALPHA)]
    offsets, items = csr(rows)
    weights = np.ones(len(rows), dtype=np.int64)
    return {"offsets": offsets, "items": items, "weights": weights, "sensitive": marks([ALPHA], ALPHA + 1)}


def suppress(rows: dict, **changes):
    many = len(rows["sensitive"])
    question = {
        "worth": np.ones(many, dtype=np.int64),
        "fixed": marks([], many),
        "required": np.zeros(0, dtype=np.uint8),
        "rho_num": 1,
        "rho_den": 2,
        "population": len(rows["weights"]),
        "worth_limit": 2**62,
        "search_budget": 2**62,
        "rules_budget": 2**62,
        "threads": 2,
        "memory_limit": 2**30,
        "time_limit": 60.0,
        "progress": None,
    }
    return _native.rules.suppress(**rows | question | changes)


def keeping(rows: dict, **changes) -> _native.rules.Keeping:
    question = {"rho_num": 1, "rho_den": 2, "population": len(rows["weights"]), "memory_limit": 2**30}
    return _native.rules.Keeping(**rows | question | changes)


def everything_public_kept() -> _native.rules.Keeping:
    kept = keeping(explosive())
    for item in range(ALPHA):
        kept.keep(item)
    return kept
