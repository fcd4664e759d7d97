"""From text to terms, in several languages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.errors import refused
from veilset import InvalidArgument
from veilset.search.terms import LANGUAGES, Terms, check_languages, host_of

ENGLISH = Terms(("en",))


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The cat is not on the roof of the house"),
        ("de", "Die Katze ist nicht auf dem Dach des Hauses"),
        ("fr", "Le chat n'est pas sur le toit de la maison"),
        ("es", "El gato no está en el techo de la casa"),
        ("it", "Il gatto non è sul tetto della casa"),
        ("nl", "De kat zit niet op het dak van het huis"),
        ("pt", "O gato não está no telhado da casa"),
        ("ru", "Кошка не на крыше дома"),
        ("pl", "Kot nie jest na dachu domu"),
        ("en", "wing interference at supersonic speeds"),
        ("en", ""),
    ],
)
def test_language(language, text):
    assert Terms().language_of(text) == language


def test_the_first_language_stands_in_for_texts_that_do_not_tell():
    assert Terms(("de", "en")).language_of("Haus Garten") == "de"
    assert Terms(("de", "en")).units("Häuser") == [("haus", "häuser")]


def test_stop_words_and_stems_are_those_of_the_language():
    mixed = Terms(("en", "de"))
    assert mixed.units("Die Bücher sind nicht in der Bibliothek") == [("buch", "bücher"), ("bibliothek", "bibliothek")]
    assert mixed.units("He did die in the libraries") == [("die", "die"), ("librari", "libraries")]
    assert mixed.units("die die die", "en") == [("die", "die")] * 3
    assert mixed.units("die die die", "de") == []
    assert mixed.units("die die die", "xx") == []  # a language that is not known is detected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("See www.nytimes.com, nytimes.com or https://nytimes.com/2008/secret?q=x#y now", ["nytimes.com"] * 3),
        ("Write to ann.smith+news@mail.example.org about tea.", ["write", "tea"]),
        ("End of one sentence.Next one", ["sentence"]),
        ("In 2008, 3.14 or 20080612T101500 and 3f29812", []),
        ("MP3, covid19, x86", ["mp3", "covid19", "x86"]),
        ("the user’s e-mail; state-of-the-art", ["user's", "mail", "state", "art"]),
        ("x" * 41 + " tea", ["tea"]),
        ("cafe\u0301 café", ["café"] * 2),
        ("research on computer systems", ["research", "computer", "systems"]),
    ],
)
def test_words(text, words):
    assert [word for _, word in ENGLISH.units(text)] == words


def test_words_of_one_stem():
    assert {stem for stem, _ in ENGLISH.units("search searches searching searched")} == {"search"}
    assert ENGLISH.stem("searching", "en") == "search"
    assert ENGLISH.stem("nytimes.com", "en") == "nytimes.com"


@pytest.mark.parametrize(
    ("place", "host"),
    [
        ("www.NYTimes.com", "nytimes.com"),
        ("a.b.example", "a.b.example"),
        ("/home/me/a.txt", ""),
        ("a@b.org", ""),
        ("10.0.0.1", ""),
    ],
)
def test_hosts(place, host):
    assert host_of(place) == host


def test_every_language_has_a_stemmer_and_stop_words():
    for code in LANGUAGES:
        assert Terms((code,)).stem("tea", code)
        assert Terms((code,)).language_of("tea") == code


@examples(300)
@given(st.text(max_size=200))
def test_any_text_is_read(text):
    for stem, word in Terms().units(text):
        assert stem
        assert "/" not in word
        assert not word.isspace()


@pytest.mark.parametrize("piece", ["a.", "a-", "a+", "a.com", "a@", "www.a", "a'", "http://", "ab.cd", "1.", "a.b-"])
def test_long_texts_take_time_in_proportion(piece):
    """Where it were their square, this would take minutes."""
    Terms(("en",)).units(piece * (100_000 // len(piece)))
    assert host_of(piece * (100_000 // len(piece))) == ""


def test_languages():
    assert check_languages(["de", "en", "de"]) == ("de", "en")
    assert check_languages(None) == check_languages([]) == tuple(LANGUAGES)
    with refused(InvalidArgument, "'klingon'", "'en'"):
        check_languages(["klingon"])
