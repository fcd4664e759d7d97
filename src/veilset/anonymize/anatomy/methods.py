"""The methods for l-diverse anatomy; a milder promise saves nothing, as all occurrences survive."""

from __future__ import annotations

from veilset.anonymize.anatomy.multi_anatomy import multi_anatomy
from veilset.anonymize.methods import Methods

L_DIVERSE_ANATOMY = Methods({"multi-anatomy": multi_anatomy}, milder="smaller l")
