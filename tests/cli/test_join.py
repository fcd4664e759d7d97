"""``veilset join``: train, predict and show, as a new user meets them."""

import csv
import json
import shlex
from functools import partial

import pyarrow.parquet
import pytest

from tests.support.commands import refusal
from tests.support.joined_shop import STUDY, shop_training, write_shop
from tests.support.texts import as_read
from tests.support.typing_commands import piped, typed
from veilset.joins import JoinClassifier
from veilset.limits import Limits

run, facts = partial(typed, "join"), partial(piped, "join")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_shop(tmp_path)
    return tmp_path


@pytest.fixture
def model(folder, capsys):
    facts(capsys, "train study.toml --out model")
    return folder / "model"


def test_train_says_as_json_what_it_found(folder, capsys):
    found = facts(capsys, "train study.toml --out model")
    expected = shop_training()
    assert found["tables"] == dict(expected.rows)
    assert found["joined_rows"] == expected.classifier.joined_rows_
    assert found["matches"] == [vars(match) for match in expected.classifier.matches_]
    assert (found["target"], found["classes"], found["keys"]) == ("customers.status", ["left", "stayed"], "exact")
    assert found["notes"] == ["customers: 1 empty field was read as missing."]
    assert found["evaluation"]["folds"] == 4
    assert 0 < found["evaluation"]["cross_validated"]["target_rows"] <= 1
    assert found["evaluation"]["unmatched_rows"] == 4
    assert found["tree"]["nodes"] == 2 * found["tree"]["leaves"] - 1
    assert sum(found["table_importances"].values()) == pytest.approx(1)
    assert found["written"] == "model"
    assert sorted(path.name for path in (folder / "model").iterdir()) == ["model.json", "report.html"]
    assert (folder / "model").stat().st_mode & 0o777 == 0o700


def test_train_on_a_terminal(folder, capsys, terminal, snapshot):
    code, out, err = run(capsys, "train study.toml --out model")
    assert (code, err) == (0, "")
    assert as_read(out) == snapshot


def test_matches_are_shown_before_training(folder, capsys, terminal, monkeypatch):
    shown = []
    monkeypatch.setattr(JoinClassifier, "fit", lambda *_, **__: shown.append(capsys.readouterr().out) or 1 / 0)
    assert run(capsys, "train study.toml --out model")[0] == 70
    assert "90% of 40 in customers" in shown[0]


def zeros_dropped(folder, keep):
    """The orders name customers without leading zeros, but for these."""
    lines = (folder / "orders.csv").read_text().splitlines(keepends=True)
    (folder / "orders.csv").write_text("".join(line if line.startswith(keep) else line.lstrip("0") for line in lines))


def test_keys_that_few_rows_match_by(folder, capsys):
    zeros_dropped(folder, ("customer", "00"))
    told = (
        'customers.id = orders.customer: keys = ["zeros"] would match 90% of the rows of customers and 100% of orders.'
    )
    assert told in facts(capsys, "train study.toml --out model")["notes"]
    (folder / "study.toml").write_text(STUDY.replace("max_depth = 3", 'keys = ["zeros"]'))
    assert told not in facts(capsys, "train study.toml --out model --replace")["notes"]


def test_keys_that_no_row_matches_by(folder, capsys, snapshot):
    zeros_dropped(folder, "customer")
    assert refusal(capsys, "join", "train", "study.toml", "--out", "model", values=["keys"]) == snapshot


def test_train_is_reproducible(folder, capsys):
    for name in ("one", "other"):
        facts(capsys, f"train study.toml --out {name}")
    for file in ("model.json", "report.html"):
        assert (folder / "one" / file).read_bytes() == (folder / "other" / file).read_bytes()


def test_show(model, capsys, snapshot):
    assert run(capsys, "show model --text")[1] == snapshot
    assert run(capsys, "show model --text --depth 0")[1] == snapshot
    assert facts(capsys, "show model") == snapshot


