"""What `verify` looks at, file by file: each function raises `Refused` where something is not as Veilset writes it."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any, Protocol, TypeVar

from pydantic import ValidationError

from veilset.engines import Engine, HeldCounts
from veilset.engines import Held as Rows
from veilset.errors import InvalidArgument, UnreadableInput, VeilsetError, said
from veilset.io import Difference, find_difference, sha256_of
from veilset.limits import Limits
from veilset.models import Audit, Promise, Sealed
from veilset.publish.certificate import SCHEMA_VERSION, AnatomyTable, Certificate, DataFile, DataParts
from veilset.publish.held import Held, HeldFile
from veilset.publish.parts import gathered_parts, read_parts
from veilset.publish.public import CERTIFICATE, REPORT, SUMS, Declared, certificate_of, page_of, sums_of
from veilset.publish.verification import Refused, Verdict
from veilset.transactions import Counted, Transactions, read_file
from veilset.views import Count, visible

ROOM_FOR_JSON = 80  # times its size, that understanding a certificate takes: lists within lists were seen to need 73
_MOST_KEYS = 50  # of an object; those that list items aside
_SHA256 = 64  # digits
_SHOWN = 200  # characters of a value, in a message


def parse_certificate(text: bytes) -> Certificate:
    """The certificate in this text."""
    try:
        content = json.loads(text, object_hook=_with_tuples)
    except (ValueError, RecursionError) as error:
        raise Refused("malformed", f"{CERTIFICATE} cannot be read: {error}. Ask for the release again.") from None
    version = content.get("schema_version") if isinstance(content, dict) else None
    if type(version) is int and version != SCHEMA_VERSION:
        raise Refused(
            "unknown-schema",
            f"The certificate has schema version {version}; this version of Veilset knows {SCHEMA_VERSION}. Nothing "
            "was checked: use the version that made it, or a newer one.",
        )
    _check_shape(content)
    try:
        certificate = Certificate.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_input=False, include_context=False)[0]
        where = visible(".".join(map(str, first["loc"])))[:_SHOWN] or "the whole"
        raise Refused("malformed", f"{CERTIFICATE} is not a certificate: {where}: {first['msg']}.") from None
    if certificate.to_bytes() != text:  # a key that stands twice, blanks that spell something
        raise Refused("malformed", f"{CERTIFICATE} is not written as Veilset writes it. Ask for the release again.")
    return certificate


def _with_tuples(found: dict[str, Any]) -> dict[str, Any]:
    """An object of JSON, with tuples for its lists, as a certificate has them."""
    return {name: _tuple_of(value) for name, value in found.items()}


def _tuple_of(value: Any) -> Any:
    return tuple(map(_tuple_of, value)) if isinstance(value, list) else value


def _check_shape(content: Any) -> None:
    """Raise where an object has more keys than any of a certificate, or else names what is no list of items.

    The models would say the same, but take hundreds of bytes for each key that is wrong.
    """
    record = content if isinstance(content, dict) else {}
    promise, listed = record.get("promise"), record.get("generalized")
    data = record.get("data")
    parts = data.get("parts") if isinstance(data, dict) else None
    objects = [record, *record.values(), promise.get("parameters") if isinstance(promise, dict) else None]
    objects += parts if isinstance(parts, tuple) else ()
    if any(isinstance(one, dict) and one is not listed and len(one) > _MOST_KEYS for one in objects):
        raise Refused("malformed", f"{CERTIFICATE} is not a certificate: it has an object of too many keys.")
    if isinstance(listed, dict) and not all(isinstance(items, tuple) for items in listed.values()):
        raise Refused("malformed", f"{CERTIFICATE} is not a certificate: generalized: it names what is no list.")


def check_files(
    release: Held, certificate: Certificate, text: bytes, limits: Limits, *, elsewhere: bool = False
) -> bytes:
    """Raise unless every file is there and is the certified one, and nothing else is; returns the page's bytes.

    *elsewhere*: the files with data are read by others, who compare them with the certificate.
    """
    tables = certificate.files()
    expected = sorted({*tables, CERTIFICATE, REPORT})
    extra = sorted({*release.files, *release.others} - {*expected, SUMS})
    if extra:
        raise Refused("altered", f"{extra[0]!r} does not belong to the release: the certificate does not list it.")
    files = {name: release.expect(name) for name in (*expected, SUMS)}
    sums = _sums_listed(files[SUMS], expected, limits)
    page = files[REPORT].read(limits)
    read = {CERTIFICATE: text, REPORT: page}
    for name in sorted(read) if elsewhere else expected:
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


def audited(certificate: Certificate) -> AnatomyTable | DataFile | DataParts:
    """The file that the promise is about; the other one, if there are two, must say the same."""
    return certificate.anatomy or certificate.data


def _contradiction(certificate: Certificate, data: Counted) -> str | None:
    """What is wrong in what readers are told of the data; None: nothing."""
    if len(data) != certificate.transactions:
        count = Count(certificate.transactions)
        return f"it is for {count:,} {count:transaction|transactions}, the file has {len(data):,}."
    if certificate.broken_in_original is not None and not certificate.thinned:
        return "it counts what the original breaks, but no items were removed from single transactions."
    return _wrong_list(certificate, data)


def _wrong_list(certificate: Certificate, data: Counted) -> str | None:
    """What is wrong in the lists of what coarser names stand for."""
    sensitive, there, seen = set(certificate.sensitive), set(data.names), set[str]()
    for name, items in certificate.generalized.items():
        if name not in there or name in sensitive:
            wrong = "is sensitive" if name in there else "does not occur"
            return f"{name!r} is declared to stand for other items, but {wrong}."
        if not items:
            return f"{name!r} is declared to stand for no items."
        if hidden := sensitive.intersection(items):
            return f"{name!r} is declared to stand for {min(hidden)!r}, which is sensitive."
        for item in items:
            if item in seen:
                return f"{item!r} is listed under two names, or twice under {name!r}."
            seen.add(item)
    return None


def read_data(release: Held, certificate: Certificate, limits: Limits) -> tuple[Transactions, list[str]]:
    """The transactions that the promise is about, and what cannot be told of the bytes around them."""
    table = audited(certificate)
    if isinstance(table, DataParts):
        data, unchecked = read_parts(release, table, limits)
        data = _marked(data, data.names, certificate).anonymous()
        _check_consistent(certificate, data)
        return data, unchecked
    file = release.expect(table.file)
    try:
        data = read_file(file.path, table.layout(), limits=limits)
    except (UnreadableInput, InvalidArgument) as error:
        reason = str(error).replace(str(file.path), file.name)
        raise Refused("malformed", f"{file.name} cannot be read: {reason}") from None
    data = _marked(data, data.names, certificate).anonymous()
    _check_consistent(certificate, data)
    return data, _check_bytes(release, data, certificate, limits)


def gather_data(release: Held, certificate: Certificate, engine: Engine) -> tuple[Rows, HeldCounts, list[str]]:
    """The same on an engine, with what can be counted of them; only data in parts is read there."""
    table = audited(certificate)
    if not isinstance(table, DataParts):
        raise InvalidArgument(
            f"{table.file} is one file, which an engine cannot share out.", f"Leave {said('engine')} out."
        )
    rows, unchecked = gathered_parts(release, table, engine)
    rows = _marked(rows, rows.vocabulary.names, certificate)
    counts = HeldCounts.of(rows)
    _check_consistent(certificate, counts)
    return rows, counts, unchecked


class _Markable(Protocol):
    def marked(self, sensitive: Collection[str], /) -> Any:
        """The same with these items sensitive."""


_Data = TypeVar("_Data", bound=_Markable)


def _marked(data: _Data, names: Collection[str], certificate: Certificate) -> _Data:
    """The same data with the sensitive items of the certificate, which must occur."""
    if absent := set(certificate.sensitive).difference(names):  # which similar ones do occur would take long
        raise Refused(
            "altered", f"The certificate does not match the data: the sensitive item {min(absent)!r} does not occur."
        )
    try:
        marked: _Data = data.marked(certificate.sensitive)
    except VeilsetError as error:
        raise Refused("altered", f"The certificate does not match the data: {error}") from None
    return marked


def _check_consistent(certificate: Certificate, data: Counted) -> None:
    if (contradiction := _contradiction(certificate, data)) is not None:
        raise Refused("altered", f"The certificate contradicts itself or the data: {contradiction}")


def _follows(certificate: Certificate, data: Counted, told: Promise, *, empty: bool) -> Certificate:
    """The certificate as `publish` writes it for this data, given what this one declares."""
    table = certificate.data
    if isinstance(table, DataFile):
        table = DataFile.of(table.file, table.sha256, table.layout())
    anatomy = certificate.anatomy and certificate.anatomy.model_copy(update=AnatomyTable.numbers(data))
    declared = Declared.in_certificate(certificate, told.restricted_to(data))
    return certificate_of(data, declared, table, anatomy, empty=empty)


def check_facts(certificate: Certificate, data: Counted, told: Promise) -> None:
    """Raise unless all that the certificate says of the data follows from them, but for its sentences."""
    said, follows = (
        one.model_dump(mode="json", exclude={"not_promised"})
        for one in (certificate, _follows(certificate, data, told, empty=False))
    )
    if (wrong := _first_difference(said, follows)) is not None:
        raise Refused("altered", f"The certificate does not match the data: {wrong}.")


def check_item_share(certificate: Certificate, answer: Audit) -> None:
    """Raise unless the largest share of a public item in an anatomy is the one that was counted.

    Certificates of earlier versions do not name it.
    """
    said = None if certificate.anatomy is None else certificate.anatomy.largest_item_share
    if said not in (None, share := AnatomyTable.item_share(answer)):
        raise Refused("altered", f"The certificate says {said} for the largest share of a public item, not {share}.")


def _first_difference(said: Any, follows: Any, where: str = "") -> str | None:
    if isinstance(said, dict) and isinstance(follows, dict) and [*said] == [*follows]:
        inside = (_first_difference(said[key], follows[key], f"{where}.{key}".lstrip(".")) for key in said)
        return next(filter(None, inside), None)
    one, other = json.dumps(said), json.dumps(follows)  # as text: for Python, true is 1
    return None if one == other else f"{where} is {one[:_SHOWN]}, not {other[:_SHOWN]}"


def unchecked_words(
    certificate: Certificate, page: bytes, data: Counted, told: Promise, answer: Audit, limits: Limits
) -> list[str]:
    """Which words for people are not those that this version writes for the data and the certificate.

    Words change from version to version: whether another one wrote them, or somebody changed them, nobody can tell.
    """
    expected = _follows(certificate, data, told, empty=answer.excludes_nothing)
    unchecked = []
    if certificate.not_promised != expected.not_promised:
        unchecked.append(f"not_promised in {CERTIFICATE} (this version of Veilset writes other sentences there)")
    if (table := certificate.anatomy) is not None and None in (table.assumed, table.largest_item_share):
        unchecked.append(f"what the probabilities assume ({CERTIFICATE} does not say it)")
    if page != page_of(expected, data, told, answer, limits):
        unchecked.append(f"{REPORT} (this version of Veilset writes another page for these files)")
    return unchecked


def _check_bytes(release: Held, data: Transactions, certificate: Certificate, limits: Limits) -> list[str]:
    """Raise if files contain anything but these rows in their order; what cannot be told of containers of others.

    A server may give other bytes with each reading. So what is written for these rows must have the certified sum.
    """
    # More columns, ids that mean something, blanks or an order of its own would tell more than what is counted.
    assert isinstance(certificate.data, DataFile)  # noqa: S101 - parts are compared as they are read
    file, layout, sums = certificate.data.file, certificate.data.layout(), certificate.files()
    path = release.expect(file).path
    try:
        found = {file: find_difference(path, sums[file], data.offsets, data.items, data.names, layout, limits)}
        if (table := certificate.anatomy) is not None:
            file, path = table.file, release.expect(table.file).path
            found = {file: data.anatomized_rows().more_in(path, sums[file], table.layout(), limits), **found}
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
