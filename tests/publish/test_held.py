"""A release is opened once, and only its files: sizes are known before reading, and a replacement changes nothing."""

import contextlib
import os
import re
import shutil
import socket
import stat
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import veilset as vs
from tests.support.bundles import edit_certificate, redo_sums
from tests.support.errors import names, refused
from tests.support.memory import leaving, own_memory
from tests.support.places import ROOT
from tests.support.releases import PROMISE, answer, baskets, certificate, message, published
from veilset.limits import Limits
from veilset.publish import held
from veilset.publish import verify as _verify

verifying = sys.modules[_verify.__module__]
NAMES = ["data.csv", "certificate.json", "report.html", "SHA256SUMS"]
HUGE = 40 * 10**9  # bytes, of which none is on the disk


_TOLD: list[Callable[[object], None]] = []
"""Who is told of openings: Python never forgets a hook."""
sys.addaudithook(lambda event, what: _TOLD[-1](what[0]) if _TOLD and event == "open" else None)


@contextlib.contextmanager
def opening(tell: Callable[[object], None]) -> Iterator[None]:
    """Tells of each file that is opened, before it is."""
    _TOLD.append(tell)
    try:
        yield
    finally:
        _TOLD.clear()


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> vs.Bundle:
    return published(tmp_path_factory.mktemp("shop"), random_state=1)


class TestNotAFile:
    @pytest.mark.parametrize("name", NAMES)
    def test_a_link(self, public, name, tmp_path):
        """Even to the very file."""
        (public / name).rename(tmp_path / "moved")
        (public / name).symlink_to(tmp_path / "moved")
        assert "symbolic link" in message(public, "malformed", 2)

    @pytest.mark.parametrize("name", NAMES)
    def test_a_pipe_is_not_waited_for(self, public, name):
        (public / name).unlink()
        os.mkfifo(public / name)
        assert "pipe" in message(public, "malformed", 2)

    def test_a_socket(self, public, monkeypatch):
        (public / "report.html").unlink()
        monkeypatch.chdir(public)  # names of sockets are short
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind("report.html")
            assert "socket" in message(public, "malformed", 2)

    @pytest.mark.parametrize("kind", [stat.S_IFCHR, stat.S_IFBLK], ids=["characters", "blocks"])
    def test_a_device(self, public, monkeypatch, kind):
        """Only an administrator can make one: here, the system says that a file is one."""
        looked, opened, names = os.stat, os.open, []

        def seen(path, **options):
            found = looked(path, **options)
            return os.stat_result([kind | 0o666, *found[1:]]) if path == "report.html" else found

        def noted(path, *rest, **options):
            names.append(path)
            return opened(path, *rest, **options)

        monkeypatch.setattr(os, "stat", seen)
        monkeypatch.setattr(os, "open", noted)
        assert "device" in message(public, "malformed", 2)
        assert "data.csv" in names and "report.html" not in names

    def test_a_folder(self, public):
        (public / "data.csv").unlink()
        (public / "data.csv").mkdir()
        assert "folder" in message(public, "malformed", 2)

    def test_nothing_but_files_is_opened(self, public, monkeypatch):
        """Opening a device can do things; a name that is a file when looked at may be a link when opened."""
        opened, flags = os.open, {}

        def noted(path, how, *rest, **options):
            flags[path] = how
            return opened(path, how, *rest, **options)

        (public / "data.csv").unlink()
        (public / "data.csv").symlink_to("/dev/zero")
        (public / "passwords").symlink_to("/etc/passwd")
        monkeypatch.setattr(os, "open", noted)
        assert answer(public) == ("altered", 1)
        assert set(flags) == {public, "certificate.json", "report.html", "SHA256SUMS"}
        assert all(how & os.O_NOFOLLOW for name, how in flags.items() if name != public)

    def test_folders_that_are_links(self, bundle, tmp_path):
        bundle.public.rename(tmp_path / "elsewhere")
        bundle.public.symlink_to(tmp_path / "elsewhere")
        assert "symbolic link" in message(bundle.path, "malformed", 2)
        (tmp_path / "named").symlink_to(tmp_path / "elsewhere")
        assert answer(tmp_path / "named") == ("holds", 0)  # that is what the user named

    def test_a_secret_list_that_is_a_link(self, tmp_path):
        data = vs.Transactions.from_lists([["tea", "milk"]] * 5 + [["tea"], ["milk"]])
        release = vs.anonymize(data, vs.HiddenPatterns([["tea", "milk"]], min_support=3))
        bundle = vs.publish(release, tmp_path / "hidden")
        recipe = bundle.custodian / "recipe.toml"
        recipe.rename(tmp_path / "recipe.toml")
        recipe.symlink_to(tmp_path / "recipe.toml")
        assert "symbolic link" in message(bundle.path, "malformed", 2)
        bundle.custodian.rename(tmp_path / "safe")
        bundle.custodian.symlink_to(tmp_path / "safe")
        assert "symbolic link" in message(bundle.path, "malformed", 2)


