"""The secure tree is the one that the central learner grows on all tables at once, node by node."""

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.joins import Study, random_study, studies
from tests.support.parties import Parties, Tapped, of_study, run
from veilset.errors import InvalidArgument
from veilset.joins import JoinClassifier
from veilset.joins.parties.coordinator import Trained
from veilset.joins.parties.split_lists import SplitList

SEEDS = st.integers(0, 2**32 - 1)
STOPS = st.fixed_dictionaries(
    {"min_leaf": st.sampled_from([1, 1, 2, 5]), "split_joins": st.booleans()},
    optional={"max_depth": st.sampled_from([0, 1, 2, 4]), "prune": st.sampled_from([0.05, 0.25, 0.9])},
)


@st.composite
def groups(draw: st.DrawFn, study: Study, least: int = 2) -> dict[str, list[str]]:
    """Who has which table; now and then, who coordinates has none."""
    names = draw(st.permutations(list(study.tables)))
    count = draw(st.integers(least, len(names)))
    owners = [*range(count), *(draw(st.integers(0, count - 1)) for _ in names[count:])]
    found: dict[str, list[str]] = {f"p{number}": [] for number in range(count)}
    for name, owner in zip(names, owners, strict=True):
        found[f"p{owner}"].append(name)
    return {**({"hub": []} if draw(st.booleans()) else {}), **found}


def splits_of(parties: Parties, trained: Trained) -> dict[int, Any]:
    """The criteria of all parties, put together by the number of the node."""
    found: dict[int, Any] = {}
    for name in parties.names:
        if parties.holdings[name]:
            listed = SplitList.read(parties.folder / f"{name}-state", trained.model.run)
            assert listed is not None
            assert not found.keys() & listed.splits.keys()
            assert {one.table for one in listed.splits.values()} <= parties.holdings[name].keys()
            found |= listed.splits
    return found


def same_tree(parties: Parties, trained: Trained, central: JoinClassifier) -> None:
    """All nodes are those of the central tree; no party keeps anything about others."""
    splits = splits_of(parties, trained)
    numbers = [part.number for part in trained.model.nodes if part.table is not None]
    assert sorted(splits) == sorted(numbers)
    secure = [(one.counts, one.gain, one.split and one.split.table) for one in trained.tree.root.walk()]
    expected = list(central.tree_.root.walk())
    assert secure == [(one.counts, one.gain, one.split and one.split.table) for one in expected]
    asked = [splits[part.number] if part.table is not None else None for part in trained.model.nodes]
    assert asked == [one.split for one in expected]
    left = [*parties.folder.glob("*-state/checkpoints/*"), *parties.folder.glob("*-state/coordinator/*")]
    assert left == []


def central_of(study: Study, parties: Parties, **options: Any) -> JoinClassifier:
    """The tree of all tables at once, in the order of the study."""
    tables = {name: table for held in parties.holdings.values() for name, table in held.items()}
    return JoinClassifier(**options).fit(tables, joins=study.joins, target=".".join(study.target))


@examples(60)
@given(st.data(), studies(least_tables=2), STOPS)
def test_secure_tree_is_the_central_one(data, study: Study, options):
    assume(len(study.classes) > 1)
    owners = data.draw(groups(study))
    with tempfile.TemporaryDirectory() as folder:
        parties = of_study(Path(folder), study, owners, options=options)
        tapped = Tapped()
        if not study.joined():
            with pytest.raises(InvalidArgument):
                run(parties.train())
            return
        trained = run(parties.train(tap=tapped))
        central = central_of(study, parties, **options)
        same_tree(parties, trained, central)
        if "hub" in owners:
            few_summaries(tapped, central)
            few_rounds(tapped, central)


def few_summaries(tapped: Tapped, central: JoinClassifier) -> None:
    """At most three class summaries on each edge, and one split summary on each edge for each node."""
    classes = [one.edge for one in tapped.between("class summary")]
    assert all(classes.count(edge) <= 3 for edge in classes)
    splits = sum(node.split is not None for node in central.unpruned_tree_.root.walk())
    for edge in set(classes):
        told = [len(one.message.arrays["offsets"]) - 1 for one in tapped.between("split summary") if one.edge == edge]
        assert sum(told) <= splits


def few_rounds(tapped: Tapped, central: JoinClassifier) -> None:
    """One message of a kind between two parties for each level, however many nodes it has."""
    kinds = ("level", "split", "follow", "info", "children", "followed")
    sent = Counter((one.by, one.to, one.kind) for one in tapped.between(*kinds))
    sent.update((one.by, one.to, one.edge) for one in tapped.between("split summary"))
    assert max(sent.values(), default=0) <= central.unpruned_tree_.depth + 1


@examples(40)
@given(st.data(), SEEDS, st.integers(2, 5), STOPS)
def test_larger_trees(data, seed, count, options):
    study = random_study(np.random.default_rng(seed), count)
    with tempfile.TemporaryDirectory() as folder:
        parties = of_study(Path(folder), study, data.draw(groups(study)), options=options)
        same_tree(parties, run(parties.train()), central_of(study, parties, **options))


@examples(10)
@given(st.data(), SEEDS, st.integers(3, 4))
def test_secret_winners_give_the_same_tree(data, seed, count):
    study = random_study(np.random.default_rng(seed), count, rows=12)
    options = {"max_depth": 3, "prune": 0.9}
    with tempfile.TemporaryDirectory() as folder:
        owners = data.draw(groups(study, least=3))
        parties = of_study(Path(folder), study, owners, options=options, study={"winner": "secret"})
        same_tree(parties, run(parties.train()), central_of(study, parties, **options))
