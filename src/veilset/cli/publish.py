"""``veilset publish``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Annotated, Any

import veilset as vs
from veilset.anonymize import (
    check_allowed,
    check_original,
    find_method,
    loss_by_p,
    milder_that_keep_half,
    seed_from,
)
from veilset.anonymize.anatomy.partitions import codes_of
from veilset.cli.app import app
from veilset.cli.method_options import MethodOptions
from veilset.cli.options import Flag, Json, LimitOptions, ReadingOptions
from veilset.cli.promise_options import PromiseOptions
from veilset.cli.screen import Screen
from veilset.errors import WrongUsage
from veilset.io.partition_files import PartitionFile
from veilset.io.pattern_files import Listed, check_listed
from veilset.limits import Limits
from veilset.models import HiddenPatterns, HiddenRules, Promise
from veilset.publish import Bundle, Recipe, check_target
from veilset.report import cost, print_reading, print_release, release_facts

__all__ = ["publish", "run_recipe", "show_bundle"]


@app.command(sort_key=2)
def publish(
    input: str,  # noqa: A002 - the word users read
    /,
    *,
    promise: PromiseOptions | None = None,
    reading: ReadingOptions | None = None,
    method: MethodOptions | None = None,
    limits: LimitOptions | None = None,
    out: Path,
    out_format: str | None = None,
    replace: Annotated[bool, Flag] = False,
    yes: Annotated[bool, Flag] = False,
    seed: str | None = None,
    json: Json = False,
) -> int:
    """Make a release that keeps a promise, check it, and write it.

    Writes two folders: OUT/public is safe to hand over, OUT/custodian stays at home. If the promise cannot be proven
    on the written bytes, nothing is written.

    Example:

        veilset publish baskets.csv --sensitive sensitive.txt --k 20 --p 4 --h 0.4 --out release

        veilset publish baskets.csv --sensitive sensitive.txt --model rho-uncertainty --rho 0.5 --out release

        veilset publish baskets.csv --model hidden-patterns --patterns patterns.csv --min-support 1% --out release

        veilset publish baskets.csv --model l-diverse-anatomy --l 2 --columns 10 --out release

    Parameters
    ----------
    input
        The transactions: a file, or a database with --query. Or a recipe (.toml) of an earlier release: it is
        repeated exactly.
    out
        Folder to write; must not exist, unless --replace is given.
    out_format
        Format of the released file, such as parquet or long; by default as the data was read (see docs/formats.md).
    replace
        Exchange an older release at OUT in one step.
    yes
        Do not ask when less than half of the item occurrences would survive.
    seed
        Secret seed of the row order, and of the method's chance unless --random-state is given; by default a random
        one. Kept in OUT/custodian/recipe.toml.
    json
        Print JSON; so does piping the output.
    """
    screen = Screen.of(json)
    bounds = limits or LimitOptions()
    listed: list[Listed] = []
    partition: PartitionFile | None = None
    if input.endswith(".toml"):
        if promise or reading or method or out_format:
            raise WrongUsage(
                "A recipe says all about a run; other options do not go with it.", "Edit the recipe instead."
            )
        recipe = Recipe.load(Path(input))
    else:
        layout, chosen = reading or ReadingOptions(), method or MethodOptions()
        source, groups = layout.recipe(input, method_takes_taxonomy=True), layout.groups()
        asked = promise or PromiseOptions()
        hidden, kept = asked.listed(layout.encoding), chosen.listed(layout.encoding)
        promised, listed = asked.recipe(layout.encoding, hidden), [*hidden, *kept]
        # One tree for both: the method has it too, unless it is there for branches and the method has no use for it.
        # Where it would be the columns, that has to be said.
        changes = find_method(promised.make(), chosen.method)
        takes = signature(changes).parameters
        file = chosen.partition(layout.encoding)
        partition = file if "columns" in takes else None  # else the method refuses it
        wanted = "taxonomy" in takes and ("level" not in takes or chosen.level is not None)
        for_method = source.taxonomy is None or wanted
        recipe = Recipe(
            promise=promised,
            input=source,
            method=chosen.recipe(
                layout.encoding,
                groups if for_method else None,
                listed=kept,
                partition=file,
                certifies="certify" in takes,
            ),
            out_format=out_format,
        )
    done = run_recipe(
        recipe, out, screen, bounds, replace=replace, yes=yes, seed=seed, listed=listed, partition=partition
    )
    show_bundle(*done, screen)
    return 0


def show_bundle(
    bundle: Bundle,
    release: vs.Release,
    curve: Mapping[int | None, float],
    before: vs.Audit | None,
    screen: Screen,
) -> None:
    """Say what was written, and where; a secret promise can be verified only with the custodian's part."""
    whole = bundle.path if isinstance(release.promise, (HiddenPatterns, HiddenRules)) else bundle.public
    facts = release_facts(release, curve=curve, before=before)
    screen.answer(
        {**facts, "public": str(bundle.public), "custodian": str(bundle.custodian)},
        lambda: screen.say(
            screen.escape(
                f"Written and verified: {bundle.public} is safe to hand over; {bundle.custodian} stays with you.\n"
                f"Report: {bundle.public / 'report.html'}\nCheck it again at any time: veilset verify {whole}"
            )
        ),
    )


