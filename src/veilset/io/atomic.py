"""Writing that is there as a whole or not at all.

A folder is built in a hidden sibling that only its owner can open, flushed to the disk, and renamed. A crash leaves the
old folder or none; what it leaves of the sibling is cleared away by the next run.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import gzip
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from veilset.errors import UnreadableInput, WrongUsage

__all__ = ["atomic_folder", "check_place", "sha256_of", "write_durably", "write_whole"]

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
    """Write a file, packed if its name ends in ``.gz``; a crash leaves the old one or the new one, never a part."""
    if path.suffix == ".gz":
        content = gzip.compress(content, mtime=0)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.unfinished-", dir=path.parent)
    except OSError as error:
        raise UnreadableInput(f"Cannot write {str(path)!r}: {error.strerror}.", "Choose another place.") from None
    os.close(handle)
    unfinished = Path(name)
    try:
        write_durably(unfinished, content)
        unfinished.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
        unfinished.replace(path)
    except OSError as error:
        raise UnreadableInput(f"Cannot write {str(path)!r}: {error.strerror}.", "Choose another place.") from None
    finally:
        unfinished.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def check_place(target: Path, *, replace: bool) -> None:
    """Raise if no folder *target* can be made; worth asking before long work whose result is to go there."""
    if os.path.lexists(target) and not replace:
        raise WrongUsage(f"{str(target)!r} exists already.", "Choose another --out, or say --replace to exchange it.")
    if os.path.lexists(target) and (target.is_symlink() or not target.is_dir()):
        raise WrongUsage(f"{str(target)!r} is not a folder.", "Choose another --out.")
    parent = target.absolute().parent
    if not parent.is_dir():
        raise UnreadableInput(f"The folder {str(parent)!r} does not exist.", "Create it, or choose another --out.")
    if not os.access(parent, os.W_OK):
        raise UnreadableInput(f"Cannot write to {str(parent)!r}.", "Choose another --out.")


@contextlib.contextmanager
def atomic_folder(target: Path, *, replace: bool = False) -> Iterator[Path]:
    """A folder to write into, which becomes *target* when the block ends, and vanishes if it raises.

    An existing *target* is refused unless *replace*; then the two are exchanged in one step and the old one is removed.
    """
    target = Path(os.path.abspath(target))  # noqa: PTH100 - resolve() would follow a link that is to be replaced
    check_place(target, replace=replace)
    prefix = f".{target.name}.unfinished-"
    _clear_away_crashed(target.parent, prefix)
    try:
        staging, lock = _locked_folder(target.parent, prefix)
    except OSError as error:
        raise UnreadableInput(
            f"Cannot write to {str(target.parent)!r}: {error.strerror}.", "Choose another --out."
        ) from None
    try:
        yield staging
        for folder in [staging, *(p for p in staging.rglob("*") if p.is_dir())]:
            _flush_folder(folder)
        _exchange_or_rename(staging, target, replace)
        _flush_folder(target.parent)
    finally:
        # After an exchange the old folder stands here, after a failure the unfinished one; after a rename nothing.
        shutil.rmtree(staging, ignore_errors=True)
        os.close(lock)


def _locked_folder(parent: Path, prefix: str) -> tuple[Path, int]:
    """A new folder, mode 0700, and the lock that says "alive" to `_clear_away_crashed`."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        with contextlib.suppress(FileNotFoundError):  # another run took it for a dead one's before it was locked
            lock = os.open(folder, os.O_RDONLY)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if folder.exists():
                return folder, lock
            os.close(lock)


def _exchange_or_rename(staging: Path, target: Path, replace: bool) -> None:
    if not os.path.lexists(target):
        os.rename(staging, target)  # noqa: PTH104 - fails if somebody put a non-empty folder there meanwhile
        return
    if not replace:
        raise WrongUsage(f"{str(target)!r} was created meanwhile.", "Choose another --out, or say --replace.")
    if _exchange(staging, target):
        return
    # No atomic exchange on this file system: move the old one aside first. A crash in between leaves none.
    aside = Path(tempfile.mkdtemp(prefix=f".{target.name}.unfinished-", dir=target.parent))
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


def _clear_away_crashed(folder: Path, prefix: str) -> None:
    """Remove what killed runs left behind. A folder whose lock can be had belongs to nobody alive."""
    for left in folder.iterdir():
        if not left.name.startswith(prefix):
            continue
        try:
            lock = os.open(left, os.O_RDONLY)
        except OSError:
            continue  # removed by its owner meanwhile, or not ours to open
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            continue  # its owner is at work
        else:
            shutil.rmtree(left, ignore_errors=True)
        finally:
            os.close(lock)


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
