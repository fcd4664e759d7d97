"""``veilset publish``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any

from veilset.cli.app import app
from veilset.cli.asking import ask_whether_it_is_worth_it, check_excludes, checked_promise
from veilset.cli.engines import EngineOptions
from veilset.cli.flags import as_in_files, in_flags
from veilset.cli.forms import Check
from veilset.cli.method_options import MethodOptions
from veilset.cli.options import Flag, Json, LimitOptions, ReadingOptions, ReplaceRelease, Text, Yes
from veilset.cli.promise_options import PromiseOptions
from veilset.cli.publish_on_engine import options_of, publish_recipe_on_engine
from veilset.cli.screen import Screen
from veilset.errors import InvalidArgument, said, spelled
from veilset.models import EXCLUDES_NOTHING
from veilset.publish import Bundle, Recipe, check_format
from veilset.publish import publish as write_bundle
from veilset.report import binding_lines, half_sentence, occurrences_sentence, print_release, release_facts
from veilset.run import HeldRun, Run


@app.command(sort_key=2)
def publish(
    input: str,  # noqa: A002 - the word users read
    /,
    *,
    promise: PromiseOptions | None = None,
    reading: ReadingOptions | None = None,
    method: MethodOptions | None = None,
    limits: LimitOptions | None = None,
    engine: EngineOptions | None = None,
    out: Path,
    out_format: str | None = None,
    replace: ReplaceRelease = False,
    yes: Yes = False,
    seed: str | None = None,
    no_what_if: Annotated[bool, Flag] = False,
    json: Json = False,
    text: Text = False,
) -> int:
    """Make a release that keeps a promise, audit it, and write it.

    Writes two folders: OUT/public to hand over, OUT/custodian to keep. OUT/public/report.html states what is promised
    and what is not. If the promise cannot be proven on the written bytes, nothing is written.

    Example:

        veilset publish baskets.csv --sensitive sensitive.txt --k 20 --p 4 --h 0.4 --out release

        veilset publish baskets.csv --sensitive sensitive.txt --model rho-uncertainty --rho 0.5 --out release

        veilset publish baskets.csv --model hidden-patterns --patterns patterns.csv --min-support 1% --out release

        veilset publish baskets.csv --model l-diverse-anatomy --l 2 --columns 10 --out release

        veilset publish sales.parquet --k 20 --p 3 --out release --engine spark --master local[4]

    Parameters
    ----------
    input
        Transactions: a file, or a database with --query. Or a recipe (.toml), to repeat an earlier release exactly.
    out
        Folder to write. It must not exist, unless you give --replace.
    out_format
        Format of the released file, such as parquet or long. Default: that of the input (see docs/formats.md).
    seed
        Secret seed of the row order, and of the method's random choices unless you give --random-state. Default:
        random. Kept in OUT/custodian/recipe.toml.
    no_what_if
        Skip the cost of each limit and of milder ones.
    """
    screen = Screen.of(json, text)
    bounds = limits or LimitOptions()
    checks: list[Check] = []
    is_recipe = input.endswith(".toml")
    if is_recipe:
        if promise or reading or method or out_format or engine:
            raise InvalidArgument(
                "A recipe contains all options of a run. Other options cannot be added.", "Edit the recipe instead."
            )
        recipe = Recipe.load(Path(input))
    else:
        layout, chosen, asked = reading or ReadingOptions(), method or MethodOptions(), promise or PromiseOptions()
        source = layout.recipe(input, method_takes_taxonomy=True)
        section, of_promise = asked.section(layout.encoding)
        section.make()  # refuses what cannot be promised before anything else is read
        only_branches = source.taxonomy is not None
        changes, of_method = chosen.recipe(asked.kind, layout.encoding, layout.groups(), only_branches=only_branches)
        recipe = Recipe(promise=section, input=source, method=changes, out_format=out_format)
        recipe = recipe.model_copy(update=(engine or EngineOptions()).for_recipe)
        checks = [*of_promise, *of_method]
    with as_in_files() if is_recipe else nullcontext():
        chosen_here: dict[str, Any] = {"replace": replace, "yes": yes, "seed": seed, "checks": checks}
        if recipe.engine is None:
            bundle, run = run_recipe(recipe, out, screen, bounds, with_what_if=not no_what_if, **chosen_here)
            say_written(bundle, run, release_facts(run, in_flags), screen)
            return 0
        _refuse_on_engine(recipe, no_what_if=no_what_if)
        bundle, on_engine, facts = publish_recipe_on_engine(recipe, out, screen, bounds, **chosen_here)
    say_written(bundle, on_engine, facts, screen)
    return 0


def _refuse_on_engine(recipe: Recipe, *, no_what_if: bool) -> None:
    """Raise if an option was given that nothing on an engine follows."""
    for option, value in (("out_format", recipe.out_format), ("no_what_if", no_what_if or None)):
        if value is not None:
            raise InvalidArgument(
                f"{said(option, value)} does not apply with {said('engine', recipe.engine)}.",
                "Leave it out: data is written as Parquet in parts, and the cost of limits is never computed there.",
            )


def show_bundle(bundle: Bundle, run: Run, screen: Screen) -> None:
    """Say what was written, and where."""
    say_written(bundle, run, release_facts(run, in_flags), screen)


def say_written(bundle: Bundle, run: Run | HeldRun, facts: dict[str, Any], screen: Screen) -> None:
    """Say what was written, with these facts; a secret promise can be verified only with the custodian's part."""
    whole = bundle.path if run.promise.secret else bundle.public
    lines = (
        f"Written. Hand over {bundle.public} and nothing else; {bundle.custodian} stays with you.",
        f"{_kept(run)} What is and is not promised: {bundle.public / 'report.html'}",
        f"Check it again at any time: veilset verify {whole}",
    )
    screen.answer(
        {**facts, "public": str(bundle.public), "custodian": str(bundle.custodian)},
        lambda: screen.say(screen.escape("\n".join(lines))),
    )


