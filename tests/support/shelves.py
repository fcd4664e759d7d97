"""A shop whose public items stand on shelves, and what top-down makes of it."""

# Half of those with fig have cure, but a third of those with food: recoding loses 3/2 occurrences, suppression 2.
ROWS = [["fig", "cure"], ["fig"], ["bun"], ["ale", "cure"], ["ale"], ["ale"], ["ale"], ["rum"], ["rum"]]
SHELVES = {"ale": ["drinks"], "rum": ["drinks"], "bun": ["food"], "fig": ["food"]}
RECODED = {"bun": "food", "fig": "food"}
