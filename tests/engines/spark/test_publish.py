"""Publishing and verifying on Spark: the bytes of the in-process engine, also if tasks fail, and what is refused."""

import json
import subprocess
import sys

import pytest

from tests.support.in_parts import PROMISE, TAMPERED, released, small_parts, written
from tests.support.on_spark import failing_at_first, on_spark
from tests.support.releases import copied, files
from tests.support.spread import point_of_sale
from veilset import anonymize, verify
from veilset.engines import Local

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def there(spark):
    return anonymize(on_spark(spark, point_of_sale(1500)), PROMISE)


def test_the_bytes_of_the_in_process_engine_also_if_tasks_fail_once(spark, there, tmp_path, monkeypatch):
    small_parts(monkeypatch)
    here = written(tmp_path / "here", released())
    failed = failing_at_first(monkeypatch)
    bundle = written(tmp_path / "there", there)
    assert len(failed) > 1
    assert bundle.verification.holds
    assert files(bundle.public) == files(here.public)
    assert sorted(path.name for path in bundle.path.iterdir()) == ["custodian", "public"]
    assert 'engine = "spark"\nmaster = "local[2,2]"' in (bundle.custodian / "recipe.toml").read_text()
    monkeypatch.undo()
    for found in (verify(bundle.path), verify(bundle.public, engine=spark), verify(here.public, engine=Local())):
        assert (found.verdict, found.unchecked) == ("holds", ())
    for change, verdict in (TAMPERED[0], TAMPERED[1], TAMPERED[7]):
        other = copied(bundle, tmp_path / verdict / change.__name__)
        change(other.public)
        assert verify(other.public, engine=spark).verdict == verdict


def test_the_command_line(tmp_path):
    """Published, verified and made again by its recipe, in one process without a session of ours."""
    point_of_sale(300).write(tmp_path / "sales.parquet")
    spark = ["--engine", "spark", "--master", "local[2]", "--json"]
    commands = [
        ["publish", "sales.parquet", "--k", "5", "--p", "1", "--yes", "--out", "out", *spark],
        ["verify", "out/public", *spark],
        ["publish", "out/custodian/recipe.toml", "--yes", "--out", "again", "--json"],
    ]
    program = f"from veilset.cli import main\nfor told in {commands!r}: print(main(told))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    published, verified, again = map(json.loads, done.stdout.split("\n0\n")[:-1])  # each is followed by its exit code
    assert published["engine"] == again["engine"] == "spark"
    assert verified["verdict"] == "holds"
    assert files(tmp_path / "again/public") == files(tmp_path / "out/public")
