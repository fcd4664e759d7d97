"""Simulated attackers on a release: what they get right, beside a baseline and a control, with intervals."""

from veilset.attack.comparing_buckets import ComparingBuckets, Share, compare_buckets

__all__ = ["ComparingBuckets", "Share", "compare_buckets"]
