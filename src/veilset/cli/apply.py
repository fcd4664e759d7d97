"""``veilset apply``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from veilset.cli.app import app
from veilset.cli.options import Flag, Json, LimitOptions, ReadingOptions, ReplaceRelease, Text, Yes
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
    repair: Annotated[bool, Flag] = False,
    out: Path,
    out_format: str | None = None,
    replace: ReplaceRelease = False,
    yes: Yes = False,
    seed: str | None = None,
    json: Json = False,
    text: Text = False,
) -> int:
    """Apply the edits of an earlier release to another file, audit the result, and write it.

    Use it for next month's data, or for the full data behind a sample. It makes no new choices, so one pass is enough
    and the file may be larger than memory. The promise is that of the earlier release. If the result does not keep it,
    nothing is written. With --repair, it makes the missing choices, in memory.

    Example:

        veilset apply release next-month.csv --unknown suppress --out next-release

        veilset apply release next-month.csv --unknown keep --repair --out next-release

    Parameters
    ----------
    release
        Folder of the earlier release, including its custodian folder.
    input
        Transactions: a file, or a database with --query. Layout as in the earlier release, unless you give options.
    unknown
        Treatment of public items that the earlier release did not have: refuse, suppress, or keep (and audit) them.
    repair
        Suppress more if the earlier edits are not enough, as little as possible, and report what that adds.
    out
        Folder to write. It must not exist, unless you give --replace.
    out_format
        Format of the released file. Default: that of the earlier release.
    seed
        Secret seed of the row order. Default: random.
    """
    screen = Screen.of(json, text)
    recipe = recipe_like(release, input, None if reading is None else reading.recipe(input))
    options = {**recipe.method.options, "unknown": unknown, **({"repair": True} if repair else {})}
    recipe = recipe.model_copy(
        update={
            "method": recipe.method.model_copy(update={"options": options}),
            "out_format": out_format or recipe.out_format,
        }
    )
    bundle, run = run_recipe(recipe, out, screen, limits or LimitOptions(), replace=replace, yes=yes, seed=seed)
    show_bundle(bundle, run, screen)
    return 0
