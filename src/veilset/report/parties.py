"""What there is to say about a tree that several parties have grown: as facts, and on a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from veilset.joins import Tree
from veilset.joins.parties.audit_log import Session
from veilset.joins.parties.certificates import fingerprint
from veilset.joins.parties.coordinator import Trained
from veilset.joins.parties.secure_tree import PrivateSplit, SecureModel
from veilset.joins.parties.shared_study import SharedStudy
from veilset.report.join import cut_sentence, plain, rounded
from veilset.report.join_tree import paint
from veilset.report.pages import render
from veilset.report.text import number, shown
from veilset.views import Count, visible

IDENTICAL = "The tree is identical to the tree of the joined table."
NOT_IDENTICAL = "Small groups were suppressed, so the tree can differ from the tree of the joined table."


@dataclass(frozen=True)
class SecureTraining:
    """A study, and a run of it that has ended with a tree."""

    study: SharedStudy
    run: Trained


def secure_tree_facts(model: SecureModel, tree: Tree) -> dict[str, Any]:
    """A secure tree as plain values; a split that is private has a number and a table only."""
    content = tree.to_dict()
    for node in content["nodes"]:
        split = node["split"]
        if split is not None:
            private = "number" in split
            node["split"] = (
                {name: split[name] for name in ("table", "number")}
                if private
                else {**split, "value": plain(split["value"])}
            )
    return {
        "run": model.run,
        "study": model.study,
        "owners": dict(model.owners),
        "identical": model.identical,
        "joined_rows": tree.root.rows,
        "tree": {"nodes": len(tree), "leaves": len(tree.leaves()), "depth": tree.depth},
        **content,
        "classes": [plain(value) for value in tree.classes],
    }


def secure_facts(training: SecureTraining) -> dict[str, Any]:
    """All about a run as plain values."""
    facts = secure_tree_facts(training.run.model, training.run.tree)
    return {
        **{name: value for name, value in facts.items() if name != "nodes"},
        "splits_by_party": splits_by_party(training),
        "bytes": {name: {"sent": one[0], "received": one[1]} for name, one in training.run.traffic.items()},
        "fingerprints": fingerprints(training.study),
        "learned": learned(training.study),
        "seconds": round(training.run.seconds, 3),
    }


def fingerprints(study: SharedStudy) -> dict[str, str]:
    """How the certificate of each party reads over the telephone."""
    return {name: fingerprint(one) for name, one in study.certificates.items()}


def splits_by_party(training: SecureTraining) -> dict[str, int]:
    """How many nodes each party splits."""
    tables = [part.table for part in training.run.model.nodes if part.table is not None]
    owners = [training.study.owners[table] for table in tables]
    return {name: owners.count(name) for name, party in training.study.parties.items() if party.tables}


def behind(study: SharedStudy, party: str) -> dict[str, list[str]]:
    """Parties that are joined with neighbours of a party and not with itself, and which neighbours these are."""
    near = {*study.shared_edges(party).values(), party}
    between = {
        name: sorted(near & set(study.shared_edges(name).values())) for name in study.parties if name not in near
    }
    return {name: found for name, found in between.items() if found}


def learned(study: SharedStudy) -> dict[str, list[str]]:
    """What each party has learned from the others, a sentence each."""
    return {name: list(_learned(study, name)) for name in study.parties}


def _learned(study: SharedStudy, name: str) -> Any:
    yield "Which table splits each node of the tree, and how many joined rows of each class the node has."
    for edge, other in study.shared_edges(name).items():
        on, agreed = study.graph.edges[edge], study.edges[edge]
        size = "" if agreed.pad else f", and how many keys {other} has in all"
        left = " Which of them have left the join, since small groups do." if study.suppresses else ""
        yield (
            f"From {other} ({on}): which of its own keys {other} has too{size}. For each of them, how many joined rows "
            f"of each class it has, and how they divide at each split.{left}"
        )
    for far, between in behind(study, name).items():
        yield f"Often, how many rows of {far} go with each of its keys, from the counts of {' and '.join(between)}."
    if name == study.coordinator:
        if study.winner == "secret":
            yield "As coordinator: which table wins each node, but not the gains that were compared."
        else:
            yield "As coordinator: how much the best split of each table would gain at each node."
        yield "As coordinator: how many bytes each party sends and receives."


def size_words(tree: Tree) -> str:
    """How large a tree is."""
    leaves = Count(len(tree.leaves()))
    return (
        f"{number(len(tree), 'node')}, {leaves:,} {leaves:leaf|leaves}, depth {tree.depth:,}, grown from "
        f"{number(tree.root.rows, 'joined row')}."
    )


def identity_sentence(model: SecureModel) -> str:
    """Whether the tree is the one of the join."""
    return IDENTICAL if model.identical else NOT_IDENTICAL


def revoke_sentence(model: SecureModel) -> str:
    """How a party takes its part back."""
    return (
        f"A party revokes its part with: veilset join revoke PARTY.toml {model.run}. Its splits are then deleted, and "
        "predictions end at its nodes."
    )


def join_rows(study: SharedStudy) -> list[tuple[str, str, str, str]]:
    """What is agreed on each edge between parties, for a table."""
    rows = []
    for edge, agreed in zip(study.graph.edges, study.edges, strict=True):
        owners = study.owners[edge.left], study.owners[edge.right]
        between = f"{owners[0]} and {owners[1]}" if owners[0] != owners[1] else f"{owners[0]} alone"
        most = ", ".join(f"{table} {count:,}" for table, count in agreed.keys.items())
        policy = f"{agreed.policy or 'default'} (floor {agreed.floor:,})"
        rows.append((visible(str(edge)), between, f"{most}{', padded' if agreed.pad else ''}", policy))
    return rows


def sent(session: Session, me: str) -> list[tuple[str, int, int]]:
    """To whom how many messages and bytes went; a coordinator with tables also writes to itself."""
    return [(to, count, session.bytes[to]) for to, count in session.messages.items() if to != me]


def with_splits(model: SecureModel, own: Mapping[int, Any]) -> Tree:
    """The tree, with the criteria of those splits that a party knows."""
    tree = model.tree()
    for node in tree.root.walk():
        if isinstance(node.split, PrivateSplit) and node.split.number in own:
            node.split = own[node.split.number]
    return tree


def tree_context(tree: Tree, model: SecureModel) -> dict[str, Any]:
    """What pages need to draw a tree."""
    painted = paint(tree, tuple(model.owners))
    return {
        "painted": painted,
        "tables": len(model.owners),
        "joined": rounded(tree.root.rows),
        "size_says": size_words(tree),
        "cut_says": cut_sentence(painted, tree.depth),
        "identical_says": identity_sentence(model),
        "version": version("veilset"),
    }


def secure_report(training: SecureTraining) -> str:
    """A complete page about a run, for the party that coordinated it."""
    study, model = training.study, training.run.model
    read_out = fingerprints(study)
    splits = splits_by_party(training)
    parties = [
        (name, ", ".join(map(shown, party.tables)) or "none", splits.get(name, 0), read_out[name])
        for name, party in study.parties.items()
    ]
    return render(
        "parties.html",
        study=study,
        model=model,
        title=shown(study.title or study.target),
        parties=parties,
        joins=join_rows(study),
        traffic=[(name, *volume) for name, volume in training.run.traffic.items()],
        total=sum(sent for sent, _ in training.run.traffic.values()),
        learned=list(learned(study).items()),
        revoke=revoke_sentence(model),
        seconds=f"{training.run.seconds:,.1f}",
        **tree_context(training.run.tree, model),
    )
