"""``veilset apply``."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from veilset.cli.app import app
from veilset.cli.options import Json, LimitOptions, ReadingOptions, ReplaceRelease, Text, Yes
from veilset.cli.publish import run_recipe, show_bundle
from veilset.cli.screen import Screen
from veilset.publish import recipe_like


@app.command(sort_key=2.5)
def apply(
    release: Path,
    input: str,  # noqa: A002 - the word users read
    /,
    *,
    reading: ReadingOptions | None = None,
    limits: LimitOptions | None = None,
    unknown: Literal["refuse", "suppress", "keep"] = "refuse",
    out: Path,
    out_format: str | None = None,
    replace: ReplaceRelease = False,
    yes: Yes = False,
    seed: str | None = None,
    json: Json = False,
    text: Text = False,
) -> int:
    """Make the changes of an earlier release to another file, check it, and write it.

    For next month's data, or for all of which a sample was anonymized: nothing is decided anew, so that one pass is
    enough and the file may be larger than memory. The promise is that of the earlier release, and the result is audited
    like any other: if it is not kept, nothing is written.

    Example:

        veilset apply release next-month.csv --unknown suppress --out next-release

    Parameters
    ----------
    release
        The folder of the earlier release, with its custodian folder.
    input
        The transactions: a file, or a database with --query. Laid out as the earlier ones, unless options say how.
    unknown
        What to do with public items that the earlier release did not have: refuse, suppress, or keep (and audit) them.
    out
        Folder to write; must not exist, unless --replace is given.
    out_format
        Format of the released file; by default that of the earlier release.
    seed
        Secret seed of the row order; by default a random one.
    """
    screen = Screen.of(json, text)
    recipe = recipe_like(release, input, None if reading is None else reading.recipe(input))
    options = {**recipe.method.options, "unknown": unknown}
    recipe = recipe.model_copy(
        update={
            "method": recipe.method.model_copy(update={"options": options}),
            "out_format": out_format or recipe.out_format,
        }
    )
    bundle, run = run_recipe(recipe, out, screen, limits or LimitOptions(), replace=replace, yes=yes, seed=seed)
    show_bundle(bundle, run, screen)
    return 0
