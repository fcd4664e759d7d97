"""Damaged tables of a release, sums redone: a verdict, never an exception and never the end of the process.

Each format in a process of its own (`tests.support.damaging`); ``MUTATIONS`` says how many files each gets.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.effort import repeats
from tests.support.places import ROOT

pytestmark = [
    pytest.mark.attack,
    pytest.mark.no_sanitizer(reason="pyarrow reads the bytes, and takes its time"),
]

FILES = int(os.environ.get("MUTATIONS", repeats(500)))
KINDS = ["parquet", "parquet-long", "parquet-wide", "parquet-anatomy", "arrow", "arrow-long", "arrow-wide"]
TEXTS = ["basket", "long", "basket-anatomy", "jsonl-anatomy"]


@pytest.mark.parametrize("kind", [*KINDS, *TEXTS])
def test_damaged_tables_get_a_verdict(kind: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.support.damaging", kind, str(FILES), str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stderr[-3000:]}\nended with {done.returncode}"
    verdicts = json.loads(done.stdout)
    # An item may be renamed by a flipped bit: the promise is then checked for the new name, and may hold.
    assert set(verdicts) <= {"malformed", "altered", "unchecked", "broken", "holds"}
    assert verdicts["malformed"] > FILES // 4
    assert verdicts.get("holds", 0) <= FILES // 20
