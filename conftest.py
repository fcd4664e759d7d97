"""For all tests and doctests: the hypothesis profile, and a folder of its own for every example that writes files."""

import pytest
from tests.support.effort import load_profile

load_profile()

collect_ignore = ["tests/support/rare_items.py"]  # to import it is to register its promise, which is for one test alone


@pytest.fixture(autouse=True)
def examples_write_to_a_folder_of_their_own(request, tmp_path, monkeypatch):
    """The examples in docstrings and pages run where they can write."""
    if isinstance(request.node, pytest.DoctestItem):
        monkeypatch.chdir(tmp_path)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Only tests that look at snapshots can record them."""
    if config.getoption("--snapshot-update"):
        items[:] = [item for item in items if "snapshot" in getattr(item, "fixturenames", ())]
