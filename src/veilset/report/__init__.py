"""What to say about audits, releases and mined itemsets, as data; and how it looks: terminal, page, JSON."""

from veilset.report.costs import cost
from veilset.report.custodian import custodian_report
from veilset.report.facts import audit_facts, mined_facts, proxy_facts, release_facts
from veilset.report.mined import COLUMNS, Asked, Mined, Tally, columns_for
from veilset.report.proxies import Suggested, proposed_items, proposed_list
from veilset.report.public import public_report
from veilset.report.taxonomies import item_facts, print_item, print_taxonomy, taxonomy_facts, taxonomy_sentence
from veilset.report.terminal import print_audit, print_reading, print_release
from veilset.report.terminal_mined import print_mined, print_proxies
from veilset.report.text import visible
from veilset.report.words import verdict, why_gone
from veilset.report.words_coherence import reach_sentence

__all__ = [
    "COLUMNS",
    "Asked",
    "Mined",
    "Suggested",
    "Tally",
    "audit_facts",
    "columns_for",
    "cost",
    "custodian_report",
    "item_facts",
    "mined_facts",
    "print_audit",
    "print_item",
    "print_mined",
    "print_proxies",
    "print_reading",
    "print_release",
    "print_taxonomy",
    "proposed_items",
    "proposed_list",
    "proxy_facts",
    "public_report",
    "reach_sentence",
    "release_facts",
    "taxonomy_facts",
    "taxonomy_sentence",
    "verdict",
    "visible",
    "why_gone",
]
