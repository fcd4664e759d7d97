"""``edits.csv``: what became of every item, for the custodian; and how to do the same to other data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from veilset.errors import UnreadableInput
from veilset.io import read_bytes
from veilset.io.table import read_table, write_table
from veilset.publish.certificate import Certificate
from veilset.publish.recipe import InputRecipe, Recipe
from veilset.release import Release
from veilset.utility import unavoidable

__all__ = ["EDITS", "RECIPE", "recipe_like", "write_edits"]

EDITS, RECIPE = "edits.csv", "recipe.toml"
_COLUMNS = ("item", "role", "action", "to", "support", "why")


def write_edits(folder: Path, release: Release) -> None:
    """Write the file: one line for each item of the original."""
    original = release.original
    alone, gone = set(unavoidable(release)), set(release.suppressed)
    rows = []
    items = zip(original.names, original.is_sensitive.tolist(), original.supports.tolist(), strict=True)
    for item, sensitive, support in items:
        action, to, why = "kept", "", ""
        if item in gone:
            action, why = "suppressed", "breaks the promise together with other items"
            if sensitive:
                why = "more people than h have it"
            elif item in alone:
                why = "breaks the promise by itself"
        elif item in release.generalized:
            action, to, why = "generalized", release.generalized[item], "may stay under a coarser name"
        rows.append((item, "sensitive" if sensitive else "public", action, to, str(support), why))
    write_table(folder / EDITS, _COLUMNS, rows)


def recipe_like(release: Path, path: str, layout: InputRecipe | None = None) -> Recipe:
    """The recipe that makes the changes of an earlier release to other data, for the same promise.

    Parameters
    ----------
    release : path
        Its folder, with ``custodian/``.
    path : str
        The other data.
    layout : InputRecipe, optional
        How that is laid out; None: as the earlier release's.
    """
    custodian = release / "custodian"
    if not (custodian / EDITS).is_file():
        raise UnreadableInput(
            f"There is no {EDITS} in {str(custodian)!r}.", "Name the folder of a release, with its custodian/ folder."
        )
    earlier = Recipe.load(custodian / RECIPE, needs_input=False)
    table = read_table(custodian / EDITS)
    if table.columns != _COLUMNS:
        raise UnreadableInput(
            f"{str(custodian / EDITS)!r}, line 1: its columns are {', '.join(table.columns)}.",
            f"They must be {', '.join(_COLUMNS)}: use the file as it was released.",
        )
    options: dict[str, Any] = {
        "known": tuple(row[0] for row in table.rows),
        "suppressed": tuple(row[0] for row in table.rows if row[2] == "suppressed"),
    }
    if recoded := {row[0]: row[3] for row in table.rows if row[2] == "generalized"}:
        options |= {"generalized": recoded, "stands_for": _stand_for(release / "public" / "certificate.json")}
    layout = layout or earlier.input or InputRecipe(path=path)
    source = layout.model_copy(
        update={
            "path": path,
            "sha256": None,
            "sensitive": (),
            "sensitive_where_present": tuple(row[0] for row in table.rows if row[1] == "sensitive"),
        }
    )
    method = earlier.method.model_copy(update={"name": "given", "options": options})
    return earlier.model_copy(update={"seed": None, "method": method, "input": source})


def _stand_for(path: Path) -> dict[str, tuple[str, ...]]:
    """What readers of the earlier release were told that its coarser names stand for."""
    try:
        return Certificate.model_validate_json(read_bytes(path)).generalized
    except ValidationError as error:
        raise UnreadableInput(
            f"{str(path)!r} is not a certificate: {error.errors()[0]['msg']}.", "Use the release as it was made."
        ) from None
