"""Bytes under a passphrase: the key comes from scrypt (RFC 7914), the seal is AES-256 in Galois/counter mode.

A sealed file is: 16 bytes that say what it is, the costs of scrypt, salt, nonce, then the sealed bytes with their tag.
All that stands before the sealed bytes is authenticated with them. Every sealing takes a new nonce; the salt stays, so
that the key is derived once.
"""

from __future__ import annotations

import os
import secrets
import struct
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from veilset.errors import InvalidArgument, UnreadableInput
from veilset.search.terms import SEARCH_EXTRA
from veilset.views import installed

MAGIC = b"veilset sealed 1"
_COSTS = struct.Struct(">BBB")  # log2 of N, r, p
_SALT, _NONCE, _KEY = 16, 12, 32
_HEADER = len(MAGIC) + _COSTS.size + _SALT + _NONCE

_USUAL = (16, 8, 1)  # 64 MB, and a fifth of a second
_MOST = (20, 16, 4)  # more would be a file that is to exhaust the machine


@dataclass(frozen=True)
class Seal:
    """A passphrase, turned into a key by these costs and this salt."""

    key: bytes
    costs: tuple[int, int, int]
    salt: bytes

    @classmethod
    def new(cls, passphrase: str) -> Seal:
        """A seal with a new salt."""
        return cls._of(passphrase, _USUAL, os.urandom(_SALT))

    @classmethod
    def of(cls, path: Path, content: bytes, passphrase: str) -> Seal:
        """The seal of a file, for the passphrase that opens it."""
        costs, salt, _ = _header(path, content)
        return cls._of(passphrase, costs, salt)

    def closed(self, plain: bytes) -> bytes:
        """The content of a sealed file with these bytes."""
        header = MAGIC + _COSTS.pack(*self.costs) + self.salt + secrets.token_bytes(_NONCE)
        return header + bytes(self._cipher.encrypt(header[-_NONCE:], plain, header))

    def opened(self, path: Path, content: bytes) -> bytes:
        """The bytes in a sealed file."""
        _, _, nonce = _header(path, content)
        try:
            return bytes(self._cipher.decrypt(nonce, content[_HEADER:], content[:_HEADER]))
        except installed("cryptography.exceptions", _WHAT, SEARCH_EXTRA).InvalidTag:
            raise UnreadableInput(
                f"{str(path)!r} cannot be opened: the passphrase is wrong, or the file is damaged.",
                "Try the passphrase again, or restore the file from a backup.",
            ) from None

    @classmethod
    def _of(cls, passphrase: str, costs: tuple[int, int, int], salt: bytes) -> Seal:
        if not passphrase:
            raise InvalidArgument("The passphrase is empty.", "Give one of several words.")
        installed("cryptography", _WHAT, SEARCH_EXTRA)
        scrypt = installed("cryptography.hazmat.primitives.kdf.scrypt", _WHAT, SEARCH_EXTRA)
        log_n, r, p = costs
        derive = scrypt.Scrypt(salt=salt, length=_KEY, n=1 << log_n, r=r, p=p)
        return cls(derive.derive(unicodedata.normalize("NFKC", passphrase).encode()), costs, salt)

    @property
    def _cipher(self) -> Any:
        return installed("cryptography.hazmat.primitives.ciphers.aead", _WHAT, SEARCH_EXTRA).AESGCM(self.key)


_WHAT = "A passphrase"


def _header(path: Path, content: bytes) -> tuple[tuple[int, int, int], bytes, bytes]:
    """The costs, the salt and the nonce of a sealed file."""
    if len(content) < _HEADER or not content.startswith(MAGIC):
        raise UnreadableInput(f"{str(path)!r} is damaged: its head is cut off.", "Restore it from a backup.")
    log_n, r, p = _COSTS.unpack_from(content, len(MAGIC))
    if not (1 <= log_n <= _MOST[0] and 1 <= r <= _MOST[1] and 1 <= p <= _MOST[2]):
        raise UnreadableInput(
            f"{str(path)!r} is damaged: its key would cost 2^{log_n}, {r}, {p}.", "Restore it from a backup."
        )
    at = len(MAGIC) + _COSTS.size
    return (log_n, r, p), content[at : at + _SALT], content[at + _SALT : _HEADER]
