"""The data: transactions, taxonomies, generators."""

from veilset.transactions import generate
from veilset.transactions.reading import Source, read
from veilset.transactions.taxonomy import Taxonomy
from veilset.transactions.transactions import Transactions

__all__ = ["Source", "Taxonomy", "Transactions", "generate", "read"]
