"""Why a connection failed, in words: a refused certificate is never taken for a network failure, on either side.

The side that refuses a certificate knows why. The other side is told by an alert of TLS, which OpenSSL gives a code.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from veilset.joins.parties.certificates import Identity, fingerprint, validity
from veilset.joins.parties.disrupted import Disrupted, Fault
from veilset.joins.parties.tls import NotTls, SecureStream

_NOT_YET_VALID, _EXPIRED = 9, 10  # X509_V_ERR_CERT_NOT_YET_VALID, X509_V_ERR_CERT_HAS_EXPIRED
_OTHER_VERSION = {"UNSUPPORTED_PROTOCOL", "TLSV1_ALERT_PROTOCOL_VERSION", "WRONG_SSL_VERSION"}
_THEY_SAY_UNKNOWN = {"TLSV1_ALERT_UNKNOWN_CA", "SSLV3_ALERT_CERTIFICATE_UNKNOWN"}
_THEY_SAY_EXPIRED = "SSLV3_ALERT_CERTIFICATE_EXPIRED"
_THEY_SAY_NOT_YET_VALID = "SSLV3_ALERT_BAD_CERTIFICATE"
_NO_CERTIFICATE = "PEER_DID_NOT_RETURN_A_CERTIFICATE"
_NO_ROUTE = (errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ENETDOWN, errno.EHOSTDOWN)
_START_IT = "Check that it runs (veilset join party), and that no firewall is in between."

Failure = OSError | EOFError | NotTls
"""What `SecureStream` raises; errors of TLS are errors of the system."""


@dataclass(frozen=True)
class Reasons:
    """What is known of a connection, to say why it failed.

    Parameters
    ----------
    who : str
        The other side, as sentences begin with it.
    party : str
        Its name in the study; empty while it is not known.
    address : str
        Where it is.
    ours : Identity
        What we show.
    pinned : mapping
        The certificates that the other side may show, by name.
    time_out : float
        How long we wait, in seconds.
    """

    who: str
    party: str
    address: str
    ours: Identity
    pinned: Mapping[str, bytes]
    time_out: float

    def of(self, error: Failure) -> Disrupted:
        """Why a connection that was open, or being opened, has failed."""
        if isinstance(error, NotTls):
            return self.disrupted(
                "plaintext",
                f"{self.who} does not speak TLS; plaintext is refused.",
                "Check the address in the study: another service answers there."
                if self.party
                else "A party connects with veilset join; keep others from this port by a firewall.",
            )
        if isinstance(error, ssl.SSLCertVerificationError):
            return self._refused_by_us(error.verify_code)
        if isinstance(error, ssl.SSLError) and not isinstance(error, (ssl.SSLEOFError, ssl.SSLZeroReturnError)):
            return self._of_tls(error.reason or type(error).__name__)
        if isinstance(error, TimeoutError):
            return self.silent()
        return self.disrupted(
            "closed",
            f"{self.who} is gone: the connection was cut.",
            "Check that its process still runs and read what it says there, then start again: the run resumes.",
        )

    def unreachable(self, error: OSError | EOFError | None) -> Disrupted:
        """Why no connection could be opened in time."""
        what, next_step = f"nothing answered within {self.time_out:g} seconds", _START_IT
        if isinstance(error, socket.gaierror):
            what = f"the host name is not known here ({error.strerror})"
            next_step = "Check the address in the study, and the name server of this machine."
        elif isinstance(error, ConnectionRefusedError):
            what = "the connection is refused: nothing listens there"
        elif isinstance(error, (EOFError, ConnectionResetError)):
            what = "the connection is accepted and closed at once"
            next_step = (
                "Check that it runs (veilset join party): a tunnel without a party behind it does this. If it runs, "
                "read what it says there: strangers may keep it busy."
            )
        elif isinstance(error, OSError) and error.errno in _NO_ROUTE:
            what = f"there is no way to it ({error.strerror})"
            next_step = "Check the address in the study, and the network of both machines."
        elif isinstance(error, OSError) and not isinstance(error, TimeoutError):
            what = f"the system refuses to connect ({error.strerror or error})"
            next_step = "Check the address in the study, and the network of this machine."
        return self.disrupted("unreachable", f"{self.who} cannot be reached: {what}.", next_step)

    def silent(self) -> Disrupted:
        """The other side sends nothing, or takes nothing."""
        return self.disrupted(
            "silent",
            f"{self.who} has been silent for {self.time_out:g} seconds.",
            "Check that its process and the network work, then start again: the run resumes.",
        )

    def wrong(self, owner: str) -> Disrupted:
        """The other side shows a certificate that it should not show: of this party, or of nobody we know."""
        if owner == self.ours.name:
            return self.disrupted(
                "certificate",
                f"{self.who} shows our own certificate, that of {owner}.",
                "Check the addresses in the study; each party has a key of its own.",
            )
        if owner:
            return self.disrupted(
                "certificate",
                f"{self.who} shows the certificate of {owner}.",
                f"Check addresses and certificates of {self.party} and {owner} in the study: perhaps two are swapped.",
            )
        known = "; ".join(f"{name} {fingerprint(one)}" for name, one in self.pinned.items())
        return self.disrupted(
            "certificate",
            f"{self.who} shows a certificate that is not in the study.",
            f"Compare fingerprints by telephone; those in the study are: {known}. "
            "If one differs, put the right certificate into the study; if none does, somebody else is at that address.",
        )

    def disrupted(self, fault: Fault, what: str, next_step: str) -> Disrupted:
        """An error about this party."""
        return Disrupted(what, next_step, party=self.party, fault=fault)

    def _refused_by_us(self, code: int) -> Disrupted:
        now = datetime.now(UTC)
        times = {name: validity(one) for name, one in self.pinned.items()}
        if code == _EXPIRED:
            late = ", ".join(f"{name}'s on {_minute(ends)}" for name, (_, ends) in times.items() if ends < now)
            return self.disrupted(
                "certificate",
                f"{self.who} shows a certificate that has expired ({late}); our clock shows {_minute(now)}.",
                "Its owner makes a new one (veilset join keygen), and all put it into the study. "
                "If our clock is wrong, set it.",
            )
        if code == _NOT_YET_VALID:
            early = ", ".join(f"{name}'s from {_minute(begins)}" for name, (begins, _) in times.items() if begins > now)
            return self.disrupted(
                "clock",
                f"{self.who} shows a certificate that is not valid yet ({early}); our clock shows {_minute(now)}.",
                "Compare our clock with theirs, and set both by a time server (NTP).",
            )
        return self.wrong("")

    def _of_tls(self, reason: str) -> Disrupted:
        """An alert of the other side, or bytes that TLS does not take."""
        begins, ends = validity(self.ours.certificate)
        if reason in _THEY_SAY_UNKNOWN:
            return self.disrupted(
                "certificate",
                f"{self.who} refuses our certificate: it is not in their study.",
                f"Compare fingerprints by telephone: ours, {self.ours.name}, is {fingerprint(self.ours.certificate)}. "
                "If their study has another, agree on one study.",
            )
        if reason == _THEY_SAY_EXPIRED:
            return self.disrupted(
                "certificate",
                f"{self.who} refuses our certificate as expired. It is valid until {_minute(ends)}.",
                "If that has passed, make a new one (veilset join keygen) for the study; if not, their clock is wrong.",
            )
        if reason == _THEY_SAY_NOT_YET_VALID:
            return self.disrupted(
                "clock",
                f"{self.who} refuses our certificate as not valid yet. It is valid from {_minute(begins)}.",
                "Compare our clock with theirs, and set both by a time server (NTP).",
            )
        if reason == _NO_CERTIFICATE:
            return self.disrupted(
                "certificate",
                f"{self.who} shows no certificate.",
                "Connect with veilset join, which shows the one of the party file.",
            )
        if reason in _OTHER_VERSION:
            return self.disrupted(
                "version",
                f"{self.who} does not speak TLS 1.3.",
                "Connect with veilset join, on a system with OpenSSL 1.1.1 or later.",
            )
        return self.disrupted(
            "garbage",
            f"{self.who} cannot be understood: bytes were altered on the way ({reason}).",
            "Start again: the run resumes. If it happens again, look for a proxy or firewall that changes them.",
        )


def _minute(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M} UTC"


async def secured(stream: SecureStream, reasons: Reasons, deadline: float) -> bytes:
    """The certificate of the other side after a handshake; what fails is said in words, here and by TLS there."""
    try:
        async with asyncio.timeout_at(deadline):
            return await stream.handshake()
    except (OSError, EOFError, NotTls) as error:
        why = reasons.of(error)
    except BaseException:
        stream.abort()
        raise
    await stream.end(reasons.time_out / 4)
    raise why
