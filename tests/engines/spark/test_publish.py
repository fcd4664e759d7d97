"""Publishing and verifying on Spark: the bytes of the in-process engine, also if tasks fail, and what is refused."""

import pytest

from tests.support.commands import run
from tests.support.in_parts import flipped, released, small_parts, written
from tests.support.on_spark import failing_at_first, on_spark
from tests.support.releases import files
from tests.support.spread import point_of_sale
from veilset import Coherence, anonymize, verify
from veilset.engines.spark import Spark

pytestmark = pytest.mark.spark

PROMISE = Coherence(h="1/2", k=5, p=1)


@pytest.fixture(scope="module")
def there(spark):
    return anonymize(on_spark(spark, point_of_sale(400)), PROMISE)


def test_the_bytes_of_the_in_process_engine_also_if_tasks_fail_once(spark, there, tmp_path, monkeypatch):
    small_parts(monkeypatch, 1000)
    here = written(tmp_path / "here", released(data=point_of_sale(400), promise=PROMISE))
    failed = failing_at_first(monkeypatch)
    bundle = written(tmp_path / "there", there)
    assert len(failed) > 1
    assert bundle.verification.holds
    assert files(bundle.public) == files(here.public)
    assert sorted(path.name for path in bundle.path.iterdir()) == ["custodian", "public"]
    assert 'engine = "spark"\nmaster = "local[2,2]"' in (bundle.custodian / "recipe.toml").read_text()
    monkeypatch.undo()
    for found in (verify(bundle.path), verify(bundle.public, engine=spark)):
        assert (found.verdict, found.unchecked) == ("holds", ())
    flipped(bundle.public)
    assert verify(bundle.public, engine=spark).verdict == "altered"


def test_the_command_line(spark, tmp_path, monkeypatch, capsys):
    """Published, verified and made again by its recipe, in the session of all tests."""
    monkeypatch.setattr(Spark, "start", classmethod(lambda kind, master: kind(spark.session)))
    monkeypatch.chdir(tmp_path)
    point_of_sale(300).write(tmp_path / "sales.parquet")
    engine = ("--engine", "spark", "--master", "local[2]")
    asked = ("publish", tmp_path / "sales.parquet", "--k", "5", "--p", "1", "--yes", "--out", "out", *engine)
    assert run(capsys, *asked)[1]["engine"] == "spark"
    assert run(capsys, "verify", "out/public", *engine)[1]["verdict"] == "holds"
    assert run(capsys, "publish", "out/custodian/recipe.toml", "--yes", "--out", "again")[1]["engine"] == "spark"
    assert files(tmp_path / "again/public") == files(tmp_path / "out/public")
