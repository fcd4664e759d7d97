"""Damaged files of every container as inputs of a command: an answer or an error, with the exit code of one.

What reading makes of such files is in ``test_reading_fuzz.py``; here it is what a user is told.
"""

import json
import random
from collections import Counter

import pytest

from tests.support.commands import run
from tests.support.effort import repeats
from tests.support.mutating import mutated
from tests.support.mutating_seeds import readers_of

pytestmark = [
    pytest.mark.attack,
    pytest.mark.no_sanitizer(reason="pyarrow reads the bytes, and takes its time"),
]

EACH = 250  # at home, too: two thousand in all
READERS = {
    reader.name: reader
    for kind in ("basket", "jsonl", "parquet", "arrow")
    for reader in readers_of(kind)
    if not reader.options
}


def test_two_thousand_containers_of_all_kinds_are_tried():
    assert EACH * len(READERS) >= 2000
    assert {reader.suffix for reader in READERS.values()} == {
        *(".csv", ".csv.gz", ".csv.zst", ".jsonl", ".jsonl.gz", ".jsonl.zst", ".parquet", ".arrow"),
    }


@pytest.mark.parametrize("name", READERS)
def test_auditing_damaged_files(name, tmp_path, capsys):
    reader, dice, codes = READERS[name], random.Random(f"audit {name}"), Counter()
    victim = tmp_path / f"victim{reader.suffix}"
    for _ in range(max(EACH, repeats(EACH))):
        victim.write_bytes(mutated(dice.choice(reader.seeds), dice.choice(reader.seeds), dice, near_ends=True))
        code, told = run(capsys, "audit", victim, "--format", reader.format, "--k", "2", "--p", "1", "--json")
        assert code in (0, 1, 2, 3), json.dumps(told)
        assert ("error" in told) == (code == 2)
        codes[code] += 1
    assert codes[2] > 0
