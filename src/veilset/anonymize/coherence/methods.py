"""The methods for (h,k,p)-coherence."""

from __future__ import annotations

from veilset.anonymize.coherence import on_engine
from veilset.anonymize.coherence.auto import auto, quick_auto
from veilset.anonymize.coherence.border import border
from veilset.anonymize.coherence.eased import eased_coherence
from veilset.anonymize.coherence.generalize import generalize
from veilset.anonymize.coherence.k_anonymity import k_anonymity
from veilset.anonymize.coherence.optimal import optimal
from veilset.anonymize.coherence.partial import partial, quick_partial
from veilset.anonymize.coherence.remove_all import remove_all
from veilset.anonymize.coherence.tree import tree
from veilset.anonymize.methods import Methods

COHERENCE = Methods(
    {
        "auto": auto,
        "tree": tree,
        "border": border,
        "optimal": optimal,
        "generalize": generalize,
        "partial": partial,
        "remove-all": remove_all,
        "k-anonymity": k_anonymity,
    },
    milder="smaller k or p",
    eased=eased_coherence,
    quicker={
        "auto": ("the quick part of auto (insertion, no local search)", quick_auto),
        "partial": ("the quick part of partial (no exchanges, no random search)", quick_partial),
    },
    on_engines={
        "auto": on_engine.auto,
        "tree": on_engine.tree,
        "generalize": on_engine.generalize,
        "remove-all": on_engine.remove_all,
        "k-anonymity": on_engine.k_anonymity,
    },
    aliases={
        "Tree-Cohesion": ("tree", {"restore": False}),
        "Border-Cohesion": ("border", {"restore": False}),
        "RmAll": ("remove-all", {}),
        "k-Anonymizer": ("k-anonymity", {}),
    },
)
