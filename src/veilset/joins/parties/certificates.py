"""Who a party is: a self-signed certificate, which the study carries, and a key that stays at home.

Nobody else vouches for a certificate. People compare fingerprints by telephone, and the study pins each certificate to
a name. Both sides of a connection show theirs (TLS 1.3), and accept no other than the pinned ones.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import importlib
import os
import ssl
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from veilset.errors import CannotWrite, InvalidArgument, UnreadableInput
from veilset.exact import is_whole
from veilset.io.files import readable
from veilset.views import installed

JOIN_EXTRA = "'veilset[join]'"
"""What to install for connections between parties."""
CLOCK_TOLERANCE = timedelta(minutes=10)
"""How far the clocks of two parties may differ."""
_LONGEST_NAME = 64  # in a certificate
_MOST_DAYS = 3650
_KEY, _CERTIFICATE = "key.pem", "certificate.pem"


@dataclass(frozen=True)
class Identity:
    """A party's own certificate and key.

    Parameters
    ----------
    name : str
        The name of the party, which is also in the certificate.
    certificate : bytes
        The certificate (DER).
    certificate_file, key_file : Path
        Where the two are (PEM).
    """

    name: str
    certificate: bytes
    certificate_file: Path
    key_file: Path

    @classmethod
    def load(cls, folder: Path, name: str) -> Identity:
        """The identity that `make_identity` left in a folder, if it is the one of this party."""
        identity = cls(name, _pem_certificate(folder / _CERTIFICATE), folder / _CERTIFICATE, folder / _KEY)
        if (named := name_in(identity.certificate)) != name:
            raise InvalidArgument(
                f"The certificate in {str(folder)!r} is for {named!r}, not for {name!r}.",
                f"Name the folder with the certificate of {name}.",
            )
        identity._check_key()
        return identity

    def _check_key(self) -> None:
        """Raise unless the key is readable by nobody else and belongs to the certificate."""
        with readable(self.key_file):
            mode = self.key_file.stat().st_mode
        if mode & 0o077:
            raise UnreadableInput(
                f"The key {str(self.key_file)!r} of {self.name} can be read by other users of this machine.",
                f"Run chmod 600 {self.key_file}; if someone may have read it, make a new one.",
            )
        client_context(self, [])


def make_identity(folder: Path, name: str, days: int = 365) -> Identity:
    """Make a key and a certificate for a party, in a folder that only its owner can open.

    An identity that is already there is never overwritten: the other parties know it by its certificate.
    """
    if not 0 < len(name) <= _LONGEST_NAME or not name.isprintable():
        raise InvalidArgument(
            f"{name!r} cannot be the name of a party.", f"Use 1 to {_LONGEST_NAME} printable characters."
        )
    if not is_whole(days, most=_MOST_DAYS):
        raise InvalidArgument(f"A certificate cannot be valid for {days!r} days.", f"Use 1 to {_MOST_DAYS} days.")
    now = datetime.now(UTC).replace(microsecond=0)
    key, certificate = _self_signed(name, now - CLOCK_TOLERANCE, now + timedelta(days=days))
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _new_file(folder / _KEY, key, 0o600), _new_file(folder / _CERTIFICATE, certificate, 0o644):
            return Identity.load(folder, name)
    except FileExistsError as error:
        raise CannotWrite(
            f"There is already a file {error.filename!r}.",
            "Use that identity, or name another folder. A new certificate has to go into the study of all parties.",
        ) from None
    except OSError as error:
        raise CannotWrite(
            f"{error.filename!r} cannot be written: {error.strerror}.", "Choose another folder."
        ) from None


def _self_signed(name: str, begins: datetime, ends: datetime) -> tuple[bytes, bytes]:
    """A new key (Ed25519) and a certificate for it, both PEM."""
    x509 = _cryptography("x509")
    serialization = _cryptography("hazmat.primitives.serialization")
    key = _cryptography("hazmat.primitives.asymmetric.ed25519").Ed25519PrivateKey.generate()
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins)
        .not_valid_after(ends)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, None)
    )
    pem = serialization.Encoding.PEM
    unencrypted = serialization.NoEncryption()
    return key.private_bytes(pem, serialization.PrivateFormat.PKCS8, unencrypted), certificate.public_bytes(pem)


@contextlib.contextmanager
def _new_file(path: Path, content: bytes, mode: int) -> Iterator[None]:
    """Write a file that must not exist yet; if the block fails, it is taken away again."""
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
        yield
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def fingerprint(certificate: bytes) -> str:
    """The SHA-256 of a certificate, in groups to read out over the telephone.

    >>> fingerprint(b"certificate")[:24]
    '03d6 6dd0 8835 c1ca 3f12'
    """
    digest = hashlib.sha256(certificate).hexdigest()
    return " ".join(digest[i : i + 4] for i in range(0, len(digest), 4))


def as_text(certificate: bytes) -> str:
    """A certificate as a study has it: one line of base64."""
    return base64.b64encode(certificate).decode()


def from_text(text: str) -> bytes:
    """The certificate that a study has as text."""
    parse = _cryptography("x509").load_der_x509_certificate
    try:
        certificate = base64.b64decode(text, validate=True)
        parse(certificate)
    except ValueError:
        raise InvalidArgument(
            f"{text[:20]!r}… is not a certificate.",
            "Copy the whole line that veilset join keygen has printed: base64, without line breaks.",
        ) from None
    return certificate


def name_in(certificate: bytes) -> str:
    """The name that a certificate (DER) carries; empty if it has none."""
    x509 = _cryptography("x509")
    names = x509.load_der_x509_certificate(certificate).subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)
    return str(names[0].value) if names else ""


def validity(certificate: bytes) -> tuple[datetime, datetime]:
    """When a certificate (DER) begins and ceases to be valid."""
    parsed = _cryptography("x509").load_der_x509_certificate(certificate)
    return parsed.not_valid_before_utc, parsed.not_valid_after_utc


def client_context(identity: Identity, trusted: Iterable[bytes]) -> ssl.SSLContext:
    """How to dial: TLS 1.3, our certificate is shown, and theirs must be one of the trusted ones."""
    return _context(ssl.PROTOCOL_TLS_CLIENT, identity, trusted)


def server_context(identity: Identity, trusted: Iterable[bytes]) -> ssl.SSLContext:
    """How to answer: likewise. No connection is resumed from an earlier one."""
    context = _context(ssl.PROTOCOL_TLS_SERVER, identity, trusted)
    context.num_tickets = 0
    return context


def _context(protocol: int, identity: Identity, trusted: Iterable[bytes]) -> ssl.SSLContext:
    context = ssl.SSLContext(protocol)
    context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False  # who somebody is says the certificate, not the address
    context.verify_mode = ssl.CERT_REQUIRED
    for path in (identity.certificate_file, identity.key_file):
        with readable(path):
            path.read_bytes()
    try:
        context.load_cert_chain(identity.certificate_file, identity.key_file, password="")
    except ssl.SSLError:
        raise UnreadableInput(
            f"{str(identity.key_file)!r} is not the key of {str(identity.certificate_file)!r}, or needs a password.",
            f"Put back the two files that veilset join keygen has made for {identity.name}, or make new ones.",
        ) from None
    for certificate in trusted:
        context.load_verify_locations(cadata=certificate)
    return context


def _pem_certificate(path: Path) -> bytes:
    with readable(path):
        text = path.read_bytes()
    parse = _cryptography("x509").load_der_x509_certificate
    try:
        certificate = ssl.PEM_cert_to_DER_cert(text.decode("ascii"))
        parse(certificate)
    except ValueError:
        raise UnreadableInput(
            f"{str(path)!r} is not a certificate.", "Put back the file that veilset join keygen has made."
        ) from None
    return certificate


def _cryptography(part: str) -> Any:
    installed("cryptography", "A connection between parties", JOIN_EXTRA)
    return importlib.import_module(f"cryptography.{part}")
