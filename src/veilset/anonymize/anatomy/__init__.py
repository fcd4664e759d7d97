"""l-diverse multi-dimension anatomy (2010): items into columns, transactions into buckets."""
