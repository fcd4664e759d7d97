"""``veilset demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import veilset as vs
from veilset.cli.app import app
from veilset.cli.options import Flag, LimitOptions
from veilset.cli.promise_options import PromiseOptions
from veilset.cli.publish import run_recipe
from veilset.cli.screen import Screen
from veilset.errors import InvalidArgument, NotCertified
from veilset.publish import Recipe
from veilset.report import release_facts
from veilset.transactions import Reading


@app.command(sort_key=1)
def demo(*, out: Path = Path("veilset-demo"), json: Annotated[bool, Flag] = False) -> int:
    """Run the main job on an embedded data set: read, anonymize, publish, verify.

    Example:

        veilset demo

    Parameters
    ----------
    out
        Folder for the demo's files. An earlier demo there is replaced.
    json
        Print JSON.
    """
    screen = Screen(json=json)  # a show for people: text even into a pipe
    out.mkdir(parents=True, exist_ok=True)
    baskets, sensitive = out / "baskets.csv", out / "sensitive.txt"
    data = vs.generate.grocery_pharmacy()
    taken = vs.read(baskets, format="basket").to_lists() != data.to_lists() if baskets.exists() else sensitive.exists()
    if taken:
        raise InvalidArgument(f"The files in {str(out)!r} are not from an earlier demo.", "Choose another --out.")
    data.write(baskets)
    sensitive.write_text("".join(f"{name}\n" for name in data.sensitive), "utf-8")
    command = (
        f"veilset publish {baskets} --sensitive {sensitive} --k 10 --p 2 --h 0.4 --out {out / 'release'} --replace"
    )
    screen.show(lambda: screen.say(f"[bold]$ {screen.escape(command)}[/]"))
    recipe = Recipe(
        promise=PromiseOptions(k=10, p="2", h="0.4").section()[0],
        input=Reading(path=str(baskets), sensitive_files=(str(sensitive),)),
    )
    bundle, run = run_recipe(recipe, out / "release", screen, LimitOptions(), replace=True, yes=True, seed=None)
    screen.show(lambda: screen.say(f"[bold]$ veilset verify {screen.escape(bundle.public)}[/]"))
    found = vs.verify(bundle.public)
    if not found.holds:
        raise NotCertified(found.message)
    report = bundle.public / "report.html"
    facts = {**release_facts(run), "verified": found.verdict, "release": str(bundle.path), "report": str(report)}
    screen.answer(
        facts,
        lambda: screen.say(
            f"[bold green]HOLDS[/]  {screen.escape(found.message)}\n\nRelease: {screen.escape(bundle.path)}\n"
            f"Report to hand over: {screen.escape(report)}\n"
            f"Report for you: {screen.escape(bundle.custodian / 'report.html')}"
        ),
    )
    return 0
