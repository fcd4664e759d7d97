"""The auditors' own counting."""

from typing import TypeAlias, TypedDict

from veilset._native._types import _Float64, _Int32, _Int64, _Progress, _Uint8

class _CoherenceResult(TypedDict):
    feasible: bool
    identity_by_size: list[int]
    attribute_by_size: list[int]
    complete: bool
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
    exact: tuple[bool, bool, bool]

# steps: one more than were allowed if those were not enough; then nothing else was found.
class _CoherenceShare(TypedDict):
    steps: int
    identity: int
    attribute: int
    checked: int
    witness_offsets: _Int64
    witness_items: _Int32
    witness_support: _Int64
    witness_sensitive: _Int32
    witness_with: _Int64
    smallest_support: tuple[int, list[int]]
    largest_breach: tuple[int, int, int, list[int]]
    largest_any: tuple[int, int, int, list[int]]
    items: _Int32
    supports: _Int64
    children: _Int32

# Of each, what so many rows of a bucket have in a column, with the probability above / below. By kind, that is (0) what
# the row `place` has there, (1) nothing, (2) the item `place`, (3) in this or another column, a sensitive item.
class _AnatomyFindings(TypedDict):
    bucket: _Int64
    column: _Int32
    kind: _Uint8
    rows: _Int64
    above: _Int64
    below: _Int64
    place: _Int64

_AnatomyResult: TypeAlias = tuple[int, int, _AnatomyFindings, _AnatomyFindings, _AnatomyFindings, _AnatomyFindings]

# The parsers take a block of a text from `start` on, where `line` begins: the records that are complete, or all of it
# if it is the `last` block. They say how far they came: consumed, line. Codes number the strings; -1 is an empty field.
class _RhoResult(TypedDict):
    found: int
    checked: int
    steps: tuple[int, int]  # of the proof, and of the search for the surest rule
    exact: bool
    witness_offsets: _Int64
    witness_items: _Int32
    witness_support: _Int64
    witness_sensitive: _Int32
    witness_with: _Int64
    largest: tuple[int, int, int, list[int]] | None

# Of each item that is asked about: the rule that gives it away, or the surest that was met (with 0 of 1: none was).
class _RhoShare(TypedDict):
    broken: _Uint8
    checked: int
    steps: int
    witness_offsets: _Int64
    witness_items: _Int32
    witness_support: _Int64
    witness_sensitive: _Int32
    witness_with: _Int64

class _Witnesses(TypedDict):
    witness_offsets: _Int64
    witness_items: _Int32
    witness_support: _Int64
    witness_sensitive: _Int32
    witness_with: _Int64

# Distinct rows: how many there are, the one that the fewest hold, and those that too few hold, as witnesses.
class _WholeRows(_Witnesses):
    rows: int
    smallest_support: tuple[int, list[int]]

class _InOriginal(TypedDict):
    broken: int
    witness_offsets: _Int64
    witness_items: _Int32
    witness_support: _Int64
    witness_sensitive: _Int32
    witness_with: _Int64

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
    work_limit: int,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> _CoherenceResult: ...
def coherence_share(
    offsets: _Int64,
    items: _Int32,
    weights: _Int64,
    kind: _Int32,
    order: _Int32,
    supports: _Int64,
    level_items: list[_Int32],
    level_supports: list[_Int64],
    level_children: list[_Int32],
    met: list[int],
    *,
    kinds: int,
    h_num: int,
    h_den: int,
    k: int,
    p: int,
    level: int,
    first: int,
    end: int,
    second: int,
    second_end: int,
    witness_limit: int,
    work_limit: int,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> _CoherenceShare: ...
def rho(
    offsets: _Int64,
    items: _Int32,
    sensitive: _Uint8,
    *,
    rho_num: int,
    rho_den: int,
    witness_limit: int,
    batch_limit: int,
    work_limit: int,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> _RhoResult: ...
def rho_share(
    offsets: _Int64,
    items: _Int32,
    weights: _Int64,
    thing: _Int32,
    supports: _Int64,
    asked: _Int32,
    *,
    transactions: int,
    rho_num: int,
    rho_den: int,
    strict: bool,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> _RhoShare: ...
def rho_share_surer(
    offsets: _Int64,
    items: _Int32,
    weights: _Int64,
    thing: _Int32,
    supports: _Int64,
    asked: _Int32,
    *,
    transactions: int,
    together: int,
    support: int,
    left: int,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> _RhoShare: ...
def rho_share_shorter(
    offsets: _Int64,
    items: _Int32,
    weights: _Int64,
    thing: _Int32,
    supports: _Int64,
    asked: _Int32,
    antecedent: _Int32,
    *,
    transactions: int,
    together: int,
    support: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> _RhoShare: ...
def whole_rows_share(
    offsets: _Int64,
    items: _Int32,
    weights: _Int64,
    order: _Int32,
    supports: _Int64,
    *,
    vocabulary: int,
    k: int,
    first: int,
    end: int,
    row_limit: int,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> _WholeRows: ...
def exposed_part(
    offsets: _Int64,
    items: _Int32,
    weights: _Int64,
    itemset: _Int32,
    *,
    vocabulary: int,
    k: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> tuple[list[int], int]: ...
def moles_in(
    offsets: _Int64,
    items: _Int32,
    weights: _Int64,
    kind: _Int32,
    itemset: _Int32,
    *,
    kinds: int,
    h_num: int,
    h_den: int,
    k: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> _Witnesses: ...
def in_original(
    offsets: _Int64,
    items: _Int32,
    released_offsets: _Int64,
    released_items: _Int32,
    kind: _Int32,
    *,
    kinds: int,
    h_num: int,
    h_den: int,
    p: int,
    least: int,
    witness_limit: int,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> _InOriginal: ...
def rho_in_original(
    offsets: _Int64,
    items: _Int32,
    released_offsets: _Int64,
    released_items: _Int32,
    sensitive: _Uint8,
    *,
    rho_num: int,
    rho_den: int,
    witness_limit: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> _InOriginal: ...

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

# of each bucket the number of its profile (-1: in some column everybody has something); of each profile the size of its
# buckets, and from offsets on, its columns and how many rows have something there; the same of each column in all rows
def anatomy_profiles(
    offsets: _Int64,
    items: _Int32,
    starts: _Int64,
    column_of: _Int32,
    *,
    columns: int,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> tuple[_Int64, _Int64, _Int64, _Int32, _Int64, _Int64]: ...

# how probable it is to have nothing in each column of each profile: above / below
class Nothing:
    def __init__(self, *, profile_of: _Int64, offsets: _Int64, above: _Int64, below: _Int64) -> None: ...

# the pairs of bucket and column where something is too probable; how many rows are empty; the worst of those pairs; of
# all pairs the most probable value, item of a public column, and sensitive item
def anatomy(
    offsets: _Int64,
    items: _Int32,
    starts: _Int64,
    column_of: _Int32,
    rules: _Uint8,
    limited: _Uint8,
    nothing: Nothing,
    *,
    l_num: int,
    l_den: int,
    witness_limit: int,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> _AnatomyResult: ...

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

# the probability of each guess, a row with the guessed value (-1: none), and from offsets on, the buckets that match it
def anatomy_guesses(
    offsets: _Int64,
    items: _Int32,
    starts: _Int64,
    column_of: _Int32,
    rules: _Uint8,
    guesses: Guesses,
    *,
    row_limit: int,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> tuple[_Float64, _Int64, _Int64, _Int64]: ...
