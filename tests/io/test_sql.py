"""Queries of DuckDB files and of PostgreSQL: what comes out, what is refused, and that nothing is written or told."""

import subprocess
import sys
import textwrap
import time

import duckdb
import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.errors import refused
from tests.support.interrupting import interrupt
from tests.support.memory import leaving
from tests.support.postgres import PASSWORD, server
from tests.support.tables import transactions_of
from veilset.errors import BudgetExceeded, InvalidArgument, UnreadableInput
from veilset.io.arrow import rows_of
from veilset.io.layout import Layout
from veilset.io.sql import is_database, open_query, without_password
from veilset.limits import Limits

pytestmark = pytest.mark.no_sanitizer(
    reason="databases show the kernels nothing new, and take memory of their own there"
)

LISTS, WIDE = Layout("arrow"), Layout("arrow-wide")
LONG = Layout("arrow-long", columns=("id", "item"))
SALES = [(1, "ale"), (1, "bun"), (2, None), (3, "ale")]
HARD = "SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.range % 7 = b.range % 5"
AS_ROWS = [["ale", "bun"], [], ["ale"]]

STREAMED = """
    import sys
    from pathlib import Path
    from veilset.io.sql import open_query
    from veilset.limits import Limits
    def anonymous():
        return int(Path("/proc/self/status").read_text().split("RssAnon:")[1].split()[0]) // 1024
    before, most, count, size = anonymous(), 0, 0, 0
    for batch in open_query(sys.argv[1], sys.argv[2], Limits(memory_limit=sys.argv[3]))[1]:
        count, size, most = count + len(batch), size + batch.nbytes // 1024, max(most, anonymous())
    print(count, size // 1024, most - before)
"""


def streamed(source: str, query: str, memory_limit: str) -> list[int]:
    """How many rows and megabytes of Arrow came, and the largest anonymous memory of a process that read them."""
    command = [sys.executable, "-c", textwrap.dedent(STREAMED), source, query, memory_limit]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [int(number) for number in done.stdout.split()]


def asked(source, query, layout: Layout) -> list[list[str]]:
    schema, batches = open_query(str(source), query, Limits())
    return transactions_of(rows_of(batches, schema, layout))


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        ("postgresql://host/db", True),
        ("postgres://host", True),
        ("sales.duckdb", True),
        ("folder/SALES.DDB", True),
        ("duckdb:///sales.db", True),
        ("sales.parquet", False),
        ("postgresql", False),
        ("", False),
    ],
)
def test_what_is_a_database(source, answer):
    assert is_database(source) is answer


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://ann:pw@host:5432/db", "postgresql://ann@host:5432/db"),
        ("postgresql://ann:p?w:x@[::1]:5432/db", "postgresql://ann@[::1]:5432/db"),
        ("postgres://:pw@host", "postgres://@host"),
        ("postgresql://host:5432/db?user=ann&password=pw", "postgresql://host:5432/db?user=ann"),
        ("postgresql://host/db?password=pw", "postgresql://host/db"),
        ("postgresql://host/db?sslpassword=pw&sslmode=require", "postgresql://host/db?sslmode=require"),
        ("postgresql://ann@host1:1,host2:2/db", "postgresql://ann@host1:1,host2:2/db"),
        ("postgresql://ann:p/w@x@host/db", "postgresql://ann@host/db"),
        ("sales.duckdb", "sales.duckdb"),
    ],
)
def test_addresses_without_password(url, shown):
    assert without_password(url) == shown


@given(password=st.text(st.characters(exclude_categories=["Cs"]), min_size=1).map(lambda text: f"<{text}>"))
def test_no_password_is_shown(password):
    """Not even one that should have been written in another way."""
    assert password not in without_password(f"postgresql://ann:{password}@host/db")
    if "/" in password or "@" in password:
        with refused(InvalidArgument, "postgresql://USER@HOST") as caught:
            open_query(f"postgresql://ann:{password}@host/db", "SELECT 1", Limits())
        assert password not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["postgresql://ann:p%w@host/db", "postgresql://ann:pw@host/db?x=y", "postgresql://h/a?b=c@d"]
)
def test_addresses_that_are_not_understood(url):
    with refused(InvalidArgument, "PostgreSQL", "address"):
        open_query(url, "SELECT 1", Limits())


