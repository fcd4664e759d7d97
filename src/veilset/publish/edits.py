"""``edits.csv``, ``patterns.csv``, ``columns.csv``: what became of items and patterns; how to do it to other data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from veilset.errors import InvalidArgument, UnreadableInput, said
from veilset.io import read_bytes
from veilset.io.companions import Table, read_table, write_table
from veilset.io.formatting import quoted
from veilset.io.sql import is_database
from veilset.mining import Standing
from veilset.models import known_promise
from veilset.publish.certificate import Certificate
from veilset.publish.recipe import RECIPE, Recipe
from veilset.release import Release
from veilset.report import why_gone, why_gone_held
from veilset.run import HeldRun, Run
from veilset.transactions import Reading, twins_of
from veilset.utility import info_loss

EDITS, PATTERNS, COLUMNS = "edits.csv", "patterns.csv", "columns.csv"
_COLUMNS = ("item", "role", "action", "to", "support", "why", "loss")
_EARLIER = _COLUMNS[:-1]  # releases made before loss was told
_THINNED = "thinned"  # removed from some transactions
_FOR_REPAIR = ("keep", "weights")  # options of the earlier method that hold for a repair, too
_OF_PATTERNS = (
    *("pattern", "kind", "fate", "support_before", "support_after", "level", "antecedent", "consequent"),
    *("rank_by_lift", "rank_by_shortfall", "pairs_compared"),
)
_FATES = {"hidden": "hidden", "found": "still found", "kept": "kept", "lost": "lost"}


def write_edits(folder: Path, run: Run) -> None:
    """Write the file: one line for each item of the original."""
    release = run.release
    gone, left = why_gone(run), dict(zip(release.original.names, release.survivors().tolist(), strict=True))
    rows = []
    for item, sensitive, support, _, loss in info_loss(release):
        action, to, why = "kept", "", ""
        if item in gone:
            action, why = "suppressed", gone[item]
        elif release.kept is not None and left[item] < support:
            action, to = _THINNED, release.generalized.get(item, "")
            why = "removed from some transactions" + " to hide a pattern" * run.account.hides
            why += "; kept under a coarser name in others" * bool(to)
        elif item in release.generalized:
            action, to, why = "generalized", release.generalized[item], "kept under a coarser name"
        elif release.withheld and loss:
            why = "except in withheld transactions"
        role = "sensitive" if sensitive else "public"
        rows.append((item, role, action, to, str(support), why, f"{float(loss):.4g}"))
    write_table(folder / EDITS, _COLUMNS, rows)


def write_held_edits(folder: Path, run: HeldRun) -> None:
    """The same for what an engine holds."""
    why, known = why_gone_held(run), run.original
    rows = []
    for item, sensitive, support in zip(known.names, known.is_sensitive.tolist(), known.supports.tolist(), strict=True):
        role = "sensitive" if sensitive else "public"
        done = ("suppressed", "", str(support), why[item], "1") if item in why else ("kept", "", str(support), "", "0")
        rows.append((item, role, *done))
    write_table(folder / EDITS, _COLUMNS, rows)


def write_patterns(folder: Path, run: Run) -> None:
    """Write what became of each pattern that was to be hidden or to be kept, if any was to be hidden.

    A cell with items is a line of a basket file: ``milk,tea``, with quotes around a name that needs them. Of a hidden
    rule, both sides are told besides. *level* is the share of its limits that a hidden one had to stay below; the ranks
    say how much it stands out (see `veilset.mining.Standing`).
    """
    effects = run.account.side_effects(run.limits())
    if effects is None:
        return
    rows = [
        (
            _cell(effect.items),
            effect.kind,
            _FATES[effect.fate],
            str(effect.before),
            str(effect.after),
            "" if effect.level is None else f"{float(effect.level):.4g}",
            *(map(_cell, effect.rule) if effect.rule else ("", "")),
            *(("", "", "") if effect.standing is None else _places(effect.standing)),
        )
        for effect in effects
    ]
    write_table(folder / PATTERNS, _OF_PATTERNS, rows)


def write_columns(folder: Path, release: Release) -> None:
    """Write which item is in which column, if there are columns: a file that ``columns=`` takes for other data."""
    if release.custodian_data.anatomy is not None:
        columns = enumerate(release.custodian_data.anatomy.columns, start=1)
        rows = [(item, str(number)) for number, column in columns for item in release.custodian_data.in_order(column)]
        write_table(folder / COLUMNS, ("item", "column"), rows)


def _places(standing: Standing) -> tuple[str, str, str]:
    return str(standing.by_lift), str(standing.by_shortfall), str(standing.among)


def _cell(items: tuple[str, ...]) -> str:
    return ",".join(quoted(item, ",") for item in items)


def recipe_like(release: Path, path: str, layout: Reading | None = None) -> Recipe:
    """The recipe that makes the changes of an earlier release to other data, for the same promise.

    Parameters
    ----------
    release : path
        Its folder, with ``custodian/``.
    path : str
        The other data.
    layout : Reading, optional
        How that is laid out, and what else is sensitive in it. What is not said is as for the earlier release.
    """
    custodian = release / "custodian"
    if not (custodian / EDITS).is_file():
        raise UnreadableInput(
            f"There is no {EDITS} in {str(custodian)!r}.", "Give the folder of a release that contains custodian/."
        )
    earlier = Recipe.load(custodian / RECIPE, needs_input=False)
    if (kind := known_promise(earlier.promise.model)).edits != "items":
        what = "edits are to single" if kind.edits == "occurrences" else "buckets consist of its own"
        keeps = (
            f"{said('columns', str(custodian / COLUMNS))} keeps the columns."
            if kind.edits == "buckets"
            else f"the promise is in {str(custodian / RECIPE)!r}."
        )
        raise InvalidArgument(
            f"The release in {str(release)!r} was made for {kind.name}: its {what} transactions, and do not carry "
            "over to "
            "other data.",
            f"Run publish on the other data; {keeps}",
        )
    table = read_table(custodian / EDITS)
    if table.columns not in (_COLUMNS, _EARLIER):
        raise UnreadableInput(
            f"{str(custodian / EDITS)!r}, line 1: its columns are {', '.join(table.columns)}.",
            f"They must be {', '.join(_COLUMNS)}: use the file as it was released.",
        )
    if any(row[2] == _THINNED for row in table.rows):
        raise InvalidArgument(
            f"The release in {str(release)!r} deleted items from single transactions: its edits do not carry over to "
            "other data.",
            f"Run publish on the other data; the method is in {str(custodian / RECIPE)!r}.",
        )
    _check_edits(custodian / EDITS, table)
    as_earlier = earlier.input or Reading(path="")
    if path and not as_earlier.path:  # the earlier data was in no file: its layout is none of a file
        as_earlier = Reading(path="", **as_earlier.model_dump(include={"normalize", "sensitive_sought"}))
    sensitive = tuple(row[0] for row in table.rows if row[1] == "sensitive")
    options: dict[str, Any] = {
        "known": tuple(row[0] for row in table.rows),
        "suppressed": tuple(row[0] for row in table.rows if row[2] == "suppressed"),
    }
    if recoded := {row[0]: row[3] for row in table.rows if row[2] == "generalized"}:
        certificate = _certificate(release / "public" / "certificate.json")
        meant = certificate.generalized
        # Readers were told that a coarser name may mean these, so it does also where the earlier data had none of them.
        others = {item: name for name, items in meant.items() for item in items if item not in {*options["known"]}}
        for twin in twins_of(((item, 0) for item in others), sensitive, as_earlier.sought()):
            del others[twin.item]
        options["known"] += tuple(others)
        options |= {"generalized": {**recoded, **others}, "stands_for": meant}
        if certificate.listed_from:
            options["name_leaves_from"] = certificate.listed_from
    options |= {name: earlier.method.options[name] for name in _FOR_REPAIR if name in earlier.method.options}
    if not is_database(path):
        as_earlier = as_earlier.model_copy(update={"query": None})
    source = (as_earlier if layout is None else layout.laid_out_as(as_earlier)).model_copy(
        update={
            "path": path,
            "sha256": None,
            "sensitive": (),
            "sensitive_where_present": sensitive,
            "sensitive_sought": as_earlier.sensitive_sought,
        }
    )
    method = earlier.method.model_copy(update={"name": "replay", "options": options})
    return earlier.model_copy(update={"seed": None, "engine": None, "master": None, "method": method, "input": source})


def _check_edits(path: Path, table: Table) -> None:
    """Raise at the first line that is not as a release writes it."""
    line_of: dict[str, int] = {}
    for line, (item, role, action, to, *_) in zip(table.lines, table.rows, strict=True):
        wrong = None
        if not item:
            wrong = "the item has no name"
        elif item in line_of:
            wrong = f"the item {item!r} is already on line {line_of[item]}"
        elif role not in ("public", "sensitive"):
            wrong = f"the role is {role!r}, neither public nor sensitive"
        elif action not in ("kept", "suppressed", "generalized"):
            wrong = f"the action is {action!r}, not kept, suppressed or generalized"
        elif (action == "generalized") != bool(to):
            wrong = f"the item is {action}, but its new name is {to!r}"
        elif to and role == "sensitive":
            wrong = f"the sensitive item {item!r} is generalized"
        if wrong is not None:
            raise UnreadableInput(f"{str(path)!r}, line {line}: {wrong}.", "Use the file as it was released.")
        line_of[item] = line


def _certificate(path: Path) -> Certificate:
    """What readers of the earlier release were told, such as what its coarser names stand for."""
    try:
        return Certificate.model_validate_json(read_bytes(path))
    except ValidationError as error:
        raise UnreadableInput(
            f"{str(path)!r} is not a certificate: {error.errors()[0]['msg']}.", "Use the release as it was made."
        ) from None
