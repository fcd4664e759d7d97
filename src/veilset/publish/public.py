"""The files of ``public/``, made in one place from the released rows and from what the custodian declares.

`publish` writes them, `verify` computes them again and compares, and a clean copy is written anew from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from veilset.io import Layout, atomic_file, sha256_of, write_durably, write_rows
from veilset.limits import Limits
from veilset.models import Audit, Promise
from veilset.publish.certificate import (
    SCHEMA_VERSION,
    AnatomyTable,
    AnyData,
    Certificate,
    DataFile,
    DataParts,
    OneTransaction,
    PromiseRecord,
)
from veilset.publish.sealing import public_audit
from veilset.report import public_report
from veilset.transactions import Counted, Transactions

CERTIFICATE, REPORT, SUMS, PARTS = "certificate.json", "report.html", "SHA256SUMS", "data"

MADE_BY = f"veilset {version('veilset').partition('+')[0]}"  # who built it where is nobody's business


@dataclass(frozen=True)
class Declared:
    """What the released rows cannot tell, and readers have to take the custodian's word for.

    *promise* is as it may be told in public.
    """

    promise: Promise
    one_transaction_is: OneTransaction
    loss_percent: int
    generalized: Mapping[str, tuple[str, ...]]
    listed_from: int = 0
    thinned: bool = False
    broken_in_original: int | None = None
    made_by: str = MADE_BY

    @classmethod
    def in_certificate(cls, certificate: Certificate, promise: Promise) -> Declared:
        """What a certificate declares; *promise* is the one that it names."""
        return cls(
            promise,
            certificate.one_transaction_is,
            certificate.loss_percent,
            certificate.generalized,
            certificate.listed_from,
            certificate.thinned,
            certificate.broken_in_original,
            certificate.made_by,
        )


def write_public(
    folder: Path, data: Transactions, layout: Layout, declared: Declared, answer: Audit, limits: Limits
) -> None:
    """Write all files into the folder; *answer* is the auditor's about these rows."""
    file = folder / f"data{layout.form.suffix}"
    with atomic_file(file) as stream:
        write_rows(stream, data.offsets, data.items, data.names, layout)
    table = DataFile.of(file.name, sha256_of(file), layout)
    anatomy = None if data.anatomy is None else _write_anatomy(folder, data, layout, answer)
    write_about(folder, data, table, anatomy, declared, answer, limits)


def write_about(
    folder: Path,
    data: Counted,
    table: AnyData,
    anatomy: AnatomyTable | None,
    declared: Declared,
    answer: Audit,
    limits: Limits,
) -> None:
    """Write what there is besides the data: certificate, page, sums."""
    certificate = certificate_of(data, declared, table, anatomy, empty=answer.excludes_nothing)
    texts = {CERTIFICATE: certificate.to_bytes(), REPORT: page_of(certificate, data, declared.promise, answer, limits)}
    sums = {**certificate.files(), **{name: sha256_of(text) for name, text in texts.items()}}
    texts[SUMS] = sums_of(sums)
    for name, text in texts.items():
        write_durably(folder / name, text)


def certificate_of(
    data: Counted, declared: Declared, table: AnyData, anatomy: AnatomyTable | None, *, empty: bool
) -> Certificate:
    """The certificate; *empty*: the promise excludes nothing in this data."""
    promise = declared.promise
    bare = Certificate(
        schema_version=SCHEMA_VERSION,
        promise=PromiseRecord(name=promise.name, parameters=promise.parameters()),
        sensitive=data.sensitive,
        transactions=len(data),
        one_transaction_is=declared.one_transaction_is,
        data=table,
        loss_percent=declared.loss_percent,
        not_promised=(),
        made_by=declared.made_by,
        generalized=dict(declared.generalized),
        listed_from=declared.listed_from,
        thinned=declared.thinned,
        broken_in_original=declared.broken_in_original,
        anatomy=anatomy,
    )
    open_ends = promise.open_ends(
        sensitive=bool(data.sensitive),
        merged=bare.merged,
        unknown=bare.unknown,
        empty=empty,
        coarser=bool(declared.generalized),
        listed_from=declared.listed_from,
        thinned=declared.thinned,
        broken_in_original=declared.broken_in_original,
    )
    return bare.model_copy(update={"not_promised": open_ends})


def page_of(certificate: Certificate, data: Counted, promise: Promise, answer: Audit, limits: Limits) -> bytes:
    """The page for people."""
    return public_report(
        data,
        public_audit(answer, promise),
        loss_percent=certificate.loss_percent,
        version=certificate.made_by,
        merged=certificate.merged,
        unknown=certificate.unknown,
        stands_for=certificate.generalized,
        listed_from=certificate.listed_from,
        thinned=certificate.thinned,
        broken_in_original=certificate.broken_in_original,
        in_parts=isinstance(certificate.data, DataParts),
        limits=limits,
    ).encode()


def sums_of(sums: Mapping[str, str]) -> bytes:
    """The text of ``SHA256SUMS``."""
    return "".join(f"{sums[name]}  {name}\n" for name in sorted(sums)).encode()


def _write_anatomy(folder: Path, data: Transactions, layout: Layout, answer: Audit) -> AnatomyTable:
    """Write which rows of the data are in which bucket, and their items column by column."""
    file = folder / AnatomyTable.name_beside(layout)
    data.write(file, format="anatomy")
    return AnatomyTable.made(file.name, sha256_of(file), data, answer)
