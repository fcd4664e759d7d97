"""One request: the bytes that were shown, and an answer within bounds."""

import time

import pytest

from tests.support.errors import refused
from tests.support.web_servers import answer, recording
from veilset.errors import InvalidArgument
from veilset.search.asking import HEADERS, Message, NoAnswer, ask

MOST = 1_000_000
PATIENT = 60  # seconds: what is to be answered is, however busy the machine


def test_what_leaves_is_what_the_message_shows_byte_for_byte():
    with recording(answer(b"[]")) as server:
        messages = [
            Message("GET", f"{server.address}/search?q=caf%C3%A9"),
            Message("POST", f"{server.address}/ask", kind="text/plain", body="ü\r\n\r\n".encode()),
            Message("POST", f"http://ann:p%40ss@127.0.0.1:{server.port}/x", accept="text/html", kind="a/b", body=b""),
        ]
        for message in messages:
            assert ask(message, seconds=PATIENT, most=MOST).body == b"[]"
    assert server.requests == [message.wire for message in messages]
    head = ["User-Agent: veilset", "Accept: application/json", "Accept-Encoding: identity", "Connection: close"]
    lines = [
        "POST /ask HTTP/1.1",
        f"Host: 127.0.0.1:{server.port}",
        *head,
        "Content-Type: text/plain",
        "Content-Length: 6",
    ]
    assert server.requests[1] == "\r\n".join([*lines, "", "ü\r\n\r\n"]).encode()
    assert b"\r\nAuthorization: Basic YW5uOnBAc3M=\r\n" in server.requests[2]
    sent = [
        line.split(b":")[0].decode()
        for request in server.requests
        for line in request.split(b"\r\n")[1:]
        if b": " in line
    ]
    assert {*sent} == {*HEADERS}


def test_a_password_is_in_no_name_of_the_host():
    assert Message("GET", "https://ann:secret@example.org:8443/x").host == "example.org:8443"


def test_the_environment_and_cookies_change_nothing(monkeypatch, tmp_path):
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login ann password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    with recording(answer(b"", Set_Cookie="id=7; Path=/")) as server:
        message = Message("GET", f"{server.address}/")
        ask(message, seconds=PATIENT, most=MOST)
        ask(message, seconds=PATIENT, most=MOST)
    assert server.requests == [message.wire, message.wire]


def test_redirects_are_answers():
    with recording(answer(b"", "302 Found", Location="http://127.0.0.1:1/")) as server:
        got = ask(Message("GET", f"{server.address}/"), seconds=PATIENT, most=MOST)
    assert (got.status, got.headers["location"], len(server.requests)) == (302, "http://127.0.0.1:1/", 1)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "example.org",
        "ftp://example.org",
        "http://",
        "http://[::1",
        "http://x:99999/",
        "http://a b/",
        "http://xn--a/",
        "javascript:x",
    ],
)
def test_what_is_no_address_is_refused(address):
    with refused(InvalidArgument):
        Message("GET", address).wire  # noqa: B018


def test_nobody_listens():
    with recording(b"") as server:
        pass
    with refused(NoAnswer, f"127.0.0.1:{server.port}"):
        ask(Message("GET", f"{server.address}/"), seconds=PATIENT, most=MOST)


def test_a_name_that_nobody_has():
    def nobody(host, port):
        raise OSError(-2, "Name or service not known")

    with refused(NoAnswer, "nowhere.example"):
        ask(Message("GET", "http://nowhere.example/"), seconds=PATIENT, most=MOST, addresses=nobody)
    with refused(NoAnswer):
        ask(Message("GET", f"http://{'a' * 70}.example/"), seconds=PATIENT, most=MOST)


@pytest.mark.parametrize("how", [{"silent": True}, {"drip": 0.05}])
def test_a_slow_server_is_left_at_the_deadline(how):
    with recording(answer(b"x" * 10_000), **how) as server, refused(NoAnswer, "0.3"):
        ask(Message("GET", f"{server.address}/"), seconds=0.3, most=MOST)


def test_a_slow_name_server_is_left_at_the_deadline():
    with refused(NoAnswer, "0.1"):
        ask(Message("GET", "http://a.example/"), seconds=0.1, most=MOST, addresses=lambda h, p: time.sleep(0.5) or [])


@pytest.mark.parametrize(
    "nonsense",
    [
        b"",
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/1.1 x\r\n\r\n",
        b"\x00" * 100,
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n1",
    ],
)
def test_nonsense_is_told(nonsense):
    with recording(nonsense) as server, refused(NoAnswer, f"127.0.0.1:{server.port}"):
        ask(Message("GET", f"{server.address}/"), seconds=PATIENT, most=MOST)


def test_a_long_answer_is_not_read_to_its_end():
    with recording(answer(b"x" * 100_001)) as server, refused(NoAnswer, "100,000"):
        ask(Message("GET", f"{server.address}/"), seconds=PATIENT, most=100_000)


def test_the_next_address_is_tried():
    with recording(answer(b"here")) as server:
        found = ask(
            Message("GET", f"http://example.org:{server.port}/"),
            seconds=PATIENT,
            most=MOST,
            addresses=lambda host, port: ["127.0.0.9", "127.0.0.1"],
        )
    assert found.body == b"here"
    assert f"Host: example.org:{server.port}".encode() in server.requests[0]
