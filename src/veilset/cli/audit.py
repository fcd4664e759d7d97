"""``veilset audit``."""

from __future__ import annotations

import veilset as vs
from veilset.audit import reach_of
from veilset.cli.app import app
from veilset.cli.options import Json, LimitOptions, ReadingOptions
from veilset.cli.promise_options import PromiseOptions
from veilset.cli.screen import Screen
from veilset.errors import WrongUsage
from veilset.io.pattern_files import check_listed
from veilset.publish import Recipe
from veilset.report import audit_facts, print_audit, print_reading, reach_sentence

__all__ = ["audit"]


@app.command(sort_key=4)
def audit(
    input: str,  # noqa: A002 - the word users read
    /,
    *,
    promise: PromiseOptions | None = None,
    reading: ReadingOptions | None = None,
    limits: LimitOptions | None = None,
    witnesses: int = 20,
    json: Json = False,
) -> int:
    """Check a file as it is, without changing it.

    Exit code 0: the promise holds; 1: it does not; 3: no suppression of public items could make it hold.

    Example:

        veilset audit baskets.csv --sensitive sensitive.txt --k 20 --p 4 --h 0.4

        veilset audit baskets.csv --sensitive sensitive.txt --model rho-uncertainty --rho 0.5

        veilset audit baskets.csv --model hidden-rules --rules rules.txt --min-support 1% --min-confidence 40%

        veilset audit public/anatomy.csv --format anatomy --model l-diverse-anatomy --l 2

    Parameters
    ----------
    input
        The transactions: a file, or a database with --query.
    witnesses
        How many reasons to list if it does not hold, the most severe first.
    json
        Print JSON; so does piping the output.
    """
    screen = Screen.of(json)
    bounds = limits or LimitOptions()
    asked = promise or PromiseOptions()
    layout = reading or ReadingOptions()
    source = layout.recipe(input)
    asked.check_model()
    if asked.lacks_only_p:
        _suggest_p(source.read(bounds.memory_limit))
    listed = asked.listed(layout.encoding)
    recipe = Recipe(promise=asked.recipe(layout.encoding, listed), input=source)
    recipe.promise.make()  # refuses what cannot be promised before anything is read
    data = recipe.read_data(bounds.memory_limit)
    check_listed(listed, data.names)
    screen.show(lambda: print_reading(data, screen.console))
    if recipe.promise.model == vs.RhoUncertainty.name:
        recipe.promise.make().check_feasible(
            data
        )  # without a sensitive item it holds and says nothing: a flag forgotten
    with screen.progress() as progress:
        answer = vs.audit(data, recipe.promise.make(), witnesses=witnesses, progress=progress, **vars(bounds))
    merged = data.persons is not None
    screen.answer(audit_facts(answer, merged=merged), lambda: print_audit(answer, screen.console, merged=merged))
    return 0 if answer.holds else 1 if answer.feasible else 3


def _suggest_p(data: vs.Transactions) -> None:
    """--p is missing: say what the lengths of the transactions suggest."""
    if (reach := reach_of(data, 4)) is not None:
        raise WrongUsage("--p must be given.", f"Try --p 4. {reach_sentence(reach, 4)}")
