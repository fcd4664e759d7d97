"""Frequent itemsets, moles and what is chosen among moles."""

from veilset._native._types import _Float64, _Int32, _Int64, _Progress, _Uint8, _Uint64

def bit_variants() -> list[str]: ...
def and_count_with(variant: str, a: _Uint64, b: _Uint64) -> int: ...
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
def frequent_share(
    offsets: _Int64,
    items: _Int32,
    weights: _Int64,
    order: _Int32,
    supports: _Int64,
    *,
    vocabulary: int,
    transactions: int,
    min_support: int,
    kind: str,
    min_size: int,
    max_size: int,
    first: int,
    end: int,
    most: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> tuple[_Int64, _Int32, _Int64] | None: ...
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
    weight: _Int64,
    keep: _Uint8,
    *,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> _Int32: ...

class MoleCover:
    def __init__(self, offsets: _Int64, items: _Int32, weight: _Int64, keep: _Uint8, *, memory_limit: int) -> None: ...
    def insert(self, order: _Int32) -> None: ...
    def clear(self) -> None: ...
    def kept(self) -> _Uint8: ...
    def search(
        self, *, patience: int, work: int, seed: int, memory_limit: int, time_limit: float, progress: _Progress
    ) -> None: ...

def mole_share(
    offsets: _Int64,
    items: _Int32,
    weights: _Int64,
    fresh: _Uint8,
    known_offsets: _Int64,
    known_items: _Int32,
    *,
    things: int,
    h_num: int,
    h_den: int,
    k: int,
    size: int,
    first: int,
    end: int,
    second: int,
    second_end: int,
    most: int,
    work: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> tuple[_Int32, _Int64, bool, int]: ...
def rows_with_any(
    offsets: _Int64,
    items: _Int32,
    vocabulary: int,
    asked_offsets: _Int64,
    asked_items: _Int32,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> _Uint8: ...