def _kept(run: Run | HeldRun) -> str:
    """What was proven of the written bytes."""
    promise, answer = run.promise, run.release.audit
    if answer is not None and answer.excludes_nothing:
        return EXCLUDES_NOTHING
    return f"The written files keep {'the sealed promise' if promise.secret else promise}."


def run_recipe(
    recipe: Recipe,
    out: Path,
    screen: Screen,
    bounds: LimitOptions,
    *,
    replace: bool,
    yes: bool,
    seed: str | None,
    with_what_if: bool = True,
    checks: Sequence[Check] = (),
) -> tuple[Bundle, Run]:
    """Read, check, change, check again and write, showing each step: what `publish`, `apply` and `demo` do.

    *checks* compare what files have listed with the data, so that an error names the line.
    """
    check_format(recipe.out_format)
    checked_promise(recipe, out, replace=replace, yes=yes, seed=seed)
    data = recipe.read_data(bounds.memory_limit)
    for check in checks:
        check(data)
    check_format(recipe.out_format, data)
    run = Run(
        data,
        promise := recipe.promise_for(data),
        method=recipe.method.name,
        options=options_of(recipe, promise, seed),
        allow_sensitive=recipe.method.allow_sensitive,
        drop_empty=recipe.method.drop_empty,
        with_what_if=with_what_if,
        **vars(bounds),
    )
    screen.show_reading(data)
    promise.check_meaningful(data)
    if not yes:
        check_excludes(promise, data)
    run.check()
    with _shown(run, screen):
        _ = run.before
    if (late := run.why_not_before) is not None:
        why = screen.escape(late.what)
        screen.show(lambda: screen.say(f"The risks in the original were not counted. {why}"))
    with _shown(run, screen):
        release = run.release
    with _shown(run, screen):
        _ = run.account, run.binding, run.reasons, run.by_occurrences, run.fidelity
    if release.certified and release.loss > 0.5 and not yes:
        _ask_whether_it_is_worth_it(run, screen)
    screen.show(lambda: print_release(run, screen.console, in_flags))
    with _shown(run, screen):
        bundle = write_bundle(
            run,
            out,
            replace=replace,
            out_format=recipe.out_format,
            random_state=seed or recipe.seed,
            allow_empty_promise=yes,
        )
    return bundle, run


@contextmanager
def _shown(run: Run, screen: Screen) -> Iterator[None]:
    """A progress bar for one step of a run."""
    with screen.progress() as progress:
        run.progress = progress
        try:
            yield
        finally:
            run.progress = None


def _ask_whether_it_is_worth_it(run: Run, screen: Screen) -> None:
    with _shown(run, screen):
        _ = run.binding
    another = spelled(occurrences_sentence(run), in_flags)
    lines = [*([] if run.promise.secret else binding_lines(run)), spelled(half_sentence(run), in_flags)]
    hint = " ".join([*lines, *([another] if another else [])])
    ask_whether_it_is_worth_it(run.release.loss, hint, screen)
