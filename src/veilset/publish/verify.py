"""`verify`: re-reads the released bytes and counts again. Needs ``public/`` alone and trusts nothing in it.

Where the promise is itself the secret, what it says stands in ``custodian/`` only, and the certificate has a seal on
it: a list that was exchanged after the release is refused.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from veilset.audit import audit, work_ahead
from veilset.engines import Engine
from veilset.engines import Held as Rows
from veilset.errors import CannotWrite, InvalidArgument, VeilsetError, said
from veilset.io import atomic_folder, check_place
from veilset.limits import Limits
from veilset.models import EXCLUDES_NOTHING, THINNED, Audit, Promise, Sealed, truth_sentence
from veilset.publish.certificate import Certificate, certified_promise
from veilset.publish.checks import (
    ROOM_FOR_JSON,
    audited,
    check_anatomy,
    check_facts,
    check_files,
    check_item_share,
    gather_data,
    parse_certificate,
    read_data,
    unchecked_words,
)
from veilset.publish.held import Held, held
from veilset.publish.public import CERTIFICATE, MADE_BY, SUMS, Declared, write_public
from veilset.publish.recipe import RECIPE, Recipe
from veilset.publish.sealing import public_promise, sealed_audit
from veilset.publish.verification import Refused, Verification
from veilset.transactions import Counted, Transactions


def verify(
    path: str | Path,
    *,
    witnesses: int = 20,
    limits: Limits | None = None,
    clean_copy: str | Path | None = None,
    announce: Callable[[str], object] | None = None,
    engine: Engine | None = None,
) -> Verification:
    """Whether the release at *path* (the bundle or its ``public/``) keeps the promise of its certificate.

    *announce* is told how much there is to count, before the auditor starts.

    If its values do, and *clean_copy* names a folder, they are written there anew, and the answer is about that folder.
    *engine* has the data read and counted elsewhere.
    """
    limits = limits or Limits()
    if clean_copy is not None and engine is not None:
        raise InvalidArgument(
            f"{said('clean_copy')} does not apply on an engine.", f"Verify it in memory, without {said('engine')}."
        )
    if clean_copy is not None:
        if "\0" in str(clean_copy):
            raise InvalidArgument(f"{str(clean_copy)!r} is no path: it has a zero byte.", "Choose another folder.")
        if os.path.lexists(clean_copy):
            raise InvalidArgument(f"{str(clean_copy)!r} already exists.", "Choose a folder that does not exist.")
        check_place(Path(clean_copy), replace=False)
        _check_outside(Path(clean_copy))
    try:
        with limits.guard("Verifying the release", "use a machine with more memory."), held(Path(path)) as release:
            found, values = examine(release, witnesses, limits, announce, engine)
            if values is not None and not isinstance(values.rows, Transactions):
                values.rows.close()
            if clean_copy is None:
                return found
            if values is None or found.verdict == "broken":
                return replace(found, message=f"{found.message} No clean copy was written.")
            return _copied(values, release, Path(clean_copy), witnesses, limits)
    except Refused as refused:
        return Verification(refused.verdict, refused.message)


def _check_outside(out: Path) -> None:
    """Raise if the folder would lie in a release, which could not be verified any more."""
    for folder in out.absolute().parents:
        if (folder / CERTIFICATE).is_file() or (folder / RECIPE).is_file():
            raise InvalidArgument(
                f"{str(out)!r} lies in the release {str(folder)!r}.", "Choose a folder outside of it."
            )


@dataclass(frozen=True)
class Values:
    """What a release says, read and counted: *data* has the counts, *rows* are the transactions wherever they are.

    If it is *sealed* and the custodian's list is not at hand, the answer is that which the certificate gives.
    """

    certificate: Certificate
    data: Counted
    rows: Transactions | Rows
    told: Promise
    answer: Audit
    sealed: bool


def examine(
    release: Held,
    witnesses: int,
    limits: Limits,
    announce: Callable[[str], object] | None = None,
    engine: Engine | None = None,
) -> tuple[Verification, Values | None]:
    """The verdict on opened files, and what was read if it came to that."""
    certificate = told = None
    try:
        text = release.expect(CERTIFICATE).read(limits, ROOM_FOR_JSON)
        certificate = parse_certificate(text)
        page = check_files(release, certificate, text, limits, elsewhere=engine is not None)
        told = certified_promise(certificate.promise)
        check_anatomy(certificate, told)
        rows, data, unchecked = _read(release, certificate, limits, engine)
        check_facts(certificate, data, told)
        if announce is not None and isinstance(rows, Transactions):
            announce(work_ahead(rows, told))
        values = _counted(release, certificate, told, rows, data, witnesses, limits)
        check_item_share(certificate, values.answer)
        if values.answer.holds:
            unchecked += unchecked_words(certificate, page, data, told, values.answer, limits)
        release.check_unchanged()
    except Refused as refused:
        return Verification(refused.verdict, refused.message, certificate), None
    except OSError as error:
        return Verification("malformed", f"A file of the release cannot be read: {error}. Check the disk."), None
    except InvalidArgument as error:
        if engine is not None and told is not None:
            raise  # it is not for the certificate to know what an engine can do
        return Verification("malformed", f"The certificate is not valid: {error}", certificate), None
    return _answered(values, tuple(unchecked), release), values


def _read(
    release: Held, certificate: Certificate, limits: Limits, engine: Engine | None
) -> tuple[Transactions | Rows, Counted, list[str]]:
    """The transactions, what can be counted of them at once, and what cannot be told of the bytes around them."""
    if engine is None:
        data, unchecked = read_data(release, certificate, limits)
        return data, data, unchecked
    limits.step("Reading the parts")
    return gather_data(release, certificate, engine)


def _counted(
    release: Held,
    certificate: Certificate,
    told: Promise,
    rows: Transactions | Rows,
    data: Counted,
    witnesses: int,
    limits: Limits,
) -> Values:
    """The auditor's answer about the promise, which may have to be unsealed first."""
    values = partial(Values, certificate, data, rows, told)
    if not isinstance(told, Sealed):
        return values(audit(rows, told, witnesses=witnesses, limits=limits), sealed=False)
    if (promise := _unsealed(told, release, data, limits)) is None:
        empty = EXCLUDES_NOTHING in certificate.not_promised  # only the custodian can tell
        return values(sealed_audit(told, len(data), secrets=told.count, empty=empty), sealed=True)
    return values(audit(rows, promise, witnesses=witnesses, limits=limits), sealed=False)


