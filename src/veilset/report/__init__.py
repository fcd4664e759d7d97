"""What to say about audits, releases and mined itemsets, as data; and how it looks: terminal, page, JSON."""

from veilset.joins import Tree
from veilset.models import Coherence, HiddenPatterns, HiddenRules, LDiverseAnatomy, RhoUncertainty, Sealed
from veilset.report.binding import binding_lines, half_sentence
from veilset.report.cards import as_card, tree_card
from veilset.report.custodian import custodian_report
from veilset.report.facts import audit_facts, mined_facts, proxy_facts, release_facts, twin_facts
from veilset.report.fidelity import occurrences_sentence
from veilset.report.held import held_custodian_report, held_facts, print_held_release, why_gone_held
from veilset.report.items import why_gone
from veilset.report.join import Training, join_report, training_facts, tree_facts
from veilset.report.mined import COLUMNS, Asked, Mined, Tally, columns_for
from veilset.report.proxies import Suggested, proposed_items, proposed_list
from veilset.report.public import public_report
from veilset.report.reading import reading_facts
from veilset.report.taxonomies import item_facts, print_item, print_taxonomy, taxonomy_facts, taxonomy_sentence
from veilset.report.terminal import print_audit, print_reading, print_release
from veilset.report.terminal_join import print_matches, print_training, print_tree
from veilset.report.terminal_mined import print_mined, print_proxies
from veilset.report.words import WORDS, Words, in_original_sentence, removed_sentence, verdict
from veilset.report.words_anatomy import LDiverseAnatomyWords
from veilset.report.words_coherence import CoherenceWords
from veilset.report.words_hiding import HiddenPatternsWords, HiddenRulesWords, SealedWords
from veilset.report.words_rho import RhoUncertaintyWords
from veilset.views import Summary, card, visible

__all__ = [
    "COLUMNS",
    "WORDS",
    "Asked",
    "Mined",
    "Suggested",
    "Tally",
    "Training",
    "Words",
    "audit_facts",
    "binding_lines",
    "columns_for",
    "custodian_report",
    "half_sentence",
    "held_custodian_report",
    "held_facts",
    "in_original_sentence",
    "item_facts",
    "join_report",
    "mined_facts",
    "occurrences_sentence",
    "print_audit",
    "print_held_release",
    "print_item",
    "print_matches",
    "print_mined",
    "print_proxies",
    "print_reading",
    "print_release",
    "print_taxonomy",
    "print_training",
    "print_tree",
    "proposed_items",
    "proposed_list",
    "proxy_facts",
    "public_report",
    "reading_facts",
    "release_facts",
    "removed_sentence",
    "taxonomy_facts",
    "taxonomy_sentence",
    "training_facts",
    "tree_facts",
    "twin_facts",
    "verdict",
    "visible",
    "why_gone",
    "why_gone_held",
]

card.register(Summary, as_card)
card.register(Tree, tree_card)
WORDS.add(Coherence, CoherenceWords)
WORDS.add(RhoUncertainty, RhoUncertaintyWords)
WORDS.add(HiddenPatterns, HiddenPatternsWords)
WORDS.add(HiddenRules, HiddenRulesWords)
WORDS.add(Sealed, SealedWords)
WORDS.add(LDiverseAnatomy, LDiverseAnatomyWords)
