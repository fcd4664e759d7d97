"""`verify`: re-reads the released bytes and counts again. Needs ``public/`` alone and trusts nothing in it.

Where the promise is itself the secret, what it says stands in ``custodian/`` only, and the certificate has a seal on
it: a list that was exchanged after the release is refused.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from veilset.audit import audit
from veilset.errors import InvalidArgument, UnreadableInput, VeilsetError
from veilset.io import find_difference, read_bytes, sha256_of
from veilset.limits import Limits
from veilset.models import EXCLUDES_NOTHING, Audit, Promise, Sealed
from veilset.publish.certificate import SCHEMA_VERSION, AnatomyTable, Certificate, DataFile, certified_promise
from veilset.publish.recipe import RECIPE, Recipe
from veilset.publish.sealing import public_promise
from veilset.transactions import Transactions, read_file
from veilset.views import Count, Shown, Summary

CERTIFICATE, REPORT, SUMS = "certificate.json", "report.html", "SHA256SUMS"

Verdict = Literal["holds", "broken", "altered", "edited", "sealed", "incomplete", "malformed", "unknown-schema"]

_ROOM_TO_COMPARE = 1 << 24  # bytes: what is written for some transactions, and what the file holds there

_EXIT_CODES: dict[Verdict, int] = {
    "holds": 0,
    "broken": 1,
    "altered": 1,
    "edited": 1,
    "incomplete": 2,
    "malformed": 2,
    "unknown-schema": 4,
    "sealed": 4,
}


@dataclass(frozen=True, repr=False)
class Verification(Shown):
    """The answer of `verify`.

    Parameters
    ----------
    verdict : str
        ``holds``: the bytes keep the promise. ``broken``: they do not. ``altered``: a file is not the one that was
        certified, or does not belong there. ``edited``: the certificate is not the one that was released, or the
        custodian's list of what is hidden not the one it was made for. ``sealed``: the bytes are those that were
        released, but only the custodian can tell whether they keep the promise. ``incomplete``: a file is missing.
        ``malformed``: a file cannot be read. ``unknown-schema``: the certificate is of a kind this version does not
        know.
    message : str
        The same in a sentence, with what to do next.
    certificate : Certificate or None
        As far as it could be read.
    audit : Audit or None
        The auditor's answer, if it came to that.
    """

    verdict: Verdict
    message: str
    certificate: Certificate | None = None
    audit: Audit | None = None

    @property
    def holds(self) -> bool:
        """Whether the release may be trusted to keep its promise."""
        return self.verdict == "holds"

    @property
    def exit_code(self) -> int:
        """What the command line answers with."""
        return _EXIT_CODES[self.verdict]

    def _summary(self) -> Summary:
        facts = [] if self.certificate is None else [(self.certificate.transactions, "transaction(s)")]
        return Summary("Verification", self.verdict, self.holds, facts, self.message.splitlines())


class _Refused(Exception):
    def __init__(self, verdict: Verdict, message: str) -> None:
        self.verdict, self.message = verdict, message


def verify(path: str | Path, *, witnesses: int = 20, limits: Limits | None = None) -> Verification:
    """Whether the release at *path* (the bundle or its ``public/``) keeps the promise of its certificate."""
    path = Path(path)
    public = path / "public" if (path / "public").is_dir() else path
    if not public.is_dir():
        raise UnreadableInput(f"There is no release at {str(path)!r}.", "Give a release folder or its public/ folder.")
    limits = limits or Limits()
    certificate = None
    try:
        certificate = _read_certificate(public, limits)
        _check_files(public, certificate)
        told = certified_promise(certificate.promise)
        _check_anatomy(certificate, told)
        data = _read_data(public, certificate, limits)
        promise = told
        if isinstance(told, Sealed):
            promise = _unsealed(told, None if public == path else path / "custodian", data)
        answer = audit(data, promise, witnesses=witnesses, limits=limits)
        if certificate.anatomy is not None:
            _check_item_share(certificate.anatomy, answer)
    except _Refused as refused:
        return Verification(refused.verdict, refused.message, certificate)
    except OSError as error:
        return Verification("malformed", f"A file of the release cannot be read: {error}. Check the permissions.")
    except InvalidArgument as error:
        return Verification("malformed", f"The certificate is not valid: {error}", certificate)
    # Not the list itself: a custodian's screen and logs may be seen by others.
    subject = f"The sealed promise that {_hidden(told)}" if isinstance(told, Sealed) else f"{promise}"
    file = _audited(certificate).file
    if answer.holds:
        empty = f" {EXCLUDES_NOTHING}" if answer.excludes_nothing else ""
        return Verification("holds", f"{subject} holds on the bytes of {file}.{empty}", certificate, answer)
    message = f"{subject} does not hold on the bytes of {file}. Do not use or pass on this release."
    return Verification("broken", message, certificate, answer)


def _unsealed(told: Sealed, custodian: Path | None, data: Transactions) -> Promise:
    """The secret promise, from the custodian's recipe: the very one that the certificate's seal is on."""
    if custodian is None or not custodian.is_dir():
        missing = "" if custodian is None else f" There is no folder {str(custodian)!r}."
        raise _Refused(
            "sealed",
            f"The files are those that were released. Checking that {_hidden(told)} in them needs the "
            f"custodian's list. Ask the custodian to run veilset verify on the whole release.{missing}",
        )
    path = custodian / RECIPE
    if not path.is_file():
        raise _Refused(
            "incomplete",
            f"{RECIPE} is missing from {str(custodian)!r}. It contains the hidden list. Restore it from a backup.",
        )
    try:
        recipe = Recipe.load(path, needs_input=False)
        promise = recipe.promise.make()
    except VeilsetError:
        # Not what is wrong with it: that may name an item of the secret, and a screen and logs may be seen by others.
        raise _Refused(
            "malformed", f"The hidden list cannot be read: {str(path)!r} is damaged. Restore it from a backup."
        ) from None
    if recipe.seed is None or public_promise(promise, data, recipe.seed) != told:
        raise _Refused(
            "edited",
            f"{str(path)!r} is not the recipe of this release: its list or its seed does not match the certificate's "
            "commitment. Use the files as they were released.",
        )
    return promise


def _hidden(told: Sealed) -> str:
    return f"{told.hidden} {'is' if told.count == 1 else 'are'} hidden"


def _read_certificate(public: Path, limits: Limits) -> Certificate:
    path = public / CERTIFICATE
    if not path.is_file():
        raise _Refused("incomplete", f"{CERTIFICATE} is missing from {str(public)!r}. Ask for the complete release.")
    try:
        text = read_bytes(path, limits)
        content = json.loads(text)
    except (ValueError, RecursionError, UnreadableInput) as error:
        raise _Refused("malformed", f"{CERTIFICATE} cannot be read: {error}. Ask for the release again.") from None
    version = content.get("schema_version") if isinstance(content, dict) else None
    if type(version) is int and version != SCHEMA_VERSION:
        raise _Refused(
            "unknown-schema",
            f"The certificate has schema version {version}; this version of Veilset knows {SCHEMA_VERSION}. Nothing "
            "was checked: "
            "use the version that made it, or a newer one.",
        )
    try:
        return Certificate.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the whole"
        raise _Refused("malformed", f"{CERTIFICATE} is not a certificate: {where}: {first['msg']}.") from None


def _check_files(public: Path, certificate: Certificate) -> None:
    """Every file is there, is the one that was certified, and nothing else is."""
    tables = certificate.files()
    expected = {*tables, CERTIFICATE, REPORT}
    for name in sorted({*expected, SUMS}):
        if not (public / name).is_file():
            raise _Refused("incomplete", f"{name} is missing. Ask for the complete release.")
    extra = sorted(p.name for p in public.iterdir() if p.name not in {*expected, SUMS})
    if extra:
        raise _Refused("altered", f"{extra[0]!r} does not belong to the release: the certificate does not list it.")
    try:
        lines = (public / SUMS).read_text("utf-8").splitlines()
        sums = {name: digest for digest, name in (line.split("  ", 1) for line in lines)}
    except (ValueError, OSError):
        raise _Refused("malformed", f"{SUMS} cannot be read. Ask for the release again.") from None
    if set(sums) != expected or len(lines) != len(expected):
        raise _Refused("altered", f"{SUMS} does not list exactly {', '.join(sorted(expected))}.")
    for name in sorted(expected):
        if sha256_of(public / name) != sums[name]:
            verdict: Verdict = "edited" if name == CERTIFICATE else "altered"
            raise _Refused(verdict, f"{name} is not the file that was released: its sha256 differs.")
    for name, sha256 in tables.items():
        if sums[name] != sha256:
            raise _Refused("altered", f"{name} is not the file that was certified: its sha256 differs.")


def _check_anatomy(certificate: Certificate, told: Promise) -> None:
    """Raise unless there is an anatomized table just where the promise is about one."""
    promised = (told.kind if isinstance(told, Sealed) else told).edits == "buckets"
    if promised != (certificate.anatomy is not None):
        has = "has no anatomized table, but the promise is about one" if promised else "has an anatomized table"
        raise _Refused("malformed", f"The certificate for {certificate.promise.name} {has}. Ask for the release again.")


def _audited(certificate: Certificate) -> AnatomyTable | DataFile:
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


def _read_data(public: Path, certificate: Certificate, limits: Limits) -> Transactions:
    table = _audited(certificate)
    path, layout = public / table.file, table.layout()
    try:
        data = read_file(path, layout, limits=limits)
    except (UnreadableInput, InvalidArgument) as error:
        raise _Refused("malformed", f"{table.file} cannot be read: {error}") from None
    try:
        data = data.marked(certificate.sensitive).anonymous()
    except VeilsetError as error:
        raise _Refused("altered", f"The certificate does not match the data: {error}") from None
    if (contradiction := _contradiction(certificate, data)) is not None:
        raise _Refused("altered", f"The certificate contradicts itself or the data: {contradiction}")
    if len(data) != certificate.transactions:
        count = Count(certificate.transactions)
        raise _Refused(
            "altered", f"The certificate is for {count:,} {count:transaction|transactions}, the file has {len(data):,}."
        )
    limits.require(_ROOM_TO_COMPARE, "Comparing the file with its transactions", "use a machine with more memory.")
    # More columns, ids that mean something, blanks or an order of its own would tell more than what is counted.
    if certificate.anatomy is not None:
        _check_numbers(certificate.anatomy, data)
        more = data.anatomized_rows().more_in(path, layout)
    else:
        more = find_difference(path, data.offsets, data.items, data.names, layout)
    if more is not None:
        raise _Refused(
            "altered",
            f"{table.file} contains more than its transactions, or is not written as Veilset writes it ({more}). "
            "Anything "
            "else in it was not certified.",
        )
    if certificate.anatomy is not None:
        _check_same_rows(public, data, certificate)
    return data


def _check_numbers(table: AnatomyTable, data: Transactions) -> None:
    for what, count in AnatomyTable.numbers(data).items():
        if getattr(table, what) != count:
            raise _Refused(
                "altered", f"The certificate says {_counted(what, getattr(table, what))}, {table.file} has {count:,}."
            )


def _check_item_share(table: AnatomyTable, answer: Audit) -> None:
    if table.largest_item_share not in (None, share := AnatomyTable.item_share(answer)):
        raise _Refused(
            "altered",
            f"The certificate says {table.largest_item_share} for the largest share of a public item, {table.file} has "
            f"{share}.",
        )


def _counted(what: str, count: int) -> str:
    """A number of a certificate in words.

    >>> _counted("buckets", 198), _counted("smallest_bucket", 1)
    ('198 buckets', '1 transaction in the smallest bucket')
    """
    which, _, bucket = what.partition("_")
    thing, where = ("transaction", f" in the {which} {bucket}") if bucket else (what.removesuffix("s"), "")
    return f"{count:,} {thing}{'s' * (count != 1)}{where}"


def _check_same_rows(public: Path, data: Transactions, certificate: Certificate) -> None:
    """Raise unless the data are the rows of the anatomized table, in their order: nothing else is audited of them."""
    other = certificate.data
    more = find_difference(public / other.file, data.offsets, data.items, data.names, other.layout())
    if more is not None:
        raise _Refused(
            "altered",
            f"{other.file} does not contain the rows of {_audited(certificate).file} in their order, as Veilset writes "
            f"them ({more}). What it contains was not certified.",
        )
