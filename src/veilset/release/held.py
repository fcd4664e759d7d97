"""`HeldRelease`: what a method made of transactions that an engine holds."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from veilset.engines import Held
from veilset.models import Audit, Promise
from veilset.release.release import Attempt, Audited, Sanitization
from veilset.views import Shown, Summary, listed


@dataclass(frozen=True, repr=False)
class HeldRelease(Audited, Shown):
    """Anonymized transactions that an engine holds. Nothing of them is in this process but names and numbers of items.

    Parameters
    ----------
    original : Held
        The data before.
    custodian_data : Held
        The data after, **for the custodian alone**: its order tells of the original. On Spark, its ``to_frame`` is a
        DataFrame to write.
    promise, method, options, suppressed, generalized, stands_for, listed_from, undecided, notes, sanitization
        As for `Release`.
    attempts, seconds, audit
        As for `Release`.
    supports : array of int64
        For each item of the original, how many transactions hold it.
    removed : array of int64, or None
        If single occurrences were removed: for each item of the original, how many were, counted in the data after.
        None: items were removed from all transactions or from none.
    """

    original: Held = field(repr=False)
    custodian_data: Held
    promise: Promise
    method: str
    options: Mapping[str, object] = field(repr=False)
    suppressed: tuple[str, ...]
    supports: npt.NDArray[np.int64] = field(repr=False, compare=False)
    generalized: Mapping[str, str] = field(default_factory=dict)
    stands_for: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    listed_from: int = 0
    undecided: tuple[str, ...] = ()
    removed: npt.NDArray[np.int64] | None = field(default=None, repr=False, compare=False)
    notes: tuple[str, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    seconds: float = 0.0
    audit: Audit | None = field(default=None, repr=False)
    sanitization: Sanitization | None = None

    @property
    def loss(self) -> float:
        """The share of all item occurrences of the original that were removed (0 is best, 1 is worst).

        A recoded occurrence counts as kept, even if several of a transaction now share one name.
        """
        occurrences = int(self.supports.sum())
        return 1 - (occurrences - self._removed) / occurrences if occurrences else 0.0

    @property
    def certified(self) -> bool:
        """Whether the audit found that the data keeps the promise."""
        return self._audited

    @property
    def recoded(self) -> float:
        """The share of all item occurrences of the original that were kept under a coarser name."""
        return self._held_by(self.generalized) / max(1, int(self.supports.sum()))

    @property
    def suppressed_by_support(self) -> tuple[str, ...]:
        """The suppressed items, the most frequent first."""
        support = dict(zip(self.original.vocabulary.names, self.supports.tolist(), strict=True))
        return tuple(sorted(self.suppressed, key=lambda name: (-support[name], name)))

    @property
    def all_sensitive_removed(self) -> bool:
        """Whether the original had sensitive items and the release has none."""
        return bool(self.original.vocabulary.sensitive) and not self.custodian_data.vocabulary.sensitive

    @property
    def all_public_removed(self) -> bool:
        """Whether only sensitive items are left."""
        return bool(self.original.vocabulary.public) and not self.custodian_data.vocabulary.public

    @property
    def _removed(self) -> int:
        return self._held_by(self.suppressed) if self.removed is None else int(self.removed.sum())

    def _held_by(self, items: Collection[str]) -> int:
        return int(self.supports[self.original.vocabulary.codes(items)].sum())

    def _summary(self) -> Summary:
        before, after = self.original.vocabulary, self.custodian_data
        done = {
            "suppressed": self.suppressed_by_support,
            "renamed": tuple(self.generalized),
            "undecided": self.undecided,
        }
        notes = [f"{what}: {listed(names)}" for what, names in done.items() if names]
        occurrences = int(self.supports.sum())
        facts = [
            (len(after), "transaction(s)"),
            (
                len(after.vocabulary.names),
                f"{'name(s)' if self.generalized else 'item(s)'} of {len(before.names):,}",
            ),
            (occurrences - self._removed, f"occurrence(s) of {occurrences:,} kept"),
        ]
        why_not = "never audited" if self.audit is None else "the promise does not hold"
        state = "certified" if self.certified else f"not certified, {why_not}"
        notes += [f"{self.recoded:.1%} of all occurrences have a coarser name"] if self.generalized else []
        notes += [f"method: {self.method}", *self.notes]
        return Summary("Release on an engine", f"{state}: {self.promise.in_short}", self.certified, facts, notes)
