"""What the pages say, and what they must never say."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from tests.support.errors import names
from tests.support.runs import run_of
from tests.support.shop import NASTY, printed, public_page, shop, shop_release
from tests.support.texts import check_accessible, check_escaped, page_text, screen_text
from veilset import api, report
from veilset.limits import Limits
from veilset.models import Coherence, Promise, RhoUncertainty
from veilset.release import Release
from veilset.transactions import Transactions, read


@pytest.fixture(scope="module", autouse=True)
def light() -> None:
    """Here charts are looked at, so they are drawn."""


def both_pages(release: Release) -> dict[str, str]:
    before = api.audit(release.original, release.promise)
    return {"public": public_page(release), "custodian": report.custodian_report(run_of(release, before=before))}


def rho_release(name: str = "figs") -> Release:
    """Of the shop: insulin and statin may stay, since one of six who have milk has them; nothing is changed."""
    release = api.anonymize(shop(name), RhoUncertainty(rho="1/2"), method="replay")
    assert release.certified
    return release


@pytest.fixture(scope="module")
def pages() -> dict[str, dict[str, str]]:
    """Both pages of each promise."""
    return {"coherence": both_pages(shop_release()), "rho": both_pages(rho_release())}


BOTH_PROMISES = pytest.mark.parametrize("promise", ["coherence", "rho"])


@BOTH_PROMISES
@pytest.mark.parametrize("page", ["public", "custodian"])
def test_what_pages_say(page: str, promise: str, pages: dict[str, dict[str, str]], snapshot: object) -> None:
    assert page_text(pages[promise][page]) == snapshot


@BOTH_PROMISES
@pytest.mark.parametrize("page", ["public", "custodian"])
def test_pages_are_self_contained(page: str, promise: str, pages: dict[str, dict[str, str]]) -> None:
    html = pages[promise][page]
    assert html.startswith("<!doctype html>")
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in html
    assert "http" not in html.replace("http-equiv", "")
    for forbidden in ("<script", "<iframe", "<img", "javascript:", "url(", "@import"):
        assert forbidden not in html
    assert not re.search(r"<[^>]*\son\w+=", html)


@BOTH_PROMISES
@pytest.mark.parametrize("page", ["public", "custodian"])
def test_pages_are_accessible(page: str, promise: str, pages: dict[str, dict[str, str]]) -> None:
    check_accessible(pages[promise][page])


@pytest.mark.parametrize("page", ["public", "custodian"])
@pytest.mark.parametrize(
    ("promise", "options"),
    [
        (Coherence(h=0.5, k=2, p=2), {}),
        (RhoUncertainty(rho=0.5), {"method": "replay", "generalized": {NASTY + "2": NASTY + "3"}}),
    ],
)
def test_pages_escape_names(page: str, promise: Promise, options: dict[str, Any]) -> None:
    rows = [["milk", NASTY], ["milk", NASTY], ["milk"], ["milk"], ["milk", NASTY + "2"]]
    always = isinstance(promise, RhoUncertainty)
    data = Transactions.from_lists(rows, sensitive=[NASTY] if page == "public" or always else [])
    html = both_pages(api.anonymize(data, promise, **options))[page]
    check_escaped(html)


@BOTH_PROMISES
def test_pages_have_the_same_bytes_every_time(promise: str) -> None:
    release = shop_release() if promise == "coherence" else rho_release()
    assert both_pages(release) == both_pages(release)


def test_public_report_says_nothing_of_the_original() -> None:
    # The two originals differ in what was suppressed, and how much; what is released is the same.
    one = shop_release("unmistakable")
    rows = [[*row, "otherwise"] if number == 6 else list(row) for number, row in enumerate(shop("unmistakable"))]
    two = api.anonymize(Transactions.from_lists(rows, sensitive=["insulin", "statin"]), one.promise)
    assert one.suppressed == ("unmistakable",)
    assert two.suppressed == ("otherwise", "unmistakable")
    assert public_page(one) == public_page(two)
    assert "unmistakable" not in public_page(one)


def test_public_report_says_what_it_must(pages: dict[str, dict[str, str]]) -> None:
    release = shop_release()
    text = page_text(pages["coherence"]["public"])
    assert text.index(report.verdict(release.audit, merged=False)) < text.index("promised")
    for told in ("8%", "veilset 0.1.0", "insulin", "veilset verify public", "3 transactions"):
        assert told in text
    assert all(sentence in text for sentence in release.promise.not_promised())


def test_public_report_of_merged_transactions_does_not_take_one_for_a_person() -> None:
    release = shop_release()
    told = [
        report.public_report(release.custodian_data, release.audit, loss_percent=8, version="v", merged=merged)
        for merged in (False, True)
    ]
    assert ["transaction as one person" in page for page in told] == [True, False]


def test_public_report_of_rho_uncertainty(pages: dict[str, dict[str, str]]) -> None:
    release = rho_release()
    text = page_text(pages["rho"]["public"])
    assert text.index(report.verdict(release.audit, merged=False)) < text.index("promised")
    assert names(text, f"{release.audit.checked:,}")
    assert re.search(r"\| 16.7% \| less than 50% \| milk → (insulin|statin)", text)
    assert all(sentence in text for sentence in release.promise.not_promised())
    assert "insulin 1\nstatin 1" in text
    assert "coherence" not in text


def test_public_report_of_rho_uncertainty_without_sensitive_items() -> None:
    release = api.anonymize(shop(), RhoUncertainty(rho="1/2"), method="remove-sensitive")
    text = page_text(public_page(release))
    assert report.verdict(release.audit, merged=False) in text
    assert "insulin" not in text


def test_public_report_without_items_or_sensitive_ones(snapshot: object) -> None:
    data = Transactions.from_lists([[], []])
    html = report.public_report(
        data, api.audit(data, Coherence(k=2, p=None)), loss_percent=100, version="veilset 0.1.0", merged=True
    )
    assert page_text(html) == snapshot


def test_public_report_with_many_sensitive_items() -> None:
    names_of = [f"s{number}" for number in range(50)]
    data = Transactions.from_lists([[name] for name in names_of], sensitive=names_of)
    audit = api.audit(data, Coherence(h=1, k=2, p=1))
    html = report.public_report(data, audit, loss_percent=0, version="veilset 0.1.0", merged=True)
    assert names(page_text(html), "50 sensitive items")
    assert "<summary>" in html
    assert all(names(page_text(html), name) for name in names_of)


def test_custodian_report_says_what_it_must(pages: dict[str, dict[str, str]]) -> None:
    release = shop_release()
    text = page_text(pages["coherence"]["custodian"])
    assert text.count("Do not share") >= 2
    assert report.verdict(api.audit(release.original, release.promise), merged=False) in text
    assert re.search(r"^figs \| 1 \| ", text, re.MULTILINE), "suppressed"
    assert re.search(r"^figs \| 1 \| .* \| 2.00×$", text, re.MULTILINE), "at risk"
    assert "| 8.3% | less" in text


def test_custodian_report_without_the_risks_before(snapshot: object) -> None:
    text = page_text(report.custodian_report(run_of(shop_release(), before=None)))
    start = text.index("Risks in the original")
    assert text[start : text.index("What was changed")] == snapshot


def test_custodian_report_folds_many_items_and_shows_every_kind_of_change(snapshot: object) -> None:
    rows = [["milk"]] * 3 + [[f"rare {number}"] for number in range(30)]
    release = api.anonymize(Transactions.from_lists(rows), Coherence(k=2, p=1), drop_empty=True)
    coarser = replace(release, generalized={"milk": "drinks"})
    html = report.custodian_report(run_of(coarser, before=None))
    assert re.search(r"<summary>[^<]*\b30\b", html)
    assert html.count("rare 29") == 1
    assert screen_text(report.print_release, run_of(coarser)) == snapshot
    for told in ("30 transactions withheld", "1 item with a coarser name"):
        assert told in html
        assert told in printed(report.print_release, run_of(coarser))


def test_custodian_report_of_an_unchanged_file(tmp_path, monkeypatch, snapshot) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "same.dat").write_text("1 2\n1 2\n")
    html = report.custodian_report(run_of(api.anonymize(read("same.dat"), Coherence(k=2, p=2)), before=None))
    assert "<code>same.dat</code>" in html
    assert page_text(html) == snapshot


def test_where_memory_is_short_the_custodian_s_page_has_its_numbers_but_no_charts() -> None:
    """Those of the public page need no library, and are drawn in any case: it is the same for everybody."""
    release = shop_release()
    short = Limits(memory_limit=1)
    html = report.custodian_report(run_of(release, before=None, limits=short))
    assert "<svg" not in html
    assert "memory" in page_text(html)
    assert "<details open>" in html
    public = {
        report.public_report(
            release.custodian_data, release.audit, loss_percent=8, version="v", merged=True, limits=limits
        )
        for limits in (short, None)
    }
    assert len(public) == 1 and "<svg" in public.pop()


def test_the_five_numbers_that_decide_come_first(pages: dict[str, dict[str, str]]) -> None:
    cost = pages["coherence"]["custodian"].partition("<h2>What it cost</h2>")[2].partition("</section>")[0]
    first, _, folded = cost.partition("<details>")
    assert first.count('<th scope="row">') == 5
    assert folded.count('<th scope="row">') > 5


def test_no_chart_is_drawn_where_addresses_are_scarce(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with ``ulimit -v``: the engine that draws reserves more of them than memory, and ends the process without."""
    monkeypatch.setattr("veilset.report.pages.address_space_left", lambda: 1 << 36)
    pages = both_pages(shop_release())
    assert "<svg" not in pages["custodian"]
    assert "<svg" in pages["public"]  # its charts need no engine
