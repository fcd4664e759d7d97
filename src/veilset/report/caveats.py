"""What a custodian has to know besides GO: who was taken as a person, and what other releases give away."""

from __future__ import annotations

from veilset.models import COMPARED
from veilset.release import HeldRelease, Release
from veilset.report.words import one_person


def caveats(release: Release) -> list[str]:
    """A sentence for each; of other releases only where there is one: the one whose changes were applied."""
    who = doubt_sentence(release)
    again = release.promise.about_people and release.method == "replay"
    return [*([who] if who else []), *([COMPARED] if again else [])]


def doubt_sentence(release: Release) -> str:
    """Who was taken as a person, if reading left doubts about that; empty if not, or if it does not matter.

    >>> from veilset import Coherence, anonymize, read
    >>> import pyarrow as pa
    >>> visits = pa.table({"visit": [1, 2], "patient": ["ann", "ann"], "code": ["tea", "tea"]})
    >>> doubt_sentence(anonymize(read(visits, long=("visit", "code")), Coherence(k=2, p=1)))
    "Who counts as a person: one transaction = one person; column 'patient' was not used."
    """
    source = release.original.source
    if source is None or not source.doubts or not release.promise.about_people:
        return ""
    return f"Who counts as a person: {'; '.join([one_person(release.original), *source.doubts])}."


def no_public_sentence(release: Release | HeldRelease) -> str:
    """That only sensitive items are left, and why that is no merit; empty if it is not so."""
    if not release.all_public_removed:
        return ""
    return "Every public item was removed: only sensitive items are left, so no public item can lead to a person."
