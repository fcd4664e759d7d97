"""Writing that is there as a whole or not at all.

A folder or a file is built in a hidden sibling that only its owner can open, flushed to the disk, and renamed. A crash
leaves the old one or none; what it leaves of the sibling is cleared away by the next run.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import gzip
import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO, BinaryIO

import pyarrow as pa

from veilset.errors import CannotWrite, InvalidArgument, said

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def sha256_of(content: bytes | Path) -> str:
    """The sha256 of bytes, or of a file."""
    if isinstance(content, bytes):
        return hashlib.sha256(content).hexdigest()
    with content.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def write_durably(path: Path, content: bytes | str) -> None:
    """Write a file and flush it to the disk."""
    with path.open("wb") as stream:
        stream.write(content.encode() if isinstance(content, str) else content)
        stream.flush()
        os.fsync(stream.fileno())


def write_whole(path: Path, content: bytes) -> None:
    """Write a file, packed as its name says; a crash leaves the old one or the new one, never a part."""
    with atomic_file(path, replace=True) as file, packed(file, path) as stream:
        stream.write(content)


@contextlib.contextmanager
def packed(file: IO[bytes], name: str | Path) -> Iterator[IO[bytes]]:
    """A stream whose bytes go into *file*, compressed as *name* says (``.gz``, ``.zst``)."""
    kind = Path(name).suffix.lower()
    if kind == ".gz":
        with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as stream:
            yield stream  # type: ignore[misc]
    elif kind == ".zst":
        with pa.CompressedOutputStream(_KeptOpen(file), "zstd") as stream:
            yield stream
    else:
        yield file


class _KeptOpen:
    """A file to write to that is not closed together with what writes to it."""

    closed = False

    def __init__(self, file: IO[bytes]) -> None:
        self.write, self.flush = file.write, file.flush

    def close(self) -> None:
        """Not yet."""


@contextlib.contextmanager
def atomic_file(path: Path, *, replace: bool = False) -> Iterator[BinaryIO]:
    """A stream to write into, which becomes the file *path* when the block ends, and vanishes if it raises.

    An existing *path* is refused unless *replace*; then its place is taken in one step, and its permissions stay.
    """
    if not replace:
        check_place(path, replace=False, folder=False)
    try:
        with _unfinished(path, folder=False) as unfinished:
            with unfinished.open("wb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            unfinished.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
            if not replace and os.path.lexists(path):
                raise _created_meanwhile(path)
            unfinished.replace(path)
            _confirm(path)
    except OSError as error:
        reason = error.strerror or error
        raise CannotWrite(f"Cannot write {str(path)!r}: {reason}.", "Choose another path.") from None


def _created_meanwhile(target: Path) -> InvalidArgument:
    return InvalidArgument(
        f"{str(target)!r} was created in the meantime.", f"Choose another path, or use {said('replace', True)}."
    )


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def check_place(target: Path, *, replace: bool, folder: bool = True) -> None:
    """Raise if no folder (or file) *target* can be made; worth asking before long work whose result is to go there."""
    if os.path.lexists(target) and not replace:
        raise InvalidArgument(
            f"{str(target)!r} already exists.", f"Choose another path, or use {said('replace', True)} to replace it."
        )
    if os.path.lexists(target) and (target.is_symlink() or not (target.is_dir() if folder else target.is_file())):
        raise InvalidArgument(f"{str(target)!r} is not a {'folder' if folder else 'file'}.", "Choose another path.")
    parent = target.absolute().parent
    if not parent.is_dir():
        raise CannotWrite(f"The folder {str(parent)!r} does not exist.", "Create it, or choose another path.")
    if not os.access(parent, os.W_OK):
        raise CannotWrite(f"Cannot write to {str(parent)!r}.", "Choose another path.")


@contextlib.contextmanager
def atomic_folder(target: Path, *, replace: bool = False) -> Iterator[Path]:
    """A folder to write into, which becomes *target* when the block ends, and vanishes if it raises.

    An existing *target* is refused unless *replace*; then the two are exchanged in one step and the old one is removed.
    """
    target = Path(os.path.abspath(target))  # noqa: PTH100 - resolve() would follow a link that is to be replaced
    check_place(target, replace=replace)
    with contextlib.ExitStack() as stack:
        try:
            staging = stack.enter_context(_unfinished(target, folder=True))
        except OSError as error:
            where, reason = str(target.parent), error.strerror
            raise CannotWrite(f"Cannot write to {where!r}: {reason}.", "Choose another path.") from None
        yield staging
        for folder in [staging, *(p for p in staging.rglob("*") if p.is_dir())]:
            _flush_folder(folder)
        _exchange_or_rename(staging, target, replace)
        _confirm(target)


@contextlib.contextmanager
def _unfinished(target: Path, *, folder: bool) -> Iterator[Path]:
    """A hidden sibling of *target* that only its owner can open; when the block ends, it is renamed or removed."""
    _clear_away_crashed(target)
    made, lock = _locked(target, folder=folder)
    try:
        yield made
    finally:
        _remove(made)  # after an exchange the old folder stands here
        os.close(lock)


def _remove(left: Path) -> None:
    if left.is_dir():
        shutil.rmtree(left, ignore_errors=True)
    else:
        left.unlink(missing_ok=True)


def _locked(target: Path, *, folder: bool) -> tuple[Path, int]:
    """A new folder or file, and the lock that says "alive" to `_clear_away_crashed`."""
    while True:
        made = _made(target, folder=folder)
        with contextlib.suppress(FileNotFoundError):  # another run took it for a dead one's before it was locked
            lock = os.open(made, os.O_RDONLY)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if made.exists():
                return made, lock
            os.close(lock)


def _made(target: Path, *, folder: bool) -> Path:
    made = target.with_name(f".{target.name}.unfinished-{secrets.token_hex(16)}")
    if folder:
        made.mkdir(mode=0o700)
    else:
        os.close(os.open(made, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    return made


def _is_ours(path: Path, target: Path) -> bool:
    """Whether `_made` gave it its name: nobody else calls something so, and it is no link."""
    name = re.escape(f".{target.name}.unfinished-") + "[0-9a-f]{32}"
    return re.fullmatch(name, path.name, re.DOTALL) is not None and not path.is_symlink()


def _exchange_or_rename(staging: Path, target: Path, replace: bool) -> None:
    if not os.path.lexists(target):
        os.rename(staging, target)  # noqa: PTH104 - fails if somebody put a non-empty folder there meanwhile
        return
    if not replace:
        raise _created_meanwhile(target)
    if _exchange(staging, target):
        return
    # No atomic exchange on this file system: move the old one aside first. A crash in between leaves none.
    aside = _made(target, folder=True)
    os.rename(target, aside)  # noqa: PTH104
    try:
        os.rename(staging, target)  # noqa: PTH104
    except OSError:
        os.rename(aside, target)  # noqa: PTH104
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _exchange(a: Path, b: Path) -> bool:
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if renameat2 is None:
        return False
    if renameat2(_AT_FDCWD, os.fsencode(a), _AT_FDCWD, os.fsencode(b), _RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.EINVAL, errno.ENOSYS):
        return False
    raise OSError(code, os.strerror(code), str(b))


def _clear_away_crashed(target: Path) -> None:
    """Remove what killed runs left behind. A folder or file whose lock can be had belongs to nobody alive."""
    try:
        there = list(target.parent.iterdir())
    except PermissionError:
        return  # a folder that may be written to but not listed
    for left in (path for path in there if _is_ours(path, target)):
        try:
            lock = os.open(left, os.O_RDONLY)
        except OSError:
            continue  # removed by its owner meanwhile, or not ours to open
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            continue  # its owner is at work
        else:
            _remove(left)
        finally:
            os.close(lock)


def _confirm(target: Path) -> None:
    """Flush the name that was just given; where the disk refuses, say what is true of it all the same."""
    try:
        _flush_folder(target.parent)
    except OSError as error:
        raise CannotWrite(
            f"{str(target)!r} was written completely, but the disk did not confirm that it would survive a power "
            f"failure: {error.strerror or error}.",
            "Check the disk, then check that the file is still there.",
        ) from None


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
