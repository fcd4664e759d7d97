"""Policies in a run: what is refused is not sent, what is suppressed has left the join, and the tree says so."""

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.support.effort import repeats
from tests.support.errors import refused
from tests.support.joins import Study, random_study
from tests.support.parties import Parties, Tapped, of_study, run
from veilset.errors import Infeasible, InvalidArgument
from veilset.joins import JoinClassifier
from veilset.joins.parties.coordinator import Coordinator
from veilset.joins.parties.disrupted import Disrupted
from veilset.joins.tree import Node


def policies(parties: Parties, policy: str | None, floor: int = 5) -> None:
    """Give all joins a policy; None is the default."""
    for join in parties.joins:
        join.pop("policy", None)
        join.update({"floor": floor} if policy is None else {"floor": floor, "policy": policy})
    parties.write()


def three(folder, seed: int, rows: int = 40, **more: Any) -> tuple[Study, Parties]:
    study = random_study(np.random.default_rng(seed), 3, rows)
    return study, of_study(folder, study, {"hub": [], "p0": ["T0"], "p1": ["T1"], "p2": ["T2"]}, **more)


def people(folder, policy: str | None) -> Parties:
    """A table with a row for each person, and one with several."""
    names = [f"person {number}" for number in range(30)]
    visits = pa.table({"who": names * 2, "Class": ["yes", "no"] * 30, "day": [*range(60)]})
    register = pa.table({"who": names, "age": [*range(30)]})
    join = {"on": "visits.who = register.who", "type": "text", "keys": {"visits": 30, "register": 30}}
    return Parties(
        folder,
        {"clinic": {"visits": visits}, "registry": {"register": register}},
        [join | ({} if policy is None else {"policy": policy})],
        "visits.Class",
        ["no", "yes"],
    )


def test_unique_keys_are_refused_before_anybody_listens(tmp_path):
    tapped = Tapped()
    with refused(Infeasible, "visits.who = register.who", "clinic") as caught:
        run(people(tmp_path, None).train(tap=tapped))
    assert "person" not in str(caught.value).replace("single person", "")
    assert tapped.frames == []


def test_unique_keys_can_be_reported(tmp_path):
    assert run(people(tmp_path, "report").train()).model.identical


def test_refuse_ends_the_session_before_a_split_shows_a_small_group(tmp_path):
    """The class summaries are sent, since no key has few rows; the split summary of small groups is not."""
    _, parties = three(tmp_path, 3, rows=120)
    policies(parties, "refuse", floor=2)
    tapped, said = Tapped(), []
    with refused(Disrupted) as caught:
        run(parties.train(tap=tapped, tell=said.append))
    assert caught.value.fault == "refused"
    assert caught.value.party in ("p0", "p1", "p2")
    assert tapped.between("class summary")
    assert Counter(one.kind for one in tapped.messages)["train"] == 3  # a refusal is final: nobody tries again
    policies(parties, "report")
    assert run(parties.train()).model.identical


def alive(study: Study, floor: int) -> dict[str, list[dict]]:
    """By brute force: keys of few rows leave, and rows with them, until nothing changes."""
    tables = {name: list(rows) for name, rows in study.tables.items()}
    target, label = study.target
    tables[target] = [row for row in tables[target] if row[label] is not None]
    sides: dict[tuple[str, str], list] = {}
    for (left, one), (right, other) in study.predicates:
        sides.setdefault((left, right), []).append((one, other))
    while True:
        before = {name: len(rows) for name, rows in tables.items()}
        for (left, right), columns in sides.items():
            ends = {left: [one for one, _ in columns], right: [other for _, other in columns]}
            found = {
                table: Counter(tuple(row[name] for name in names) for row in tables[table])
                for table, names in ends.items()
            }
            kept = {key for key in found[left] if all(found[table][key] >= floor for table in ends)}
            for table, names in ends.items():
                tables[table] = [row for row in tables[table] if tuple(row[name] for name in names) in kept]
        if before == {name: len(rows) for name, rows in tables.items()}:
            return tables


