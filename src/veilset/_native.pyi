"""Kernels of veilset: no policy, no Python objects inside loops."""

from collections.abc import Callable
from typing import TypedDict

import numpy as np
import numpy.typing as npt

_Int64 = npt.NDArray[np.int64]
_Int32 = npt.NDArray[np.int32]
_Uint64 = npt.NDArray[np.uint64]
_Uint8 = npt.NDArray[np.uint8]
_Int8 = npt.NDArray[np.int8]
_Float64 = npt.NDArray[np.float64]
_Strings = tuple[_Int64, _Uint8]
_Progress = Callable[[int, int, int], None] | None

class OverBudget(RuntimeError): ...
class ParseError(ValueError): ...

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

def parse_fimi(text: bytes, start: int, line: int, last: bool) -> tuple[_Int64, _Int32, _Int64, int, int]: ...

# ids as parse_fimi; then the lines of metadata (number, text), and how many lines were sequences
def parse_spmf(
    text: bytes, start: int, line: int, last: bool
) -> tuple[_Int64, _Int32, _Int64, int, int, list[tuple[int, bytes]], int]: ...

# nothing, consumed up to 0, if the first record is not complete
def parse_record(text: bytes, delimiter: str, last: bool = True) -> tuple[list[bytes], int, int]: ...

# then whose each row is (nobody's without a person column)
def parse_basket(
    text: bytes, delimiter: str, start: int, line: int, last: bool, person: int = -1
) -> tuple[_Int64, _Int32, _Strings, int, int, tuple[_Int32, _Strings]]: ...

# the chosen columns, blank lines, consumed, line
def parse_table(
    text: bytes,
    delimiter: str,
    start: int,
    line: int,
    last: bool,
    columns: list[int],
    width: int,
    person: int = -1,
) -> tuple[list[tuple[_Int32, _Strings]], int, int, int]: ...

# codes are columns; then consumed, line, blank lines, counts above 1, persons (none without a person column)
def parse_wide(
    text: bytes,
    delimiter: str,
    start: int,
    line: int,
    last: bool,
    width: int,
    skip: _Uint8,
    person: int,
    counts: bool,
) -> tuple[_Int64, _Int32, int, int, int, int, tuple[_Int32, _Strings]]: ...

# then consumed, line, blank lines, persons (none without their key)
def parse_json_lines(
    text: bytes, start: int, line: int, last: bool, key: str | None, person: str | None
) -> tuple[_Int64, _Int32, _Strings, int, int, int, tuple[_Int32, _Strings]]: ...

# as parse_table with two columns; then whether any line has the item's key, and the keys of the first line
def parse_json_long(
    text: bytes, start: int, line: int, last: bool, id_key: str, item_key: str
) -> tuple[list[tuple[_Int32, _Strings]], int, int, int, bool, list[str]]: ...

# the cells of one key after the other, with one dictionary; then what stands under the first key
def parse_json_columns(
    text: bytes, start: int, line: int, last: bool, first: str, keys: list[str]
) -> tuple[_Int64, _Int32, _Strings, tuple[_Int32, _Strings], int, int]: ...

# The writers take rows that may be a slice, with offsets that begin above 0, and names as they are to be written.
def format_rows(
    offsets: _Int64, items: _Int32, starts: _Int64, names: _Uint8, delimiter: str, long_form: bool, first_row: int
) -> bytes: ...
def format_json_lines(
    offsets: _Int64, items: _Int32, starts: _Int64, names: _Uint8, head: bytes, tail: bytes
) -> bytes: ...
def format_json_long(
    offsets: _Int64,
    items: _Int32,
    starts: _Int64,
    names: _Uint8,
    head: bytes,
    middle: bytes,
    tail: bytes,
    first_row: int,
) -> bytes: ...
def format_wide(offsets: _Int64, items: _Int32, vocabulary_size: int, delimiter: str) -> bytes: ...
def canonicalize(offsets: _Int64, codes: _Int32, new_code: _Int32) -> tuple[_Int64, _Int32]: ...
def set_bits(bitmap: _Uint8, offset: int, length: int) -> _Int32: ...
def take_rows(offsets: _Int64, items: _Int32, rows: _Int64) -> _Int32: ...
def occurring(codes: _Int32, count: int) -> _Uint8: ...
def count_codes(codes: _Int32, count: int) -> _Int64: ...
def row_sizes(offsets: _Int64, items: _Int32, left_out: _Uint8) -> _Int64: ...
def group(groups: _Int32, values: _Int32, count: int) -> tuple[_Int64, _Int32]: ...
def by_appearance(codes: _Int32, count: int) -> tuple[_Int32, _Int32]: ...
def group_rows(offsets: _Int64, codes: _Int32, owners: _Int32, count: int, out: _Int32) -> _Int64: ...

