"""Rules, defaults and people: what is left out of a profile."""

from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.typing_commands import piped
from veilset.errors import InvalidArgument
from veilset.search.documents import Document
from veilset.search.exclusions import Exclusions
from veilset.search.people import People, names_in
from veilset.search.rules import Rule


def page(address: str, title: str = "", text: str = "") -> Document:
    return Document(address, "firefox", title, text)


def message(place: str, title: str = "") -> Document:
    return Document("mid:1@example.org", "mail", title, "", place)


FILE = Document("file:///home/me/Papers/Taxes%202020/letter.txt", "notes", "letter.txt", "a divorce")


@pytest.mark.parametrize(
    ("kind", "value", "document", "covered"),
    [
        ("site", "example.org", page("https://news.example.org/a"), True),
        ("site", "https://Example.org/x", page("https://example.org:8443/"), True),
        ("site", "*.example.org", page("https://example.org/"), True),
        ("site", "ample.org", page("https://example.org/"), False),
        ("site", "*bank*", page("https://www.mybank.co.uk/"), True),
        ("site", "b?nk.org", page("https://bank.org/"), False),
        ("site", "example.org", message("ann@mail.example.org me@home.net"), True),
        ("site", "example.org", FILE, False),
        ("sender", "Ann@example.org", message("ann@example.org me@home.net"), True),
        ("sender", "*@home.net", message("ann@example.org me@home.net"), True),
        ("sender", "ann@example.org", page("https://ann@example.org/"), False),
        ("folder", "papers", FILE, True),
        ("folder", "Papers/Taxes 2020", FILE, True),
        ("folder", "/home/me/Papers", FILE, True),
        ("folder", "/home/me/Pap", FILE, False),
        ("folder", "letter.txt", FILE, False),
        ("word", "divorce", FILE, True),
        ("word", "divorc*", FILE, True),
        ("word", "a Divorce", FILE, True),
        ("word", "div", FILE, False),
        ("word", "hidden", page("https://example.org/hidden-path"), True),
        ("source", "notes", FILE, True),
        ("document", FILE.key, FILE, True),
    ],
)
def test_rules_cover_documents(kind, value, document, covered):
    assert Rule.of(kind, value).matches(document) is covered


@pytest.mark.parametrize(
    ("kind", "value"),
    [("site", "*"), ("word", "…"), ("sender", " "), ("folder", "/"), ("folder", "~0/notes"), ("x", "y")],
)
def test_a_rule_that_names_nothing_is_refused(kind, value):
    with refused(InvalidArgument, repr(kind) if kind == "x" else repr(value)):
        Rule.of(kind, value)


@given(st.text(max_size=30), st.sampled_from(["site", "folder", "sender", "word"]), st.text(max_size=30))
@examples(200)
def test_a_rule_of_any_text_is_a_rule_or_refused(value, kind, text):
    try:
        rule = Rule.of(kind, value)
    except InvalidArgument:
        return
    assert Rule.of(kind, rule.value) == rule
    assert rule.matches(page(f"https://example.org/{text}", text, text)) in (True, False)
    assert rule.matches(message(text, text)) in (True, False)


@pytest.mark.parametrize(
    ("document", "subject"),
    [
        (page("https://www.paypal.com/"), "banking"),
        (page("https://mychart.example.org/"), "health"),
        (page("http://192.168.1.1/admin"), "private"),
        (page("http://[::1]:8080/"), "private"),
        (page("http://printer/"), "private"),
        (page("http://wiki.corp/"), "private"),
        (message("alerts@mybank.com me@example.org"), "banking"),
    ],
)
def test_defaults_can_be_switched_off_and_have_exceptions(document, subject):
    why = Exclusions().why(document)
    assert why is not None
    assert why.startswith(f"{subject}: ")
    others = [one for one in ("banking", "health", "private", "people") if one != subject]
    assert Exclusions.of(defaults=others).why(document) is None
    if "/" in document.key and subject != "private":
        assert Exclusions.of(allow_sites=[document.key]).why(document) is None
        assert Exclusions.of(allow_sites=[document.key], sites=[document.key]).why(document) is not None
    assert Exclusions().why(page("https://example.org/")) is None


def test_an_unknown_subject_is_refused():
    with refused(InvalidArgument, "'gossip'"):
        Exclusions.of(defaults=["gossip"])


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Ask Robert J. Brown about jazz", "Ask  about jazz"),
        ("see Thomas, or Robert Brown. Jazz", "see Thomas, or . Jazz"),
        ("write to ann.miller@example.org today", "write to  today"),
        ("call +49 (228) 123-4567 on 2020-01-31", "call  on 2020-01-31"),
        ("pay to DE89 3704 0044 0532 0130 00 now", "pay to  now"),
        ("12 Old Mill Road, or Hauptstraße 5a", ", or "),
        ("ANN likes jazz; anna too", " likes jazz; anna too"),
    ],
)
def test_people_are_cut_out(text, kept):
    exclusions = Exclusions.of(people=["Ann Smith"])
    assert exclusions.cleaned(page("https://example.org/", text, text)) == page("https://example.org/", kept, kept)
    assert Exclusions.of(defaults=()).cleaned(page("https://example.org/", text)).title == text


@given(st.text(max_size=60))
@examples(300)
def test_cutting_out_people_adds_nothing(text):
    """What is left is made of the text's own letters, composed, in their order."""
    rest = iter(normalize("NFC", text))
    assert all(letter in rest for letter in People({"a"}).cut_from(text))


@pytest.mark.parametrize(
    ("name", "address", "words"),
    [
        ("Ann Miller", "ann@miller.org", {"ann", "miller"}),
        ("Miller, Ann (NYC)", "a@example.org", {"ann", "miller", "nyc"}),
        ("", "ann.miller@example.org", {"ann", "miller"}),
        ("GitHub", "x@github.com", set()),
        ("Shop Team", "x@example.org", set()),
        ("Tesla", "no-reply@example.org", set()),
        ("The Whole Long List of Words", "x@example.org", set()),
        ("", "a1234@example.org", set()),
    ],
)
def test_correspondents_have_names_unless_they_are_companies(name, address, words):
    assert names_in(name, address) == words


def test_the_defaults_are_shown(capsys):
    facts = piped("search profile exclusions", capsys, "--json")
    assert facts == Exclusions().to_json()
    assert "paypal.com" in facts["means"]["banking"]["sites"]
