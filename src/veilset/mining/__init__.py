"""Counting itemsets: thin faces of ``native/mining_*``. The auditors do not use this."""

from veilset.mining.frequent_itemsets import Count, count_frequent, frequent
from veilset.mining.itemsets import Itemsets
from veilset.mining.moles import Keeping, Moles, items_in_moles, minimal_rare

__all__ = ["Count", "Itemsets", "Keeping", "Moles", "count_frequent", "frequent", "items_in_moles", "minimal_rare"]
