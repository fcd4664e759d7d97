"""What a party reads before it takes part: the study in words, its own part in it, and what others would learn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.text import Text

from veilset.errors import Infeasible, InvalidArgument, VeilsetError
from veilset.joins.parties import audit_log
from veilset.joins.parties.audit_log import AuditLog
from veilset.joins.parties.dry_run import DryRun, Sending
from veilset.joins.parties.guard import decisions
from veilset.joins.parties.home import Home
from veilset.joins.parties.policies import Decision
from veilset.joins.parties.server import begin_of
from veilset.joins.tree import told
from veilset.report.parties import behind, fingerprints, join_rows
from veilset.report.terminal_parts import indented, new_table, title
from veilset.report.text import number, shown
from veilset.views import visible


@dataclass(frozen=True)
class Review:
    """A party's tables and its study, and what it decides about each edge to another party."""

    home: Home

    @cached_property
    def decisions(self) -> dict[int, Decision]:
        """What is done about what each edge tells."""
        return decisions(self.home)

    @cached_property
    def refusal(self) -> VeilsetError | None:
        """Why the policies do not let the party take part in a training, if they do not."""
        for decision in self.decisions.values():
            try:
                decision.check()
            except Infeasible as error:
                return error
        return None

    @cached_property
    def disapproval(self) -> VeilsetError | None:
        """Why the study is not approved, if it is not."""
        try:
            self.home.file.check_approval()
        except InvalidArgument as error:
            return error
        return None

    @cached_property
    def earlier(self) -> tuple[str, ...]:
        """What earlier sessions add to what another one would tell, by the audit log of the party."""
        place = self.home.file.state / audit_log.NAME
        if not place.exists():
            return ()
        log = AuditLog(place)
        try:
            return log.warnings_for(begin_of(self.home, self.decisions))
        finally:
            log.close()

    @property
    def objection(self) -> VeilsetError | None:
        """What stands against a training: the party has not approved it, or a summary would tell too much."""
        return self.disapproval or self.refusal


def review_facts(review: Review) -> dict[str, Any]:
    """The review as plain values."""
    home = review.home
    study, file = home.study, home.file
    return {
        "party": home.party,
        "study": study.hash,
        "target": study.target,
        "classes": list(study.classes),
        "coordinator": study.coordinator,
        "winner": study.winner,
        "fingerprints": fingerprints(study),
        "columns": {table: _columns(home, table) for table in home.tables},
        "class_learned_by": [name for name in study.parties if name != study.owners[study.target]],
        "leakage": [decision.to_dict() for decision in review.decisions.values()],
        "farther": list(_farther(home)),
        "earlier": list(review.earlier),
        "approved": review.disapproval is None,
        "approve": approval_lines(file.party, study.hash, study.target in file.tables, list(study.parties)),
    }


def approval_lines(party: str, study_hash: str, has_class: bool, parties: list[str]) -> list[str]:
    """The lines by which a party approves a study, for its party file."""
    others = ", ".join(f'"{name}"' for name in parties if name != party)
    return [f'approve = "{study_hash}"', *([f"class_known_to = [{others}]"] if has_class else [])]


def _columns(home: Home, table: str) -> dict[str, Any]:
    section = home.file.tables[table]
    keys = sorted(home.study.graph.join_columns(table))
    return {
        "rows": home.tables[table].num_rows,
        "keys": {key: home.file.key_columns(table, ((key,),))[0][0] for key in keys},
        "class": section.label,
        "columns": [one.name for one in home.attributes[table]],
    }


def print_review(review: Review, console: Console) -> None:
    """The review on a terminal."""
    home = review.home
    _print_study(home, console)
    title(f"Your part: {home.party}", console)
    indented([Text(line) for table in home.tables for line in _part(home, table)], console)
    title("What others would learn about your rows", console)
    indented(list(_told(review)), console)
    if review.earlier:
        title("What they were told before", console)
        indented([Text(visible(sentence)) for sentence in review.earlier], console)
    title("Fingerprints: compare them by telephone", console)
    indented([_read_out(name, one) for name, one in fingerprints(home.study).items()], console)


def _read_out(name: str, fingerprint: str) -> Text:
    """A fingerprint in two lines, so that none is broken elsewhere."""
    return Text(f"{name}:\n  {fingerprint[:39]}\n  {fingerprint[40:]}")


def print_approval(review: Review, console: Console) -> None:
    """How to approve."""
    facts = review_facts(review)
    title("To approve, put this at the top of the party file", console)
    indented([Text(line) for line in facts["approve"]], console)


