"""A pharmacy whose sales tell who has diabetes: data, promises that hide it, and a release made by hand."""

from pathlib import Path

import numpy as np
import pytest

import veilset as vs
from tests.support.releases import write_rows
from veilset.run import certify

SHARE = "29/97"  # of ten transactions, three
PATTERNS = vs.HiddenPatterns([["insulin", "lancets"]], min_support=SHARE)
RULES = vs.HiddenRules([("insulin", "lancets"), ("lancets", "insulin")], min_support=SHARE, min_confidence="31/43")
BOTH = pytest.mark.parametrize("promise", [PATTERNS, RULES], ids=["patterns", "rules"])
_ROWS = [["insulin", "lancets"]] * 5 + [["bread", "insulin", "lancets"]] * 2 + [["bread"]] * 3


def read(folder: Path) -> vs.Transactions:
    return vs.read(write_rows(folder / "pharmacy.csv", _ROWS))


def by_hand(data: vs.Transactions, promise=PATTERNS, *, rows: int = 5) -> vs.Release:
    """A release in which lancets are gone from the first transactions: the pattern is still in the others."""
    item = data.codes(["lancets"])[0]
    kept = (data.items != item) | (np.repeat(np.arange(len(data)), data.lengths) >= rows)
    return certify(vs.Release(data, data.thinned(kept), promise, "by hand", {}, (), kept=kept))
