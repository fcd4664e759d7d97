"""Studies as files: what they name, relative to where they lie, and what is refused with its place."""

import duckdb
import pytest

from tests.support.errors import refused
from veilset.errors import InvalidArgument, UnreadableInput
from veilset.joins import Csv, JoinClassifier, Query, Study
from veilset.limits import Limits
from veilset.options import declared

STUDY = """
target = "people.rich"
joins = ["people.id = visits.person", ["people.boss", "bosses.id"]]

[tables]
people = "people.csv"
bosses = "people.csv"
visits = { path = "data/visits.csv", encoding = "latin-1", delimiter = ";" }
"""
PEOPLE = "id,boss,rich\na,b,yes\nb,b,no\nc,b,yes\nd,a,no\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "visits.csv").write_text("person;café\na;1\nb;2\nc;1\nd;2\n", "latin-1")
    return tmp_path


def study_of(folder, text):
    (folder / "other.toml").write_text(text)
    return Study.load(folder / "other.toml")


def test_paths_are_relative_to_the_study(folder, monkeypatch):
    monkeypatch.chdir("/")
    study = Study.load(folder / "study.toml")
    assert study.tables() == {
        "people": folder / "people.csv",
        "bosses": folder / "people.csv",
        "visits": Csv(folder / "data" / "visits.csv", "latin-1", ";"),
    }
    assert study.joins == ("people.id = visits.person", ("people.boss", "bosses.id"))
    assert (study.target, study.evaluation.folds) == ("people.rich", 5)


def test_a_file_can_be_two_tables(folder):
    study = Study.load(folder / "study.toml")
    fitted = study.classifier(threads=1).fit(study.tables(), joins=study.joins, target=study.target)
    assert fitted.joined_rows_ == 4
    assert fitted.feature_names_ == ["bosses.boss", "visits.café"]  # but not bosses.rich, which is the class
    assert fitted.threads == 1


def test_queries(folder):
    with duckdb.connect(folder / "shop.duckdb") as database:
        database.execute("CREATE TABLE people AS SELECT 'a' AS id, 'yes' AS rich UNION ALL SELECT 'b', 'no'")
    query = 'database = "shop.duckdb", query = "SELECT * FROM people"'
    study = study_of(folder, f'target = "people.rich"\n[tables]\npeople = {{ {query} }}\n')
    assert study.tables() == {"people": Query(str(folder / "shop.duckdb"), "SELECT * FROM people")}
    assert study.classifier().fit(study.tables(), target=study.target).joined_rows_ == 2


def test_a_server_is_no_path(folder):
    away = "postgresql://ann@shop.example/sales"
    study = study_of(folder, f'target = "p.x"\n[tables]\np = {{ database = "{away}", query = "SELECT 1 AS x" }}\n')
    assert study.tables() == {"p": Query(away, "SELECT 1 AS x")}


def test_all_options(folder):
    options = {
        "max_depth": 3,
        "min_leaf": 2,
        "prune": 0.5,
        "split_joins": True,
        "ignore": ["visits.café"],
        "keys": ["strip", "case"],
    }
    written = 'max_depth = 3\nmin_leaf = 2\nprune = 0.5\nsplit_joins = true\nignore = ["visits.café"]\n'
    study = study_of(folder, f'{STUDY}[options]\n{written}keys = ["strip", "case"]\n')
    assert {said.name for said in declared(JoinClassifier)} == set(options)
    assert study.classifier().get_params() == JoinClassifier(**options).get_params()


def test_steps_of_keys_as_one_text(folder):
    study = study_of(folder, f'{STUDY}[options]\nkeys = "zeros,strip, case"\n')
    assert study.classifier().keys == ["zeros", "strip", "case"]


def test_a_study_for_predictions_needs_its_tables_only(folder):
    (folder / "other.toml").write_text(STUDY[STUDY.index("[tables]") :])
    study = Study.load(folder / "other.toml", predicting=True)
    assert (list(study.tables()), study.joins, study.target) == (["people", "bosses", "visits"], (), "")


LATE = {
    "a target": (InvalidArgument, STUDY.replace("people.rich", "people.ritch"), "target"),
    "an ignored column": (InvalidArgument, f'{STUDY}[options]\nignore = ["visits.cafe"]\n', "options.ignore"),
    "groups": (InvalidArgument, f'{STUDY}[evaluation]\ngroups = "people.bos"\n', "evaluation.groups"),
    "a delimiter": (UnreadableInput, STUDY.replace(', delimiter = ";"', ""), "'visits'"),
    "an encoding": (UnreadableInput, STUDY.replace(', encoding = "latin-1"', ""), "'visits'"),
}


@pytest.mark.parametrize("what", LATE)
def test_what_the_tables_show_to_be_wrong_is_found_before_keys_are_compared(what, folder, monkeypatch, snapshot):
    monkeypatch.delattr("veilset.joins.study.LinkedTables.of")
    kind, text, place = LATE[what]
    with refused(kind, place) as caught:
        study_of(folder, text).link(Limits())
    assert str(caught.value).replace(str(folder), "…") == snapshot


