"""What `verify` looks at, file by file: each function raises `Refused` where something is not as Veilset writes it."""

from __future__ import annotations

import json

from pydantic import ValidationError

from veilset.errors import InvalidArgument, UnreadableInput, VeilsetError
from veilset.io import Difference, find_difference, sha256_of
from veilset.limits import Limits
from veilset.models import Promise, Sealed
from veilset.publish.certificate import SCHEMA_VERSION, AnatomyTable, Certificate, DataFile
from veilset.publish.held import Held, HeldFile
from veilset.publish.public import CERTIFICATE, REPORT, SUMS, sums_of
from veilset.publish.verification import Refused, Verdict
from veilset.transactions import Transactions, read_file
from veilset.views import Count

ROOM_FOR_JSON = 16  # times its size, that understanding a certificate takes
_SHA256 = 64  # digits
_ROOM_TO_COMPARE = 1 << 24  # bytes: what is written for some transactions, and what the file holds there


def parse_certificate(text: bytes) -> Certificate:
    """The certificate in this text."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Refused("malformed", f"{CERTIFICATE} cannot be read: {error}. Ask for the release again.") from None
    version = content.get("schema_version") if isinstance(content, dict) else None
    if type(version) is int and version != SCHEMA_VERSION:
        raise Refused(
            "unknown-schema",
            f"The certificate has schema version {version}; this version of Veilset knows {SCHEMA_VERSION}. Nothing "
            "was checked: use the version that made it, or a newer one.",
        )
    try:
        return Certificate.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the whole"
        raise Refused("malformed", f"{CERTIFICATE} is not a certificate: {where}: {first['msg']}.") from None


def check_files(release: Held, certificate: Certificate, text: bytes, limits: Limits) -> bytes:
    """Raise unless every file is there and is the certified one, and nothing else is; returns the page's bytes."""
    tables = certificate.files()
    expected = sorted({*tables, CERTIFICATE, REPORT})
    extra = sorted({*release.files, *release.others} - {*expected, SUMS})
    if extra:
        raise Refused("altered", f"{extra[0]!r} does not belong to the release: the certificate does not list it.")
    files = {name: release.expect(name) for name in (*expected, SUMS)}
    sums = _sums_listed(files[SUMS], expected, limits)
    page = files[REPORT].read(limits)
    read = {CERTIFICATE: text, REPORT: page}
    for name in expected:
        if sums[name] != (sha256_of(read[name]) if name in read else files[name].sha256(limits)):
            verdict: Verdict = "edited" if name == CERTIFICATE else "altered"
            raise Refused(verdict, f"{name} is not the file that was released: its sha256 differs.")
    for name, sha256 in tables.items():
        if sums[name] != sha256:
            raise Refused("altered", f"{name} is not the file that was certified: its sha256 differs.")
    return page


def _sums_listed(file: HeldFile, expected: list[str], limits: Limits) -> dict[str, str]:
    """The sums in ``SHA256SUMS``, which has a line for each of these files in their order, and nothing else."""
    size = len(sums_of(dict.fromkeys(expected, _SHA256 * "0")))
    text = file.read(limits).decode("ascii", "replace") if file.size == size else ""
    sums = {line[_SHA256 + 2 :]: line[:_SHA256] for line in text.split("\n")[:-1]}
    if sums_of(sums) != text.encode() or sorted(sums) != expected:
        raise Refused("altered", f"{SUMS} does not list exactly {', '.join(expected)}, in this order.")
    return sums


def check_anatomy(certificate: Certificate, told: Promise) -> None:
    """Raise unless there is an anatomized table just where the promise is about one."""
    promised = (told.kind if isinstance(told, Sealed) else told).edits == "buckets"
    if promised != (certificate.anatomy is not None):
        has = "has no anatomized table, but the promise is about one" if promised else "has an anatomized table"
        raise Refused("malformed", f"The certificate for {certificate.promise.name} {has}. Ask for the release again.")


def audited(certificate: Certificate) -> AnatomyTable | DataFile:
    """The file that the promise is about; the other one, if there are two, must say the same."""
    return certificate.anatomy or certificate.data


