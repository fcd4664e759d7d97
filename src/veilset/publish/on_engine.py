"""Writing a release of what an engine holds: the same bundle, with its data in parts that workers write and read.

Names, counts and sums of files pass the driver, no row does. There is no map of rows: the order of the original is that
in which an engine found it, and nobody keeps that. The gates are those of a release in memory. The auditor has looked
at the changed rows; `verify` reads the written bytes on the engine and audits them; what it has read must be the
original without the suppressed items.
"""

from __future__ import annotations

from pathlib import Path

from veilset.audit import held_edits_account_for
from veilset.errors import InvalidArgument, NotCertified
from veilset.io import atomic_folder, write_durably
from veilset.publish.bundle import WARNING, Bundle, check_target, check_written
from veilset.publish.edits import write_held_edits
from veilset.publish.handover import check_certified_held, seed_from
from veilset.publish.held import held
from veilset.publish.part_writing import write_parts
from veilset.publish.public import MADE_BY, REPORT, Declared, write_about
from veilset.publish.recipe import RECIPE, Recipe
from veilset.publish.sealing import public_promise
from veilset.publish.verify import examine
from veilset.report import held_custodian_report
from veilset.run import HeldRun
from veilset.transactions import Transactions

_WITNESSES = 20
_WARNING_TEXT = """DO NOT SHARE this folder.

It contains what undoes the release next to it: which items were removed, the secret seed, and examples of people who
could have been identified in the original data. Hand over the folder public/ and nothing else.

There is no rows.parquet: a release that was written on an engine has no list of which released row was which original
row, because nobody keeps the order in which an engine reads rows.
"""


def publish_held(
    run: HeldRun,
    out: str | Path,
    *,
    replace: bool = False,
    random_state: int | str | None = None,
    allow_empty_promise: bool = False,
) -> Bundle:
    """Write a certified release to the folder *out*, or nothing at all; see `veilset.publish` for the parameters."""
    release, promise = run.release, run.promise
    if promise.edits != "items":
        raise InvalidArgument(
            f"Releases for {promise.name} are not written on an engine yet.", "Read the data into memory, with vs.read."
        )
    if release.generalized or release.removed is not None:
        what = "coarser names" if release.generalized else "items removed from single transactions"
        raise InvalidArgument(
            f"Releases with {what} are not written on an engine yet.",
            "Choose a method that suppresses whole items, or read the data into memory, with vs.read.",
        )
    answer = check_certified_held(release)
    known = release.original.vocabulary
    promise.check_meaningful(known)
    if not allow_empty_promise:
        for held_items in (known, release.custodian_data.vocabulary):
            promise.check_excludes(held_items)
    out = Path(out)
    check_target(out, replace=replace)
    seed = seed_from(random_state)
    _ = run.before, run.original, run.released  # what takes long is done before the first file is made
    limits = run.limits()
    with atomic_folder(out, replace=replace) as staging:
        custodian, public = staging / "custodian", staging / "public"
        custodian.mkdir(mode=0o700)
        write_durably(custodian / WARNING, _WARNING_TEXT)
        limits.step("Writing the release")
        public.mkdir(mode=0o755)
        parts = write_parts(release.custodian_data, run.released, staging, public, promise, seed)
        declared = Declared(
            promise=public_promise(promise, run.released, seed),
            one_transaction_is="taken as one person",
            loss_percent=round(100 * release.loss),
            generalized={},
        )
        write_about(public, run.released, parts, None, declared, answer, limits)
        recipe = Recipe.of(release, seed=seed, version=MADE_BY)
        write_durably(custodian / RECIPE, recipe.to_toml())
        write_held_edits(custodian, run)
        write_durably(custodian / REPORT, held_custodian_report(run))
        limits.step("Verifying the written bytes")
        with held(staging) as files:
            verification, values = examine(files, _WITNESSES, limits, engine=release.original.engine)
        check_written(verification)
        assert values is not None and not isinstance(values.rows, Transactions)  # noqa: S101 - an engine has read them
        limits.step("Comparing them with the original")
        wrong = held_edits_account_for(release.original, values.rows, suppressed=release.suppressed)
        values.rows.close()
        if wrong is not None:
            raise NotCertified(
                f"NO-GO: nothing was written. The release does not match its list of edits: {wrong}",
                "If the source did not change meanwhile, this is a bug in Veilset: please report it.",
            )
        check_target(out, replace=replace)  # somebody may have put a file there meanwhile
    return Bundle(out, verification)
