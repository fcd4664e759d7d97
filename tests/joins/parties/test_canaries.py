"""Tables full of random values: none of them is in any message, checkpoint, log or sentence, in any encoding."""

import random
import re
from pathlib import Path

import pyarrow as pa
import pytest

from tests.support.effort import repeats
from tests.support.parties import Parties, Tapped, run
from veilset.joins.parties.disrupted import Disrupted

COLUMNS = [
    "private_dose",
    "private_note",
    "private_age",
    "private_job",
    "private_beds",
    "private_head",
    "private_label",
]


class Stopped(Exception):
    """The coordinator dies."""


class Canaries:
    """Three tables of random values; half of the join values are shared."""

    def __init__(self, folder: Path, seed: int, **join: object) -> None:
        self.random = random.Random(seed)
        people, wards = [[draw() for _ in range(12)] for draw in (self.text, self.number)]
        patients = self.rows(40, {"patient": people[:9], "private_note": None, "private_dose": None, "ward": wards[:9]})
        patients["private_label"] = self.random.choices("yn", k=40)
        register = self.rows(
            40, {"id": people[3:], "private_age": None, "private_job": [self.text() for _ in range(3)]}
        )
        places = self.rows(40, {"ward": wards[3:], "private_beds": None, "private_head": [self.text(), self.text()]})
        self.columns = [patients, register, places]
        agreed = {"policy": "report", **join}
        self.parties = Parties(
            folder,
            {
                "hub": {},
                "clinic": {"visits": pa.table(patients)},
                "registry": {"people": pa.table(register)},
                "owner": {"wards": pa.table(places)},
            },
            [
                {"on": "visits.patient = people.id", "type": "text", "keys": {"visits": 20, "people": 20}, **agreed},
                {
                    "on": "visits.ward = wards.ward",
                    "type": "whole number",
                    "keys": {"visits": 20, "wards": 20},
                    **agreed,
                },
            ],
            "visits.private_label",
            ["n", "y"],
        )

    def text(self) -> str:
        return "".join(self.random.choices("abcdefghijklmnopqrstuvwxyz0123456789äß", k=16))

    def number(self) -> int:
        return self.random.randrange(2**40, 2**63)

    def rows(self, count: int, columns: dict) -> dict:
        made = {}
        for name, domain in columns.items():
            draw = self.text if name == "private_note" else self.number
            made[name] = [draw() if domain is None else domain[at % len(domain)] for at in range(count)]
            self.random.shuffle(made[name])
        return made

    @property
    def values(self) -> list:
        return [one for table in self.columns for column in table.values() for one in column if one not in ("y", "n")]

    def patterns(self) -> list[bytes]:
        """All values and private names as they could be written."""
        found: set[bytes] = {name.encode() for name in COLUMNS}
        for value in self.values:
            if isinstance(value, str):
                plain = [
                    value.encode(),
                    value.encode("utf-16-le"),
                    value.encode("utf-16-be"),
                    ascii(value)[1:-1].encode(),
                ]
                found |= {*plain, value.encode().hex().encode()}
            else:
                plain = [value.to_bytes(8, order) for order in ("little", "big")]
                found |= {*plain, *(one.hex().encode() for one in plain), str(value).encode(), f"{value:x}".encode()}
                found |= {f"{value:,}".encode()}
        return sorted(found)

    def check(self, content: bytes, where: object) -> None:
        """Raise if one of them is in there."""
        hit = self.search(content)
        assert hit is None, (where, hit)

    def search(self, content: bytes) -> re.Match[bytes] | None:
        if not hasattr(self, "_pattern"):
            self._pattern = re.compile(b"|".join(map(re.escape, self.patterns())))
        return self._pattern.search(content)


def files_to_see(folder: Path) -> dict[Path, bytes]:
    """What a run writes. Split lists have criteria: they are for their owner only, and stay there."""
    written = [one for one in folder.glob("*-state/**/*") if one.is_file() and one.name != "splits.json"]
    for one in [*written, *folder.glob("*-state/**/splits.json")]:
        assert one.stat().st_mode & 0o077 == 0 or one.name == "model.json", one
    return {one: one.read_bytes() for one in written}


@pytest.mark.parametrize("seed", range(repeats(10)))
def test_no_value_leaves_or_is_written(tmp_path, seed):
    canaries = Canaries(tmp_path, seed)
    tapped, said = Tapped(), []

    def dies(growth):
        if growth.stage.endswith("level 3 of the tree"):
            raise Stopped

    with pytest.raises(Stopped):
        run(canaries.parties.train(tap=tapped, tell=said.append, watch=dies))
    checkpoints = files_to_see(tmp_path)
    assert {one.parent.parent.name for one in checkpoints if one.suffix == ".bin"} == {"checkpoints", "coordinator"}
    trained = run(canaries.parties.train(tap=tapped, tell=said.append))
    assert len(trained.model.nodes) > 3
    logs = files_to_see(tmp_path)
    assert {one.name for one in logs} == {"audit.jsonl", "model.json"}
    for file, content in [*checkpoints.items(), *logs.items()]:
        canaries.check(content, file)
    pieces: dict[tuple, bytes] = {}
    for name, direction, peer, frame in tapped.frames:
        canaries.check(frame, (name, direction, peer))
        pieces[name, direction, peer] = pieces.get((name, direction, peer), b"") + frame
    for where, content in pieces.items():
        canaries.check(content, where)
    canaries.check("\n".join(said).encode(), "sentences")
    canaries.check(canaries.parties.study_path.read_bytes(), "study")
    split = [one.read_bytes() for one in tmp_path.glob("*-state/models/*/splits.json")]
    assert any(map(canaries.search, split))  # the search finds what is there


def test_refusals_tell_no_values(tmp_path):
    """The owner reads numbers; the others are told that a summary is not sent."""
    canaries = Canaries(tmp_path, 1, policy="refuse", floor=2)
    tapped, said = Tapped(), []
    with pytest.raises(Disrupted) as caught:
        run(canaries.parties.train(tap=tapped, tell=said.append))
    assert caught.value.fault == "refused"
    for name, direction, peer, frame in tapped.frames:
        canaries.check(frame, (name, direction, peer))
    canaries.check(str(caught.value).encode(), "error")
    assert not any(sign.isdigit() for sign in str(caught.value).partition("Agree")[0])
