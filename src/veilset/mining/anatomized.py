"""Columns of items: which transactions have the same value, and supports to expect of itemsets over several columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.errors import InvalidArgument, said
from veilset.limits import Bounds, Limits
from veilset.mining.counting import coded
from veilset.mining.itemsets import Itemsets
from veilset.transactions import Transactions, check_transactions


def expected_supports(
    data: Transactions, itemsets: Itemsets | Iterable[Iterable[str]], **bounds: Unpack[Bounds]
) -> npt.NDArray[np.float64]:
    """The expected support of each itemset, assuming columns are independent within a bucket.

    Use it to mine anatomized data. Such data does not say which values of different columns belong together within a
    bucket: the rows are one of very many arrangements, drawn at random. Any tool can mine them, but the support it
    counts for items of several columns is partly chance. The expected support is the mean over *all* arrangements: the
    sum over the buckets B of |B| times the product, over the columns that the itemset touches, of the share of rows of
    B that contain its items there.

    Parameters
    ----------
    data : Transactions
        With columns and buckets (`Transactions.anatomy`), as ``vs.read(path, format="anatomy")`` gives them.
    itemsets : Itemsets, or iterable of iterables of str
        As for `supports`: `Itemsets` may come from other data, such as the original; items are matched by name.

    Returns
    -------
    array of float64
        In the order of the itemsets; whole numbers for items of one column. Otherwise each term is rounded a few
        times: with q buckets, the relative error is below (q + 2 columns) / 10¹⁵.

    Notes
    -----
    1. Read the table: ``data = vs.read("anatomy.csv", format="anatomy")``.
    2. Mine candidates in its rows: ``found = mining.frequent(data, "1%")`` or ``mining.rules(data, "1%", "50%")``. To
       miss none that are too rare in these rows by chance, use a lower minimum support than you need.
    3. Judge them by ``expected_supports(data, found)`` instead of the counts. The support of rules is
       ``expected_supports(data, found.itemsets)``; divide it by ``expected_supports(data, found.antecedents)`` for
       the confidence.

    For items of one column, the count and the expected support both equal the support in the original. Otherwise they
    agree on average, but the count has the variance of one draw, and the expected support has none. Neither shows what
    the columns hide: if values of different columns occurred together within a bucket more often than by chance, their
    expected support is too low; if less often, it is too high.

    Examples
    --------
    Two of three hold milk, and one holds beer: nobody knows whether it is one of the two.

    >>> from veilset import Anatomy
    >>> data = Transactions.from_lists([["milk", "rye"], ["milk", "rye", "beer"], []])
    >>> data = data.anatomized(Anatomy.of([["milk", "rye"], ["beer"]], [0, 0, 0]))
    >>> expected_supports(data, [["milk", "rye"], ["beer"], ["milk", "beer"]]).round(3).tolist()
    [2.0, 1.0, 0.667]
    """
    check_transactions(data)
    if data.anatomy is None:
        raise InvalidArgument(
            "These transactions have no columns and buckets.",
            f"Use supports, which counts plain transactions; or read an anatomy with {said('format', 'anatomy')}.",
        )
    limits = Limits(**bounds)
    offsets, codes = coded(data, itemsets)
    # The last is the code of what no transaction holds; any column will do for it.
    columns = np.append(data.anatomy.column_of(data.names), np.int32(0)).astype(np.int32)
    with limits.guard("Counting itemsets", "count fewer itemsets at once."):
        return _native.mining.expected_supports(
            data.offsets,
            data.items,
            len(data.names) + 1,
            columns,
            data.anatomy.starts,
            offsets,
            codes,
            threads=limits.thread_count,
            **limits.for_kernel(lambda _: "Counting itemsets"),
        )


def column_values(
    data: Transactions, column_of: npt.NDArray[np.int32], columns: int, *, limits: Limits
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """For each column the number of every transaction's value; and how many there are besides having nothing.

    A value is the set of a transaction's items in a column: 0 for none of them, the others 1, 2, … as they appear.
    *column_of* is the column of each item.

    >>> data = Transactions.from_lists([["a", "b"], ["b", "c"], ["a", "b", "c"]])
    >>> values, others = column_values(data, np.array([0, 0, 1], dtype=np.int32), 2, limits=Limits())
    >>> values.tolist(), others.tolist()
    ([[1, 2, 1], [0, 1, 1]], [2, 1])
    """
    with limits.guard("Distinguishing values", "use fewer columns or transactions."):
        return _native.anatomy.column_values(
            data.offsets,
            data.items,
            column_of,
            columns,
            threads=limits.thread_count,
            **limits.for_kernel(lambda _: "Distinguishing values"),
        )
