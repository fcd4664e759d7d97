"""What every kernel stands on: limits, and rows as they are held."""

from veilset._native._types import _Int32, _Int64, _Progress, _Uint8

class OverBudget(RuntimeError): ...
class OutOfTime(OverBudget): ...
class OutOfMemory(OverBudget): ...
class OutOfWork(OverBudget): ...

def canonicalize(offsets: _Int64, codes: _Int32, new_code: _Int32) -> tuple[_Int64, _Int32]: ...
def set_bits(bitmap: _Uint8, offset: int, length: int) -> _Int32: ...
def take_rows(offsets: _Int64, items: _Int32, rows: _Int64) -> _Int32: ...
def occurring(codes: _Int32, count: int) -> _Uint8: ...
def count_codes(codes: _Int32, count: int) -> _Int64: ...
def group(groups: _Int32, values: _Int32, count: int) -> tuple[_Int64, _Int32]: ...
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
