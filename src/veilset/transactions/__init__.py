"""The data: transactions, taxonomies, generators."""

from veilset.io.companions import PartitionFile, read_partition
from veilset.io.gather import row_blocks
from veilset.transactions import generate
from veilset.transactions.anatomy import Anatomy
from veilset.transactions.arguments import check_transactions
from veilset.transactions.counted import Counted
from veilset.transactions.identifiers import Identifiers
from veilset.transactions.matching import matching_items
from veilset.transactions.opening import Source, joined, read_file
from veilset.transactions.reading import LAYOUT, Reading, read
from veilset.transactions.sensitive import (
    Entry,
    absent_names,
    list_line,
    mark_sensitive,
    parse_entries,
    read_entries,
    sought_lines,
)
from veilset.transactions.taxonomy import Taxonomy, TaxonomyLike, taxonomy_of
from veilset.transactions.transactions import Transactions
from veilset.transactions.twins import Twin, twins_of

__all__ = [
    "LAYOUT",
    "Anatomy",
    "Counted",
    "Entry",
    "Identifiers",
    "PartitionFile",
    "Reading",
    "Source",
    "Taxonomy",
    "TaxonomyLike",
    "Transactions",
    "Twin",
    "absent_names",
    "check_transactions",
    "generate",
    "joined",
    "list_line",
    "mark_sensitive",
    "matching_items",
    "parse_entries",
    "read",
    "read_entries",
    "read_file",
    "read_partition",
    "row_blocks",
    "sought_lines",
    "taxonomy_of",
    "twins_of",
]
