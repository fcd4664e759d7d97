"""Folders and files are there as a whole or not at all, also when the process is killed."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.errors import names, refused
from tests.support.faults import Killed, every_fault
from veilset.errors import CannotWrite, InvalidArgument
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
    with refused(InvalidArgument, "release'", "replace"), atomic_folder(target):
        pytest.fail("the block must not run")
    assert listing(target) == ["old"]


def test_a_folder_created_meanwhile_is_refused(tmp_path: Path) -> None:
    with refused(InvalidArgument, "release'", "meantime"), atomic_folder(tmp_path / "release") as staging:
        (staging / "new").touch()
        old_release(tmp_path)
    assert listing(tmp_path) == ["release"]
    assert listing(tmp_path / "release") == ["old"]


def link_to(place: Path) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(place)


@pytest.mark.parametrize("occupy", [Path.touch, link_to(Path()), os.mkfifo], ids=["file", "link", "pipe"])
def test_only_a_folder_is_replaced(tmp_path: Path, occupy: Callable[[Path], None]) -> None:
    target = tmp_path / "release"
    occupy(target)
    with refused(InvalidArgument, "release'", "folder"), atomic_folder(target, replace=True):
        pytest.fail("the block must not run")
    assert listing(tmp_path) == ["release"]


def test_a_folder_needs_a_parent(tmp_path: Path) -> None:
    with refused(CannotWrite, "nowhere'"), atomic_folder(tmp_path / "nowhere" / "release"):
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


def test_the_next_run_clears_what_a_killed_one_left(tmp_path: Path) -> None:
    """A real process; the tests below do the same at every moment."""
    target = old_release(tmp_path)
    command = [sys.executable, "-c", _STAYS_INSIDE, str(target)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        staging = Path(child.stdout.readline().strip())
        assert listing(staging) == ["half"]
        child.kill()
    assert listing(tmp_path) == [staging.name, "release"]
    assert listing(target) == ["old"]
    with atomic_folder(target, replace=True):
        assert not staging.exists()
    assert listing(tmp_path) == ["release"]


def test_what_somebody_is_writing_stays(tmp_path: Path) -> None:
    with atomic_folder(tmp_path / "release", replace=True) as staging, atomic_file(tmp_path / "data") as stream:
        stream.write(b"half")
        stream.flush()
        with atomic_folder(tmp_path / "release", replace=True) as other:
            (other / "other").touch()
        write_whole(tmp_path / "other", b"other")
        with atomic_file(tmp_path / "data") as more:
            more.write(b"other")
        assert staging.is_dir()
        assert Path(stream.name).read_bytes() == b"half"
        (tmp_path / "data").unlink()
    assert listing(tmp_path) == ["data", "other", "release"]
    assert listing(tmp_path / "release") == []


NEW = {"new": b"new", "public/data": b"text"}


def write_folder(target: Path, replace: bool) -> None:
    with atomic_folder(target, replace=replace) as staging:
        (staging / "public").mkdir()
        for name, content in NEW.items():
            write_durably(staging / name, content)


def content_of(folder: Path) -> dict[str, bytes] | None:
    if not folder.exists():
        return None
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("kind", [Killed, OSError])
@pytest.mark.parametrize("way", ["first", "exchanged", "renamed"])
def test_at_whatever_change_a_fault_strikes_a_folder_is_old_or_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str, kind: type[Killed | OSError]
) -> None:
    if way == "renamed":
        monkeypatch.setattr(atomic, "_exchange", lambda a, b: False)
    seen = []
    for fault in every_fault(kind):
        place = tmp_path / str(fault.number)
        place.mkdir()
        old = None if way == "first" else content_of(old_release(place))
        target = place / "release"
        error = fault.run(lambda target=target: write_folder(target, way != "first"))
        left = content_of(target)
        assert (error is None) == (fault.struck is None)
        assert left in (old, NEW) or (way == "renamed" and kind is Killed and left is None)
        if kind is OSError and way != "renamed":
            assert listing(place) == ([] if left is None else ["release"])
        write_folder(target, replace=True)
        assert listing(place) == ["release"], "The next run clears up."
        assert content_of(target) == NEW
        seen.append((fault.struck, left == NEW))
    assert [done for _, done in seen] == sorted(done for _, done in seen), "First old, then new."
    assert {"create", "fsync", "mkdir", "write"} <= {name for name, _ in seen}
    assert way != "renamed" or [name for name, _ in seen].count("rename") == 2, "The old one aside, the new one in."


@pytest.mark.parametrize("target", ["release", "data.csv"])
@pytest.mark.parametrize("end", ["backup", "x", "abcdefgh", "0123456789abcdef" * 2 + ".bak", "0123456789ABCDEF" * 2])
def test_only_what_we_made_is_cleared(tmp_path: Path, target: str, end: str) -> None:
    """Somebody's folders and files with similar names, which nobody has locked, stay."""
    strange = tmp_path / f".{target}.unfinished-{end}"
    strange.mkdir()
    (strange / "thesis.tex").write_text("years of work")
    (tmp_path / f".other.unfinished-{'0' * 32}").mkdir()
    kept = listing(tmp_path)
    with atomic_folder(tmp_path / target):
        pass
    assert listing(tmp_path) == sorted([*kept, target])
    (tmp_path / target).rmdir()
    write_whole(tmp_path / target, b"text")
    assert listing(tmp_path) == sorted([*kept, target])
    assert (strange / "thesis.tex").read_text() == "years of work"


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    thesis = old_release(tmp_path)
    (tmp_path / f".data.unfinished-{'0' * 32}").symlink_to(thesis)
    write_whole(tmp_path / "data", b"text")
    assert listing(thesis) == ["old"]


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
    with refused(InvalidArgument, "data'", "replace"), atomic_file(path):
        pytest.fail("the block must not run")
    path.unlink()
    with refused(InvalidArgument, "data'", "meantime"), atomic_file(path) as stream:
        stream.write(b"new")
        path.write_text("old")
    assert path.read_text() == "old"
    with atomic_file(path, replace=True) as stream:
        stream.write(b"new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert listing(tmp_path) == ["data"]


@pytest.mark.parametrize("kind", [Killed, OSError])
def test_at_whatever_change_a_fault_strikes_a_file_is_old_or_new(tmp_path: Path, kind: type[Killed | OSError]) -> None:
    path = tmp_path / "data"
    seen = []
    for fault in every_fault(kind):
        path.write_bytes(b"old")
        error = fault.run(lambda: write_whole(path, b"new"))
        left = path.read_bytes()
        assert left in (b"old", b"new")
        assert (error is None) == (fault.struck is None)
        if kind is OSError and fault.struck:
            assert isinstance(error, CannotWrite)
            assert names(str(error), "data'")
            assert names(str(error), "No space left on device")
            assert listing(tmp_path) == ["data"]
        write_whole(path, b"newer")
        assert listing(tmp_path) == ["data"], "The next run clears up."
        assert path.read_bytes() == b"newer"
        seen.append((fault.struck, left))
    assert [left for _, left in seen] == sorted(left for _, left in seen)[::-1], (
        "Before the renaming old, after it new."
    )
    assert {"create", "write", "fsync", "chmod", "replace"} <= {name for name, _ in seen}


@pytest.mark.parametrize("occupy", [Path.mkdir, link_to(Path(__file__)), os.mkfifo], ids=["folder", "link", "pipe"])
def test_only_a_file_gives_its_place_to_a_file(tmp_path: Path, occupy: Callable[[Path], None]) -> None:
    target = tmp_path / "data"
    occupy(target)
    with refused(InvalidArgument, "data'", "file"):
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


def test_unwritable_places(tmp_path: Path) -> None:
    data = Transactions.from_lists([["1"]])
    (tmp_path / "file").touch()
    (tmp_path / "folder.dat").mkdir()
    with refused(CannotWrite, "a.dat'", "No such file or directory"):
        data.write(tmp_path / "nowhere" / "a.dat")
    with refused(CannotWrite, "a.dat'", "Not a directory"):
        data.write(tmp_path / "file" / "a.dat")
    with refused(CannotWrite, "folder.dat'", "Is a directory"):
        data.write(tmp_path / "folder.dat")
    assert listing(tmp_path) == ["file", "folder.dat"]


def test_denied_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    # Permissions do not bind the superuser, as whom tests often run.
    monkeypatch.setattr(atomic, "_made", denied)
    with refused(CannotWrite, "a'", "Permission denied"):
        write_whole(tmp_path / "a", b"")
    with refused(CannotWrite, "Permission denied"), atomic_folder(tmp_path / "release"):
        pytest.fail("the block must not run")
