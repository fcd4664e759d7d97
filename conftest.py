"""For all tests and doctests: hypothesis profiles, and a folder of its own for every example that writes files.

``HYPOTHESIS_PROFILE=ci`` looks longer, ``thorough`` much longer, ``quick`` (for ``make sanitize``) shorter.
"""

import os

import pytest
from hypothesis import settings

settings.register_profile("quick", max_examples=25, deadline=None)
settings.register_profile("dev", max_examples=30, deadline=None)
settings.register_profile("ci", max_examples=200, deadline=None)
settings.register_profile("thorough", max_examples=10_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


@pytest.fixture(autouse=True)
def examples_write_to_a_folder_of_their_own(request, tmp_path, monkeypatch):
    """The examples in docstrings and pages run where they can write."""
    if isinstance(request.node, pytest.DoctestItem):
        monkeypatch.chdir(tmp_path)
