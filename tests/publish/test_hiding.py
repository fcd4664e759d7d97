"""Hidden patterns and rules from end to end: what is public, what is sealed, and what `verify` says to whom."""

import shutil
import tomllib
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import veilset as vs
from tests.support.bundles import edit_certificate
from tests.support.errors import refused
from tests.support.pharmacy import BOTH, RULES, by_hand, read
from tests.support.releases import answer, certificate, files, message, replayed
from veilset.errors import InvalidArgument
from veilset.io import sha256_of
from veilset.models import Sealed
from veilset.publish import Recipe
from veilset.publish.sealing import public_promise

SECRETS = (b"insulin", b"lancets", b"29/97", b"29.9", b"31/43", b"72.1", b"s3cret", b"8675309")


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> vs.Bundle:
    """A release with the pattern in two transactions; in three it would be found."""
    folder = tmp_path_factory.mktemp("pharmacy")
    return vs.publish(by_hand(read(folder)), folder / "release", random_state="s3cret")


def edit_recipe(bundle: vs.Bundle, old: str, new: str) -> None:
    path = bundle.custodian / "recipe.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def forge(public: Path, *rows: str) -> None:
    """Write other data, and a certificate and sums that fit it."""
    data = public / "data.csv"
    data.write_text("".join(row + "\n" for row in rows))
    edit_certificate(public, lambda c: c["data"].update(sha256=sha256_of(data)), fix_sums=True)


@BOTH
def test_the_custodian_can_check_it_and_nobody_else(tmp_path, promise):
    release = vs.anonymize(read(tmp_path), promise)
    bundle = vs.publish(release, tmp_path / "release")
    assert bundle.verification.holds
    assert bundle.verification.audit.promise == promise
    assert (answer(bundle.path), answer(bundle.public)) == (("holds", 0), ("sealed", 4))
    assert vs.verify(bundle.public).audit is None
    moved = shutil.copytree(bundle.public, tmp_path / "handed over")
    assert answer(moved) == ("sealed", 4)


@BOTH
def test_nothing_public_tells_what_is_hidden(tmp_path, promise):
    release = vs.anonymize(read(tmp_path), promise, random_state=8675309, keep_patterns=[["bread"]])
    bundle = vs.publish(release, tmp_path / "release", random_state="s3cret")
    public = files(bundle.public)
    assert public.keys() == {"data.csv", "certificate.json", "report.html", "SHA256SUMS"}
    for name in public.keys() - {"data.csv"}:
        for secret in SECRETS:
            assert secret not in public[name], (name, secret)
    told = certificate(bundle.path)["promise"]
    assert told["name"] == "sealed"
    assert told["parameters"].keys() == {"of", "count", "commitment"}
    assert told["parameters"]["count"] == len(promise.itemsets)
    kept = b"".join(files(bundle.custodian).values())
    assert all(secret in kept for secret in (b"insulin", b"29/97", b"s3cret", b"8675309"))  # they are secrets at all


def test_the_message_counts_what_is_hidden(made, tmp_path, snapshot):
    rules = vs.publish(by_hand(read(tmp_path), RULES), tmp_path / "rules")
    messages = [vs.verify(path).message for path in (made.public, made.path, rules.public)]
    for said, counted in zip(messages, ["1 pattern", "1 pattern", "2 rules"], strict=True):
        assert counted in said
    assert messages == snapshot


def test_forged_data(bundle):
    released = (bundle.public / "data.csv").read_text().splitlines()
    more = list(released)
    more[more.index("insulin")] = "insulin,lancets"
    (bundle.public / "data.csv").write_text("\n".join(more) + "\n")
    assert answer(bundle.path) == answer(bundle.public) == ("altered", 1)
    forge(bundle.public, *more)
    found = vs.verify(bundle.path)
    assert (found.verdict, found.exit_code) == ("broken", 1)
    assert found.audit.witnesses[0].support == 3
    assert "insulin" not in found.message
    assert answer(bundle.public) == ("sealed", 4)  # nobody else can tell
    forge(bundle.public, *released)
    assert answer(bundle.path) == ("holds", 0)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('["insulin", "lancets"]', '["bread", "lancets"]'),
        ('["insulin", "lancets"]', '["insulin", "lancets"], ["bread"]'),
        ("29/97", "30/97"),
        ("s3cret", "another"),
        ('seed = "s3cret"', ""),
        ('"hidden-patterns"\npatterns = [["insulin", "lancets"]]\nmin_support = "29/97"', '"coherence"\nk = 1\np = 1'),
    ],
)
def test_another_list_than_the_one_that_was_sealed(bundle, old, new):
    edit_recipe(bundle, old, new)
    assert "recipe.toml" in message(bundle.path, "edited", 1)


@pytest.mark.parametrize("change", [{"count": 2}, {"of": "hidden-rules"}, {"commitment": "0" * 64}])
def test_another_seal_than_the_one_of_the_list(bundle, change):
    edit_certificate(bundle.public, lambda c: c["promise"]["parameters"].update(change), fix_sums=True)
    assert (answer(bundle.path), answer(bundle.public)) == (("edited", 1), ("sealed", 4))


@pytest.mark.parametrize("change", [{"count": 0}, {"of": "coherence"}, {"commitment": "0"}, {"of": None}, {"k": 1}])
def test_what_is_no_seal(bundle, change):
    edit_certificate(bundle.public, lambda c: c["promise"]["parameters"].update(change), fix_sums=True)
    assert answer(bundle.path) == answer(bundle.public) == ("malformed", 2)


