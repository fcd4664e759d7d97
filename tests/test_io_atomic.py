"""Folders and files are there as a whole or not at all, also when the process is killed."""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from veilset.errors import UnreadableInput, WrongUsage
from veilset.io import atomic, atomic_file, atomic_folder, check_place, sha256_of, write_durably, write_whole
from veilset.transactions import Transactions

_STAYS_INSIDE = """
import sys, time
from pathlib import Path
from veilset.io import atomic_folder
with atomic_folder(Path(sys.argv[1]), replace=True) as staging:
    (staging / "half").write_text("half")
    print(staging, flush=True)
    time.sleep(600)
"""

_WRITES_A_FILE = """
import sys, time
from pathlib import Path
from veilset.io import atomic_file
with atomic_file(Path(sys.argv[1]), replace=True) as stream:
    stream.write(b"half")
    stream.flush()
    print(stream.name, flush=True)
    time.sleep(600)
"""


@contextlib.contextmanager
def process_inside(target: Path, script: str = _STAYS_INSIDE) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A process that is writing *target*, and its staging folder or file."""
    child = subprocess.Popen([sys.executable, "-c", script, str(target)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    with child.stdout:
        try:
            yield child, Path(child.stdout.readline().strip())
        finally:
            child.kill()
            child.wait()


def listing(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def old_release(tmp_path: Path) -> Path:
    target = tmp_path / "release"
    target.mkdir()
    (target / "old").write_text("old")
    return target


def test_a_finished_folder_is_private_and_complete(tmp_path: Path) -> None:
    with atomic_folder(tmp_path / "release") as staging:
        assert stat.S_IMODE(staging.stat().st_mode) == 0o700
        assert staging.parent == tmp_path
        (staging / "public").mkdir()
        write_durably(staging / "public" / "data", "text")
        assert not (tmp_path / "release").exists()
    assert listing(tmp_path) == ["release"]
    assert (tmp_path / "release" / "public" / "data").read_bytes() == b"text"
    assert stat.S_IMODE((tmp_path / "release").stat().st_mode) == 0o700


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_exception_leaves_nothing(tmp_path: Path, error: type[BaseException]) -> None:
    with pytest.raises(error), atomic_folder(tmp_path / "release") as staging:
        (staging / "half").touch()
        raise error
    assert listing(tmp_path) == []


def test_an_exception_leaves_the_old_folder(tmp_path: Path) -> None:
    target = old_release(tmp_path)
    with pytest.raises(RuntimeError), atomic_folder(target, replace=True):
        raise RuntimeError
    assert listing(tmp_path) == ["release"]
    assert listing(target) == ["old"]


def test_an_existing_folder_is_refused(tmp_path: Path) -> None:
    target = old_release(tmp_path)
    with pytest.raises(WrongUsage, match=r"release' exists already\. .*--replace"), atomic_folder(target):
        pytest.fail("the block must not run")
    assert listing(target) == ["old"]


def test_a_folder_created_meanwhile_is_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(WrongUsage, match="was created meanwhile"),
        atomic_folder(tmp_path / "release") as staging,
    ):
        (staging / "new").touch()
        old_release(tmp_path)
    assert listing(tmp_path) == ["release"]
    assert listing(tmp_path / "release") == ["old"]


@pytest.mark.parametrize("kind", ["file", "link", "pipe"])
def test_only_a_folder_is_replaced(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "release"
    if kind == "file":
        target.touch()
    elif kind == "link":
        target.symlink_to(tmp_path)
    else:
        os.mkfifo(target)
    with pytest.raises(WrongUsage, match="is not a folder"), atomic_folder(target, replace=True):
        pytest.fail("the block must not run")
    assert listing(tmp_path) == ["release"]


def test_a_folder_needs_a_parent(tmp_path: Path) -> None:
    with (
        pytest.raises(UnreadableInput, match=r"nowhere' does not exist\. Create it"),
        atomic_folder(tmp_path / "nowhere" / "release"),
    ):
        pytest.fail("the block must not run")


class _NoExchange:
    """A C library without renameat2."""

    def __init__(self, *_: object, **__: object) -> None: ...


@pytest.mark.parametrize("system", ["exchange", "no function", "no support"])
def test_replacing_leaves_only_the_new_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: str) -> None:
    if system == "no function":
        monkeypatch.setattr(atomic.ctypes, "CDLL", _NoExchange)
    elif system == "no support":
        monkeypatch.setattr(atomic, "_RENAME_EXCHANGE", 1 << 20)  # a flag no file system knows: EINVAL
    target = old_release(tmp_path)
    with atomic_folder(target, replace=True) as staging:
        (staging / "new").touch()
        assert listing(target) == ["old"]
    assert listing(tmp_path) == ["release"]
    assert listing(target) == ["new"]


def test_a_failed_move_puts_the_old_folder_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = old_release(tmp_path)
    monkeypatch.setattr(atomic, "_exchange", lambda a, b: False)
    rename = os.rename
    staged: list[Path] = []

    def failing(source: Path, place: Path) -> None:
        if source in staged:
            raise OSError(28, "No space left on device")
        rename(source, place)

    with pytest.raises(OSError, match="No space"), atomic_folder(target, replace=True) as staging:
        staged.append(staging)
        monkeypatch.setattr(atomic.os, "rename", failing)
    assert listing(target) == ["old"]


def test_the_next_run_clears_what_a_killed_one_left(tmp_path: Path) -> None:
    target = old_release(tmp_path)
    with process_inside(target) as (child, staging):
        assert listing(staging) == ["half"]
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert listing(tmp_path) == [staging.name, "release"]
    assert listing(target) == ["old"]
    with atomic_folder(target, replace=True):
        assert not staging.exists()
    assert listing(tmp_path) == ["release"]


def test_the_folder_of_a_live_process_stays(tmp_path: Path) -> None:
    target = tmp_path / "release"
    with process_inside(target) as (_, staging):
        with atomic_folder(target):
            pass
        assert listing(staging) == ["half"]


def test_a_name_alike_is_not_cleared(tmp_path: Path) -> None:
    (tmp_path / ".other.unfinished-x").mkdir()
    with atomic_folder(tmp_path / "release"):
        pass
    assert listing(tmp_path) == [".other.unfinished-x", "release"]


def test_a_file_is_there_when_it_is_finished(tmp_path: Path) -> None:
    with atomic_file(tmp_path / "data") as stream:
        stream.write(b"text")
        assert listing(tmp_path) == [Path(stream.name).name]
        assert stat.S_IMODE(Path(stream.name).stat().st_mode) == 0o600
    assert listing(tmp_path) == ["data"]
    assert (tmp_path / "data").read_bytes() == b"text"


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_exception_leaves_no_file(tmp_path: Path, error: type[BaseException]) -> None:
    with pytest.raises(error), atomic_file(tmp_path / "data") as stream:
        stream.write(b"half")
        raise error
    assert listing(tmp_path) == []


def test_a_file_is_replaced_only_on_demand(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_text("old")
    with pytest.raises(WrongUsage, match=r"data' exists already\. .*--replace"), atomic_file(path):
        pytest.fail("the block must not run")
    path.unlink()
    with pytest.raises(WrongUsage, match="was created meanwhile"), atomic_file(path) as stream:
        stream.write(b"new")
        path.write_text("old")
    assert path.read_text() == "old"
    with atomic_file(path, replace=True) as stream:
        stream.write(b"new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert listing(tmp_path) == ["data"]


def test_the_next_run_clears_the_half_file_of_a_killed_one_only(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_text("old")
    with process_inside(path, _WRITES_A_FILE) as (child, unfinished):
        with atomic_file(tmp_path / "data", replace=True) as stream:
            stream.write(b"new")
        assert unfinished.read_bytes() == b"half"  # its owner is at work
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert listing(tmp_path) == [unfinished.name, "data"]
    assert path.read_text() == "new"
    write_whole(path, b"newer")
    assert listing(tmp_path) == ["data"]


@pytest.mark.parametrize("kind", ["folder", "link", "pipe"])
def test_only_a_file_gives_its_place_to_a_file(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "data"
    if kind == "folder":
        target.mkdir()
    elif kind == "link":
        (tmp_path / "other").touch()
        target.symlink_to(tmp_path / "other")
    else:
        os.mkfifo(target)
    with pytest.raises(WrongUsage, match="is not a file"):
        check_place(target, replace=True, folder=False)


def test_a_folder_that_cannot_be_listed_can_be_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(_: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(atomic.Path, "iterdir", denied)
    write_whole(tmp_path / "data", b"text")
    assert (tmp_path / "data").read_bytes() == b"text"


def test_write_whole_replaces_and_keeps_the_mode(tmp_path: Path) -> None:
    path = tmp_path / "data"
    mask = os.umask(0o027)
    try:
        write_whole(path, b"one")
    finally:
        os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o600)
    write_whole(path, b"two")
    assert path.read_bytes() == b"two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sha256_of(path) == sha256_of(b"two")


def test_write_whole_keeps_the_old_file_on_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "data.dat"
    path.write_bytes(b"old")

    def full_disk(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic.os, "fsync", full_disk)
    with pytest.raises(UnreadableInput, match=r"Cannot write .*data\.dat': No space left on device\. Choose"):
        Transactions.from_lists([[1]]).write(path)
    assert path.read_bytes() == b"old"
    assert listing(tmp_path) == ["data.dat"]


def test_unwritable_places(tmp_path: Path) -> None:
    data = Transactions.from_lists([["1"]])
    (tmp_path / "file").touch()
    (tmp_path / "folder.dat").mkdir()
    with pytest.raises(UnreadableInput, match="No such file or directory"):
        data.write(tmp_path / "nowhere" / "a.dat")
    with pytest.raises(UnreadableInput, match="Not a directory"):
        data.write(tmp_path / "file" / "a.dat")
    with pytest.raises(UnreadableInput, match="Is a directory"):
        data.write(tmp_path / "folder.dat")
    assert listing(tmp_path) == ["file", "folder.dat"]


def test_denied_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    # Permissions do not bind the superuser, as whom tests often run.
    monkeypatch.setattr(atomic.tempfile, "mkstemp", denied)
    monkeypatch.setattr(atomic.tempfile, "mkdtemp", denied)
    with pytest.raises(UnreadableInput, match=r"Cannot write .*: Permission denied\. Choose another place"):
        write_whole(tmp_path / "a", b"")
    with (
        pytest.raises(UnreadableInput, match=r"Permission denied\. Choose another --out"),
        atomic_folder(tmp_path / "release"),
    ):
        pytest.fail("the block must not run")