def run_recipe(
    recipe: Recipe,
    out: Path,
    screen: Screen,
    bounds: LimitOptions,
    *,
    replace: bool,
    yes: bool,
    seed: str | None,
    listed: Sequence[Listed] = (),
    partition: PartitionFile | None = None,
) -> tuple[Bundle, vs.Release, Mapping[int | None, float], vs.Audit | None]:
    """Read, check, change, check again and write, showing each step; what `publish` and `demo` both do.

    What files have *listed*, or a file with a *partition*, is compared with the data, so that an error names the line.
    Gives what was written, what it was made of, the loss against p, and what was at risk before.
    """
    check_target(out, replace=replace)
    if taken := set(recipe.method.options).intersection({*signature(vs.anonymize).parameters, "limits"}):
        raise WrongUsage(f"{min(taken)!r} is not an option of a method.", "Take it out of [method.options].")
    promise = recipe.promise.make()  # refuses what cannot be promised before anything is read
    if recipe.method.allow_sensitive:
        check_allowed(promise)
    data = recipe.read_data(bounds.memory_limit)
    check_original(data)
    check_listed(listed, data.names)
    if partition is not None:
        codes_of(partition.parts, data, partition)  # for its errors: the method gets lists, which have no lines
    promise = recipe.promise_for(data)
    screen.show(lambda: print_reading(data, screen.console))
    if not recipe.method.allow_sensitive:
        promise.check_feasible(data)
    before = _risks_before(data, promise, screen, bounds)
    with screen.progress() as progress:
        release = vs.anonymize(
            data,
            promise,
            method=recipe.method.name,
            drop_empty=recipe.method.drop_empty,
            allow_sensitive=recipe.method.allow_sensitive,
            progress=progress,
            **vars(bounds),
            **_options(recipe, promise, seed),
        )
    with screen.progress() as progress:
        cost(release, limits=Limits(progress=progress, **vars(bounds)))  # measured once; all reports have it then
        curve = loss_by_p(release, limits=Limits(progress=progress, **vars(bounds)))
    if release.certified and release.loss > 0.5 and not yes:
        _ask_whether_it_is_worth_it(release, curve, screen, bounds)
    screen.show(lambda: print_release(release, screen.console, before=before, curve=curve))
    with screen.progress() as progress:
        bundle = vs.publish(
            release,
            out,
            replace=replace,
            out_format=recipe.out_format,
            random_state=seed or recipe.seed,
            before=before,
            curve=curve,
            progress=progress,
            **vars(bounds),
        )
    return bundle, release, curve, before


def _options(recipe: Recipe, promise: Promise, seed: str | None) -> dict[str, Any]:
    """The options of the method; where it has chance of its own, a seed of the whole run is one of it, too."""
    options = dict[str, Any](recipe.method.options)
    if seed is not None and "random_state" in signature(find_method(promise, recipe.method.name)).parameters:
        options.setdefault("random_state", seed_from(seed))
    return options


def _risks_before(data: vs.Transactions, promise: Promise, screen: Screen, bounds: LimitOptions) -> vs.Audit | None:
    try:
        with screen.progress() as progress:
            return vs.audit(data, promise, progress=progress, **vars(bounds))
    except vs.BudgetExceeded as error:
        reason = error.what
        screen.show(lambda: screen.say(f"What is at risk in the original was not counted. {screen.escape(reason)}"))
        return None


def _ask_whether_it_is_worth_it(
    release: vs.Release, curve: Mapping[int | None, float], screen: Screen, bounds: LimitOptions
) -> None:
    with screen.progress() as progress:
        milder = milder_that_keep_half(release, curve, limits=Limits(progress=progress, **vars(bounds)))
    exact = {letter: value if isinstance(value, int) else float(value) for letter, value in milder.found.items()}
    ways = [f"--{letter.replace('_', '-')} {value}" for letter, value in sorted(exact.items())]
    hint = f"Half survives with {' or with '.join(ways)}." if ways else f"No {milder.way} was found that keeps half."
    what = f"Only {1 - release.loss:.0%} of the item occurrences would survive."
    if not screen.confirm(f"{what} {hint} Publish it anyway?"):
        raise WrongUsage(f"Nothing was written. {what}", f"{hint} Say --yes to publish it anyway.")
