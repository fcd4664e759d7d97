"""Mutated files of every format, with and without persons, plain and packed: transactions, or an error of ours.

Each format is read in a process of its own (`mutating`), which ends if an input takes too long, or if anything but
transactions or a `VeilsetError` with a next step comes of it. What is read must survive being written and read again.
``make fuzz`` gives each reader ten times as many inputs as CI.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.effort import repeats
from tests.support.mutating_seeds import readers_of
from tests.support.places import ROOT
from veilset.io import FORMATS

pytestmark = pytest.mark.attack

INPUTS = int(os.environ.get("MUTATIONS", repeats(1000)))
MOST = 300  # megabytes by which a process may grow: the limit that its reads are given, and some air
TABLES = pytest.mark.no_sanitizer(reason="pyarrow reads the bytes, and takes its time")


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[TABLES] if kind.startswith(("parquet", "arrow")) else []) for kind in FORMATS]
)
def test_mutated_files_are_read_or_refused(kind: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.support.mutating", kind, str(INPUTS), str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    victims = {path.name: path.read_bytes()[:2000] for path in tmp_path.glob("victim*")}
    assert done.returncode == 0, f"{done.stderr[-3000:]}\nended with {done.returncode} at one of {victims}"
    found = json.loads(done.stdout)
    assert found["grown"] < MOST
    assert set(found["answers"]) == {reader.name for reader in readers_of(kind)}
    for name, answers in found["answers"].items():
        assert set(answers) <= {"read", "UnreadableInput", "InvalidArgument"}, name
        assert answers["UnreadableInput"] > INPUTS // 20, name
