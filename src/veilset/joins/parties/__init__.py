"""Secure join classification: each party keeps its table, and together they grow the tree of the join."""
