"""``veilset apply``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from veilset.cli.app import app
from veilset.cli.engines import EngineOptions
from veilset.cli.options import Flag, Json, LimitOptions, ReadingOptions, ReplaceRelease, Text, Yes
from veilset.cli.publish import run_recipe, say_written, show_bundle
from veilset.cli.publish_on_engine import publish_recipe_on_engine
from veilset.cli.screen import Screen
from veilset.errors import InvalidArgument, said
from veilset.publish import recipe_like


@app.command(sort_key=2.5)
def apply(
    release: Path,
    input: str,  # noqa: A002 - the word users read
    /,
    *,
    reading: ReadingOptions | None = None,
    limits: LimitOptions | None = None,
    engine: EngineOptions | None = None,
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

        veilset apply release next-month.parquet --out next-release --engine spark --master local[4]

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
    bounds = limits or LimitOptions()
    if engine is not None and engine.for_recipe:
        if out_format is not None:
            raise InvalidArgument(
                f"{said('out_format', out_format)} does not apply with {said('engine', engine.engine)}.",
                "Leave it out: data is written as Parquet in parts.",
            )
        recipe = recipe.model_copy(update={**engine.for_recipe, "out_format": None})
        written, there, facts = publish_recipe_on_engine(
            recipe, out, screen, bounds, replace=replace, yes=yes, seed=seed
        )
        say_written(written, there, facts, screen)
        return 0
    recipe = recipe.model_copy(update={"engine": None, "master": None})
    bundle, run = run_recipe(recipe, out, screen, bounds, replace=replace, yes=yes, seed=seed)
    show_bundle(bundle, run, screen)
    return 0
