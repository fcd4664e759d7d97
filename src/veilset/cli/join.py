"""``veilset join``: classify over a join that is never computed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace as dataclass_replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from veilset.cli.app import app
from veilset.cli.forms import Natural, check_out
from veilset.cli.join_secure import (
    check_party_options,
    needs_party,
    predict_secure,
    show_secure,
    train_secure,
    write_model,
)
from veilset.cli.options import Flag, JoinLimits, Json, LimitOptions, ReplaceFile, Text
from veilset.cli.screen import Screen
from veilset.errors import InvalidArgument, spelled
from veilset.io import check_table_name, write_pieces
from veilset.joins import Csv, JoinClassifier, Study, check_folds, evaluate
from veilset.joins.agreement import differences
from veilset.joins.model_file import MODEL, REPORT, check_model_place
from veilset.joins.parties.party_file import PartyFile
from veilset.joins.parties.predicting import Mode
from veilset.joins.parties.secure_tree import SecureModel
from veilset.joins.parties.shared_study import SharedStudy
from veilset.joins.predictions import prediction_table
from veilset.joins.study import as_in_study, in_study
from veilset.joins.tables import notes_of
from veilset.joins.tree import told
from veilset.limits import Limits
from veilset.report import (
    Training,
    join_report,
    print_matches,
    print_training,
    print_tree,
    training_facts,
    tree_facts,
    visible,
)

join = App(name="join", help="Classify over a join of tables that is never computed.", sort_key=7.5)
app.command(join)

ReplaceModel = Annotated[bool, Parameter(help="Atomically replace an existing model."), Flag]


@join.command(sort_key=1)
def train(
    study: Path,
    /,
    *,
    out: Path,
    party: Path | None = None,
    replace: ReplaceModel = False,
    limits: JoinLimits | None = None,
    json: Json = False,
    text: Text = False,
) -> int:
    """Grow a decision tree over several tables, and measure how good it is.

    The tree is the one that would be grown on the join. The join is not computed.

    Writes OUT/model.json and OUT/report.html. Both contain values of the tables: protect them like the data.

    With --party, several parties grow the tree together, and each keeps its own tables. See docs/private-joins.md.

    Examples:

        veilset join train study.toml --out model
        veilset join train study.toml --party clinic.toml --out model

    Parameters
    ----------
    study
        File that names tables, joins, target and options. See docs/joins.md.
    out
        Folder to write. It must not exist, unless you give --replace.
    party
        Party file of the coordinator, for a study of several parties.
    """
    screen = Screen.of(json, text)
    bounds = limits or JoinLimits()
    if (study / MODEL).is_file():
        raise InvalidArgument(f"{str(study)!r} is a model.", "Give its study, a .toml file.")
    if PartyFile.is_one(study):
        raise InvalidArgument(f"{str(study)!r} is a party file.", f"Give the study that it names, and --party {study}.")
    if SharedStudy.is_one(study):
        if party is None:
            raise needs_party(study, "a study", "add the file of the coordinator, such as --party clinic.toml.")
        return train_secure(study, party, out, replace=replace, bounds=bounds, screen=screen)
    check_party_options({"--party": party}, f"{str(study)!r} names no parties.")
    check_model_place(out, replace=replace)
    with as_in_study():
        training = _trained(Study.load(study), bounds, screen)
    write_model(out, training.classifier.write, join_report(training), replace=replace)

    def show() -> None:
        print_training(training, screen.console)
        written = (
            f"Written: {out}. Look at {out / REPORT}. Both contain values of the tables: protect them like the data."
        )
        screen.say(screen.escape(written))

    screen.answer({**training_facts(training), "written": str(out)}, show)
    return 0


def _trained(study: Study, bounds: LimitOptions, screen: Screen) -> Training:
    """Read, show what matches, grow the tree and evaluate it."""
    with screen.progress() as progress:
        reading = Limits(**vars(bounds), progress=progress)
        reading.step("Reading tables")
        linked = study.link(reading)
    rows = {name: table.num_rows for name, table in linked.tables.items()}
    notes = tuple(f"{name}: {note}" for name, table in linked.tables.items() for note in notes_of(table))
    if all(match.keys for match in linked.matches):  # else, an error says it
        notes += tuple(spelled(note, in_study) for note in linked.key_notes())
    screen.show(lambda: print_matches(rows, linked.matches, str(linked.rule), notes, screen.console))
    linked.check_matches()
    check_folds(linked, study.target, **dict(study.evaluation))
    with screen.progress() as progress:
        limits = dataclass_replace(reading, progress=progress)  # one clock for the whole command
        classifier = study.classifier(**vars(bounds)).fit(linked, target=study.target, limits=limits)
        evaluation = evaluate(classifier, linked, **dict(study.evaluation), limits=limits)
    return Training(classifier, rows, evaluation, notes, tuple(linked.mostly_unique()))


@join.command(sort_key=2)
def predict(
    model: Path,
    /,
    *tables: str,
    out: Path,
    id: str | None = None,  # noqa: A002 - the word users read
    party: Path | None = None,
    records: Path | None = None,
    one_round: Annotated[bool, Flag] = False,
    without: Annotated[tuple[str, ...], Flag] = (),
    replace: ReplaceFile = False,
    limits: JoinLimits | None = None,
    json: Json = False,
    text: Text = False,
) -> int:
    """Predict the class of each row of the target table, by a vote of its joined rows.

    Writes one line for each row: its number, its class, the share of votes for it, and how many joined rows it has. A
    row that matches nothing has 0 joined rows and gets the most common class of the training.

    For the tree of several parties, RECORDS has a column of identifiers for each table. Parties answer for their nodes.

    Examples:

        veilset join predict model study.toml --out predictions.csv
        veilset join predict model customers=new.csv orders=orders.csv --id customer_no --out predictions.csv
        veilset join predict model --party clinic.toml --records records.csv --out predictions.csv

    Parameters
    ----------
    model
        Folder that veilset join train has written.
    tables
        Tables to predict for: a study, or NAME=FILE for each table of the model. The class column can be missing.
    out
        File for the predictions: .csv, .parquet, .json or .jsonl. It must not exist, unless you give --replace.
    id
        Column of the target table to write beside the row numbers.
    party
        Party file of the coordinator, for the tree of several parties.
    records
        Table with the identifiers of the records to predict for, a column for each table of the study.
    one_round
        Ask parties about all their nodes at once. They then learn no paths, and you learn more answers.
    without
        Party that is not asked. Records end at its nodes. Repeatable.
    """
    screen = Screen.of(json, text)
    check_table_name(out)
    _check_model(model)
    asked = {"--party": party, "--records": records, "--one-round": one_round, "--without": without}
    if SecureModel.is_one(model):
        if party is None or records is None or tables or id:
            raise needs_party(model, "the tree", f"veilset join predict {model} --party … --records … --out {out}")
        check_out(out, [records, party, model / MODEL], replace=replace)
        mode: Mode = "one round" if one_round else "path"
        bounds = limits or JoinLimits()
        return predict_secure(
            model, party, records, out, mode=mode, without=without, replace=replace, bounds=bounds, screen=screen
        )
    check_party_options(asked, f"{str(model)!r} is not the tree of several parties.")
    study, sources = _sources(tables)
    files = [
        Path(one.path if isinstance(one, Csv) else one) for one in sources.values() if isinstance(one, (Csv, Path))
    ]
    check_out(out, [*files, model / MODEL], replace=replace)
    with screen.progress() as progress:
        classifier = JoinClassifier.load(model, **vars(limits or JoinLimits()), progress=progress)
        run_limits = classifier.limits()
        notes = () if study is None else differences(study, classifier)
        with as_in_study():
            linked = classifier.link(sources, limits=run_limits)
        table = prediction_table(classifier, linked, id, limits=run_limits)
    with write_pieces(out, table.schema, replace=replace) as write:
        write(table)
    chosen = Counter(table.column("prediction").to_pylist())
    unmatched = sum(rows == 0 for rows in table.column("joined_rows").to_pylist())
    facts = {
        "rows": len(table),
        "unmatched_rows": unmatched,
        "matches": [vars(match) for match in linked.matches],
        "predictions": {str(name): count for name, count in chosen.items()},
        "notes": list(notes),
    }
    rows = {name: one.num_rows for name, one in linked.tables.items()}

    def show() -> None:
        print_matches(rows, linked.matches, str(linked.rule), notes, screen.console)
        for name, count in chosen.most_common():
            screen.say(screen.escape(f"{visible(told(name))}: {count:,} row{'s' * (count != 1)}"))
        if unmatched:
            screen.say(f"{unmatched:,} of {len(table):,} rows match nothing and get the most common class.")
        screen.say(screen.escape(f"Written: {out}."))

    screen.answer({**facts, "written": str(out)}, show)
    return 0


def _check_model(model: Path) -> None:
    if model.suffix.lower() == ".toml" and not model.is_dir():
        raise InvalidArgument(
            f"{str(model)!r} is a study.", "Give the model folder first, which veilset join train has written."
        )


def _sources(given: tuple[str, ...]) -> tuple[Study | None, dict[str, Any]]:
    """The tables that a study names, after the study, or that were typed as NAME=FILE."""
    if len(given) == 1 and given[0].endswith(".toml"):
        study = Study.load(given[0], predicting=True)
        return study, dict(study.tables())
    found: dict[str, Any] = {}
    for one in given:
        name, sign, path = one.partition("=")
        if not (name and sign and path):
            raise InvalidArgument(f"{one!r} is not a table.", "Give a study (.toml), or NAME=FILE for each table.")
        if name in found:
            raise InvalidArgument(f"The table {name!r} is given twice.", "Give each table once.")
        found[name] = Path(path)
    if not found:
        raise InvalidArgument("No tables are given.", "Give a study (.toml), or NAME=FILE for each table.")
    return None, found


@join.command(sort_key=3)
def show(model: Path, /, *, depth: Natural | None = None, json: Json = False, text: Text = False) -> int:
    """Print the tree of a model, a node a line.

    Example:

        veilset join show model --depth 3

    Parameters
    ----------
    model
        Folder that veilset join train has written.
    depth
        Number of levels of splits to print. JSON has all. Default: all.
    """
    screen = Screen.of(json, text)
    _check_model(model)
    if SecureModel.is_one(model):
        return show_secure(model, depth, screen)
    classifier = JoinClassifier.load(model)
    screen.answer(tree_facts(classifier), lambda: print_tree(classifier, screen.console, depth))
    return 0