@pytest.mark.parametrize(
    ("source", "package", "named"),
    [("a.duckdb", "duckdb", "DuckDB files"), ("postgresql://h/d", "psycopg", "PostgreSQL databases")],
)
def test_without_the_packages(source, package, named, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with refused(InvalidArgument, named, package, "'veilset[sql]'"):
        open_query(source, "SELECT 1", Limits())


def test_memory_for_a_database():
    with refused(BudgetExceeded, "memory limit"):
        open_query("a.duckdb", "SELECT 1", Limits(memory_limit=1))


# DuckDB


@pytest.fixture
def sales(tmp_path):
    path = tmp_path / "sales.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE sales (id BIGINT, item VARCHAR)")
        connection.executemany("INSERT INTO sales VALUES (?, ?)", SALES)
        connection.execute('CREATE SCHEMA "Old"; CREATE TABLE "Old"."the ""best""" (x INTEGER[])')
    return path


def test_duckdb_in_every_shape(sales):
    assert asked(sales, "SELECT * FROM sales ORDER BY id", LONG) == AS_ROWS
    assert asked(f"duckdb:///{sales}", "FROM sales ORDER BY id;", LONG) == AS_ROWS
    assert (
        asked(sales, "SELECT list(item) FILTER (item IS NOT NULL) FROM sales GROUP BY id ORDER BY id", LISTS) == AS_ROWS
    )
    wide = "SELECT max(item = 'ale') AS ale, sum((item = 'bun')::int) AS bun FROM sales GROUP BY id ORDER BY id"
    assert asked(sales, wide, WIDE) == AS_ROWS
    types = "SELECT i::UTINYINT::VARCHAR::ENUM('0', '1', '2') AS item, uuid() AS id FROM range(3) r(i)"
    assert asked(sales, types, LONG) == [["0"], ["1"], ["2"]]
    schema, batches = open_query(str(sales), "SELECT 1 AS a WHERE false", Limits())
    assert (schema.names, sum(map(len, batches))) == (["a"], 0)


@pytest.mark.parametrize("query", [None, "", " \n"])
def test_duckdb_without_a_query(query, sales):
    tables = '"Old"."the ""best""" (x INTEGER[]); sales (id BIGINT, item VARCHAR)'
    with refused(InvalidArgument, "sales.duckdb'", tables, 'SELECT * FROM "Old"."the ""best"""'):
        open_query(str(sales), query, Limits())


def test_a_database_without_tables(tmp_path):
    duckdb.connect(str(tmp_path / "a.ddb")).close()
    with refused(InvalidArgument, "a.ddb'", "tables"):
        open_query(str(tmp_path / "a.ddb"), None, Limits())


def test_many_tables(tmp_path):
    with duckdb.connect(str(tmp_path / "a.ddb")) as connection:
        for number in range(23):
            connection.execute(f"CREATE TABLE t{number} (a INTEGER)")
    with refused(InvalidArgument, "t0 (a INTEGER)", "3 more"):
        open_query(str(tmp_path / "a.ddb"), None, Limits())


