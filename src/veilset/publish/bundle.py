"""Writing a release: ``public/`` to hand over, ``custodian/`` to keep, both or neither.

What is public beside the data is computed from them alone (but for the loss, rounded to 1%), their rows are in an order
that only the custodian's secret seed can undo, and before anything gets its name, `verify` has read the written bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from veilset.errors import InvalidArgument, NotCertified
from veilset.io import (
    Layout,
    atomic_file,
    atomic_folder,
    check_place,
    sha256_of,
    write_durably,
    write_rows,
)
from veilset.limits import Limits
from veilset.models import Audit
from veilset.publish.certificate import (
    SCHEMA_VERSION,
    AnatomyTable,
    Certificate,
    DataFile,
    PromiseRecord,
    one_transaction,
)
from veilset.publish.edits import write_columns, write_edits, write_patterns
from veilset.publish.handover import (
    Order,
    check_certified,
    check_excludes,
    release_layout,
    released_rows,
    secret_order,
    seed_from,
)
from veilset.publish.recipe import RECIPE, Recipe
from veilset.publish.row_map import write_row_map
from veilset.publish.sealing import public_audit, public_promise
from veilset.publish.verify import CERTIFICATE, REPORT, SUMS, Verification, verify
from veilset.release import Release
from veilset.report import custodian_report, half_sentence, public_report
from veilset.run import Run
from veilset.transactions import Transactions
from veilset.views import Shown, Summary

_BYTES_A_ROW = 40  # that a new order takes, whatever is in the rows

_WARNING = """DO NOT SHARE this folder.

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
    answer = check_certified(release, "written", lambda: half_sentence(run))
    release.promise.check_meaningful(release.original)
    if not allow_empty_promise:
        check_excludes(release)
    out = Path(out)
    check_target(out, replace=replace)
    release_layout(release, out_format)  # refuses a format that does not exist before anything is done
    seed = seed_from(random_state)
    order = secret_order(release, seed)
    _ = run.before, run.account, run.binding, run.reasons  # what takes long is done before the first file is made
    limits = run.limits()
    with atomic_folder(out, replace=replace) as staging:
        custodian = staging / "custodian"
        custodian.mkdir(mode=0o700)
        write_durably(custodian / "DO-NOT-SHARE.txt", _WARNING)
        limits.step("Writing the release")
        limits.require(
            _BYTES_A_ROW * len(release.custodian_data), "Writing the release", "publish fewer transactions at once."
        )
        _write_public(staging / "public", release, order, seed, answer, out_format, limits)
        _write_custodian(custodian, run, order, seed, out_format)
        limits.step("Verifying the written bytes")
        with run.timed("verification"):
            verification = verify(staging, limits=limits)  # with custodian/, where the promise stands if it is secret
        if not verification.holds:
            raise NotCertified(
                f"NO-GO: nothing was written. The written files failed their verification: {verification.message}",
                "This is a bug in Veilset: please report it.",
            )
    return Bundle(out, verification)


def check_target(out: Path, *, replace: bool) -> None:
    """Raise if *out* cannot be made, or is taken by anything but a release that is to be replaced."""
    check_place(out, replace=replace)
    if out.is_dir() and any(out.iterdir()) and not (out / "custodian" / "DO-NOT-SHARE.txt").is_file():
        raise InvalidArgument(
            f"{str(out)!r} is not a release by Veilset; replacing it would delete it.", "Choose another folder."
        )


def _write_public(
    folder: Path,
    release: Release,
    order: Order,
    seed: str,
    answer: Audit,
    out_format: str | None,
    limits: Limits,
) -> None:
    data = released_rows(release, order)
    folder.mkdir(mode=0o755)
    layout = release_layout(release, out_format)
    file = folder / f"data{layout.form.suffix}"
    with atomic_file(file) as stream:
        write_rows(stream, data.offsets, data.items, data.names, layout)
    made_by = f"veilset {version('veilset')}"
    original = release.original
    merged, unknown = original.persons is not None, original.has_unknown
    loss_percent = round(100 * release.loss)
    listed_from = release.listed_from if release.generalized else 0
    promise = public_promise(release.promise, data, seed)
    certificate = Certificate(
        schema_version=SCHEMA_VERSION,
        promise=PromiseRecord(name=promise.name, parameters=promise.parameters()),
        sensitive=data.sensitive,
        transactions=len(data),
        one_transaction_is=one_transaction(original),
        data=DataFile(
            file=file.name,
            sha256=sha256_of(file),
            format=layout.format,
            delimiter=layout.delimiter,
            columns=layout.columns or None,
        ),
        loss_percent=loss_percent,
        not_promised=promise.open_ends(
            sensitive=bool(data.sensitive),
            merged=merged,
            unknown=unknown,
            empty=answer.excludes_nothing,
            coarser=bool(release.stands_for),
            listed_from=listed_from,
        ),
        made_by=made_by,
        generalized=dict(release.stands_for),
        listed_from=listed_from,
        anatomy=None if data.anatomy is None else _write_anatomy(folder, data, layout),
    )
    texts = {
        CERTIFICATE: certificate.to_json().encode() + b"\n",
        REPORT: public_report(
            data,
            public_audit(answer, promise),
            loss_percent=loss_percent,
            version=made_by,
            merged=merged,
            unknown=unknown,
            stands_for=release.stands_for,
            listed_from=listed_from,
            limits=limits,
        ).encode(),
    }
    sums = {**certificate.files(), **{name: sha256_of(text) for name, text in texts.items()}}
    texts[SUMS] = "".join(f"{sums[name]}  {name}\n" for name in sorted(sums)).encode()
    for name, text in texts.items():
        write_durably(folder / name, text)


def _write_anatomy(folder: Path, data: Transactions, layout: Layout) -> AnatomyTable:
    """Write which rows of the data are in which bucket, and their items column by column."""
    file = folder / AnatomyTable.name_beside(layout)
    data.write(file, format="anatomy")
    return AnatomyTable(file=file.name, sha256=sha256_of(file), **AnatomyTable.numbers(data))


def _write_custodian(folder: Path, run: Run, order: Order, seed: str, out_format: str | None) -> None:
    release = run.release
    recipe = Recipe.of(release, seed=seed, version=f"veilset {version('veilset')}", out_format=out_format)
    write_durably(folder / RECIPE, recipe.to_toml())
    write_edits(folder, run)
    write_patterns(folder, run)
    write_columns(folder, release)
    write_durably(folder / "report.html", custodian_report(run))
    write_row_map(folder / "rows.parquet", release, order)
