"""The page that a party keeps for itself about a tree it has helped to grow: its splits, and what it has told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from veilset.joins import Split
from veilset.joins.parties.audit_log import Session
from veilset.joins.parties.guard import decisions
from veilset.joins.parties.home import Home
from veilset.joins.parties.secure_tree import SecureModel
from veilset.joins.parties.split_check import Cells
from veilset.report.pages import render
from veilset.report.parties import revoke_sentence, sent, tree_context, with_splits
from veilset.report.text import number, shown
from veilset.views import visible


@dataclass(frozen=True)
class OwnTraining:
    """A tree as one party knows it: its own splits by node, the cells of its neighbours by edge, and its audit log."""

    home: Home
    model: SecureModel
    splits: Mapping[int, Split]
    cells: Mapping[int, Cells]
    session: Session | None


def cell_sentences(own: OwnTraining) -> list[str]:
    """What neighbours can put together from all split summaries that were sent to them, as counted."""
    study = own.home.study
    lines = []
    for edge, to in study.shared_edges(own.home.party).items():
        on = visible(str(study.graph.edges[edge]))
        cells = own.cells.get(edge)
        if cells is None:
            lines.append(f"{on}: no split summary was sent to {to}.")
            continue
        lines.append(
            f"{on}: the split summaries sent to {to} sort its join values into {number(cells.count, 'cell')}. The "
            f"smallest has {number(cells.smallest, 'join value')}; {cells.alone:,} can be told from all others."
        )
    return lines


def own_report(own: OwnTraining) -> str:
    """A complete page for one party."""
    home, model = own.home, own.model
    tree = with_splits(model, own.splits)
    splits = [(node, shown(split.table), visible(str(split))) for node, split in sorted(own.splits.items())]
    told = [] if own.session is None else sent(own.session, home.party)
    return render(
        "party.html",
        study=home.study,
        model=model,
        party=home.party,
        title=shown(home.study.title or home.study.target),
        splits=splits,
        messages=told,
        leaks=[visible(line) for one in decisions(home).values() for line in (one.reason, *one.told)],
        cells=cell_sentences(own),
        revoke=revoke_sentence(model),
        **tree_context(tree, model),
    )
