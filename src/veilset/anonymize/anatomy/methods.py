"""The methods for l-diverse anatomy. All occurrences survive; what a smaller l gives is smaller buckets."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from veilset.anonymize.anatomy.multi_anatomy import multi_anatomy
from veilset.anonymize.binding import Eased
from veilset.anonymize.methods import Methods
from veilset.limits import Limits
from veilset.models import LDiverseAnatomy
from veilset.release import Release


def _eased(release: Release, limits: Limits) -> Iterator[Eased]:
    """l by one, and from 2 to 3/2."""
    promise = release.promise
    assert isinstance(promise, LDiverseAnatomy)  # noqa: S101 - these are its limits
    milder = Fraction(max(math.ceil(promise.l) - 1, 1))
    if milder == 1:
        milder = Fraction(3, 2)
    if milder < promise.l:
        yield Eased("l", promise.l, steps=[(milder, LDiverseAnatomy(milder, empty=promise.empty))])


def _rows_in_a_bucket(release: Release) -> float:
    """Transactions in a bucket, on average: the fewer, the more is known of which values belong together."""
    anatomy = release.custodian_data.anatomy
    return 0.0 if anatomy is None or not anatomy.count else len(release.custodian_data) / anatomy.count


L_DIVERSE_ANATOMY = Methods(
    {"multi-anatomy": multi_anatomy},
    milder="smaller l",
    eased=_eased,
    cost=_rows_in_a_bucket,
    aliases={"Multi-Dimension Anatomy": ("multi-anatomy", {})},
)
