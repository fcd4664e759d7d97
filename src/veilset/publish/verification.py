"""The answer of `verify`: a verdict, a sentence, an exit code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from veilset.models import Audit
from veilset.publish.certificate import Certificate
from veilset.views import Shown, Summary

Verdict = Literal[
    "holds", "broken", "altered", "edited", "unchecked", "sealed", "incomplete", "malformed", "unknown-schema"
]

_EXIT_CODES: dict[Verdict, int] = {
    "holds": 0,
    "broken": 1,
    "altered": 1,
    "edited": 1,
    "incomplete": 2,
    "malformed": 2,
    "unchecked": 4,
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
        custodian's list of what is hidden not the one it was made for. ``unchecked``: the values keep the promise, but
        another version wrote some of the files, which may contain more than this version can check. ``sealed``: the
        files agree with each other, but only the custodian can tell whether they keep the promise.
        ``incomplete``: a file is missing. ``malformed``: a file cannot be read. ``unknown-schema``: the certificate is
        of a kind this version does not know.
    message : str
        The same in a sentence, with what to do next.
    certificate : Certificate or None
        As far as it could be read.
    audit : Audit or None
        The auditor's answer, if it came to that.
    unchecked : tuple of str
        What was not checked byte by byte, and why.
    """

    verdict: Verdict
    message: str
    certificate: Certificate | None = None
    audit: Audit | None = None
    unchecked: tuple[str, ...] = ()

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


class Refused(Exception):
    """What ends a verification before anything is counted."""

    def __init__(self, verdict: Verdict, message: str) -> None:
        self.verdict, self.message = verdict, message
