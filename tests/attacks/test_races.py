"""Commands that get in each other's way: whoever comes late is told so, and nobody sees half a release."""

import itertools
import subprocess
import sys
import threading

import pytest

import veilset as vs
from tests.support.effort import repeats
from tests.support.releases import PROMISE, baskets

pytestmark = [
    pytest.mark.attack,
    pytest.mark.no_sanitizer(reason="slow there, and kernels see nothing that other tests do not show them"),
]


def test_two_publish_to_one_place(tmp_path):
    """One of them writes; the other is refused, and leaves nothing."""
    baskets(tmp_path)
    command = [
        sys.executable,
        "-m",
        "veilset",
        "publish",
        "baskets.csv",
        "--k",
        "2",
        "--p",
        "2",
        "--yes",
        "--out",
        "out",
    ]
    running = [
        subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(2)
    ]
    assert sorted(process.wait() for process in running) == [0, 2]
    assert vs.verify(tmp_path / "out").holds
    assert sorted(path.name for path in tmp_path.iterdir()) == ["baskets.csv", "out"]


@pytest.fixture
def replaced(tmp_path):
    """A release that a thread replaces again and again, and the contents it may have."""
    release = vs.anonymize(baskets(tmp_path), PROMISE)
    out, enough, written = tmp_path / "out", threading.Event(), set()
    failures = []

    def publish(seed: str) -> None:
        bundle = vs.publish(release, out, replace=True, random_state=seed, with_what_if=False)
        written.add((bundle.public / "data.csv").read_bytes())

    def go_on() -> None:
        try:
            for seed in itertools.cycle("abc"):
                if enough.is_set():
                    return
                publish(seed)
        except BaseException as failure:
            failures.append(failure)

    for seed in "abc":
        publish(seed)
    thread = threading.Thread(target=go_on)
    thread.start()
    yield out, written
    enough.set()
    thread.join()
    assert failures == []
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_readers_beside_a_replacement(replaced):
    """A name always leads to the whole of one of the releases."""
    out, written = replaced
    seen = {(out / "public" / "data.csv").read_bytes() for _ in range(repeats(20_000))}
    assert seen <= written


def test_verifying_beside_a_replacement(replaced):
    """One of two valid releases is there at any time: whichever it is, it holds."""
    out, _ = replaced
    assert {vs.verify(out / "public").verdict for _ in range(repeats(100))} == {"holds"}


def test_two_replace_one_release(tmp_path):
    release = vs.anonymize(baskets(tmp_path), PROMISE)
    out = tmp_path / "out"
    vs.publish(release, out, with_what_if=False)
    threads = [
        threading.Thread(target=vs.publish, args=(release, out), kwargs={"replace": True, "with_what_if": False})
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert vs.verify(out).holds
    assert sorted(path.name for path in tmp_path.iterdir()) == ["baskets.csv", "out"]
