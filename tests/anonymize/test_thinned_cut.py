"""Coarser names first, then single occurrences: `generalize` and `top-down` with ``partial=True``."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import veilset as vs
from tests.support.commands import run
from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.releases import answer, certificate, edits, files, write_rows
from veilset.anonymize.coherence.generalize import generalize
from veilset.anonymize.rho_uncertainty.top_down import top_down
from veilset.anonymize.thinned_cut import Names
from veilset.errors import InvalidArgument
from veilset.limits import Limits
from veilset.models import Promise
from veilset.report.fidelity import fidelity_sentence
from veilset.run import Run
from veilset.testing import check_anonymizer, strategies
from veilset.utility import fidelity
from veilset.utility.generalization import average_loss

SOME = examples(200)
RHOS = st.sampled_from(["1/3", "1/2", "2/3"])


def tree_of(data: vs.Transactions, fan_out: int) -> vs.Taxonomy:
    return vs.Taxonomy.by_fan_out(data, fan_out)


@SOME
@given(strategies.transactions(), strategies.coherence_promises(), st.booleans(), st.integers(2, 3))
def test_generalize_passes_the_battery_and_is_never_worse(data, promise, truthful, fan_out):
    assume(data.public)
    options = {"taxonomy": tree_of(data, fan_out), "limits": Limits()}

    def method(data: vs.Transactions, promise: Promise) -> vs.Release:
        return generalize(data, promise, partial=True, truthful=truthful, **options)

    check_anonymizer(method, data, promise)
    try:
        release = method(data, promise)
    except vs.Infeasible:
        return
    assert average_loss(release) <= average_loss(generalize(data, promise, **options)) + 1e-12
    assert release.attempts[-1].loss == pytest.approx(average_loss(release))


@SOME
@given(strategies.transactions(), RHOS, st.booleans(), st.integers(2, 3))
def test_top_down_passes_the_battery_and_is_never_worse(data, rho, truthful, fan_out):
    assume(data.public and data.sensitive)
    promise, options = vs.RhoUncertainty(rho=rho), {"taxonomy": tree_of(data, fan_out), "limits": Limits()}

    def method(data: vs.Transactions, promise: Promise) -> vs.Release:
        return top_down(data, promise, partial=True, truthful=truthful, **options)

    check_anonymizer(method, data, promise)
    release = method(data, promise)
    assert average_loss(release) <= average_loss(top_down(data, promise, **options)) + 1e-12


def baskets() -> vs.Transactions:
    rng = np.random.default_rng(5)
    popular = 1 / np.arange(1, 25)
    lengths = np.minimum(rng.geometric(0.35, 400), 12)
    rows = [rng.choice(24, size=n, replace=False, p=popular / popular.sum()).tolist() for n in lengths]
    return vs.Transactions.from_lists(
        [[f"i{item:02}" for item in row] for row in rows], sensitive=["i03", "i10", "i17"]
    )


SHELVES = {f"i{item:02}": [f"shelf {item // 4}", f"aisle {item // 8}"] for item in range(24)}
COHERENCE = vs.Coherence(h="1/2", k=12, p=3)
RHO = vs.RhoUncertainty(rho="1/2")


def patients() -> vs.Transactions:
    """Each a gives flu away unless b has the same name; tea and rum do together; half of those with wine have flu."""
    rows = [row for n in range(10) for row in ([f"a{n}", "flu"], [f"b{n}"], [f"b{n}"])]
    rows += [["tea", "rum", "flu"], *[["tea"], ["rum"]] * 3, *[["wine", "flu"], ["wine"]] * 3]
    return vs.Transactions.from_lists(rows, sensitive=["flu"])


WARDS = {f"{letter}{n}": [f"ward {n}"] for n in range(10) for letter in "ab"} | {"tea": [], "rum": [], "wine": []}
CASES = [
    pytest.param(COHERENCE, "generalize", baskets, SHELVES, id="coherence"),
    pytest.param(RHO, "top-down", patients, WARDS, id="rho-uncertainty"),
]
EACH = pytest.mark.parametrize(("promise", "method", "made", "tree"), CASES)


@EACH
def test_less_is_lost_than_by_either_alone(promise, method, made, tree):
    data = made()
    release = vs.anonymize(data, promise, method=method, taxonomy=tree, partial=True)
    assert release.certified
    assert release.truthful
    assert release.thinned
    alone = [
        vs.anonymize(data, promise, method=method, taxonomy=tree),
        vs.anonymize(data, promise, method="partial"),
    ]
    assert average_loss(release) < min(map(average_loss, alone))
    assert [attempt.name for attempt in release.attempts if attempt.won] == ["then single occurrences"]
    again = vs.anonymize(data, promise, method=method, taxonomy=tree, partial=True, threads=1)
    assert again.custodian_data == release.custodian_data
    loose = vs.anonymize(data, promise, method=method, taxonomy=tree, partial=True, truthful=False)
    assert loose.certified
    assert average_loss(loose) < average_loss(release)
    assert loose.in_original.broken > 0


@EACH
def test_it_is_published_verified_and_repeated(promise, method, made, tree, tmp_path, capsys):
    data = vs.read(write_rows(tmp_path / "baskets.csv", made().to_lists()), sensitive=made().sensitive)
    release = vs.anonymize(data, promise, method=method, taxonomy=tree, partial=True)
    bundle = vs.publish(release, tmp_path / "out", random_state=1)
    assert answer(bundle.public) == ("holds", 0)
    told = certificate(bundle.path)
    assert (told["thinned"], told["broken_in_original"]) == (True, 0)
    assert set(told["generalized"]) == set(release.generalized.values()) != set()
    code, _ = run(capsys, "publish", bundle.custodian / "recipe.toml", "--out", tmp_path / "again", "--yes")
    assert code == 0
    assert files(tmp_path / "again/public") == files(bundle.public)
    assert edits(tmp_path / "again") == edits(bundle.path)
    with refused(InvalidArgument, "deleted items from single transactions"):
        vs.apply(bundle.path, data)


def test_edits_tell_both_what_an_item_became_and_that_it_went_from_some(tmp_path):
    promise = COHERENCE
    release = vs.anonymize(baskets(), promise, method="generalize", taxonomy=SHELVES, partial=True)
    rows = edits(vs.publish(release, tmp_path / "out", random_state=1).path)
    left = dict(zip(release.original.names, release.survivors().tolist(), strict=True))
    before = dict(zip(release.original.names, release.original.supports.tolist(), strict=True))
    both = [item for item, name in release.generalized.items() if 0 < left[item] < before[item]]
    assert both
    for item in both:
        assert (rows[item]["action"], rows[item]["to"]) == ("thinned", release.generalized[item])


def test_fidelity_is_told_under_the_names_of_the_release():
    release = vs.anonymize(baskets(), COHERENCE, method="generalize", taxonomy=SHELVES, partial=True)
    named = release.original.renamed(release.generalized)
    found = fidelity(release, 20)
    assert found.pairs == len(vs.mining.frequent(named, 20, min_size=2, max_size=2))
    assert "Pairs and rules are those of the names in the release." in fidelity_sentence(Run.of(release))


def test_items_to_keep_survive_under_some_name():
    promise = COHERENCE
    release = vs.anonymize(baskets(), promise, method="generalize", taxonomy=SHELVES, partial=True, keep=["i20", "i05"])
    before, after = release.original.supports, release.survivors()
    codes = release.original.codes(["i20", "i05"])
    assert before[codes].tolist() == after[codes].tolist()
    with refused(InvalidArgument, "'flu'"):
        vs.anonymize(patients(), RHO, taxonomy=WARDS, partial=True, keep=["flu"])


@EACH
def test_options_that_say_nothing_are_refused(promise, method, made, tree):
    with refused(InvalidArgument, "truthful"):
        vs.anonymize(made(), promise, method=method, taxonomy=tree, truthful=False)


def test_the_published_algorithm_deletes_no_single_occurrences():
    with refused(InvalidArgument, "as_published"):
        vs.anonymize(patients(), RHO, partial=True, as_published=True)


def test_a_time_limit_ends_the_search_and_the_recipe_repeats_it():
    promise, options = COHERENCE, {"method": "generalize", "taxonomy": SHELVES, "partial": True}
    release = vs.anonymize(baskets(), promise, **options, time_limit=600)
    again = vs.anonymize(baskets(), promise, **options, chosen=release.options["chosen"])
    assert again.custodian_data == release.custodian_data
    assert again.repeated


def test_cuts_of_a_taxonomy():
    data = vs.Transactions.from_lists([["a", "b", "c", "d"]])
    above = {0: (4, 6), 1: (4, 6), 2: (5, 6), 3: (5, 6), 4: (6,), 5: (6,), 6: ()}
    names = Names(data, above, "abcdxyz".__getitem__, [1, 1, 1, 1], frozenset())
    assert list(names.levels()) == [frozenset(range(4)), frozenset({4, 5}), frozenset({6})]
    assert names.recoding({4, 2}) == {"a": "x", "b": "x"}
    assert names.uncovered({4, 2}) == ("d",)
    assert names.completed(frozenset({4, 2})) == {4, 2, 3}
    assert names.moved(frozenset({4, 2, 3}), 4) == {0, 1, 2, 3}
    assert names.moved(frozenset({4, 2, 3}), 5) == {4, 5}
    assert names.moved(frozenset({4, 2, 3}), 6) == {6}
    assert names.moved(frozenset({6}), 4) is None
    assert names.saved(frozenset({4, 2, 3}), data.supports) == 12 * 10**6  # two names say two of four items less
