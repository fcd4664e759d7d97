"""Messages that no honest party sends, in each state: the session ends with an error that names a party."""

import random

import numpy as np
import pytest

from tests.support.effort import repeats
from tests.support.joins import random_study
from tests.support.parties import Parties, Tapped, forging, of_study, run
from veilset.errors import VeilsetError
from veilset.joins.parties.disrupted import Disrupted

pytestmark = pytest.mark.attack

TIME_OUT = 0.7
CONTROL = ["train", "begin", "intersect", "keep", "settle", "propagate", "level", "split", "follow", "finish"]
TOLD = ["ready", "linked", "intersected", "kept", "settled", "propagated", "info", "children", "followed", "finished"]
PASSED = ["intersection", "blinded keys", "promise", "twice blinded", "kept keys", "class summary", "split summary"]
FORGERS = [
    *(("hub", kind) for kind in CONTROL),
    *(("p1", kind) for kind in TOLD),
    *(("p0", kind) for kind in PASSED),
    *(("p2", kind) for kind in PASSED[:-1]),
]


def each(change):
    """Change all fields, or all arrays."""
    return lambda draw, values: {name: change(draw, value) for name, value in values.items()}


def other_type(draw, array):
    return array.astype(np.uint8 if array.dtype == np.int64 else np.int64)


def changed(draw, array):
    array = array.copy()
    if len(array):
        array[draw.randrange(len(array))] ^= array.dtype.type(1)
    return array


def noise(draw, array):
    return np.frombuffer(draw.randbytes(array.nbytes), array.dtype) if len(array) else array


FIELDS = {
    "text": each(lambda draw, value: str(value)),
    "negative": each(lambda draw, value: -1),
    "large": each(lambda draw, value: 2**63),
    "lists": each(lambda draw, value: [[], {}]),
    "missing": lambda draw, fields: {},
}
ARRAYS = {
    "other types": each(other_type),
    "short": each(lambda draw, array: array[:-1]),
    "long": each(lambda draw, array: np.repeat(array, 2)),
    "empty": each(lambda draw, array: array[:0]),
    "one other value": each(changed),
    "noise": each(noise),
    "complement": each(lambda draw, array: ~array),
    "reversed": each(lambda draw, array: array[::-1].copy()),
    "missing": lambda draw, arrays: {},
}


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr("veilset.joins.parties.coordinator._PAUSE", 0.4)
    monkeypatch.setattr("veilset.joins.parties.control._GRACE", 0.3)


def small(folder, time_out: float = TIME_OUT) -> Parties:
    study = random_study(np.random.default_rng(11), 3, rows=60)
    parties = of_study(
        folder,
        study,
        {"hub": [], "p0": ["T0"], "p1": ["T1"], "p2": ["T2"]},
        options={"max_depth": 3},
        time_out=time_out,
    )
    parties.joins[1] |= {"policy": "suppress", "floor": 2}
    parties.write()
    return parties


@pytest.mark.parametrize("seed", range(repeats(200)))
def test_forged_messages(tmp_path, monkeypatch, seed):
    """It ends in an error that names a party, or, if the forgery makes sense, in some tree; never in a mistake."""
    draw = random.Random(seed)
    name, kind = FORGERS[seed % len(FORGERS)]
    change, forgery = draw.choice([*(("fields", one) for one in FIELDS), *(("arrays", one) for one in ARRAYS)])
    parties = small(tmp_path)

    def forge(kind, fields, arrays):
        if change == "fields":
            return kind, FIELDS[forgery](draw, fields), arrays
        return kind, fields, ARRAYS[forgery](draw, arrays)

    forged = forging(monkeypatch, name, kind, forge, draw.randrange(3))
    said: list[str] = []
    try:
        run(parties.train(tell=said.append), 30)
    except Disrupted as error:
        assert error.party in parties.names, (name, kind, forgery)
        assert error.next_step, (name, kind, forgery)
    except VeilsetError as error:
        assert forged, (name, kind, forgery, error)
    assert not [one for one in said if "mistake" in one], (name, kind, forgery, said)


@pytest.mark.parametrize("number", range(repeats(len(FORGERS))))
def test_unexpected_kinds(tmp_path, monkeypatch, number):
    monkeypatch.setattr("veilset.joins.parties.control._GRACE", 9)
    name, kind = FORGERS[number * 7 % len(FORGERS)]
    parties = small(tmp_path, 20)  # none may count as silent only because the machine is busy
    forged = forging(monkeypatch, name, kind, lambda kind, fields, arrays: ("hello", fields, arrays), 0)
    with pytest.raises(Disrupted) as caught:
        run(parties.train())
    assert forged
    assert caught.value.fault == "unexpected"
    assert name in str(caught.value)


def test_nothing_is_sent_after_a_forged_tree(tmp_path, monkeypatch):
    """A tree that is none is not kept."""
    parties = small(tmp_path)
    forging(monkeypatch, "hub", "finish", no_tree, 0)
    with pytest.raises(Disrupted):
        run(parties.train(tap=Tapped()), 30)
    assert not [*tmp_path.glob("*-state/models/*/*")]


def no_tree(kind, fields, arrays):
    return kind, fields, {"model": np.frombuffer(b'{"nodes": []}', np.uint8)}
