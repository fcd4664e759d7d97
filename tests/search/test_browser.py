"""The page in a real browser: with the keyboard, with and without its script, and what it asks for."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.support.chromium import chromium, new_context, watched
from tests.support.reader import reader_store
from tests.support.serving import served

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser():
    with chromium() as running:
        yield running


@pytest.fixture
def address(tmp_path):
    reader_store(tmp_path, alpha="auto").close()
    with served("search", "serve", "--store", str(tmp_path / "search.db"), "--json", cwd=tmp_path) as said:
        yield json.loads(said)["address"]


@pytest.fixture
def page(browser, address):
    context = new_context(browser)
    page = context.new_page()
    page.seen = watched(page)
    page.goto(address)
    yield page
    origin = re.match(r"http://127\.0\.0\.1:\d+/", address)[0]
    assert [one for one in page.seen if not one.startswith(origin)] == [], "nothing but ours, and no complaint"
    context.close()


def look_for(page, words):
    page.fill("#query", words)
    page.keyboard.press("Enter")
    page.wait_for_selector("ol.results")


def titles(page):
    return page.locator("ol.results h3").all_inner_texts()


def test_the_secret_is_not_in_the_address_that_stays(page, address):
    assert "token" not in page.url
    assert page.evaluate("document.cookie") == ""


def test_the_browser_sends_nothing_that_is_typed_or_shown_to_a_service_of_its_own(page):
    assert page.evaluate("document.documentElement.translate") is False
    typed = page.evaluate(
        "[...document.querySelectorAll('input')].map((one) => [one.spellcheck, one.writingSuggestions])"
    )
    assert {*map(tuple, typed)} == {(False, "false")}


def test_a_search_shows_both_ranks_and_why(page):
    look_for(page, "football research")
    why = page.locator(".why").first.inner_text()
    assert re.search(r"Original rank \d+, your rank 1 .*research ×2", why)
    own = titles(page)
    page.click("#by-engine")
    page.wait_for_selector("#by-engine[aria-pressed=true]")
    assert page.locator(".why").first.inner_text().startswith("Original rank 1,")
    page.click("#by-profile")
    page.wait_for_selector("#by-profile[aria-pressed=true]")
    assert titles(page) == own


def test_without_the_profile_the_order_is_the_engine_s(page):
    page.uncheck("input[name=personal]")
    look_for(page, "football research")
    assert page.locator(".why").count() == 0
    assert page.locator("#by-profile").count() == 0


def test_the_dial_turns_with_the_keyboard_and_says_where_it_stands(page):
    look_for(page, "football research")
    page.focus("#position")
    page.keyboard.press("Home")
    expect(page.locator("#dial-says")).to_contain_text("0 terms")
    expect(page.locator(".why").first).to_contain_text("no term of your profile")
    assert page.evaluate("document.activeElement.id") == "position"
    page.keyboard.press("ArrowRight")
    expect(page.locator("#position")).to_have_attribute("value", "1")
    assert page.inner_text("#dial-says").startswith("1 term,")
    assert "minDetail" in page.inner_text("#dial-says")


def test_a_branch_is_hidden_with_all_within_and_its_cost_is_shown(page):
    branch = page.locator("#tree .branch", has_text="search/research").first
    assert "hiding it costs" in branch.inner_text()
    switch = branch.locator("[role=switch]")
    switch.focus()
    page.keyboard.press("Space")
    expect(page.locator("#tree [aria-checked=false]").first).to_be_visible()
    assert page.evaluate("document.activeElement.getAttribute('aria-checked')") == "false"
    page.click("#below-1 summary")
    assert page.locator("#below-1 [role=switch]").first.is_disabled()
    look_for(page, "research")
    assert "research" not in page.locator(".why").first.inner_text()


def test_an_interest_says_which_documents_put_it_there(page):
    page.locator("#tree .branch", has_text="jazz").get_by_text("Why?").click()
    expect(page.locator("#because")).to_contain_text("Jazz Concert In Town")
    assert page.evaluate("document.activeElement.textContent") == "Why?"


def test_terms_are_sent_only_after_agreeing_and_sensitive_ones_after_a_yes(page):
    page.click("#choices-details summary")
    page.check("#mode-exposing")
    page.fill("#server", "http://127.0.0.1:9")
    page.click("#choices button.main")
    page.wait_for_selector("#agree")
    page.focus("#position")
    page.keyboard.press("End")
    expect(page.locator("#leaving")).to_contain_text("jazz")
    assert "diabetes" not in page.inner_text("#leaving")
    assert "diabetes" in page.inner_text("#asked")
    page.fill("#query", "tea")
    page.keyboard.press("Enter")
    page.wait_for_selector("#message[role=alert]")
    assert "agreed" in page.inner_text("#message")
    page.locator("#asked form", has_text="diabetes").get_by_text("Yes", exact=True).click()
    expect(page.locator("#leaving")).to_contain_text("diabetes")
    page.click("#agree")
    expect(page.locator("#agree")).to_have_count(0)
    listed = page.locator("#leaving ol.terms li").count()
    expect(page.locator("#leaving h3").first).to_have_text(f"{listed} terms sent with this query")
    assert "The profile is a pseudonym. Of 70 simulated users, the 5 most" in page.inner_text("#leaving")
    page.fill("#query", "jaguar")
    page.click("#preview-button")
    expect(page.locator("#wire")).to_contain_text('"query": "jaguar"')
    assert "Nothing yet" in page.inner_text("#log"), "a preview sends nothing"
    page.click("#wire summary")
    body = json.loads(page.inner_text("#wire pre").partition("\n\n")[2])
    assert ["diabetes", 0.7] in body["terms"]
    page.click("form[action=search] button.main")
    page.wait_for_selector("#message[role=alert]")
    page.click("#log-details summary")
    assert "diabetes 0.7" in page.inner_text("#log")


def test_judging_is_blind_and_gives_the_curve(page):
    page.fill("#judge-query", "football research")
    page.click("text=Judge its results")
    page.wait_for_selector(".judged")
    assert "rank" not in page.inner_text(".judged")
    page.check("#relevant-0")
    page.check("#relevant-3")
    page.click("text=Store my judgements")
    page.wait_for_selector("svg.curve")
    assert page.locator("svg.curve circle").count() >= 2
    assert "1 query" in page.inner_text("#cost")
    page.click("#curve-numbers summary")
    assert page.locator("#cost tbody tr").count() == page.locator("svg.curve circle").count()


def test_everything_can_be_taken_along_and_deleted(page, tmp_path):
    with page.expect_download() as taken:
        page.click("text=Export everything as a file")
    told = json.loads(taken.value.path().read_text())
    assert len(told["documents"]) > 30
    page.click("#erase-details summary")
    page.click("text=Delete everything >> nth=-1")
    page.wait_for_selector("#message[role=alert]")
    assert (tmp_path / "search.db").exists()
    page.fill("#sure", "delete")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Everything was deleted")
    assert not (tmp_path / "search.db").exists()
    page.reload()
    assert "Everything was deleted" in page.inner_text("main")


def test_nothing_is_cut_off_and_text_can_be_read(browser, address):
    for scheme, width in ((scheme, width) for scheme in ("light", "dark") for width in (360, 1200)):
        context = new_context(browser, color_scheme=scheme, viewport={"width": width, "height": 800})
        page = context.new_page()
        page.goto(address)
        look_for(page, "football research")
        for details in page.locator("details").all():
            details.evaluate("one => one.open = true")
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.evaluate(FAINT) == []
        assert page.evaluate(UNNAMED) == []
        context.close()


UNNAMED = """() => [...document.querySelectorAll('input:not([type=hidden]), button')]
  .filter((one) => !(one.labels?.length || one.ariaLabel || one.textContent.trim()))
  .filter((one) => !one.getAttribute("aria-labelledby"))
  .map((one) => one.outerHTML)"""


FAINT = """() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => {
    const linear = (one) => one <= .03928 ? one / 12.92 : ((one + .055) / 1.055) ** 2.4;
    const [r, g, b] = parts(colour).map((one) => linear(one / 255));
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const paper = (one) => {
    for (; one; one = one.parentElement) {
      const colour = getComputedStyle(one).backgroundColor;
      if ((parts(colour)[3] ?? 1) > 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  return [...document.querySelectorAll("main *")].filter((one) => {
    if (![...one.childNodes].some((inner) => inner.nodeType === 3 && inner.textContent.trim())) return false;
    if (one.closest("svg, option, .unseen, [hidden], [disabled]")) return false;
    const [over, under] = [light(getComputedStyle(one).color), light(paper(one))].sort((a, b) => b - a);
    return (over + .05) / (under + .05) < 4.5;
  }).map((one) => one.outerHTML.slice(0, 200));
}"""


def test_it_works_without_scripts(browser, address):
    context = new_context(browser, java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    page.fill("#query", "football research")
    page.keyboard.press("Enter")
    page.wait_for_selector("ol.results")
    page.click("#by-engine")
    page.wait_for_selector("#by-engine[aria-pressed=true]")
    page.locator("#tree [role=switch]").first.click()
    page.wait_for_selector("#tree [aria-checked=false]")
    context.close()


def test_another_browser_and_another_site_get_nothing(browser, page):
    place = page.url
    other = new_context(browser).new_page()
    assert other.goto(place).status == 403
    assert "Not open" in other.inner_text("body")
    other.context.close()
    page.context.new_page().goto("data:text/html,x")
    stranger = page.context.pages[-1]
    stranger.set_content(
        f'<form method="post" action="{place}search"><input name="query" value="x"><button>x</button></form>'
    )
    with stranger.expect_navigation() as gone:
        stranger.click("button")
    assert gone.value.status == 403
    stranger.close()
