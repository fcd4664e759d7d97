"""The text of a fetched page, whatever it is."""

import pytest

from tests.support.errors import refused
from veilset.search.asking import NoAnswer
from veilset.search.page_text import PageTexts


def test_pages_are_read_and_empty_ones_told():
    page = (
        b"<html><head><title>Tea</title></head><body><p>Green tea comes from Japan, and it is good.</p></body></html>"
    )
    with PageTexts() as texts:
        assert "Green tea comes from Japan" in texts(page, "text/html")
        assert texts("café".encode(), "text/plain") == "café"
        for nothing in (b"", b"<html></html>", b"\0\1\2"):
            with refused(NoAnswer):
                texts(nothing, "text/html")


@pytest.mark.parametrize("kind", ["application/xhtml+xml"])
def test_xhtml_is_html(kind):
    with PageTexts() as texts:
        assert "tea" in texts(
            b"<html xmlns='http://www.w3.org/1999/xhtml'><body><p>All about tea.</p></body></html>", kind
        )