class TestSizes:
    @pytest.mark.parametrize(("name", "verdict"), [("report.html", "malformed"), ("certificate.json", "malformed")])
    def test_no_text_is_that_long(self, public, name, verdict):
        os.truncate(public / name, HUGE)
        assert f"{HUGE:,}" in message(public, verdict, 2)

    def test_sums_are_as_long_as_their_lines(self, public):
        os.truncate(public / "SHA256SUMS", 2 * 10**9)
        assert answer(public) == ("altered", 1)

    def test_hashing_stops_in_time(self, public):
        os.truncate(public / "data.csv", HUGE)
        with refused(vs.BudgetExceeded, "data.csv"):
            vs.verify(public, time_limit=0.3)

    def test_a_certificate_is_not_read_beyond_the_memory_limit(self, public):
        os.truncate(public / "certificate.json", 10**8)
        with refused(vs.BudgetExceeded, "certificate.json"):
            vs.verify(public, memory_limit=leaving(10**9))  # it would take eight times that

    @pytest.mark.parametrize("room", [-(10**7), 10**7])
    def test_a_limit_that_no_release_fits_is_refused_at_once(self, public, room):
        """With what this process takes already; the libraries that reading loads used to be taken beyond the limit."""
        limit = leaving(room)
        with refused(vs.BudgetExceeded, f"{limit / 1e9:.2g} GB", "memory_limit") as error:
            vs.verify(public, memory_limit=limit)
        (enough,) = re.findall("'([0-9]+MB)'", error.value.next_step)
        assert limit < Limits(memory_limit=enough).bytes_left() + own_memory() < limit - room + 10**8
        assert vs.verify(public, memory_limit=enough).holds

    def test_many_names(self, public):
        for number in range(3 * held._MOST_NAMES):
            (public / f"{number}.csv").touch()
        assert answer(public) == ("altered", 1)

    def test_what_it_takes_at_most(self, public):
        """In a process of its own: the peak of this one is that of all tests."""
        os.truncate(public / "SHA256SUMS", 2 * 10**9)
        os.truncate(public / "report.html", HUGE)
        script = """
            import sys, veilset as vs
            from tests.support.memory import peak_memory
            before = peak_memory()
            assert vs.verify(sys.argv[1]).verdict == "altered"
            print(peak_memory() - before)
        """
        command = [sys.executable, "-c", textwrap.dedent(script), str(public)]
        grown = int(subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout)
        assert grown < 50_000_000  # the sums alone took four gigabytes


