"""`verify`: re-reads the released bytes and counts again. Needs ``public/`` alone and trusts nothing in it.

Where the promise is itself the secret, what it says stands in ``custodian/`` only, and the certificate has a seal on
it: a list that was exchanged after the release is refused.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from veilset.audit import audit
from veilset.errors import InvalidArgument, NotCertified, UnreadableInput, VeilsetError
from veilset.io import Difference, atomic_folder, check_place, find_difference, read_bytes, sha256_of
from veilset.limits import Limits
from veilset.models import EXCLUDES_NOTHING, Audit, Promise, Sealed
from veilset.publish.certificate import SCHEMA_VERSION, AnatomyTable, Certificate, DataFile, certified_promise
from veilset.publish.public import CERTIFICATE, REPORT, SUMS, Declared, write_public
from veilset.publish.recipe import RECIPE, Recipe
from veilset.publish.sealing import public_promise, sealed_audit
from veilset.publish.verification import Refused, Verdict, Verification
from veilset.transactions import Transactions, read_file
from veilset.views import Count

_ROOM_TO_COMPARE = 1 << 24  # bytes: what is written for some transactions, and what the file holds there


def verify(
    path: str | Path, *, witnesses: int = 20, limits: Limits | None = None, clean_copy: str | Path | None = None
) -> Verification:
    """Whether the release at *path* (the bundle or its ``public/``) keeps the promise of its certificate.

    If its values do, and *clean_copy* names a folder, they are written there anew, and the answer is about that folder.
    """
    path, limits = Path(path), limits or Limits()
    public = path / "public" if (path / "public").is_dir() else path
    if not public.is_dir():
        raise UnreadableInput(f"There is no release at {str(path)!r}.", "Give a release folder or its public/ folder.")
    if clean_copy is not None:
        check_place(Path(clean_copy), replace=False)
    custodian = None if public == path else path / "custodian"
    examined = _examined(public, custodian, witnesses, limits)
    if clean_copy is None:
        return examined.found
    if examined.data is None or examined.found.verdict == "broken":
        return replace(examined.found, message=f"{examined.found.message} No clean copy was written.")
    return _copied(examined, custodian, Path(clean_copy), witnesses, limits)


@dataclass(frozen=True)
class _Examined:
    """The answer, and if the values could be read, what is needed to write them anew."""

    found: Verification
    data: Transactions | None = None
    told: Promise | None = None
    answer: Audit | None = None


def _examined(public: Path, custodian: Path | None, witnesses: int, limits: Limits) -> _Examined:
    certificate = None
    try:
        certificate = _read_certificate(public, limits)
        _check_files(public, certificate)
        told = certified_promise(certificate.promise)
        _check_anatomy(certificate, told)
        data, unchecked = _read_data(public, certificate, limits)
        promise = _unsealed(told, custodian, data) if isinstance(told, Sealed) else told
        answer = None if promise is None else audit(data, promise, witnesses=witnesses, limits=limits)
    except Refused as refused:
        return _Examined(Verification(refused.verdict, refused.message, certificate))
    except OSError as error:
        message = f"A file of the release cannot be read: {error}. Check the permissions."
        return _Examined(Verification("malformed", message))
    except InvalidArgument as error:
        return _Examined(Verification("malformed", f"The certificate is not valid: {error}", certificate))
    return _Examined(_answered(certificate, told, answer, tuple(unchecked), custodian), data, told, answer)


def _answered(
    certificate: Certificate, told: Promise, answer: Audit | None, unchecked: tuple[str, ...], custodian: Path | None
) -> Verification:
    """The verdict on values that could be read."""
    file = _audited(certificate).file
    also = f" Not checked: {'; '.join(unchecked)}." if unchecked else ""
    if answer is None:
        missing = "" if custodian is None else f" There is no folder {str(custodian)!r}."
        message = (
            f"The files are those that were released. Checking that {_hidden(told)} in them needs the "
            f"custodian's list. Ask the custodian to run veilset verify on the whole release.{missing}{also}"
        )
        return Verification("sealed", message, certificate, None, unchecked)
    # Not the list itself: a custodian's screen and logs may be seen by others.
    subject = f"The sealed promise that {_hidden(told)}" if isinstance(told, Sealed) else f"{told}"
    if not answer.holds:
        message = f"{subject} does not hold on the bytes of {file}. Do not use or pass on this release."
        return Verification("broken", message, certificate, answer)
    empty = f" {EXCLUDES_NOTHING}" if answer.excludes_nothing else ""
    if unchecked:
        message = (
            f"{subject} holds on the values of {file}, but the release may contain more than values.{empty}{also} "
            "Use a clean copy instead: veilset verify --clean-copy OUT writes the values anew."
        )
        return Verification("unchecked", message, certificate, answer, unchecked)
    return Verification("holds", f"{subject} holds on the bytes of {file}.{empty}", certificate, answer)


def _copied(examined: _Examined, custodian: Path | None, out: Path, witnesses: int, limits: Limits) -> Verification:
    """Write the values anew, with a certificate, a page and sums of their own; the answer is about these files."""
    certificate, data, told = examined.found.certificate, examined.data, examined.told
    assert certificate is not None and data is not None and told is not None  # noqa: S101 - there are values
    declared = Declared(told, certificate.one_transaction_is, certificate.loss_percent, certificate.generalized)
    if (answer := examined.answer) is None:
        assert isinstance(told, Sealed)  # noqa: S101 - else it was audited
        answer = sealed_audit(told, len(data), empty=EXCLUDES_NOTHING in certificate.not_promised)
    with atomic_folder(out) as staging:
        staging.chmod(0o755)  # to be handed over
        write_public(staging, data, certificate.data.layout(), declared, answer, limits)
        found = _examined(staging, custodian, witnesses, limits).found
        if found.verdict not in ("holds", "sealed"):
            raise NotCertified(
                f"No clean copy was written: it failed its verification: {found.message}",
                "This is a bug in Veilset: please report it.",
            )
    return replace(found, message=f"{str(out)!r} is a clean copy. {found.message}")


def _unsealed(told: Sealed, custodian: Path | None, data: Transactions) -> Promise | None:
    """The secret promise, from the custodian's recipe: the very one that the certificate's seal is on.

    None: there is no such folder.
    """
    if custodian is None or not custodian.is_dir():
        return None
    path = custodian / RECIPE
    if not path.is_file():
        raise Refused(
            "incomplete",
            f"{RECIPE} is missing from {str(custodian)!r}. It contains the hidden list. Restore it from a backup.",
        )
    try:
        recipe = Recipe.load(path, needs_input=False)
        promise = recipe.promise.make()
    except VeilsetError:
        # Not what is wrong with it: that may name an item of the secret, and a screen and logs may be seen by others.
        raise Refused(
            "malformed", f"The hidden list cannot be read: {str(path)!r} is damaged. Restore it from a backup."
        ) from None
    if recipe.seed is None or public_promise(promise, data, recipe.seed) != told:
        raise Refused(
            "edited",
            f"{str(path)!r} is not the recipe of this release: its list or its seed does not match the certificate's "
            "commitment. Use the files as they were released.",
        )
    return promise


def _hidden(told: Promise) -> str:
    assert isinstance(told, Sealed)  # noqa: S101 - else there is nothing hidden
    return f"{told.hidden} {'is' if told.count == 1 else 'are'} hidden"


def _read_certificate(public: Path, limits: Limits) -> Certificate:
    path = public / CERTIFICATE
    if not path.is_file():
        raise Refused("incomplete", f"{CERTIFICATE} is missing from {str(public)!r}. Ask for the complete release.")
    try:
        text = read_bytes(path, limits)
        content = json.loads(text)
    except (ValueError, RecursionError, UnreadableInput) as error:
        raise Refused("malformed", f"{CERTIFICATE} cannot be read: {error}. Ask for the release again.") from None
    version = content.get("schema_version") if isinstance(content, dict) else None
    if type(version) is int and version != SCHEMA_VERSION:
        raise Refused(
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
        raise Refused("malformed", f"{CERTIFICATE} is not a certificate: {where}: {first['msg']}.") from None


def _check_files(public: Path, certificate: Certificate) -> None:
    """Every file is there, is the one that was certified, and nothing else is."""
    tables = certificate.files()
    expected = {*tables, CERTIFICATE, REPORT}
    for name in sorted({*expected, SUMS}):
        if not (public / name).is_file():
            raise Refused("incomplete", f"{name} is missing. Ask for the complete release.")
    extra = sorted(p.name for p in public.iterdir() if p.name not in {*expected, SUMS})
    if extra:
        raise Refused("altered", f"{extra[0]!r} does not belong to the release: the certificate does not list it.")
    try:
        lines = (public / SUMS).read_text("utf-8").splitlines()
        sums = {name: digest for digest, name in (line.split("  ", 1) for line in lines)}
    except (ValueError, OSError):
        raise Refused("malformed", f"{SUMS} cannot be read. Ask for the release again.") from None
    if set(sums) != expected or len(lines) != len(expected):
        raise Refused("altered", f"{SUMS} does not list exactly {', '.join(sorted(expected))}.")
    for name in sorted(expected):
        if sha256_of(public / name) != sums[name]:
            verdict: Verdict = "edited" if name == CERTIFICATE else "altered"
            raise Refused(verdict, f"{name} is not the file that was released: its sha256 differs.")
    for name, sha256 in tables.items():
        if sums[name] != sha256:
            raise Refused("altered", f"{name} is not the file that was certified: its sha256 differs.")


def _check_anatomy(certificate: Certificate, told: Promise) -> None:
    """Raise unless there is an anatomized table just where the promise is about one."""
    promised = (told.kind if isinstance(told, Sealed) else told).edits == "buckets"
    if promised != (certificate.anatomy is not None):
        has = "has no anatomized table, but the promise is about one" if promised else "has an anatomized table"
        raise Refused("malformed", f"The certificate for {certificate.promise.name} {has}. Ask for the release again.")


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


def _read_data(public: Path, certificate: Certificate, limits: Limits) -> tuple[Transactions, list[str]]:
    """The transactions that the promise is about, and what cannot be told of the bytes around them."""
    table = _audited(certificate)
    path, layout = public / table.file, table.layout()
    try:
        data = read_file(path, layout, limits=limits)
    except (UnreadableInput, InvalidArgument) as error:
        raise Refused("malformed", f"{table.file} cannot be read: {error}") from None
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
    return data, _check_bytes(public, data, certificate, limits)


def _check_bytes(public: Path, data: Transactions, certificate: Certificate, limits: Limits) -> list[str]:
    """Raise if files contain anything but these rows in their order; what cannot be told of containers of others."""
    limits.require(_ROOM_TO_COMPARE, "Comparing the file with its transactions", "use a machine with more memory.")
    # More columns, ids that mean something, blanks or an order of its own would tell more than what is counted.
    file, layout = certificate.data.file, certificate.data.layout()
    found = {file: find_difference(public / file, data.offsets, data.items, data.names, layout, limits)}
    if (table := certificate.anatomy) is not None:
        rows = data.anatomized_rows()
        found = {table.file: rows.more_in(public / table.file, table.layout(), limits), **found}
    unchecked = []
    for name, more in found.items():
        if more is not None and not more.same_values:
            raise Refused("altered", _says_more(name, more, certificate))
        if more is not None:
            unchecked.append(f"the bytes of {name} around its values ({more.says})")
    return unchecked


def _says_more(name: str, more: Difference, certificate: Certificate) -> str:
    audited = _audited(certificate).file
    if name == audited:
        return (
            f"{name} contains more than its transactions, or is not written as Veilset writes it ({more.says}). "
            "Anything else in it was not certified."
        )
    return (
        f"{name} does not contain the rows of {audited} in their order, as Veilset writes them ({more.says}). "
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
