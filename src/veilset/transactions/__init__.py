"""The data: transactions, taxonomies, generators."""

from veilset.transactions.reading import Source, read
from veilset.transactions.transactions import Transactions

__all__ = ["Source", "Transactions", "read"]
