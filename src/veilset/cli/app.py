"""The commands. Each parses, calls the library, shows the answer and gives the exit code.

0 the promise holds, 1 it does not, 2 wrong usage or unreadable input, 3 infeasible, 4 not decided, 130 interrupted.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, CycloptsError, Parameter

import veilset as vs
from veilset.api import largest_that_keep_half
from veilset.cli.options import LimitOptions, PromiseOptions, ReadingOptions
from veilset.cli.screen import Screen
from veilset.errors import NotCertified, VeilsetError, WrongUsage
from veilset.limits import Limits
from veilset.models import Coherence
from veilset.publish import Bundle, Recipe
from veilset.publish.recipe import MethodRecipe
from veilset.report import audit_facts, print_audit, print_reading, print_release, release_facts, verdict

__all__ = ["app", "main"]

Flag = Parameter(negative=(), show_default=False)
Json = Annotated[bool, Parameter(name="--json"), Flag]

app = App(
    name="veilset",
    help="Share transaction data without giving people away, and prove it on the bytes that are released.",
    version=vs.__version__,
    help_format="markdown",
    result_action="return_value",
    suppress_keyboard_interrupt=False,
)


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit code."""
    tokens = sys.argv[1:] if arguments is None else arguments
    screen = Screen(json="--json" in tokens or not sys.stdout.isatty())
    try:
        answer = app(tokens, exit_on_error=False, print_error=False)
    except CycloptsError as error:
        screen.fail(str(error).strip(), "See veilset --help.", 2)
        return 2
    except VeilsetError as error:
        screen.fail(error.what, error.next_step, error.exit_code)
        return error.exit_code
    except KeyboardInterrupt:
        screen.fail("Interrupted.", "Nothing was written.", 130)
        return 130
    except BrokenPipeError:
        return 141
    return answer if isinstance(answer, int) else 0


