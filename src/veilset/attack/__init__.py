"""Simulated attackers on a release: what they get right, beside a baseline and a control, with intervals."""

from veilset.attack.comparing_buckets import Carriers, ComparingBuckets, compare_buckets
from veilset.attack.linking import Linked
from veilset.attack.share import Share

__all__ = ["Carriers", "ComparingBuckets", "Linked", "Share", "compare_buckets"]
