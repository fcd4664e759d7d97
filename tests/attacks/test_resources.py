"""Scarce memory, disk and descriptors (``ulimit``): a proper exit code, and a whole release or the earlier one."""

import json
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import veilset as vs
from tests.support.memory import Watched
from tests.support.releases import files
from veilset.cli import main

pytestmark = [
    pytest.mark.attack,
    pytest.mark.no_sanitizer(reason="the sanitizer takes memory of its own"),
]

COMMAND = Path(sys.executable).with_name("veilset")
OPTIONS = ("--k", "5", "--p", "2", "--no-what-if", "--yes")
MEMORY = [("-v", kilobytes) for kilobytes in (150_000, 600_000, 2_000_000)]
FILES = [("-f", kilobytes) for kilobytes in (0, 1, 30)]
DESCRIPTORS = [("-n", count) for count in (8, 13, 256)]


@pytest.fixture(scope="module")
def baskets(tmp_path_factory) -> Path:
    """Some 40 kilobytes."""
    dice = random.Random(1)
    rows = [[f"i{int(dice.paretovariate(0.6)) % 99}" for _ in range(dice.randint(1, 9))] for _ in range(2000)]
    path = tmp_path_factory.mktemp("shop") / "baskets.csv"
    path.write_text("".join(",".join(row) + "\n" for row in rows))
    return path


@pytest.fixture
def out(baskets, tmp_path) -> Path:
    """An earlier release of them."""
    release = vs.anonymize(vs.read(baskets), vs.Coherence(k=9, p=1), method="remove-all")
    return vs.publish(release, tmp_path / "out", with_what_if=False).path


def limited(limit: str, value: int, *command: object) -> tuple[int, str]:
    """The exit code and stderr of a command under a limit of the shell."""
    script = f'ulimit {limit} {value} && exec "$0" "$@" > /dev/null'
    done = subprocess.run(["bash", "-c", script, *map(str, command)], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize(("limit", "value"), [*MEMORY, *FILES, *DESCRIPTORS])
def test_publishing(baskets, out, limit, value):
    before = files(out)
    code, said = limited(limit, value, COMMAND, "publish", baskets, *OPTIONS, "--out", out, "--replace")
    assert code in (0, 2, 4, 70), said
    assert "Traceback" not in said
    if code == 0:
        assert vs.verify(out).holds
        assert files(out) != before
    else:
        assert files(out) == before
        assert "Error: " in said or value == 0, said
    assert main(["publish", str(baskets), *OPTIONS, "--out", str(out), "--replace"]) == 0
    assert [path.name for path in out.parent.iterdir()] == ["out"], "The next run clears up."


_VERIFYING = """
import json, sys
import veilset as vs
print("> verify", flush=True)
try:
    print(json.dumps(vs.verify(sys.argv[1], memory_limit=sys.argv[2]).verdict))
except vs.BudgetExceeded as error:
    print(json.dumps(error.exit_code))
"""


@pytest.fixture(scope="module")
def large(tmp_path_factory) -> Path:
    """Eight million occurrences."""
    draw = np.random.default_rng(1)
    items = (draw.integers(0, 100, (400_000, 20), dtype=np.int32) + 100 * np.arange(20, dtype=np.int32)).ravel()
    offsets, names = np.arange(0, len(items) + 1, 20), [f"i{number:04}" for number in range(2000)]
    data = vs.Transactions.from_codes(offsets, items, names)
    release = vs.anonymize(data, vs.Coherence(k=5, p=1), method="remove-all")
    out = tmp_path_factory.mktemp("large") / "out"
    return vs.publish(release, out, out_format="parquet", with_what_if=False).public


@pytest.mark.parametrize(
    ("megabytes", "answer"), [(80, 4), (100, 4), (112, None), (120, None), (130, None), (150, "holds"), (300, "holds")]
)
def test_verifying_takes_no_more_memory_than_it_may(large, tmp_path, megabytes, answer):
    """None: it depends on what the libraries of this machine take, but the limit does not."""
    found = Watched(_VERIFYING, str(large), f"{megabytes}MB", tmp=tmp_path)
    assert found.peaks["verify"] <= megabytes * 10**6
    assert found.answer in ((4, "holds") if answer is None else (answer,))


@pytest.mark.parametrize("broken", [False, True], ids=["holds", "edited"])
@pytest.mark.parametrize(("limit", "value"), [*MEMORY[1:], *DESCRIPTORS[:2]])
def test_verifying(out, limit, value, broken):
    """Whatever is scarce, a good release is not called broken, nor a broken one good."""
    if broken:
        certificate = out / "public" / "certificate.json"
        told = json.loads(certificate.read_text())
        told["promise"]["parameters"]["k"] = 10_000
        certificate.write_text(json.dumps(told))
    code, said = limited(limit, value, COMMAND, "verify", out / "public")
    assert code in ({1, 2, 4, 70} if broken else {0, 2, 4, 70}), said
    assert "Traceback" not in said
