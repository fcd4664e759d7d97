"""``veilset audit`` and ``veilset mine`` with ``--engine spark``, as users type them."""

import json
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.conftest import ROWS

pytestmark = pytest.mark.spark


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
    told = ["baskets.parquet", *promise, "--json"]
    answers = []
    for engine in ([], ["--engine", "spark", "--master", "local[2]"]):
        command = [sys.executable, "-m", "veilset", "audit", *told, *engine]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert done.returncode == 1, done.stderr
        answers.append(json.loads(done.stdout))
    here, there = answers
    assert there.pop("engine") == "spark"
    assert {name: here[name] for name in there} == there
    assert there["found"] > 0


def test_mining_gives_the_same_answer_as_without(tmp_path):
    pq.write_table(pa.table({"items": ROWS}), tmp_path / "baskets.parquet")
    told = ["baskets.parquet", "--min-support", "2", "--kind", "maximal", "--json"]
    answers = []
    for engine in ([], ["--engine", "spark", "--master", "local[2]"]):
        command = [sys.executable, "-m", "veilset", "mine", *told, *engine]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        answers.append(json.loads(done.stdout))
    here, there = answers
    assert there.pop("engine") == "spark"
    assert {name: here[name] for name in there} == there
    assert there["found"] > 0