def cut_from(secure: Node, central: Node) -> int:
    """How many nodes of a tree are leaves in another one, which is the same above them."""
    assert secure.counts == central.counts
    if secure.split is None:
        return int(central.split is not None)
    assert central.split is not None
    assert (secure.split.table, secure.gain) == (central.split.table, central.gain)
    return sum(cut_from(one, other) for one, other in zip(secure.children, central.children, strict=True))


@pytest.mark.parametrize("seed", range(repeats(30)))
def test_suppressed_keys_leave_the_join(tmp_path, monkeypatch, seed):
    """The tree is that of the tables without them; nodes whose split would show few rows are leaves."""
    monkeypatch.setattr("veilset.joins.parties.secure_tree.pruned", lambda root, confidence: root)
    study, parties = three(tmp_path, seed)
    floor = 2 + seed % 3
    policies(parties, "suppress", floor)
    left = Study(alive(study, floor), study.schemas, study.predicates, study.target)
    if not left.joined():
        with pytest.raises((Infeasible, InvalidArgument)):
            run(parties.train())
        return
    tapped = Tapped()
    trained = run(parties.train(tap=tapped))
    assert not trained.model.identical
    central = JoinClassifier(prune=None).fit(left.frames, joins=left.joins, target="T0.Class")
    cut = cut_from(trained.tree.root, central.tree_.root)
    withheld = [one.message.fields.get("nodes", []) for one in tapped.between("failed")]
    withheld += [one.message.arrays["withheld"].tolist() for one in tapped.between("children")]
    assert cut <= sum(map(len, withheld))


def test_a_relay_withholds_what_its_neighbour_would_see(tmp_path):
    """T0 splits; T1 would tell T2 about few rows: the level is done again without this split."""
    found = Counter()
    for seed in (0, 2):
        study = random_study(np.random.default_rng(seed), 3, 40)
        parties = of_study(tmp_path / str(seed), study, {"hub": [], "p0": ["T0"], "p1": ["T1"], "p2": ["T2"]})
        parties.joins[1] |= {"policy": "suppress", "floor": 3}
        parties.write()
        tapped = Tapped()
        if run(parties.train(tap=tapped)).model.identical:
            raise AssertionError(seed)
        failed = [one.message.fields["reason"] for one in tapped.between("failed")]
        found.update(failed)
        assert Counter(one.kind for one in tapped.messages)["intersect"] == 3
    assert found["withheld"] >= 1


def test_edges_at_home_are_not_suppressed(tmp_path):
    study, parties = three(tmp_path, 1)
    parties = of_study(tmp_path / "home", study, {"p0": ["T0", "T1"], "p1": ["T2"]})
    home = next(join for join in parties.joins if set(join["keys"]) == {"T0", "T1"})
    home |= {"policy": "suppress", "floor": 9}
    parties.write()
    trained = run(parties.train())
    assert trained.model.identical
    central = JoinClassifier().fit(study.frames, joins=study.joins, target="T0.Class")
    assert cut_from(trained.tree.root, central.tree_.root) == 0


def test_counts_beyond_64_bits(tmp_path):
    """The run begins again with wider counts, and keys are not intersected again."""
    key = np.repeat([0, 1, 2], [100, 100, 100])
    classes = np.where(key == 0, "a", np.where(np.arange(300) % 2, "b", "a"))
    tables = {"T0": pa.table({"k": key, "Class": classes})}
    tables |= {f"T{number}": pa.table({"k": key, "x": key, "y": np.arange(300) % 2}) for number in range(1, 10)}
    joins = [
        {
            "on": f"T{number}.k = T{number + 1}.k",
            "type": "whole number",
            "keys": {f"T{number}": 3, f"T{number + 1}": 3},
            "policy": "report",
        }
        for number in range(9)
    ]
    holdings = {
        "hub": {},
        **{f"p{at}": {f"T{number}": tables[f"T{number}"] for number in range(10)[at::3]} for at in range(3)},
    }
    parties = Parties(tmp_path, holdings, joins, "T0.Class", ["a", "b"])
    tapped = Tapped()
    trained = run(parties.train(tap=tapped))
    ordered = {name: table for held in holdings.values() for name, table in held.items()}
    pairs = [(f"T{number}.k", f"T{number + 1}.k") for number in range(9)]
    central = JoinClassifier().fit(ordered, joins=pairs, target="T0.Class")
    assert trained.tree.root.rows == 3 * 100**10
    assert cut_from(trained.tree.root, central.tree_.root) == 0
    seen = Counter(one.kind for one in tapped.messages)
    assert (seen["train"], seen["intersect"]) == (6, 3)
    assert [one.message.fields["wide"] for one in tapped.between("begin")] == [False] * 3 + [True] * 3


