"""``veilset join train``, ``predict`` and ``show`` where several parties have the tables."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from veilset.cli.options import LimitOptions
from veilset.cli.screen import Screen
from veilset.errors import InvalidArgument, VeilsetError, unknown
from veilset.io import atomic_folder, write_durably, write_pieces
from veilset.joins.model_file import REPORT, check_model_place
from veilset.joins.parties import audit_log
from veilset.joins.parties.audit_log import AuditLog
from veilset.joins.parties.coordinator import Coordinator, Growth, Trained
from veilset.joins.parties.home import Home
from veilset.joins.parties.party_file import PartyFile
from veilset.joins.parties.predicting import Mode, Prediction, predict
from veilset.joins.parties.secure_tree import SecureModel, check_study
from veilset.joins.parties.server import PartyServer
from veilset.joins.parties.shared_study import SharedStudy
from veilset.joins.parties.split_check import Cells
from veilset.joins.parties.split_lists import SplitList
from veilset.joins.tables import read_table
from veilset.joins.tree import told
from veilset.limits import Limits
from veilset.report import visible
from veilset.report.parties import SecureTraining, secure_facts, secure_report, secure_tree_facts, with_splits
from veilset.report.parties_own import OwnTraining, own_report
from veilset.report.parties_review import Review, print_approval, print_review, review_facts
from veilset.report.terminal_parties import growth_table, print_secure, print_secure_tree

Result = TypeVar("Result")


def train_secure(study: Path, party: Path, out: Path, *, replace: bool, bounds: LimitOptions, screen: Screen) -> int:
    """Coordinate a training; the exit code."""
    check_model_place(out, replace=replace)
    file = PartyFile.load(party)
    check_same_study(study, file)
    review = read_tables(file, bounds, screen)
    if review.objection is not None:
        return refused(review, review.objection, screen)
    trained = asyncio.run(_trained(review.home, screen))
    training = SecureTraining(file.study, trained)
    write_model(out, trained.model.write, secure_report(training), replace=replace)

    def show() -> None:
        print_secure(training, screen.console)
        screen.say(screen.escape(f"Written: {out}. Look at {out / REPORT}."))

    screen.answer({**secure_facts(training), "written": str(out)}, show)
    return 0


def write_model(out: Path, write: Callable[[Path], None], page: str, *, replace: bool) -> None:
    """Write a folder with a model and the page about it."""
    with atomic_folder(out, replace=replace) as folder:
        write(folder)
        write_durably(folder / REPORT, page)
        check_model_place(out, replace=replace)  # somebody may have put a file there meanwhile


def check_same_study(study: Path, file: PartyFile) -> None:
    """Raise if a party file is for another study than the one that was typed."""
    typed = SharedStudy.load(study)
    if typed.hash != file.study.hash:
        raise InvalidArgument(
            f"{str(study)!r} has the hash {typed.hash[:16]}…; the study of the party file has {file.study.hash[:16]}….",
            f"Give the study that the file of {file.party} names.",
        )


def read_tables(file: PartyFile, bounds: LimitOptions, screen: Screen) -> Review:
    """The tables of a party, and what it has to know before it takes part."""
    with screen.progress() as progress:
        limits = Limits(**vars(bounds), progress=progress)
        limits.step("Reading tables")
        home = Home(file, limits)
    home.limits = Limits(**vars(bounds))
    return Review(home)


def refused(review: Review, objection: VeilsetError, screen: Screen) -> int:
    """Show why a party does not take part, and what it has to know; the exit code."""

    def show() -> None:
        print_review(review, screen.console)
        if review.disapproval is not None:
            print_approval(review, screen.console)

    return screen.refuse(review_facts(review), show, objection)


@asynccontextmanager
async def serving(home: Home, tell: Callable[[str], None]) -> AsyncIterator[PartyServer]:
    """A party that listens while the block runs, and writes a page about each tree."""
    server = PartyServer(home, tell, done=partial(_write_own_page, home, tell))
    try:
        async with server.listener():
            yield server
    finally:
        await server.close()


def _write_own_page(home: Home, tell: Callable[[str], None], model: SecureModel, cells: Mapping[int, Cells]) -> None:
    """Write the page of a party. If that fails, it is told; the tree and the splits are there all the same."""
    state = home.file.state
    splits = SplitList.read(state, model.run)
    log = AuditLog(state / audit_log.NAME)
    try:
        session = next((one for one in log.sessions() if one.begin.run == model.run), None)
    finally:
        log.close()
    page = own_report(OwnTraining(home, model, {} if splits is None else splits.splits, cells, session))
    place = state / "models" / model.run / REPORT
    try:
        write_durably(place, page)
        place.chmod(0o600)
    except OSError as error:
        tell(f"The page {str(place)!r} cannot be written: {error.strerror}. The tree and the splits are kept.")


async def _beside(home: Home, work: Coroutine[Any, Any, Result], tell: Callable[[str], None]) -> Result:
    """Do some work of the coordinator; if it has tables, it answers as a party meanwhile."""
    if not home.tables:
        return await work
    try:
        async with serving(home, tell):
            return await work
    finally:
        work.close()  # if it has not begun, since nobody could listen


async def _trained(home: Home, screen: Screen) -> Trained:
    tell = partial(screen.note, aside=True)
    with screen.live() as show:

        def watch(growth: Growth) -> None:
            show(growth_table(growth, home.study.owners))

        return await _beside(home, Coordinator(home.file, tell, watch).train(), tell)


def predict_secure(
    model: Path,
    party: Path,
    records: Path,
    out: Path,
    *,
    mode: Mode,
    without: Sequence[str],
    replace: bool,
    bounds: LimitOptions,
    screen: Screen,
) -> int:
    """Ask the parties of a secure tree for predictions; the exit code."""
    tree, file = SecureModel.load(model), PartyFile.load(party)
    check_study(tree, file.study.hash)
    for name in without:
        if name not in file.study.parties:
            raise unknown("party", name, file.study.parties).within("--without: ")
    identifiers = _identifiers(records, list(tree.owners), bounds)
    review = read_tables(file, bounds, screen)
    if review.disapproval is not None:
        return refused(review, review.disapproval, screen)
    tell = partial(screen.note, aside=True)
    asking = predict(Coordinator(file, tell), tree, identifiers, mode=mode, without=without)
    found = asyncio.run(_beside(review.home, asking, tell))
    table = _table(found, tree)
    with write_pieces(out, table.schema, replace=replace) as write:
        write(table)
    _answer(found, tree, out, screen)
    return 0


def _identifiers(records: Path, tables: Sequence[str], bounds: LimitOptions) -> dict[str, list[str]]:
    """For each table that the records have a column for, the identifiers in it."""
    try:
        content = read_table("records", records, keys=tables, limits=Limits(**vars(bounds)))
    except VeilsetError as error:
        other_form = any(name in error.args[1] for name in ("delimiter", "encoding"))
        raise error.within("", "Write it in UTF-8 with commas, or as Parquet." if other_form else None) from None
    listed = [table for table in tables if table in content.column_names]
    if not listed:
        raise InvalidArgument(
            f"{str(records)!r} has the columns {', '.join(map(repr, content.column_names))}; none is a table.",
            f"Give a column with identifiers for each of: {', '.join(tables)}.",
        )
    return {table: content.column(table).cast(pa.large_string()).fill_null("").to_pylist() for table in listed}


def _table(found: Sequence[Prediction], model: SecureModel) -> pa.Table:
    """For each record its number, from 1, its class, the share of it in the node where it has ended, and why there."""
    return pa.table(
        {
            "row": pa.array(range(1, len(found) + 1), pa.int64()),
            "prediction": [model.classes[one.node.label] for one in found],
            "share": [one.node.shares[one.node.label] for one in found],
            "complete": [not one.missing for one in found],
            "stopped_at": [one.missing for one in found],
        }
    )


def _answer(found: Sequence[Prediction], model: SecureModel, out: Path, screen: Screen) -> None:
    chosen = Counter(model.classes[one.node.label] for one in found)
    stopped = Counter(one.missing for one in found if one.missing)

    def show() -> None:
        for name, count in chosen.most_common():
            screen.say(screen.escape(f"{visible(told(name))}: {count:,} record{'s' * (count != 1)}"))
        for table, count in stopped.items():
            screen.say(
                screen.escape(
                    f"{count:,} of {len(found):,} records ended at a node of {table} ({model.owners[table]}): it was "
                    "not asked, or has no such record."
                )
            )
        screen.say(screen.escape(f"Written: {out}."))

    facts = {
        "rows": len(found),
        "predictions": {str(name): count for name, count in chosen.items()},
        "stopped_at": dict(stopped),
        "written": str(out),
    }
    screen.answer(facts, show)


def show_secure(folder: Path, depth: int | None, screen: Screen) -> int:
    """Print a secure tree; with the criteria of one party, if its splits are in the folder."""
    model = SecureModel.load(folder)
    place = folder.absolute()
    splits = SplitList.read(place.parent.parent, place.name)
    tree = with_splits(model, {} if splits is None else splits.splits)
    screen.answer(secure_tree_facts(model, tree), lambda: print_secure_tree(tree, screen.console, depth))
    return 0


def check_party_options(given: Mapping[str, object], why: str) -> None:
    """Raise if one of these options was typed although no other party is there."""
    for name, value in given.items():
        if value:
            raise InvalidArgument(f"{name} is given, and {why}", f"Leave {name} out.")


def needs_party(path: Path, what: str, typed: str) -> VeilsetError:
    """The error for a study or a model of several parties, without a party file."""
    return InvalidArgument(f"{str(path)!r} is {what} of several parties.", f"Say who you are: {typed}")
