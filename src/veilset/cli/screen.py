"""What a command shows: text and progress for a person, JSON for a program; errors in one form."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from rich.console import Console, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from veilset.cli.flags import in_flags
from veilset.errors import InvalidArgument, VeilsetError
from veilset.limits import Progress as ProgressCallback
from veilset.report import print_reading, visible
from veilset.transactions import Transactions


class Screen:
    """Where a command's output goes."""

    def __init__(self, *, json: bool) -> None:
        self.json = json
        # A name such as :beer: is shown as it is.
        self.console = Console(highlight=False, emoji=False)
        self.errors = Console(stderr=True, highlight=False, emoji=False)

    @classmethod
    def of(cls, json: bool, text: bool = False) -> Screen:
        """JSON if asked for, or if the output is piped and *text* was not asked for."""
        if json and text:
            raise InvalidArgument("--json and --text cannot be combined.", "Give one of them.")
        return cls(json=json or not (text or sys.stdout.isatty()))

    @staticmethod
    def escape(text: object) -> str:
        """Anything as text inside markup: it is no markup itself, and a stranger's file cannot steer the terminal."""
        return escape("\n".join(map(visible, str(text).split("\n"))))

    def say(self, text: str) -> None:
        """Print text with rich markup."""
        self.console.print(text, soft_wrap=True)

    def show(self, how: Callable[[], None]) -> None:
        """Show something on the way, to a person only."""
        if not self.json:
            how()

    def show_reading(self, data: Transactions) -> None:
        """Show how data was read, with options as flags."""
        self.show(lambda: print_reading(data, self.console, in_flags))

    def answer(self, facts: dict[str, Any], how: Callable[[], None]) -> None:
        """Give the final answer: as JSON, or as *how* shows it."""
        if self.json:
            _write(facts)
        else:
            how()

    def refuse(self, facts: dict[str, Any], how: Callable[[], None], error: VeilsetError) -> int:
        """Show what leads to an error, and the error; its exit code."""
        what, next_step = error.spelled(in_flags)
        if self.json:
            _write({**facts, "error": {"what": what, "next_step": next_step, "exit_code": error.exit_code}})
        else:
            how()
            self.fail(what, next_step, error.exit_code)
        return error.exit_code

    def note(self, sentence: str, *, aside: bool = False) -> None:
        """Say what happens, with the time; on stderr if stdout is for something else."""
        console = self.errors if self.json or aside else self.console
        console.print(f"{datetime.now():%H:%M:%S} {self.escape(sentence)}", soft_wrap=True)

    @contextmanager
    def live(self) -> Iterator[Callable[[RenderableType], None]]:
        """Something on stderr that changes while the block runs, if somebody is looking."""
        if not self.errors.is_terminal:
            yield lambda shown: None
            return
        with Live(console=self.errors, transient=True) as shown:
            yield shown.update

    def fail(self, what: str, next_step: str, exit_code: int) -> None:
        """The one error form: what failed, the value received, what to do next; JSON on stdout, text on stderr."""
        if self.json:
            _write({"error": {"what": what, "next_step": next_step, "exit_code": exit_code}})
            return
        self.errors.print(f"[bold red]Error:[/] {self.escape(what)}\n{self.escape(next_step)}".rstrip(), soft_wrap=True)

    def confirm(self, question: str) -> bool:
        """Ask a person, on stderr: stdout may be piped. A program says no, and so does the end of the input."""
        if self.json or not sys.stdin.isatty():
            return False
        try:
            answer = self.errors.input(f"[bold yellow]{self.escape(question)}[/] {escape('[y/N]')} ")
        except EOFError:
            self.errors.print()
            return False
        return answer.strip().lower() in {"y", "yes"}

    @contextmanager
    def progress(self) -> Iterator[ProgressCallback | None]:
        """A progress bar on stderr while the block runs, if somebody is looking."""
        if not self.errors.is_terminal:
            yield None
            return
        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        with Progress(*columns, console=self.errors, transient=True) as bar:
            task = bar.add_task("Working", total=None)

            def report(what: str, done: int, total: int) -> None:
                bar.update(task, description=what, completed=done, total=total or None)

            yield report


def _write(facts: dict[str, Any]) -> None:
    """As JSON to stdout; characters that it may lack are written as JSON escapes them."""
    has_all = (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    with _all_digits():
        sys.stdout.write(json.dumps(facts, indent=2, ensure_ascii=not has_all) + "\n")


@contextmanager
def _all_digits() -> Iterator[None]:
    """Python writes out no whole number of thousands of digits unless told to; numbers of itemsets can have them."""
    most = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(most)
