"""The sources file: what it may say, and what is told about a mistake in it."""

from fractions import Fraction
from pathlib import Path

import pytest

from tests.support.errors import refused
from tests.support.places import DOCS
from veilset.errors import InvalidArgument, UnreadableInput
from veilset.search.default_rules import SUBJECTS
from veilset.search.rules import Rule
from veilset.search.sources import sources_file
from veilset.search.sources.source import MEGABYTES, MOST, Source
from veilset.search.sources.sources_file import SourcesFile


def written(tmp_path, text):
    path = tmp_path / "sources.toml"
    path.write_text(text)
    return path


def test_all_that_it_may_say(tmp_path):
    text = """
    [sources.browsing]
    kind = "firefox"
    path = "~/profile"
    days = 365
    half_life = 90
    most = 100

    [sources.mail]
    kind = "mbox"
    path = "box"
    weight = 0.5
    attachments = true
    characters = 10
    megabytes = 3

    [exclude]
    defaults = ["people"]
    sites = ["example.org"]
    folders = ["taxes"]
    senders = ["ann@example.org"]
    words = ["divorce"]
    people = ["Ann Miller"]
    allow_sites = ["bank.example"]
    allow_senders = ["bob@example.org"]

    [profile]
    min_support = 3
    delta = "2/3"
    languages = ["en", "de"]
    """
    file, sources = SourcesFile.load(written(tmp_path, text))
    assert sources == [
        Source("browsing", "firefox", Path.home() / "profile", days=365, half_life=90, most=100),
        Source("mail", "mbox", tmp_path / "box", weight=Fraction(1, 2), attachments=True, characters=10, megabytes=3),
    ]
    assert file.profile.given() == {"min_support": 3, "delta": "2/3", "languages": ["en", "de"]}
    exclusions = file.exclude.exclusions()
    kinds = [("site", "example.org"), ("folder", "taxes"), ("sender", "ann@example.org"), ("word", "divorce")]
    assert exclusions.rules == tuple(Rule.of(*one) for one in kinds)
    assert exclusions.subjects == ("people",)
    assert exclusions.names == {"ann", "miller"}
    assert exclusions.allowed == (Rule.of("site", "bank.example"), Rule.of("sender", "bob@example.org"))


def test_the_example_of_the_page_is_a_sources_file(tmp_path):
    example = "".join(
        line[4:] + "\n" for line in sources_file.__doc__.split("For example:")[1].splitlines() if line[:4] == "    "
    )
    _, sources = SourcesFile.load(written(tmp_path, example))
    assert [(one.name, one.kind) for one in sources] == [("browsing", "firefox"), ("notes", "folder")]


def test_the_example_of_the_docs_is_a_sources_file(tmp_path):
    page = (DOCS / "search-sources.md").read_text()
    file, sources = SourcesFile.load(written(tmp_path, page.split("```toml")[1].split("```")[0]))
    assert [(one.name, one.most, one.megabytes) for one in sources] == [
        ("browsing", MOST, MEGABYTES),
        ("sent", MOST, MEGABYTES),
    ]
    assert file.exclude.defaults == SUBJECTS


def test_an_empty_file_says_nothing(tmp_path):
    file, sources = SourcesFile.load(written(tmp_path, ""))
    assert (sources, file.profile.given()) == ([], {})


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('[sources.a]\nkind = "netscape"\npath = "b"', ["sources.a.kind"]),
        ('[sources.a]\nkind = "folder"', ["sources.a.path"]),
        ('[sources.a]\nkind = "folder"\npath = "b"\nday = 3', ["'sources.a.day'", "'days'"]),
        ('[sources.a]\nkind = "folder"\npath = "b"\ndays = 0', ["sources.a.days"]),
        ('[sources.a]\nkind = "folder"\npath = "b"\nweight = 0', [0]),
        ('[sources.a]\nkind = "folder"\npath = "b"\nweight = "heavy"', ["'heavy'"]),
        ('[sources.a]\nkind = "folder"\npath = "b\\u0000"', ["sources.a.path"]),
        ('[exclude]\nsites = "example.org"', ["exclude.sites"]),
        ('[exclude]\nsites = ["*"]', ["'*'"]),
        ('[exclude]\ndefaults = ["gossip"]', ["exclude.defaults.0"]),
        ('[exclude]\nsite = ["a"]', ["'exclude.site'", "'sites'"]),
        ("[profile]\nmin_support = 2.5", ["profile.min_support"]),
    ],
)
def test_mistakes_are_told_with_their_place(tmp_path, text, values):
    path = written(tmp_path, text)
    with refused(InvalidArgument, str(path), *values):
        SourcesFile.load(path)


def test_what_is_no_toml_is_refused(tmp_path):
    with refused(UnreadableInput, str(tmp_path / "none.toml")):
        SourcesFile.load(tmp_path / "none.toml")
    with refused(UnreadableInput, str(tmp_path / "sources.toml")):
        SourcesFile.load(written(tmp_path, "[sources"))
