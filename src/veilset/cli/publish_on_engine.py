"""``veilset publish`` where an engine holds the data: the same steps, shown the same way."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from pathlib import Path
from typing import Any

import veilset as vs
from veilset.anonymize import find_method, seed_from
from veilset.cli.asking import ask_whether_it_is_worth_it, check_excludes, checked_promise
from veilset.cli.engines import held_as_told
from veilset.cli.flags import in_flags
from veilset.cli.forms import Check
from veilset.cli.options import LimitOptions
from veilset.cli.screen import Screen
from veilset.models import Promise
from veilset.publish import Bundle, Recipe, publish_held
from veilset.report import held_facts, print_held_release
from veilset.run import HeldRun

_HALF = 0.5


def publish_recipe_on_engine(
    recipe: Recipe,
    out: Path,
    screen: Screen,
    bounds: LimitOptions,
    *,
    replace: bool,
    yes: bool,
    seed: str | None,
    checks: Sequence[Check] = (),
) -> tuple[Bundle, HeldRun, dict[str, Any]]:
    """Read, check, change, check again and write on the engine of the recipe; the facts are told while it runs."""
    checked_promise(recipe, out, replace=replace, yes=yes, seed=seed)
    with held_as_told(recipe) as data:
        known = data.vocabulary
        for check in checks:
            check(known)
        promise = recipe.promise_for(known)
        promise.check_meaningful(known)
        if not yes:
            check_excludes(promise, known)
        with screen.progress() as progress:
            release = vs.anonymize(
                data,
                promise,
                method=recipe.method.name,
                allow_sensitive=recipe.method.allow_sensitive,
                drop_empty=recipe.method.drop_empty,
                progress=progress,
                **vars(bounds),
                **options_of(recipe, promise, seed),
            )
        run = HeldRun(release, memory_limit=bounds.memory_limit, time_limit=bounds.time_limit)
        with screen.progress() as run.progress:
            _ = run.before, run.original, run.released
        if release.certified and release.loss > _HALF and not yes:
            ask_whether_it_is_worth_it(release.loss, "", screen)
        screen.show(lambda: print_held_release(run, screen.console, in_flags))
        with screen.progress() as run.progress:
            bundle = publish_held(run, out, replace=replace, random_state=seed or recipe.seed, allow_empty_promise=yes)
        return bundle, run, held_facts(run)


def options_of(recipe: Recipe, promise: Promise, seed: str | None) -> dict[str, Any]:
    """The options of the method; where it has chance of its own, a seed of the whole run is one of it, too."""
    options = dict[str, Any](recipe.method.options)
    if seed is not None and "random_state" in signature(find_method(promise, recipe.method.name)).parameters:
        options.setdefault("random_state", seed_from(seed))
    return options
