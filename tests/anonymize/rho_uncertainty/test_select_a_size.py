"""The baseline that falsifies data: its noise and its loss against their definitions; it is never certified."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import veilset as vs
from tests.support.errors import refused
from veilset import Taxonomy, Transactions, generate
from veilset.anonymize.rho_uncertainty.select_a_size import select_a_size, select_a_size_loss
from veilset.errors import BudgetExceeded, InvalidArgument
from veilset.limits import Limits
from veilset.models import Audit, RhoUncertainty
from veilset.release import Release
from veilset.run import certify
from veilset.testing import strategies
from veilset.utility.generalization import average_loss

HALF = RhoUncertainty(rho=0.5)


def perturbed(data: Transactions, **options: object) -> Release:
    limits = options.pop("limits", Limits())
    return select_a_size(data, HALF, limits=limits, **{"random_state": 7, **options})


def literal_loss(release: Release, tree: Taxonomy) -> Fraction:
    """The paper's words on what was really released."""
    data, lost = release.original, Fraction(0)
    for before, after in zip(map(set, data), map(set, release.custodian_data), strict=True):
        changed = [{leaf, *tree.ancestors(leaf)} for leaf in (tree.leaf(name) for name in before ^ after)]
        if changed:
            node = min(set.intersection(*changed))  # a parent's number is larger than its child's
            leaves = set(tree.leaves_under(node)).intersection(data.names) if node >= len(tree.leaves) else set()
            lost += len(before - after) * Fraction(len(leaves), len(data.names))
    return lost / len(data.items)


@given(
    strategies.transactions(),
    st.sampled_from([0, "1/7", 0.3, 0.5, 1]),
    st.integers(0, 2**64 - 1),
    st.integers(2, 4),
    st.booleans(),
)
def test_the_loss_is_that_of_the_release(data, beta, seed, fan_out, own_tree):
    tree = Taxonomy.by_fan_out([*data.names, "never sold"], fan_out)
    # Groups that cut across the order of names, so that a walk of the tree meets items in another one.
    paths = {name: [f"g{number % 3}", f"h{number % 3 % 2}"] for number, name in enumerate(tree.leaves)}
    if not own_tree and data.names:
        tree = Taxonomy.by_fan_out(data.names, fan_out)
    elif own_tree:
        tree = Taxonomy.from_paths(paths)
    given_tree = {"taxonomy": tree if seed % 2 else paths} if own_tree else {"fan_out": fan_out}
    release = perturbed(data, beta=beta, random_state=seed, **given_tree)
    expected = float(literal_loss(release, tree)) if len(data.items) else 0.0
    assert release.noise == select_a_size_loss(data, beta=beta, random_state=seed, **given_tree) == expected
    assert average_loss(release) == expected
    both = [set(before) & set(after) for before, after in zip(data, release.custodian_data, strict=True)]
    assert release.survivors().tolist() == [sum(name in row for row in both) for name in data.names]
    gone = len(data.items) - sum(map(len, both))
    assert release.loss == pytest.approx(gone / max(1, len(data.items)))


def test_every_item_is_turned_over_as_often_as_asked():
    # 2,000 rows of 50 items: of N decisions with probability b, the share that turns has a standard error of
    # sqrt(b (1 - b) / N); five of them are passed once in a million seeds, and this seed is fixed.
    data = generate.pos_like(transactions=2000, items=50, average_length=8, maximum_length=40)
    for beta in (0.1, 0.5, 0.9):
        noisy = perturbed(data, beta=beta).custodian_data
        before, after = (np.zeros((len(data), 50), dtype=bool) for _ in range(2))
        for matrix, rows in ((before, data), (after, noisy)):
            columns = data.codes(rows.names)[rows.items]
            matrix[np.repeat(np.arange(len(rows)), rows.lengths), columns] = True
        turned = before != after
        for share in (turned[before], turned[~before]):
            assert abs(share.mean() - beta) < 5 * np.sqrt(beta * (1 - beta) / len(share))
        for shares, count in ((turned.mean(axis=0), 2000), (turned.mean(axis=1), 50)):  # no item and no row is special
            assert np.abs(shares - beta).max() < 5 * np.sqrt(beta * (1 - beta) / count)


def test_beta_is_one_minus_rho_if_it_is_not_given():
    data = Transactions.from_lists([["a", "b", "s"], ["b"], ["a", "s"]], sensitive=["s"])
    release = select_a_size(data, RhoUncertainty(rho="0.9"), random_state=5, limits=Limits())
    assert release.options == {"beta": "1/10", "fan_out": 4, "random_state": 5}
    assert release.custodian_data == perturbed(data, beta="10%", random_state=5).custodian_data
    assert (release.method, release.suppressed, release.generalized) == ("select-a-size", (), {})


def test_everything_is_turned_over_and_nothing():
    data = Transactions.from_lists([["a", "b", "s"], ["b", "s"], []], sensitive=["s"])
    assert perturbed(data, beta=0).custodian_data == data
    turned = perturbed(data, beta=1).custodian_data
    assert turned.to_lists() == [[], ["a"], ["a", "b", "s"]]
    assert turned.sensitive == ("s",)
    all_sensitive = Transactions.from_lists([["s"], ["s"]], sensitive=["s"])
    assert perturbed(all_sensitive, beta=1).custodian_data.names == ()  # a sensitive item may vanish altogether


