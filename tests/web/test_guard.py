"""Who reaches a page: nobody but the person who opened the printed address, from the page itself."""

import asyncio

import pytest

from tests.support.asking_pages import Browser
from veilset.web.guard import FORM, LARGEST_FORM, MOST_FIELDS, Guard
from veilset.web.headers import HEADERS
from veilset.web.session import Session


class Inner:
    """What is behind the guard; it remembers what reaches it."""

    def __init__(self):
        self.reached = []

    async def __call__(self, scope, receive, send):
        self.reached.append((scope["path"], scope.get(FORM)))
        headers = [(b"referrer-policy", b"unsafe-url"), (b"x-own", b"1")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"secret"})


@pytest.fixture
def inner():
    return Inner()


@pytest.fixture
def browser(inner):
    session = Session(8123)
    return Browser(Guard(inner, session), session)


def fields(session, **given):
    return "&".join(f"{name}={value}" for name, value in {"csrf": session.csrf, **given}.items()).encode()


def test_the_printed_address_sets_a_cookie_and_leads_to_the_page(inner):
    session = Session(8123)
    stranger = Browser(Guard(inner, session), session, cookie="")
    answer = stranger.ask("GET", session.address.removeprefix(session.origin), sec_fetch_site="cross-site")
    assert (answer.status_code, answer.headers["location"]) == (303, session.folder)
    name, *attributes = answer.headers["set-cookie"].split("; ")
    assert name == f"veilset-8123={session.cookie_value}"
    assert attributes == [f"Path={session.folder}", "HttpOnly", "SameSite=Strict"]
    assert Browser(stranger.app, session, cookie=name).get().text == "secret"


def test_secrets_differ_between_runs_and_are_not_shown():
    one, other = Session(1), Session(1)
    secrets = [value for each in (one, other) for value in (each.token, each.cookie_value, each.csrf, each.folder)]
    assert len({*secrets}) == len(secrets)
    assert not [secret for secret in secrets if secret in repr(one) + repr(other)]


@pytest.mark.parametrize(
    "path", ["/", "/open", "/open?token=", "/open?token=x", "/open?token=%ff", "/openx", "//", "/web.js"]
)
def test_nothing_is_at_other_addresses(browser, inner, path):
    browser.cookie = ""
    assert browser.ask("GET", path).status_code == 403
    assert inner.reached == []


@pytest.mark.parametrize(
    "host", ["", "localhost:8123", "evil.example:8123", "127.0.0.1", "127.0.0.1:8124", "[::1]:8123"]
)
def test_a_name_that_leads_here_is_not_enough(browser, inner, host):
    """A stranger's name can be made to point at this machine; its pages then share our origin in a browser."""
    browser.headers = {"host": host}
    assert browser.get().status_code == 421
    assert browser.ask("GET", f"/open?token={browser.session.token}").status_code == 421
    assert inner.reached == []


@pytest.mark.parametrize(
    "cookie", ["", "veilset-8123=", "veilset-8123=x", "veilset-8124={}", "x={}", "veilset-8123={}x"]
)
def test_the_cookie_must_be_ours(browser, inner, cookie):
    browser.cookie = cookie.format(browser.session.cookie_value)
    assert browser.get().status_code == 403
    assert browser.post("act", fields(browser.session)).status_code == 403
    assert inner.reached == []


def test_our_cookie_may_be_among_others(browser):
    browser.cookie = f"a=b; veilset-8123={browser.session.cookie_value};c=d"
    assert browser.get().status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_other_sites_get_nothing(browser, inner, site):
    assert browser.get(sec_fetch_site=site).status_code == 403
    assert browser.get("web.js", sec_fetch_site=site).status_code == 403
    assert inner.reached == []


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": ""}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1:8124"}, 403),
        ({"origin": "http://localhost:8123"}, 403),
        ({"origin": "https://127.0.0.1:8123"}, 403),
        ({"sec_fetch_site": "cross-site"}, 403),
        ({"content_type": "text/plain"}, 415),
        ({"content_type": "application/json"}, 415),
        ({"content_type": ""}, 415),
    ],
    ids=str,
)
def test_forms_come_from_the_page(browser, inner, headers, status):
    assert browser.post("act", fields(browser.session), **headers).status_code == status
    assert inner.reached == []


@pytest.mark.parametrize("body", [b"", b"csrf=", b"csrf=x", b"a=b", b"csrf=x&csrf={}", b"CSRF={}"])
def test_forms_have_the_token_of_the_page(browser, inner, body):
    given = body.replace(b"{}", browser.session.csrf.encode())
    assert browser.post("act", given).status_code == 403
    assert inner.reached == []


def test_a_form_reaches_the_page_without_its_token(browser, inner):
    browser.headers = {"sec-fetch-site": ""}  # older browsers do not say
    assert (
        browser.post("act", fields(browser.session, query="caf%C3%A9", empty=""), sec_fetch_site="").status_code == 200
    )
    assert inner.reached == [(f"{browser.session.folder}act", {"query": ["café"], "empty": [""]})]


def test_damaged_and_huge_forms_are_refused(browser, inner):
    token = fields(browser.session)
    assert browser.post("act", token + b"&a=%ff").status_code == 400
    assert browser.post("act", token + b"&a=1" * MOST_FIELDS).status_code == 400
    assert browser.post("act", token + b"&a=" + b"x" * LARGEST_FORM).status_code == 413
    assert inner.reached == []


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"])
def test_other_methods_are_refused(browser, inner, method):
    assert browser.ask(method, browser.session.folder).status_code == 405
    assert inner.reached == []


def test_a_header_that_decides_is_given_once(browser, inner):
    scope = {
        "type": "http",
        "method": "GET",
        "path": browser.session.folder,
        "query_string": b"",
        "headers": [(b"host", browser.session.host.encode()), (b"Host", b"evil.example")],
    }
    sent = []

    async def send(message):
        sent.append(message)

    asyncio.run(browser.app(scope, None, send))
    assert sent[0]["status"] == 400
    assert inner.reached == []


def test_websockets_are_closed(browser, inner):
    sent = []

    async def send(message):
        sent.append(message)

    asyncio.run(browser.app({"type": "websocket", "path": "/", "headers": []}, None, send))
    assert sent == [{"type": "websocket.close"}]
    assert inner.reached == []


def test_every_answer_has_our_headers_and_no_others_of_that_name(browser):
    refused = browser.get(sec_fetch_site="cross-site")
    for answer in (
        browser.get(),
        refused,
        browser.ask("GET", browser.session.address.removeprefix(browser.session.origin)),
    ):
        for name, value in HEADERS.items():
            assert answer.headers.get_list(name) == [value]
    assert browser.get().headers["x-own"] == "1"
    assert "secret" not in refused.text


def test_the_policy_allows_nothing_but_our_own_files():
    policy = HEADERS["content-security-policy"]
    assert policy.startswith("default-src 'none'; ")
    assert not [word for word in ("unsafe", "http", "*", "blob:") if word in policy]
