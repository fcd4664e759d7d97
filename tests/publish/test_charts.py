"""Charts as they are drawn on both pages of a release, for every promise."""

import re

import pytest

import veilset as vs
from tests.support.pharmacy import PATTERNS
from tests.support.pharmacy import read as pharmacy
from tests.support.releases import PROMISE, baskets, files


@pytest.mark.parametrize(
    ("read", "promise"),
    [
        (baskets, PROMISE),
        (baskets, vs.RhoUncertainty(rho="1/2")),
        (pharmacy, PATTERNS),
        (pharmacy, vs.LDiverseAnatomy("10/7")),
    ],
    ids=["coherence", "rho-uncertainty", "hidden-patterns", "l-diverse-anatomy"],
)
def test_charts_are_drawn_and_the_same_every_time(real_charts, tmp_path, read, promise):
    options = {"random_state": 1} if promise.name in ("hidden-patterns", "l-diverse-anatomy") else {}
    release = vs.anonymize(read(tmp_path), promise, **options)
    one, other = (vs.publish(release, tmp_path / name, random_state="s") for name in ("one", "other"))
    assert files(one.public) == files(other.public)
    for folder in (one.public, one.custodian):
        page = (folder / "report.html").read_text()
        charts = re.findall(r"<svg\b.*?</svg>", page, re.DOTALL)
        assert len(charts) >= 2
        assert all("<path" in chart and "<text" in chart for chart in charts)
        assert_fit_a_phone(page, charts)


def assert_fit_a_phone(page, charts):
    """Each is as wide as its column: it has a shape, and no width of its own."""
    for chart in charts:
        sides = dict(re.findall(r'\b(viewBox|width|height|style)="([^"]*)"', re.match("<svg[^>]*>", chart)[0]))
        assert sides.keys() == {"viewBox"}
        left, top, *size = map(float, sides["viewBox"].split())
        assert (left, top, all(side > 0 for side in size)) == (0, 0, True)
    (rule,) = re.findall(r"\n\.chart svg {([^}]*)}", page)
    assert {"width: 100%", "height: auto"} <= {*map(str.strip, rule.split(";"))}
    assert len(re.findall('<div class="scroll chart"[^>]*><svg', page)) == len(charts)