def _answered(values: Values, unchecked: tuple[str, ...], release: Held) -> Verification:
    """The verdict on values that were read and counted."""
    certificate, told, answer = values.certificate, values.told, values.answer
    file = audited(certificate).file
    also = f" Not checked: {'; '.join(unchecked)}." if unchecked else ""
    if values.sealed:
        missing = "" if release.custodian is None else f" There is no folder {release.custodian!r}."
        message = (
            f"The files agree with each other. Only the custodian can check that they are those that were released, "
            f"and that {_hidden(told)} in them: ask for the sha256 of {SUMS}, or for veilset verify on the whole "
            f"release.{missing}{also}"
        )
        return Verification("sealed", message, certificate, unchecked=unchecked)
    # Not the list itself: a custodian's screen and logs may be seen by others.
    subject = f"The sealed promise that {_hidden(told)}" if isinstance(told, Sealed) else f"{told}"
    if not answer.holds:
        message = f"{subject} does not hold on the bytes of {file}. Do not use or pass on this release."
        return Verification("broken", message, certificate, answer)
    besides = f" {EXCLUDES_NOTHING}" if answer.excludes_nothing else ""
    if certificate.thinned:  # a recipient has only the custodian's word for it
        besides += " " + " ".join(filter(None, (THINNED, truth_sentence(certificate.broken_in_original, told))))
    if unchecked:
        message = (
            f"{subject} holds on the values of {file}.{besides}{also} Another version wrote these parts, or somebody "
            "changed them: they may contain anything. A clean copy has only what was checked, and the loss and other "
            "statements that the custodian alone can make."
        )
        return Verification("unchecked", message, certificate, answer, unchecked)
    return Verification("holds", f"{subject} holds on the bytes of {file}.{besides}", certificate, answer)


def _copied(values: Values, release: Held, out: Path, witnesses: int, limits: Limits) -> Verification:
    """Write the values anew, with a certificate, a page and sums of their own; the answer is about these files."""
    assert isinstance(values.rows, Transactions)  # noqa: S101 - there are no copies on an engine
    layout = values.certificate.data.layout()
    declared = replace(Declared.in_certificate(values.certificate, values.told), made_by=MADE_BY)
    with atomic_folder(out) as staging:
        staging.chmod(0o755)  # to be handed over
        write_public(staging, values.rows, layout, declared, values.answer, limits)
        with held(staging) as copy:
            copy.custodian, copy.has_custodian, copy.recipe = release.custodian, release.has_custodian, release.recipe
            found, _ = examine(copy, witnesses, limits)
        if found.verdict not in ("holds", "sealed"):
            raise CannotWrite(  # the release was found to be good: this is no verdict on it
                f"No clean copy was written. What was written could not be verified: {found.message}",
                "Check the disk and the limits on open files and memory. If they are well, please report a bug.",
            )
    return replace(found, message=f"{str(out)!r} is a clean copy. {found.message}")


def _unsealed(told: Sealed, release: Held, data: Counted, limits: Limits) -> Promise | None:
    """The secret promise, from the custodian's recipe: the very one that the certificate's seal is on.

    None: there is no custodian's folder.
    """
    if not release.has_custodian:
        return None
    if release.recipe is None:
        raise Refused(
            "incomplete",
            f"{RECIPE} is missing from {release.custodian!r}. It contains the hidden list. Restore it from a backup.",
        )
    where = f"{release.custodian}/{RECIPE}"
    if isinstance(release.recipe, str):
        raise Refused("malformed", f"{where!r}, or its folder, is {release.recipe}. It was not opened.")
    release.recipe.check_size(limits, ROOM_FOR_JSON)
    try:
        recipe = Recipe.load(release.recipe.path, needs_input=False)
        promise = recipe.promise.make()
    except VeilsetError:
        # Not what is wrong with it: that may name an item of the secret, and a screen and logs may be seen by others.
        raise Refused(
            "malformed", f"The hidden list cannot be read: {where!r} is damaged. Restore it from a backup."
        ) from None
    if recipe.seed is None or public_promise(promise, data, recipe.seed) != told:
        raise Refused(
            "edited",
            f"{where!r} is not the recipe of this release: its list or its seed does not match the certificate's "
            "commitment. Use the files as they were released.",
        )
    return promise


def _hidden(told: Promise) -> str:
    assert isinstance(told, Sealed)  # noqa: S101 - else there is nothing hidden
    return f"{told.hidden} {'is' if told.count == 1 else 'are'} hidden"
