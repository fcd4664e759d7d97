"""Charts are drawn only where a test looks at them; what a test changes is a copy."""

from pathlib import Path

import pytest

import veilset as vs
from tests.support.light import light, real_charts
from tests.support.releases import copied

__all__ = ["light", "real_charts"]


@pytest.fixture
def bundle(made, tmp_path) -> vs.Bundle:
    """A copy of the release that a module has `made`, which may be changed."""
    return copied(made, tmp_path)


@pytest.fixture
def public(bundle) -> Path:
    return bundle.public
