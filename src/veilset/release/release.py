"""`Release`: what a method made of the data, and the account of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sized
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from veilset.errors import InvalidArgument
from veilset.models import Audit, InOriginal, Promise
from veilset.transactions import Transactions
from veilset.views import Count, Shown, Summary, Tabular, handed_over, installed, listed

OCCURRENCES = "share of all item occurrences"
"""What most methods minimise, as `Bound.of` says it."""


@dataclass(frozen=True)
class Attempt:
    """One of the strategies a method tried, and what it lost after all that could return was put back.

    Parameters
    ----------
    name : str
    loss : float or None
        The share of all item occurrences that it loses (where items are recoded: the average loss); None: it did not
        come to an end.
    seconds : float
    note : str
        What else there is to say, such as why it did not come to an end.
    state : {"chosen", "not chosen", "not finished", "not applicable"}
        Whether its result is the release, it came to another result, it stopped at a limit, or it cannot be used here.
    """

    name: str
    loss: float | None
    seconds: float
    note: str = ""
    state: Literal["chosen", "not chosen", "not finished", "not applicable"] = "not chosen"

    @property
    def won(self) -> bool:
        """Whether its result is the release."""
        return self.state == "chosen"


@dataclass(frozen=True)
class Bound:
    """What is proven about how good a release is, in what its method minimises.

    Parameters
    ----------
    reached : float
        What the release loses.
    least : float
        What every release that keeps the promise by the same means loses at least.
    of : str
        What is counted.
    """

    reached: float
    least: float
    of: str

    @property
    def proven(self) -> bool:
        """Whether nothing better exists."""
        return self.reached <= self.least

    @property
    def gap(self) -> float:
        """The share of what is lost that a better release might save; 0: none."""
        return 0.0 if self.proven else 1 - self.least / self.reached


@dataclass(frozen=True)
class Sanitization:
    """How patterns were hidden (Lee, Chang, Chen 2004).

    Parameters
    ----------
    matrix : scipy.sparse.csr_array
        The sanitization matrix S over the items of the original, in their order: entry (i, j) is -1 where item j goes
        from transactions that hold i, 1 where it is to stay in them, and 1 on the diagonal.
    keep_patterns : tuple of tuples of str
        The non-sensitive patterns that it was made to spare.
    p_r : Fraction or None
        The restoration probability in the end; None where the method has none, or the release does not start from the
        product.
    levels : tuple of Fraction
        For each hidden pattern or rule, in the promise's order, the share of its limits that it has to stay below;
        empty: nothing was certified.
    by_matrix, by_victims, put_back : int
        How many item occurrences the product removed, how many had to go beyond it, and how many of both returned.
    """

    matrix: csr_array = field(repr=False, compare=False)
    keep_patterns: tuple[tuple[str, ...], ...] = field(repr=False)
    p_r: Fraction | None
    levels: tuple[Fraction, ...] = field(repr=False)
    by_matrix: int
    by_victims: int
    put_back: int


@dataclass(frozen=True)
class ColumnMerge:
    """Two columns that became one, because in the first one a value was too probable to be hidden.

    Parameters
    ----------
    column, other : tuple of str
        The items of both.
    probability, reached : Fraction
        The highest probability of a value in the first, and in both together, if all transactions were one bucket.
    """

    column: tuple[str, ...] = field(repr=False)
    other: tuple[str, ...] = field(repr=False)
    probability: Fraction
    reached: Fraction


@dataclass(frozen=True)
class Partition:
    """How items came into columns and transactions into buckets.

    Parameters
    ----------
    members : array of int64
        For each released row, in their order, an original transaction that is in the same bucket; inside a bucket
        they ascend, so that they do not tell which values are whose.
    wished : int
        How many columns there were before any became one.
    medoids : tuple of str
        The items around which columns were made; empty where the columns were given.
    merges : tuple of ColumnMerge
        Which columns became one, in order.
    left_over : int
        How many transactions were left when no bucket could be closed any more.
    joined : int
        How many buckets had to become one to take those that fitted nowhere.
    """

    members: npt.NDArray[np.int64] = field(repr=False, compare=False)
    wished: int
    medoids: tuple[str, ...] = field(repr=False)
    merges: tuple[ColumnMerge, ...] = field(repr=False)
    left_over: int
    joined: int


class Audited:
    """What an audit says, wherever the data lies."""

    custodian_data: Sized
    promise: Promise
    audit: Audit | None

    @property
    def _audited(self) -> bool:
        """Whether the audit of just this data found that it keeps just this promise."""
        return (
            self.audit is not None
            and self.audit.holds
            and self.audit.promise == self.promise
            and self.audit.transactions == len(self.custodian_data)
        )


@dataclass(frozen=True, repr=False)
class Release(Audited, Shown, Tabular):
    """Anonymized transactions, with a record of every change.

    Parameters
    ----------
    original : Transactions
        The data before.
    custodian_data : Transactions
        The data after, **for the custodian alone: never hand it over**. It has the order of the original and the names
        of persons, if known. `to_arrow`, `to_pandas`, `to_polars` and `veilset.publish` give what others may see.
    promise : Promise
        The promise it was made for.
    method : str
        Name of the method that made it.
    options : mapping
        Options of the method.
    suppressed : tuple of str
        Items deleted from all transactions.
    generalized : mapping
        Items to the names they were recoded to.
    stands_for : mapping
        Those names to the public items of the taxonomy that readers are told they may mean.
    listed_from : int
        How many transactions must have an item for *stands_for* to list it; 0: all items of the taxonomy are listed,
        whether they occur or not.
    kept : array of bool, or None
        If single occurrences were removed: for each occurrence of the original, in the order of its ``items``, whether
        it was kept. None: items were removed from all transactions or from none.
    withheld : tuple of int
        Positions of original transactions that are not in *custodian_data*.
    undecided : tuple of str
        Suppressed items that perhaps could have been kept: the check exceeded its work limit.
    notes : tuple of str
        Anything the user may not expect, such as leaves of a taxonomy that were not used.
    seconds : float
        Run time of the method.
    attempts : tuple of Attempt
        The strategies the method tried, with the loss of each.
    bound : Bound or None
        The lower bound of the loss that the method has proven, if any.
    audit : Audit or None
        The audit of *custodian_data*; None: not audited.
    discrepancy : str or None
        The first place where *custodian_data* is not the original with the declared edits; None: nowhere.
    in_original : InOriginal or None
        If single occurrences were removed and the promise limits what can be inferred: whether these limits hold in the
        original, too.
    sanitization : Sanitization or None
        How patterns were hidden, if any were.
    partition : Partition or None
        How columns and buckets were made, if there are any; ``custodian_data.anatomy`` has them.
    """

    original: Transactions = field(repr=False)
    custodian_data: Transactions
    promise: Promise
    method: str
    options: Mapping[str, object] = field(repr=False)
    suppressed: tuple[str, ...]
    generalized: Mapping[str, str] = field(default_factory=dict)
    stands_for: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    listed_from: int = 0
    kept: npt.NDArray[np.bool_] | None = field(default=None, repr=False, compare=False)
    withheld: tuple[int, ...] = ()
    undecided: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    attempts: tuple[Attempt, ...] = ()
    bound: Bound | None = None
    audit: Audit | None = field(default=None, repr=False)
    discrepancy: str | None = None
    in_original: InOriginal | None = None
    sanitization: Sanitization | None = None
    partition: Partition | None = None

    def to_arrow(self, *, random_state: int | str | None = None) -> Any:
        """The rows that `veilset.publish` would write, as an Arrow table; raises `NotCertified` if it would not.

        Persons are left out, rows are in a secret order, and ids are new. Libraries that read Arrow accept the release
        itself as such a table; each reading draws a new order. The columns are those of the input: lists of items, one
        item per row, or one column per item; for transactions in buckets, those of the anatomized table.

        Parameters
        ----------
        random_state : int or str, optional
            Secret seed of the row order, as for `veilset.publish`: the same seed gives the same order. None draws one.
            Rows in buckets keep the order that the method gave them.

        Examples
        --------
        >>> import veilset as vs
        >>> data = vs.Transactions.from_lists([["ale"], ["bun"], ["ale"], ["bun"], ["figs"]], persons="abcde")
        >>> vs.anonymize(data, vs.Coherence(k=2, p=1)).to_arrow(random_state=1).to_pydict()
        {'items': [['ale'], [], ['ale'], ['bun'], ['bun']]}
        """
        return handed_over(self, random_state)

    def to_pandas(self, *, random_state: int | str | None = None) -> Any:
        """The rows to hand over, as a pandas frame: see `to_arrow`."""
        installed("pandas", "to_pandas", "pandas")
        return self.to_arrow(random_state=random_state).to_pandas()

    def to_polars(self, *, random_state: int | str | None = None) -> Any:
        """The rows to hand over, as a polars frame: see `to_arrow`."""
        return installed("polars", "to_polars", "polars").from_arrow(self.to_arrow(random_state=random_state))

    @property
    def matrix(self) -> csr_array | None:
        """The sanitization matrix, if patterns were hidden: see `Sanitization`."""
        return None if self.sanitization is None else self.sanitization.matrix

    @property
    def loss(self) -> float:
        """The share of all item occurrences of the original that were removed (0 is best, 1 is worst).

        A recoded occurrence counts as kept, even if several of a transaction now share one name.
        """
        before = len(self.original.items)
        if not before:
            return 0.0
        if not self.generalized:
            return 1 - len(self.custodian_data.items) / before
        return 1 - int(self.survivors().sum()) / before

    @property
    def recoded(self) -> float:
        """The share of all item occurrences of the original that were kept under a coarser name."""
        there = self.survivors()[self.original.codes(self.generalized)]
        return float(there.sum()) / max(1, len(self.original.items))

    def survivors(self) -> npt.NDArray[np.int64]:
        """For each item of the original, how many of its occurrences were kept, under its name or a coarser one.

        As the declared edits say; `discrepancy` tells whether they are true.
        """
        original = self.original
        left = original if self.kept is None else original.thinned(self.kept)
        there = np.zeros(len(original.names), dtype=np.int64)
        there[original.codes(left.names)] = left.supports
        if self.withheld:
            withheld = left.take(np.array(self.withheld, dtype=np.int64))
            there[original.codes(withheld.names)] -= withheld.supports
        there[original.codes(self.suppressed)] = 0
        return there

    @cached_property
    def suppressed_by_support(self) -> tuple[str, ...]:
        """The suppressed items, the most frequent first."""
        return by_support(self.original, self.suppressed)

    @cached_property
    def kept_by_support(self) -> tuple[str, ...]:
        """The items of the release, by their names there, the most frequent first."""
        return by_support(self.custodian_data, self.custodian_data.names)

    @property
    def thinned(self) -> bool:
        """Whether single occurrences were removed for a promise that does not list what it hides."""
        return self.kept is not None and self.promise.edits == "items"

    @property
    def all_sensitive_removed(self) -> bool:
        """Whether the original had sensitive items and none is left."""
        before, after = (
            int(data.supports[data.is_sensitive == 1].sum()) for data in (self.original, self.custodian_data)
        )
        return before > 0 == after

    @property
    def all_public_removed(self) -> bool:
        """Whether the original had public items, and only sensitive ones are left."""
        after = self.custodian_data
        return bool(self.original.public and after.sensitive) and not after.public

    @property
    def repeated(self) -> bool:
        """Whether all changes were decided before this run: they are given, or a recipe says what to choose."""
        if self.method == "replay":
            return not self.options.get("repair")
        return "chosen" in self.options and not self.attempts and self.bound is None

    @property
    def own_loss(self) -> float | None:
        """The average loss as the method measured it, if it does not follow from the edits; else None."""
        return None

    @property
    def certified(self) -> bool:
        """Whether the audit found that the data keeps the promise, and the declared edits explain all changes."""
        return self._audited and self.discrepancy is None and (self.truthful or self.options.get("truthful") is False)

    @property
    def truthful(self) -> bool:
        """Whether what it promises of sensitive items is known to be true of the original, too."""
        if not (self.thinned and self.promise.limits_inference(self.custodian_data)):
            return True
        return self.in_original is not None and self.in_original.holds

    def _summary(self) -> Summary:
        """The names of items that are gone are left out where they would tell what is hidden."""
        before, after = self.original, self.custodian_data
        done = {
            "suppressed": self.suppressed_by_support,
            "renamed": tuple(self.generalized),
            "undecided": self.undecided,
        }
        notes = [
            f"{what}: {len(names):,}" if self.promise.secret else f"{what}: {listed(names)}"
            for what, names in done.items()
            if names
        ]
        notes += [f"{self.recoded:.1%} of all occurrences have a coarser name"] if self.generalized else []
        notes += [] if self.promise.secret else [f"kept: {listed(self.kept_by_support)}"]
        withheld = Count(len(self.withheld))
        notes += [f"withheld: {withheld:,} {withheld:transaction|transactions}"] if withheld else []
        notes.append(f"method: {self.method}")
        notes += [] if self.promise.secret else self.notes
        facts = [
            (len(after), "transaction(s)"),
            (len(after.names), f"{'name(s)' if self.generalized else 'item(s)'} of {len(before.names):,}"),
            (len(after.items), f"occurrence(s) of {len(before.items):,}"),
        ]
        if after.anatomy is not None:
            facts += [(len(after.anatomy.columns), "column(s)"), (after.anatomy.count, "bucket(s)")]
        state = "certified" if self.certified else f"not certified, {self._why_not()}"
        return Summary("Release", f"{state}: {self.promise.in_short}", self.certified, facts, notes)

    def _why_not(self) -> str:
        if self.audit is None:
            return "never audited"
        return "its edits do not explain it" if self.discrepancy is not None else "the promise does not hold"


def by_support(data: Transactions, names: Collection[str]) -> tuple[str, ...]:
    """These items, the most frequent of *data* first."""
    support = dict(zip(data.names, data.supports.tolist(), strict=True))
    return tuple(sorted(names, key=lambda name: (-support.get(name, 0), name)))


def check_release(release: object) -> None:
    """Raise unless it is a release of transactions in memory."""
    if isinstance(release, Audited) and not isinstance(release, Release):
        raise InvalidArgument(
            "The release is of transactions that an engine holds.",
            "Publish it with vs.publish, or read the data into memory, with vs.read.",
        )
    if not isinstance(release, Release):
        raise InvalidArgument(
            f"The release is {'None' if release is None else f'a {type(release).__name__}'}.",
            "Pass the result of vs.anonymize.",
        )