@pytest.mark.parametrize(
    ("query", "error", "named"),
    [
        ("SELECT * FORM sales", UnreadableInput, ("Parser Error", "LINE 1: SELECT * FORM")),
        ("SELECT itm FROM sales", UnreadableInput, ('"itm"', '"item"')),
        ("SELECT * FROM read_csv('/etc/passwd')", UnreadableInput, ("Permission Error",)),
        ("SELECT (-1)::UTINYINT", UnreadableInput, ("Conversion Error",)),
        ("SELECT error('no ' || id) FROM sales", UnreadableInput, ("no 1",)),
        ("SELECT 1; SELECT 2", InvalidArgument, ("SELECT, SELECT",)),
        ("DROP TABLE sales", InvalidArgument, ("DROP",)),
        ("INSERT INTO sales VALUES (9, 'x') RETURNING id", InvalidArgument, ("INSERT",)),
        ("COPY sales TO 'out.csv'", InvalidArgument, ("COPY",)),
        ("ATTACH 'other.duckdb'", InvalidArgument, ("ATTACH",)),
        ("SET threads = 1", InvalidArgument, ("SET",)),
        (";", InvalidArgument, ("nothing",)),
    ],
)
def test_what_duckdb_refuses(query, error, named, sales, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = sales.read_bytes()
    with refused(error, *named):
        list(open_query(str(sales), query, Limits())[1])
    assert sales.read_bytes() == before
    assert list(tmp_path.iterdir()) == [sales]


def test_files_that_are_no_duckdb_file(tmp_path):
    with refused(UnreadableInput, "a.duckdb'"):
        open_query(str(tmp_path / "a.duckdb"), "SELECT 1", Limits())
    (tmp_path / "a.duckdb").write_text("id,item\n1,a\n" * 1000)
    with refused(UnreadableInput, "a.duckdb'", "DuckDB"):
        open_query(str(tmp_path / "a.duckdb"), "SELECT 1", Limits())


def test_duckdb_limits(sales):
    with refused(BudgetExceeded, "time limit", 1):
        open_query(str(sales), HARD, Limits(time_limit=1))
    sort = "SELECT random() AS x FROM range(100000000) ORDER BY x"
    with refused(BudgetExceeded, "memory limit"):
        list(open_query(str(sales), sort, Limits(memory_limit=leaving(500_000_000)))[1])


@pytest.mark.parametrize(
    ("late", "error"),
    [
        pytest.param("list_resize([i], 1000000)", BudgetExceeded, id="memory"),
        pytest.param("[error('Out of Memory Error: ' || i)]", UnreadableInput, id="raised by the query"),
        pytest.param("[('Out of Memory Error: ' || i)::BIGINT]", UnreadableInput, id="conversion"),
    ],
)
def test_errors_of_duckdb_amid_a_result(late, error, sales):
    """They come through Arrow's stream, which keeps their words and not their class."""
    query = f"SELECT CASE WHEN i < 900000 THEN [i] ELSE {late} END FROM range(901000) r(i)"  # noqa: S608
    _, batches = open_query(str(sales), query, Limits(memory_limit=leaving(500_000_000), threads=1))
    assert len(next(batches)) > 0
    with refused(error):
        list(batches)


def test_a_query_that_nobody_reads_leaves_the_file(sales):
    schema, batches = open_query(str(sales), "SELECT * FROM sales", Limits())
    assert schema.names == ["id", "item"]
    del batches
    with duckdb.connect(str(sales)) as connection:  # would be refused while it is open for reading
        connection.execute("DROP TABLE sales")


def test_duckdb_streams(tmp_path):
    """More than the limit in all, but never at once."""
    path = tmp_path / "large.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT range // 8 AS id, 'item number ' || range % 1000 AS item FROM range(30000000)"
        )
    count, megabytes, most = streamed(str(path), "SELECT * FROM t", "500MB")
    assert count == 30_000_000
    assert megabytes > 700
    assert most < 500


def test_duckdb_is_interrupted(sales):
    script = """
        import sys
        from veilset.io.sql import open_query
        from veilset.limits import Limits
        print("go", flush=True)
        open_query(sys.argv[1], sys.argv[2], Limits())
    """
    code, err = interrupt(script, str(sales), HARD)
    assert code != 0
    assert "KeyboardInterrupt" in err


# PostgreSQL


