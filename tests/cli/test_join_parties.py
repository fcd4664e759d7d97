"""``veilset join`` between parties, as each of them meets it."""

import _thread
import asyncio
import csv
import errno
import json
import os
import re
import shlex
import signal
import sys
import threading
from contextlib import asynccontextmanager
from functools import partial
from types import SimpleNamespace

import pytest

from tests.support.clinic import clinic, in_background
from tests.support.commands import refusal
from tests.support.interrupting import interrupt
from tests.support.texts import as_read
from tests.support.typing_commands import piped, typed
from veilset.cli import join_parties
from veilset.joins import JoinClassifier
from veilset.joins.parties.certificates import Identity, fingerprint
from veilset.joins.parties.planning import planned
from veilset.joins.parties.split_lists import models

run, facts = partial(typed, "join"), partial(piped, "join")
PREDICT = "predict model --party clinic.toml --records records.csv --threads 1"


@pytest.fixture
def three(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return clinic(tmp_path)


@pytest.fixture
def trained(three, capsys):
    """All but the clinic listen, and there is a model."""
    with in_background(three, "registry", "pharmacy"):
        code, out, err = run(capsys, "train study.toml --party clinic.toml --out model --threads 1 --json")
        assert code == 0, out + err
        three.facts = json.loads(out)
        yield three


def without_chance(text):
    """Hashes, fingerprints, runs, ports and times have names that stay."""
    for pattern, name in {
        r"\b[0-9a-f]{64}\b": "HASH",
        r"\b[0-9a-f]{32}\b": "RUN",
        r"\b[0-9a-f]{16}…": "HASH…",
        r"\b(?:[0-9a-f]{4}\s+){7,15}[0-9a-f]{4}\b": "FINGERPRINT",
        r"127\.0\.0\.1:\d+ *": "ADDRESS ",
        r"\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d)?": "DAY",
    }.items():
        text = re.sub(pattern, name, text)
    return as_read(text)


def disapprove(three, name):
    text = three.path(name).read_text()
    three.path(name).write_text(re.sub(r"(?m)^(approve|class_known_to) = .*\n", "", text))


def test_keygen(tmp_path, capsys, terminal):
    code, out, _ = run(capsys, f"keygen bank --out {tmp_path / 'keys'}")
    made = Identity.load(tmp_path / "keys", "bank").certificate
    assert code == 0
    assert fingerprint(made) in out
    assert (tmp_path / "keys" / "key.pem").stat().st_mode & 0o777 == 0o600
    again = facts(capsys, f"keygen bank --out {tmp_path / 'other'} --days 2 --json")
    assert (again["party"], len(again["fingerprint"].split())) == ("bank", 16)
    refusal(capsys, *shlex.split(f"join keygen bank --out {tmp_path / 'keys'}"), values=["key.pem"])
    refusal(capsys, *shlex.split(f"join keygen bank --out {tmp_path / 'new'} --days 0"), values=["0"])


def test_a_missing_extra_is_named(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography", None)
    said = refusal(capsys, "join", "keygen", "bank", "--out", tmp_path / "keys")
    assert "pip install 'veilset[join]'" in said


@pytest.mark.parametrize("name", ["clinic", "registry"])
def test_a_study_that_is_not_approved(name, three, capsys, terminal, snapshot):
    disapprove(three, name)
    code, out, err = run(capsys, f"party {name}.toml")
    assert code == 2
    assert without_chance(out) == snapshot
    assert without_chance(err) == snapshot
    code, out, err = run(capsys, f"party {name}.toml --json")
    told = json.loads(out)
    assert (code, err, told["approved"], told["error"]["exit_code"]) == (2, "", False, 2)
    before = three.path(name).read_text()
    three.path(name).write_text("\n".join([*told["approve"], before]))
    assert facts(capsys, f"party {name}.toml --dry-run --json")["approved"]


def test_unique_keys_are_refused_before_anybody_listens(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    clinic(tmp_path, policy=None)
    monkeypatch.setattr(asyncio, "run", None)
    for line in ("party registry.toml", "party registry.toml --dry-run"):
        code, out, _ = run(capsys, line)
        told = json.loads(out)
        assert (code, told["error"]["exit_code"]) == (3, 3)
        assert [one["refused"] for one in told["leakage"]] == [True]
    assert json.loads(run(capsys, "party clinic.toml --dry-run")[1])["approved"]


def test_dry_run(three, capsys, terminal, monkeypatch, snapshot):
    monkeypatch.setattr(asyncio, "run", None)
    code, out, _ = run(capsys, "party clinic.toml --dry-run")
    assert code == 0
    assert without_chance(out[out.index("What would be sent") :]) == snapshot
    told = facts(capsys, "party clinic.toml --dry-run --json")["dry_run"]
    assert told == json.loads(json.dumps(planned(three.home("clinic")).to_dict()))


def test_train(trained, capsys, tmp_path):
    told = trained.facts
    assert told["written"] == "model"
    assert told["identical"]
    assert told["tree"] == {"nodes": 7, "leaves": 4, "depth": 3}
    assert told["splits_by_party"] == {"clinic": 1, "registry": 1, "pharmacy": 1}
    assert all(one["sent"] > 0 and one["received"] > 0 for one in told["bytes"].values())
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == ["model.json", "report.html"]
    tables = {name: f"{name}.parquet" for name in ("visits", "patients", "batches")}
    joins = [join["on"] for join in trained.joins]
    central = JoinClassifier().fit(tables, joins=joins, target="visits.back").tree_
    shown = facts(capsys, "show model")
    assert [node["counts"] for node in shown["nodes"]] == [list(node.counts) for node in central.root.walk()]
    assert shown["nodes"][0]["split"] == {"table": "visits", "number": 0}
    own = next((tmp_path / "clinic-state" / "models").iterdir())
    assert {file.name: file.stat().st_mode & 0o777 for file in own.iterdir() if file.name != "model.json"} == {
        "splits.json": 0o600,
        "report.html": 0o600,
    }
    assert facts(capsys, f"show {own}")["nodes"][0]["split"]["column"] == "age"
    assert "age ≤ 52" in (own / "report.html").read_text()
    assert "age" not in re.sub("(?s)<style.*?</style>", "", (tmp_path / "model" / "report.html").read_text()).split()


def test_train_on_a_terminal(trained, capsys, terminal, snapshot):
    code, out, err = run(capsys, "train study.toml --party clinic.toml --out model --replace --threads 1")
    assert code == 0
    assert re.sub(r"(?m)^(  \w+) +[\d,]+ +[\d,]+$", r"\1 # #", without_chance(out)) == snapshot
    assert "The tree is finished." in err
    assert run(capsys, "show model --depth 1")[1] == snapshot


def test_predict(trained, capsys, tmp_path):
    told = json.loads(run(capsys, f"{PREDICT} --out path.csv")[1])
    assert (told["rows"], told["predictions"], told["stopped_at"]) == (3, {"no": 1, "yes": 2}, {})
    run(capsys, f"{PREDICT} --out round.csv --one-round")
    assert (tmp_path / "path.csv").read_bytes() == (tmp_path / "round.csv").read_bytes()
    with (tmp_path / "path.csv").open(newline="") as file:
        assert list(csv.DictReader(file))[1] == {
            "row": "2",
            "prediction": "yes",
            "share": "1",
            "complete": "true",
            "stopped_at": "",
        }


def test_predict_without_a_party(trained, capsys, tmp_path):
    (tmp_path / "records.csv").write_text("visits,patients,batches\nw1,p2,1\nw2,nobody,5\n,p1,6\n")
    code, out, _ = run(capsys, f"{PREDICT} --out p.json --without registry")
    assert (code, json.loads(out)["stopped_at"]) == (0, {"patients": 1, "visits": 1})
    rows = json.loads((tmp_path / "p.json").read_text())
    assert [(row["complete"], row["stopped_at"]) for row in rows] == [
        (False, "patients"),
        (True, ""),
        (False, "visits"),
    ]
    assert rows[0]["share"] == 0.75


def test_revoke(trained, capsys, tmp_path):
    told = facts(capsys, "revoke registry.toml model")
    assert told == {"party": "registry", "revoked": trained.facts["run"]}
    assert models(tmp_path / "registry-state") == []
    assert sorted(file.name for file in (tmp_path / "registry-state" / "models" / told["revoked"]).iterdir()) == [
        "model.json"
    ]
    assert run(capsys, f"{PREDICT} --out p.csv")[0] == 2
    refusal(capsys, *shlex.split("join revoke registry.toml model"), values=[told["revoked"], "none"])
    assert run(capsys, f"revoke pharmacy.toml {told['revoked']} --text")[0] == 0


def test_log(trained, capsys, terminal):
    told = facts(capsys, "log registry.toml --json")
    assert [(one["run"], one["outcome"]) for one in told["sessions"]] == [(trained.facts["run"], "finished")]
    assert set(told["sessions"][0]["sent"]) == {"clinic"}
    assert set(facts(capsys, "log clinic.toml --json")["sessions"][0]["sent"]) == {"registry", "pharmacy"}
    code, out, _ = run(capsys, "log clinic.toml")
    assert code == 0
    assert "If you take part again" in out
    assert "DAY UTC: finished" in without_chance(out)


def test_what_was_told_before_is_said_before_anybody_listens(trained, capsys, monkeypatch):
    """The study is another one and the registry offers fewer columns: its rows have not changed."""
    trained.study["title"] = "Another"
    trained.write()
    path = trained.path("registry")
    path.write_text(path.read_text().replace('["region", "smoker"]', '["region"]'))

    def nobody(home, tell):
        raise KeyboardInterrupt

    monkeypatch.setattr(join_parties, "serving", nobody)
    (sentence,) = facts(capsys, "party registry.toml --dry-run --json")["earlier"]
    assert sentence.startswith("clinic was told about the same tables by another study")
    code, out, err = run(capsys, "party registry.toml --text")
    assert (code, sentence in as_read(out)) == (0, True), err
    disapprove(trained, "registry")
    assert sentence in " ".join(run(capsys, "party registry.toml --text")[1].split())
    assert facts(capsys, "log registry.toml --json")["warnings"] == [sentence]


def test_an_empty_log(three, capsys, terminal):
    assert run(capsys, "log clinic.toml")[1].strip() == "The log has no session."


REFUSED = {
    "train study.toml --out other": ["'study.toml'", "--party"],
    "train plain.toml --party clinic.toml --out other": ["--party", "'plain.toml'"],
    "train study.toml --party registry.toml --out other": ["registry", "clinic"],
    "train changed.toml --party clinic.toml --out other": ["'changed.toml'", "clinic"],
    "train study.toml --party none.toml --out other": ["'none.toml'"],
    "train clinic.toml --party clinic.toml --out other": ["'clinic.toml'", "--party"],
    "party study.toml": ["'study.toml'"],
    "predict model --out p.csv": ["'model'", "--party", "--records"],
    "predict model visits=a.csv --party clinic.toml --records records.csv --out p.csv": ["'model'"],
    "predict model --party clinic.toml --records empty.csv --out p.csv": ["'empty.csv'", "visits"],
    "predict model --party clinic.toml --records records.csv --out p.csv --without bank": ["'bank'", "'registry'"],
    "predict model --party clinic.toml --records records.csv --out records.csv": ["'records.csv'"],
    "predict model --party clinic.toml --records semicolons.csv --out p.csv": ["'semicolons.csv'", "';'"],
    "revoke clinic.toml nothing": ["'nothing'"],
}


@pytest.mark.parametrize("line", REFUSED)
def test_what_is_refused(line, three, capsys, tmp_path, snapshot):
    (tmp_path / "plain.toml").write_text('target = "T.c"\n[tables]\nT = "T.csv"\n')
    (tmp_path / "changed.toml").write_text(f'title = "Another"\n{three.study_text()}')
    (tmp_path / "empty.csv").write_text("a,b\n1,2\n")
    (tmp_path / "semicolons.csv").write_text("visits;patients\nv1;p1\n")
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "model.json").write_text(json.dumps(a_leaf(three)))
    said = refusal(capsys, "join", *shlex.split(line), values=REFUSED[line])
    assert without_chance(said) == snapshot
    assert not (tmp_path / "other").exists()


def a_leaf(three):
    """A model that asks nothing."""
    home = three.home("clinic")
    return {
        "kind": "secure tree",
        "made_by": "veilset",
        "run": "0" * 32,
        "study": home.study.hash,
        "owners": home.study.owners,
        "classes": ["no", "yes"],
        "nodes": [{"number": 0, "counts": [1, 2]}],
    }


def test_a_partner_that_is_not_there(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    clinic(tmp_path, time_out=0.5)
    code, out, _ = run(capsys, "train study.toml --party clinic.toml --out model --threads 1 --json")
    assert (code, json.loads(out)["error"]["exit_code"]) == (4, 4)
    assert re.search("registry|pharmacy", json.loads(out)["error"]["what"])
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(("busy", "code"), [(False, 0), (True, 130)])
def test_ctrl_c_at_a_party(busy, code, three, capsys, monkeypatch):
    async def interrupted(review, once, screen, served):
        served.busy = busy
        raise KeyboardInterrupt

    monkeypatch.setattr(join_parties, "_serve", interrupted)
    assert run(capsys, "party clinic.toml --json")[0] == code


@pytest.mark.parametrize(("busy", "code"), [(False, 0), (True, 130)])
def test_the_end_by_a_service_manager(busy, code, three, capsys, monkeypatch):
    """It is like Ctrl-C: sessions and worker processes end in order."""
    ended = []

    @asynccontextmanager
    async def stopped(home, tell):
        os.kill(os.getpid(), signal.SIGTERM)
        try:
            yield SimpleNamespace(busy=busy, finished=asyncio.Event())
        finally:
            ended.append(home.party)

    def in_no_order(number, frame):
        raise AssertionError

    monkeypatch.setattr(join_parties, "serving", stopped)
    before = signal.signal(signal.SIGTERM, in_no_order)
    try:
        assert run(capsys, "party clinic.toml --json")[0] == code
    finally:
        signal.signal(signal.SIGTERM, before)
    assert ended == ["clinic"]


def test_ctrl_c_while_training(three, tmp_path):
    script = """
        import sys
        from veilset.cli import main
        from veilset.joins.parties.coordinator import Coordinator

        async def train(self, train=Coordinator.train):
            print("go", flush=True)
            return await train(self)

        if __name__ == "__main__":
            Coordinator.train = train
            sys.exit(main(sys.argv[1:]))
    """
    line = "join train study.toml --party clinic.toml --out model --threads 1 --text"
    code, err = interrupt(script, *shlex.split(line))
    assert code == 130, err
    assert "Error: Interrupted." in err
    assert "Traceback" not in err
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("full", [False, True])
def test_once(three, capsys, monkeypatch, full):
    """A party that ends after a training has told the coordinator all before; a page that cannot be written is told."""
    done = []

    def no_room(place, page):
        raise OSError(errno.ENOSPC, "No space left on device")

    if full:
        monkeypatch.setattr("veilset.cli.join_secure.write_durably", no_room)

    async def train():
        async with three.serving(["clinic", "pharmacy"]):
            done.append(await three.coordinator().train())

    def coordinate():
        try:
            asyncio.run(train())
        finally:
            if not done:
                _thread.interrupt_main()  # the party would wait for another training for ever

    thread = threading.Thread(target=coordinate)
    thread.start()
    code, out, err = run(capsys, "party registry.toml --once --threads 1 --json")
    thread.join(30)
    assert (code, json.loads(out)["finished"], len(done)) == (0, True, 1)
    assert "registry listens at" in err
    assert ("cannot be written: No space left" in err) == full
