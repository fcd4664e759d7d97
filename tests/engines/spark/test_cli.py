"""``veilset audit`` and ``veilset mine`` with ``--engine spark``, as users type them."""

import json
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.conftest import ROWS

pytestmark = pytest.mark.spark


def same_answers(folder, *command, code):
    """A command tells on Spark what it tells without it."""
    answers = []
    for engine in ([], ["--engine", "spark", "--master", "local[2]"]):
        typed = [sys.executable, "-m", "veilset", *command, "--json", *engine]
        done = subprocess.run(typed, capture_output=True, text=True, check=False, cwd=folder)
        assert done.returncode == code, done.stderr
        answers.append(json.loads(done.stdout))
    here, there = answers
    assert there.pop("engine") == "spark"
    assert {name: here[name] for name in there} == there
    assert there["found"] > 0


@pytest.mark.parametrize(
    "promise",
    [
        ["--sensitive", "sensitive.txt", "--k", "2", "--p", "1", "--h", "0.4"],
        ["--sensitive", "sensitive.txt", "--model", "rho-uncertainty", "--rho", "0.3"],
        ["--model", "hidden-rules", "--rules", "rules.txt", "--min-support", "10%", "--min-confidence", "40%"],
    ],
    ids=["coherence", "rho-uncertainty", "hidden-rules"],
)
def test_the_same_answer_as_without(tmp_path, promise):
    pq.write_table(pa.table({"items": ROWS}), tmp_path / "baskets.parquet")
    (tmp_path / "sensitive.txt").write_text("cure\n")
    (tmp_path / "rules.txt").write_text("bun -> ale\n")
    same_answers(tmp_path, "audit", "baskets.parquet", *promise, code=1)


def test_mining_gives_the_same_answer_as_without(tmp_path):
    pq.write_table(pa.table({"items": ROWS}), tmp_path / "baskets.parquet")
    same_answers(tmp_path, "mine", "baskets.parquet", "--min-support", "2", "--kind", "maximal", code=0)
