"""The auditors' own counting."""

from typing import TypedDict

from veilset._native._types import _Float64, _Int32, _Int64, _Progress, _Uint8

class _CoherenceResult(TypedDict):
    feasible: bool
    identity_by_size: list[int]
    attribute_by_size: list[int]
    checked: int
    sensitive_support: _Int64
    witness_offsets: _Int64
    witness_items: _Int32
    witness_support: _Int64
    witness_sensitive: _Int32
    witness_with: _Int64
    smallest_support: tuple[int, list[int]]
    largest_breach: tuple[int, int, int, list[int]]
    largest_any: tuple[int, int, int, list[int]]

# the commonest value of each: what a row has in that column, or nothing if the row is -1
class _AnatomyFindings(TypedDict):
    bucket: _Int64
    column: _Int32
    count: _Int64
    size: _Int64
    row: _Int64

# The parsers take a block of a text from `start` on, where `line` begins: the records that are complete, or all of it
# if it is the `last` block. They say how far they came: consumed, line. Codes number the strings; -1 is an empty field.
class _RhoResult(TypedDict):
    found: int
    checked: int
    witness_offsets: _Int64
    witness_items: _Int32
    witness_support: _Int64
    witness_sensitive: _Int32
    witness_with: _Int64
    largest: tuple[int, int, int, list[int]] | None

def row_sizes(offsets: _Int64, items: _Int32, left_out: _Uint8) -> _Int64: ...
def coherence(
    offsets: _Int64,
    items: _Int32,
    kind: _Int32,
    *,
    kinds: int,
    h_num: int,
    h_den: int,
    k: int,
    p: int,
    witness_limit: int,
    batch_limit: int,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> _CoherenceResult: ...
def rho(
    offsets: _Int64,
    items: _Int32,
    sensitive: _Uint8,
    *,
    rho_num: int,
    rho_den: int,
    witness_limit: int,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> _RhoResult: ...

# where each pattern's intersections with rows begin; where the places of each of those begin; the places; how many rows
def patterns(
    offsets: _Int64,
    items: _Int32,
    vocabulary: int,
    asked_offsets: _Int64,
    asked_items: _Int32,
    *,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> tuple[_Int64, _Int64, _Int32, _Int64]: ...

# the pairs of bucket and column with a value that is too common; those of them that are worst; the worst of all pairs
def anatomy(
    offsets: _Int64,
    items: _Int32,
    starts: _Int64,
    column_of: _Int32,
    free: _Uint8,
    *,
    l_num: int,
    l_den: int,
    witness_limit: int,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> tuple[int, _AnatomyFindings, _AnatomyFindings]: ...

# the first bucket, and its first column, whose values differ
def differing_values(
    offsets: _Int64,
    items: _Int32,
    other_offsets: _Int64,
    other_items: _Int32,
    starts: _Int64,
    column_of: _Int32,
    *,
    columns: int,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> tuple[int, int] | None: ...

class Guesses:
    def __init__(self, *, targets: _Int64, wanted: _Int32, known_offsets: _Int64, known_columns: _Int32) -> None: ...

# the probability of each guess, a row with the guessed value (-1: none), the surest guess, the buckets that match it
def surest_guess(
    offsets: _Int64,
    items: _Int32,
    starts: _Int64,
    column_of: _Int32,
    free: _Uint8,
    guesses: Guesses,
    *,
    row_limit: int,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> tuple[_Float64, _Int64, int, _Int64]: ...
