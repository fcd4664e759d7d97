"""Items that occur together into one column: k-medoids on 1 - φ² (the paper's IV.A).

φ²(i, j) = (f_ij - f_i f_j)² / (f_i f_j) where two items occur together more often than by chance, else 0: the paper's
formula (4) would call items that avoid each other close. Medoids are looked for among the most frequent items, for a
matrix of all pairs of items may not fit into memory; every other item is compared with the medoids only.
"""

from __future__ import annotations

import heapq

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.anonymize.chance import seed_from
from veilset.errors import BudgetExceeded
from veilset.limits import Limits
from veilset.mining import cover, pairs
from veilset.transactions import Transactions

_CANDIDATES = 2000  # items that may become medoids: their distances take 16 MB
_BYTES_A_PAIR = 60  # two codes, a count, places in the matrix, the correlation and what it is made of
_BUILT = 50  # medoids
_ROUNDS = 100  # far more than FasterPAM needs: a round goes over all items, and swaps at once what is better
_ROWS_AT_ONCE = 1 << 16
_ADVICE = "give the columns as lists."


def clusters(
    data: Transactions, count: int, *, random_state: int, limits: Limits
) -> tuple[list[list[int]], tuple[str, ...]]:
    """The codes of the public items in up to *count* columns, and the medoids around which these were made.

    An item goes to the medoid that it is most correlated with, the first if there are several. One that is correlated
    with none goes to the column with the fewest occurrences so far, the most frequent one first.
    """
    medoids = medoids_of(data, count, random_state=random_state, limits=limits)
    near, column_of = np.zeros(len(data.names)), np.full(len(data.names), -1)
    for number, medoid in enumerate(medoids):
        limits.step("Items to their medoids", number, len(medoids))
        limits.check_time("Comparing items with medoids", _ADVICE)
        alike = correlation(data.supports[medoid], data.supports, _together(data, medoid), len(data))
        column_of[alike > near] = number
        near = np.maximum(near, alike)
    column_of[medoids] = np.arange(len(medoids))
    columns: list[list[int]] = [[] for _ in medoids]
    public = np.flatnonzero(data.is_sensitive == 0)
    for code in public[column_of[public] >= 0].tolist():
        columns[column_of[code]].append(code)
    lonely = public[column_of[public] < 0]
    fullness = [(int(data.supports[codes].sum()), number) for number, codes in enumerate(columns)]
    heapq.heapify(fullness)
    for code in lonely[np.argsort(-data.supports[lonely], kind="stable")].tolist():
        held, number = fullness[0]
        columns[number].append(code)
        heapq.heapreplace(fullness, (held + int(data.supports[code]), number))
    return columns, tuple(data.names[medoid] for medoid in medoids)


def medoids_of(data: Transactions, count: int, *, random_state: int, limits: Limits) -> list[int]:
    """The codes of up to *count* medoids among the most frequent public items, ascending."""
    public = np.flatnonzero(data.is_sensitive == 0)
    often = np.sort(public[np.argsort(-data.supports[public], kind="stable")[:_CANDIDATES]])
    if count >= len(often):
        return [int(code) for code in often]
    limits.require(4 * len(often) ** 2, "Comparing items", _ADVICE)
    distances = _distances(data, often, limits)
    limits.step("Looking for medoids")
    limits.check_time("Looking for medoids", _ADVICE)
    import kmedoids  # noqa: PLC0415 - it loads scikit-learn and pandas where they are installed: 100 MB, a second

    found = kmedoids.fasterpam(
        distances,
        count,
        max_iter=_ROUNDS,
        # As good as the best of several random starts, and the same columns for most seeds; but not for so many that
        # it would take seconds, in which nothing can stop it.
        init="build" if count <= _BUILT else "random",
        random_state=seed_from(f"columns {random_state}") >> 32,  # it takes 31 bits
        n_cpu=1,  # with more it is another algorithm, which need not find the same
    )
    return sorted(often[found.medoids].tolist())


def _together(data: Transactions, code: int) -> npt.NDArray[np.int64]:
    """How many transactions hold this item and each of all others."""
    rows = cover(data, [data.names[code]])
    times = np.zeros(len(data.names), dtype=np.int64)
    for first in range(0, len(rows), _ROWS_AT_ONCE):
        taken = _native.core.take_rows(data.offsets, data.items, rows[first : first + _ROWS_AT_ONCE])
        times += _native.core.count_codes(taken, len(data.names))
    return times


def correlation(
    one: npt.NDArray[np.int64] | np.int64,
    other: npt.NDArray[np.int64],
    together: npt.NDArray[np.int64],
    transactions: int,
) -> npt.NDArray[np.float64]:
    """φ² of items with these supports, and of what holds both.

    >>> correlation(np.array([4, 4]), np.array([2, 5]), np.array([2, 1]), 8).tolist()
    [0.125, 0.0]
    """
    above = np.maximum(together * transactions - one * other, 0)  # in whole numbers: what is 0 stays 0
    return (above / transactions) ** 2 / (one * other)


def _distances(data: Transactions, codes: npt.NDArray[np.int64], limits: Limits) -> npt.NDArray[np.float32]:
    """1 - φ² between these items; 0 from one to itself."""
    try:
        found = pairs(data, items=[data.names[code] for code in codes.tolist()], **limits.bounds())
    except BudgetExceeded as error:  # whoever wants columns has not asked for pairs, and cannot ask for fewer
        raise error.within("", f"Raise the limit, or {_ADVICE}") from None
    limits.require(_BYTES_A_PAIR * len(found), "Comparing items", _ADVICE)
    one, other = found.items.reshape(-1, 2).T
    alike = correlation(data.supports[one], data.supports[other], found.supports, len(data))
    distances = np.ones((len(codes), len(codes)), dtype=np.float32)
    place = np.empty(len(data.names), dtype=np.int64)
    place[codes] = np.arange(len(codes))
    distances[place[one], place[other]] = distances[place[other], place[one]] = 1 - alike
    np.fill_diagonal(distances, 0)
    return distances
