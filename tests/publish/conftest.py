"""Charts are drawn only where a test looks at them; what a test changes is a copy."""

from pathlib import Path

import pytest

import veilset as vs
from tests.support.light import light, real_charts
from tests.support.releases import PROMISE, copied, write_rows

__all__ = ["light", "real_charts"]

EARLIER = [["ale", "bun", "cure"], ["ale", "bun"], ["ale", "fig"], ["ale", "bun"], ["bun"], ["ale"]]
LATER = [["ale", "bun"], ["ale", "bun", "cure"], ["bun", "fig"], ["ale", "fig"], ["ale"], ["bun"], []]


@pytest.fixture
def bundle(made, tmp_path) -> vs.Bundle:
    """A copy of the release that a module has `made`, which may be changed."""
    return copied(made, tmp_path)


@pytest.fixture
def public(bundle) -> Path:
    return bundle.public


@pytest.fixture(scope="module")
def earlier(tmp_path_factory) -> Path:
    """A release that has suppressed fig, in which cure is sensitive; to be looked at only."""
    folder = tmp_path_factory.mktemp("earlier")
    data = vs.read(write_rows(folder / "earlier.csv", EARLIER), sensitive=["cure"])
    release = vs.anonymize(data, PROMISE)
    assert (release.suppressed, release.certified) == (("fig",), True)
    return vs.publish(release, folder / "earlier").path


@pytest.fixture(scope="module")
def coarser(tmp_path_factory) -> Path:
    """A release in which ale and mead are both drinks; its taxonomy knows wine besides. To be looked at only."""
    folder = tmp_path_factory.mktemp("coarser")
    rows = [["ale", "bun"], ["mead", "bun"], ["bun"], ["bun"]]
    tree = {"ale": ["drinks"], "mead": ["drinks"], "wine": ["drinks"], "bun": []}
    release = vs.anonymize(
        vs.read(write_rows(folder / "drinks.csv", rows)),
        vs.Coherence(h=1, k=2, p=2),
        method="generalize",
        taxonomy=tree,
    )
    assert release.generalized == {"ale": "drinks", "mead": "drinks"}
    return vs.publish(release, folder / "coarser").path
