"""The items that entries of the language of sensitive lists take."""

from __future__ import annotations

from collections.abc import Iterable

from veilset.transactions.arguments import check_transactions
from veilset.transactions.sensitive import parse_entries, resolved
from veilset.transactions.taxonomy import Taxonomy
from veilset.transactions.transactions import Transactions
from veilset.transactions.vocabulary import several


def matching_items(data: Transactions, entries: Iterable[str], *, taxonomy: Taxonomy | None = None) -> tuple[str, ...]:
    """The items of *data* that entries name, in the order of the vocabulary.

    Parameters
    ----------
    data : Transactions
    entries : iterable of str
        Each an exact name, ``"glob: PATTERN"``, ``"branch: LABEL"`` or ``"name: NAME"``; each must match an item.
    taxonomy : Taxonomy, optional
        The tree that has the branches.

    Examples
    --------
    >>> data = Transactions.from_lists([["insulin", "milk"], ["insulin pump", "a*"], ["a", "aspirin"]])
    >>> matching_items(data, ["glob: insulin*", "a*"])
    ('a*', 'insulin', 'insulin pump')
    """
    check_transactions(data)
    return resolved(data, parse_entries(several(entries, "entries")), taxonomy).names
