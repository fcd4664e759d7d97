"""For all tests and doctests: the hypothesis profile, examples in fences, and a folder of its own for each."""

import doctest
import re

import pytest
from tests.support.effort import load_profile

load_profile()

collect_ignore = ["tests/support/rare_items.py"]  # to import it is to register its promise, which is for one test alone


class FencedExamples(doctest.DocTestParser):
    """Examples on pages stand between fences, which are not part of the output. Lines keep their numbers."""

    def parse(self, string, name="<string>"):
        """The examples, without the fences around them."""
        return super().parse(re.sub(r"(?m)^```.*$", "", string), name)


doctest.DocTestParser = FencedExamples  # pytest makes one for each page, and cannot be told to use another


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