def test_threads_and_later_rows_do_not_matter():
    data = generate.pos_like(transactions=5000, items=40, average_length=5, maximum_length=30)
    releases = [perturbed(data, limits=Limits(threads=threads)) for threads in (1, 2, 3)]
    assert all(
        release.custodian_data == releases[0].custodian_data and release.noise == releases[0].noise
        for release in releases[1:]
    )
    first = np.arange(1000)
    assert data.take(first).names == data.names
    assert perturbed(data.take(first)).custodian_data.to_lists() == releases[0].custodian_data.take(first).to_lists()
    assert perturbed(data, random_state=8).custodian_data != releases[0].custodian_data


def test_without_a_seed_nobody_can_guess_it():
    data = Transactions.from_lists([["a", "s"]], sensitive=["s"])
    seeds = {perturbed(data, random_state=None).options["random_state"] for _ in range(3)}
    assert len(seeds) == 3
    release = perturbed(data, random_state=None)
    assert perturbed(data, random_state=release.options["random_state"]).custodian_data == release.custodian_data


@pytest.mark.parametrize("beta", [0, 0.5])
def test_it_is_never_certified(beta, monkeypatch, snapshot):
    """Not even if the auditor finds the promise kept and, by chance, nothing was changed."""
    data = Transactions.from_lists([["a", "s"], ["a"], ["a"]], sensitive=["s"])
    release = perturbed(data, beta=beta)

    def approves(released: Transactions, promise: RhoUncertainty, **_: object) -> Audit:
        return Audit(promise, True, (), 0, (), {}, 0, True, len(released))

    monkeypatch.setattr("veilset.run.audit", approves)
    certified = certify(release)
    assert certified.audit.holds
    assert not certified.certified
    assert certified.discrepancy == snapshot
    assert not replace(certified, discrepancy=None).certified


def test_it_goes_through_the_product():
    rows = [["ale", "bun", "cure"], ["ale", "bun"], ["ale"], ["bun"]] * 5
    data = Transactions.from_lists(rows, sensitive=["cure"])
    release = vs.anonymize(data, HALF, method="select-a-size", random_state=1)
    assert not release.certified
    with refused(vs.NotCertified, "random"):
        vs.publish(release, "nowhere")
    found = vs.measure(data, release)
    assert found["average_loss"] == release.noise
    assert found["items_lost"] == release.loss
    assert 0 < found["sensitive_kept"] <= 1  # though there are more of them than before
    assert release.custodian_data.supports[release.custodian_data.codes(["cure"])] > data.supports[data.codes(["cure"])]
    assert not {"nuggets_lost", "nuggets_lost_after_preprocessing"}.intersection(found)


def test_a_withheld_transaction_keeps_nothing():
    data = Transactions.from_lists([["a", "s"], ["b"], ["a", "b"]], sensitive=["s"])
    release = perturbed(data, beta=0)
    without = replace(release, custodian_data=release.custodian_data.take(np.array([0, 2])), withheld=(1,))
    assert without.survivors().tolist() == [2, 1, 1]


def test_what_does_not_fit_is_refused_and_its_loss_is_still_known():
    data = generate.pos_like(transactions=20_000, items=1000, average_length=5, maximum_length=30)
    with refused(BudgetExceeded, "memory limit", "beta"):
        perturbed(data, limits=Limits(memory_limit="1MB"))
    # Nearly always the first and the last item's common node is the root, and half of the items are missing: with five
    # standard errors of sqrt(1/4 / occurrences).
    assert abs(select_a_size_loss(data, beta=0.5, random_state=1) - 0.5) < 5 * 0.5 / np.sqrt(len(data.items)) + 0.001


@pytest.mark.parametrize("beta", [-0.1, 1.5, "much", True, None])
def test_a_wrong_beta_is_named(beta):
    data = Transactions.from_lists([["a"]])
    with refused(InvalidArgument, "beta"):
        select_a_size_loss(data, beta=beta, random_state=1)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.0, True, "7"])
def test_a_wrong_seed_is_named(seed):
    data = Transactions.from_lists([["a"]])
    with refused(InvalidArgument, "random_state"):
        perturbed(data, random_state=seed)


def test_items_that_the_taxonomy_lacks_are_named():
    data = Transactions.from_lists([["beer", "cure"]], sensitive=["cure"])
    with refused(InvalidArgument, "1 of 2", "'cure'"):
        perturbed(data, taxonomy={"beer": ["drinks"]})
    with refused(InvalidArgument, "'bear'"):
        perturbed(data, taxonomy={"bear": ["drinks"], "cure": []})


def test_a_taxonomy_may_be_a_file(tmp_path):
    data = Transactions.from_lists([["beer", "cure", "wine"]], sensitive=["cure"])
    paths = {"beer": ["drinks"], "wine": ["drinks"], "cure": []}
    Taxonomy.from_paths(paths).write(tmp_path / "tree.csv")
    assert perturbed(data, taxonomy=tmp_path / "tree.csv").noise == perturbed(data, taxonomy=paths).noise
