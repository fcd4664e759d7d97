"""For tests, ours and yours: brute-force oracles, hypothesis strategies, batteries of checks, mutants.

`strategies` needs hypothesis: ``pip install "veilset[testing]"``.
"""

from veilset.testing.checks import check_anonymizer, check_audit, check_metrics, check_model

__all__ = ["check_anonymizer", "check_audit", "check_metrics", "check_model"]