@pytest.fixture(scope="session")
def postgres():
    with server() as running:
        with psycopg.connect(running.url) as connection:
            connection.execute("CREATE TABLE sales (id bigint, item text)")
            connection.cursor().executemany("INSERT INTO sales VALUES (%s, %s)", SALES)
            connection.execute('CREATE SCHEMA "Old"; CREATE TABLE "Old".more (x integer[])')
        yield running


@pytest.mark.postgres
def test_postgresql_in_every_shape(postgres):
    url = postgres.url
    assert asked(url, "SELECT * FROM sales ORDER BY id;", LONG) == AS_ROWS
    lists = "SELECT array_remove(array_agg(item), NULL) AS items FROM sales GROUP BY id ORDER BY id"
    assert asked(url, lists, LISTS) == AS_ROWS
    assert asked(url, "SELECT ARRAY[1, 20]::int[] AS x UNION ALL SELECT NULL", LISTS) == [["1", "20"], []]
    wide = "SELECT bool_or(item = 'ale') AS ale, max((item = 'bun')::int) AS bun FROM sales GROUP BY id ORDER BY id"
    assert asked(url, wide, WIDE) == AS_ROWS
    schema, batches = open_query(url, "SELECT 1 AS a, '100%' AS b WHERE false", Limits())
    assert (schema.names, sum(map(len, batches))) == (["a", "b"], 0)


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("7::int2", 7),
        ("7::int4", 7),
        ("9223372036854775807::int8", 2**63 - 1),
        ("1.5::float8", 1.5),
        ("true", True),
        ("'x'::varchar(3)", "x"),
        ("'00000000-0000-0000-0000-000000000001'::uuid", "00000000-0000-0000-0000-000000000001"),
        ("date '2024-05-01'", "2024-05-01"),
        ("date 'infinity'", "infinity"),
        ("12345678901234567890.50::numeric", "12345678901234567890.50"),
        ("'NaN'::numeric", "NaN"),
        ("3::numeric(9, 0)", 3),
        ("ARRAY['a', NULL]", ["a", None]),
        ("ARRAY[1, 2]::int8[]", [1, 2]),
        ("ARRAY['00000000-0000-0000-0000-000000000001'::uuid]", ["00000000-0000-0000-0000-000000000001"]),
        ("ARRAY[1.5]::numeric[]", ["1.5"]),
        ("timestamp '2024-05-01 12:00'", "2024-05-01 12:00:00"),
        ("NULL::int", None),
    ],
)
def test_types_of_postgresql(value, expected, postgres):
    _, batches = open_query(postgres.url, f"SELECT {value} AS x", Limits())
    [batch] = batches
    [found] = batch.column("x").to_pylist()
    assert (found, type(found)) == (expected, type(expected)) or found == expected


@pytest.mark.postgres
def test_values_that_do_not_fit(postgres):
    with refused(UnreadableInput, "'x'", "list<item: string>"):
        list(open_query(postgres.url, "SELECT '{{a},{b}}'::text[] AS x", Limits())[1])


@pytest.mark.postgres
def test_postgresql_without_a_query(postgres):
    shown, tables = without_password(postgres.url), '"Old".more (x ARRAY); sales (id bigint, item text)'
    with refused(InvalidArgument, repr(shown), tables):
        open_query(postgres.url, None, Limits())


WRITING = [
    ("SELECT 1; DROP TABLE sales", "multiple commands"),
    ("SELECT 1; COMMIT; DROP TABLE sales", "multiple commands"),
    ("DROP TABLE sales", '"DROP"'),
    ("INSERT INTO sales VALUES (9, 'x') RETURNING id", '"INSERT"'),
    ("WITH gone AS (DELETE FROM sales RETURNING id) SELECT * FROM gone", "data-modifying"),
    ("SELECT take_all()", "read-only"),
    ("SELECT set_config('transaction_read_only', 'off', false), take_all()", "transaction"),
]


