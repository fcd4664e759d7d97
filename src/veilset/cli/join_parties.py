"""``veilset join`` between parties: keys, taking part, the audit log, revoking."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Annotated

from veilset.cli.forms import Whole
from veilset.cli.join import join
from veilset.cli.join_secure import read_tables, refused, serving
from veilset.cli.options import Flag, JoinLimits, Json, Text
from veilset.cli.screen import Screen
from veilset.joins.parties import audit_log
from veilset.joins.parties.audit_log import AuditLog
from veilset.joins.parties.certificates import as_text, fingerprint, make_identity
from veilset.joins.parties.party_file import PartyFile
from veilset.joins.parties.planning import planned
from veilset.joins.parties.secure_tree import SecureModel
from veilset.joins.parties.split_lists import revoke as delete_splits
from veilset.report.parties_review import Review, print_dry_run, print_review, review_facts
from veilset.report.terminal_parties import log_facts, print_log

Switch = Annotated[bool, Flag]


@join.command(sort_key=4)
def keygen(name: str, /, *, out: Path, days: Whole = 365, json: Json = False, text: Text = False) -> int:
    """Make the key and the certificate of a party.

    Prints the line for the study, and a fingerprint. Compare fingerprints by telephone before you approve a study.

    Example:

        veilset join keygen clinic --out clinic-keys

    Parameters
    ----------
    name
        Name of the party, as the study has it.
    out
        Folder for key.pem, which stays secret, and certificate.pem.
    days
        Number of days that the certificate is valid.
    """
    screen = Screen.of(json, text)
    identity = make_identity(out, name, days)
    line = f'certificate = "{as_text(identity.certificate)}"'
    read_out = fingerprint(identity.certificate)

    def show() -> None:
        screen.say(screen.escape(f"For [parties.{name}] of the study:\n{line}"))
        screen.say(screen.escape(f"Fingerprint of {name}, to compare by telephone:\n{read_out}"))
        screen.say(screen.escape(f"Written: {out}. Keep {identity.key_file} secret."))

    facts = {"party": name, "certificate": as_text(identity.certificate), "fingerprint": read_out}
    screen.answer({**facts, "written": str(out)}, show)
    return 0


@join.command(sort_key=5)
def party(
    file: Path,
    /,
    *,
    dry_run: Switch = False,
    once: Switch = False,
    limits: JoinLimits | None = None,
    json: Json = False,
    text: Text = False,
) -> int:
    """Take part in a study with your own tables.

    Listens for the coordinator until Ctrl-C. A study that is not approved is shown first, with what others would learn
    about your rows.

    Examples:

        veilset join party clinic.toml --dry-run
        veilset join party clinic.toml

    Parameters
    ----------
    file
        Party file: who you are, your tables, and what you approve. See docs/private-joins.md.
    dry_run
        Print what would be sent, to whom and how large. Connect to nobody.
    once
        End after the first finished training.
    """
    screen = Screen.of(json, text)
    review = read_tables(PartyFile.load(file), limits or JoinLimits(), screen)
    if dry_run:
        return _show_dry_run(review, screen)
    if review.objection is not None:
        return refused(review, review.objection, screen)
    served = _Served()
    try:
        asyncio.run(_serve(review, once, screen, served))
    except (KeyboardInterrupt, asyncio.CancelledError):
        if served.busy:
            raise KeyboardInterrupt from None
    facts = {"party": review.home.party, "study": review.home.study.hash, "finished": served.finished}
    screen.answer(facts, lambda: screen.note("Stopped."))
    return 0


class _Served:
    """How far a party had got when it was stopped."""

    busy = False
    finished = False


async def _serve(review: Review, once: bool, screen: Screen, served: _Served) -> None:
    home = review.home
    if (task := asyncio.current_task()) is not None:  # a service manager sends SIGTERM where a person presses Ctrl-C
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    for sentence in review.earlier:
        screen.note(sentence)
    async with serving(home, screen.note) as server:
        where = f"{home.party} listens at {home.file.address}, for the study {home.study.hash[:16]}…"
        screen.note(f"{where} {'It ends after a training.' if once else 'Ctrl-C ends it.'}")
        try:
            await (server.first_training() if once else asyncio.Event().wait())
        finally:
            served.busy, served.finished = server.busy, server.finished.is_set()


def _show_dry_run(review: Review, screen: Screen) -> int:
    """Print what would be sent; the exit code says whether the policies would let it pass."""
    told = planned(review.home)

    def show() -> None:
        print_review(review, screen.console)
        print_dry_run(told, screen.console)

    facts = {**review_facts(review), "dry_run": told.to_dict()}
    if (refusal := review.refusal) is not None:
        return screen.refuse(facts, show, refusal)
    screen.answer(facts, show)
    return 0


@join.command(sort_key=6)
def log(file: Path, /, *, json: Json = False, text: Text = False) -> int:
    """Print what this party has sent in each session.

    Warns if a new session on changed tables would tell more than each alone.

    For example:

        veilset join log clinic.toml

    Parameters
    ----------
    file
        Party file. The log is in its state folder.
    """
    screen = Screen.of(json, text)
    review = read_tables(PartyFile.load(file), JoinLimits(), screen)
    home = review.home
    journal = AuditLog(home.file.state / audit_log.NAME)
    try:
        sessions = journal.sessions()
    finally:
        journal.close()
    facts = log_facts(sessions, home.party, review.earlier)
    screen.answer(facts, lambda: print_log(sessions, home.party, review.earlier, screen.console))
    return 0


@join.command(sort_key=7)
def revoke(file: Path, model: str, /, *, json: Json = False, text: Text = False) -> int:
    """Delete this party's splits of a model. Predictions then end at its nodes.

    Example:

        veilset join revoke clinic.toml model

    Parameters
    ----------
    file
        Party file. The splits are in its state folder.
    model
        Folder of the model, or the name of its run.
    """
    screen = Screen.of(json, text)
    own = PartyFile.load(file)
    run = SecureModel.load(model).run if SecureModel.is_one(Path(model)) else model
    delete_splits(own.state, run)
    screen.answer(
        {"party": own.party, "revoked": run},
        lambda: screen.say(screen.escape(f"{own.party} has no splits of the model {run} any more.")),
    )
    return 0
