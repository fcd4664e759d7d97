"""Twins: public items that would be sensitive but for case, blanks, Unicode form or punctuation."""

import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import veilset as vs
from veilset import Taxonomy, Transactions
from veilset.transactions import Reading, mark_sensitive, parse_entries
from veilset.transactions.twins import fold, twins_of

CODES = [f"B20.{digit}" for digit in (0, 1, 2, 3)]


def test_patterns_and_names(tmp_path):
    (tmp_path / "data.csv").write_text(f'{",".join(CODES)},milk\nb20.5," B20.3",B-20-9\nb20.5,milk\n')
    data = Reading(path=str(tmp_path / "data.csv"), sensitive_items=("glob: B20*",)).read()
    assert data.sensitive == tuple(CODES)
    assert data.twins == (("b20.5", 2, "glob: B20*"), (" B20.3", 1, "B20.3"), ("B-20-9", 1, "glob: B20*"))
    assert "3 public items resemble sensitive ones" in repr(data)
    assert data.with_sensitive(["milk"]).twins == ()  # and no others: what was sought before counts no more


@pytest.mark.parametrize(
    "twin",
    ["hiv", " HIV", "HIV\t", "H.I.V.", "HI\u200bV", "ＨＩＶ", "HIV\u00a0", "h_i-v", "\u200fHIV", "HIV+"],
)
def test_what_makes_a_twin(twin):
    data = Transactions.from_lists([["HIV", twin], ["milk"]], sensitive=["HIV"])
    assert [(found.item, found.resembles) for found in data.twins] == [(twin, "HIV")]
    assert Transactions.from_lists([["HIV", twin], ["milk"]]).twins == ()


def test_unicode_forms_are_one():
    assert fold("Cafe\u0301") == fold("CAFÉ") != fold("cafe")
    assert fold("कि") != fold("क")  # a vowel is no punctuation
    assert len({fold(sign) for sign in "+-*🍺🍷"}) == 5


def test_names_that_do_not_occur_to_the_letter(tmp_path):
    """An item below a sensitive branch, or one that was sensitive in an earlier release, spelled in another way."""
    (tmp_path / "data.csv").write_text("insulin,milk\nMorphine,milk\n")
    data = vs.read(tmp_path / "data.csv")
    tree = Taxonomy.from_paths({"insulin": ["pharmacy"], "morphine": ["pharmacy"], "milk": ["food"]})
    marked = mark_sensitive(data, parse_entries(["branch: pharmacy"]), tree)
    assert (marked.sensitive, marked.twins) == (("insulin",), (("Morphine", 1, "branch: pharmacy"),))
    reading = Reading(path=str(tmp_path / "data.csv"), sensitive_where_present=("insulin", "morphine"))
    assert reading.read().twins == (("Morphine", 1, "morphine"),)


def test_patterns_without_letters_or_digits_say_nothing():
    entries = parse_entries(["glob: ?", "glob: *.*", "glob: [!.]"])
    assert twins_of([("milk", 1)], ["-"], entries) == ()


TEXT = st.text(alphabet="aB1.- ", min_size=1, max_size=5)
PATTERN = st.text(alphabet="aB1.-*? ", min_size=1, max_size=5)
SETS = st.sampled_from(["", "[ab]", "[.1]", "[!1]", "[A-C]", "[]]"])


@given(TEXT, PATTERN, SETS, PATTERN, st.sampled_from([str.upper, str.lower, str.swapcase]))
def test_what_matches_but_for_case_is_found(name, pattern, piece, rest, change):
    """Whatever a pattern takes is found in another case, and with blanks around it."""
    whole = f"{pattern}{piece}{rest}".strip()
    if not any(map(str.isalnum, name)) or not any(map(str.isalnum, whole)) or not fnmatch.fnmatchcase(name, whole):
        return
    odd = f" {change(name)}."
    assert twins_of([(odd, 1)], [], parse_entries([f"glob: {whole}"])) == ((odd, 1, f"glob: {whole}"),)
