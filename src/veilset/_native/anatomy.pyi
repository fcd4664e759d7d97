"""Anatomies: values, buckets, rows."""

from veilset._native._types import _Int32, _Int64, _Progress, _Uint8, _Uint64

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

class Limited:
    def __init__(self, *, offsets: _Int64, items: _Int32, column_of: _Int32) -> None: ...

# the bucket of each row (-1: none takes it), how many rows were left over, how many buckets were joined
def buckets(
    values: _Int32,
    distinct: _Int64,
    rules: _Uint8,
    order: _Int64,
    limited: Limited,
    *,
    numerator: int,
    denominator: int,
    least_size: int,
    open_buckets: int,
    patience: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> tuple[_Int64, int, int]: ...
def shuffled_in_buckets(starts: _Int64, random: _Uint64) -> _Int64: ...
def without_empty_places(
    sources: _Int32, values: _Int32, starts: _Int64, random: _Uint64, *, columns: int
) -> _Int32: ...

# offsets and codes
def rows(
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
