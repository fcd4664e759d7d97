"""Prints ``docs/cli.md``, the command-line reference, from the commands themselves (``make docs``)."""

from __future__ import annotations

import io
import sys

from cyclopts import App
from rich.console import Console

from veilset.cli import app

_HEAD = """# Command line

`make docs` generates this page from the commands; a test checks that it is current.

Exit codes: **0** the promise holds, **1** it does not (or a file of the release was changed), **2** wrong usage or
unreadable input, **3** infeasible, **4** undecided (a memory or time limit, an unknown schema), **70** a bug in
Veilset, or a library that cannot be loaded, **130** interrupted. They do not depend on standard output: if it is
closed, or its reader leaves, the rest of the output is dropped. Only if a full disk loses the answer, **0** becomes
**2**.

Output is text on a terminal, with progress on stderr. It is JSON when piped or with `--json`; `--text` prints text even
into a pipe. Errors go to one stream. With `--json` an error is JSON on stdout
(`{"error": {"what": …, "next_step": …, "exit_code": …}}`) and stderr stays empty. Otherwise it is text on stderr, and
stdout gets no result. Options are checked before data is read.
"""


def _commands(of: App) -> list[str]:
    """All commands, in the order of the help page; of one that has others, those."""
    named = sorted((str(of[name].sort_key or 0), name) for name in of if not name.startswith("-"))
    return [f"{name} {inner}".strip() for _, name in named for inner in _commands(of[name]) or [""]]


def reference() -> str:
    """The reference as Markdown."""
    sections = [_HEAD]
    for command in _commands(app):
        text = io.StringIO()
        app.help_print(command.split(), console=Console(file=text, width=100, no_color=True, force_terminal=False))
        body = "\n".join(line.rstrip() for line in text.getvalue().splitlines()).strip("\n")
        sections.append(f"## veilset {command}\n\n```text\n{body}\n```\n")
    return "\n".join(sections)


if __name__ == "__main__":
    sys.stdout.write(reference())
