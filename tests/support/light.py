"""Publishing without what takes most of its time and few tests look at: drawn charts, and waiting for the disk.

A folder's conftest.py imports both fixtures; a test that looks at charts asks for `real_charts`.
"""

import os
from collections.abc import Iterator

import pytest
from altair.utils import schemapi
from markupsafe import Markup

from veilset.report import charts

_drawn = charts._svg


def placeholder(chart: object, label: str) -> Markup:
    """A chart with nothing in it."""
    return Markup('<svg role="img" aria-label="{}"></svg>').format(label)


@pytest.fixture(scope="module", autouse=True)
def light() -> Iterator[None]:
    """For all tests of a module, and the bundles that they share."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(charts, "_svg", placeholder)
        patch.setattr(schemapi, "DEBUG_MODE", False)  # altair checks what it would draw at every step
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture
def real_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charts, "_svg", _drawn)
