"""Writing a release: ``public/`` to hand over, ``custodian/`` to keep, both or neither.

What is public beside the data is computed from them alone (but for the loss, rounded to 1%), their rows are in an order
that only the custodian's secret seed can undo, and before anything gets its name, `verify` has read the written bytes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from veilset.errors import CannotWrite, Infeasible, InvalidArgument, NotCertified
from veilset.io import FORMATS, atomic_folder, check_place, write_durably
from veilset.publish.certificate import one_transaction
from veilset.publish.edits import COLUMNS, EDITS, PATTERNS, write_columns, write_edits, write_patterns
from veilset.publish.handover import (
    Order,
    check_certified,
    check_excludes,
    release_layout,
    released_rows,
    secret_order,
    seed_from,
)
from veilset.publish.public import CERTIFICATE, MADE_BY, PARTS, REPORT, SUMS, Declared, write_public
from veilset.publish.recipe import RECIPE, Recipe
from veilset.publish.row_map import ROWS, write_row_map
from veilset.publish.sealing import public_promise
from veilset.publish.verification import Verification
from veilset.publish.verify import verify
from veilset.report import custodian_report, half_sentence
from veilset.run import Run
from veilset.views import Shown, Summary

_BYTES_A_ROW = 40  # that a new order takes, whatever is in the rows

WARNING = "DO-NOT-SHARE.txt"
_PARTS = {
    *("public", f"public/{CERTIFICATE}", f"public/{REPORT}", f"public/{SUMS}"),
    *("custodian", f"custodian/{WARNING}", f"custodian/{RECIPE}", f"custodian/{REPORT}", f"custodian/{ROWS}"),
    *(f"custodian/{EDITS}", f"custodian/{PATTERNS}", f"custodian/{COLUMNS}"),
}

_WARNING_TEXT = """DO NOT SHARE this folder.

It contains what undoes the release next to it: which items were removed, which patterns were hidden (if any), which
released row was which original row (or who is in which bucket), the secret seeds, and examples of people who could have
been identified in the original data. Hand over the folder public/ and nothing else.
"""


@dataclass(frozen=True, repr=False)
class Bundle(Shown):
    """A release on disk."""

    path: Path
    verification: Verification

    @property
    def public(self) -> Path:
        """The folder to hand over."""
        return self.path / "public"

    @property
    def custodian(self) -> Path:
        """The folder to keep."""
        return self.path / "custodian"

    def _summary(self) -> Summary:
        folders = [f"hand over: {self.public}", f"keep: {self.custodian}"]
        verified = self.verification
        return Summary("Bundle", f"{self.path}", verified.holds, notes=[*folders, verified.message])


def publish(
    run: Run,
    out: str | Path,
    *,
    replace: bool = False,
    out_format: str | None = None,
    random_state: int | str | None = None,
    allow_empty_promise: bool = False,
) -> Bundle:
    """Write a certified release to the folder *out*, or nothing at all; see `veilset.publish` for the parameters."""
    release = run.release
    if not len(release.custodian_data):
        raise Infeasible(
            "The release has no transactions: there is nobody to promise anything about.",
            "Use data with at least one transaction.",
        )
    answer = check_certified(release, "written", lambda: half_sentence(run))
    release.promise.check_meaningful(release.original)
    if not allow_empty_promise:
        check_excludes(release)
    out = Path(out)
    check_target(out, replace=replace)
    release_layout(release, out_format)  # refuses a format that does not exist before anything is done
    seed = seed_from(random_state)
    order = secret_order(release, seed)
    # What takes long is done before the first file is made.
    _ = run.before, run.account, run.binding, run.reasons, run.by_occurrences, run.fidelity
    limits = run.limits()
    with atomic_folder(out, replace=replace) as staging:
        custodian = staging / "custodian"
        custodian.mkdir(mode=0o700)
        write_durably(custodian / WARNING, _WARNING_TEXT)
        limits.step("Writing the release")
        limits.require(
            _BYTES_A_ROW * len(release.custodian_data), "Writing the release", "publish fewer transactions at once."
        )
        data = released_rows(release, order)
        declared = Declared(
            promise=public_promise(release.promise, data, seed),
            one_transaction_is=one_transaction(release.original),
            loss_percent=round(100 * release.loss),
            generalized=release.stands_for,
            listed_from=release.listed_from if release.generalized else 0,
            thinned=release.thinned,
            broken_in_original=None if release.in_original is None else release.in_original.broken,
        )
        (staging / "public").mkdir(mode=0o755)
        write_public(staging / "public", data, release_layout(release, out_format), declared, answer, limits)
        _write_custodian(custodian, run, order, seed, out_format)
        limits.step("Verifying the written bytes")
        with run.timed("verification"):
            verification = verify(staging, limits=limits)  # with custodian/, where the promise stands if it is secret
        check_written(verification)
        check_target(out, replace=replace)  # somebody may have put a file there meanwhile
    return Bundle(out, verification)


def check_written(verification: Verification) -> None:
    """Raise unless the files that were just written hold."""
    if verification.verdict in ("malformed", "incomplete"):  # not that it is broken: nobody could look
        raise CannotWrite(
            f"NO-GO: nothing was written. The written files could not be read back: {verification.message}",
            "Check the disk and the limits on open files and memory, then run it again.",
        )
    if not verification.holds:
        raise NotCertified(
            f"NO-GO: nothing was written. The written files failed their verification: {verification.message}",
            "This is a bug in Veilset: please report it.",
        )


def check_target(out: Path, *, replace: bool) -> None:
    """Raise if *out* cannot be made, or holds anything but a release that is to be replaced."""
    check_place(out, replace=replace)
    if not out.is_dir() or not any(out.iterdir()):
        return
    if not (out / "custodian" / WARNING).is_file():
        raise InvalidArgument(
            f"{str(out)!r} is not a release by Veilset; replacing it would delete it.", "Choose another folder."
        )
    strange = (path.relative_to(out) for path in out.rglob("*") if not _is_ours(path.relative_to(out)))
    if (first := min(strange, default=None)) is not None:
        raise InvalidArgument(
            f"{str(out)!r} contains {str(first)!r}, which is not part of a release; replacing it would delete that.",
            "Move it elsewhere, or choose another folder.",
        )


def _is_ours(path: Path) -> bool:
    """Whether a release has such a file or folder; its data may be in any format."""
    if path.parent == Path(f"public/{PARTS}"):
        return re.fullmatch(r"part-[0-9]{5}\.parquet", path.name) is not None
    if path == Path(f"public/{PARTS}"):
        return True
    if path.parent == Path("public") and path.stem in ("data", "anatomy"):
        return path.suffix in {form.suffix for form in FORMATS.values()}
    return str(path) in _PARTS


def _write_custodian(folder: Path, run: Run, order: Order, seed: str, out_format: str | None) -> None:
    release = run.release
    recipe = Recipe.of(release, seed=seed, version=MADE_BY, out_format=out_format)
    write_durably(folder / RECIPE, recipe.to_toml())
    write_edits(folder, run)
    write_patterns(folder, run)
    write_columns(folder, release)
    write_durably(folder / REPORT, custodian_report(run))
    write_row_map(folder / ROWS, release, order)
