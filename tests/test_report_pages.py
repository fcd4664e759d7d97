"""What the pages say, and what they must never say."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from tests.shop import NASTY, printed, public_page, shop, shop_release
from veilset import api, report
from veilset.limits import Limits
from veilset.models import Coherence, Promise, RhoUncertainty
from veilset.release import Release
from veilset.transactions import Transactions, read


def both_pages(release: Release) -> dict[str, str]:
    before = api.audit(release.original, release.promise)
    return {"public": public_page(release), "custodian": report.custodian_report(release, before=before)}


def rho_release(name: str = "figs") -> Release:
    """Of the shop: insulin and statin may stay, since one of six who have milk has them; nothing is changed."""
    release = api.anonymize(shop(name), RhoUncertainty(rho="1/2"), method="given")
    assert release.certified
    return release


BOTH_PROMISES = pytest.mark.parametrize("make", [shop_release, rho_release])


@BOTH_PROMISES
@pytest.mark.parametrize("page", ["public", "custodian"])
def test_pages_are_self_contained(page: str, make: Callable[[], Release]) -> None:
    html = both_pages(make())[page]
    assert html.startswith("<!doctype html>")
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in html
    assert "http" not in html.replace("http-equiv", "")
    for forbidden in ("<script", "<iframe", "<img", "javascript:", "url(", "@import"):
        assert forbidden not in html
    assert not re.search(r"<[^>]*\son\w+=", html)


@BOTH_PROMISES
@pytest.mark.parametrize("page", ["public", "custodian"])
def test_pages_are_accessible(page: str, make: Callable[[], Release]) -> None:
    html = both_pages(make())[page]
    levels = [int(level) for level in re.findall(r"<h([1-6])", html)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert html.count("<table") == html.count("<caption>")
    assert all("scope=" in cell for cell in re.findall(r"<th\b[^>]*>", html))
    assert html.count("<svg") == html.count('role="img" aria-label="') >= 2


@pytest.mark.parametrize("page", ["public", "custodian"])
@pytest.mark.parametrize(
    ("promise", "options"),
    [
        (Coherence(h=0.5, k=2, p=2), {}),
        (RhoUncertainty(rho=0.5), {"method": "given", "generalized": {NASTY + "2": NASTY + "3"}}),
    ],
)
def test_pages_escape_names(page: str, promise: Promise, options: dict[str, Any]) -> None:
    rows = [["milk", NASTY], ["milk", NASTY], ["milk"], ["milk"], ["milk", NASTY + "2"]]
    always = isinstance(promise, RhoUncertainty)
    data = Transactions.from_lists(rows, sensitive=[NASTY] if page == "public" or always else [])
    html = both_pages(api.anonymize(data, promise, **options))[page]
    assert "&lt;script&gt;alert(&#39;x&#39;)" in html
    assert "<script" not in html
    assert "\x1b" not in html


@pytest.mark.parametrize("page", ["public", "custodian"])
def test_pages_have_the_same_bytes_every_time(page: str) -> None:
    release = shop_release()
    assert both_pages(release)[page] == both_pages(release)[page]


def test_public_report_says_nothing_of_the_original() -> None:
    # The two originals differ in what was suppressed, and how much; what is released is the same.
    one = shop_release("unmistakable")
    rows = [[*row, "otherwise"] if number == 6 else list(row) for number, row in enumerate(shop("unmistakable"))]
    two = api.anonymize(Transactions.from_lists(rows, sensitive=["insulin", "statin"]), one.promise)
    assert one.suppressed == ("unmistakable",)
    assert two.suppressed == ("otherwise", "unmistakable")
    assert public_page(one) == public_page(two)
    assert "unmistakable" not in public_page(one)


def test_public_report_says_what_it_must() -> None:
    release = shop_release()
    assert release.audit is not None
    html = public_page(release)
    text = re.sub(r"<[^>]+>", "", html)
    assert text.index(report.verdict(release.audit, merged=False)) < text.index("What is promised")
    assert "about 8%" in text
    assert "Written by veilset 0.1.0." in text
    assert "insulin" in text
    assert all(sentence in text for sentence in release.promise.not_promised())
    assert "One transaction is taken as one person." in text
    assert "veilset verify public" in text
    assert "Every public item is held by at least 3 transactions." in text
    merged = report.public_report(release.data, release.audit, loss_percent=8, version="veilset 0.1.0", merged=True)
    assert "One transaction is taken as one person." not in merged


def test_public_report_of_rho_uncertainty() -> None:
    release = rho_release()
    assert release.audit is not None
    text = " ".join(re.sub(r"<[^>]+>", " ", public_page(release)).split())
    assert text.index("less than 50% sure of any other particular sensitive item") < text.index("What is promised")
    assert "ρ-uncertainty and its limits" in text
    assert "rho 50% Whatever an attacker knows of a person, sensitive items included, they are less than 50%" in text
    assert f"counted {release.audit.checked:,} sets of items in this file" in text
    assert re.search(r"How sure .* one particular sensitive item 16.7% less than 50% milk → (insulin|statin)", text)
    assert all(sentence in text for sentence in release.promise.not_promised())
    assert "Every public item is held by at least 1 transaction." in text
    assert "insulin 1 statin 1" in text
    assert "coherence" not in text


def test_public_report_of_rho_uncertainty_without_sensitive_items() -> None:
    release = api.anonymize(shop(), RhoUncertainty(rho="1/2"), method="remove-sensitive")
    text = " ".join(re.sub(r"<[^>]+>", " ", public_page(release)).split())
    assert "Sensitive items No item of this file is declared sensitive: all were removed, or none was named." in text
    assert "insulin" not in text


def test_public_report_without_items_or_sensitive_ones() -> None:
    data = Transactions.from_lists([[], []])
    html = report.public_report(
        data, api.audit(data, Coherence(k=2, p=None)), loss_percent=100, version="veilset 0.1.0", merged=True
    )
    assert "There are no items left in it." in html
    assert "No item of this file was declared sensitive" in html
    assert "unlimited" in html


def test_public_report_with_many_sensitive_items() -> None:
    names = [f"s{number}" for number in range(50)]
    data = Transactions.from_lists([[name] for name in names], sensitive=names)
    audit = api.audit(data, Coherence(h=1, k=2, p=1))
    html = report.public_report(data, audit, loss_percent=0, version="veilset 0.1.0", merged=True)
    assert "50 sensitive items occur" in html
    assert "<summary>Show all</summary>" in html
    assert "There is no limit to how sure an attacker may become." in html


def test_custodian_report_says_what_it_must() -> None:
    release = shop_release()
    before = api.audit(release.original, release.promise)
    html = report.custodian_report(release, before=before)
    text = " ".join(re.sub(r"<[^>]+>", " ", html).split())
    assert text.count("Do not share") >= 2
    assert "figs 1 breaks the promise alone" in text
    assert "share of all item occurrences that are gone 8.3% less" in text
    assert report.verdict(before, merged=False).replace("'", "&#39;") in text
    assert "figs 1 who it is 2.00×" in text
    assert "5 different items before, 4 after; 1 public item was held by fewer than 2 transactions." in text
    assert "not computed" in report.custodian_report(release, before=None)


def test_custodian_report_folds_many_items_and_shows_every_kind_of_change() -> None:
    rows = [["milk"]] * 3 + [[f"rare {number}"] for number in range(30)]
    release = api.anonymize(Transactions.from_lists(rows), Coherence(k=2, p=1), drop_empty=True)
    html = report.custodian_report(replace(release, generalized={"milk": "drinks"}), before=None)
    assert "<summary>All 30 suppressed items</summary>" in html
    assert html.count("rare 29") == 1
    assert "30 transactions withheld" in html
    assert "1 item given a coarser name" in html
    text = printed(report.print_release, replace(release, generalized={"milk": "drinks"}))
    assert "1 item given a coarser name; 30 transactions withheld" in text


def test_custodian_report_of_an_unchanged_file(tmp_path) -> None:
    path = tmp_path / "same.dat"
    path.write_text("1 2\n1 2\n")
    html = report.custodian_report(api.anonymize(read(path), Coherence(k=2, p=2)), before=None)
    assert "No item was suppressed." in html
    assert "<code>same.dat</code>: FIMI" in html


def test_where_memory_is_short_pages_have_their_numbers_but_no_charts() -> None:
    release = shop_release()
    assert release.audit is not None
    short = Limits(memory_limit=1)
    pages = [
        report.public_report(release.data, release.audit, loss_percent=8, version="v", merged=True, limits=short),
        report.custodian_report(release, before=None, limits=short),
    ]
    for html in pages:
        assert "<svg" not in html
        assert "No chart: drawing one takes more memory than was allowed." in html
        assert "<details open>" in html