def _contradiction(certificate: Certificate, data: Transactions) -> str | None:
    """What is wrong in what readers are told that coarser names stand for; None: nothing."""
    sensitive, there, seen = set(certificate.sensitive), set(data.names), set[str]()
    for name, items in certificate.generalized.items():
        if name not in there or name in sensitive:
            wrong = "is sensitive" if name in there else "does not occur"
            return f"{name!r} is declared to stand for other items, but {wrong}."
        if not items:
            return f"{name!r} is declared to stand for no items."
        if hidden := sensitive.intersection(items):
            return f"{name!r} is declared to stand for {min(hidden)!r}, which is sensitive."
        if len(set(items)) < len(items) or (twice := seen.intersection(items)):
            again = min(twice) if len(set(items)) == len(items) else next(i for i in items if items.count(i) > 1)
            return f"{again!r} is listed under two names, or twice under {name!r}."
        seen.update(items)
    return None


def read_data(release: Held, certificate: Certificate, limits: Limits) -> tuple[Transactions, list[str]]:
    """The transactions that the promise is about, and what cannot be told of the bytes around them."""
    table = audited(certificate)
    file = release.expect(table.file)
    try:
        data = read_file(file.path, table.layout(), limits=limits)
    except (UnreadableInput, InvalidArgument) as error:
        reason = str(error).replace(str(file.path), file.name)
        raise Refused("malformed", f"{file.name} cannot be read: {reason}") from None
    try:
        data = data.marked(certificate.sensitive).anonymous()
    except VeilsetError as error:
        raise Refused("altered", f"The certificate does not match the data: {error}") from None
    if (contradiction := _contradiction(certificate, data)) is not None:
        raise Refused("altered", f"The certificate contradicts itself or the data: {contradiction}")
    if len(data) != certificate.transactions:
        count = Count(certificate.transactions)
        raise Refused(
            "altered", f"The certificate is for {count:,} {count:transaction|transactions}, the file has {len(data):,}."
        )
    if certificate.anatomy is not None:
        _check_numbers(certificate.anatomy, data)
    return data, _check_bytes(release, data, certificate, limits)


def _check_bytes(release: Held, data: Transactions, certificate: Certificate, limits: Limits) -> list[str]:
    """Raise if files contain anything but these rows in their order; what cannot be told of containers of others."""
    limits.require(_ROOM_TO_COMPARE, "Comparing the file with its transactions", "use a machine with more memory.")
    # More columns, ids that mean something, blanks or an order of its own would tell more than what is counted.
    file, layout = certificate.data.file, certificate.data.layout()
    path = release.expect(file).path
    try:
        found = {file: find_difference(path, data.offsets, data.items, data.names, layout, limits)}
        if (table := certificate.anatomy) is not None:
            file, path = table.file, release.expect(table.file).path
            found = {file: data.anatomized_rows().more_in(path, table.layout(), limits), **found}
    except UnreadableInput as error:
        raise Refused("malformed", f"{file} cannot be read: {str(error).replace(str(path), file)}") from None
    unchecked = []
    for name, more in found.items():
        if more is not None and not more.same_values:
            raise Refused("altered", _says_more(name, more, certificate))
        if more is not None:
            unchecked.append(f"the bytes of {name} around its values ({more.says})")
    return unchecked


def _says_more(name: str, more: Difference, certificate: Certificate) -> str:
    table = audited(certificate).file
    if name == table:
        return (
            f"{name} contains more than its transactions, or is not written as Veilset writes it ({more.says}). "
            "Anything else in it was not certified."
        )
    return (
        f"{name} does not contain the rows of {table} in their order, as Veilset writes them ({more.says}). "
        "What it contains was not certified."
    )


def _check_numbers(table: AnatomyTable, data: Transactions) -> None:
    for what, count in AnatomyTable.numbers(data).items():
        if getattr(table, what) != count:
            raise Refused(
                "altered", f"The certificate says {_counted(what, getattr(table, what))}, {table.file} has {count:,}."
            )


def _counted(what: str, count: int) -> str:
    """A number of a certificate in words.

    >>> _counted("buckets", 198), _counted("smallest_bucket", 1)
    ('198 buckets', '1 transaction in the smallest bucket')
    """
    which, _, bucket = what.partition("_")
    thing, where = ("transaction", f" in the {which} {bucket}") if bucket else (what.removesuffix("s"), "")
    return f"{count:,} {thing}{'s' * (count != 1)}{where}"
