"""What to say about audits and releases, as data; and how it looks: on a terminal, as a page, as JSON."""

from veilset.report.custodian import custodian_report
from veilset.report.facts import audit_facts, release_facts
from veilset.report.public import public_report
from veilset.report.terminal import print_audit, print_reading, print_release
from veilset.report.words import verdict, visible

__all__ = [
    "audit_facts",
    "custodian_report",
    "print_audit",
    "print_reading",
    "print_release",
    "public_report",
    "release_facts",
    "verdict",
    "visible",
]
