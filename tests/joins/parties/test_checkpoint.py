"""Checkpoints: what was received, stage by stage."""

import errno

import numpy as np
import pytest

from tests.support.errors import refused
from veilset.errors import CannotWrite
from veilset.joins.parties.checkpoint import Checkpoint, can_go_on

BINDING = {"study": "s", "tables": "t"}
RUN = "0123456789abcdef" * 2


def written(folder, stages: int = 3) -> Checkpoint:
    point = Checkpoint.find(folder, BINDING)
    point.begin(RUN, False, 0)
    for number in range(stages):
        point.note("summary", {"edge": number}, {"keys": np.arange(number), "empty": np.empty(0, np.uint64)})
        point.note("other", {}, {})
        point.complete()
    return point


def test_what_is_noted_is_found(tmp_path):
    written(tmp_path / "a" / "b")
    found = Checkpoint.find(tmp_path / "a" / "b", BINDING)
    assert (found.run, found.wide, found.stages) == (RUN, False, 3)
    first, second = found.stage(2)
    assert (first.kind, first.fields, first.arrays["keys"].tolist()) == ("summary", {"edge": 2}, [0, 1])
    assert first.arrays["empty"].dtype == np.uint64
    assert (second.kind, second.fields, second.arrays) == ("other", {}, {})


def test_stage_that_was_going_on_is_left_out(tmp_path):
    point = written(tmp_path)
    point.note("summary", {}, {})
    assert Checkpoint.find(tmp_path, BINDING).stages == 3
    point.begin(RUN, False, 3)
    point.complete()
    assert point.stage(3) == []


@pytest.mark.parametrize("binding", [{"study": "s", "tables": "u"}, {"study": "x", "tables": "t"}, {"study": "s"}])
def test_other_study_or_tables(tmp_path, binding):
    written(tmp_path)
    found = Checkpoint.find(tmp_path, binding)
    assert (found.run, found.stages) == ("", 0)
    found.begin("f" * 32, True, 2)
    assert found.stages == 0
    assert not [*tmp_path.glob("stage-*")]


@pytest.mark.parametrize(("run", "stages", "left"), [(RUN, 1, 1), (RUN, 3, 3), (RUN, 9, 0), ("f" * 32, 2, 0)])
def test_begin_goes_back(tmp_path, run, stages, left):
    point = written(tmp_path)
    point.begin(run, True, stages)
    assert point.stages == left == len([*tmp_path.glob("stage-*.bin")])
    assert (Checkpoint.find(tmp_path, BINDING).run, Checkpoint.find(tmp_path, BINDING).wide) == (run, True)


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:-9],
        lambda content: b"",
        lambda content: b"x" * 99,
        lambda content: content.replace(b"summary", b"summarx"),
        lambda content: content[:-33] + bytes([content[-33] ^ 1]) + content[-32:],
    ],
)
def test_stages_after_a_damaged_one_are_done_again(tmp_path, damage):
    written(tmp_path)
    file = tmp_path / "stage-000001.bin"
    file.write_bytes(damage(file.read_bytes()))
    assert Checkpoint.find(tmp_path, BINDING).stages == 1


@pytest.mark.parametrize("head", ["", "[]", "3", '{"run": 1}', '{"binding": {}}'])
def test_damaged_head(tmp_path, head):
    written(tmp_path)
    (tmp_path / "run.json").write_text(head)
    assert Checkpoint.find(tmp_path, BINDING).run == ""


def test_only_its_owner_can_read_it(tmp_path):
    written(tmp_path / "point")
    assert {one.stat().st_mode & 0o777 for one in (tmp_path / "point").iterdir()} == {0o600}
    assert (tmp_path / "point").stat().st_mode & 0o777 == 0o700


def test_delete(tmp_path):
    point = written(tmp_path / "point")
    point.delete()
    assert (point.run, point.stages, [*tmp_path.iterdir()]) == ("", 0, [])
    point.delete()


def test_full_disk(tmp_path, monkeypatch):
    point = written(tmp_path)

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("veilset.joins.parties.checkpoint.write_durably", full)
        with refused(CannotWrite, repr(str(tmp_path / "stage-000003.bin"))):
            point.complete()
        with refused(CannotWrite, repr(str(tmp_path))):
            point.begin(RUN, False, 2)
    assert not [*tmp_path.glob("*.part")]
    (tmp_path / "file").write_text("")
    with refused(CannotWrite):
        Checkpoint.find(tmp_path / "file" / "point", BINDING).begin(RUN, False, 0)


def test_promises_hold_until_another_run(tmp_path):
    point = written(tmp_path, 2)
    assert point.promise({0: 1, 3: 0})
    again = Checkpoint.find(tmp_path, BINDING)
    again.begin(RUN, False, 2)
    assert again.promise({0: 1, 3: 0})
    assert again.promise({3: 0})
    assert not again.promise({3: 1})
    assert not again.promise({0: 1, 4: 0})
    again.begin("f" * 32, False, 0)
    assert not [*tmp_path.glob("promise-*")]


@pytest.mark.parametrize(
    ("stages", "known", "may"), [(0, 0, True), (3, 3, True), (2, 3, True), (1, 3, False), (0, 1, False), (1, 2, True)]
)
def test_one_stage_is_done_again_at_most(stages, known, may):
    assert can_go_on(stages, known) is may