def clinic_and_spy(folder, policy: str | None, visits: pa.Table, spied: list[int]) -> Parties:
    """Visits, and a table of somebody who has these keys; groups of fewer than 5 are small."""
    join = {"on": "T1.J = T2.J", "type": "whole number", "keys": {"T1": 99, "T2": 99}, "floor": 5}
    return Parties(
        folder,
        {"hub": {}, "clinic": {"T1": visits}, "spy": {"T2": pa.table({"J": spied, "y": [0] * len(spied)})}},
        [join | ({} if policy is None else {"policy": policy})],
        "T1.Class",
        ["ill", "ok"],
    )


def test_small_groups_are_not_sent_if_the_coordinator_asks_nobody_to_leave_them_out(tmp_path, monkeypatch):
    async def settle(self, channels):
        await self._all(channels, "settle")
        await self._hear(channels, "settled")

    monkeypatch.setattr(Coordinator, "_settle", settle)
    visits = pa.table({"J": [1] * 6 + [2] * 6 + [3], "Class": ["ill", "ok"] * 6 + ["ill"], "x": [*range(13)]})
    parties, tapped = clinic_and_spy(tmp_path, "suppress", visits, [1] * 6 + [2] * 6 + [3] * 6), Tapped()
    with refused(Disrupted, "clinic refuses") as caught:
        run(parties.train(tap=tapped))
    assert (caught.value.party, caught.value.fault) == ("clinic", "refused")
    assert [one for one in tapped.between("class summary") if one.by == "clinic"] == []


ONE_ILL = pa.table({"J": [1] * 6 + [2] * 6, "Class": ["ill"] + ["ok"] * 11, "x": [99, *range(11)]})


def test_a_split_into_leaves_that_shows_one_row_is_refused_before_its_counts_are_told(tmp_path):
    parties, tapped = clinic_and_spy(tmp_path, "refuse", ONE_ILL, [1] * 6 + [2] * 6), Tapped()
    with refused(Disrupted, "clinic refuses"):
        run(parties.train(tap=tapped))
    assert [one for one in tapped.between("children") if one.by == "clinic"] == []


def test_the_counts_of_a_split_that_is_withheld_are_not_told(tmp_path):
    parties, tapped = clinic_and_spy(tmp_path, "suppress", ONE_ILL, [1] * 6 + [2] * 6), Tapped()
    said: list[str] = []
    trained = run(parties.train(tap=tapped, tell=said.append))
    assert trained.tree.root.is_leaf
    assert sum("1 node remains a leaf" in one for one in said) == 1
    told = [one.message.arrays for one in tapped.between("children") if one.by == "clinic"]
    assert [(one["withheld"].tolist(), one["counts"].tolist()) for one in told] == [([0], [])]


def test_the_default_looks_at_the_keys_that_are_shared(tmp_path):
    """A third of the keys have several rows, so the party listens; but the neighbour shares only the others."""
    keys = [*range(20), *(100 + number for number in range(10) for _ in range(3))]
    visits = pa.table({"J": keys, "Class": ["ill", "ok"] * 25, "x": [*range(50)]})
    parties, tapped = clinic_and_spy(tmp_path, None, visits, [*range(20)] * 2), Tapped()
    with refused(Disrupted, "clinic refuses"):
        run(parties.train(tap=tapped))
    assert [one for one in tapped.between("class summary") if one.by == "clinic"] == []
