"""A whole number is written in digits: what looks like another number is an error that names it, never rounded."""

from functools import partial

import pytest

import veilset as vs
from tests.support.errors import names, refused
from tests.support.releases import PROMISE, ROWS
from tests.support.typing_commands import typed
from veilset.errors import InvalidArgument

run = partial(typed, "")

NOT_WHOLE = ["5.4", "5.0", "5e0", "'5 '", "0x5", "5_0", "٥", "+5"]
ASKED = [
    "audit baskets.csv --p 2 --k {}",
    "audit baskets.csv --k 2 --p {}",
    "audit baskets.csv --k 2 --p 2 --threads {}",
    "audit baskets.csv --k 2 --p 2 --witnesses {}",
    "verify release --witnesses {}",
    "mine baskets.csv --min-support 2 --top {}",
    "mine baskets.csv --min-support 2 --max-size {}",
    "mine baskets.csv --rare {}",
    "generate quest --out made.csv --transactions {}",
    "sensitive suggest baskets.csv --size {}",
    "taxonomy make baskets.csv --out tree.csv --fan-out {}",
    "publish baskets.csv --model rho-uncertainty --rho 0.5 --out release --sensitive-weight {}",
    "publish baskets.csv --model l-diverse-anatomy --l 2 --out release --columns 2 --open-buckets {}",
]


@pytest.mark.parametrize("line", ASKED)
def test_nothing_is_rounded_on_the_command_line(shop, capsys, line):
    before = sorted(path.name for path in shop.iterdir())
    for written in NOT_WHOLE:
        code, _, err = run(capsys, line.format(written))
        assert (code, names(err, written.strip("'"))) == (2, True), (written, err)
    assert sorted(path.name for path in shop.iterdir()) == before


@pytest.mark.parametrize("line", ["k = {}\np = 2", "k = 2\np = {}"])
@pytest.mark.parametrize("written", ["5.4", "2.0", '"2"', "true"])
def test_nothing_is_rounded_in_a_recipe(shop, capsys, line, written):
    (shop / "run.toml").write_text(f'[input]\npath = "baskets.csv"\n[promise]\n{line.format(written)}\n')
    assert run(capsys, "publish run.toml --out release")[0] == 2
    assert not (shop / "release").exists()


@pytest.mark.parametrize(
    ("name", "ask"),
    [
        ("k", lambda data: vs.Coherence(k=5.0, p=2)),
        ("p", lambda data: vs.Coherence(k=5, p=5.0)),
        ("threads", lambda data: vs.audit(data, PROMISE, threads=5.0)),
        ("witnesses", lambda data: vs.audit(data, PROMISE, witnesses=5.0)),
        ("nugget_size", lambda data: vs.measure(data, vs.anonymize(data, PROMISE), nugget_size=5.0)),
        ("nugget_size", lambda data: vs.anonymize(data, PROMISE, method="border", nugget_size=5.0)),
    ],
)
def test_nothing_is_rounded_in_python(name, ask):
    with refused(InvalidArgument, name, 5.0):
        ask(vs.Transactions.from_lists(ROWS, sensitive=["cure"]))