def _print_study(home: Home, console: Console) -> None:
    study = home.study
    title(f"Study: {shown(study.title)}" if study.title else "Study", console)
    classes = ", ".join(visible(told(one)) for one in study.classes)
    owner = study.owners[study.target]
    depth = home.stop.max_depth
    lines = [
        f"The parties grow a decision tree for the rows of {study.target}, a table of {owner}. Classes: {classes}.",
        "The depth of the tree is not limited." if depth is None else f"The tree has at most {number(depth, 'level')}.",
        f"{study.coordinator} coordinates, and learns "
        + ("which table wins each node." if study.winner == "secret" else "the gain of each table at each node."),
        f"All parties learn the class counts of each node: {', '.join(study.parties)}.",
        f"Neighbours of {owner} learn class counts for each key that they share.",
    ]
    parties = new_table("Party", "Address", "Tables")
    for name, party in study.parties.items():
        parties.add_row(*map(Text, (name, party.address, ", ".join(party.tables) or "none")))
    joins = new_table("Equal columns", "Between", "Most keys", "Policy")
    for row in join_rows(study):
        joins.add_row(*map(Text, row))
    indented([*map(Text, lines), Text(f"Hash: {study.hash}")], console)
    indented([parties], console)
    indented([joins], console)


def _part(home: Home, table: str) -> Iterator[str]:
    facts = _columns(home, table)
    keys = ", ".join(
        key if real == key else f"{key} (your column {shown(real)})" for key, real in facts["keys"].items()
    )
    yield f"{table}: {number(facts['rows'], 'row')}, joined by {keys}."
    if facts["class"] is not None:
        yield f"  Class: {shown(facts['class'])}."
    columns = [f"{shown(one.name)} ({_form(one.values.type)})" for one in home.attributes[table]]
    yield f"  Columns that splits may ask about: {', '.join(columns) or 'none'}."


def _form(of: Any) -> str:
    """What a column holds: numbers that are taken for text would be asked about one by one."""
    if pa.types.is_integer(of) or pa.types.is_floating(of) or pa.types.is_decimal(of):
        return "numbers"
    if pa.types.is_boolean(of):
        return "true or false"
    return "text" if pa.types.is_string(of) or pa.types.is_large_string(of) else "dates or times"


def _told(review: Review) -> Iterator[RenderableType]:
    if not review.decisions:
        yield Text("Nothing: you join no table with another party.")
    for decision in review.decisions.values():
        yield Text(visible(decision.reason), style="bold red" if decision.refused else "bold")
        yield from (Padding(Text(visible(sentence)), (0, 0, 0, 2), expand=False) for sentence in decision.told)
        if decision.advice:
            yield Text(visible(decision.advice), style="dim")
    yield from map(Text, _farther(review.home))


def _farther(home: Home) -> Iterator[str]:
    """What parties learn that are joined with a neighbour, and not with this party."""
    for name, between in behind(home.study, home.party).items():
        yield (
            f"{name} gets counts of joined rows from {' and '.join(between)}, and yours are among them. It can "
            "often tell from them how many of your rows go with each of its keys."
        )


def print_dry_run(run: DryRun, console: Console) -> None:
    """What would be sent: to whom, what, how often, and how large."""
    title("What would be sent, in bytes without frames and encryption", console)
    table = new_table("To", "Message", "About", "Messages", "Entries", "Bytes")
    for one in run.sendings:
        most = "" if one.exact else "≤ "
        table.add_row(
            *map(Text, (one.to, one.message, visible(one.about), _times(one), f"{most}{one.entries:,}", _size(one)))
        )
    indented([table, Text("Entries and bytes are those of one message.", style="dim")], console)
    title("The first keys of class summaries, as you see them", console)
    lines = []
    for preview in run.previews:
        lines.append(Text(f"{visible(preview.on)}, to {preview.to}:", style="bold"))
        counts = preview.counts or [()] * len(preview.keys)
        for key, rows, by_class in zip(preview.keys, preview.rows, counts, strict=True):
            classes = f", class counts {', '.join(map(str, by_class))}" if by_class else ""
            lines.append(Text(f"  {shown(key)}: {number(rows, 'row')}{classes}"))
    indented([*lines, *(Text(visible(note), style="dim") for note in run.notes)], console)


def _times(one: Sending) -> str:
    return "each node" if one.times is None else f"{one.times:,}"


def _size(one: Sending) -> str:
    return f"{'' if one.exact else '≤ '}{one.bytes:,}"