class Names:
    nbytes: int
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def add(self, starts: _Int64, names: _Uint8) -> _Int32: ...
    def take(self) -> _Strings: ...

def bit_variants() -> list[str]: ...
def and_count_with(variant: str, a: _Uint64, b: _Uint64) -> int: ...
def and_count_speed(variant: str, a: _Uint64, b: _Uint64, repeat: int) -> int: ...
def audit_coherence(
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
def audit_rho(
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
def audit_patterns(
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
def audit_anatomy(
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

# the probability of each guess, a row with the guessed value (-1: none), the surest guess, the buckets that match it
def surest_guess(
    offsets: _Int64,
    items: _Int32,
    starts: _Int64,
    column_of: _Int32,
    free: _Uint8,
    targets: _Int64,
    wanted: _Int32,
    known_offsets: _Int64,
    known_columns: _Int32,
    *,
    row_limit: int,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> tuple[_Float64, _Int64, int, _Int64]: ...
def frequent(
    offsets: _Int64,
    items: _Int32,
    allowed: _Uint8,
    *,
    min_support: int,
    kind: str,
    min_size: int,
    max_size: int,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> tuple[_Int64, _Int32, _Int64]: ...
def count_frequent(
    offsets: _Int64,
    items: _Int32,
    allowed: _Uint8,
    containing: _Int32,
    avoid_offsets: _Int64,
    avoid_items: _Int32,
    *,
    min_support: int,
    min_size: int,
    max_size: int,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> _Uint64: ...
def cover(offsets: _Int64, items: _Int32, vocabulary: int, itemset: _Int32) -> _Int64: ...
def supports(
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
) -> _Int64: ...
def expected_supports(
    offsets: _Int64,
    items: _Int32,
    vocabulary: int,
    columns: _Int32,
    starts: _Int64,
    asked_offsets: _Int64,
    asked_items: _Int32,
    *,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> _Float64: ...
def pairs(
    offsets: _Int64,
    items: _Int32,
    allowed: _Uint8,
    *,
    min_support: int,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> tuple[_Int64, _Int32, _Int64]: ...
def rules(
    offsets: _Int64,
    items: _Int32,
    supports: _Int64,
    consequents: _Uint8,
    *,
    confidence_num: int,
    confidence_den: int,
    min_size: int,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> tuple[_Int64, _Int32, _Int64, _Int32, _Int64]: ...

class MoleSearch:
    def __init__(
        self,
        offsets: _Int64,
        items: _Int32,
        sensitive: _Uint8,
        allowed: _Uint8,
        *,
        h_num: int,
        h_den: int,
        k: int,
        p: int,
        absent: bool,
        mark: bool,
        threads: int,
        memory_limit: int,
        time_limit: float,
        progress: _Progress,
    ) -> None: ...
    def next(self, at_least: int) -> tuple[_Int64, _Int32, _Int32, _Int32, _Int32, _Int32]: ...
    def items_in_moles(self) -> _Uint8: ...

class Keeping:
    def __init__(
        self, offsets: _Int64, items: _Int32, sensitive: _Uint8, *, h_num: int, h_den: int, k: int, p: int
    ) -> None: ...
    def keep(self, item: int) -> None: ...
    def drop(self, item: int) -> None: ...
    def brings_mole(self, item: int, *, memory_limit: int, time_limit: float) -> bool: ...

def suppress_by_tree(
    offsets: _Int64,
    items: _Int32,
    worth: _Int64,
    keep: _Uint8,
    *,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> _Int32: ...

class _SuppressedRules(TypedDict):
    chosen: _Int32
    rounds: _Int32
    too_dear: _Uint8
    stuck: _Int32
    complete: bool

def suppress_rules(
    offsets: _Int64,
    items: _Int32,
    weights: _Int64,
    sensitive: _Uint8,
    worth: _Int64,
    fixed: _Uint8,
    required: _Uint8,
    *,
    rho_num: int,
    rho_den: int,
    population: int,
    worth_limit: int,
    search_budget: int,
    rules_budget: int,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> _SuppressedRules: ...

class RuleKeeping:
    def __init__(
        self,
        offsets: _Int64,
        items: _Int32,
        weights: _Int64,
        sensitive: _Uint8,
        *,
        population: int,
        rho_num: int,
        rho_den: int,
        memory_limit: int,
    ) -> None: ...
    def keep(self, item: int) -> None: ...
    def drop(self, item: int) -> None: ...
    def brings_rule(self, item: int, *, work: int, time_limit: float) -> tuple[int, list[int], int]: ...

class WeightedRows:
    def __init__(self, offsets: _Int64, items: _Int32, weights: _Int64, *, vocabulary: int) -> None: ...
    def renamed(
        self, rows: _Int64, names: _Int32, *, vocabulary: int, memory_limit: int
    ) -> tuple[_Int64, _Int32, _Int64]: ...
    def holding(self, rows: _Int64, wanted: _Uint8) -> _Int64: ...

class MoleCover:
    def __init__(self, offsets: _Int64, items: _Int32, worth: _Int64, keep: _Uint8, *, memory_limit: int) -> None: ...
    def insert(self, order: _Int32) -> None: ...
    def clear(self) -> None: ...
    def kept(self) -> _Uint8: ...
    def search(
        self, *, patience: int, work: int, seed: int, memory_limit: int, time_limit: float, progress: _Progress
    ) -> None: ...

def generate_quest(
    *,
    transactions: int,
    average_length: float,
    pattern_length: float,
    items: int,
    patterns: int,
    seed: int,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> tuple[_Int64, _Int32]: ...
def generate_pos(
    *,
    transactions: int,
    items: int,
    average_length: float,
    maximum_length: int,
    seed: int,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> tuple[_Int64, _Int32]: ...
def add_noise(
    offsets: _Int64,
    items: _Int32,
    *,
    vocabulary: int,
    odds: int,
    seed: int,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> tuple[_Int64, _Int32]: ...

class _HidingResult(TypedDict):
    kept: _Uint8
    step: int
    victims: int
    ways: list[tuple[int, int, float]]
    way: int

def sanitize(
    offsets: _Int64,
    items: _Int32,
    vocabulary: int,
    column_offsets: _Int64,
    column_items: _Int32,
    column_values: _Int8,
    *,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> _Uint8: ...
def restored(offsets: _Int64, items: _Int32, vocabulary: int, states: _Uint8, *, odds: int, seed: int) -> _Uint8: ...
def hide(
    offsets: _Int64,
    items: _Int32,
    vocabulary: int,
    states: _Uint8,
    pattern_offsets: _Int64,
    pattern_items: _Int32,
    antecedent_offsets: _Int64,
    antecedent_items: _Int32,
    most: _Int64,
    share_num: _Int64,
    share_den: _Int64,
    keep_offsets: _Int64,
    keep_items: _Int32,
    keep_spare: _Int64,
    odds: _Uint64,
    *,
    seed: int,
    most_ways: int,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> _HidingResult: ...
def noise_loss(
    offsets: _Int64,
    items: _Int32,
    in_order: _Int32,
    leaf_of: _Int32,
    parents: _Int32,
    leaves: _Int64,
    *,
    odds: int,
    seed: int,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> int: ...
def kept_at_most(
    weights: _Int64,
    pairs: _Int32,
    triples: _Int32,
    *,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> int: ...

# for each column and row the number of a value, 0 for none; then how many others each column has
def column_values(
    offsets: _Int64,
    items: _Int32,
    column_of: _Int32,
    columns: int,
    *,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> tuple[_Int32, _Int64]: ...

# the numbers, and how often each occurs
def merged_values(
    one: _Int32, other: _Int32, *, memory_limit: int, time_limit: float, progress: _Progress
) -> tuple[_Int32, _Int64]: ...

# the bucket of each row, how many rows were left over, how many buckets were joined
def anatomy_buckets(
    values: _Int32,
    distinct: _Int64,
    free: _Uint8,
    order: _Int64,
    *,
    numerator: int,
    denominator: int,
    open_buckets: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> tuple[_Int64, int, int]: ...
def shuffled_in_buckets(starts: _Int64, random: _Uint64) -> _Int64: ...

# offsets and codes
def anatomy_rows(
    offsets: _Int64,
    items: _Int32,
    column_of: _Int32,
    sources: _Int32,
    *,
    columns: int,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> tuple[_Int64, _Int32]: ...
