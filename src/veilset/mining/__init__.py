"""Counting itemsets for the anonymizers: thin faces of ``native/mining_*``. The auditors do not use this."""

from veilset.mining.moles import Keeping, Moles, items_in_moles, minimal_rare

__all__ = ["Keeping", "Moles", "items_in_moles", "minimal_rare"]
