"""From a database to a release and back: the recipe asks the same query again, and holds no password."""

import json
import tomllib
from urllib.parse import quote

import duckdb
import psycopg
import pytest

import veilset as vs
from tests.support.postgres import PASSWORD, server
from veilset.cli import main

ROWS = [["ale", "bun", "cure"], ["ale", "bun"], ["ale", "fig"], ["ale", "bun"], ["bun"], ["ale"], []]
SALES = [(number, item) for number, row in enumerate(ROWS, 1) for item in row or [None]]
QUERY = "SELECT id, item FROM sales ORDER BY id, item"
PROMISE = ["--long", "id,item", "--sensitive-items", "cure", "--k", "2", "--p", "2", "--h", "1/2"]


@pytest.fixture
def sales(tmp_path):
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(path) as database:
        database.execute("CREATE TABLE sales (id INTEGER, item VARCHAR)")
        database.executemany("INSERT INTO sales VALUES (?, ?)", SALES)
    return str(path)


@pytest.fixture(scope="module")
def served():
    with server() as running:
        with psycopg.connect(running.url, autocommit=True) as connection:
            connection.execute("CREATE TABLE sales (id INTEGER, item TEXT)")
            connection.cursor().executemany("INSERT INTO sales VALUES (%s, %s)", SALES)
        yield running.url


def released(source, tmp_path, capsys):
    """What a release holds, made twice: by the command, and by its recipe."""
    out = tmp_path / "release"
    assert main(["publish", source, "--query", QUERY, *PROMISE, "--seed", "x", "--out", str(out), "--yes"]) == 0
    told = capsys.readouterr().out
    recipe = out / "custodian" / "recipe.toml"
    assert main(["publish", str(recipe), "--out", str(tmp_path / "again"), "--yes"]) == 0
    capsys.readouterr()
    for file in (out / "public").iterdir():
        assert file.read_bytes() == (tmp_path / "again" / "public" / file.name).read_bytes(), file.name
    return out, told + recipe.read_text() + (out / "custodian" / "report.html").read_text()


def check(out):
    certificate = json.loads((out / "public" / "certificate.json").read_text())
    assert (certificate["data"]["file"], certificate["data"]["format"]) == ("data.parquet", "parquet-long")
    data = vs.read(out / "public" / "data.parquet", long=("row", "item"))
    assert sorted(data.to_lists()) == sorted(sorted(set(row) - {"fig"}) for row in ROWS)
    recipe = tomllib.loads((out / "custodian" / "recipe.toml").read_text())
    assert recipe["input"]["query"] == QUERY
    assert vs.verify(out).holds


def test_a_release_of_a_duckdb_file(sales, tmp_path, capsys):
    out, _ = released(sales, tmp_path, capsys)
    check(out)
    with duckdb.connect(sales) as database:
        database.execute("INSERT INTO sales VALUES (9, 'ale')")
    recipe = out / "custodian" / "recipe.toml"
    assert main(["publish", str(recipe), "--out", str(tmp_path / "late")]) == 2
    assert "recipe" in capsys.readouterr().err
    assert main(["apply", str(out), sales, "--query", QUERY, "--out", str(tmp_path / "applied")]) == 0
    assert vs.verify(tmp_path / "applied").holds


@pytest.mark.parametrize("address", ["shop.duckdb", "duckdb:///shop.duckdb"])
def test_a_recipe_finds_a_duckdb_file_from_anywhere(address, sales, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["publish", address, "--query", QUERY, *PROMISE, "--out", "release", "--yes"]) == 0
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert main(["publish", "../release/custodian/recipe.toml", "--out", "again", "--yes"]) == 0
    by_hand = tmp_path / "by-hand.toml"
    text = (tmp_path / "release" / "custodian" / "recipe.toml").read_text()
    by_hand.write_text(text.replace(str(tmp_path) + "/", ""))
    assert main(["publish", str(by_hand), "--out", "third", "--yes"]) == 0, capsys.readouterr().err


def test_an_audit_of_a_duckdb_file(sales, capsys):
    assert main(["audit", sales, "--query", QUERY, *PROMISE]) == 1
    assert "fig" in capsys.readouterr().out
    assert main(["audit", sales, *PROMISE]) == 2
    assert "sales" in capsys.readouterr().err


@pytest.mark.postgres
def test_a_release_of_a_postgresql_query(served, tmp_path, capsys, monkeypatch):
    """The password is in the address, and nowhere else; the recipe takes it from the environment."""
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    out, told = released(served, tmp_path, capsys)
    check(out)
    assert quote(PASSWORD) in served
    assert PASSWORD not in told
    assert quote(PASSWORD) not in told
