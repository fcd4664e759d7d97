"""Reads mutated files of one kind of source in a process of its own, as `tests.attacks.test_search_sources` does.

Run with ``-m``, and: the kind of file, how many mutants, a folder. An audit hook sees every file that is opened and
every connection that is made: anything outside of what was chosen ends the process. Prints, as JSON, how often each
kind of answer was given.
"""

import json
import random
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.browsers import LATELY, chromium, chromium_bookmarks, exported_bookmarks, firefox
from tests.support.mail import mbox, message
from tests.support.mutating import bound_memory, mutated
from tests.support.papers import PAGE, pdf, word
from veilset.errors import UnreadableInput
from veilset.search.exclusions import Exclusions
from veilset.search.sources import extracting
from veilset.search.sources.extracting import Extracted, Unextractable
from veilset.search.sources.reading import read_source
from veilset.search.sources.source import Notes, Source

ROOM = 1 << 29  # bytes that reading a file may take
PATIENCE = 60  # seconds for one file; then the system ends the process
NEIGHBOUR = "outside of what was chosen"

PAGES = [(f"https://example.org/{n}?q={n}", f"Page {n} on jazz", LATELY) for n in range(40)]
MESSAGES = [
    message("Jazz at eight.\n> No?\n", number=1, html="<p>Jazz</p><blockquote>No</blockquote>"),
    message("Über", number=2, subject="Überraschung", attached={"a.txt": b"cello", "b.pdf": pdf("violin")}),
]
MARKDOWN = b"---\nkey: value\n---\n# Jazz\n\n[link](https://example.org) <b>bold</b>\n"


def _written(make: Callable[[Path], object]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "seed"
        make(path)
        return path.read_bytes()


SEEDS: dict[str, tuple[str, str, Callable[[], list[bytes]]]] = {
    "firefox": ("firefox", "places.sqlite", lambda: [_written(lambda path: firefox(path, PAGES, marked=PAGES[:5]))]),
    "chromium": ("chromium", "History", lambda: [_written(lambda path: chromium(path, PAGES))]),
    "bookmarks of Firefox": (
        "bookmarks",
        "places.sqlite",
        lambda: [_written(lambda path: firefox(path, [], marked=PAGES))],
    ),
    "bookmarks of Chromium": (
        "bookmarks",
        "Bookmarks",
        lambda: [_written(lambda path: chromium_bookmarks(path, PAGES))],
    ),
    "exported bookmarks": (
        "bookmarks",
        "bookmarks.html",
        lambda: [_written(lambda path: exported_bookmarks(path, PAGES))],
    ),
    "mbox": ("mbox", "box", lambda: [_written(lambda path: mbox(path, MESSAGES))]),
    "maildir": ("maildir", "cur/1", lambda: MESSAGES),
    "text": ("folder", "notes.txt", lambda: [b"Jazz and cello\n", "Ünïcode".encode("utf-16")]),
    "Markdown": ("folder", "notes.md", lambda: [MARKDOWN]),
    "HTML": ("folder", "page.html", lambda: [PAGE.encode()]),
    "PDF": ("folder", "paper.pdf", lambda: [pdf("violin", title="Violins"), pdf("violin", locked="")]),
    "docx": ("folder", "letter.docx", lambda: [word("trumpet", title="Trumpets")]),
}
"""What each kind of file is: the kind of its source, its name in the chosen folder, and whole ones."""


WATCHED = ("open", "sqlite3.connect", "socket.connect", "subprocess.Popen", "os.system")


class InThisProcess:
    """Reads files as `Extractor`, but here, where the audit hook sees it."""

    def extracted(self, suffix: str, content: bytes, most: int) -> Extracted:
        answer = json.loads(extracting._answer(suffix, content, most))
        if "refused" in answer:
            raise Unextractable(answer["refused"])
        return Extracted(**answer)


class Watch:
    """Ends the process when a file is opened that is none of ours, or a connection is made."""

    def __init__(self) -> None:
        self.may: tuple[str, ...] | None = None  # nothing is watched

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.may is None or event not in (
            "open",
            "socket.connect",
            "subprocess.Popen",
            "os.system",
            "sqlite3.connect",
        ):
            return
        told = str(arguments[0])
        libraries = (sys.prefix, sys.base_prefix, "/usr/", "/etc/", "/proc/")
        if event not in WATCHED[:2] or (told.startswith("/") and not told.startswith((*self.may, *libraries))):
            watched, self.may = (event, arguments), None
            raise SystemExit(f"This is nothing that was chosen: {watched}")


def main(kind: str, count: int, folder: Path) -> None:
    """Read *count* mutants; anything but documents or a plain refusal ends with a traceback."""
    source_kind, name, seeds_of = SEEDS[kind]
    dice, seeds, watch = random.Random(kind), seeds_of(), Watch()
    chosen = folder / "chosen"
    (chosen / name).parent.mkdir(parents=True)
    for neighbour in ("secret.txt", "places.sqlite", "History"):
        (folder / neighbour).write_text(NEIGHBOUR)
    (chosen / "link.txt").symlink_to(folder / "secret.txt")
    source = Source(
        "mine", source_kind, chosen if source_kind in ("maildir", "folder") else chosen / name, attachments=True
    )
    answers: Counter[str] = Counter(_read(source, chosen / name, seed) for seed in seeds)  # all code is loaded
    if set(answers) != {"read"}:
        raise AssertionError(f"The seeds of {kind} cannot all be read: {answers}.")
    sys.addaudithook(watch)
    watch.may = (str(chosen), tempfile.gettempdir() + "/veilset-")
    bound_memory(4 * ROOM)
    for _ in range(count):
        near_ends = source_kind in ("firefox", "chromium") or kind in ("PDF", "docx", "bookmarks of Firefox")
        mutant = mutated(dice.choice(seeds), dice.choice(seeds), dice, near_ends=near_ends and dice.random() < 0.5)
        answers[_read(source, chosen / name, mutant)] += 1
    watch.may = None
    sys.stdout.write(json.dumps(answers))


def _read(source: Source, path: Path, content: bytes) -> str:
    path.write_bytes(content)
    notes = Notes()
    signal.alarm(PATIENCE)
    try:
        found = read_source(source, Exclusions(), notes, InThisProcess())
    except UnreadableInput as error:
        if not (error.what and error.next_step):
            raise
        return "refused"
    finally:
        signal.alarm(0)
    assert all(why for _, why in notes.passed_over)
    assert not [one for one in found if NEIGHBOUR in f"{one.title} {one.text}"]
    assert all(one.key.isascii() or one.key.startswith("http") for one in found)
    return "passed over" if notes.passed_over else "read"


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