def test_show_does_not_steer_the_terminal(folder, capsys):
    text = (folder / "customers.csv").read_text().replace("stayed", "\x1b[2Jstayed").replace("Köln", "Kö\x1bln")
    (folder / "customers.csv").write_text(text)
    for command in ("train study.toml --out model --text", "show model --text"):
        code, out, _ = run(capsys, command)
        assert (code, "\x1b" in out) == (0, False)


def test_predict(model, capsys, folder):
    said = facts(capsys, "predict model study.toml --out predictions.csv --id id")
    with (folder / "predictions.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert said["rows"] == len(rows) == 40
    assert said["unmatched_rows"] == 4
    assert [(match["left_matched"], match["right_matched"]) for match in said["matches"]] == [(36, 91), (91, 6)]
    assert list(rows[0]) == ["row", "id", "prediction", "share", "joined_rows"]
    assert [row["row"] for row in rows] == [str(number) for number in range(1, 41)]
    assert [row["id"] for row in rows] == [f"{number:03}" for number in range(40)]
    assert [row["joined_rows"] for row in rows[-4:]] == ["0"] * 4
    loaded = JoinClassifier.load(model)
    tables = {"customers": "customers.csv", "products": "products.csv", "orders": "orders.csv"}
    (folder / "orders.csv").write_text((folder / "orders.csv").read_text().replace(";", ","))
    assert [row["prediction"] for row in rows] == loaded.predict(tables).tolist()
    shares = loaded.predict_proba(tables).max(axis=1)
    assert [float(row["share"]) for row in rows] == pytest.approx(shares.tolist())


def test_predict_for_new_rows(model, capsys, folder):
    """Without the class, from files that are typed, into other formats."""
    (folder / "new.csv").write_text("id,age,town\n000,20,Ulm\n999,30,Bonn\n")
    (folder / "orders.csv").write_text((folder / "orders.csv").read_text().replace(";", ","))
    typed_tables = "customers=new.csv orders=orders.csv products=products.csv"
    for name in ("p.parquet", "p.json", "p.jsonl"):
        facts(capsys, f"predict model {typed_tables} --out {name}")
    rows = json.loads((folder / "p.json").read_text())
    assert [row["joined_rows"] for row in rows] == [20, 0]
    assert rows == pyarrow.parquet.read_table(folder / "p.parquet").to_pylist()
    assert rows == [json.loads(line) for line in (folder / "p.jsonl").read_text().splitlines()]


def test_predict_on_a_terminal(model, capsys, terminal, snapshot):
    assert run(capsys, "predict model study.toml --out p.csv")[1] == snapshot


def test_predict_with_tables_alone(model, capsys, folder):
    """Neither target nor joins nor options are needed."""
    (folder / "new.toml").write_text(STUDY[STUDY.index("[tables]") : STUDY.index("[options]")])
    facts(capsys, "predict model study.toml --out whole.csv")
    assert facts(capsys, "predict model new.toml --out tables.csv")["notes"] == []
    assert (folder / "tables.csv").read_bytes() == (folder / "whole.csv").read_bytes()


def test_predict_says_where_the_study_differs_from_the_model(model, capsys, folder):
    (folder / "study.toml").write_text(STUDY.replace("max_depth = 3", 'keys = "strip, case"'))
    told = "The model compares keys exactly; the study says strip, case. The model counts."
    assert facts(capsys, "predict model study.toml --out p.csv")["notes"] == [told]
    assert told in as_read(run(capsys, "predict model study.toml --out p.csv --replace --text")[1])


def test_replace(model, capsys, folder):
    before = (model / "model.json").read_bytes()
    (folder / "study.toml").write_text(STUDY.replace("max_depth = 3", "max_depth = 1"))
    facts(capsys, "train study.toml --out model --replace")
    assert (model / "model.json").read_bytes() != before
    facts(capsys, "predict model study.toml --out p.csv")
    facts(capsys, "predict model study.toml --out p.csv --replace")


REFUSED = {
    "train study.toml --out model": ["'model'", "--replace"],
    "train none.toml --out other": ["'none.toml'"],
    "train study.toml --out nowhere/model": ["nowhere"],
    "train study.toml --out data --replace": ["'data'"],
    "predict none study.toml --out p.csv": ["none"],
    "predict model --out p.csv": ["NAME=FILE"],
    "predict model customers --out p.csv": ["'customers'"],
    "predict model customers=a.csv customers=b.csv --out p.csv": ["'customers'"],
    "predict model customers=customers.csv --out p.csv": ["'orders'"],
    "predict model customers=none.csv orders=orders.csv products=products.csv --out p.csv": ["'customers'", "none.csv"],
    "predict model customers=orders.csv orders=orders.csv products=products.csv --out p.csv": ["'customers'"],
    "predict model customers=customers.csv orders=orders.csv products=products.csv --out p.csv": ["';'", "study"],
    "predict model study.toml --out p.txt": ["'p.txt'"],
    "predict model study.toml --out customers.csv --replace": ["'customers.csv'"],
    "predict model study.toml --out p.csv --id nr": ["'nr'", "'id'"],
    "predict model study.toml --out p.csv --id row": ["'row'"],
    "train model --out other": ["'model'", "study"],
    "predict study.toml model --out p.csv": ["'study.toml'", "model"],
    "show study.toml": ["'study.toml'"],
    "show none": ["'none'"],
}


@pytest.mark.parametrize("line", REFUSED)
def test_what_is_refused(line, model, capsys, folder, snapshot):
    (folder / "data").mkdir()
    (folder / "data" / "mine.txt").write_text("mine")
    before = sorted(folder.rglob("*"))
    assert refusal(capsys, "join", *shlex.split(line), values=REFUSED[line]) == snapshot
    assert sorted(folder.rglob("*")) == before


WRONG = {
    "a join that matches nothing": ("customers.id = orders.customer", "customers.town = orders.customer"),
    "a strange target": ('"customers.status"', '"customers.state"'),
    "a missing file": ('"products.csv"', '"product.csv"'),
    "another delimiter": (', delimiter = ";"', ""),
    "wrong pruning": ("max_depth = 3", "prune = 2"),
    "a strange step of keys": ("max_depth = 3", 'keys = ["trim"]'),
    "too many folds": ("folds = 4", "folds = 50"),
    "groups of another table": ("folds = 4", 'groups = "orders.product"'),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_in_a_study(what, folder, capsys, snapshot):
    """Options are named as the study has them."""
    (folder / "study.toml").write_text(STUDY.replace(*WRONG[what]))
    said = refusal(capsys, "join", "train", "study.toml", "--out", "model")
    assert "--max" not in said
    assert said == snapshot
    assert not (folder / "model").exists()


def test_limits(folder, capsys):
    refusal(capsys, *["join", "train", "study.toml", "--out", "model", "--time-limit", "0.000001"], exit_code=4)
    assert not (folder / "model").exists()


def test_interrupted(folder, capsys, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(JoinClassifier, "fit", interrupt)
    refusal(capsys, *["join", "train", "study.toml", "--out", "model"], exit_code=130)
    assert not (folder / "model").exists()


def test_one_clock_for_a_command(model, folder, capsys, monkeypatch):
    """Reading, growing, evaluating and predicting have the time limit together."""
    began = []
    init = Limits.__post_init__
    monkeypatch.setattr(
        Limits, "__post_init__", lambda self: began.append((self.time_limit, self.started)) or init(self)
    )
    for line in ("train study.toml --out other", "predict model study.toml --out p.csv"):
        began.clear()
        facts(capsys, f"{line} --time-limit 900")
        assert len(set(began[1:])) == 1  # the first only checks what was typed
