"""For tests, ours and yours: brute-force oracles, hypothesis strategies, batteries of checks, broken-on-purpose methods."""
