"""Pages and screens as text for snapshots: what a reader reads, without what differs from run to run."""

import html
import re
from itertools import pairwise

from rich.console import Console

_BLOCKS = r"p|h\d|li|tr|caption|summary|section|header|footer|div|main|table|dt|dd|title"


def page_text(page: str) -> str:
    """The words of a page: a line for every element that stands by itself, cells of a row side by side."""
    page = re.sub(r"<(style|svg)\b.*?</\1>", "", page, flags=re.DOTALL)
    page = re.sub(r"\s+", " ", page)
    page = re.sub(r"</t[dh]>", " | ", page)
    page = re.sub(rf"</?({_BLOCKS})\b[^>]*>", "\n", page)
    lines = (html.unescape(re.sub(r"<[^>]+>", "", line)).strip(" |") for line in page.splitlines())
    return as_read("\n".join(line for line in lines if line))


def screen_text(show: object, *arguments: object, **options: object) -> str:
    """What a function of reports prints on a terminal of 80 columns."""
    console = Console(width=80, force_terminal=False)
    with console.capture() as capture:
        show(*arguments, console, **options)  # type: ignore[operator]
    text = as_read(capture.get())
    assert max(map(len, text.splitlines())) <= 80
    return text


def as_read(text: str) -> str:
    """What stands on a screen or a page, without the seconds that a run took and blanks that nobody sees."""
    text = re.sub(r"\b\d+\.\d(?=\s+s(econds)?\b)", "#.#", text)
    text = re.sub(r"(?m)( \| (?:chosen|same loss|more loss) \| )\d+\.\d$", r"\1#.#", text)
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


def check_accessible(page: str, *, charts: int = 2) -> None:
    """Headings leave no level out, tables and their cells have heads, and at least so many charts say what they are."""
    levels = [int(level) for level in re.findall(r"<h([1-6])", page)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert page.count("<table") == page.count("<caption>")
    assert all("scope=" in cell for cell in re.findall(r"<th\b[^>]*>", page))
    assert page.count("<svg") == page.count('role="img" aria-label="') >= charts


def check_escaped(page: str) -> None:
    """A page with the nasty name of the shop has it as text."""
    assert "&lt;script&gt;alert(&#39;x&#39;)" in page
    assert "<script" not in page
    assert "\x1b" not in page
