"""The files of a release, each opened once: what is hashed, read, compared and audited comes through one opening.

Replacing the release meanwhile changes nothing: opened files outlive their names. Links, folders, pipes, sockets and
devices are never opened, and no file is taken into memory before its size is known.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from veilset.errors import UnreadableInput
from veilset.limits import Limits
from veilset.publish.certificate import MOST_PARTS
from veilset.publish.public import CERTIFICATE, PARTS, REPORT, SUMS
from veilset.publish.recipe import RECIPE
from veilset.publish.verification import Refused

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_TABLE = re.compile(r"(data|anatomy)\.[a-z]{1,8}")
_PART = re.compile(r"part-[0-9]{5}\.parquet")
_MOST_NAMES = 50  # of a folder that are looked at; a release has five files
_ATTEMPTS = 100  # to find a release that is not being replaced
_LARGEST = 1 << 28  # bytes of a text that is read as a whole
_BLOCK = 1 << 22
_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


@dataclass(frozen=True)
class HeldFile:
    """An opened file."""

    name: str
    descriptor: int
    size: int
    changed: int

    @property
    def path(self) -> Path:
        """A path that leads to what was opened, whatever its name stands for by now."""
        return Path(f"/dev/fd/{self.descriptor}")

    def check_size(self, limits: Limits, room: int) -> None:
        """Raise unless it can be taken into memory; *room*: how many times its size understanding it takes."""
        if self.size > _LARGEST:
            raise Refused("malformed", f"{self.name} has {self.size:,} bytes, more than Veilset ever writes there.")
        limits.require(room * self.size, f"Reading {self.name}", "use a machine with more memory.")

    def read(self, limits: Limits, room: int = 2) -> bytes:
        """All of a small file."""
        self.check_size(limits, room)
        return b"".join(self._blocks(limits))

    def sha256(self, limits: Limits) -> str:
        """The sum of all its bytes."""
        digest = hashlib.sha256()
        for block in self._blocks(limits):
            digest.update(block)
        return digest.hexdigest()

    def check_unchanged(self) -> None:
        """Raise if somebody has written to it since it was opened."""
        now = os.fstat(self.descriptor)
        if (now.st_size, now.st_mtime_ns) != (self.size, self.changed):
            raise Refused("altered", f"{self.name} was changed while it was being verified.")

    def _blocks(self, limits: Limits) -> Iterator[bytes]:
        at = 0
        while block := os.pread(self.descriptor, min(_BLOCK, self.size - at), at):
            limits.check_time(f"Reading {self.name}", "split the release.")
            yield block
            at += len(block)


@dataclass
class Held:
    """The files of a release.

    Parameters
    ----------
    path : str
        The folder with the public files, for messages.
    files : dict
        What has the name of a file of a release, and is one.
    others : dict
        What else is there, and what kind of thing it is.
    custodian : str or None
        The custodian's folder, for messages; None if only the public files were given.
    recipe : HeldFile, str or None
        The recipe in it; another kind of thing in its place; None: there is none, or no such folder.
    """

    path: str
    files: dict[str, HeldFile] = field(default_factory=dict)
    others: dict[str, str] = field(default_factory=dict)
    custodian: str | None = None
    has_custodian: bool = False
    recipe: HeldFile | str | None = None

    @property
    def absolute_path(self) -> str:
        """The folder with the public files, for others who look at the same file system."""
        return os.path.abspath(self.path)  # noqa: PTH100 - resolve() would follow links

    def add(self, name: str, found: HeldFile | str | None) -> None:
        """Note what was found under a name; None: nothing."""
        if isinstance(found, HeldFile):
            self.files[name] = replace(found, name=name)
        elif found is not None:
            self.others[name] = found

    def expect(self, name: str) -> HeldFile:
        """The file of this name, which a release must have."""
        if name in self.files:
            return self.files[name]
        if name in self.others:
            raise Refused("malformed", f"{name} is {self.others[name]}, not a file. It was not opened.")
        raise Refused("incomplete", f"{name} is missing from {self.path!r}. Ask for the complete release.")

    def check_unchanged(self) -> None:
        """Raise if a file has changed since it was opened."""
        for file in self.files.values():
            file.check_unchanged()


@contextlib.contextmanager
def held(path: Path) -> Iterator[Held]:
    """The release at *path*, a bundle or its public folder, as it is now.

    If it is being replaced, this is the old one or the new one, never parts of both.
    """
    for _ in range(_ATTEMPTS):
        with contextlib.ExitStack() as stack:
            folder = _entered(path, stack)
            try:
                found = _found(path, folder, stack)
            except OSError as error:
                if _is_still(path, folder):
                    raise Refused(
                        "malformed", f"A file of the release cannot be read: {error}. Check the permissions."
                    ) from None
                continue
            if not _is_still(path, folder):
                continue
            yield found
            return
    raise Refused("incomplete", f"{str(path)!r} is being replaced again and again. Verify it later.")


def _entered(path: Path, stack: contextlib.ExitStack) -> int:
    try:
        folder = os.open(path, _FOLDER)
    except (FileNotFoundError, NotADirectoryError, ValueError):  # a path with a zero byte
        raise UnreadableInput(
            f"There is no release at {str(path)!r}.", "Give a release folder or its public/ folder."
        ) from None
    except OSError as error:
        raise UnreadableInput(f"{str(path)!r} cannot be read: {error.strerror}.", "Check its permissions.") from None
    stack.callback(os.close, folder)
    return folder


def _is_still(path: Path, folder: int) -> bool:
    """Whether the path leads to the folder that was opened."""
    try:
        return os.path.samestat(path.stat(), os.fstat(folder))
    except OSError:
        return False


def _found(path: Path, folder: int, stack: contextlib.ExitStack) -> Held:
    public, kind = _subfolder("public", folder, stack)
    if kind == "a folder":
        release = Held(str(path / "public"), custodian=str(path / "custodian"))
        custodian, kind = _subfolder("custodian", folder, stack)
        release.has_custodian = kind is not None
        release.recipe = _file(RECIPE, custodian, stack) if kind == "a folder" else kind
        with os.scandir(folder) as entries:  # the folder that somebody handed over may hold another one
            beside = {entry.name for entry in islice(entries, _MOST_NAMES)} - {"public", "custodian"}
        if beside:
            raise Refused("altered", f"{min(beside)!r} does not belong beside the folders of a release. Move it away.")
    elif kind == "a symbolic link":
        raise Refused("malformed", f"{str(path / 'public')!r} is {kind}, not a folder. It was not opened.")
    else:
        release, public = Held(str(path)), folder
    with os.scandir(public) as entries:
        names = {entry.name for entry in islice(entries, _MOST_NAMES)}
    for name in sorted({*names, CERTIFICATE, REPORT, SUMS}):
        ours = name in (CERTIFICATE, REPORT, SUMS) or _TABLE.fullmatch(name)
        release.add(name, _file(name, public, stack) if ours else _kind(name, public))
    if release.others.get(PARTS) == "a folder":
        _add_parts(release, public, stack)
    return release


def _add_parts(release: Held, public: int, stack: contextlib.ExitStack) -> None:
    """What is in the folder of data in parts, whose names begin with it."""
    folder, kind = _subfolder(PARTS, public, stack)
    with os.scandir(folder) as entries:
        names = {entry.name for entry in islice(entries, MOST_PARTS + _MOST_NAMES)}
    if kind == "a folder" and names:
        del release.others[PARTS]
    for name in sorted(names):
        found = _file(name, folder, stack) if _PART.fullmatch(name) else _kind(name, folder)
        release.add(f"{PARTS}/{name}", found)


def _subfolder(name: str, folder: int, stack: contextlib.ExitStack) -> tuple[int, str | None]:
    """The folder of this name, opened if it is one, and what kind of thing it is."""
    kind = _kind(name, folder)
    if kind != "a folder":
        return -1, kind
    opened = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
    stack.callback(os.close, opened)
    return opened, kind


def _kind(name: str, folder: int) -> str | None:
    """What kind of thing has this name; None: nothing has."""
    try:
        return _word(os.stat(name, dir_fd=folder, follow_symlinks=False))
    except FileNotFoundError:
        return None


def _word(about: os.stat_result) -> str:
    return _KINDS.get(stat.S_IFMT(about.st_mode), "a file")


@contextlib.contextmanager
def opened_alone(path: str, name: str) -> Iterator[HeldFile]:
    """One file of a release, opened by itself, under the *name* that it has there."""
    with contextlib.ExitStack() as stack:
        file, place = Path(path).name, Path(path).parent
        folder = os.open(place, _FOLDER | os.O_NOFOLLOW)
        stack.callback(os.close, folder)
        found = _file(file, folder, stack)
        if not isinstance(found, HeldFile):
            raise Refused("incomplete", f"{name} is {found or 'missing'}{', not a file' * bool(found)}.")
        yield replace(found, name=name)


def _file(name: str, folder: int, stack: contextlib.ExitStack) -> HeldFile | str | None:
    """The file of this name, opened; what kind of thing it is if it is none; None if there is nothing."""
    kind = _kind(name, folder)
    if kind != "a file":
        return kind
    try:
        descriptor = os.open(name, _FILE, dir_fd=folder)
    except FileNotFoundError:
        return None
    stack.callback(os.close, descriptor)
    now = os.fstat(descriptor)  # it may have become something else in between
    kind = _word(now)
    return HeldFile(name, descriptor, now.st_size, now.st_mtime_ns) if kind == "a file" else kind