class TestReplaced:
    """Another release takes the place of this one, in one step, at any moment."""

    @pytest.fixture
    def other(self, bundle, tmp_path) -> Path:
        """Another release: one more transaction."""
        rows = [[*row] for row in baskets(tmp_path).to_lists()] + [["ale", "bun"]]
        release = vs.anonymize(vs.Transactions.from_lists(rows, sensitive=["cure"]), vs.Coherence(h="1/2", k=2, p=2))
        return vs.publish(release, tmp_path / "other", random_state=2).path

    def replace(self, path: Path, other: Path) -> None:
        """As `publish` does with --replace: exchange the names, then remove the old one file by file."""
        aside = path.with_name("aside")
        path.rename(aside)
        other.rename(path)
        shutil.rmtree(aside)

    @pytest.mark.parametrize("below", ["", "public"])
    @pytest.mark.parametrize("step", ["check_files", "read_data", "audit"])
    def test_between_the_steps(self, bundle, other, monkeypatch, step, below):
        """All files are open by then: the old release is verified as a whole."""
        old = certificate(bundle.path)
        original = getattr(verifying, step)

        def late(*arguments, **options):
            self.replace(bundle.path, other)
            return original(*arguments, **options)

        monkeypatch.setattr(verifying, step, late)
        found = vs.verify(bundle.path / below)
        assert found.verdict == "holds"
        assert found.certificate.data.sha256 == old["data"]["sha256"]
        monkeypatch.undo()
        assert vs.verify(bundle.path / below).certificate.transactions == old["transactions"] + 1

    @pytest.mark.parametrize("call", ["open", "stat", "scandir"])
    def test_while_it_is_opened(self, bundle, other, tmp_path, monkeypatch, call):
        """At every call of the system: it is the old release, or the new one."""
        original, verdicts, count = getattr(os, call), set(), 0
        for at in range(100):
            path, new = (shutil.copytree(one, tmp_path / f"{one.name} {at}") for one in (bundle.path, other))
            count = 0

            def late(*arguments, **options):
                nonlocal count
                count += 1
                if count == at + 1:  # noqa: B023 - runs now
                    with pytest.MonkeyPatch.context() as inner:
                        inner.setattr(os, call, original)
                        self.replace(path, new)  # noqa: B023
                return original(*arguments, **options)

            with monkeypatch.context() as patch:
                patch.setattr(os, call, late)
                found = vs.verify(path)
            assert found.verdict == "holds", (at, found.message)
            verdicts.add(found.certificate.transactions)
            if count <= at:
                break
        assert len(verdicts) == 2 and at > 0

    def test_at_any_opening_of_a_file(self, bundle, other, tmp_path):
        """By whatever function: Python tells of each."""
        verdicts, at, count = [], 0, 0

        def late(path):
            nonlocal count
            count += 1
            if count == at + 1:
                self.replace(old, new)

        while count >= at:
            old, new = (shutil.copytree(one, tmp_path / f"{one.name} {at}") for one in (bundle.path, other))
            count = 0
            with opening(late):
                verdicts.append(vs.verify(old).verdict)
            at += 1
        assert set(verdicts) == {"holds"} and at > len(NAMES)

    def test_a_file_that_is_written_to_meanwhile(self, public, monkeypatch):
        original = verifying.audit

        def late(*arguments, **options):
            with (public / "data.csv").open("r+b") as file:
                file.write(b"a")
            return original(*arguments, **options)

        monkeypatch.setattr(verifying, "audit", late)
        found = vs.verify(public)
        assert found.verdict == "altered" and "while" in found.message

    @pytest.mark.parametrize("out_format", ["basket", "jsonl", "parquet", "arrow"])
    def test_what_is_hashed_is_what_is_audited(self, tmp_path, monkeypatch, out_format):
        """A server may give other bytes with each reading, and the same times: here, the same rows in another order."""
        written = {"out_format": out_format, "with_what_if": False}
        one, other = (
            vs.publish(vs.anonymize(baskets(tmp_path), PROMISE), tmp_path / seed, random_state=seed, **written).public
            for seed in ("1", "2")
        )
        (name,) = (path.name for path in one.glob("data.*"))
        content, now = (other / name).read_bytes(), (one / name).stat()
        assert len(content) == now.st_size and content != (one / name).read_bytes()
        original = verifying.read_data

        def late(*arguments, **options):
            (one / name).write_bytes(content)
            os.utime(one / name, ns=(now.st_atime_ns, now.st_mtime_ns))
            return original(*arguments, **options)

        monkeypatch.setattr(verifying, "read_data", late)
        found = vs.verify(one)
        assert (found.verdict, found.exit_code) == ("altered", 1)
        assert names(found.message, name) and names(found.message, "sha256")

    def test_a_release_that_is_never_still(self, public, monkeypatch):
        monkeypatch.setattr(held, "_is_still", lambda path, folder: False)
        assert answer(public) == ("incomplete", 2)


def test_errors_name_the_file_and_not_how_it_was_opened(public):
    (public / "data.csv").write_bytes(b'"never closed')
    edit_certificate(public, lambda c: c["data"].update(sha256=held.hashlib.sha256(b'"never closed').hexdigest()))
    redo_sums(public)
    said = message(public, "malformed", 2)
    assert "data.csv" in said and "/dev/" not in said


def test_no_descriptor_is_left_open(public):
    before = {*Path("/proc/self/fd").iterdir()}
    for _ in range(3):
        vs.verify(public)
    assert {*Path("/proc/self/fd").iterdir()} == before