def test_keys_are_read_as_text(folder):
    (folder / "people.csv").write_text("id,boss,rich\n01,1,yes\n1,01,no\n")
    (folder / "data" / "visits.csv").write_text("person;n\n01;1\n1;2\n")
    linked = Study.load(folder / "study.toml").link(Limits())
    assert linked.tables["people"]["id"].to_pylist() == ["01", "1"]
    assert [match.keys for match in linked.matches] == [2, 2]


def test_linking_is_what_fitting_does(folder):
    study = Study.load(folder / "study.toml")
    fitted = study.classifier().fit(study.link(Limits()), target=study.target)
    assert fitted.matches_ == study.classifier().fit(study.tables(), joins=study.joins, target=study.target).matches_


def test_words_for_none(folder):
    classifier = study_of(folder, f'{STUDY}[options]\nmax_depth = "unlimited"\nprune = "none"\n').classifier()
    assert (classifier.max_depth, classifier.prune) == (None, None)


def test_evaluation(folder):
    study = study_of(folder, f'{STUDY}[evaluation]\nfolds = 3\ngroups = "people.boss"\nrandom_state = 7\n')
    assert dict(study.evaluation) == {"folds": 3, "groups": "people.boss", "random_state": 7}


WRONG = {
    "a strange key": (STUDY.replace("target", "trget"), "trget"),
    "no target": (STUDY.replace('target = "people.rich"', ""), "target"),
    "a target that is no text": (STUDY.replace('"people.rich"', "3"), "target"),
    "a strange detail of a table": (STUDY.replace("encoding", "encodin"), "tables.visits.encodin"),
    "a table that is a number": (STUDY.replace('people = "people.csv"', "people = 3"), "tables.people"),
    "a table of nothing": (STUDY.replace('people = "people.csv"', "people = {}"), "tables.people"),
    "a file and a query": (STUDY.replace("encoding", "query"), "tables.visits"),
    "a query without a database": (STUDY.replace('"people.csv"', '{ query = "SELECT 1" }'), "tables.people"),
    "no tables": (STUDY.partition("[tables]")[0] + "[tables]\n", "tables"),
    "joins that are no list": (
        STUDY.replace('["people.id = visits.person", ["people.boss", "bosses.id"]]', "3"),
        "joins",
    ),
    "a join of three": (STUDY.replace('"people.boss", ', '"people.boss", "x", '), "joins"),
    "a strange option": (f"{STUDY}[options]\nmaxdepth = 3\n", "maxdepth"),
    "an option of another kind": (f'{STUDY}[options]\nmax_depth = "deep"\n', "options.max_depth"),
    "keys that are no list": (f"{STUDY}[options]\nkeys = 3\n", "options.keys"),
    "columns that are no list": (f'{STUDY}[options]\nignore = "visits.note"\n', "options.ignore"),
    "a database as a path": (STUDY.replace('"people.csv"', '"wh.duckdb"'), "tables.people"),
    "a server as a path": (STUDY.replace('"people.csv"', '"postgresql://ann:pw@shop.example/x"'), "tables.people"),
    "a target of no table": (STUDY.replace("people.rich", "peple.rich"), "target"),
    "a target without a table": (STUDY.replace("people.rich", "rich"), "target"),
    "an ignored column of no table": (f'{STUDY}[options]\nignore = ["visit.x"]\n', "options.ignore"),
    "groups of no table": (f'{STUDY}[evaluation]\ngroups = "boss"\n', "evaluation.groups"),
    "leaves of nothing": (f"{STUDY}[options]\nmin_leaf = 0\n", "min_leaf"),
    "a switch that is none": (f"{STUDY}[options]\nsplit_joins = 1\n", "options.split_joins"),
    "a limit as an option": (f"{STUDY}[options]\nthreads = 1\n", "threads"),
    "options that are none": ("options = 3\n" + STUDY, "options"),
    "pruning by nothing": (f"{STUDY}[options]\nprune = 2.0\n", "prune"),
    "a strange step of keys": (f'{STUDY}[options]\nkeys = ["stip"]\n', "'strip'"),
    "one fold": (f"{STUDY}[evaluation]\nfolds = 1\n", "evaluation.folds"),
    "negative folds": (f"{STUDY}[evaluation]\nfolds = -1\n", "evaluation.folds"),
    "folds that are text": (f'{STUDY}[evaluation]\nfolds = "5"\n', "evaluation.folds"),
    "a strange detail of the evaluation": (f"{STUDY}[evaluation]\nfold = 5\n", "evaluation.fold"),
    "a zero in a path": (STUDY.replace('people = "people.csv"', 'people = "people\\u0000.csv"'), "tables.people.path"),
    "its folder": ('folder = "x"\n' + STUDY, "folder"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_named(what, folder, snapshot):
    text, place = WRONG[what]
    with refused(InvalidArgument, place, folder / "other.toml") as caught:
        study_of(folder, text)
    assert str(caught.value).replace(str(folder), "…") == snapshot


@pytest.mark.parametrize("text", ["target = ", "[tables", "a = 1\na = 2\n", f"x = {'9' * 30}\n"])
def test_what_is_no_toml_is_refused(text, folder):
    with refused(UnreadableInput, folder / "other.toml"):
        study_of(folder, text)


def test_a_missing_study(folder):
    with refused(UnreadableInput, folder / "none.toml"):
        Study.load(folder / "none.toml")
