"""Certificates that are small and ask for much: memory for what they are not, or hours to be told so."""

import json
import random
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

import veilset as vs
from tests.support.bundles import edit_certificate, exchange_file
from tests.support.errors import names
from tests.support.places import ROOT
from tests.support.releases import answer, message, published
from veilset.publish.checks import ROOM_FOR_JSON

MEGABYTE = 10**6


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> vs.Bundle:
    return published(tmp_path_factory.mktemp("shop"), random_state=1)


def many(text: str) -> str:
    return f"[{','.join([text] * (MEGABYTE // (len(text) + 1)))}]"


SHAPES: dict[str, Callable[[dict], object]] = {
    "a key of lists": lambda c: c.update(more=json.loads(many("[]"))),
    "a key of objects": lambda c: c.update(more=json.loads(many('{"":0}'))),
    "lists within lists": lambda c: c.update(more=json.loads(many("[" * 300 + "]" * 300))),
    "keys": lambda c: c.update({f"{number}": 0 for number in range(MEGABYTE // 10)}),
    "numbers for items": lambda c: c.update(sensitive=json.loads(many("0"))),
    "coarser names of numbers": lambda c: c.update(generalized={"ale": json.loads(many("0"))}),
    "coarser names of nothing": lambda c: c.update(generalized={f"{n}": 0 for n in range(MEGABYTE // 10)}),
    "a parameter of numbers": lambda c: c["promise"]["parameters"].update(k=json.loads(many("0"))),
    "a parameter of lists": lambda c: c["promise"]["parameters"].update(k=json.loads(many('["a"]'))),
    "parameters": lambda c: c["promise"]["parameters"].update({f"{n}": 0 for n in range(MEGABYTE // 10)}),
}

_VERIFYING = """
import sys, veilset as vs
from tests.support.memory import peak_memory
try:
    vs.verify(sys.argv[2])
except vs.VeilsetError:
    pass
before = peak_memory()
print(vs.verify(sys.argv[1]).verdict, peak_memory() - before)
"""


@pytest.mark.parametrize("shape", SHAPES)
def test_memory_is_in_proportion_to_size(public, tmp_path, shape):
    """A million zeros took almost two gigabytes: an error for each of them, three times."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "certificate.json").write_text("{}")  # what is loaded for it is no part of it
    edit_certificate(public, SHAPES[shape])
    content = json.loads((public / "certificate.json").read_text())
    (public / "certificate.json").write_text(json.dumps(content, separators=(",", ":")))
    size = (public / "certificate.json").stat().st_size
    assert size > MEGABYTE // 2
    command = [sys.executable, "-c", textwrap.dedent(_VERIFYING), str(public), str(tmp_path / "other")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    verdict, grown = done.stdout.split()
    assert verdict == "malformed"
    assert int(grown) < ROOM_FOR_JSON * size


@contextmanager
def in_no_time() -> Iterator[None]:
    started = time.process_time()
    yield
    assert time.process_time() - started < 20  # minutes or hours, not a measurement


def test_an_item_that_is_listed_twice_among_very_many(public):
    listed = [f"{number}" for number in range(150_000)]
    edit_certificate(public, lambda c: c.update(generalized={"ale": [*listed, listed[-1]]}), fix_sums=True)
    with in_no_time():
        assert names(message(public, "altered", 1), "149999")


def test_an_item_that_stands_twice_in_a_cell_of_very_many(tmp_path):
    data = vs.Transactions.from_lists([["a", "c"], ["b", "d"]] * 2)
    release = vs.anonymize(data, vs.LDiverseAnatomy(2), columns=[["a", "b"], ["c", "d"]], random_state=1)
    public = vs.publish(release, tmp_path / "out", out_format="jsonl").public
    first, *rest = (public / "anatomy.jsonl").read_text().splitlines(keepends=True)
    row = json.loads(first)
    (column,) = (name for name, cell in row.items() if isinstance(cell, list) and {*cell} & {"a", "b"})
    row[column] += [f"{number}" for number in range(150_000)] + ["149999"]
    exchange_file(public, "anatomy.jsonl", (json.dumps(row) + "\n" + "".join(rest)).encode())
    with in_no_time():
        assert names(message(public, "malformed", 2), "149999")


def test_a_sensitive_item_that_does_not_occur_but_resembles_one(tmp_path):
    """Of names as long as these, nobody waits to be told which are similar."""
    letters = [chr(0x4E00 + number) for number in range(4000)] * 50
    random.Random(1).shuffle(letters)
    data = vs.Transactions.from_lists([["".join(letters)]] * 4)
    public = vs.publish(vs.anonymize(data, vs.Coherence(k=2, p=1)), tmp_path / "out", allow_empty_promise=True).public
    random.Random(2).shuffle(letters)
    edit_certificate(public, lambda c: c.update(sensitive=["".join(letters)]), fix_sums=True)
    with in_no_time():
        assert answer(public) == ("altered", 1)


def test_a_key_that_looks_like_a_verdict(public):
    edit_certificate(public, lambda c: c.update({"x\n\nHOLDS  Coherence(k=2) holds on the bytes of data.csv.": 1}))
    assert "\n" not in message(public, "malformed", 2)
    edit_certificate(public, lambda c: c.update({"x" * MEGABYTE: 1}))
    assert len(message(public, "malformed", 2)) < 1000
