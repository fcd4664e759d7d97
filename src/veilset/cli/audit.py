"""``veilset audit``."""

from __future__ import annotations

import veilset as vs
from veilset.cli.app import app
from veilset.cli.engines import EngineOptions
from veilset.cli.flags import in_flags
from veilset.cli.forms import Natural
from veilset.cli.options import Json, LimitOptions, ReadingOptions, Text
from veilset.cli.promise_options import PromiseOptions
from veilset.cli.screen import Screen
from veilset.report import WORDS, audit_facts, print_audit, reading_facts, twin_facts


@app.command(sort_key=4)
def audit(
    input: str,  # noqa: A002 - the word users read
    /,
    *,
    promise: PromiseOptions | None = None,
    reading: ReadingOptions | None = None,
    limits: LimitOptions | None = None,
    engine: EngineOptions | None = None,
    witnesses: Natural = 20,
    json: Json = False,
    text: Text = False,
) -> int:
    """Check whether a file keeps a promise, without changing it.

    Exit code 0: the promise holds; 1: it does not; 3: no suppression of public items could make it hold.

    Example:

        veilset audit baskets.csv --sensitive sensitive.txt --k 20 --p 4 --h 0.4

        veilset audit baskets.csv --sensitive sensitive.txt --model rho-uncertainty --rho 0.5

        veilset audit baskets.csv --model hidden-rules --rules rules.txt --min-support 1% --min-confidence 40%

        veilset audit public/anatomy.csv --format anatomy --model l-diverse-anatomy --l 2

        veilset audit sales.parquet --long receipt,product --k 20 --p 3 --engine spark --master local[4]

    Parameters
    ----------
    input
        Transactions: a file, or a database with --query.
    witnesses
        Number of violations to list, the most severe first.
    """
    screen = Screen.of(json, text)
    bounds = limits or LimitOptions()
    asked = promise or PromiseOptions()
    layout = reading or ReadingOptions()
    if engine is not None and engine.engine == "spark":
        return _on_spark(input, asked, layout, bounds, engine, witnesses, screen)
    source = layout.recipe(input)
    if len(missing := asked.missing) == 1:  # the data may suggest a value
        raise asked.lacking(missing, WORDS.of(asked.kind).suggestion(missing[0], source.read(bounds.memory_limit)))
    section, checks = asked.section(layout.encoding)
    promised = section.make()  # refuses what cannot be promised before anything is read
    data = source.read(bounds.memory_limit)
    for check in checks:
        check(data)
    screen.show_reading(data)
    promised.check_meaningful(data)
    with screen.progress() as progress:
        answer = vs.audit(data, promised, witnesses=witnesses, progress=progress, **vars(bounds))
    who = {"merged": data.persons is not None, "unknown": data.has_unknown}
    facts = {
        **audit_facts(answer, **who),
        "reading": reading_facts(data, secret=promised.secret, spell=in_flags),
        "twins": twin_facts(data),
    }
    screen.answer(facts, lambda: print_audit(answer, screen.console, **who))
    return _exit_code(answer)


def _on_spark(
    path: str,
    asked: PromiseOptions,
    layout: ReadingOptions,
    bounds: LimitOptions,
    engine: EngineOptions,
    witnesses: int,
    screen: Screen,
) -> int:
    """The same for data that Spark reads and counts; each row, or each id of a long table, is one person."""
    section, checks = asked.section(layout.encoding)
    promised = section.make()
    with engine.held(path, layout) as data:
        known = data.vocabulary
        for check in checks:
            check(known)
        promised.check_meaningful(known)
        with screen.progress() as progress:
            answer = vs.audit(data, promised, witnesses=witnesses, progress=progress, **vars(bounds))
    facts = {**audit_facts(answer, merged=False), "engine": "spark"}
    screen.answer(facts, lambda: print_audit(answer, screen.console, merged=False))
    return _exit_code(answer)


def _exit_code(answer: vs.Audit) -> int:
    return 0 if answer.holds else 1 if answer.feasible else 3
