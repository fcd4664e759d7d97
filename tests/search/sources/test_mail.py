"""Mail: subject and own words, not what is quoted, forwarded or attached."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.mail import maildir, mbox, message
from veilset.errors import UnreadableInput
from veilset.search.sources.extractor import Extractor
from veilset.search.sources.mailboxes import correspondent_names, read_mail
from veilset.search.sources.own_words import own_words, own_words_of_html
from veilset.search.sources.reading import names_of_correspondents
from veilset.search.sources.source import Notes, Source

MAKERS = {"mbox": mbox, "maildir": maildir}
SENT = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)


def read(source, notes=None):
    with Extractor() as extractor:
        return sorted(read_mail(source, notes or Notes(), extractor), key=lambda one: one.key)


@pytest.mark.parametrize("kind", MAKERS)
def test_messages(tmp_path, kind):
    texts = ["Jazz at eight.\nFrom the start!", "Cello at nine.", "Bring the orchestra.", "Ä Ö Ü"]
    messages = [message(text, number=number, subject=f"Über {number}") for number, text in enumerate(texts)]
    notes = Notes()
    found = read(Source("mine", kind, MAKERS[kind](tmp_path / "box", messages)), notes)
    assert [one.key for one in found] == [f"mid:{number}@mail.example.org" for number in range(4)]
    assert [one.text.strip() for one in found] == texts
    assert [one.title for one in found] == [f"Über {number}" for number in range(4)]
    assert {(one.place, one.when, one.source) for one in found} == {("ann@example.org me@example.net", SENT, "mine")}
    assert notes.passed_over == []


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("Yes.\n> No?\n>> Perhaps?\nGood.", "Yes.\nGood."),
        ("On Mon, 6 May 2024 at 09:08, Ann Miller\n<ann@example.org> wrote:\n> jazz?\nYes.", "Yes."),
        ("Ja.\n\nAm Montag schrieb Ann:\n> Jazz?", "Ja.\n"),
        ("Note this:\n\nJazz", "Note this:\n\nJazz"),
        ("Yes.\n-- \nAnn Miller\nJazz Ltd", "Yes."),
        ("Yes.\n\n-----Original Message-----\nFrom: Bob\njazz", "Yes.\n"),
        ("Ja.\n________________________________\nVon: Bob <bob@example.org>\njazz", "Ja."),
        ("Ja.\nVon: Bob <b@example.org>\nGesendet: Montag\njazz", "Ja."),
        ("From: here to there\nis a long way", "From: here to there\nis a long way"),
        ("See:\n---------- Forwarded message ---------\njazz", "See:"),
        ("Begin forwarded message:\njazz", ""),
        ("> all of it", ""),
    ],
)
def test_own_words(text, own):
    assert own_words(text) == own


@pytest.mark.parametrize(
    ("html", "words"),
    [
        ("<style>x{}</style><p>Yes <b>jazz</b></p><blockquote>No<p>No</p></blockquote><p>cello", "Yes jazz cello"),
        (
            '<div>Yes<img src="x.gif"></div><div class="gmail_quote">On … wrote: <div>no</div></div>ok',
            "Yes ok",
        ),
        ('Yes<div id="divRplyFwdMsg">From: Bob</div>no', "Yes"),
        ("<script>var a = '<p>no</p>'</script>Yes &eacute;", "Yes é"),
        ("</blockquote>Yes</div></div>", "Yes"),
    ],
)
def test_own_words_of_html(html, words):
    assert own_words_of_html(html).split() == words.split()


@given(st.text(alphabet=st.sampled_from('<>/ab "=quote-!&;\n'), max_size=80))
@examples(300)
def test_any_html_has_words(html):
    assert isinstance(own_words_of_html(html), str)


def test_html_is_read_where_there_is_no_plain_text(tmp_path):
    both = message("plain jazz", html="<p>html cello</p>", number=1)
    blank = message(" ", html="<p>html cello</p>", number=2)
    first, second = read(Source("mine", "mbox", mbox(tmp_path / "box", [both, blank])))
    assert (first.text.strip(), second.text.strip()) == ("plain jazz", "html cello")


def test_attachments_are_read_if_that_is_asked_for(tmp_path):
    attached = {"notes.txt": b"a harpsichord", "photo.jpg": b"\xff\xd8", "broken.pdf": b"%PDF-1.4 nothing"}
    path = mbox(tmp_path / "box", [message("hello", attached=attached)])
    notes = Notes()
    (plain,) = read(Source("mine", "mbox", path), notes)
    assert "harpsichord" not in plain.text
    assert (notes.left_out, notes.passed_over) == ({}, [])
    (full,) = read(Source("mine", "mbox", path, attachments=True), notes)
    assert "harpsichord" in full.text
    assert notes.left_out == {"attachment of another kind": 1}
    ((what, why),) = notes.passed_over
    assert "broken.pdf" in what
    assert "damaged" in why


def test_attached_messages_are_words_of_others(tmp_path):
    outer = (
        b"From: ann@example.org\nSubject: fwd\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n"
        b"--b\nContent-Type: text/plain\n\nmine\n--b\nContent-Type: message/rfc822\n\n"
        b"Subject: inner\n\ntheirs\n--b--\n"
    )
    (found,) = read(Source("mine", "mbox", mbox(tmp_path / "box", [outer])))
    assert found.text.strip() == "mine"
    assert len(found.key) == len("mid:") + 64


@pytest.mark.parametrize(
    ("headers", "title", "place"),
    [
        (b"Subject: =?utf-8?q?J=C3=A4zz?=\n =?utf-8?q?_cello?=", "Jäzz cello", ""),
        (b"Subject: Re: AW: FWD : re[2]:Jazz: a return", "Jazz: a return", ""),
        (b"Subject: Reading: jazz", "Reading: jazz", ""),
        (b"Subject: =?nonsense?b?//?= x", "=?nonsense?b?//?= x", ""),
        (b"Subject: =?utf-8?b?a?= x", "=?utf-8?b?a?= x", ""),
        (b"Subject: caf\xe9", "caf\N{REPLACEMENT CHARACTER}", ""),
        (
            b"From: =?utf-8?q?J=C3=BCrgen?= <J@Example.ORG>\nTo: a@b.example, c@d.example",
            "",
            "j@example.org a@b.example c@d.example",
        ),
        (b"From: nobody\nTo: <>", "", ""),
        (b"Date: yesterday", "", ""),
        (b"Content-Type: text/plain; charset=nonsense", "", ""),
        (b"Content-Type: text/plain; charset=unicode_escape", "", ""),
        (b"Content-Type: multipart/mixed", "", ""),
        (b"Content-Transfer-Encoding: base64", "", ""),
        (b"", "", ""),
    ],
)
def test_odd_headers(tmp_path, headers, title, place):
    notes = Notes()
    (found,) = read(Source("mine", "mbox", mbox(tmp_path / "box", [headers + b"\n\nhello\n"])), notes)
    assert (found.title, found.place) == (title, place)
    assert notes.passed_over == []


def test_a_message_that_breaks_the_parser_is_passed_over(tmp_path, monkeypatch):
    def broken(content, *rest):
        if b"number one" in content:
            raise AttributeError("no such thing")
        return real(content, *rest)

    from veilset.search.sources import mailboxes

    real = mailboxes.document_of
    monkeypatch.setattr(mailboxes, "document_of", broken)
    notes = Notes()
    path = mbox(tmp_path / "box", [message("number one", number=1), message("two", number=2)])
    assert len(read(Source("mine", "mbox", path), notes)) == 1
    ((what, why),) = notes.passed_over
    assert "message 1" in what
    assert "no such thing" in why


@pytest.mark.parametrize("kind", MAKERS)
def test_messages_that_are_too_large_are_passed_over(tmp_path, kind):
    messages = [message("x" * 1_200_000, number=1), message("jazz", number=2)]
    notes = Notes()
    source = Source("mine", kind, MAKERS[kind](tmp_path / "box", messages), megabytes=1)
    assert [one.text.strip() for one in read(source, notes)] == ["jazz"]
    ((_, why),) = notes.passed_over
    assert "1 MB" in why


def test_what_is_no_mailbox_is_refused(tmp_path):
    (tmp_path / "text").write_text("hello\n")
    (tmp_path / "empty").touch()
    for kind, path in (
        ("mbox", tmp_path / "text"),
        ("mbox", tmp_path / "none"),
        ("mbox", tmp_path),
        ("maildir", tmp_path),
    ):
        with refused(UnreadableInput, str(path)):
            read(Source("mine", kind, path))
    assert read(Source("mine", "mbox", tmp_path / "empty")) == []


def test_mail_outside_of_a_maildir_is_not_read(tmp_path):
    box = maildir(tmp_path / "box", [message("jazz")])
    secret = tmp_path / "secret"
    secret.write_bytes(message("secret", number=9))
    (box / "cur" / "link").symlink_to(secret)
    (box / "linked").symlink_to(tmp_path)
    notes = Notes()
    assert [one.text.strip() for one in read(Source("mine", "maildir", box), notes)] == ["jazz"]
    assert notes.left_out["link, which is not followed"] == 2


@pytest.mark.parametrize("kind", MAKERS)
def test_names_of_correspondents(tmp_path, kind):
    people = {
        "Ann Miller <a@example.org>": True,
        '"Brown, Bob" <b@example.org>': True,
        "Shop <noreply@shop.example>": False,
    }
    path = MAKERS[kind](tmp_path / "box", [message("x", sender=sender) for sender in people])
    source = Source("mine", kind, path)
    assert correspondent_names(source) == {"ann", "miller", "brown", "bob", "me"}
    missing = Source("gone", kind, tmp_path / "none")
    assert names_of_correspondents([source, missing]) == correspondent_names(source)
