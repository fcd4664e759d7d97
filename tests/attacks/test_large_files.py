"""Files larger than the memory limit, from reading to verifying: the same answers, and nothing left behind.

Every row stands in the file at least twice, once without its sensitive item: so k=2 and h=1/2 hold whatever is known,
but for one item that a sample has once.
"""

import hashlib
import json
import resource
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import veilset as vs
from tests.support.errors import names, refused
from tests.support.interrupting import interrupt
from tests.support.memory import Watched
from veilset.cli import main

pytestmark = [
    pytest.mark.attack,
    pytest.mark.no_sanitizer(reason="the sanitizer takes memory of its own"),
]

GATHER = sys.modules["veilset.io.gather"]  # the package has a function of that name
PROMISE = vs.Coherence(h="1/2", k=2, p=2)
ROOM, SMALL_ROOM = 90_000_000, 70_000_000  # bytes that a step may take besides what the libraries do
ITEMS, LENGTH, DISTINCT = 300, 16, 4000
SENSITIVE, ONCE = ITEMS, ITEMS + 1  # what they are called when names are numbers

_STEPS = """
import hashlib, json, sys, tempfile
import veilset as vs
from tests.support.memory import own_memory
from veilset.io.gather import _on_disk

kind, path, sensitive, earlier, out, room = sys.argv[1:]
tempfile.gettempdir()  # tries the folder, with a file that anybody can see
limit = own_memory() + int(room)

def step(name):
    print(">", name, flush=True)

def sum_of(array):
    return hashlib.sha256(array).hexdigest()

step("read")
data = vs.read(path, long=("who", "what") if kind == "long" else None, memory_limit=limit)
step("look")
answer = {"limit": limit, "on disk": _on_disk(data.items)}
answer |= {"items": sum_of(data.items), "offsets": sum_of(data.offsets)}
step("audit")
audit = vs.audit(data.with_sensitive([sensitive]), vs.Coherence(h="1/2", k=2, p=2), memory_limit=limit)
answer |= {"found": audit.found, "checked": audit.checked}
step("apply")
release = vs.apply(earlier, data, memory_limit=limit)
step("publish")
bundle = vs.publish(release, out, memory_limit=limit)
del release, data
step("verify")
answer["verdict"] = vs.verify(out, memory_limit=limit).verdict
print(json.dumps(answer))
"""


def name(kind: str, item: int) -> str:
    return str(item) if kind == "fimi" else f"{'an item' if item < ITEMS else 'the item'} called {item:03d}"


def rows_twice(seed: int) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    likely = 1 / np.arange(1, ITEMS + 1) ** 0.7
    drawn = rng.choice(ITEMS, (DISTINCT, LENGTH), p=likely / likely.sum())
    rows = [list(dict.fromkeys(row)) for row in drawn.tolist()]
    return [*rows, *([*row, SENSITIVE] if number % 5 == 0 else row for number, row in enumerate(rows))]


def write(kind: str, path: Path, repeated: int) -> None:
    """A file in which each of the rows stands *repeated* times, and one more row as often."""
    rows = [*rows_twice(7), [0, ONCE]]
    named = [[name(kind, item) for item in row] for row in rows]
    if kind == "parquet":
        table = pa.table({"items": pa.array(named)})
        with pyarrow.parquet.ParquetWriter(path, table.schema) as writer:
            for _ in range(repeated):
                writer.write_table(table)
        return
    with path.open("w") as file:
        if kind == "long":
            # The items of a transaction are far apart: first the first items of all, then the second, and so on.
            file.write("who,what\n")
            for place in range(LENGTH + 1):
                for block in range(repeated):
                    lines = [f"{block}-{who},{row[place]}" for who, row in enumerate(named) if place < len(row)]
                    file.write("\n".join(lines) + "\n")
            return
        text = "\n".join((" " if kind == "fimi" else ",").join(row) for row in named) + "\n"
        for _ in range(repeated):
            file.write(text)


@pytest.fixture(scope="module")
def earlier(tmp_path_factory):
    """Releases made from a sample, in which one item had to go: with names, and with numbers for names."""
    made = {}
    for kind in ("basket", "fimi"):
        folder = tmp_path_factory.mktemp("sample")
        sample = folder / ("sample.dat" if kind == "fimi" else "sample.csv")
        write(kind, sample, 1)
        data = vs.read(sample, sensitive=[name(kind, SENSITIVE)])
        release = vs.anonymize(data, PROMISE, method="tree")
        assert release.suppressed == (name(kind, ONCE),)
        made[kind] = vs.publish(release, folder / "release").path
    return made


