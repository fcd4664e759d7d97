"""``veilset verify``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import veilset as vs
from veilset.cli.app import app
from veilset.cli.engines import EngineOptions
from veilset.cli.forms import Natural
from veilset.cli.options import Json, LimitOptions, Text
from veilset.cli.screen import Screen
from veilset.report import audit_facts, print_audit, verdict


@app.command(sort_key=3)
def verify(
    path: Path,
    /,
    *,
    limits: LimitOptions | None = None,
    witnesses: Natural = 20,
    clean_copy: Path | None = None,
    engine: EngineOptions | None = None,
    json: Json = False,
    text: Text = False,
) -> int:
    """Read a release again and count whether it keeps its promise.

    The public folder is enough. Only hidden patterns and rules are secret: checking them needs the whole release, with
    the custodian folder.

    Exit code 0: the promise holds; 1: it does not, or a file was changed; 2: a file is missing or unreadable.
    Exit code 4: undecided, or not everything could be checked (verdicts sealed, unchecked and unknown-schema).

    Example:

        veilset verify release/public

        veilset verify release/public --engine spark --master local[4]

    Parameters
    ----------
    path
        Release folder, or its public folder.
    witnesses
        Number of violations to list.
    clean_copy
        Folder to write the values of the release to anew, if they keep the promise; the answer is about the copy.
    """
    screen = Screen.of(json, text)
    bounds = limits or LimitOptions()
    with (engine or EngineOptions()).started() as place, screen.progress() as progress:
        found = vs.verify(
            path,
            engine=place,
            witnesses=witnesses,
            clean_copy=clean_copy,
            announce=lambda sentence: screen.show(lambda: screen.note(sentence, aside=True)),
            progress=progress,
            **vars(bounds),
        )
    facts: dict[str, Any] = {"verdict": found.verdict, "message": found.message, "holds": found.holds}
    if found.unchecked:
        facts["unchecked"] = list(found.unchecked)
    answer, certificate = found.audit, found.certificate
    merged = certificate is not None and certificate.merged
    unknown = certificate is not None and certificate.unknown
    if certificate is not None and certificate.sealed:
        # The answer has the list that is the secret, and facts end up in logs: no more is told than in public.
        facts["certificate"] = certificate.model_dump(mode="json")
    elif answer is not None:
        facts["audit"] = audit_facts(answer, merged=merged, unknown=unknown)

    def show() -> None:
        empty = answer is not None and answer.excludes_nothing
        colour = "yellow" if found.exit_code == 4 or (found.holds and empty) else "green" if found.holds else "red"
        screen.say(f"[bold {colour}]{found.verdict.upper()}[/]  {screen.escape(found.message)}")
        if found.verdict == "unchecked":
            screen.say("Write a clean copy with --clean-copy OUT.")
        if answer is not None and answer.holds:
            if not empty:  # the message says it
                screen.say(screen.escape(verdict(answer, merged=merged, unknown=unknown)))
        elif answer is not None:
            print_audit(answer, screen.console, merged=merged, unknown=unknown)

    screen.answer(facts, show)
    return found.exit_code