@app.command
def publish(
    input: Path,  # noqa: A002 - the word users read
    /,
    *,
    promise: PromiseOptions | None = None,
    reading: ReadingOptions | None = None,
    limits: LimitOptions | None = None,
    out: Path,
    method: str | None = None,
    drop_empty: Annotated[bool, Flag] = False,
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

    Parameters
    ----------
    input
        The transactions, or a recipe (.toml) of an earlier release, which is repeated exactly.
    out
        Folder to write; must not exist, unless --replace is given.
    method
        How to change the data: auto (default), remove-all.
    drop_empty
        Withhold transactions that end up empty.
    replace
        Exchange an older release at OUT in one step.
    yes
        Do not ask when less than half of the item occurrences would survive.
    seed
        Secret seed of the row order; by default a random one. Kept in OUT/custodian/recipe.toml.
    json
        Print JSON; so does piping the output.
    """
    screen = Screen.of(json)
    bounds = limits or LimitOptions()
    if input.suffix == ".toml":
        if promise or reading or method or drop_empty:
            raise WrongUsage(
                "A recipe says all about a run; other options do not go with it.", "Edit the recipe instead."
            )
        recipe = Recipe.load(input)
    else:
        recipe = Recipe(
            promise=(promise or PromiseOptions()).recipe(),
            input=(reading or ReadingOptions()).recipe(input),
            method=MethodRecipe(name=method, drop_empty=drop_empty),
        )
    bundle, release = _publish(recipe, out, screen, bounds, replace=replace, yes=yes, seed=seed)
    screen.answer(
        {**release_facts(release), "public": str(bundle.public), "custodian": str(bundle.custodian)},
        lambda: screen.say(
            f"[bold green]GO[/]  {bundle.public} is safe to hand over; {bundle.custodian} stays with you.\n"
            f"Report: {bundle.public / 'report.html'}\nCheck it again at any time: veilset verify {bundle.public}"
        ),
    )
    return 0


def _publish(
    recipe: Recipe,
    out: Path,
    screen: Screen,
    bounds: LimitOptions,
    *,
    replace: bool,
    yes: bool,
    seed: str | None,
) -> tuple[Bundle, vs.Release]:
    with screen.progress() as progress:
        data = recipe.read_data(bounds.memory_limit)
    screen.show(lambda: print_reading(data, screen.console))
    promise = recipe.promise.make()
    with screen.progress() as progress:
        release = vs.anonymize(
            data,
            promise,
            method=recipe.method.name,
            drop_empty=recipe.method.drop_empty,
            threads=bounds.threads,
            memory_limit=bounds.memory_limit,
            time_limit=bounds.time_limit,
            progress=progress,
            **recipe.method.options,
        )
    screen.show(lambda: print_release(release, screen.console))
    if release.loss > 0.5 and not yes:
        _ask_whether_it_is_worth_it(release, screen)
    with screen.progress() as progress:
        bundle = vs.publish(
            release,
            out,
            replace=replace,
            random_state=seed or recipe.seed,
            threads=bounds.threads,
            memory_limit=bounds.memory_limit,
            time_limit=bounds.time_limit,
            progress=progress,
        )
    return bundle, release


def _ask_whether_it_is_worth_it(release: vs.Release, screen: Screen) -> None:
    promise = release.promise
    with screen.progress() as progress:
        limits = Limits(time_limit=60, progress=progress)
        half = (
            largest_that_keep_half(release.original, promise, method=release.method, limits=limits)
            if isinstance(promise, Coherence)
            else {}
        )
    ways = [f"--{letter} {value}" for letter, value in half.items() if value is not None]
    hint = f"Half survives with {' or with '.join(ways)}." if ways else "No smaller k or p was found that keeps half."
    what = f"Only {1 - release.loss:.0%} of the item occurrences would survive."
    if not screen.confirm(f"{what} {hint} Publish it anyway?"):
        raise WrongUsage(what, f"{hint} Say --yes to publish it anyway.")


@app.command
def verify(
    path: Path,
    /,
    *,
    limits: LimitOptions | None = None,
    witnesses: int = 20,
    json: Json = False,
) -> int:
    """Read a release again and count whether it keeps its promise.

    Needs the public folder alone. Exit code 0: it holds; 1: it does not, or a file was changed; 2: a file is missing or
    cannot be read; 4: not decided.

    Example:

        veilset verify release/public

    Parameters
    ----------
    path
        The release folder, or its public folder.
    witnesses
        How many reasons to list if it does not hold.
    json
        Print JSON; so does piping the output.
    """
    screen = Screen.of(json)
    bounds = limits or LimitOptions()
    with screen.progress() as progress:
        found = vs.verify(path, witnesses=witnesses, progress=progress, **vars(bounds))
    facts = {"verdict": found.verdict, "message": found.message, "holds": found.holds}
    if found.audit is not None:
        facts["audit"] = audit_facts(found.audit)

    def show() -> None:
        screen.say(
            f"[bold {'green' if found.holds else 'red'}]{found.verdict.upper()}[/]  {screen.escape(found.message)}"
        )
        if found.audit is not None and found.certificate is not None:
            screen.say(screen.escape(verdict(found.audit, merged=found.certificate.merged)))
            for witness in found.audit.witnesses:
                screen.say(screen.escape(f"  {witness}"))

    screen.answer(facts, show)
    return found.exit_code


@app.command
def audit(
    input: Path,  # noqa: A002 - the word users read
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

    Parameters
    ----------
    input
        The transactions.
    witnesses
        How many reasons to list if it does not hold, the most severe first.
    json
        Print JSON; so does piping the output.
    """
    screen = Screen.of(json)
    bounds = limits or LimitOptions()
    recipe = Recipe(promise=(promise or PromiseOptions()).recipe(), input=(reading or ReadingOptions()).recipe(input))
    data = recipe.read_data(bounds.memory_limit)
    screen.show(lambda: print_reading(data, screen.console))
    with screen.progress() as progress:
        answer = vs.audit(data, recipe.promise.make(), witnesses=witnesses, progress=progress, **vars(bounds))
    screen.answer(audit_facts(answer), lambda: print_audit(answer, data, screen.console))
    return 0 if answer.holds else 1 if answer.feasible else 3


@app.command
def generate(
    kind: Literal["quest", "pos", "grocery"],
    /,
    *,
    out: Path,
    transactions: int = 10_000,
    items: int = 1_000,
    length: float = 10.0,
    pattern: float = 4.0,
    longest: int = 100,
    seed: int = 0,
    json: Json = False,
) -> int:
    """Make synthetic transactions to try things on.

    quest: after the classic Quest generator (length T, pattern length I); pos: long-tailed, like a shop's till;
    grocery: a small named set with pharmacy items, with sensitive.txt and taxonomy.csv beside it.

    Example:

        veilset generate quest --transactions 100000 --items 1000 --length 10 --pattern 4 --out t10i4.dat

    Parameters
    ----------
    kind
        quest, pos or grocery.
    out
        File to write: .dat, .csv, .tsv, each perhaps with .gz.
    transactions
        How many.
    items
        How many different ones there may be (quest, pos).
    length
        Items in a transaction, on average (quest, pos).
    pattern
        Items in a pattern, on average (quest).
    longest
        Items in the longest transaction (pos).
    seed
        The same seed gives the same file.
    json
        Print JSON; so does piping the output.
    """
    screen = Screen.of(json)
    if out.exists():
        raise WrongUsage(f"{str(out)!r} exists already.", "Choose another --out, or delete it first.")
    written = [out]
    if kind == "quest":
        data = vs.generate.quest(
            transactions=transactions,
            average_length=length,
            pattern_length=pattern,
            items=items,
            random_state=seed,
        )
    elif kind == "pos":
        data = vs.generate.pos_like(
            transactions=transactions,
            items=items,
            average_length=length,
            maximum_length=longest,
            random_state=seed,
        )
    else:
        data = vs.generate.grocery_pharmacy(transactions=transactions, random_state=seed)
        written += write_companions(data, out.parent)
    data.write(out)
    facts = {"written": [str(path) for path in written], "transactions": len(data), "items": len(data.names)}
    screen.answer(facts, lambda: screen.say(f"{data!r}\nWritten: {', '.join(map(str, written))}"))
    return 0


def write_companions(data: vs.Transactions, folder: Path) -> list[Path]:
    """The sensitive items and the taxonomy of the grocery set, beside it."""
    sensitive, taxonomy = folder / "sensitive.txt", folder / "taxonomy.csv"
    for path in (sensitive, taxonomy):
        if path.exists():
            raise WrongUsage(f"{str(path)!r} exists already.", "Choose an --out in another folder.")
    sensitive.write_text("".join(f"{name}\n" for name in data.sensitive), "utf-8")
    vs.generate.grocery_pharmacy_taxonomy().write(taxonomy)
    return [sensitive, taxonomy]


@app.command
def demo(*, out: Path = Path("veilset-demo"), json: Json = False) -> int:
    """Run the main job on an embedded data set: read, anonymize, publish, verify.

    Example:

        veilset demo

    Parameters
    ----------
    out
        Folder for the demo's files; an earlier demo there is replaced.
    json
        Print JSON; so does piping the output.
    """
    screen = Screen.of(json)
    out.mkdir(parents=True, exist_ok=True)
    baskets, sensitive = out / "baskets.csv", out / "sensitive.txt"
    data = vs.generate.grocery_pharmacy()
    data.write(baskets)
    sensitive.write_text("".join(f"{name}\n" for name in data.sensitive), "utf-8")
    command = (
        f"veilset publish {baskets} --sensitive {sensitive} --k 10 --p 2 --h 0.4 --out {out / 'release'} --replace"
    )
    screen.show(lambda: screen.say(f"[bold]$ {command}[/]"))
    recipe = Recipe(
        promise=PromiseOptions(k=10, p="2", h="0.4").recipe(),
        input=ReadingOptions(sensitive=(sensitive,)).recipe(baskets),
    )
    bundle, release = _publish(recipe, out / "release", screen, LimitOptions(), replace=True, yes=True, seed=None)
    screen.show(lambda: screen.say(f"\n[bold]$ veilset verify {bundle.public}[/]"))
    found = vs.verify(bundle.public)
    if not found.holds:
        raise NotCertified(found.message)
    report = bundle.public / "report.html"
    facts = {
        **release_facts(release),
        "verified": found.verdict,
        "release": str(bundle.path),
        "report": str(report),
    }
    screen.answer(
        facts,
        lambda: screen.say(
            f"[bold green]HOLDS[/]  {screen.escape(found.message)}\n\nRelease: {bundle.path}\n"
            f"Report to hand over: {report}\nReport for you: {bundle.custodian / 'report.html'}"
        ),
    )
    return 0