@pytest.mark.postgres
@pytest.mark.parametrize(("query", "named"), WRITING)
def test_postgresql_is_only_read(query, named, postgres):
    with psycopg.connect(postgres.url) as connection:
        connection.execute(
            "CREATE OR REPLACE FUNCTION take_all() RETURNS int LANGUAGE sql AS 'DELETE FROM sales RETURNING 1'"
        )
    with refused(UnreadableInput, named):
        list(open_query(postgres.url, query, Limits())[1])
    with psycopg.connect(postgres.url) as connection:
        assert connection.execute("SELECT count(*) FROM sales").fetchone() == (len(SALES),)


@pytest.mark.postgres
def test_mistakes_in_a_query(postgres):
    with refused(UnreadableInput, '"FORM"', 10):
        open_query(postgres.url, "SELECT * FORM sales", Limits())
    with refused(UnreadableInput, '"itm"', 8, '"sales.item"'):
        open_query(postgres.url, "SELECT itm FROM sales", Limits())
    with refused(UnreadableInput, "division by zero"):
        list(open_query(postgres.url, "SELECT 1 / (id - 1) FROM sales", Limits())[1])


@pytest.mark.postgres
def test_connections_that_fail(postgres, monkeypatch):
    url = postgres.url
    with refused(UnreadableInput, "'shop'", "127.0.0.1", postgres.port, "'ann'", "password authentication") as caught:
        open_query(url.replace("s3cret", "wr0ng"), "SELECT 1", Limits())
    assert "wr0ng" not in str(caught.value)
    with refused(UnreadableInput, "'nope'", '"nope"', "PGPASSWORD") as caught:
        open_query(url.replace("/shop", "/nope"), "SELECT 1", Limits())
    assert PASSWORD not in str(caught.value)
    bare = without_password(url)
    with refused(UnreadableInput, "no password supplied"):
        open_query(bare, "SELECT 1", Limits())
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    assert asked(bare, "SELECT ARRAY['a'] AS items", LISTS) == [["a"]]


def test_a_server_that_is_not_there(monkeypatch):
    for name in ("PGUSER", "PGHOST", "PGPORT", "PGDATABASE"):
        monkeypatch.delenv(name, raising=False)
    with refused(UnreadableInput, "'d'", "127.0.0.1", "port 1", "'ann'") as caught:
        open_query("postgresql://ann:hidden@127.0.0.1:1/d", "SELECT 1", Limits())
    assert "hidden" not in str(caught.value)


@pytest.mark.postgres
def test_postgresql_time_limit(postgres):
    with refused(BudgetExceeded, "time limit", 1):
        list(open_query(postgres.url, "SELECT pg_sleep(60)", Limits(time_limit=1))[1])
    assert nothing_runs(postgres)


ACTIVE = """
    SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep%' AND state = 'active' AND pid <> pg_backend_pid()
"""


def nothing_runs(postgres) -> bool:
    """Whether the server has no query but this one left, at the latest after some seconds."""
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        for _ in range(50):
            if connection.execute(ACTIVE).fetchone() == (0,):
                return True
            time.sleep(0.1)
    return False


@pytest.mark.postgres
def test_postgresql_is_interrupted(postgres):
    script = """
        import sys
        from veilset.io.sql import open_query
        from veilset.limits import Limits
        _, batches = open_query(sys.argv[1], "SELECT pg_sleep(60)", Limits())
        print("go", flush=True)
        next(batches)
    """
    code, err = interrupt(script, postgres.url)
    assert code != 0
    assert "KeyboardInterrupt" in err
    assert nothing_runs(postgres)


@pytest.mark.postgres
def test_postgresql_streams(postgres):
    """Two million rows, which as Python objects or as Arrow would take more than the process may."""
    query = "SELECT g AS id, repeat('x', 200) || g AS item FROM generate_series(1, 2000000) g"
    count, megabytes, most = streamed(postgres.url, query, "300MB")
    assert count == 2_000_000
    assert megabytes > 350
    assert most < 150
