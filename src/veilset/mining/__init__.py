"""Counting itemsets: thin faces of ``native/mining/``. The auditors do not use this.

Results come in an order that depends on the data alone, not on the number of threads. What can take long takes
``threads``, ``memory_limit``, ``time_limit`` and ``progress``, too (*bounds*): see `veilset.audit`.
"""

from veilset.mining.anatomized import column_values, expected_supports
from veilset.mining.association_rules import Rule, Rules, rules
from veilset.mining.counting import cover, pairs, support, supports
from veilset.mining.frequent_itemsets import Count, count_frequent, frequent
from veilset.mining.frequent_spread import supports_on_engine
from veilset.mining.in_memory import InMemory
from veilset.mining.itemsets import Itemsets
from veilset.mining.miner import Miner, Question, breach_of
from veilset.mining.mole_counting import count_moles, giveaways
from veilset.mining.moles import Keeping, Mole, Moles, items_in_moles, minimal_rare, minimal_rare_chunks
from veilset.mining.proxies import Proxies, Proxy, proxies
from veilset.mining.spread import OnEngine
from veilset.mining.spread_itemsets import supports_held, supports_in
from veilset.mining.standing_out import Standing, standings, standings_held

__all__ = [
    "Count",
    "InMemory",
    "Itemsets",
    "Keeping",
    "Miner",
    "Mole",
    "Moles",
    "OnEngine",
    "Proxies",
    "Proxy",
    "Question",
    "Rule",
    "Rules",
    "Standing",
    "breach_of",
    "column_values",
    "count_frequent",
    "count_moles",
    "cover",
    "expected_supports",
    "frequent",
    "giveaways",
    "items_in_moles",
    "minimal_rare",
    "minimal_rare_chunks",
    "pairs",
    "proxies",
    "rules",
    "standings",
    "standings_held",
    "support",
    "supports",
    "supports_held",
    "supports_in",
    "supports_on_engine",
]
