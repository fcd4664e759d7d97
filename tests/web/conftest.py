"""The tests of web pages, which have no kernels of its own."""

from pathlib import Path

import pytest


def pytest_collection_modifyitems(items):
    """`make sanitize` has nothing to find here."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.no_sanitizer(reason="no kernels are called"))