def test_a_custodian_folder_that_is_missing_or_damaged(bundle):
    recipe = bundle.custodian / "recipe.toml"
    for text in ("seed = ", recipe.read_text().replace('[["ins', '[[], ["ins'), "a = " + "[" * 10_000):
        recipe.write_text(text)
        assert answer(bundle.path) == ("malformed", 2)
    recipe.unlink()
    assert answer(bundle.path) == ("incomplete", 2)
    shutil.rmtree(bundle.custodian)
    assert repr(str(bundle.custodian)) in message(bundle.path, "sealed", 4)


def test_other_checks_come_before_the_seal(bundle):
    (bundle.public / "extra.csv").write_text("")
    assert answer(bundle.public) == ("altered", 1)
    (bundle.public / "extra.csv").unlink()
    (bundle.public / "report.html").unlink()
    assert answer(bundle.public) == ("incomplete", 2)


def test_a_promise_that_is_no_secret_needs_no_recipe(tmp_path):
    open_one = vs.publish(vs.anonymize(read(tmp_path), vs.Coherence(k=2, p=1)), tmp_path / "open")
    (open_one.custodian / "recipe.toml").write_text("seed = ")
    assert answer(open_one.path) == ("holds", 0)


def test_a_certificate_that_tells_what_is_hidden_is_refused(bundle):
    record = {"name": "hidden-patterns", "parameters": {"patterns": [["insulin", "lancets"]], "min_support": 3}}
    edit_certificate(bundle.public, lambda c: c.update(promise=record), fix_sums=True)
    said = message(bundle.path, "malformed", 2)
    assert "hidden-patterns" in said
    assert "insulin" not in said


def test_a_recipe_cannot_ask_for_a_seal(tmp_path):
    recipe = tmp_path / "recipe.toml"
    recipe.write_text('[promise]\nmodel = "sealed"\nof = "hidden-patterns"\ncount = 1\n')
    with refused(InvalidArgument, "'sealed'", "'hidden-patterns'", "'hidden-rules'"):
        Recipe.load(recipe, needs_input=False)


@pytest.mark.parametrize("changed", ["min_support = true", "min_support = 0", "min_support = nan", "k = 1"])
def test_a_recipe_that_cannot_be_meant(tmp_path, changed):
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(f'[promise]\nmodel = "hidden-patterns"\npatterns = [["tea"]]\n{changed}\n')
    with refused(InvalidArgument, "min_support"):
        Recipe.load(recipe, needs_input=False).promise.make()


@BOTH
@pytest.mark.parametrize("options", [{}, {"keep_patterns": [["bread", "insulin"]], "p_r": "1/3", "margin": "1/4"}])
def test_a_recipe_gives_the_same_bytes(tmp_path, promise, options):
    release = vs.anonymize(read(tmp_path), promise, **options)
    first = vs.publish(release, tmp_path / "first")
    assert Recipe.load(first.custodian / "recipe.toml").promise.make() == promise
    second = replayed(first, tmp_path / "second")
    same = {"recipe.toml", "edits.csv", "patterns.csv", "rows.parquet"}
    of_first, of_second = files(first.custodian), files(second.custodian)
    assert {name: of_first[name] for name in same} == {name: of_second[name] for name in same}


def test_the_seal_depends_on_the_seed(tmp_path):
    release = by_hand(read(tmp_path))
    seals = [
        certificate(vs.publish(release, tmp_path / name, random_state=seed).path)["promise"]["parameters"]["commitment"]
        for name, seed in (("a", "one"), ("b", "one"), ("c", "two"), ("d", None), ("e", None))
    ]
    assert seals[0] == seals[1]
    assert len(set(seals)) == 4


names = st.sampled_from(["a", "b", "a,b", '"a"', '"a","b"', "]", "é", "e\u0301", "\\u00e9", "1", " a", "a\n"])
patterns = st.lists(st.lists(names, min_size=1, max_size=3, unique=True), min_size=1, max_size=3)
supports = st.one_of(
    st.integers(1, 3),
    st.sampled_from([10**30, "7", 1.0, "100%", 0.01, "1/3", "1e-2"]),
    st.fractions(Fraction(1, 9), 1, max_denominator=10**6),
)
promises = st.one_of(
    st.builds(vs.HiddenPatterns, patterns, supports),
    st.builds(
        vs.HiddenRules,
        st.lists(
            st.tuples(st.just(["x"]), st.lists(names, min_size=1, max_size=2, unique=True)), min_size=1, max_size=2
        ),
        supports,
        st.sampled_from([1, 0.5, "2/3"]),
    ),
)


def test_one_transaction_is_not_all_of_them():
    one, whole = (vs.HiddenPatterns([["a"]], min_support) for min_support in (1, "100%"))
    assert one != whole
    assert len({one, whole, vs.HiddenPatterns([["a"]], "1"), vs.HiddenPatterns([["a"]], 1.0)}) == 2


@given(promises, promises)
def test_one_seal_for_one_promise(one, other):
    data = vs.Transactions.from_lists([])
    seals = [public_promise(promise, data, "seed") for promise in (one, other)]
    assert (seals[0] == seals[1]) == (one == other)
    assert isinstance(seals[0], Sealed)


@given(promises)
def test_parameters_survive_a_recipe(promise):
    recipe = Recipe.model_validate({"seed": "s", "promise": {"model": promise.name, **promise.parameters()}})
    back = Recipe.model_validate(tomllib.loads(recipe.to_toml())).promise.make()
    assert back == promise
    assert type(back.min_support) is type(promise.min_support)
