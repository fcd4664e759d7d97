"""Where a command counts: what is refused before anything starts. tests/engines/spark has what Spark answers."""

import sys

import pytest

from tests.support.commands import refusal

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
