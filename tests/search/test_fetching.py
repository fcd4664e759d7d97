"""Pages of results: all or none, from public addresses only, at every step."""

import socket

import pytest

from tests.support.certificates import tls_for
from tests.support.web_servers import answer, recording
from veilset.search.fetching import ACCEPT, MOST_REDIRECTS, Fetcher
from veilset.search.public_addresses import NotPublic
from veilset.search.ranking import Result

HTML = "text/html; charset=utf-8"
PATIENT = 60  # seconds: nothing here is to run into the limit, however busy the machine is


def here(host, port):
    """Stands for a name server that knows where public hosts are: here, in a test. Others it refuses."""
    if not host.endswith(".example"):
        raise NotPublic(f"{host!r} is not public.", "Only pages on the public internet are fetched.")
    return ["127.0.0.1"]


def fetcher(server, **more):
    ports = (("http", server.port), ("https", server.port))
    return Fetcher(lambda body, kind: f"{kind}:{body.decode()}", seconds=PATIENT, addresses=here, ports=ports, **more)


def results(server, *paths, scheme="http"):
    addresses = [path if "://" in path else f"{scheme}://a.example:{server.port}{path}" for path in paths]
    return [Result("t", "s", address, rank) for rank, address in enumerate(addresses, 1)]


def test_all_pages_are_there_each_with_its_result():
    def tell(request):
        return answer(request.split()[1], kind=HTML)

    with recording(tell) as server:
        fetched = fetcher(server).pages(results(server, "/1", "/2#part", "/3"))
    assert [result.page for result in fetched.results] == ["text/html:/1", "text/html:/2", "text/html:/3"]
    assert (fetched.failed, len(fetched.asked)) == ({}, 3)


def test_what_a_server_is_sent():
    with recording(answer(b"x", kind=HTML)) as server:
        fetcher(server).pages(results(server, "/page?id=7"))
    lines = ["GET /page?id=7 HTTP/1.1", f"Host: a.example:{server.port}", "User-Agent: veilset", f"Accept: {ACCEPT}"]
    assert server.requests == ["\r\n".join([*lines, "Accept-Encoding: identity", "Connection: close", "", ""]).encode()]


def test_all_are_asked_even_if_one_fails_and_then_no_page_counts():
    def tell(request):
        return answer(b"x", "500 Oops") if b"/2 " in request else answer(b"x", kind=HTML)

    with recording(tell) as server:
        given = results(server, "/1", "/2", "/3")
        fetched = fetcher(server).pages(given)
    assert len(server.requests) == 3
    assert fetched.results == given
    assert list(fetched.failed) == [given[1].address]


def test_redirects_are_followed_and_checked_again():
    def tell(request):
        step = int(request.split()[1].rpartition(b"/")[2])
        return answer(b"there", kind=HTML) if step == 0 else answer(b"", "302 Found", Location=f"/{step - 1}#x")

    with recording(tell) as server:
        fetched = fetcher(server).pages(results(server, f"/{MOST_REDIRECTS}"))
        assert fetched.results[0].page == "text/html:there"
        assert [one.rpartition("/")[2] for one in fetched.asked] == [str(n) for n in range(MOST_REDIRECTS, -1, -1)]
        too_far = fetcher(server).pages(results(server, f"/{MOST_REDIRECTS + 1}"))
    assert len(too_far.failed) == 1


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.1:{port}/",
        "http://[::1]:{port}/",
        "//inner.local:{port}/",
        "http://b.example/",
        "http://ann:x@b.example:{port}/",
        "ftp://b.example/",
        "file:///etc/passwd",
        "gopher://b.example:{port}/",
        "",
        "http://[",
        "//b.example:x/",
        "////",
        "//xn--a/",
        "http://xn--a/",
        "/\x7f",
    ],
)
def test_a_redirect_leads_nowhere_else(location):
    def tell(request):
        return answer(b"", "301 Moved", Location=location.format(port=server.port))

    with recording(tell) as server:
        fetched = fetcher(server).pages(results(server, "/"))
    assert len(fetched.failed) == 1
    assert len(server.requests) == 1


def test_a_result_without_a_proper_address_is_told():
    """An engine may name anything that begins with http."""
    with recording(answer(b"x", kind=HTML)) as server:
        given = results(server, "/", "http://xn--a/", "http://[", "https://b.example:x/", "http://")
        assert list(fetcher(server).pages(given).failed) == [one.address for one in given[1:]]


def test_inner_addresses_are_not_asked(monkeypatch):
    """With the real check; nobody is connected to."""
    connected = []
    monkeypatch.setattr(socket, "create_connection", lambda *given, **more: connected.append(given))
    names = [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "169.254.169.254",
        "0x7f.1",
        "10.0.0.1",
        "[fe80::1]",
    ]
    given = [Result("t", "s", f"http://{name}/", rank) for rank, name in enumerate(names, 1)]
    fetched = Fetcher(lambda body, kind: "", seconds=PATIENT).pages(given)
    assert len(fetched.failed) == len(names)
    assert connected == []


def test_the_address_that_was_checked_is_the_one_that_is_asked(monkeypatch):
    """A name server may answer differently a moment later; it is asked once."""
    asked = []

    def changing(host, port):
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["127.0.0.2"]

    with recording(answer(b"x", kind=HTML)) as server:
        one = Fetcher(lambda body, kind: "", seconds=PATIENT, addresses=changing, ports=(("http", server.port),))
        assert one.pages(results(server, "/")).failed == {}
    assert asked == ["a.example"]
    assert f"Host: a.example:{server.port}".encode() in server.requests[0]


def test_the_certificate_must_be_that_of_the_host(tmp_path):
    server_side, trust = tls_for("a.example", tmp_path)
    with recording(answer(b"x", kind=HTML), tls=server_side) as server:
        good = fetcher(server, trust=trust).pages(results(server, "/", scheme="https"))
        other = [Result("t", "s", f"https://b.example:{server.port}/", 1)]
        bad = fetcher(server, trust=trust).pages(other)
        stranger = fetcher(server).pages(results(server, "/", scheme="https"))
    assert good.results[0].page == "text/html:x"
    assert [len(each.failed) for each in (bad, stranger)] == [1, 1]
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "given",
    [
        answer(b"%PDF", kind="application/pdf"),
        answer(b"x", kind=""),
        answer(b"\x1f\x8b", kind=HTML, Content_Encoding="gzip"),
        answer(b"x" * 3_000_001, kind=HTML),
        answer(b"", "204 No Content"),
        answer(b"", "404 Not Found", kind=HTML),
        b"nonsense\r\n\r\n",
    ],
)
def test_what_is_no_page_is_told(given):
    with recording(given) as server:
        assert len(fetcher(server).pages(results(server, "/")).failed) == 1
