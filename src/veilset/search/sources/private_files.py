"""Files of a folder that the user chose, and of no other: links are not followed, wherever they are put meanwhile."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from veilset.errors import UnreadableInput
from veilset.search.sources.source import Notes

_DEEPEST = 60  # folders within folders


class Refused(Exception):
    """Why a file is not read."""


@dataclass(frozen=True)
class Found:
    """A file below a chosen folder. It can be read as long as it is the current one of `files_below`."""

    path: Path
    size: int
    changed: float
    _name: str
    _folder: int

    def read(self, most: int) -> bytes:
        """Its content; `Refused` if there is more of it."""
        if self.size > most:
            raise Refused(f"it is larger than {most // 10**6} MB")
        try:
            opened = os.open(self._name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=self._folder)
        except OSError as error:
            raise Refused(f"it cannot be opened: {error.strerror}") from None
        with os.fdopen(opened, "rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise Refused("it is no file")
            try:
                content = stream.read(most + 1)
            except OSError as error:
                raise Refused(f"it cannot be read: {error.strerror}") from None
        if len(content) > most:
            raise Refused(f"it is larger than {most // 10**6} MB")
        return content


def files_below(chosen: Path, notes: Notes, *, hidden: bool) -> Iterator[Found]:
    """The regular files in a folder and below it, in the order of their names; *hidden* ones if asked for."""
    try:
        top = chosen.resolve(strict=True)
        os.close(os.open(top, os.O_RDONLY | os.O_DIRECTORY))
    except (OSError, RuntimeError) as error:  # a circle of links
        reason = error.strerror if isinstance(error, OSError) else "links in a circle"
        raise UnreadableInput(f"The folder {str(chosen)!r} cannot be read: {reason}.", "Check the path.") from None

    def unreadable(error: OSError) -> None:
        notes.pass_over(str(error.filename), f"the folder cannot be read: {error.strerror}")

    for folder, folders, files, descriptor in os.fwalk(top, onerror=unreadable, follow_symlinks=False):
        here = Path(folder)
        folders[:] = [name for name, _ in _seen(folders, descriptor, notes, "" if hidden else "hidden folder")]
        if len(here.parts) - len(top.parts) >= _DEEPEST and folders:
            notes.pass_over(folder, f"its folders are more than {_DEEPEST} deep")
            folders.clear()
        for name, state in _seen(files, descriptor, notes, "" if hidden else "hidden file"):
            if stat.S_ISREG(state.st_mode):
                yield Found(here / name, state.st_size, state.st_mtime, name, descriptor)
            else:
                notes.left_out["no file"] += 1


def _seen(names: list[str], folder: int, notes: Notes, hidden: str) -> Iterator[tuple[str, os.stat_result]]:
    """The names in a folder that are no links, in order; those with a dot are left out as *hidden*, if it says so."""
    for name in sorted(names):
        if hidden and name.startswith("."):
            notes.left_out[hidden] += 1
        elif (state := _state(name, folder)) is None:
            notes.left_out["link, which is not followed"] += 1
        else:
            yield name, state


def _state(name: str, folder: int) -> os.stat_result | None:
    """What a name in a folder stands for; None: a link, or nothing any more."""
    try:
        state = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return None
    return None if stat.S_ISLNK(state.st_mode) else state
