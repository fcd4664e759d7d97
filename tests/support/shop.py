"""A small shop, its release, and its pages: what the tests of reports look at."""

from __future__ import annotations

from tests.support.texts import screen_text
from veilset import api, report
from veilset.models import Audit, Coherence
from veilset.release import Release
from veilset.transactions import Transactions

NASTY = "<script>alert('x')</script>\"&[red]\x1b[2J"


def audit_of(rows: list[list[str]], sensitive: tuple[str, ...] = (), **promise: object) -> Audit:
    return api.audit(Transactions.from_lists(rows, sensitive=sensitive), Coherence(**promise))  # type: ignore[arg-type]


def shop(name: str = "figs") -> Transactions:
    """Milk and beer are safe at k=2; *name* gives its only buyer away; insulin and statin are sensitive."""
    rows = [
        ["milk", "insulin"],
        ["milk", "statin"],
        ["milk"],
        ["milk", "beer"],
        ["milk", "beer"],
        ["milk", name],
        ["beer"],
    ]
    return Transactions.from_lists(rows, sensitive=["insulin", "statin"])


def shop_release(name: str = "figs") -> Release:
    return api.anonymize(shop(name), Coherence(h=0.4, k=2, p=2))


def public_page(release: Release) -> str:
    assert release.audit is not None
    return report.public_report(
        release.custodian_data.anonymous(), release.audit, loss_percent=8, version="veilset 0.1.0", merged=False
    )


def printed(show: object, *args: object, **options: object) -> str:
    """A screen on one line, for sentences that it breaks."""
    return " ".join(screen_text(show, *args, **options).split())