@pytest.mark.parametrize(
    ("kind", "file", "repeated", "room"),
    [
        ("basket", "large.csv", 40, SMALL_ROOM),
        ("long", "large.csv", 12, ROOM),
        ("parquet", "large.parquet", 50, 110_000_000),  # Arrow takes more, and not always the same
        ("fimi", "large.dat", 40, SMALL_ROOM),
    ],
)
def test_the_same_answers_within_the_limit(kind, file, repeated, room, earlier, tmp_path):
    path, tmp = tmp_path / file, tmp_path / "tmp"
    tmp.mkdir()
    write(kind, path, repeated)
    if kind == "basket":
        assert path.stat().st_size > room
    before = earlier["fimi" if kind == "fimi" else "basket"]
    arguments = (path, name(kind, SENSITIVE), before, tmp_path / "new", room)
    found = Watched(_STEPS, kind, *map(str, arguments), tmp=tmp)
    answer = found.answer
    assert answer["on disk"], "It was to be too large for memory."
    assert {step: peak for step, peak in found.peaks.items() if peak > answer["limit"]} == {}
    assert found.seen == set(), "Whoever may list the folder must not see what is in it."
    assert answer["verdict"] == "holds"

    data = vs.read(path, long=("who", "what") if kind == "long" else None, sensitive=[name(kind, SENSITIVE)])
    sums = {"items": hashlib.sha256(data.items).hexdigest(), "offsets": hashlib.sha256(data.offsets).hexdigest()}
    assert {key: answer[key] for key in sums} == sums
    audit = vs.audit(data, PROMISE)
    assert (answer["found"], answer["checked"]) == (audit.found, audit.checked)
    certificate = json.loads((tmp_path / "new" / "public" / "certificate.json").read_text())
    assert certificate["transactions"] == len(data) == repeated * (2 * DISTINCT + 1)
    report = (tmp_path / "new" / "public" / "report.html").read_text()
    assert "<svg" in report


@pytest.fixture
def small_and_on_disk(tmp_path, monkeypatch):
    """A file of two pieces that is held on disk, whatever memory there is."""
    path = tmp_path / "baskets.csv"
    write("basket", path, 20)
    monkeypatch.setattr(GATHER, "_COPIES", 10**9)
    return path


def test_no_room_on_the_disk(small_and_on_disk, capsys):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, hard))
    try:
        code = main(["audit", str(small_and_on_disk), "--k", "2", "--p", "1", "--json"])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    said = json.loads(capsys.readouterr().out)["error"]
    assert code == 4
    assert names(said["what"], "File too large")
    assert names(said["next_step"], "TMPDIR")


def test_a_disk_is_not_filled_to_the_brim(small_and_on_disk, monkeypatch):
    monkeypatch.setattr(GATHER, "_DISK_LEFT", 2.0)
    with refused(vs.BudgetExceeded, "No space left on device", "TMPDIR"):
        vs.read(small_and_on_disk)


@pytest.mark.parametrize("command", ["audit", "publish", "apply", "verify"])
def test_a_limit_below_what_is_used_already(command, earlier, tmp_path, capsys):
    path = tmp_path / "baskets.csv"
    path.write_text("ale,bun\n" * 4)
    arguments = {
        "audit": [path, "--k", "2", "--p", "1"],
        "publish": [path, "--k", "2", "--p", "1", "--out", tmp_path / "new"],
        "apply": [earlier["basket"], path, "--unknown", "keep", "--out", tmp_path / "new"],
        "verify": [earlier["basket"]],
    }[command]
    assert main([command, *map(str, arguments), "--memory-limit", "1MB", "--json"]) == 4
    said = json.loads(capsys.readouterr().out)["error"]
    assert names(said["what"], "memory limit (0.001 GB)")
    assert names(said["next_step"], "memory limit")
    assert [p.name for p in tmp_path.iterdir()] == ["baskets.csv"]


_FOR_EVER = """
import sys, tempfile
from veilset.cli import main
sys.modules["veilset.io.gather"]._COPIES = 10**9
path, earlier, out, tempfile.tempdir = sys.argv[1:]
print("go", flush=True)
while (code := main(["apply", earlier, path, "--out", out, "--replace", "--memory-limit", "1GB"])) == 0:
    pass
sys.exit(code)
"""


def test_an_interrupted_run_leaves_nothing(earlier, tmp_path):
    path, tmp, out = tmp_path / "large.csv", tmp_path / "tmp", tmp_path / "out"
    tmp.mkdir()
    out.mkdir()
    write("basket", path, 40)
    code, said = interrupt(_FOR_EVER, str(path), str(earlier["basket"]), str(out / "new"), str(tmp))
    assert code == 130, said
    assert "Traceback" not in said
    assert list(tmp.iterdir()) == []
    assert [p.name for p in out.iterdir() if p.name != "new"] == []
