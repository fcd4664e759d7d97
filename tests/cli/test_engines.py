"""Where a command counts: what is refused before anything starts. tests/engines/spark has what Spark answers."""

import sys
from contextlib import contextmanager

import pytest

from tests.support.commands import refusal, run
from veilset import read
from veilset.cli import main
from veilset.cli.engines import EngineOptions
from veilset.engines import Local

PROMISE = ("--k", "2", "--p", "2")


def test_a_master_without_spark_is_refused(shop, capsys):
    refusal(capsys, "audit", "baskets.csv", *PROMISE, "--master", "local[2]", values=("--engine spark", "local[2]"))


@pytest.mark.parametrize(
    ("flag", "value"), [("--where", "id > 3"), ("--person", "id"), ("--normalize", "case"), ("--missing", "skip")]
)
def test_what_is_not_read_on_spark_is_refused_by_name(shop, capsys, flag, value):
    told = ("audit", "baskets.csv", *PROMISE, "--engine", "spark", "--long", "id,item", flag, value)
    refusal(capsys, *told, values=(flag, "--engine spark"))


def test_without_pyspark_one_line_says_what_to_install(shop, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    said = refusal(capsys, "audit", "baskets.csv", *PROMISE, "--engine", "spark", values=("veilset[spark]",))
    assert "\n" not in said


@pytest.fixture
def in_process(monkeypatch):
    """What --engine spark reads is held by this process instead."""

    @contextmanager
    def held(engine, path, reading):
        yield Local(pieces=3).read(read(path))

    monkeypatch.setattr(EngineOptions, "held", held)


@pytest.mark.parametrize(
    "asked",
    [
        ["--min-support", "2", "--kind", "closed"],
        ["--min-support", "1000"],
        ["--min-support", "2", "--rules", "--min-confidence", "1/2"],
        ["--rare", "2", "--max-size", "2"],
    ],
)
def test_mining_on_an_engine_gives_the_answer_of_memory(shop, capsys, in_process, asked):
    answers = []
    for engine in ([], ["--engine", "spark"]):
        code, said = run(capsys, "mine", "baskets.csv", *asked, *engine, "--json")
        assert code == 0
        answers.append(said)
    here, there = answers
    assert there.pop("engine") == "spark"
    assert {name: here[name] for name in there} == there
    shown = []
    for engine in ([], ["--engine", "spark"]):
        assert main(["mine", "baskets.csv", *asked, *engine, "--text"]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0].endswith(shown[1])


def test_a_mere_count_is_not_made_on_spark(shop, capsys, in_process):
    told = ("mine", "baskets.csv", "--count", "--min-support", "2", "--engine", "spark")
    refusal(capsys, *told, values=("--count", "--engine spark"))
