"""`verify`: re-reads the released bytes and counts again. Needs ``public/`` alone and trusts nothing in it.

Where the promise is itself the secret, what it says stands in ``custodian/`` only, and the certificate has a seal on
it: a list that was exchanged after the release is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from veilset.audit import audit
from veilset.errors import InvalidArgument, NotCertified, VeilsetError
from veilset.io import atomic_folder, check_place
from veilset.limits import Limits
from veilset.models import EXCLUDES_NOTHING, Audit, Promise, Sealed
from veilset.publish.certificate import Certificate, certified_promise
from veilset.publish.checks import ROOM_FOR_JSON, audited, check_anatomy, check_files, parse_certificate, read_data
from veilset.publish.held import Held, held
from veilset.publish.public import CERTIFICATE, Declared, write_public
from veilset.publish.recipe import RECIPE, Recipe
from veilset.publish.sealing import public_promise, sealed_audit
from veilset.publish.verification import Refused, Verification
from veilset.transactions import Transactions


def verify(
    path: str | Path, *, witnesses: int = 20, limits: Limits | None = None, clean_copy: str | Path | None = None
) -> Verification:
    """Whether the release at *path* (the bundle or its ``public/``) keeps the promise of its certificate.

    If its values do, and *clean_copy* names a folder, they are written there anew, and the answer is about that folder.
    """
    limits = limits or Limits()
    if clean_copy is not None:
        check_place(Path(clean_copy), replace=False)
    try:
        with limits.guard("Verifying the release", "use a machine with more memory."), held(Path(path)) as release:
            examined = _examined(release, witnesses, limits)
            if clean_copy is None:
                return examined.found
            if examined.data is None or examined.found.verdict == "broken":
                return replace(examined.found, message=f"{examined.found.message} No clean copy was written.")
            return _copied(examined, release, Path(clean_copy), witnesses, limits)
    except Refused as refused:
        return Verification(refused.verdict, refused.message)


@dataclass(frozen=True)
class _Examined:
    """The answer, and if the values could be read, what is needed to write them anew."""

    found: Verification
    data: Transactions | None = None
    told: Promise | None = None
    answer: Audit | None = None


def _examined(release: Held, witnesses: int, limits: Limits) -> _Examined:
    certificate = None
    try:
        text = release.expect(CERTIFICATE).read(limits, ROOM_FOR_JSON)
        certificate = parse_certificate(text)
        check_files(release, certificate, text, limits)
        told = certified_promise(certificate.promise)
        check_anatomy(certificate, told)
        data, unchecked = read_data(release, certificate, limits)
        promise = _unsealed(told, release, data, limits) if isinstance(told, Sealed) else told
        answer = None if promise is None else audit(data, promise, witnesses=witnesses, limits=limits)
        release.check_unchanged()
    except Refused as refused:
        return _Examined(Verification(refused.verdict, refused.message, certificate))
    except OSError as error:
        message = f"A file of the release cannot be read: {error}. Check the disk."
        return _Examined(Verification("malformed", message))
    except InvalidArgument as error:
        return _Examined(Verification("malformed", f"The certificate is not valid: {error}", certificate))
    return _Examined(_answered(certificate, told, answer, tuple(unchecked), release.custodian), data, told, answer)


def _answered(
    certificate: Certificate, told: Promise, answer: Audit | None, unchecked: tuple[str, ...], custodian: str | None
) -> Verification:
    """The verdict on values that could be read."""
    file = audited(certificate).file
    also = f" Not checked: {'; '.join(unchecked)}." if unchecked else ""
    if answer is None:
        missing = "" if custodian is None else f" There is no folder {custodian!r}."
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


def _copied(examined: _Examined, release: Held, out: Path, witnesses: int, limits: Limits) -> Verification:
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
        with held(staging) as copy:
            copy.custodian, copy.has_custodian, copy.recipe = release.custodian, release.has_custodian, release.recipe
            found = _examined(copy, witnesses, limits).found
        if found.verdict not in ("holds", "sealed"):
            raise NotCertified(
                f"No clean copy was written: it failed its verification: {found.message}",
                "This is a bug in Veilset: please report it.",
            )
    return replace(found, message=f"{str(out)!r} is a clean copy. {found.message}")


def _unsealed(told: Sealed, release: Held, data: Transactions, limits: Limits) -> Promise | None:
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
